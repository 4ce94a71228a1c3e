/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef KERNELS_BACKEND_CPU_COLUMN_H
#define KERNELS_BACKEND_CPU_COLUMN_H

/*
 * The plasma column of a CPU: the passes of kernels/bodies/column.h over chunks of a row that
 * stay in the first cache, each chunk a vector loop for the filter, a scan, and a vector loop
 * for the rest. Included by cpu_fast.c, once per instruction set, which defines CPU_NAME.
 *
 * Skipped is what is exactly zero or constant: the rate where no field of a block reaches the
 * cut-off; without preionisation all before the first chunk whose stencil sees a rate; the
 * exposure where its stencil sees none. So rows are written where a later stencil reads them
 * only: COLUMN_REACH elements around what is not zero, with the reflections beyond the edges in
 * their pads.
 */
#include "kernels/backend/cpu_launch.h"
#include "kernels/backend/cpu_scan.h"

#define COLUMN_CHUNK 512 /* samples: a few rows of it fit into 32 KiB */
#define COLUMN_BLOCK 16  /* samples that share the decision about their rate */
#define COLUMN_REACH (COLUMN_CHUNK + 2 * COLUMN_PAD)

/* Largest exposure for which the short polynomial is taken (vmath.h). */
#define COLUMN_SMALL 0.02

CPU_HELPER long column_min(long a, long b)
{
    return a < b ? a : b;
}

CPU_HELPER long column_max(long a, long b)
{
    return a > b ? a : b;
}

CPU_HELPER void column_clear(double *row, long begin, long end)
{
    for (long i = begin; i < end; i++)
        row[i] = 0.0;
}

/* The point reflections that a stencil of `side` taps reads beyond an edge. */
CPU_HELPER void column_reflect_start(double *row, int side)
{
    for (int k = 1; k <= side; k++)
        row[-k] = 2.0 * row[0] - row[k];
}

CPU_HELPER void column_reflect_end(double *row, long n, int side)
{
    for (int k = 1; k <= side; k++)
        row[n - 1 + k] = 2.0 * row[n - 1] - row[n - 1 - k];
}

/* Zeros before the element `start` of a row whose earlier ones are zero and not written. */
CPU_HELPER void column_begin(double *row, long start, int side)
{
    if (start == 0)
        column_reflect_start(row, side);
    else
        column_clear(row, column_max(-COLUMN_PAD, start - COLUMN_REACH), start);
}

/* First chunk that a pass computes: `depth` filters away from the rate. Everything before is
 * zero when nothing is preionised. */
CPU_HELPER long column_start(const struct column_row *r, long n, int depth)
{
    const long first = (long)r->sums[COLUMN_FIRST];
    if (!(r->preionised == 0.0))
        return 0;
    if (first >= n)
        return n;
    const long chunk = column_max(0, first - r->side) / COLUMN_CHUNK;
    return column_max(0, chunk - depth) * COLUMN_CHUNK;
}

/* Whether no rate is seen by the stencils of samples [begin, end). */
CPU_HELPER int column_dark(const struct column_row *r, long begin, long end)
{
    return r->sums[COLUMN_LAST] == 0.0 || (double)(end + r->side) <= r->sums[COLUMN_FIRST]
           || (double)(begin - r->side) >= r->sums[COLUMN_LAST];
}

/* z = the filtered samples [0, n) of a row. */
CPU_HELPER __attribute__((always_inline)) void column_filter_taps(const double *K_RESTRICT row,
                                                                  const double *K_RESTRICT taps,
                                                                  int side,
                                                                  double *K_RESTRICT z, long n)
{
    double c[COLUMN_SIDE_MAX + 1];
    for (int k = 0; k <= side; k++)
        c[k] = taps[k];
#pragma omp simd
    for (long i = 0; i < n; i++) {
        double sum = c[0] * row[i];
#pragma GCC unroll 8
        for (int k = 1; k <= side; k++)
            sum += c[k] * (row[i - k] + row[i + k]);
        z[i] = sum;
    }
}

CPU_HELPER void column_filter(const struct column_row *r, const double *row,
                              double *K_RESTRICT z, long n)
{
    switch (r->side) {
    case 0:
        column_filter_taps(row, r->taps, 0, z, n);
        break;
    case 1:
        column_filter_taps(row, r->taps, 1, z, n);
        break;
    case 2:
        column_filter_taps(row, r->taps, 2, z, n);
        break;
    case 3:
        column_filter_taps(row, r->taps, 3, z, n);
        break;
    case 4:
        column_filter_taps(row, r->taps, 4, z, n);
        break;
    case 5:
        column_filter_taps(row, r->taps, 5, z, n);
        break;
    case 6:
        column_filter_taps(row, r->taps, 6, z, n);
        break;
    case 7:
        column_filter_taps(row, r->taps, 7, z, n);
        break;
    default:
        column_filter_taps(row, r->taps, 8, z, n);
        break;
    }
}

