/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef KERNELS_NUMERIC_TAPS_H
#define KERNELS_NUMERIC_TAPS_H

/*
 * Symmetric filters that make a cumulative trapezoid the integral of a band-limited function
 * (numerics.md §6). With theta = omega dt the trapezoid multiplies a frequency by (dt/2i)
 * cot(theta/2) instead of dt/(i theta), so the filter c(theta) = c_0 + 2 sum_k c_k cos(k theta)
 * has to be g(theta) = tan(theta/2)/(theta/2) on |theta| <= edge.
 */

#define TAPS_SIDE_MAX 8

/* A filter. Plain data. */
struct taps {
    int side;                      /* taps beside the middle one */
    double tap[TAPS_SIDE_MAX + 1]; /* c_0 … c_side */
    double edge;                   /* theta_b */
    double norm;                   /* |c_0| + 2 sum |c_k|: what it may amplify rounding by */
    double certificate;            /* max |c/g - 1| over the band, of the rounded taps */
};

/**
 * Taps of the smallest maximal relative error on [0, edge] (Remez 1934; in long double).
 *
 * @param side 1 … TAPS_SIDE_MAX
 * @param edge theta_b, 0 < edge < pi
 * @return 0, or ERR_ARGUMENT (out of range, or more taps than the band needs: an error below
 *         1e-16 is noise)
 */
int taps_band(int side, double edge, struct taps *out);

/** The filter that does nothing: one tap of 1, certificate 0 at edge 0. */
void taps_none(struct taps *out);

/** max |c/g - 1| over [0, edge] of the taps as they are, on a grid finer than their ripples. */
double taps_certificate(const struct taps *taps, double edge);

/**
 * Samples that a window needs for a band: the smallest even length of the form 2^a 3^b 5^c 7^d
 * with omega window/n <= edge.
 *
 * @param omega  highest angular frequency, rad/s
 * @param window s
 * @return the length; 0 when more than 1e9 samples would be needed
 */
long taps_samples(double omega, double window, double edge);

#endif
