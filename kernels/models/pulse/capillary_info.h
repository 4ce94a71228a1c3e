/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef KERNELS_MODELS_PULSE_CAPILLARY_INFO_H
#define KERNELS_MODELS_PULSE_CAPILLARY_INFO_H

#include "kernels/model.h"

/* What the model says of itself. */
extern const struct model_info capillary_info;

#endif