/* The field of a chunk: amplitudes to find those that may have a rate. */
CPU_HELPER void column_amplitudes(const struct column_row *r, long begin, long count,
                                  double *K_RESTRICT amplitude)
{
    const double *K_RESTRICT x = r->field + begin;
    const double *K_RESTRICT y = r->field + r->ld + begin;
    const double scale = r->scale;
    if (r->components == 1) {
#pragma omp simd
        for (long i = 0; i < count; i++)
            amplitude[i] = fabs(scale * x[i]);
        return;
    }
#pragma omp simd
    for (long i = 0; i < count; i++)
        amplitude[i] = sqrt(scale * x[i] * (scale * x[i]) + scale * y[i] * (scale * y[i]));
}

/* Where the rates of a row are. */
struct column_rates {
    long first, last; /* samples with a rate: first, and one behind the last */
    long written;     /* the row is written up to here, once there was a rate */
};

/* Takes the rates of a block into account; zeros since the one before are written first. */
CPU_HELPER void column_rates_note(struct column_rates *s, double *w, const double *block,
                                  long begin, long count)
{
    long low = count;
    long high = 0;
    for (long i = 0; i < count; i++)
        if (!(block[i] == 0.0)) {
            low = i < low ? i : low;
            high = i + 1;
        }
    if (high == 0)
        return;
    if (s->last == 0) {
        s->first = begin + low;
        s->written = column_max(-COLUMN_PAD, s->first - COLUMN_REACH);
    }
    column_clear(w, s->written, begin);
    for (long i = 0; i < count; i++)
        w[begin + i] = block[i];
    s->written = begin + count;
    s->last = begin + high;
}

/* Whether some amplitude of a block is not below the cut-off; NaN is not. */
CPU_HELPER int column_block_lit(const double *K_RESTRICT amplitude, double cutoff, long count)
{
    int lit = 0;
#pragma omp simd reduction(| : lit)
    for (long i = 0; i < count; i++)
        lit |= !(amplitude[i] < cutoff);
    return lit;
}

CPU_HELPER long column_block_saturated(const double *K_RESTRICT amplitude, double ceiling,
                                       long count)
{
    long saturated = 0;
    for (long i = 0; i < count; i++)
        saturated += amplitude[i] > ceiling;
    return saturated;
}

CPU_HELPER __attribute__((always_inline)) void
column_rates(long n, const struct column_row *r,
             void (*evaluate)(const struct column_rate *rate, const double *amplitude,
                              double *w, long count))
{
    double amplitude[COLUMN_CHUNK];
    double block[COLUMN_BLOCK];
    struct column_rates s = {n, 0, 0};
    long saturated = 0;
    for (long begin = 0; begin < n; begin += COLUMN_CHUNK) {
        const long chunk = column_min(COLUMN_CHUNK, n - begin);
        column_amplitudes(r, begin, chunk, amplitude);
        for (long at = 0; at < chunk; at += COLUMN_BLOCK) {
            const long count = column_min(COLUMN_BLOCK, chunk - at);
            if (!column_block_lit(amplitude + at, r->rate.cutoff, count))
                continue;
            evaluate(&r->rate, amplitude + at, block, count);
            saturated += column_block_saturated(amplitude + at, r->rate.ceiling, count);
            column_rates_note(&s, r->w, block, begin + at, count);
        }
    }
    if (s.last > 0) {
        const long end = column_min(n, s.last + COLUMN_REACH);
        column_clear(r->w, s.written, end);
        if (s.first <= COLUMN_REACH)
            column_reflect_start(r->w, r->side);
        if (end == n)
            column_reflect_end(r->w, n, r->side);
    }
    r->sums[COLUMN_SATURATED] = (double)saturated;
    r->sums[COLUMN_FIRST] = (double)s.first;
    r->sums[COLUMN_LAST] = (double)s.last;
}

/* Rows of the rate, with the loop over samples for each way to evaluate it. `count` is at most
 * COLUMN_CHUNK. */
