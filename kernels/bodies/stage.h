/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef KERNELS_BODIES_STAGE_H
#define KERNELS_BODIES_STAGE_H

#include "kernels/bodies/vmath.h"
#include "kernels/kdefs.h"

/*
 * The passes between two evaluations of N of a Runge-Kutta step in the interaction picture of
 * the step's start (numerics.md §4, §5), for y' = L y + N, L = lr + i li diagonal:
 *
 *   stage_entry   u = exp(L c h) (y + h a k_1), the argument of the second N
 *   stage_turn    k = exp(-L c h) pre spec, stored; then u = exp(L c' h) (y + sum_j h a_j k_j),
 *                 the argument of the N after it: one pass over memory
 *
 * Kernels without `loss` are for lr = 0: there exp(-L c h) is the conjugate of exp(L c h). With
 * loss the stored factor is still the phase only, and exp(lr ch), exp(-lr ch) are each computed
 * on their own: neither is the reciprocal of the other, and each is rounded once.
 *
 * y, k, factor and pre are split rows [rows][2][ld]; spec and out are [rows][ld_spec], and may
 * be the same rows; scalars are [rows].
 */

#define STAGE_SLOPES 5 /* k's that a stage combines at most, the new one included */

struct stage_entry_args {
    const double *y;
    const double *k;
    const double *hb; /* [rows], h a */
    const double *ch; /* [rows], c h, formed once */
    const double *li; /* [rows][ld] */
    const double *lr; /* [rows][ld], stage_entry_loss only, else NULL */
    double *factor;   /* receives exp(i li ch), for the pass that ends this stage */
    cplx *out;
    long ld;
    long ld_spec;
    const unsigned char *active; /* [rows], NULL: all */
};

struct stage_entry_row {
    const double *y, *k, *li, *lr;
    double *factor;
    cplx *out;
    double hb, ch;
    long ld;
};

K_FN struct stage_entry_row stage_entry_row(const struct stage_entry_args *a, long row)
{
    const long at = row * a->ld;
    struct stage_entry_row r;
    r.y = a->y + 2 * at;
    r.k = a->k + 2 * at;
    r.li = a->li + at;
    r.lr = k_row_real(a->lr, at);
    r.factor = a->factor + 2 * at;
    r.out = a->out + row * a->ld_spec;
    r.hb = a->hb[row];
    r.ch = a->ch[row];
    r.ld = a->ld;
    return r;
}

K_FN void stage_entry_body(long i, const struct stage_entry_row *r)
{
    const cplx u = cplx_axpy(r->hb, split_get(r->k, r->ld, i), split_get(r->y, r->ld, i));
    const struct vmath_pair phase = vmath_sincos(r->li[i] * r->ch);
    const cplx factor = cplx_make(phase.cos, phase.sin);
    split_set(r->factor, r->ld, i, factor);
    r->out[i] = cplx_mul(factor, u);
}

K_FN void stage_entry_loss_body(long i, const struct stage_entry_row *r)
{
    const cplx u = cplx_axpy(r->hb, split_get(r->k, r->ld, i), split_get(r->y, r->ld, i));
    const struct vmath_pair phase = vmath_sincos(r->li[i] * r->ch);
    const cplx factor = cplx_make(phase.cos, phase.sin);
    const double decay = vmath_exp(r->lr[i] * r->ch);
    split_set(r->factor, r->ld, i, factor);
    r->out[i] = cplx_scale(decay, cplx_mul(factor, u));
}

/* The kernel's index s is the number of earlier slopes: stage_turn[s] reads k[0 … s-1] with the
 * weights hb[0 … s-1]; hb[s] is that of the new slope. */
struct stage_turn_args {
    const double *y;
    const double *k[STAGE_SLOPES - 1]; /* the first s are read */
    const double *hb;                  /* [rows][STAGE_SLOPES] */
    const double *ch;                  /* [rows], of the stage that begins */
    const double *ch_end; /* [rows], of the stage that ends; stage_turn_loss only, else NULL */
    const double *li;     /* [rows][ld] */
    const double *lr;     /* [rows][ld], stage_turn_loss only, else NULL */
    const double *pre;    /* all constants of the nonlinear term, 1/n of the FFT too */
    const cplx *spec;     /* spectrum of the response */
    double *factor;       /* in: exp(i li ch_end); receives exp(i li ch) */
    double *slope;        /* receives k */
    cplx *out;
    long ld;
    long ld_spec;
    const unsigned char *active;
};

