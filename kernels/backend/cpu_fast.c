/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * CPU launches of the kernels of fast.def and column.def. Built once per instruction set:
 * cpu_fast_v3.c includes this file with CPU_SUFFIX set. For each kernel there is cpu_NAME, the
 * vector loop over the elements [begin, end) of one row, and launch_NAME, the loop over the
 * rows.
 */
#include "kernels/backend/cpu.h"
#include "kernels/backend/cpu_launch.h"

#ifndef CPU_SUFFIX
#    define CPU_SUFFIX
#endif
#define CPU_JOIN2(a, b) a##b
#define CPU_JOIN(a, b)  CPU_JOIN2(a, b)
#define CPU_NAME(name)  CPU_JOIN(cpu_##name, CPU_SUFFIX)

/* The instances of a KERNEL_N. */
#define CPU_UP_TO_1(make, name, args) make(name, 0, args) make(name, 1, args)
#define CPU_UP_TO_2(make, name, args) CPU_UP_TO_1(make, name, args) make(name, 2, args)
#define CPU_UP_TO_4(make, name, args)                                                          \
    make(name, 0, args) make(name, 1, args) make(name, 2, args) make(name, 3, args)            \
        make(name, 4, args)
#define CPU_INSTANCES(last, make, name, args) CPU_JOIN(CPU_UP_TO_, last)(make, name, args)

/* Some launches also write zeros around a row: that of the arguments' type does it. */
#define CPU_ZEROS(a, r, n)                                                                     \
    _Generic((a), const struct stage_entry_args *                                              \
             : stage_entry_zeros, const struct stage_turn_args *                               \
             : stage_turn_zeros, const struct step_last_args *                                 \
             : step_last_zeros, const struct spectral_join_args *                              \
             : spectral_join_zeros, default                                                    \
             : cpu_zeros_none)(a, r, n, k_alone())

/* Rows one after the other, each to its end while it is in the cache. */
#define CPU_ROWS(args, loop, name)                                                             \
    static int launch_##name(struct backend *be, const struct args##_args *a, long row,        \
                             long rows, long n)                                                \
    {                                                                                          \
        const int shares = cpu_shares(be, n);                                                  \
        for (long r = row; r < row + rows; r++) {                                              \
            if (!cpu_row_active(a->active, r))                                                 \
                continue;                                                                      \
            const struct args##_row at = args##_row(a, r);                                     \
            CPU_ZEROS(a, r, n);                                                                \
            if (shares == 1) {                                                                 \
                loop(0, n, &at);                                                               \
                continue;                                                                      \
            }                                                                                  \
            _Pragma(                                                                           \
                "omp parallel for num_threads(shares) schedule(static, 1)") for (int t = 0;    \
                                                                                 t < shares;   \
                                                                                 t++)          \
                loop(cpu_share_begin(n, t, shares), cpu_share_begin(n, t + 1, shares), &at);   \
        }                                                                                      \
        return 0;                                                                              \
    }

