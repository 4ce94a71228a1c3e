/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef KERNELS_BODIES_STEP_H
#define KERNELS_BODIES_STEP_H

#include "kernels/bodies/vmath.h"
#include "kernels/kdefs.h"

/*
 * The passes at the ends of a trial step of Dormand-Prince 5(4). The last stage stands at the
 * end of the step with the weights of the solution (first same as last), so its argument is the
 * new state and its slope, without any rotation, the first slope of the next step. The error is
 * that of the new state: the part of the first six slopes is rotated to the end of the step by
 * the pass that has them in hand. The second slope has weight zero in both; the sixth is used
 * where it is made and not stored, and stands at the end of the step too: its factor F is that
 * of the solution.
 *
 *   step_open     k = pre spec, the slope at the start of a row; out[row]: sum |k|^2
 *   step_last     k_6 = F^-1 pre spec; y' = F (y + sum_j hb_j k_j), part = F sum_j he_j k_j,
 *                 F = exp(L h); out[row]: sum |y'|^2
 *   step_close    k = pre spec; out[row]: sum |part + last k|^2
 *   step_take     y = y', k_1 = k: where a batch shares its rows' places, an accepted row's new
 *                 state and slope become those that its next step begins with
 *   step_bin      out[row][2]: sum and maximum of (|part + last k| / (atol + rtol max(|y|,
 *                 |y'|)))^2; a bin without error counts 0, whatever its tolerance
 *
 * Layouts as in stage.h; inputs may be the same rows as outputs. A NaN makes every sum that it
 * enters NaN; the maximum too. Sums are those of a row, also where a member has several: its
 * norm adds them.
 */

#define STEP_LAST_SLOPES 5 /* k1, k3, k4, k5 and the new k6 */

struct step_open_args {
    const double *pre;
    const cplx *spec;
    double *k;
    double *out; /* [rows] */
    long ld;
    long ld_spec;
    const unsigned char *active; /* [rows], NULL: all */
};

struct step_open_row {
    const double *pre;
    const cplx *spec;
    double *k;
    long ld;
};

K_FN struct step_open_row step_open_row(const struct step_open_args *a, long row)
{
    struct step_open_row r;
    r.pre = a->pre + 2 * row * a->ld;
    r.spec = a->spec + row * a->ld_spec;
    r.k = a->k + 2 * row * a->ld;
    r.ld = a->ld;
    return r;
}

K_FN struct k_terms step_open_body(long i, const struct step_open_row *r)
{
    const cplx k = cplx_mul(split_get(r->pre, r->ld, i), r->spec[i]);
    split_set(r->k, r->ld, i, k);
    struct k_terms t;
    t.a = cplx_abs2(k);
    return t;
}

struct step_last_args {
    const double *y;
    const double *k[STEP_LAST_SLOPES - 1]; /* k1, k3, k4, k5 */
    const double *hb;                      /* [members][STEP_LAST_SLOPES], h b_j */
    const double *he;                      /* [members][STEP_LAST_SLOPES], h (b_j - b^_j) */
    const double *ch;  /* [members], as of stage.h at the step's end; `loss` only, else NULL */
    const double *ch2; /* of the second term; `loss_two` only, else NULL */
    const double *lr;  /* [rows][ld], `loss` only, else NULL */
    const double *lr2; /* `loss_two` only, else NULL */
    const double *pre;
    const double *factor; /* exp(i li h) */
    const cplx *spec;     /* of the sixth slope */
    double *state;        /* receives y' */
    double *part;
    cplx *next;           /* receives y' as the argument of N; may be the row of spec */
    double *out;          /* [rows] */
    struct k_zeros zeros; /* of next */
    long ld;
    long ld_spec;
    long group; /* rows of a member, 0: 1 */
    const unsigned char *active;
};

struct step_last_row {
    const double *y, *k0, *k1, *k2, *k3, *lr, *lr2, *pre, *factor;
    const cplx *spec;
    double *state, *part;
    cplx *next;
    double b0, b1, b2, b3, b4, e0, e1, e2, e3, e4, ch, ch2;
    long ld;
};

