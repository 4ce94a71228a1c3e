/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef KERNELS_MODELS_PULSE_CAPILLARY_H
#define KERNELS_MODELS_PULSE_CAPILLARY_H

#include "kernels/model.h"

/* Carrier-resolved pulses of one mode in a gas-filled capillary (docs/models/capillary.md). */
extern const struct model_ops capillary_ops;

/** Replay step lengths in a row, as stepper_set_schedule: for tests. */
void capillary_set_schedule(struct model *m, int row, const double *lengths, long count);

#endif
