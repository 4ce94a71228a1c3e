/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef RUNNER_GAIN_H
#define RUNNER_GAIN_H

#include <stdbool.h>

#include "kernels/model.h"
#include "scans/scan.h"

/*
 * What the dynamics of a noise-seeded member amplify (docs/contracts.md, class N): the planes
 * of a run are kept, and those of the same run from a perturbed input are measured against
 * them.
 */

struct gain;

/**
 * @param planes  of the file
 * @param out     free with gain_destroy
 */
int gain_create(const struct scan *scan, long planes, struct gain **out);

/** Make room for the planes that are to be judged. @param judged [layout->planes]. ERR_MEMORY
 */
int gain_reserve(struct gain *gain, const struct plane_layout *layout, const bool *judged);

/** From now on the perturbed run is measured. */
void gain_perturb(struct gain *gain);

/** Whether that is so; false for NULL. */
bool gain_is_perturbed(const struct gain *gain);

/** Perturbation of the run that is on (struct seed); 0 for NULL. */
double gain_perturbation(const struct gain *gain);

/**
 * A run stands on a plane that is to be judged: keep it, or measure the gain there.
 *
 * @param fresh  arrays and observables of the plane
 */
void gain_plane(struct gain *gain, const struct plane_layout *layout, long plane,
                const struct plane_buffers *fresh);

/** [planes of the file] distance in the norm of the envelope in units of the perturbation; NaN:
 * not measured, or behind a plane beyond the limit. Borrowed. */
const double *gain_values(const struct gain *gain);

/** Free; NULL is legal. */
void gain_destroy(struct gain *gain);

#endif
