/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef KERNELS_MODELS_PULSE_GNLSE_H
#define KERNELS_MODELS_PULSE_GNLSE_H

#include "kernels/model.h"

/* Generalised nonlinear Schroedinger equation of an optical fibre (scan-file.md, physics.md).
 */
extern const struct model_ops gnlse_ops;

/**
 * Replay stored step lengths in a loaded row (stepper_set_schedule): for comparisons of class
 * R.
 *
 * @param lengths  [count] m, borrowed until the row is loaded again
 */
void gnlse_set_schedule(struct model *m, int row, const double *lengths, long count);

#endif
