/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef KERNELS_MODELS_PULSE_REAL_GRID_H
#define KERNELS_MODELS_PULSE_REAL_GRID_H

#include <stdbool.h>

/*
 * Grid of a carrier-resolved real field: two sets of samples of one window T. The state is the
 * spectrum of the coarse set, bins omega_k = 2 pi k/T, k = 0 … coarse/2; responses are computed
 * on the fine set, t_j = (j - fine/2) T/fine, which holds the third harmonic of the band
 * (physics.md §1.1; T is the whole window, tapers lie inside it).
 *
 * An envelope has the same state: the bins of the real field whose analytic signal it is. Its
 * fine samples are complex, so that they need to hold no carrier, neither the negative
 * frequencies nor a third harmonic: the width of the active bins, twice, so that |A|^2 A does
 * not fold back onto them. With fewer, down to what the state needs, products of far ends of
 * the band do.
 */

/* Order of the choices of windows.spectral and windows.time. */
enum taper_kind { TAPER_PLANCK, TAPER_SIN2, TAPER_NONE };

/* Complex fine samples for each active bin. */
#define REAL_GRID_ENVELOPE 2
/* Fine samples a period of the shortest wavelength: the third harmonic's own Nyquist limit. */
#define REAL_GRID_SAMPLES 6.0
/* The spectral window is 1 up to the blue limit and 0 from this multiple of it on. */
#define REAL_GRID_GUARD 1.1

/* A grid. Plain data. */
struct real_grid {
    long fine;       /* samples, even */
    long coarse;     /* samples, even, <= fine */
    double window;   /* T, s */
    double shortest; /* band limits, wavelengths, m */
    double longest;
    enum taper_kind spectral;
    enum taper_kind time;
    bool envelope; /* the fine samples are complex, of the analytic signal */
    long first;    /* the active bins [first, last): where the spectral window is not 0 */
    long last;
};

/**
 * Complete a grid: sizes that are 0 are chosen, then all is checked.
 *
 * @param grid  in: window, limits, tapers, kind, sizes or 0; out: sizes and active bins
 * @param theta  largest omega dt of the fine samples that the band may reach, guard included;
 * 0: no such limit
 * @return 0, or ERR_ARGUMENT: limits out of order, sizes that are odd, not 2^a 3^b 5^c 7^d, out
 *         of range, or too small for the band (the line says what would do)
 */
int real_grid_complete(struct real_grid *grid, double theta);

/** Bins of the stored spectrum: coarse/2 + 1. */
long real_grid_bins(const struct real_grid *grid);

/** Angular frequency of bin k, rad/s. */
double real_grid_omega(const struct real_grid *grid, long k);

/** Time of fine sample j, s. */
double real_grid_time(const struct real_grid *grid, long j);

/** Spectral window at bin k. */
double real_grid_spectral(const struct real_grid *grid, long k);

/** Length of the taper at each side of the window in time, s; 0: none. */
double real_grid_taper(const struct real_grid *grid);

/** Window in time at fine sample j. */
double real_grid_temporal(const struct real_grid *grid, long j);

#endif
