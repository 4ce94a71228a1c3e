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

/** Tell of options that have no effect beside the others, where they are not at their defaults.
 */
void capillary_notes_unused(const struct params *params, const struct capillary_point *point,
                            struct plane_layout *out);

/** Predicted evaluations of the nonlinear term of one member that saves so many planes. */
double capillary_predicted_rhs(const struct capillary_point *point,
                               const struct capillary_medium *medium, long planes);

/** Cost of the plasma column in a right-hand side, in transforms of the fine samples; 0 without
 * plasma. As measured: see docs/performance.md. */
double capillary_predicted_column(const struct capillary_point *point);

/** Cost of a right-hand side in transforms of the fine samples: these, and the plasma column.
 */
double capillary_predicted_cost(const struct capillary_point *point);

/**
 * Refuse an input whose field lies above what the ionisation rate is made for.
 *
 * @return 0, or ERR_ARGUMENT with field and limit
 */
int capillary_check_field(const struct capillary_point *point,
                          const struct capillary_medium *medium);

#endif
