/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef KERNELS_MODELS_PULSE_GRID_H
#define KERNELS_MODELS_PULSE_GRID_H

#include <stdbool.h>

/*
 * Envelope grid: n samples t_j = (j - n/2) dt over the window T = n dt; bins Omega_k = 2 pi k/T
 * in FFT order (k >= n/2 stands for k - n), absolute frequency omega_k = omega0 + Omega_k.
 */

#define PULSE_GRID_MIN 16
#define PULSE_GRID_MAX 67108864 /* 2^26 */

/* What a band must hold. */
struct pulse_band {
    double shortest; /* wavelength, m */
    double longest;  /* wavelength, m */
    double omega0;   /* reference, rad/s */
};

/** Whether a number has no prime factor above 7. */
bool pulse_grid_smooth(long n);

/** Refuse a number of points that is odd, out of range or has a prime factor above 7. */
int pulse_grid_check(long n);

/**
 * Points of a window so that the band holds both wavelengths: the smallest power of two with
 * dt <= 1 / (2 max |f - f0|), the blue limit raised by 10 % as guard (physics.md §1.2, with the
 * larger of both sides).
 *
 * @param window  T, s
 * @return 0, or ERR_ARGUMENT: limits out of order or not around the reference, too many points
 */
int pulse_grid_points(const struct pulse_band *band, double window, long *n);

/** Signed bin number of index k in FFT order: 0 … n/2 - 1, -n/2 … -1. */
long pulse_bin(long k, long n);

/** Relative angular frequencies Omega[n], rad/s. */
void pulse_grid_omega(double *omega, long n, double window);

/** Times t[n], s. */
void pulse_grid_time(double *t, long n, double window);

/**
 * Planck taper: 0 for |x| >= 1, 1 for |x| <= 1 - edge, smooth between (arXiv:1003.2939, eq. 7).
 *
 * @param x     position as a fraction of the half width
 * @param edge  width of the taper at each side as a fraction of the half width, in (0, 1]
 */
double pulse_planck(double x, double edge);

#endif
