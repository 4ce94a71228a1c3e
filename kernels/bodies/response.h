/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef KERNELS_BODIES_RESPONSE_H
#define KERNELS_BODIES_RESPONSE_H

#include "kernels/kdefs.h"

/*
 * The instantaneous response of a real field, sample by sample (physics.md §4), with E = scale
 * times the field:
 *
 *   response_kerr[0]          out = window kerr E^3
 *   response_kerr[1]          out = window kerr (3/4) (E^2 + Q^2) E, Q = scale times
 *                             `quadrature`, the imaginary part of the analytic signal: no third
 *                             harmonic
 *   response_kerr_extra[s]    the same with window extra E added
 *   response_kerr_pair        two components, out_c = window kerr (E_x^2 + E_y^2) E_c
 *   response_kerr_pair_extra  the same with window extra E_c added
 *   response_add              out = first + second: responses of two species
 *
 * Rows are [rows][ld], of pairs [rows][2][ld]; outputs may be the rows of the field.
 */
struct response_kerr_args {
    const double *field;
    const double *quadrature; /* response_kerr[1], response_kerr_extra[1]; else NULL */
    const double *extra;      /* `extra` only, else NULL */
    const double *window;
    const double *scale; /* [rows] V/m per unit of the field */
    const double *kerr;  /* [rows] unit of out per (V/m)^3 */
    double *out;
    long ld;
    long ld_extra;               /* of `extra`; 0: ld */
    const unsigned char *active; /* [rows], NULL: all */
};

struct response_kerr_row {
    const double *field, *quadrature, *extra, *window;
    double *out;
    double scale, kerr;
};

K_FN struct response_kerr_row response_kerr_row(const struct response_kerr_args *a, long row)
{
    const long at = row * a->ld;
    struct response_kerr_row r;
    r.field = a->field + at;
    r.quadrature = k_row_real(a->quadrature, at);
    r.extra = k_row_real(a->extra, row * k_stride(a->ld_extra, a->ld));
    r.window = a->window + at;
    r.out = a->out + at;
    r.scale = a->scale[row];
    r.kerr = a->kerr[row];
    return r;
}

/* What E is multiplied by: kerr E^2, or without the third harmonic; q is read for s = 1. */
K_FN double response_kerr_factor(int s, double kerr, double e, double q)
{
    return s == 1 ? kerr * (0.75 * (e * e + q * q)) : kerr * (e * e);
}

K_FN void response_kerr_body(int s, long i, const struct response_kerr_row *r)
{
    const double e = r->scale * r->field[i];
    const double q = s == 1 ? r->scale * r->quadrature[i] : 0.0;
    r->out[i] = r->window[i] * (response_kerr_factor(s, r->kerr, e, q) * e);
}

K_FN void response_kerr_extra_body(int s, long i, const struct response_kerr_row *r)
{
    const double e = r->scale * r->field[i];
    const double q = s == 1 ? r->scale * r->quadrature[i] : 0.0;
    r->out[i] = r->window[i] * ((response_kerr_factor(s, r->kerr, e, q) + r->extra[i]) * e);
}

struct response_pair_args {
    const double *field; /* [rows][2][ld] */
    const double *extra; /* [rows][ld], `extra` only, else NULL */
    const double *window;
    const double *scale;
    const double *kerr;
    double *out; /* [rows][2][ld] */
    long ld;
    long ld_extra; /* of `extra`; 0: ld */
    const unsigned char *active;
};

struct response_pair_row {
    const double *field, *extra, *window;
    double *out;
    double scale, kerr;
    long ld;
};

K_FN struct response_pair_row response_pair_row(const struct response_pair_args *a, long row)
{
    const long at = row * a->ld;
    struct response_pair_row r;
    r.field = a->field + 2 * at;
    r.extra = k_row_real(a->extra, row * k_stride(a->ld_extra, a->ld));
    r.window = a->window + at;
    r.out = a->out + 2 * at;
    r.scale = a->scale[row];
    r.kerr = a->kerr[row];
    r.ld = a->ld;
    return r;
}

/* `extra` is the factor that is added, 0 where there is none. */
K_FN void response_pair_end(long i, const struct response_pair_row *r, double extra)
{
    const double x = r->scale * r->field[i];
    const double y = r->scale * r->field[i + r->ld];
    const double factor = r->kerr * (x * x + y * y) + extra;
    r->out[i] = r->window[i] * (factor * x);
    r->out[i + r->ld] = r->window[i] * (factor * y);
}

K_FN void response_kerr_pair_body(long i, const struct response_pair_row *r)
{
    response_pair_end(i, r, 0.0);
}

K_FN void response_kerr_pair_extra_body(long i, const struct response_pair_row *r)
{
    response_pair_end(i, r, r->extra[i]);
}

struct response_add_args {
    const double *first; /* [rows][ld] */
    const double *second;
    double *out; /* may be either */
    long ld;
    const unsigned char *active;
};

struct response_add_row {
    const double *first, *second;
    double *out;
};

K_FN struct response_add_row response_add_row(const struct response_add_args *a, long row)
{
    const long at = row * a->ld;
    struct response_add_row r;
    r.first = a->first + at;
    r.second = a->second + at;
    r.out = a->out + at;
    return r;
}

K_FN void response_add_body(long i, const struct response_add_row *r)
{
    r->out[i] = r->first[i] + r->second[i];
}

/*
 * The same of an envelope without carrier: complex samples of a field whose |E|^2 is a power
 * (physics.md §4), E = scale times the samples:
 *
 *   response_envelope[0]  out = window kerr |E|^2 E
 *   response_envelope[1]  out = window (kerr |E|^2 + extra) E
 *
 * Complex rows have the stride `ld`, real ones `ld_real`; the output may be the field's rows.
 */
struct response_envelope_args {
    const cplx *field;
    const double *extra; /* response_envelope[1], else NULL */
    const double *window;
    const double *scale; /* [rows] V/m per unit of the field */
    const double *kerr;  /* [rows] unit of out per (V/m)^3 */
    cplx *out;
    long ld;
    long ld_real;
    long ld_extra;               /* of `extra`; 0: ld_real */
    const unsigned char *active; /* [rows], NULL: all */
};

struct response_envelope_row {
    const cplx *field;
    const double *extra, *window;
    cplx *out;
    double scale, kerr;
};

K_FN struct response_envelope_row response_envelope_row(const struct response_envelope_args *a,
                                                        long row)
{
    struct response_envelope_row r;
    r.field = a->field + row * a->ld;
    r.extra = k_row_real(a->extra, row * k_stride(a->ld_extra, a->ld_real));
    r.window = a->window + row * a->ld_real;
    r.out = a->out + row * a->ld;
    r.scale = a->scale[row];
    r.kerr = a->kerr[row];
    return r;
}

K_FN void response_envelope_body(int s, long i, const struct response_envelope_row *r)
{
    const cplx e = cplx_scale(r->scale, r->field[i]);
    const double instant = r->kerr * cplx_abs2(e);
    const double factor = s == 1 ? instant + r->extra[i] : instant;
    r->out[i] = cplx_scale(r->window[i] * factor, e);
}

#endif
