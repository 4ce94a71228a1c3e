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
 * The pass that begins a stage stores `factor`, the conjugate of exp(-L c h), for the one that
 * ends it. Kernels without `loss` are for lr = 0, where that is exp(L c h) itself. With loss
 * exp(lr ch) and exp(-lr ch) are a sum and a difference: neither is the reciprocal of the
 * other, and each is rounded once. The turn into the last stage (s = STAGE_SLOPES - 1) leaves
 * the growth out: step_last needs exp(L h) as well, and forms both.
 *
 * Where L changes along the way, `ch` is the integral of its coefficient from the step's start
 * to the stage, a direct increment; kernels with `two` have L = L_1 q_1(z) + L_2 q_2(z) and
 * both integrals. For more terms the strict kernel stage_exponent writes the exponents of a
 * stage first, and the kernels of one term take them with ch = 1.
 *
 * The launch also writes `zeros` elements of `out` around those of a row: the pass that fills
 * the argument of N pads it.
 *
 * y, k, factor and pre are split rows [rows][2][ld]; spec and out are [rows][ld_spec], and may
 * be the same rows. Scalars are [members]: the `group` rows of a member, its modes, have them
 * in common.
 */

#define STAGE_SLOPES 5 /* k's that a stage combines at most, the new one included */
#define STAGE_TERMS  8 /* terms of L at most */
#define STAGE_FEW    4 /* that stage_exponent adds */

struct stage_entry_args {
    const double *y;
    const double *k;
    const double *hb;  /* [members], h a */
    const double *ch;  /* [members], c h, formed once */
    const double *ch2; /* [members], of the second term; `two` only, else NULL */
    const double *li;  /* [rows][ld] */
    const double *li2; /* `two` only, else NULL */
    const double *lr;  /* [rows][ld], `loss` only, else NULL */
    const double *lr2; /* `loss_two` only, else NULL */
    double *factor;    /* receives exp(-lr ch + i li ch), for the pass that ends this stage */
    cplx *out;
    struct k_zeros zeros; /* of out */
    long ld;
    long ld_spec;
    long group;                  /* rows of a member, 0: 1 */
    const unsigned char *active; /* [rows], NULL: all */
};

struct stage_entry_row {
    const double *y, *k, *li, *li2, *lr, *lr2;
    double *factor;
    cplx *out;
    double hb, ch, ch2;
    long ld;
};

K_FN struct stage_entry_row stage_entry_row(const struct stage_entry_args *a, long row)
{
    const long at = row * a->ld;
    const long member = k_member(row, a->group);
    struct stage_entry_row r;
    r.y = a->y + 2 * at;
    r.k = a->k + 2 * at;
    r.li = a->li + at;
    r.li2 = k_row_real(a->li2, at);
    r.lr = k_row_real(a->lr, at);
    r.lr2 = k_row_real(a->lr2, at);
    r.factor = a->factor + 2 * at;
    r.out = a->out + row * a->ld_spec;
    r.hb = a->hb[member];
    r.ch = a->ch[member];
    r.ch2 = k_scalar(a->ch2, member);
    r.ld = a->ld;
    return r;
}

/* The zeros around a row's out; n elements between them. */
K_FN void stage_entry_zeros(const struct stage_entry_args *a, long row, long n,
                            struct k_share share)
{
    k_zeros_write(a->out + row * a->ld_spec, n, a->zeros, share);
}

/* Without a loss exp(0) is a constant. */
K_FN struct vmath_both stage_no_loss(void)
{
    struct vmath_both one;
    one.forth = 1.0;
    one.back = 1.0;
    return one;
}

/* Propagated with a phase and a loss. */
K_FN void stage_entry_end(long i, const struct stage_entry_row *r, double theta,
                          struct vmath_both loss)
{
    const cplx u = cplx_axpy(r->hb, split_get(r->k, r->ld, i), split_get(r->y, r->ld, i));
    const struct vmath_pair phase = vmath_sincos(theta);
    const cplx factor = cplx_make(phase.cos, phase.sin);
    split_set(r->factor, r->ld, i, cplx_scale(loss.back, factor));
    r->out[i] = cplx_scale(loss.forth, cplx_mul(factor, u));
}

K_FN void stage_entry_body(long i, const struct stage_entry_row *r)
{
    stage_entry_end(i, r, r->li[i] * r->ch, stage_no_loss());
}

K_FN void stage_entry_loss_body(long i, const struct stage_entry_row *r)
{
    stage_entry_end(i, r, r->li[i] * r->ch, vmath_exp_both(r->lr[i] * r->ch));
}

K_FN void stage_entry_mild_body(long i, const struct stage_entry_row *r)
{
    stage_entry_end(i, r, r->li[i] * r->ch, vmath_exp_both_mild(r->lr[i] * r->ch));
}

