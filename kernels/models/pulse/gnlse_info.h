/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef KERNELS_MODELS_PULSE_GNLSE_INFO_H
#define KERNELS_MODELS_PULSE_GNLSE_INFO_H

#include "kernels/model.h"

/* The static facts of model gnlse: name, convention, parameters, observables, contract. */
extern const struct model_info gnlse_info;

#endif
