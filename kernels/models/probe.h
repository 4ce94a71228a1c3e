/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef KERNELS_MODELS_PROBE_H
#define KERNELS_MODELS_PROBE_H

#include "kernels/model.h"

/* Test model: sleeps, works, fails on request and saves `size` doubles a plane (scan-file.md).
 */
extern const struct model_ops probe_ops;

#endif
