/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef KERNELS_BACKEND_CPU_SCAN_H
#define KERNELS_BACKEND_CPU_SCAN_H

#include "kernels/backend/cpu_launch.h"

/*
 * Inclusive prefix sums in vector registers: log2(lanes) shifted additions within a vector, and
 * one addition a pair of vectors for what came before. CPU_VECTOR_BITS is the width that the
 * launch file is built for: wider vectors than the machine's become scalar code.
 */

#if !defined(CPU_VECTOR_BITS) || CPU_VECTOR_BITS < 256
#    define CPU_LANES 2
#elif CPU_VECTOR_BITS < 512
#    define CPU_LANES 4
#else
#    define CPU_LANES 8
#endif

/* Lanes of a register. */
typedef double cpu_vector __attribute__((vector_size(CPU_LANES * 8)));

/* The same at any address. */
typedef double cpu_loose __attribute__((vector_size(CPU_LANES * 8), aligned(8), may_alias));

/* A vector from any address. */
CPU_HELPER cpu_vector cpu_load(const double *at)
{
    return *(const cpu_loose *)at;
}

/* A vector to any address. */
CPU_HELPER void cpu_store(double *at, cpu_vector value)
{
    *(cpu_loose *)at = value;
}

/* Prefix sums within a vector. */
CPU_HELPER cpu_vector cpu_scan_lanes(cpu_vector x)
{
    const cpu_vector zero = {0.0};
#if CPU_LANES == 2
    return x + __builtin_shufflevector(zero, x, 1, 2);
#elif CPU_LANES == 4
    x += __builtin_shufflevector(zero, x, 3, 4, 5, 6);
    return x + __builtin_shufflevector(zero, x, 2, 3, 4, 5);
#else
    x += __builtin_shufflevector(zero, x, 7, 8, 9, 10, 11, 12, 13, 14);
    x += __builtin_shufflevector(zero, x, 6, 7, 8, 9, 10, 11, 12, 13);
    return x + __builtin_shufflevector(zero, x, 4, 5, 6, 7, 8, 9, 10, 11);
#endif
}

/* The last lane in all lanes. */
CPU_HELPER cpu_vector cpu_last_lane(cpu_vector x)
{
#if CPU_LANES == 2
    return __builtin_shufflevector(x, x, 1, 1);
#elif CPU_LANES == 4
    return __builtin_shufflevector(x, x, 3, 3, 3, 3);
#else
    return __builtin_shufflevector(x, x, 7, 7, 7, 7, 7, 7, 7, 7);
#endif
}

/* The same number in all lanes. */
CPU_HELPER cpu_vector cpu_spread(double x)
{
    const cpu_vector zero = {0.0};
    return x + zero;
}

/* Two vectors of neighbours. */
struct cpu_pair {
    cpu_vector low, high;
};

/* Prefix sums of the elements of two vectors after `sum`, the same in all lanes, which becomes
 * the last of them. */
CPU_HELPER struct cpu_pair cpu_scan_pair(cpu_vector low, cpu_vector high, cpu_vector *sum)
{
    const cpu_vector first = cpu_scan_lanes(low);
    const cpu_vector both = cpu_last_lane(first) + cpu_scan_lanes(high);
    const struct cpu_pair out = {*sum + first, *sum + both};
    *sum += cpu_last_lane(both);
    return out;
}

/*
 * out[i] = before + x[0] + … + x[i] for i < n; returns the last. The longest path has n/(2
 * lanes) + log2(lanes) + 3 additions, and what is left of n one by one.
 */
CPU_HELPER double cpu_scan(const double *K_RESTRICT x, double *K_RESTRICT out, long n,
                           double before)
{
    cpu_vector sum = cpu_spread(before);
    long i = 0;
    for (; i + 2 * CPU_LANES <= n; i += 2 * CPU_LANES) {
        const struct cpu_pair sums =
            cpu_scan_pair(cpu_load(x + i), cpu_load(x + i + CPU_LANES), &sum);
        cpu_store(out + i, sums.low);
        cpu_store(out + i + CPU_LANES, sums.high);
    }
    double total = sum[0];
    for (; i < n; i++) {
        total += x[i];
        out[i] = total;
    }
    return total;
}

#endif
