/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef KERNELS_MODELS_PULSE_HALF_POWER_H
#define KERNELS_MODELS_PULSE_HALF_POWER_H

#include <stdbool.h>

#include "kernels/backend.h"
#include "kernels/models/pulse/capillary_params.h"

/*
 * The power of a real field on the fine samples from its quadrature on every second one, which
 * costs half a transform. Where the band ends below a quarter of the fine samples' frequency,
 * every second sample of the analytic signal determines the others: a filter reads them off
 * (kernels/bodies/half.h), wherever they are asked for. They are asked for where the power can
 * reach a level, which its neighbours tell (Bernstein and Szegö), and at the edges of the
 * window.
 */

/* Pairs of samples whose largest power is known. */
#define HALF_POWER_BLOCK 128

/* Samples and quadrature of a field, and what the even ones tell. Plain data, borrowed memory.
 */
struct half_power {
    struct backend *be;
    long n;                   /* pairs of samples */
    long most;                /* pairs that are looked at together */
    double bend;              /* rad: width of the band times dt */
    const double *samples;    /* [2 n] on the backend, A(t_j), sqrt(W) */
    const double *quadrature; /* [n] on the backend, at samples 0, 2, 4, … */
    double *work;             /* [2 n] on the backend */
    double *blocks;           /* [blocks][2] sum and largest power of a block's even samples */
    long block;               /* whose powers are in fine; -1: none */
    double fine[2 * HALF_POWER_BLOCK]; /* W */
};

/** Whether a grid of these sizes may be looked at so. */
bool half_power_sizes(long fine, long coarse);

/** Whether this one may: its band ends below a quarter of the samples' frequency. */
bool half_power_fits(const struct real_grid *grid);

/**
 * Look at the even samples.
 *
 * @param h  in: be, samples, quadrature, work, and blocks with room for
 *           fine/HALF_POWER_BLOCK + 2 numbers; they are kept. out: all
 */
int half_power_init(const struct real_grid *grid, struct half_power *h);

/**
 * Powers of the samples of pairs, W.
 *
 * @param from   first pair, 0 … n - 1
 * @param count  pairs, at most h->most, none beyond n
 * @param out    [2 count]
 */
int half_power_read(const struct half_power *h, long from, long count, double *out);

/**
 * The same observables as capillary_observe_power, of all fine samples: peak_power, fwhm_t,
 * t_peak, edge_t.
 *
 * @param values  [CAPILLARY_OBSERVABLES]
 */
int half_power_observe(const struct capillary_point *point, struct half_power *h,
                       double *values);

#endif
