/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef KERNELS_BODIES_COLUMN_H
#define KERNELS_BODIES_COLUMN_H

#include "kernels/bodies/rate.h"
#include "kernels/bodies/response.h"
#include "kernels/kdefs.h"

/*
 * The plasma column (numerics.md §6): from the samples of a real field at one node to those of
 * its response, in whole-row passes. With E = scale times the field, W(|E|) the rate and C[.]
 * the cumulative trapezoid of a filtered integrand,
 *
 *   X = max(C[W], 0), f = p - (1 - p) expm1(-X),
 *   j = mobility C[f E] + I_p W (1 - f) E/|E|^2,     P = C[j],
 *   out = window (Kerr and extra as in response.h + density P)
 *
 *   column_exposure_R    W, integrand = f E, loss = I_p W (1 - f) E/|E|^2; the sums
 *   column_current       loss becomes j
 *   column_polarise      out
 *   column_trapezoid_R   all in one pass, for one component and no filter
 *
 * R says how the rate is evaluated: field, channel, adk (rate.h).
 *
 * C[y]_n = dt (sum_{i<=n} z_i - (z_n + z_0)/2), z_n = c_0 y_n + sum_k c_k (y_{n-k} + y_{n+k});
 * beyond an edge y is 2 y(edge) - y(mirror). C starts at 0: no field before the window. The
 * loss current takes the rate as it is, not the filtered one, and is 0 where E is.
 *
 * The bodies here are the plain form. A backend may leave unwritten what it does not read
 * again: scratch rows mean something to the next pass only.
 */

#define COLUMN_PAD      16 /* elements before and behind a scratch row, a backend's to use */
#define COLUMN_SIDE_MAX 8  /* taps a side */

/* Scalars of a column. */
enum column_scalar {
    COLUMN_SCALE,      /* V/m per unit of the field */
    COLUMN_KERR,       /* unit of out per (V/m)^3 */
    COLUMN_DENSITY,    /* unit of out per C m */
    COLUMN_PREIONISED, /* p, 0 … 1 */
    COLUMN_DT,         /* s */
    COLUMN_MOBILITY,   /* e^2/m, C^2/kg */
    COLUMN_POTENTIAL,  /* I_p, J */
    COLUMN_SCALARS
};

/* What a column reports. */
enum column_sum {
    COLUMN_SATURATED,  /* samples above the ceiling of the rate */
    COLUMN_FIRST,      /* first sample with a rate, n when there is none */
    COLUMN_LAST,       /* one behind the last, 0 when there is none */
    COLUMN_UNDERSHOOT, /* samples with C[W] < 0 */
    COLUMN_ELECTRONS,  /* f of the last sample */
    COLUMN_MOST,       /* largest f */
    COLUMN_WORK,       /* dt sum I_p W (1 - f), J */
    COLUMN_SUMS
};

/* One struct for all passes of a column; each uses what it needs. Scratch rows point behind
 * their first COLUMN_PAD elements. */
struct column_args {
    const double *field;            /* [rows][components][ld] */
    const double *quadrature;       /* [rows][ld] as in response.h; one component; or NULL */
    const double *extra;            /* [rows][ld]; or NULL */
    const double *window;           /* [rows][ld] */
    const struct column_rate *rate; /* [rows] */
    const double *scalars;          /* [rows][COLUMN_SCALARS] */
    const double *taps;             /* [rows][COLUMN_SIDE_MAX + 1] c_0 … c_side */
    double *w;                      /* [rows][ld_pad] the rate */
    double *integrand;              /* [rows][components][ld_pad] */
    double *loss;                   /* [rows][components][ld_pad], then j */
    double *out;                    /* [rows][components][ld]; may be the field's rows */
    double *sums;                   /* [rows][COLUMN_SUMS] */
    int components;                 /* 1 or 2 */
    int side;                       /* taps a side; 0: c_0 = 1 */
    long ld;
    long ld_extra; /* of `extra`; 0: ld */
    long ld_pad;
    const unsigned char *active; /* [rows], NULL: all */
};

struct column_row {
    const double *field, *quadrature, *extra, *window, *taps;
    struct column_rate rate;
    double scale, kerr, density, preionised, dt, mobility, potential;
    double *w, *integrand, *loss, *out, *sums;
    int components, side;
    long ld, ld_pad;
};

