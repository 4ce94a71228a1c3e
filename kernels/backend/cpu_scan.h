/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef KERNELS_BACKEND_CPU_SCAN_H
#define KERNELS_BACKEND_CPU_SCAN_H

#include "kernels/backend/cpu_launch.h"

#ifdef __AVX__
#    include <immintrin.h>
#endif

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

/* Sum of the squares of x[0] … x[n - 1], in four vectors. */
CPU_HELPER double cpu_square_sum(const double *x, long n)
{
    cpu_vector sum[4] = {{0.0}};
    long i = 0;
    for (; i + 4 * CPU_LANES <= n; i += 4 * CPU_LANES)
#pragma GCC unroll 4
        for (int k = 0; k < 4; k++) {
            const cpu_vector y = cpu_load(x + i + k * CPU_LANES);
            sum[k] += y * y;
        }
    const cpu_vector all = (sum[0] + sum[1]) + (sum[2] + sum[3]);
    double total = 0.0;
    for (int k = 0; k < CPU_LANES; k++)
        total += all[k];
    for (; i < n; i++)
        total += x[i] * x[i];
    return total;
}

/* Whether some of x[0] … x[n - 1] is not below the limit, NaN for one; n a multiple of 8. */
CPU_HELPER int cpu_some_not_below(const double *x, cpu_vector limit, long n)
{
#if CPU_LANES == 8 && defined(__AVX512F__)
    __mmask8 some = 0;
    for (long i = 0; i < n; i += CPU_LANES)
        some |= _mm512_cmp_pd_mask((__m512d)cpu_load(x + i), (__m512d)limit, _CMP_NLT_UQ);
    return some != 0;
#elif CPU_LANES == 4 && defined(__AVX__)
    __m256d some = _mm256_setzero_pd();
    for (long i = 0; i < n; i += CPU_LANES)
        some = _mm256_or_pd(
            some, _mm256_cmp_pd((__m256d)cpu_load(x + i), (__m256d)limit, _CMP_NLT_UQ));
    return _mm256_movemask_pd(some) != 0;
#else
    double some = 0.0;
    for (long i = 0; i < n; i++)
        some += x[i] < limit[0] ? 0.0 : 1.0;
    return some > 0.0;
#endif
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
