/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef KERNELS_NUMERIC_HOST_FFT_H
#define KERNELS_NUMERIC_HOST_FFT_H

#include <stdbool.h>

#include "kernels/kdefs.h"

/*
 * Transforms of set-up, in host memory: the same bits in every process. A measured FFT plan may
 * differ from process to process and with it the last bits; an input field must not.
 */

struct host_fft;

/**
 * Tables for transforms of n complex numbers (GSL, mixed radix).
 *
 * @param n length, >= 1
 * @return 0, ERR_ARGUMENT or ERR_MEMORY
 */
int host_fft_create(long n, struct host_fft **out);

/** Free; NULL is legal. */
void host_fft_destroy(struct host_fft *fft);

/**
 * Transform in place, not divided by n: sum_j x_j exp(-2 pi i j k / n) forward, + backward.
 *
 * @param x [n]
 */
int host_fft_execute(struct host_fft *fft, bool forward, cplx *x);

#endif
