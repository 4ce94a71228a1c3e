/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Random computations in three precisions against long double: no rounding bound is ever
 * exceeded, and none is so loose that it says nothing. Printed: the margins observed/bound.
 */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "kernels/base/mem.h"
#include "kernels/base/rng.h"
#include "kernels/contract/bounds.h"
#include "kernels/numeric/host_fft.h"
#include "tests/unit_main.h"

enum { TRIALS = 2000, LONGEST = 512 };

/* Random numbers of one trial, in their order. */
struct source {
    struct rng_stream stream;
    uint64_t next;
    enum precision precision;
};

static double uniform(struct source *s)
{
    double u[2];
    rng_uniform2(&s->stream, s->next++, u);
    return u[0];
}

/* The nearest number of the format: one rounding of a sum, difference or product of two numbers
 * of the format, as double has more than twice their digits. No sub-normal numbers here. */
static double rounded(double x, enum precision precision)
{
    if (precision == PRECISION_F64)
        return x;
    if (precision == PRECISION_F32)
        return (double)(float)x;
    int exponent;
    const double mantissa = frexp(x, &exponent);
    return ldexp(rint(ldexp(mantissa, 8)), exponent - 8);
}

/* Of random sign, or all positive in every other trial: there rounding errors add up. */
static double number(struct source *s)
{
    const double size =
        rounded(ldexp(0.5 + uniform(s), (int)(9.0 * uniform(s)) - 4), s->precision);
    return s->stream.realisation % 2 == 0 || uniform(s) < 0.5 ? size : -size;
}

/* 2 to the longest length for which the bound exists; short ones as often as long ones. */
static long length(struct source *s)
{
    const double most = s->precision == PRECISION_BF16 ? 48.0 : (double)LONGEST;
    return lround(2.0 * pow(most / 2.0, uniform(s)));
}

/* Not assertions: those write a record each, and this is asked for every element. */
static void must(int rc)
{
    if (rc != 0)
        ck_abort_msg("a bound was refused: %d", rc);
}

/* Exact, or nearly so for doubles of 53 bits each. */
static long double product(double a, double b)
{
    return (long double)a * (long double)b;
}

static double margin(long double error, double limit)
{
    if (!(limit > 0.0))
        ck_abort_msg("a bound of %g", limit);
    return (double)(fabsl(error) / (long double)limit);
}

/* Lanes that each add every lanes-th term, then join pairwise. */
static double lane_sum(const double *x, long n, long lanes, enum precision p)
{
    double part[LONGEST] = {0.0};
    for (long i = 0; i < n; i++)
        part[i % lanes] = i < lanes ? x[i] : rounded(part[i % lanes] + x[i], p);
    for (long live = lanes; live > 1; live = (live + 1) / 2)
        for (long i = 0; i + (live + 1) / 2 < live; i++)
            part[i] = rounded(part[i] + part[i + (live + 1) / 2], p);
    return part[0];
}

static double sum_trial(struct source *s)
{
    double x[LONGEST];
    long double exact = 0.0L;
    double size = 0.0;
    const long n = length(s);
    const double kind = uniform(s); /* a loop, a tree, or something between */
    const long lanes = kind < 0.3 ? 1 : kind < 0.6 ? n : 1 + (long)(uniform(s) * (double)n / 2);
    for (long i = 0; i < n; i++) {
        x[i] = number(s);
        exact += (long double)x[i];
        size += fabs(x[i]);
    }
    double depth;
    double limit;
    must(bound_sum_depth(n, lanes, &depth));
    must(bound_sum(depth, size, s->precision, &limit));
    return margin((long double)lane_sum(x, n, lanes, s->precision) - exact, limit);
}

static double dot_trial(struct source *s)
{
    const enum precision p = s->precision;
    const long n = length(s);
    const int fused = uniform(s) < 0.5;
    long double exact = 0.0L;
    double size = 0.0;
    double sum = 0.0;
    for (long i = 0; i < n; i++) {
        const double a = number(s);
        const double b = number(s);
        exact += product(a, b);
        size += fabs(a * b);
        /* In the short formats the double product is exact: a fused one is a sum of it. */
        if (p == PRECISION_F64 && fused)
            sum = fma(a, b, sum);
        else
            sum = rounded(sum + (fused ? a * b : rounded(a * b, p)), p);
    }
    double limit;
    must(bound_dot((double)n, size, p, &limit));
    return margin((long double)sum - exact, limit);
}