struct stage_turn_row {
    const double *y, *k0, *k1, *k2, *k3, *li, *lr, *pre;
    const cplx *spec;
    double *factor, *slope;
    cplx *out;
    double b0, b1, b2, b3, b4, ch, ch_end;
    long ld;
};

K_FN struct stage_turn_row stage_turn_row(const struct stage_turn_args *a, long row)
{
    const long at = row * a->ld;
    const double *hb = a->hb + row * STAGE_SLOPES;
    struct stage_turn_row r;
    r.y = a->y + 2 * at;
    r.k0 = k_row_real(a->k[0], 2 * at);
    r.k1 = k_row_real(a->k[1], 2 * at);
    r.k2 = k_row_real(a->k[2], 2 * at);
    r.k3 = k_row_real(a->k[3], 2 * at);
    r.li = a->li + at;
    r.lr = k_row_real(a->lr, at);
    r.pre = a->pre + 2 * at;
    r.spec = a->spec + row * a->ld_spec;
    r.factor = a->factor + 2 * at;
    r.slope = a->slope + 2 * at;
    r.out = a->out + row * a->ld_spec;
    r.b0 = hb[0];
    r.b1 = hb[1];
    r.b2 = hb[2];
    r.b3 = hb[3];
    r.b4 = hb[4];
    r.ch = a->ch[row];
    r.ch_end = a->ch_end != 0 ? a->ch_end[row] : 0.0;
    r.ld = a->ld;
    return r;
}

/* Weight of the new slope; s is a constant where this is inlined. */
K_FN double stage_turn_weight(int s, const struct stage_turn_row *r)
{
    return s == 0 ? r->b0 : s == 1 ? r->b1 : s == 2 ? r->b2 : s == 3 ? r->b3 : r->b4;
}

/* y + sum of the earlier slopes and the new one */
K_FN cplx stage_turn_sum(int s, long i, const struct stage_turn_row *r, cplx slope)
{
    cplx u = split_get(r->y, r->ld, i);
    if (s > 0)
        u = cplx_axpy(r->b0, split_get(r->k0, r->ld, i), u);
    if (s > 1)
        u = cplx_axpy(r->b1, split_get(r->k1, r->ld, i), u);
    if (s > 2)
        u = cplx_axpy(r->b2, split_get(r->k2, r->ld, i), u);
    if (s > 3)
        u = cplx_axpy(r->b3, split_get(r->k3, r->ld, i), u);
    return cplx_axpy(stage_turn_weight(s, r), slope, u);
}

/* conj(F) pre spec */
K_FN cplx stage_turn_slope(long i, const struct stage_turn_row *r)
{
    const cplx n = cplx_mul(split_get(r->pre, r->ld, i), r->spec[i]);
    return cplx_mul_conj(n, split_get(r->factor, r->ld, i));
}

K_FN void stage_turn_body(int s, long i, const struct stage_turn_row *r)
{
    const cplx slope = stage_turn_slope(i, r);
    const cplx u = stage_turn_sum(s, i, r, slope);
    const struct vmath_pair phase = vmath_sincos(r->li[i] * r->ch);
    const cplx factor = cplx_make(phase.cos, phase.sin);
    split_set(r->slope, r->ld, i, slope);
    split_set(r->factor, r->ld, i, factor);
    r->out[i] = cplx_mul(factor, u);
}

K_FN void stage_turn_loss_body(int s, long i, const struct stage_turn_row *r)
{
    const double growth = vmath_exp(-(r->lr[i] * r->ch_end));
    const cplx slope = cplx_scale(growth, stage_turn_slope(i, r));
    const cplx u = stage_turn_sum(s, i, r, slope);
    const struct vmath_pair phase = vmath_sincos(r->li[i] * r->ch);
    const cplx factor = cplx_make(phase.cos, phase.sin);
    const double decay = vmath_exp(r->lr[i] * r->ch);
    split_set(r->slope, r->ld, i, slope);
    split_set(r->factor, r->ld, i, factor);
    r->out[i] = cplx_scale(decay, cplx_mul(factor, u));
}

#endif
