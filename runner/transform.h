/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef RUNNER_TRANSFORM_H
#define RUNNER_TRANSFORM_H

/*
 * Transforms of the tools (plan, plot), through the CPU backend, so that they are those of the
 * models: A_j = sum_k a_k exp(+2 pi i j k/n), as fields are stored.
 */

/**
 * Time signals of stored spectra.
 *
 * @param spectra [rows][n] complex pairs {r, i}
 * @param power   [rows][n] receives |A_j|^2, j = 0 … n-1
 * @return 0, ERR_MEMORY, ERR_DEVICE
 */
int transform_power(long rows, long n, const double *spectra, double *power);

/** Least seconds of one complex transform of length n on one core here, in about 10 ms. */
int transform_time(long n, double *seconds);

#endif