static double complex_trial(struct source *s)
{
    const enum precision p = s->precision;
    const long n = length(s) / 2 + 1;
    long double exact[2] = {0.0L, 0.0L};
    double sum[2] = {0.0, 0.0};
    double size = 0.0;
    for (long i = 0; i < n; i++) {
        const double a[2] = {number(s), number(s)};
        const double b[2] = {number(s), number(s)};
        size += hypot(a[0], a[1]) * hypot(b[0], b[1]);
        exact[0] += product(a[0], b[0]) - product(a[1], b[1]);
        exact[1] += product(a[0], b[1]) + product(a[1], b[0]);
        const double r = rounded(rounded(a[0] * b[0], p) - rounded(a[1] * b[1], p), p);
        const double j = rounded(rounded(a[0] * b[1], p) + rounded(a[1] * b[0], p), p);
        sum[0] = rounded(sum[0] + r, p);
        sum[1] = rounded(sum[1] + j, p);
    }
    double limit;
    must(bound_complex_dot((double)n, size, p, &limit));
    return margin(hypotl((long double)sum[0] - exact[0], (long double)sum[1] - exact[1]),
                  limit);
}

/* Local prefix sums of m terms, prefix sums of the totals, offsets added: the worst element. */
static double scan_trial(struct source *s)
{
    const enum precision p = s->precision;
    const long n = length(s);
    const long m = 1 + (long)(uniform(s) * (double)n);
    const double offsets = (double)((n + m - 1) / m - 1); /* a loop over the totals */
    double offset = 0.0;
    double local = 0.0;
    double size = 0.0;
    double worst = 0.0;
    long double exact = 0.0L;
    for (long i = 0; i < n; i++) {
        const double x = number(s);
        if (i > 0 && i % m == 0) {
            offset = i == m ? local : rounded(offset + local, p);
            local = 0.0;
        }
        exact += (long double)x;
        size += fabs(x);
        local = i % m == 0 ? x : rounded(local + x, p);
        const double value = i < m ? local : rounded(offset + local, p);
        double limit;
        must(bound_scan((double)m, offsets, size, p, &limit));
        worst = fmax(worst, margin((long double)value - exact, limit));
    }
    return worst;
}

static double stencil_trial(struct source *s)
{
    const enum precision p = s->precision;
    const int side = 1 + (int)(8.0 * uniform(s));
    const double c0 = number(s);
    const double y0 = number(s);
    long double exact = (long double)c0 * (long double)y0;
    double value = rounded(c0 * y0, p);
    double size = fabs(c0 * y0);
    for (int k = 1; k <= side; k++) {
        const double c = number(s);
        const double before = number(s);
        const double behind = number(s);
        exact += (long double)c * ((long double)before + (long double)behind);
        size += fabs(c) * (fabs(before) + fabs(behind));
        value = rounded(value + rounded(c * rounded(before + behind, p), p), p);
    }
    double limit;
    must(bound_stencil(side, size, p, &limit));
    return margin((long double)value - exact, limit);
}

/* y <- a y + b: an error grows by |a|, and a step adds gamma(2) (|a y| + |b|). */
static double propagation_trial(struct source *s)
{
    const enum precision p = s->precision;
    struct propagation_step step[40];
    const int steps = 1 + (int)(39.0 * uniform(s));
    double gamma;
    double limit;
    double y = number(s);
    long double exact = (long double)y;
    must(bound_gamma(2.0, p, &gamma));
    for (int k = 0; k < steps; k++) {
        const double a = rounded(0.5 + uniform(s), p);
        const double b = rounded(uniform(s) - 0.5, p);
        step[k] =
            (struct propagation_step){.gain = a, .rounding = gamma * (a * fabs(y) + fabs(b))};
        y = rounded(rounded(a * y, p) + b, p);
        exact = (long double)a * exact + (long double)b;
    }
    must(bound_propagation(step, steps, 0.0, &limit));
    return margin((long double)y - exact, limit);
}