K_FN void stage_entry_two_body(long i, const struct stage_entry_row *r)
{
    stage_entry_end(i, r, r->li[i] * r->ch + r->li2[i] * r->ch2, stage_no_loss());
}

K_FN void stage_entry_loss_two_body(long i, const struct stage_entry_row *r)
{
    const struct vmath_both loss = vmath_exp_both(r->lr[i] * r->ch + r->lr2[i] * r->ch2);
    stage_entry_end(i, r, r->li[i] * r->ch + r->li2[i] * r->ch2, loss);
}

K_FN void stage_entry_mild_two_body(long i, const struct stage_entry_row *r)
{
    const struct vmath_both loss = vmath_exp_both_mild(r->lr[i] * r->ch + r->lr2[i] * r->ch2);
    stage_entry_end(i, r, r->li[i] * r->ch + r->li2[i] * r->ch2, loss);
}

/* The kernel's index s is the number of earlier slopes: stage_turn[s] reads k[0 … s-1] with the
 * weights hb[0 … s-1]; hb[s] is that of the new slope. */
struct stage_turn_args {
    const double *y;
    const double *k[STAGE_SLOPES - 1]; /* the first s are read */
    const double *hb;                  /* [members][STAGE_SLOPES] */
    const double *ch;                  /* [members], of the stage that begins */
    const double *ch2; /* [members], of the second term; `two` only, else NULL */
    const double *li;  /* [rows][ld] */
    const double *li2; /* `two` only, else NULL */
    const double *lr;  /* [rows][ld], `loss` only, else NULL */
    const double *lr2; /* `loss_two` only, else NULL */
    const double *pre; /* all constants of the nonlinear term, 1/n of the FFT too */
    const cplx *spec;  /* spectrum of the response */
    double *factor;    /* in: of the stage that ends; receives that of the next */
    double *slope;     /* receives k */
    cplx *out;
    struct k_zeros zeros; /* of out */
    long ld;
    long ld_spec;
    long group; /* rows of a member, 0: 1 */
    const unsigned char *active;
};

struct stage_turn_row {
    const double *y, *k0, *k1, *k2, *k3, *li, *li2, *lr, *lr2, *pre;
    const cplx *spec;
    double *factor, *slope;
    cplx *out;
    double b0, b1, b2, b3, b4, ch, ch2;
    long ld;
};

K_FN struct stage_turn_row stage_turn_row(const struct stage_turn_args *a, long row)
{
    const long at = row * a->ld;
    const long member = k_member(row, a->group);
    const double *hb = a->hb + member * STAGE_SLOPES;
    struct stage_turn_row r;
    r.y = a->y + 2 * at;
    r.k0 = k_row_real(a->k[0], 2 * at);
    r.k1 = k_row_real(a->k[1], 2 * at);
    r.k2 = k_row_real(a->k[2], 2 * at);
    r.k3 = k_row_real(a->k[3], 2 * at);
    r.li = a->li + at;
    r.li2 = k_row_real(a->li2, at);
    r.lr = k_row_real(a->lr, at);
    r.lr2 = k_row_real(a->lr2, at);
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
    r.ch = a->ch[member];
    r.ch2 = k_scalar(a->ch2, member);
    r.ld = a->ld;
    return r;
}

