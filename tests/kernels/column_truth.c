/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The plasma column from its formula (numerics.md §6) in long double, and a budget for each
 * sample: the rounding errors of a double computation, carried from the rate through filter,
 * prefix sum, fraction, current and density. First order in u, with 1 % for what is beyond.
 */
#include <math.h>
#include <stdlib.h>

#include <check.h>

#include "kernels/contract/bounds.h"
#include "tests/kernels/column_case.h"

#define U     0x1p-53L
#define TINY  0x1p-1074L
#define SLACK 1.01L

/* Additions on the longest path of the prefix sum up to sample i (kernels/backend/cpu_scan.h):
 * one for a window of at least four samples, at most 3 within it, and 7 one by one at the end
 * of a row. The plain body adds one by one. */
static double scan_depth(long i, enum column_arithmetic how)
{
    return how == ARITHMETIC_PLAIN ? (double)i : (double)i / 4.0 + 20.0;
}

/* Roundings of what a share starts from (cpu_column_shared.inc): sums of at least 8 lanes and
 * what is left of 31, the lanes, taps and ends, at most CPU_SHARES_MAX totals. Each sample is
 * in the sum of the row and, near an end of a share, once more. */
static long double total_rounding(long n, enum column_arithmetic how)
{
    double gamma;
    if (how != ARITHMETIC_SHARED)
        return 0.0L;
    if (bound_gamma((double)n / 8.0 + 31.0 + 8.0 + 40.0 + 64.0, PRECISION_F64, &gamma) != 0)
        ck_abort_msg("a bound of the reference was refused");
    return 2.0L * gamma;
}

/* Numbers and the bounds of their errors. */
struct series {
    long double *value, *error;
    long double *size; /* of what a value is made of, where it is filtered */
    long n;
};

static struct series series_new(long n)
{
    struct series s = {calloc((size_t)n, sizeof(long double)),
                       calloc((size_t)n, sizeof(long double)),
                       calloc((size_t)n, sizeof(long double)), n};
    ck_assert_ptr_nonnull(s.value);
    ck_assert_ptr_nonnull(s.error);
    ck_assert_ptr_nonnull(s.size);
    return s;
}

static void series_free(struct series *s)
{
    free(s->value);
    free(s->error);
    free(s->size);
}

/* Not an assertion: those write a record each, and this is asked for every sample. */
static void must(int rc)
{
    if (rc != 0)
        ck_abort_msg("a bound of the reference was refused: %d", rc);
}

static long double gamma_of(double roundings)
{
    double gamma;
    must(bound_gamma(roundings, PRECISION_F64, &gamma));
    return gamma;
}

/* ln W at a place of a segment and the error there; dt: of the place. */
static void cubic_at(const struct column_rate *r, long segment, long double t, long double dt,
                     long double *value, long double *error)
{
    const double *c = r->cubic + 4 * segment;
    *value = ((c[3] * t + c[2]) * t + c[1]) * t + c[0];
    const long double size = fabsl(c[0]) + fabsl(c[1]) + fabsl(c[2]) + fabsl(c[3]);
    const long double steep = fabsl(c[1]) + 2.0L * fabsl(c[2]) + 3.0L * fabsl(c[3]);
    *error = gamma_of(7) * size + steep * dt;
}

static void log_by_field(const struct column_rate *r, long double e, long double *value,
                         long double *error)
{
    int exponent;
    const long double mantissa = 2.0L * frexpl(e, &exponent); /* in [1, 2) */
    const long double parts = ldexpl(1.0L, r->bits);
    const long double place = (mantissa - 1.0L) * parts;
    const long whole = (long)floorl(place);
    const long pattern = (long)(exponent - 1 + 1023) * (1L << r->bits) + whole;
    /* |E| is known to a rounding of it: that of the mantissa in segments. */
    cubic_at(r, pattern - (long)r->first, place - (long double)whole, 4.0L * U * parts, value,
             error);
}

