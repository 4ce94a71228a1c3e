/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef KERNELS_KERNEL_ARGS_H
#define KERNELS_KERNEL_ARGS_H

/* The argument structs of all kernels: each body header defines those of its own kernels. */
#include "kernels/bodies/balance.h"
#include "kernels/bodies/column.h"
#include "kernels/bodies/half.h"
#include "kernels/bodies/kerr.h"
#include "kernels/bodies/raman.h"
#include "kernels/bodies/response.h"
#include "kernels/bodies/spectral.h"
#include "kernels/bodies/stage.h"
#include "kernels/bodies/step.h"

#endif