K_FN struct column_row column_row(const struct column_args *a, long row)
{
    const double *scalar = a->scalars + row * COLUMN_SCALARS;
    struct column_row r;
    r.field = a->field + row * a->components * a->ld;
    r.quadrature = k_row_real(a->quadrature, row * a->ld);
    r.extra = k_row_real(a->extra, row * k_stride(a->ld_extra, a->ld));
    r.window = a->window + row * a->ld;
    r.taps = a->taps + row * (COLUMN_SIDE_MAX + 1);
    r.rate = a->rate[row];
    r.scale = scalar[COLUMN_SCALE];
    r.kerr = scalar[COLUMN_KERR];
    r.density = scalar[COLUMN_DENSITY];
    r.preionised = scalar[COLUMN_PREIONISED];
    r.dt = scalar[COLUMN_DT];
    r.mobility = scalar[COLUMN_MOBILITY];
    r.potential = scalar[COLUMN_POTENTIAL];
    r.w = a->w + row * a->ld_pad;
    r.integrand = a->integrand + row * a->components * a->ld_pad;
    r.loss = a->loss + row * a->components * a->ld_pad;
    r.out = a->out + row * a->components * a->ld;
    r.sums = a->sums + row * COLUMN_SUMS;
    r.components = a->components;
    r.side = a->side;
    r.ld = a->ld;
    r.ld_pad = a->ld_pad;
    return r;
}

/* |E|^2 and |E| of sample i. */
K_FN double column_square(const struct column_row *r, long i)
{
    const double x = r->scale * r->field[i];
    const double y = r->components > 1 ? r->scale * r->field[i + r->ld] : 0.0;
    return x * x + y * y;
}

K_FN double column_amplitude(const struct column_row *r, long i)
{
    return r->components > 1 ? sqrt(column_square(r, i)) : fabs(r->scale * r->field[i]);
}

/* The row's sample i, or its point reflection at an edge. */
K_FN double column_sample(const double *row, long i, long n)
{
    const double left = 2.0 * row[0] - row[i < 0 ? -i : 0];
    const double right = 2.0 * row[n - 1] - row[i >= n ? 2 * (n - 1) - i : 0];
    return i < 0 ? left : i >= n ? right : row[i];
}

/* z_i: the filtered row. */
K_FN double column_filtered(const struct column_row *r, const double *row, long i, long n)
{
    double z = r->taps[0] * row[i];
    for (int k = 1; k <= r->side; k++)
        z += r->taps[k] * (column_sample(row, i - k, n) + column_sample(row, i + k, n));
    return z;
}

/* C at a sample: from the sum up to it, z there and z at the start. */
K_FN double column_integral(double dt, double sum, double z, double z0)
{
    return dt * (sum - 0.5 * (z + z0));
}

/* max(x, 0) that keeps NaN. */
K_FN double column_floor(double x)
{
    return x < 0.0 ? 0.0 : x;
}

/* f, from the exposure. */
K_FN double column_fraction(double preionised, double exposure)
{
    return preionised - (1.0 - preionised) * vmath_expm1_negative(-exposure);
}

/* E_c/|E|^2, 0 where there is no field. */
K_FN double column_inverse(double e, double square)
{
    return square > 0.0 ? e / square : 0.0;
}

/* The polarisation without the plasma's, over E: Kerr and extra. */
K_FN double column_instant(const struct column_row *r, long i)
{
    const double extra = r->extra != 0 ? r->extra[i] : 0.0;
    if (r->quadrature == 0)
        return r->kerr * column_square(r, i) + extra;
    const double q = r->scale * r->quadrature[i];
    return r->kerr * (0.75 * (column_square(r, i) + q * q)) + extra;
}

/* Stores sample i of all components of the response; p[2] is the plasma's polarisation. */
K_FN void column_store(const struct column_row *r, long i, const double *p)
{
    const double instant = column_instant(r, i);
    for (int c = 0; c < r->components; c++) {
        const double e = r->scale * r->field[i + c * r->ld];
        r->out[i + c * r->ld] = r->window[i] * (instant * e + r->density * p[c]);
    }
}

/* Saturated samples, first and last rate of a row. */
K_FN void column_rate_sums(const struct column_row *r, long n)
{
    long saturated = 0;
    long first = n;
    long last = 0;
    for (long i = 0; i < n; i++) {
        saturated += column_amplitude(r, i) > r->rate.ceiling;
        if (!(r->w[i] == 0.0)) {
            first = i < first ? i : first;
            last = i + 1;
        }
    }
    r->sums[COLUMN_SATURATED] = (double)saturated;
    r->sums[COLUMN_FIRST] = (double)first;
    r->sums[COLUMN_LAST] = (double)last;
}

/* The rates of a row. */
K_FN void column_rates_by_field(long n, const struct column_row *r)
{
    for (long i = 0; i < n; i++)
        r->w[i] = rate_field_value(&r->rate, column_amplitude(r, i));
    column_rate_sums(r, n);
}

K_FN void column_rates_by_channel(long n, const struct column_row *r)
{
    for (long i = 0; i < n; i++)
        r->w[i] = rate_channel_value(&r->rate, column_amplitude(r, i));
    column_rate_sums(r, n);
}

K_FN void column_rates_by_adk(long n, const struct column_row *r)
{
    for (long i = 0; i < n; i++)
        r->w[i] = rate_adk_value(&r->rate, column_amplitude(r, i));
    column_rate_sums(r, n);
}

/* How far the exposure of a row has come. */
struct column_state {
    double sum, z0; /* of the filtered rate */
    double undershoot, most, work, fraction;
};

