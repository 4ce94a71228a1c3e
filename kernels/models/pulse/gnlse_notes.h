/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef KERNELS_MODELS_PULSE_GNLSE_NOTES_H
#define KERNELS_MODELS_PULSE_GNLSE_NOTES_H

#include "kernels/models/pulse/gnlse_params.h"

/**
 * Sanity report of a point (physics.md A13): soliton number, characteristic lengths, zero
 * dispersion, adequacy of the grid, each with a warning where it is due.
 */
void gnlse_notes(const struct gnlse_point *point, struct plane_layout *out);

/** Transforms of one right-hand side: 2, with Raman 2 more, with an absorber 1 more. */
int gnlse_transforms(const struct gnlse_point *point);

/** Rough number of right-hand sides of a member, for the cost estimate. */
double gnlse_predicted_rhs(const struct gnlse_point *point);

#endif