/* A transform and its inverse, in double only. */
static double transform_trial(struct source *s)
{
    const long n = 1L << (1 + (int)(11.0 * uniform(s)));
    struct host_fft *fft;
    cplx *a;
    double *before;
    ck_assert_int_eq(MEM_NEW(n, &a), 0);
    ck_assert_int_eq(MEM_NEW(2 * n, &before), 0);
    for (long i = 0; i < n; i++) {
        a[i] = (cplx){number(s), number(s)};
        before[2 * i] = a[i].r;
        before[2 * i + 1] = a[i].i;
    }
    ck_assert_int_eq(host_fft_create(n, &fft), 0);
    ck_assert_int_eq(host_fft_execute(fft, true, a), 0);
    ck_assert_int_eq(host_fft_execute(fft, false, a), 0);
    long double error = 0.0L;
    long double size = 0.0L;
    for (long i = 0; i < n; i++) {
        const long double dr =
            (long double)a[i].r / (long double)n - (long double)before[2 * i];
        const long double di =
            (long double)a[i].i / (long double)n - (long double)before[2 * i + 1];
        error += dr * dr + di * di;
        size += product(before[2 * i], before[2 * i])
                + product(before[2 * i + 1], before[2 * i + 1]);
    }
    host_fft_destroy(fft);
    mem_free(a);
    mem_free(before);
    double limit;
    must(bound_fft(n, &limit));
    return margin(sqrtl(error / size), limit);
}

static int order_of(const void *a, const void *b)
{
    const double x = *(const double *)a;
    const double y = *(const double *)b;
    return (x > y) - (x < y);
}

struct family {
    const char *name;
    double (*trial)(struct source *s);
    double least; /* the largest margin must reach it, or the bound is absurdly loose */
    int precisions;
    int trials;
};

static void check_family(const struct family *f, enum precision precision)
{
    static const char *const formats[] = {"binary64", "binary32", "bfloat16"};
    double margins[TRIALS] = {0.0};
    for (int t = 0; t < f->trials; t++) {
        struct source s = {.stream = {.seed = 29,
                                      .component = (uint32_t)precision,
                                      .realisation = (uint64_t)t},
                           .precision = precision};
        margins[t] = f->trial(&s);
        ck_assert_msg(margins[t] <= 1.0, "%s, %s, trial %d: %g of the bound", f->name,
                      formats[precision], t, margins[t]);
    }
    qsort(margins, (size_t)f->trials, sizeof *margins, order_of);
    const double largest = margins[f->trials - 1];
    printf("%-12s %s: observed/bound min %.2e, median %.2e, max %.2e of %d\n", f->name,
           formats[precision], margins[0], margins[f->trials / 2], largest, f->trials);
    ck_assert_msg(largest >= f->least, "%s, %s: %g of the bound at most: it is too loose",
                  f->name, formats[precision], largest);
}

/* One rounding of a random number errs by a quarter of u at the mean and by half of it at most;
 * few roundings come near the bound. A transform's 512 is a hundredfold reserve by design. */
static const struct family families[] = {
    {"sum", sum_trial, 0.3, 3, TRIALS},
    {"dot", dot_trial, 0.3, 3, TRIALS},
    {"complex dot", complex_trial, 0.1, 3, TRIALS},
    {"scan", scan_trial, 0.1, 3, TRIALS},
    {"stencil", stencil_trial, 0.1, 3, TRIALS},
    {"propagation", propagation_trial, 0.1, 3, TRIALS},
    {"transform", transform_trial, 1e-4, 1, 200},
};

START_TEST(no_bound_is_exceeded_and_none_is_absurdly_loose)
{
    for (int p = 0; p < families[_i].precisions; p++)
        check_family(&families[_i], (enum precision)p);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("campaign of the rounding bounds");
    TCase *tests = tcase_create("campaign");
    tcase_set_timeout(tests, 30);
    tcase_add_loop_test(tests, no_bound_is_exceeded_and_none_is_absurdly_loose, 0,
                        (int)(sizeof families / sizeof *families));
    suite_add_tcase(suite, tests);
    return unit_main(suite);
}