/* The zeros around a row's out; n elements between them. */
K_FN void stage_turn_zeros(const struct stage_turn_args *a, long row, long n,
                           struct k_share share)
{
    k_zeros_write(a->out + row * a->ld_spec, n, a->zeros, share);
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

/* Stores the slope and what it leads to, propagated with a phase and a loss. */
K_FN void stage_turn_end(int s, long i, const struct stage_turn_row *r, double theta,
                         struct vmath_both loss)
{
    const cplx slope = stage_turn_slope(i, r);
    const cplx u = stage_turn_sum(s, i, r, slope);
    const struct vmath_pair phase = vmath_sincos(theta);
    const cplx factor = cplx_make(phase.cos, phase.sin);
    split_set(r->slope, r->ld, i, slope);
    split_set(r->factor, r->ld, i,
              s == STAGE_SLOPES - 1 ? factor : cplx_scale(loss.back, factor));
    r->out[i] = cplx_scale(loss.forth, cplx_mul(factor, u));
}

/* Exponents of one and of two terms: the phase and the loss. */
K_FN double stage_turn_phase(int terms, long i, const struct stage_turn_row *r)
{
    return terms == 1 ? r->li[i] * r->ch : r->li[i] * r->ch + r->li2[i] * r->ch2;
}

K_FN double stage_turn_loss(int terms, long i, const struct stage_turn_row *r)
{
    return terms == 1 ? r->lr[i] * r->ch : r->lr[i] * r->ch + r->lr2[i] * r->ch2;
}

K_FN void stage_turn_clear(int terms, int s, long i, const struct stage_turn_row *r)
{
    stage_turn_end(s, i, r, stage_turn_phase(terms, i, r), stage_no_loss());
}

K_FN void stage_turn_lossy(int terms, int s, long i, const struct stage_turn_row *r)
{
    stage_turn_end(s, i, r, stage_turn_phase(terms, i, r),
                   vmath_exp_both(stage_turn_loss(terms, i, r)));
}

K_FN void stage_turn_gentle(int terms, int s, long i, const struct stage_turn_row *r)
{
    stage_turn_end(s, i, r, stage_turn_phase(terms, i, r),
                   vmath_exp_both_mild(stage_turn_loss(terms, i, r)));
}

K_FN void stage_turn_body(int s, long i, const struct stage_turn_row *r)
{
    stage_turn_clear(1, s, i, r);
}

K_FN void stage_turn_two_body(int s, long i, const struct stage_turn_row *r)
{
    stage_turn_clear(2, s, i, r);
}

K_FN void stage_turn_loss_body(int s, long i, const struct stage_turn_row *r)
{
    stage_turn_lossy(1, s, i, r);
}

K_FN void stage_turn_loss_two_body(int s, long i, const struct stage_turn_row *r)
{
    stage_turn_lossy(2, s, i, r);
}

K_FN void stage_turn_mild_body(int s, long i, const struct stage_turn_row *r)
{
    stage_turn_gentle(1, s, i, r);
}

K_FN void stage_turn_mild_two_body(int s, long i, const struct stage_turn_row *r)
{
    stage_turn_gentle(2, s, i, r);
}

/*
 * stage_exponent (strict):  phase = sum_j li_j path_j and, where lr[0] is given, loss = sum_j
 *                           lr_j path_j, the first four terms from the first to the last
 * stage_exponent_all:       the same of all terms
 *
 * Terms that a row lacks have path 0.
 */
struct stage_exponent_args {
    const double *li[STAGE_TERMS]; /* [rows][ld] each; of stage_exponent the first four */
    const double *lr[STAGE_TERMS]; /* the same, or all NULL */
    const double *path;            /* [members][STAGE_TERMS] integrals up to the stage */
    double *phase;                 /* [rows][ld] */
    double *loss;                  /* [rows][ld]; NULL without lr */
    long ld;
    long group; /* rows of a member, 0: 1 */
    const unsigned char *active;
};

struct stage_exponent_row {
    const double *li[STAGE_TERMS], *lr[STAGE_TERMS], *path;
    double *phase, *loss;
};

K_FN struct stage_exponent_row stage_exponent_row(const struct stage_exponent_args *a, long row)
{
    const long at = row * a->ld;
    struct stage_exponent_row r;
    for (int j = 0; j < STAGE_TERMS; j++) {
        r.li[j] = k_row_real(a->li[j], at);
        r.lr[j] = k_row_real(a->lr[j], at);
    }
    r.path = a->path + k_member(row, a->group) * STAGE_TERMS;
    r.phase = a->phase + at;
    r.loss = a->loss != 0 ? a->loss + at : a->loss;
    return r;
}

K_FN void stage_exponent_few(long n, const double *const *l, const double *path, double *out)
{
    const double q0 = path[0];
    const double q1 = path[1];
    const double q2 = path[2];
    const double q3 = path[3];
    for (long i = 0; i < n; i++)
        out[i] = ((l[0][i] * q0 + l[1][i] * q1) + l[2][i] * q2) + l[3][i] * q3;
}

/* Adds the other terms. */
K_FN void stage_exponent_rest(long n, const double *const *l, const double *path, double *out)
{
    const double q4 = path[4];
    const double q5 = path[5];
    const double q6 = path[6];
    const double q7 = path[7];
    for (long i = 0; i < n; i++)
        out[i] = (((out[i] + l[4][i] * q4) + l[5][i] * q5) + l[6][i] * q6) + l[7][i] * q7;
}

K_FN void stage_exponent_body(long n, const struct stage_exponent_row *r)
{
    stage_exponent_few(n, r->li, r->path, r->phase);
    if (r->loss != 0)
        stage_exponent_few(n, r->lr, r->path, r->loss);
}

K_FN void stage_exponent_all_body(long n, const struct stage_exponent_row *r)
{
    stage_exponent_body(n, r);
    stage_exponent_rest(n, r->li, r->path, r->phase);
    if (r->loss != 0)
        stage_exponent_rest(n, r->lr, r->path, r->loss);
}

#endif