#define KERNEL(name, args)                                                                     \
    CPU_NOINLINE void CPU_NAME(name)(long begin, long end, const struct args##_row *at)        \
    {                                                                                          \
        const struct args##_row row = *at;                                                     \
        _Pragma("omp simd") for (long i = begin; i < end; i++) name##_body(i, &row);           \
    }                                                                                          \
    CPU_ROWS(args, CPU_NAME(name), name)

#define CPU_INSTANCE(name, s, args)                                                            \
    CPU_NOINLINE void CPU_NAME(name##_##s)(long begin, long end, const struct args##_row *at)  \
    {                                                                                          \
        const struct args##_row row = *at;                                                     \
        _Pragma("omp simd") for (long i = begin; i < end; i++) name##_body(s, i, &row);        \
    }                                                                                          \
    CPU_ROWS(args, CPU_NAME(name##_##s), name##_##s)
#define KERNEL_N(name, last, args) CPU_INSTANCES(last, CPU_INSTANCE, name, args)

/* Partial sums are kept by share and added in order: the result depends on the number of
 * threads, not on which is first. */
#define CPU_SUM_ROWS(args, loop, name, outputs, join)                                          \
    static int launch_##name(struct backend *be, const struct args##_args *a, long row,        \
                             long rows, long n)                                                \
    {                                                                                          \
        const int shares = cpu_shares(be, n);                                                  \
        for (long r = row; r < row + rows; r++) {                                              \
            if (!cpu_row_active(a->active, r))                                                 \
                continue;                                                                      \
            const struct args##_row at = args##_row(a, r);                                     \
            CPU_ZEROS(a, r, n);                                                                \
            struct k_terms part[CPU_SHARES_MAX];                                               \
            if (shares == 1)                                                                   \
                part[0] = loop(0, n, &at);                                                     \
            else                                                                               \
                _Pragma(                                                                       \
                    "omp parallel for num_threads(shares) schedule(static, 1)") for (int t =   \
                                                                                         0;    \
                                                                                     t         \
                                                                                     < shares; \
                                                                                     t++)      \
                    part[t] = loop(cpu_share_begin(n, t, shares),                              \
                                   cpu_share_begin(n, t + 1, shares), &at);                    \
            struct k_terms all = part[0];                                                      \
            for (int t = 1; t < shares; t++)                                                   \
                all = join(all, part[t]);                                                      \
            terms_store(all, outputs, a->out + r * (outputs));                                 \
        }                                                                                      \
        return 0;                                                                              \
    }

#define KERNEL_SUM(name, outputs, args)                                                        \
    CPU_NOINLINE struct k_terms CPU_NAME(name)(long begin, long end,                           \
                                               const struct args##_row *at)                    \
    {                                                                                          \
        const struct args##_row row = *at;                                                     \
        double sum_a = 0.0;                                                                    \
        double sum_b = 0.0;                                                                    \
        double sum_c = 0.0;                                                                    \
        _Pragma("omp simd reduction(+ : sum_a, sum_b, sum_c)") for (long i = begin; i < end;   \
                                                                    i++)                       \
        {                                                                                      \
            const struct k_terms t = name##_body(i, &row);                                     \
            sum_a += t.a;                                                                      \
            sum_b += (outputs) > 1 ? t.b : 0.0;                                                \
            sum_c += (outputs) > 2 ? t.c : 0.0;                                                \
        }                                                                                      \
        const struct k_terms sums = {sum_a, sum_b, sum_c};                                     \
        return sums;                                                                           \
    }                                                                                          \
    CPU_SUM_ROWS(args, CPU_NAME(name), name, outputs, terms_add)

/* Terms are >= 0 or NaN. The maximum skips NaN, the sum does not: it decides afterwards. */
#define KERNEL_NORM(name, args)                                                                \
    CPU_NOINLINE struct k_terms CPU_NAME(name)(long begin, long end,                           \
                                               const struct args##_row *at)                    \
    {                                                                                          \
        const struct args##_row row = *at;                                                     \
        double sum = 0.0;                                                                      \
        double top = 0.0;                                                                      \
        _Pragma("omp simd reduction(+ : sum) reduction(max : top)") for (long i = begin;       \
                                                                         i < end; i++)         \
        {                                                                                      \
            const double t = name##_body(i, &row);                                             \
            sum += t;                                                                          \
            top = t > top ? t : top;                                                           \
        }                                                                                      \
        const struct k_terms both = {sum, sum == sum ? top : sum, 0.0};                        \
        return both;                                                                           \
    }                                                                                          \
    CPU_SUM_ROWS(args, CPU_NAME(name), name, 2, terms_join)

CPU_HELPER struct k_terms terms_add(struct k_terms x, struct k_terms y)
{
    const struct k_terms sum = {x.a + y.a, x.b + y.b, x.c + y.c};
    return sum;
}

/* Sum and maximum of two shares, where a NaN stays. */
CPU_HELPER struct k_terms terms_join(struct k_terms x, struct k_terms y)
{
    const double sum = x.a + y.a;
    const double top = x.b > y.b ? x.b : y.b;
    const struct k_terms both = {sum, sum == sum ? top : sum, 0.0};
    return both;
}

CPU_HELPER void terms_store(struct k_terms terms, int outputs, double *out)
{
    const double all[3] = {terms.a, terms.b, terms.c};
    for (int k = 0; k < outputs; k++)
        out[k] = all[k]; /* NOLINT(clang-analyzer-core.uninitialized.Assign): outputs <= 3 */
}

#include "kernels/fast.def"
#undef KERNEL
#undef KERNEL_N
#undef KERNEL_SUM
#undef KERNEL_NORM

/* cpu_NAME of these stand in cpu_column.inc; here are the loops over the rows. */
#include "kernels/backend/cpu_column.inc"

/* One row stands outside of a parallel region: the threads that share it would be a team within
 * a team, which is started anew each time. */
#define KERNEL_COLUMN(name, args)                                                              \
    CPU_HELPER void row_##name(const struct args##_args *a, long r, long n, int shares)        \
    {                                                                                          \
        const struct args##_row at = args##_row(a, r);                                         \
        if (cpu_row_active(a->active, r))                                                      \
            CPU_NAME(name)(n, &at, shares);                                                    \
    }                                                                                          \
    static int launch_##name(struct backend *be, const struct args##_args *a, long row,        \
                             long rows, long n)                                                \
    {                                                                                          \
        const int threads = omp_in_parallel() ? 1 : be->threads;                               \
        if (rows == 1)                                                                         \
            row_##name(a, row, n, cpu_column_shares(be, n));                                   \
        else                                                                                   \
            _Pragma("omp parallel for num_threads(threads) schedule(dynamic, 1)") for (        \
                long r = row; r < row + rows; r++) row_##name(a, r, n, 1);                     \
        return 0;                                                                              \
    }
#include "kernels/column.def"
#undef KERNEL_COLUMN

#define KERNEL(name, args)              table->name = launch_##name;
#define CPU_ENTRY(name, s, args)        table->name[s] = launch_##name##_##s;
#define KERNEL_N(name, last, args)      CPU_INSTANCES(last, CPU_ENTRY, name, args)
#define KERNEL_SUM(name, outputs, args) KERNEL(name, args)
#define KERNEL_NORM(name, args)         KERNEL(name, args)
#define KERNEL_COLUMN(name, args)       KERNEL(name, args)

void CPU_NAME(fast_fill)(struct kernel_table *table)
{
#include "kernels/column.def"
#include "kernels/fast.def"
}
