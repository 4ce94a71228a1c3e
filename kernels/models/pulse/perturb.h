/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef KERNELS_MODELS_PULSE_PERTURB_H
#define KERNELS_MODELS_PULSE_PERTURB_H

#include "kernels/kdefs.h"
#include "kernels/model.h"

/* Bins of a spectrum in the order of their frequencies. Host memory. */
struct perturb_bins {
    cplx *a;    /* [n] */
    long n;     /* length of the array; behind its end it goes on at its beginning */
    long first; /* index of the lowest frequency */
    long count; /* bins that are perturbed, n at most */
};

/**
 * Add a perturbation to a spectrum, whose l2 norm is seed->perturbation times that of the bins:
 * the field itself, modulated in time by frequencies of 0 and of 1 bin to a quarter of the
 * bins, spread geometrically to both sides with equal strength and phases of the seed's own. So
 * it lies where the field is, as errors of steps do, and excites instabilities of each width.
 * What would leave the bins is dropped. Nothing happens without a perturbation or a field.
 *
 * @return 0, ERR_MEMORY
 *
 * Source: numerics.md §2 (growth of a difference along the path).
 */
int pulse_perturb(const struct perturb_bins *bins, const struct seed *seed);

#endif