K_FN struct step_last_row step_last_row(const struct step_last_args *a, long row)
{
    const long at = row * a->ld;
    const long member = k_member(row, a->group);
    const double *hb = a->hb + member * STEP_LAST_SLOPES;
    const double *he = a->he + member * STEP_LAST_SLOPES;
    struct step_last_row r;
    r.y = a->y + 2 * at;
    r.k0 = a->k[0] + 2 * at;
    r.k1 = a->k[1] + 2 * at;
    r.k2 = a->k[2] + 2 * at;
    r.k3 = a->k[3] + 2 * at;
    r.lr = k_row_real(a->lr, at);
    r.lr2 = k_row_real(a->lr2, at);
    r.pre = a->pre + 2 * at;
    r.factor = a->factor + 2 * at;
    r.spec = a->spec + row * a->ld_spec;
    r.state = a->state + 2 * at;
    r.part = a->part + 2 * at;
    r.next = a->next + row * a->ld_spec;
    r.b0 = hb[0];
    r.b1 = hb[1];
    r.b2 = hb[2];
    r.b3 = hb[3];
    r.b4 = hb[4];
    r.e0 = he[0];
    r.e1 = he[1];
    r.e2 = he[2];
    r.e3 = he[3];
    r.e4 = he[4];
    r.ch = k_scalar(a->ch, member);
    r.ch2 = k_scalar(a->ch2, member);
    r.ld = a->ld;
    return r;
}

/* The zeros around a row's next; n elements between them. */
K_FN void step_last_zeros(const struct step_last_args *a, long row, long n,
                          struct k_share share)
{
    k_zeros_write(a->next + row * a->ld_spec, n, a->zeros, share);
}

/* `back` is the factor of the new slope, F^-1; `forth` is F. */
K_FN struct k_terms step_last_end(long i, const struct step_last_row *r, cplx back, cplx forth)
{
    const cplx k0 = split_get(r->k0, r->ld, i);
    const cplx k1 = split_get(r->k1, r->ld, i);
    const cplx k2 = split_get(r->k2, r->ld, i);
    const cplx k3 = split_get(r->k3, r->ld, i);
    const cplx k4 = cplx_mul(cplx_mul(split_get(r->pre, r->ld, i), r->spec[i]), back);
    cplx u = cplx_axpy(r->b0, k0, split_get(r->y, r->ld, i));
    u = cplx_axpy(r->b1, k1, u);
    u = cplx_axpy(r->b2, k2, u);
    u = cplx_axpy(r->b3, k3, u);
    u = cplx_axpy(r->b4, k4, u);
    cplx e = cplx_scale(r->e0, k0);
    e = cplx_axpy(r->e1, k1, e);
    e = cplx_axpy(r->e2, k2, e);
    e = cplx_axpy(r->e3, k3, e);
    e = cplx_axpy(r->e4, k4, e);
    const cplx state = cplx_mul(forth, u);
    split_set(r->state, r->ld, i, state);
    split_set(r->part, r->ld, i, cplx_mul(forth, e));
    r->next[i] = state;
    struct k_terms t;
    t.a = cplx_abs2(state);
    return t;
}

K_FN struct k_terms step_last_body(long i, const struct step_last_row *r)
{
    const cplx factor = split_get(r->factor, r->ld, i);
    return step_last_end(i, r, cplx_make(factor.r, -factor.i), factor);
}

K_FN struct k_terms step_last_lossy(long i, const struct step_last_row *r,
                                    struct vmath_both loss)
{
    const cplx factor = split_get(r->factor, r->ld, i);
    const cplx back = cplx_make(loss.back * factor.r, -(loss.back * factor.i));
    return step_last_end(i, r, back, cplx_scale(loss.forth, factor));
}

K_FN struct k_terms step_last_loss_body(long i, const struct step_last_row *r)
{
    const double loss = r->lr[i] * r->ch;
    return step_last_lossy(i, r, vmath_exp_both(loss));
}

K_FN struct k_terms step_last_loss_two_body(long i, const struct step_last_row *r)
{
    const double loss = r->lr[i] * r->ch + r->lr2[i] * r->ch2;
    return step_last_lossy(i, r, vmath_exp_both(loss));
}

K_FN struct k_terms step_last_mild_body(long i, const struct step_last_row *r)
{
    const double loss = r->lr[i] * r->ch;
    return step_last_lossy(i, r, vmath_exp_both_mild(loss));
}