#define COLUMN_RATE(name, value)                                                               \
    static __attribute__((noinline)) void column_block_##name(                                 \
        const struct column_rate *rate, const double *K_RESTRICT amplitude,                    \
        double *K_RESTRICT w, long count)                                                      \
    {                                                                                          \
        const struct column_rate r = *rate;                                                    \
        _Pragma("omp simd") for (long i = 0; i < count; i++) w[i] = value(&r, amplitude[i]);   \
    }                                                                                          \
    CPU_NOINLINE void CPU_NAME(column_rate_##name)(long n, const struct column_row *r)         \
    {                                                                                          \
        column_rates(n, r, column_block_##name);                                               \
    }

COLUMN_RATE(field, rate_field_value)
COLUMN_RATE(channel, rate_channel_value)
COLUMN_RATE(adk, rate_adk_value)

/* The integral C of a row, chunk after chunk. */
struct column_sum_state {
    double sum; /* of the integrand so far */
    double z0;  /* integrand at sample 0 */
};

/* z becomes C at the samples [begin, begin + n). */
CPU_HELPER void column_integrate(struct column_sum_state *s, double dt, double *K_RESTRICT z,
                                 long begin, long n)
{
    double sums[COLUMN_CHUNK];
    if (begin == 0)
        s->z0 = z[0];
    s->sum = cpu_scan(z, sums, n, s->sum);
    const double z0 = s->z0;
#pragma omp simd
    for (long i = 0; i < n; i++)
        z[i] = column_integral(dt, sums[i], z[i], z0);
}

/* The exposure of a chunk becomes the fraction, in place. */
CPU_HELPER void column_fractions(struct column_state *s, double preionised,
                                 double *K_RESTRICT x, long n)
{
    double undershoot = 0.0;
    double most = 0.0;
#pragma omp simd reduction(+ : undershoot) reduction(max : most)
    for (long i = 0; i < n; i++) {
        undershoot += x[i] < 0.0 ? 1.0 : 0.0;
        x[i] = column_floor(x[i]);
        most = x[i] > most ? x[i] : most;
    }
    s->undershoot += undershoot;
    const double neutral = 1.0 - preionised;
    if (most < COLUMN_SMALL) {
#pragma omp simd
        for (long i = 0; i < n; i++)
            x[i] = preionised - neutral * vmath_expm1_small(-x[i]);
    } else {
#pragma omp simd
        for (long i = 0; i < n; i++)
            x[i] = preionised - neutral * vmath_expm1_negative(-x[i]);
    }
    double largest = s->most;
#pragma omp simd reduction(max : largest)
    for (long i = 0; i < n; i++)
        largest = x[i] > largest ? x[i] : largest;
    s->most = largest;
    s->fraction = x[n - 1];
}

/* Fractions of the samples [begin, begin + n); constant where no rate is seen. */
CPU_HELPER void column_chunk_fractions(struct column_state *s, struct column_sum_state *rate,
                                       const struct column_row *r, long begin, long n,
                                       double *K_RESTRICT f)
{
    if (!column_dark(r, begin, begin + n)) {
        column_filter(r, r->w + begin, f, n);
        column_integrate(rate, r->dt, f, begin, n);
        column_fractions(s, r->preionised, f, n);
        return;
    }
    double x = column_integral(r->dt, rate->sum, 0.0, rate->z0);
    s->undershoot += x < 0.0 ? (double)n : 0.0;
    x = column_floor(x);
    const double neutral = 1.0 - r->preionised;
    s->fraction =
        r->preionised
        - neutral * (x < COLUMN_SMALL ? vmath_expm1_small(-x) : vmath_expm1_negative(-x));
    s->most = s->fraction > s->most ? s->fraction : s->most;
    const double fraction = s->fraction;
#pragma omp simd
    for (long i = 0; i < n; i++)
        f[i] = fraction;
}

/* Loss currents of a chunk with a rate, over E: I_p W (1 - f)/|E|^2; and their work. */
CPU_HELPER void column_losses(struct column_state *s, const struct column_row *r,
                              const double *K_RESTRICT f, const double *K_RESTRICT square,
                              long begin, long n, double *K_RESTRICT out)
{
    const double *K_RESTRICT w = r->w + begin;
    const double potential = r->potential;
    double work = 0.0;
#pragma omp simd reduction(+ : work)
    for (long i = 0; i < n; i++) {
        const double freed = w[i] * (1.0 - f[i]);
        work += freed;
        out[i] = square[i] > 0.0 ? potential * freed / square[i] : potential * freed;
    }
    s->work += work;
}

CPU_HELPER void column_squares(const struct column_row *r, long begin, long n,
                               double *K_RESTRICT square)
{
    const double *K_RESTRICT x = r->field + begin;
    const double *K_RESTRICT y = r->field + r->ld + begin;
    const double scale = r->scale;
    if (r->components == 1) {
#pragma omp simd
        for (long i = 0; i < n; i++)
            square[i] = scale * x[i] * (scale * x[i]);
        return;
    }
#pragma omp simd
    for (long i = 0; i < n; i++)
        square[i] = scale * x[i] * (scale * x[i]) + scale * y[i] * (scale * y[i]);
}

/* factor E or, with NULL, zeros: a component of the loss current. */
CPU_HELPER void column_times_field(const struct column_row *r, int c, long begin, long n,
                                   const double *K_RESTRICT factor, double *K_RESTRICT out)
{
    const double *K_RESTRICT field = r->field + c * r->ld + begin;
    const double scale = r->scale;
    if (factor == 0) {
        column_clear(out, 0, n);
        return;
    }
#pragma omp simd
    for (long i = 0; i < n; i++)
        out[i] = factor[i] * (scale * field[i]);
}

CPU_NOINLINE void CPU_NAME(column_exposure)(long n, const struct column_row *r)
{
    double f[COLUMN_CHUNK];
    double square[COLUMN_CHUNK];
    double over[COLUMN_CHUNK];
    struct column_state s = column_state_start(r);
    struct column_sum_state rate = {0.0, 0.0};
    const long start = column_start(r, n, 0);
    for (long begin = start; begin < n; begin += COLUMN_CHUNK) {
        const long count = column_min(COLUMN_CHUNK, n - begin);
        const int dark = column_dark(r, begin, begin + count);
        column_chunk_fractions(&s, &rate, r, begin, count, f);
        if (!dark) {
            column_squares(r, begin, count, square);
            column_losses(&s, r, f, square, begin, count, over);
        }
        for (int c = 0; c < r->components; c++) {
            column_times_field(r, c, begin, count, f, r->integrand + c * r->ld_pad + begin);
            column_times_field(r, c, begin, count, dark ? 0 : over,
                               r->loss + c * r->ld_pad + begin);
        }
    }
    for (int c = 0; c < r->components && start < n; c++) {
        column_begin(r->integrand + c * r->ld_pad, start, r->side);
        column_clear(r->loss + c * r->ld_pad, column_max(0, start - COLUMN_REACH), start);
        column_reflect_end(r->integrand + c * r->ld_pad, n, r->side);
    }
    column_state_store(&s, r);
}

/* loss += mobility C[integrand], of one component. */
CPU_HELPER void column_currents(const struct column_row *r, const double *integrand,
                                double *current, long start, long n)
{
    double z[COLUMN_CHUNK];
    struct column_sum_state drift = {0.0, 0.0};
    const double mobility = r->mobility;
    for (long begin = start; begin < n; begin += COLUMN_CHUNK) {
        const long count = column_min(COLUMN_CHUNK, n - begin);
        double *K_RESTRICT j = current + begin;
        column_filter(r, integrand + begin, z, count);
        column_integrate(&drift, r->dt, z, begin, count);
#pragma omp simd
        for (long i = 0; i < count; i++)
            j[i] += mobility * z[i];
    }
}

CPU_NOINLINE void CPU_NAME(column_current)(long n, const struct column_row *r)
{
    const long start = column_start(r, n, 1);
    for (int c = 0; c < r->components && start < n; c++) {
        double *current = r->loss + c * r->ld_pad;
        column_currents(r, r->integrand + c * r->ld_pad, current, start, n);
        column_begin(current, start, r->side);
        column_reflect_end(current, n, r->side);
    }
}

/* Response of a chunk of one component without quadrature and extra; p NULL: no plasma. */
CPU_HELPER void column_store_plain(const struct column_row *r, long begin, long n,
                                   const double *K_RESTRICT p)
{
    const double *field = r->field + begin;
    const double *K_RESTRICT window = r->window + begin;
    double *out = r->out + begin;
    const double scale = r->scale;
    const double kerr = r->kerr;
    const double density = r->density;
    if (p == 0) {
#pragma omp simd
        for (long i = 0; i < n; i++) {
            const double e = scale * field[i];
            out[i] = window[i] * (kerr * (e * e) * e);
        }
        return;
    }
#pragma omp simd
    for (long i = 0; i < n; i++) {
        const double e = scale * field[i];
        out[i] = window[i] * (kerr * (e * e) * e + density * p[i]);
    }
}

/* The factor of E in a chunk, whatever is given. */
CPU_HELPER void column_instants(const struct column_row *r, long begin, long n,
                                double *K_RESTRICT factor)
{
    column_squares(r, begin, n, factor);
    if (r->quadrature != 0) {
        const double *K_RESTRICT quadrature = r->quadrature + begin;
#pragma omp simd
        for (long i = 0; i < n; i++) {
            const double q = r->scale * quadrature[i];
            factor[i] = 0.75 * (factor[i] + q * q);
        }
    }
    const double kerr = r->kerr;
#pragma omp simd
    for (long i = 0; i < n; i++)
        factor[i] *= kerr;
    for (long i = 0; r->extra != 0 && i < n; i++)
        factor[i] += r->extra[begin + i];
}

/* Response of a chunk of a component; `factor` holds Kerr and extra. */
CPU_HELPER void column_store_factor(const struct column_row *r, int c, long begin, long n,
                                    const double *K_RESTRICT factor, const double *K_RESTRICT p)
{
    const double *field = r->field + c * r->ld + begin;
    const double *K_RESTRICT window = r->window + begin;
    double *out = r->out + c * r->ld + begin;
    const double scale = r->scale;
    const double density = r->density;
#pragma omp simd
    for (long i = 0; i < n; i++)
        out[i] = window[i] * (factor[i] * (scale * field[i]) + density * (p != 0 ? p[i] : 0.0));
}

/* Response of a chunk; p[c] are the plasma's polarisations, NULL: none. */
CPU_HELPER void column_store_chunk(const struct column_row *r, long begin, long n,
                                   const double *p, const double *p2)
{
    double factor[COLUMN_CHUNK];
    if (r->components == 1 && r->quadrature == 0 && r->extra == 0) {
        column_store_plain(r, begin, n, p);
        return;
    }
    column_instants(r, begin, n, factor);
    column_store_factor(r, 0, begin, n, factor, p);
    if (r->components > 1)
        column_store_factor(r, 1, begin, n, factor, p2);
}

/* Response of the chunks before the plasma. */
CPU_HELPER void column_store_before(const struct column_row *r, long end)
{
    for (long begin = 0; begin < end; begin += COLUMN_CHUNK)
        column_store_chunk(r, begin, column_min(COLUMN_CHUNK, end - begin), 0, 0);
}

CPU_NOINLINE void CPU_NAME(column_polarise)(long n, const struct column_row *r)
{
    double p[2][COLUMN_CHUNK];
    struct column_sum_state sum[2] = {{0.0, 0.0}, {0.0, 0.0}};
    const long start = column_start(r, n, 2);
    column_store_before(r, start);
    for (long begin = start; begin < n; begin += COLUMN_CHUNK) {
        const long count = column_min(COLUMN_CHUNK, n - begin);
        for (int c = 0; c < r->components; c++) {
            column_filter(r, r->loss + c * r->ld_pad + begin, p[c], count);
            column_integrate(&sum[c], r->dt, p[c], begin, count);
        }
        column_store_chunk(r, begin, count, p[0], p[1]);
    }
}

/* f E of a chunk becomes the current, loss included. */
CPU_HELPER void column_trapezoid_current(const struct column_row *r,
                                         struct column_sum_state *drift, long begin, long n,
                                         const double *K_RESTRICT over, double *K_RESTRICT j)
{
    const double *K_RESTRICT field = r->field + begin;
    const double scale = r->scale;
    const double mobility = r->mobility;
    column_integrate(drift, r->dt, j, begin, n);
    if (over == 0) {
#pragma omp simd
        for (long i = 0; i < n; i++)
            j[i] *= mobility;
        return;
    }
#pragma omp simd
    for (long i = 0; i < n; i++)
        j[i] = mobility * j[i] + over[i] * (scale * field[i]);
}

CPU_NOINLINE void CPU_NAME(column_trapezoid)(long n, const struct column_row *r)
{
    double f[COLUMN_CHUNK];
    double square[COLUMN_CHUNK];
    double over[COLUMN_CHUNK];
    double j[COLUMN_CHUNK];
    struct column_state s = column_state_start(r);
    struct column_sum_state rate = {0.0, 0.0};
    struct column_sum_state drift = {0.0, 0.0};
    struct column_sum_state current = {0.0, 0.0};
    const long start = column_start(r, n, 0);
    column_store_before(r, start);
    for (long begin = start; begin < n; begin += COLUMN_CHUNK) {
        const long count = column_min(COLUMN_CHUNK, n - begin);
        const int dark = column_dark(r, begin, begin + count);
        column_chunk_fractions(&s, &rate, r, begin, count, f);
        column_times_field(r, 0, begin, count, f, j);
        if (!dark) {
            column_squares(r, begin, count, square);
            column_losses(&s, r, f, square, begin, count, over);
        }
        column_trapezoid_current(r, &drift, begin, count, dark ? 0 : over, j);
        column_integrate(&current, r->dt, j, begin, count);
        column_store_chunk(r, begin, count, j, 0);
    }
    column_state_store(&s, r);
}

#endif
