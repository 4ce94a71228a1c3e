/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef RUNNER_GAIN_H
#define RUNNER_GAIN_H

#include <stdbool.h>

#include "io/verdict.h"
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

/**
 * The planes within the window stay; those beyond are not judged and have no error (NaN).
 *
 * @param judged  [layout->planes]
 * @param error   [layout->planes]
 * @param reason  [STORE_REASON_SIZE] receives why nothing can be judged
 * @return false when the window holds the input at most
 */
bool gain_narrow(struct gain *gain, const struct plane_layout *layout, bool *judged,
                 double *error, char *reason);

/** The window in words, some 80 characters; "none" before gain_narrow. */
void gain_text(const struct gain *gain, const struct plane_layout *layout, char *text,
               size_t size);

/** What the file keeps of it. Arrays are borrowed. */
void gain_tell(const struct gain *gain, const struct plane_layout *layout,
               struct verdict_end *end);

/** Free; NULL is legal. */
void gain_destroy(struct gain *gain);

#endif
