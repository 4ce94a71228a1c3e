/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef KERNELS_MODELS_PULSE_MARCATILI_H
#define KERNELS_MODELS_PULSE_MARCATILI_H

#include <stdbool.h>

#include "kernels/models/pulse/glass.h"
#include "kernels/models/pulse/mixture.h"
#include "kernels/models/pulse/mode.h"

/*
 * Propagation constant of a mode of a gas-filled capillary (physics.md §3.1). With k = omega/c,
 * wall factor v, gas index from the density rho:
 *
 *   full:    n_eff^2 = 1 + rho g - (u/(k a))^2 (1 - i v/(k a))^2
 *   reduced: n_eff = 1 + rho g/2 - (u/(k a))^2/2 + i v u^2/(k a)^3
 *
 * A positive imaginary part is loss; the field goes as exp(i omega t), so L holds -i k
 * conj(n_eff).
 */

/* Largest power loss that a guide is given, 1/m: the one clamp of all uses. */
#define GUIDE_ALPHA_MAX 3000.0

/* What guides. */
struct guide {
    struct mode mode;
    bool full;                 /* else the reduced form */
    double loss;               /* factor on the loss: 1 on, 0 off */
    const struct glass *wall;  /* borrowed */
    const struct mixture *gas; /* borrowed */
};

/* Where along the guide. */
struct guide_place {
    double rho;    /* particles of the gas, 1/m^3 */
    double radius; /* m */
};

/* What of a guide depends on the frequency alone; made once for each bin, read at many places.
 */
struct guide_bin {
    struct taylor omega; /* the variable, rad/s */
    struct taylor g;     /* susceptibility of the mean particle, m^3 */
    struct taylor v;     /* wall factor */
};

/** Load a bin; order 0 where no derivatives are wanted. */
void guide_bin_load(const struct guide *guide, double omega, int order, struct guide_bin *out);

/**
 * n_eff - 1 with its derivatives, without the rounding of n_eff, neither clamped nor scaled.
 * The reduced form is linear in rho. In the full form a real part of n_eff below 1e-3, far past
 * the cut-off, is held there, and derivatives are zero.
 */
struct taylor guide_excess(const struct guide *guide, const struct guide_bin *bin,
                           struct guide_place at);

/** The same without derivatives, several times as fast. */
cplx guide_excess_value(const struct guide *guide, const struct guide_bin *bin,
                        struct guide_place at);

/** beta = (omega/c) Re n_eff and its derivatives, rad/m, s/m, s^2/m … (real parts). */
struct taylor guide_beta(const struct guide *guide, const struct guide_bin *bin,
                         struct guide_place at);

/** Power loss alpha = 2 (omega/c) Im n_eff times guide.loss, held in [0, GUIDE_ALPHA_MAX], 1/m.
 */
double guide_alpha(const struct guide *guide, const struct guide_bin *bin,
                   struct guide_place at);

#endif
