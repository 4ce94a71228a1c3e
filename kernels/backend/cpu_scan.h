/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef KERNELS_BACKEND_CPU_SCAN_H
#define KERNELS_BACKEND_CPU_SCAN_H

#include "kernels/backend/cpu_launch.h"

#ifdef __AVX__
#    include <immintrin.h>
#endif

/*
 * Sums in vector registers. CPU_VECTOR_BITS is the width that the launch file is built for:
 * wider vectors than the machine's become scalar code.
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

/* The last lane. */
CPU_HELPER double cpu_last(cpu_vector x)
{
    return x[CPU_LANES - 1];
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

/* The sum of x[0] … x[n - 1], in four vectors. */
CPU_HELPER double cpu_sum(const double *x, long n)
{
    cpu_vector sum[4] = {{0.0}};
    long i = 0;
    for (; i + 4 * CPU_LANES <= n; i += 4 * CPU_LANES)
#pragma GCC unroll 4
        for (int k = 0; k < 4; k++)
            sum[k] += cpu_load(x + i + k * CPU_LANES);
    const cpu_vector all = (sum[0] + sum[1]) + (sum[2] + sum[3]);
    double total = 0.0;
    for (int k = 0; k < CPU_LANES; k++)
        total += all[k];
    for (; i < n; i++)
        total += x[i];
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

/* The elements one before those of x; `before` is the vector before x. */
CPU_HELPER cpu_vector cpu_shift_1(cpu_vector before, cpu_vector x)
{
#if CPU_LANES == 2
    return __builtin_shufflevector(before, x, 1, 2);
#elif CPU_LANES == 4
    return __builtin_shufflevector(before, x, 3, 4, 5, 6);
#else
    return __builtin_shufflevector(before, x, 7, 8, 9, 10, 11, 12, 13, 14);
#endif
}

/* The same two before. */
CPU_HELPER cpu_vector cpu_shift_2(cpu_vector before, cpu_vector x)
{
#if CPU_LANES == 2
    (void)x;
    return before;
#elif CPU_LANES == 4
    return __builtin_shufflevector(before, x, 2, 3, 4, 5);
#else
    return __builtin_shufflevector(before, x, 6, 7, 8, 9, 10, 11, 12, 13);
#endif
}

/*
 * A prefix sum by windows: S_n = S_{n-k} + (x_{n-k+1} + … + x_n), k = 8 with 8 lanes and 4 with
 * less. The sum of a window takes log2(k) shifted additions, each lane has a chain of its own.
 */
struct cpu_running {
    cpu_vector one, two; /* the vector before, and the sums of 2 elements */
    cpu_vector sum;      /* S of it */
#if CPU_LANES == 8
    cpu_vector four; /* the sums of 4 */
#elif CPU_LANES == 2
    cpu_vector older; /* S of the one before that */
#endif
};

/* Nothing is summed yet but `before`. */
CPU_HELPER struct cpu_running cpu_running_start(double before)
{
    const cpu_vector zero = cpu_spread(0.0);
    struct cpu_running r;
    r.one = zero;
    r.two = zero;
    r.sum = cpu_spread(before);
#if CPU_LANES == 8
    r.four = zero;
#elif CPU_LANES == 2
    r.older = r.sum;
#endif
    return r;
}

/* A copy, vector by vector: copied as a whole it would stay in memory. */
CPU_HELPER void cpu_running_copy(const struct cpu_running *from, struct cpu_running *to)
{
    to->one = from->one;
    to->two = from->two;
#if CPU_LANES == 8
    to->four = from->four;
#endif
    to->sum = from->sum;
#if CPU_LANES == 2
    to->older = from->older;
#endif
}

/* The sum of the window that ends at each element of the next vector x: of 8 elements with 8
 * lanes, of 4 with less. */
CPU_HELPER cpu_vector cpu_running_window(struct cpu_running *r, cpu_vector x)
{
    const cpu_vector two = x + cpu_shift_1(r->one, x);
    cpu_vector window = two + cpu_shift_2(r->two, two);
    r->one = x;
    r->two = two;
#if CPU_LANES == 8
    const cpu_vector four = window;
    window += __builtin_shufflevector(r->four, four, 4, 5, 6, 7, 8, 9, 10, 11);
    r->four = four;
#endif
    return window;
}

/* S one window further. */
CPU_HELPER cpu_vector cpu_running_add(struct cpu_running *r, double factor, cpu_vector window)
{
#if CPU_LANES == 2
    const cpu_vector next = r->older + factor * window;
    r->older = r->sum;
    r->sum = next;
#else
    r->sum += factor * window;
#endif
    return r->sum;
}

/* S at the next vector x, the sum of factor x. The factor stays the same from vector to vector,
 * or cpu_running_read follows. */
CPU_HELPER cpu_vector cpu_running_next(struct cpu_running *r, double factor, cpu_vector x)
{
    return cpu_running_add(r, factor, cpu_running_window(r, x));
}

/* The windows before the element x[0] of another row, which has been read up to there: the sum
 * stays. */
CPU_HELPER void cpu_running_read(struct cpu_running *r, const double *x)
{
    const double *const last = x - CPU_LANES;
    r->one = cpu_load(last);
    r->two = r->one + cpu_load(last - 1);
#if CPU_LANES == 8
    r->four = r->two + (cpu_load(last - 2) + cpu_load(last - 3));
#endif
}

#endif
