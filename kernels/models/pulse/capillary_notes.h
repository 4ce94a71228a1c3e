/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef KERNELS_MODELS_PULSE_CAPILLARY_NOTES_H
#define KERNELS_MODELS_PULSE_CAPILLARY_NOTES_H

#include "kernels/model.h"
#include "kernels/models/pulse/capillary_medium.h"

/**
 * The sanity report of a point (physics.md A13) into out->note.
 *
 * @return 0, or ERR_MEMORY
 */
int capillary_notes(const struct capillary_point *point, const struct capillary_medium *medium,
                    struct plane_layout *out);

/** Predicted evaluations of the nonlinear term of one member. */
double capillary_predicted_rhs(const struct capillary_point *point,
                               const struct capillary_medium *medium);

/**
 * Refuse an input whose field lies above what the ionisation rate is made for.
 *
 * @return 0, or ERR_ARGUMENT with field and limit
 */
int capillary_check_field(const struct capillary_point *point,
                          const struct capillary_medium *medium);

#endif