static void log_by_channel(const struct column_rate *r, long double e, long double *value,
                           long double *error)
{
    if (e < r->low) {
        log_by_field(r, e, value, error);
        return;
    }
    const long double v = r->photons + r->slope * e * e;
    const long double dv = 8.0L * U * (fabsl(r->photons) + fabsl(r->slope) * e * e);
    long double k = ceill(v);
    long number = (long)k - r->lowest;
    number = number < 0 ? 0 : number >= r->channels ? r->channels - 1 : number;
    k = (long double)(number + r->lowest);
    const struct rate_channel *c = &r->channel[number];
    const long double s = sqrtl(fmaxl(k - v, 0.0L));
    /* A root near 0 is as uncertain as the root of what is uncertain. */
    const long double ds = fminl(s > 0.0L ? dv / s : (long double)INFINITY, sqrtl(2.0L * dv));
    const long last = c[1].first - c[0].first - 1;
    const long double place = s * c->scale;
    const long segment = place >= (long double)last ? last : (long)place;
    cubic_at(r, c->first + segment, place - (long double)segment,
             c->scale * ds + 4.0L * U * (place + 1.0L), value, error);
    if (e - r->low <= 4.0L * U * e) /* or by field: each is certified to 1e-6 */
        *error += 2e-6L;
}

static void log_adk(const struct column_rate *r, long double e, long double *value,
                    long double *error)
{
    const long double slow = r->adk[1] * logl(e);
    const long double fast = r->adk[2] / e;
    *value = r->adk[0] + slow - fast;
    *error = gamma_of(8) * (fabsl(r->adk[0]) + fabsl(slow) + fast);
}

/* W and the bound of its error at |E| = e, known within de. */
static void rate_at(const struct column_run *run, long double e, long double de,
                    long double *value, long double *error)
{
    static void (*const logs[])(const struct column_rate *, long double, long double *,
                                long double *) = {log_by_field, log_by_channel, log_adk};
    const struct column_rate *r = &run->rate;
    const long double inside = fmaxl(fminl(e, r->ceiling), r->cutoff);
    long double log_rate;
    long double log_error;
    logs[run->kind](r, inside, &log_rate, &log_error);
    const long double w = expl(log_rate);
    *value = e > r->ceiling ? r->top : e < r->cutoff ? 0.0L : w;
    *error = e > r->ceiling + de || e < r->cutoff - de
                 ? 0.0L
                 : w * (expm1l(log_error) + 4.0L * U) + TINY;
    if (fabsl(e - r->cutoff) <= de) /* on either side of the cut-off */
        *error += w;
}

/* The row's sample i and the size of what it is made of; reflected beyond the edges. */
static long double sample_at(const struct series *s, long i, long double *size,
                             long double *error)
{
    if (i >= 0 && i < s->n) {
        *size = fabsl(s->value[i]);
        *error = s->error[i];
        return s->value[i];
    }
    const long edge = i < 0 ? 0 : s->n - 1;
    const long mirror = 2 * edge - i;
    *size = 2.0L * fabsl(s->value[edge]) + fabsl(s->value[mirror]);
    *error = 2.0L * s->error[edge] + s->error[mirror];
    return 2.0L * s->value[edge] - s->value[mirror];
}

static struct series filtered(const struct column_run *run, const struct series *in)
{
    struct series z = series_new(in->n);
    const struct taps *taps = &run->taps;
    for (long i = 0; i < in->n; i++) {
        long double all = 0.0L;
        for (int k = -taps->side; k <= taps->side; k++) {
            const double c = taps->tap[abs(k)];
            long double size;
            long double error;
            z.value[i] += c * sample_at(in, i + k, &size, &error);
            z.error[i] += fabsl(c) * error;
            all += fabsl(c) * size;
        }
        double rounding;
        must(bound_stencil(taps->side, (double)all, PRECISION_F64, &rounding));
        z.error[i] += taps->side > 0 ? rounding : 0.0L;
        z.size[i] = all;
    }
    return z;
}

