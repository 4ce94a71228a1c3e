/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TESTS_KERNELS_GROUP_CASE_H
#define TESTS_KERNELS_GROUP_CASE_H

#include <stdbool.h>

#include <mpi.h>

#include "kernels/backend/group.h"

/*
 * Whole arrays on every rank: a transform over ranks takes each rank's slab out of one and puts
 * the slabs of the result together in another. Arrays are doubles, a complex element two.
 */

/* A transform over the ranks of a communicator. */
struct group_case {
    MPI_Comm comm;
    enum fft_kind kind;
    long n[3];
    enum fft_rigour rigour;
};

/* Lengths of a transform's whole arrays, in doubles. */
long case_doubles_in(const struct group_case *c);
long case_doubles_out(const struct group_case *c);
long case_points(const struct group_case *c);

/**
 * Transform over the ranks. Collective. What a slab has beyond its elements (padding of rows,
 * room to exchange) holds NaN before.
 *
 * @param in   [case_doubles_in], the same on all ranks
 * @param out  [case_doubles_out], written on all ranks
 * @param kept receives whether this rank's slab of the input was left as it was
 * @return the first code that was not 0
 */
int case_transform(const struct group_case *c, const double *in, double *out, bool *kept);

/** The same by FFTW's serial transform, on each rank alone. 0 or a code. */
int case_reference(const struct group_case *c, const double *in, double *out);

/** Random numbers in (0, 1], the same on every rank. */
void case_fill(double *values, long count);

/** exp(2 pi i m.j/n) of the points j, or its real part for the kinds that start from reals. */
void case_plane_wave(const struct group_case *c, const long m[3], double *values);

/** The transform of case_plane_wave: n0 n1 n2 at m, or half of it at m and at -m. */
void case_spike(const struct group_case *c, const long m[3], double *values);

#endif