K_FN struct k_terms step_last_mild_two_body(long i, const struct step_last_row *r)
{
    const double loss = r->lr[i] * r->ch + r->lr2[i] * r->ch2;
    return step_last_lossy(i, r, vmath_exp_both_mild(loss));
}

struct step_close_args {
    const double *pre;
    const double *part;
    const cplx *spec;
    double *k;          /* receives the slope */
    const double *last; /* [members], h (b_7 - b^_7) */
    double *out;        /* [rows] */
    long ld;
    long ld_spec;
    long group; /* rows of a member, 0: 1 */
    const unsigned char *active;
};

struct step_close_row {
    const double *pre, *part;
    const cplx *spec;
    double *k;
    double last;
    long ld;
};

K_FN struct step_close_row step_close_row(const struct step_close_args *a, long row)
{
    struct step_close_row r;
    r.pre = a->pre + 2 * row * a->ld;
    r.part = a->part + 2 * row * a->ld;
    r.spec = a->spec + row * a->ld_spec;
    r.k = a->k + 2 * row * a->ld;
    r.last = a->last[k_member(row, a->group)];
    r.ld = a->ld;
    return r;
}

K_FN struct k_terms step_close_body(long i, const struct step_close_row *r)
{
    const cplx part = split_get(r->part, r->ld, i);
    const cplx k = cplx_mul(split_get(r->pre, r->ld, i), r->spec[i]);
    split_set(r->k, r->ld, i, k);
    struct k_terms t;
    t.a = cplx_abs2(cplx_axpy(r->last, k, part));
    return t;
}

struct step_take_args {
    const double *next;  /* y' */
    const double *slope; /* of y' */
    double *y;
    double *k;
    long ld;
    const unsigned char *active; /* [rows], NULL: all */
};

struct step_take_row {
    const double *next, *slope;
    double *y, *k;
    long ld;
};

K_FN struct step_take_row step_take_row(const struct step_take_args *a, long row)
{
    const long at = 2 * row * a->ld;
    struct step_take_row r;
    r.next = a->next + at;
    r.slope = a->slope + at;
    r.y = a->y + at;
    r.k = a->k + at;
    r.ld = a->ld;
    return r;
}

K_FN void step_take_body(long i, const struct step_take_row *r)
{
    const cplx next = split_get(r->next, r->ld, i);
    const cplx slope = split_get(r->slope, r->ld, i);
    split_set(r->y, r->ld, i, next);
    split_set(r->k, r->ld, i, slope);
}

struct step_bin_args {
    const double *part;
    const double *k;
    const double *y;
    const double *state; /* y' */
    const double *last;  /* [members] */
    const double *rtol;  /* [members] */
    const double *atol;  /* [members] */
    double *out;         /* [rows][2] */
    long ld;
    long group; /* rows of a member, 0: 1 */
    const unsigned char *active;
};

struct step_bin_row {
    const double *part, *k, *y, *state;
    double last, rtol, atol;
    long ld;
};

K_FN struct step_bin_row step_bin_row(const struct step_bin_args *a, long row)
{
    const long at = 2 * row * a->ld;
    const long member = k_member(row, a->group);
    struct step_bin_row r;
    r.part = a->part + at;
    r.k = a->k + at;
    r.y = a->y + at;
    r.state = a->state + at;
    r.last = a->last[member];
    r.rtol = a->rtol[member];
    r.atol = a->atol[member];
    r.ld = a->ld;
    return r;
}

K_FN double step_bin_body(long i, const struct step_bin_row *r)
{
    const cplx k = split_get(r->k, r->ld, i);
    const double e2 = cplx_abs2(cplx_axpy(r->last, k, split_get(r->part, r->ld, i)));
    const double y2 = cplx_abs2(split_get(r->y, r->ld, i));
    const double new2 = cplx_abs2(split_get(r->state, r->ld, i));
    const double largest = y2 > new2 ? y2 : new2;
    const double tolerance = r->atol + r->rtol * sqrt(largest);
    const double ratio = e2 / (tolerance * tolerance);
    /* The comparison above loses a NaN in y2; y2 - y2 is 0 unless y2 is NaN or Inf. */
    return (e2 == 0.0 ? 0.0 : ratio) + ((y2 - y2) + (new2 - new2));
}

#endif