/* C of a row that was filtered. A computation may take factors of C, `factor` among them, into
 * the integrand, whose terms can be sub-normal: each is off by the smallest number then. */
static struct series integral(const struct series *z, enum column_arithmetic how,
                              long double factor)
{
    struct series c = series_new(z->n);
    const long double dt = CASE_DT;
    long double sum = 0.0L;
    long double size = 0.0L;
    long double error = 0.0L;
    const long double total = total_rounding(z->n, how);
    for (long i = 0; i < z->n; i++) {
        double rounding;
        sum += z->value[i];
        size += fabsl(z->value[i]);
        error += z->error[i] + total * z->size[i];
        must(bound_scan(scan_depth(i, how), 0.0, (double)size, PRECISION_F64, &rounding));
        const long double ends = 0.5L * (fabsl(z->value[i]) + fabsl(z->value[0]));
        c.value[i] = dt * (sum - 0.5L * (z->value[i] + z->value[0]));
        c.error[i] = dt
                         * (rounding + error + 0.5L * (z->error[i] + z->error[0])
                            + gamma_of(4) * (fabsl(sum) + ends))
                     + 2.0L * (long double)(i + 1) * TINY * (1.0L + 1.0L / factor);
    }
    return c;
}

/* Everything that the formula goes through. */
struct chain {
    struct series e[2], square, w, f;
    struct series plasma[2];
};

static void fields(const struct column_run *run, struct chain *t)
{
    const struct column_case *c = run->c;
    t->square = series_new(c->n);
    for (int k = 0; k < c->components; k++) {
        t->e[k] = series_new(c->n);
        for (long i = 0; i < c->n; i++) {
            const long double e =
                (long double)run->scalars[COLUMN_SCALE] * run->field[k * run->ld + i];
            t->e[k].value[i] = e;
            t->e[k].error[i] = U * fabsl(e);
            t->square.value[i] += e * e;
            t->square.error[i] += 5.0L * U * e * e;
        }
    }
}

static void fractions(const struct column_run *run, struct chain *t, enum column_arithmetic how,
                      struct column_truth *truth)
{
    const long double p = run->c->preionised;
    t->w = series_new(run->c->n);
    t->f = series_new(run->c->n);
    for (long i = 0; i < t->w.n; i++) {
        const long double e = sqrtl(t->square.value[i]);
        rate_at(run, e, 5.0L * U * e, &t->w.value[i], &t->w.error[i]);
        truth->saturated += e > run->rate.ceiling;
    }
    struct series z = filtered(run, &t->w);
    struct series x = integral(&z, how, 1.0L);
    for (long i = 0; i < x.n; i++) {
        const long double exposure = fmaxl(x.value[i], 0.0L);
        const long double freed = -expm1l(-exposure);
        t->f.value[i] = p + (1.0L - p) * freed;
        /* d freed = exp(-X) dX, at the smaller X; 3 u of the function, 1 - p, product, sum. */
        const long double slope = expl(-fmaxl(exposure - x.error[i], 0.0L));
        t->f.error[i] =
            (1.0L - p) * slope * x.error[i] + gamma_of(7) * (p + (1.0L - p) * freed) + TINY;
    }
    series_free(&z);
    series_free(&x);
}