K_FN struct column_state column_state_start(const struct column_row *r)
{
    struct column_state s;
    s.sum = 0.0;
    s.z0 = 0.0;
    s.undershoot = 0.0;
    s.most = r->preionised;
    s.work = 0.0;
    s.fraction = r->preionised;
    return s;
}

/* Takes the filtered rate z of sample i; returns f. */
K_FN double column_expose(struct column_state *s, const struct column_row *r, long i, double z)
{
    s->z0 = i == 0 ? z : s->z0;
    s->sum += z;
    const double exposure = column_integral(r->dt, s->sum, z, s->z0);
    s->undershoot += exposure < 0.0 ? 1.0 : 0.0;
    const double f = column_fraction(r->preionised, column_floor(exposure));
    s->work += r->w[i] * (1.0 - f);
    s->most = f > s->most ? f : s->most;
    s->fraction = f;
    return f;
}

K_FN void column_state_store(const struct column_state *s, const struct column_row *r)
{
    r->sums[COLUMN_UNDERSHOOT] = s->undershoot;
    r->sums[COLUMN_ELECTRONS] = s->fraction;
    r->sums[COLUMN_MOST] = s->most;
    r->sums[COLUMN_WORK] = r->dt * r->potential * s->work;
}

/* What a sample with the fraction f drives: the integrand and the loss current. */
K_FN void column_drive(const struct column_row *r, long i, double f)
{
    const double loss = r->potential * r->w[i] * (1.0 - f);
    const double square = column_square(r, i);
    for (int c = 0; c < r->components; c++) {
        const double e = r->scale * r->field[i + c * r->ld];
        r->integrand[i + c * r->ld_pad] = f * e;
        r->loss[i + c * r->ld_pad] = loss * column_inverse(e, square);
    }
}

K_FN void column_exposure(long n, const struct column_row *r)
{
    struct column_state s = column_state_start(r);
    for (long i = 0; i < n; i++) {
        const double f = column_expose(&s, r, i, column_filtered(r, r->w, i, n));
        column_drive(r, i, f);
    }
    column_state_store(&s, r);
}

K_FN void column_current_body(long n, const struct column_row *r)
{
    for (int c = 0; c < r->components; c++) {
        const double *const integrand = r->integrand + c * r->ld_pad;
        double *const current = r->loss + c * r->ld_pad;
        const double z0 = column_filtered(r, integrand, 0, n);
        double sum = 0.0;
        for (long i = 0; i < n; i++) {
            const double z = column_filtered(r, integrand, i, n);
            sum += z;
            current[i] += r->mobility * column_integral(r->dt, sum, z, z0);
        }
    }
}

K_FN void column_polarise_body(long n, const struct column_row *r)
{
    double sum[2] = {0.0, 0.0};
    double z0[2] = {0.0, 0.0};
    for (long i = 0; i < n; i++) {
        double p[2] = {0.0, 0.0};
        for (int c = 0; c < r->components; c++) {
            const double z = column_filtered(r, r->loss + c * r->ld_pad, i, n);
            z0[c] = i == 0 ? z : z0[c];
            sum[c] += z;
            p[c] = column_integral(r->dt, sum[c], z, z0[c]);
        }
        column_store(r, i, p);
    }
}

K_FN void column_trapezoid(long n, const struct column_row *r)
{
    struct column_state s = column_state_start(r);
    double drift = 0.0; /* sum of f E */
    double drift0 = 0.0;
    double sum = 0.0; /* of the current */
    double j0 = 0.0;
    for (long i = 0; i < n; i++) {
        const double f = column_expose(&s, r, i, r->w[i]);
        const double e = r->scale * r->field[i];
        const double loss = r->potential * r->w[i] * (1.0 - f) * column_inverse(e, e * e);
        drift0 = i == 0 ? f * e : drift0;
        drift += f * e;
        const double j = r->mobility * column_integral(r->dt, drift, f * e, drift0) + loss;
        j0 = i == 0 ? j : j0;
        sum += j;
        const double p[2] = {column_integral(r->dt, sum, j, j0), 0.0};
        column_store(r, i, p);
    }
    column_state_store(&s, r);
}

K_FN void column_exposure_field_body(long n, const struct column_row *r)
{
    column_rates_by_field(n, r);
    column_exposure(n, r);
}

K_FN void column_exposure_channel_body(long n, const struct column_row *r)
{
    column_rates_by_channel(n, r);
    column_exposure(n, r);
}

K_FN void column_exposure_adk_body(long n, const struct column_row *r)
{
    column_rates_by_adk(n, r);
    column_exposure(n, r);
}

K_FN void column_trapezoid_field_body(long n, const struct column_row *r)
{
    column_rates_by_field(n, r);
    column_trapezoid(n, r);
}

K_FN void column_trapezoid_channel_body(long n, const struct column_row *r)
{
    column_rates_by_channel(n, r);
    column_trapezoid(n, r);
}

K_FN void column_trapezoid_adk_body(long n, const struct column_row *r)
{
    column_rates_by_adk(n, r);
    column_trapezoid(n, r);
}

#endif
