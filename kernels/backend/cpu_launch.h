/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef KERNELS_BACKEND_CPU_LAUNCH_H
#define KERNELS_BACKEND_CPU_LAUNCH_H

#include <omp.h>

#include "kernels/backend.h"

/*
 * What the launch files share: which rows run, and how the threads of a worker share one row.
 * Everything is static: each launch file has its own copy, built for its instruction set.
 */

/* Threads that share a row at most: partial sums are kept by share. */
#define CPU_SHARES_MAX 64

#define CPU_NOINLINE static __attribute__((noinline))
#define CPU_HELPER   static inline __attribute__((unused))

/* Parts into which a row of n elements is cut: 1 below the threshold and inside a parallel
 * region, which must not be nested. */
CPU_HELPER int cpu_shares(const struct backend *be, long n)
{
    if (be->threads < 2 || n < be->threshold[THRESHOLD_threads_pointwise] || omp_in_parallel())
        return 1;
    return be->threads < CPU_SHARES_MAX ? be->threads : CPU_SHARES_MAX;
}

/* The same of a plasma column. */
CPU_HELPER int cpu_column_shares(const struct backend *be, long n)
{
    if (!backend_shares_column(be, n))
        return 1;
    return be->threads < CPU_SHARES_MAX ? be->threads : CPU_SHARES_MAX;
}

/* First element of a share; on a cache line (8 doubles), so that no line has two writers. */
CPU_HELPER long cpu_share_begin(long n, int share, int shares)
{
    if (share >= shares)
        return n;
    return n / shares * share / 8 * 8;
}

/* Of arguments that have no zeros to write. */
CPU_HELPER void cpu_zeros_none(const void *a, long row, long n, struct k_share share)
{
    (void)a;
    (void)row;
    (void)n;
    (void)share;
}

/* Whether a row takes part; without a mask each does. */
CPU_HELPER int cpu_row_active(const unsigned char *active, long row)
{
    return active == NULL || active[row] != 0;
}

#endif
