/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef KERNELS_BODIES_KERR_H
#define KERNELS_BODIES_KERR_H

#include "kernels/kdefs.h"

/*
 * The Kerr response of an envelope, sample by sample. Complex rows have the stride `ld`, real
 * rows `ld_real`; inputs may be the same rows as outputs.
 */

/* kerr_instant: out = |a|^2 a, the response without memory. */
struct kerr_instant_args {
    const cplx *a;
    cplx *out;
    long ld;
    const unsigned char *active; /* [rows], NULL: all */
};

struct kerr_instant_row {
    const cplx *a;
    cplx *out;
};

K_FN struct kerr_instant_row kerr_instant_row(const struct kerr_instant_args *a, long row)
{
    struct kerr_instant_row r;
    r.a = a->a + row * a->ld;
    r.out = a->out + row * a->ld;
    return r;
}

K_FN void kerr_instant_body(long i, const struct kerr_instant_row *r)
{
    const cplx a = r->a[i];
    r->out[i] = cplx_scale(cplx_abs2(a), a);
}

/* kerr_power: power = |a|^2. */
struct kerr_power_args {
    const cplx *a;
    double *power;
    long ld;
    long ld_real;
    const unsigned char *active;
};

struct kerr_power_row {
    const cplx *a;
    double *power;
};

K_FN struct kerr_power_row kerr_power_row(const struct kerr_power_args *a, long row)
{
    struct kerr_power_row r;
    r.a = a->a + row * a->ld;
    r.power = a->power + row * a->ld_real;
    return r;
}

K_FN void kerr_power_body(long i, const struct kerr_power_row *r)
{
    r->power[i] = cplx_abs2(r->a[i]);
}

/* kerr_apply: out = factor a, factor real: a response, or a rate in time. */
struct kerr_apply_args {
    const cplx *a;
    const double *factor;
    cplx *out;
    long ld;
    long ld_real;
    const unsigned char *active;
};

struct kerr_apply_row {
    const cplx *a;
    const double *factor;
    cplx *out;
};

K_FN struct kerr_apply_row kerr_apply_row(const struct kerr_apply_args *a, long row)
{
    struct kerr_apply_row r;
    r.a = a->a + row * a->ld;
    r.factor = a->factor + row * a->ld_real;
    r.out = a->out + row * a->ld;
    return r;
}

K_FN void kerr_apply_body(long i, const struct kerr_apply_row *r)
{
    r->out[i] = cplx_scale(r->factor[i], r->a[i]);
}

#endif