/* The current of component k. */
static struct series currents(const struct column_run *run, const struct chain *t, int k,
                              enum column_arithmetic how, long double *work)
{
    const long double potential = run->scalars[COLUMN_POTENTIAL];
    const long double mobility = run->scalars[COLUMN_MOBILITY];
    const long n = run->c->n;
    struct series g = series_new(n);
    struct series loss = series_new(n);
    for (long i = 0; i < n; i++) {
        const long double e = t->e[k].value[i];
        const long double f = t->f.value[i];
        g.value[i] = f * e;
        g.error[i] = fabsl(e) * t->f.error[i] + gamma_of(2) * fabsl(f * e) + TINY;
        const long double square = t->square.value[i];
        if (fpclassify(square) == FP_ZERO)
            continue;
        const long double over = potential * fabsl(e) / square;
        loss.value[i] = potential * t->w.value[i] * (1.0L - f) * e / square;
        loss.error[i] =
            over * ((1.0L - f) * t->w.error[i] + t->w.value[i] * (t->f.error[i] + gamma_of(1)))
            + gamma_of(12) * fabsl(loss.value[i]) + TINY;
        *work += potential * t->w.value[i] * (1.0L - f) * CASE_DT;
    }
    struct series z = filtered(run, &g);
    struct series j = integral(&z, how, mobility);
    for (long i = 0; i < n; i++) {
        const long double free_part = mobility * j.value[i];
        j.error[i] = mobility * j.error[i] + loss.error[i]
                     + gamma_of(2) * (fabsl(free_part) + fabsl(loss.value[i]));
        j.value[i] = free_part + loss.value[i];
    }
    series_free(&g);
    series_free(&loss);
    series_free(&z);
    return j;
}

static long double window_at(const struct column_run *run, long i, enum column_fault fault)
{
    if (fault == FAULT_WINDOW_SHIFTED)
        i = i > 0 ? i - 1 : i;
    const long double w = run->window[i];
    return fault == FAULT_WINDOW_SQUARED ? w * w : w;
}

static void responses(const struct column_run *run, const struct chain *t, int k,
                      enum column_fault fault, struct column_truth *truth)
{
    const struct column_case *c = run->c;
    const long double density =
        run->scalars[COLUMN_DENSITY] * (fault == FAULT_DENSITY ? 1.0L + 1e-12L : 1.0L);
    for (long i = 0; i < c->n; i++) {
        const long double q = run->scalars[COLUMN_SCALE] * (long double)run->quadrature[i];
        const long double intensity =
            c->quadrature ? 0.75L * (t->square.value[i] + q * q) : t->square.value[i];
        const long double kerr = run->scalars[COLUMN_KERR] * intensity * t->e[k].value[i];
        const long double extra = c->extra ? run->extra[i] * t->e[k].value[i] : 0.0L;
        const long double plasma = density * t->plasma[k].value[i];
        const long double window = window_at(run, i, fault);
        const long double budget =
            window
            * (gamma_of(11) * (fabsl(kerr) + fabsl(extra)) + gamma_of(4) * fabsl(plasma)
               + density * t->plasma[k].error[i]);
        truth->out[k * c->n + i] = (double)(window * (kerr + extra + plasma));
        truth->budget[k * c->n + i] =
            (double)(SLACK * budget + U * fabsl(truth->out[k * c->n + i]) + TINY);
    }
}

void column_truth_init(struct column_truth *truth, const struct column_run *run,
                       enum column_fault fault, enum column_arithmetic how)
{
    const struct column_case *c = run->c;
    *truth =
        (struct column_truth){.out = calloc((size_t)(c->n * c->components), sizeof(double)),
                              .budget = calloc((size_t)(c->n * c->components), sizeof(double))};
    ck_assert_ptr_nonnull(truth->out);
    ck_assert_ptr_nonnull(truth->budget);
    struct chain t = {0};
    long double work[2] = {0.0L, 0.0L};
    fields(run, &t);
    fractions(run, &t, how, truth);
    for (int k = 0; k < c->components; k++) {
        struct series j = currents(run, &t, k, how, &work[k]);
        struct series z = filtered(run, &j);
        t.plasma[k] = integral(&z, how, run->scalars[COLUMN_DENSITY]);
        responses(run, &t, k, fault, truth);
        series_free(&j);
        series_free(&z);
        series_free(&t.plasma[k]);
        series_free(&t.e[k]);
    }
    truth->electrons = (double)t.f.value[c->n - 1];
    truth->electrons_budget = (double)(SLACK * t.f.error[c->n - 1]);
    truth->work = (double)work[0];
    series_free(&t.square);
    series_free(&t.w);
    series_free(&t.f);
}

void column_truth_clear(struct column_truth *truth)
{
    free(truth->out);
    free(truth->budget);
}
