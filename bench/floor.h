/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "kernels/backend.h"

/* The floor of a run: the transforms of one right-hand side alone, hot, on own buffers. */
struct floor {
    struct backend *be;
    struct fft *plan[4];
    struct fft_rows rows[4];
    int plans;
    cplx *a, *b, *half;
    double *real;
    double cpu; /* s, measured so far */
    double rhs; /* right-hand sides' worth of transforms in cpu */
};

/**
 * Plans and buffers for transforms of n samples.
 *
 * @param raman two real transforms beside the two complex ones
 */
int floor_create(struct backend *be, long n, bool raman, struct floor *out);

/** Plans and buffers for the two real transforms of n samples of a real field. */
int floor_create_real(struct backend *be, long n, struct floor *out);

/** Free everything. */
void floor_clear(struct floor *f);

/** One look: two turns to warm up, then timed ones. */
int floor_measure(struct floor *f);

/** Seconds of a right-hand side. */
double floor_seconds(const struct floor *f);
