/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef KERNELS_BODIES_SPECTRAL_H
#define KERNELS_BODIES_SPECTRAL_H

#include "kernels/bodies/angle.h"
#include "kernels/kdefs.h"

/* Pointwise passes over complex rows [rows][ld]; inputs may be the same rows as outputs. */

/* spectral_scale: out = pre in, pre complex: the finish of a stage at c = 0, and the hand-over
 * of the last stage to the next step. */
struct spectral_scale_args {
    const cplx *pre; /* [rows][ld] */
    const cplx *in;
    cplx *out;
    long ld;
    const unsigned char *active; /* [rows], NULL: all */
};

struct spectral_scale_row {
    const cplx *pre, *in;
    cplx *out;
};

K_FN struct spectral_scale_row spectral_scale_row(const struct spectral_scale_args *a, long row)
{
    struct spectral_scale_row r;
    r.pre = a->pre + row * a->ld;
    r.in = a->in + row * a->ld;
    r.out = a->out + row * a->ld;
    return r;
}

K_FN void spectral_scale_body(long i, const struct spectral_scale_row *r)
{
    r->out[i] = cplx_mul(r->pre[i], r->in[i]);
}

/* spectral_add: out = pre in + add. */
struct spectral_add_args {
    const cplx *pre; /* [rows][ld] */
    const cplx *in;
    const cplx *add;
    cplx *out;
    long ld;
    const unsigned char *active;
};

struct spectral_add_row {
    const cplx *pre, *in, *add;
    cplx *out;
};

K_FN struct spectral_add_row spectral_add_row(const struct spectral_add_args *a, long row)
{
    struct spectral_add_row r;
    r.pre = a->pre + row * a->ld;
    r.in = a->in + row * a->ld;
    r.add = a->add + row * a->ld;
    r.out = a->out + row * a->ld;
    return r;
}

K_FN void spectral_add_body(long i, const struct spectral_add_row *r)
{
    r->out[i] = cplx_add(cplx_mul(r->pre[i], r->in[i]), r->add[i]);
}

/* spectral_mix[s]: out = scale (first + w_0 second + w_1 third) in, all real factors; second
 * for s >= 1, third for s = 2: a filter that changes along the way. */
#define SPECTRAL_MIX 2 /* weights */

struct spectral_mix_args {
    const double *scale;  /* [rows] */
    const double *weight; /* [rows][SPECTRAL_MIX] */
    const cplx *first;    /* [rows][ld] */
    const cplx *second;   /* s >= 1, else NULL */
    const cplx *third;    /* s = 2, else NULL */
    const cplx *in;
    cplx *out;
    long ld;
    const unsigned char *active;
};

struct spectral_mix_row {
    double scale, w0, w1;
    const cplx *first, *second, *third, *in;
    cplx *out;
};

K_FN struct spectral_mix_row spectral_mix_row(const struct spectral_mix_args *a, long row)
{
    const long at = row * a->ld;
    struct spectral_mix_row r;
    r.scale = a->scale[row];
    r.w0 = a->weight[row * SPECTRAL_MIX];
    r.w1 = a->weight[row * SPECTRAL_MIX + 1];
    r.first = a->first + at;
    r.second = k_row(a->second, at);
    r.third = k_row(a->third, at);
    r.in = a->in + at;
    r.out = a->out + at;
    return r;
}

K_FN void spectral_mix_body(int s, long i, const struct spectral_mix_row *r)
{
    cplx pre = r->first[i];
    if (s >= 1)
        pre = cplx_add(pre, cplx_scale(r->w0, r->second[i]));
    if (s >= 2)
        pre = cplx_add(pre, cplx_scale(r->w1, r->third[i]));
    r->out[i] = cplx_mul(cplx_scale(r->scale, pre), r->in[i]);
}

/* spectral_lean: out = in / (1 + lean tilt): a prefactor whose divisor is linear in something
 * that changes along the way. */
struct spectral_lean_args {
    const cplx *in;
    const double *tilt; /* [rows][ld_real] */
    const double *lean; /* [members] */
    cplx *out;
    long ld;
    long ld_real;
    long group; /* rows of a member, its modes; 0: 1 */
    const unsigned char *active;
};

struct spectral_lean_row {
    const cplx *in;
    const double *tilt;
    cplx *out;
    double lean;
};

K_FN struct spectral_lean_row spectral_lean_row(const struct spectral_lean_args *a, long row)
{
    struct spectral_lean_row r;
    r.in = a->in + row * a->ld;
    r.tilt = a->tilt + row * a->ld_real;
    r.out = a->out + row * a->ld;
    r.lean = a->lean[k_member(row, a->group)];
    return r;
}

K_FN void spectral_lean_body(long i, const struct spectral_lean_row *r)
{
    r->out[i] = cplx_scale(1.0 / (1.0 + r->lean * r->tilt[i]), r->in[i]);
}

/* spectral_power: power = |in|^2; sums of power, power over and power x, with x = i + shift.
 */
struct spectral_power_args {
    const double *in;    /* [rows][2][ld] */
    const double *over;  /* [rows][ld_real] */
    const double *shift; /* [rows] */
    double *power;       /* [rows][ld_real] */
    double *out;         /* [rows][3] */
    long ld;
    long ld_real;
    const unsigned char *active;
};

struct spectral_power_row {
    const double *in, *over;
    double *power;
    double shift;
    long ld;
};

K_FN struct spectral_power_row spectral_power_row(const struct spectral_power_args *a, long row)
{
    struct spectral_power_row r;
    r.in = a->in + 2 * row * a->ld;
    r.over = a->over + row * a->ld_real;
    r.power = a->power + row * a->ld_real;
    r.shift = a->shift[row];
    r.ld = a->ld;
    return r;
}

K_FN struct k_terms spectral_power_body(long i, const struct spectral_power_row *r)
{
    const double power = cplx_abs2(split_get(r->in, r->ld, i));
    struct k_terms t;
    r->power[i] = power;
    t.a = power;
    t.b = power * r->over[i];
    t.c = power * ((double)(int)i + r->shift); /* every CPU converts an int in vectors */
    return t;
}

/* spectral_turn: -in conj(next) as modulus and angle: how far the phase turns from a bin to the
 * next one, less the half period that the middle of the window turns by. */
struct spectral_turn_args {
    const double *in;   /* [rows][2][ld] */
    const double *next; /* in, one bin on */
    double *size;       /* [rows][ld_real] */
    double *angle;      /* rad, in [-pi, pi] */
    long ld;
    long ld_real;
    const unsigned char *active;
};

struct spectral_turn_row {
    const double *in, *next;
    double *size, *angle;
    long ld;
};

K_FN struct spectral_turn_row spectral_turn_row(const struct spectral_turn_args *a, long row)
{
    struct spectral_turn_row r;
    r.in = a->in + 2 * row * a->ld;
    r.next = a->next + 2 * row * a->ld;
    r.size = a->size + row * a->ld_real;
    r.angle = a->angle + row * a->ld_real;
    r.ld = a->ld;
    return r;
}

K_FN void spectral_turn_body(long i, const struct spectral_turn_row *r)
{
    const cplx z = cplx_mul_conj(split_get(r->in, r->ld, i), split_get(r->next, r->ld, i));
    r->size[i] = __builtin_sqrt(cplx_abs2(z));
    r->angle[i] = angle_of(-z.r, -z.i);
}

/* spectral_weight, spectral_moment: sums over w, w angle, w x and w x angle, w x^2, with x = i
 * + shift and the weight w = size where it is above `least`: a line through the angles. */
struct spectral_line_args {
    const double *size;  /* [rows][ld] */
    const double *angle; /* [rows][ld] */
    const double *shift; /* [rows] */
    const double *least; /* [rows], NULL: 0 */
    double *out;         /* [rows][3], [rows][2] */
    long ld;
    const unsigned char *active;
};

struct spectral_line_row {
    const double *size, *angle;
    double shift, least;
};

K_FN struct spectral_line_row spectral_line_row(const struct spectral_line_args *a, long row)
{
    struct spectral_line_row r;
    r.size = a->size + row * a->ld;
    r.angle = a->angle + row * a->ld;
    r.shift = a->shift[row];
    r.least = k_scalar(a->least, row);
    return r;
}

K_FN double spectral_line_weight(long i, const struct spectral_line_row *r)
{
    const double size = r->size[i];
    return size > r->least ? size : 0.0;
}

/* The position; through an int, which every CPU converts in vectors. */
K_FN double spectral_line_place(long i, const struct spectral_line_row *r)
{
    return (double)(int)i + r->shift;
}

K_FN struct k_terms spectral_weight_body(long i, const struct spectral_line_row *r)
{
    const double w = spectral_line_weight(i, r);
    struct k_terms t;
    t.a = w;
    t.b = w * r->angle[i];
    t.c = w * spectral_line_place(i, r);
    return t;
}

K_FN struct k_terms spectral_moment_body(long i, const struct spectral_line_row *r)
{
    const double x = spectral_line_place(i, r);
    const double wx = spectral_line_weight(i, r) * x;
    struct k_terms t;
    t.a = wx * r->angle[i];
    t.b = wx * x;
    return t;
}

/* spectral_split, spectral_join: the same numbers as a split row (kdefs.h) and back; join
 * writes zeros around a row of out as well. */
struct spectral_split_args {
    const cplx *in; /* [rows][ld_spec] */
    double *out;    /* [rows][2][ld] */
    long ld;
    long ld_spec;
    const unsigned char *active;
};

struct spectral_split_row {
    const cplx *in;
    double *out;
    long ld;
};

K_FN struct spectral_split_row spectral_split_row(const struct spectral_split_args *a, long row)
{
    struct spectral_split_row r;
    r.in = a->in + row * a->ld_spec;
    r.out = a->out + 2 * row * a->ld;
    r.ld = a->ld;
    return r;
}

K_FN void spectral_split_body(long i, const struct spectral_split_row *r)
{
    split_set(r->out, r->ld, i, r->in[i]);
}

struct spectral_join_args {
    const double *in; /* [rows][2][ld] */
    cplx *out;        /* [rows][ld_spec] */
    struct k_zeros zeros;
    long ld;
    long ld_spec;
    const unsigned char *active;
};

struct spectral_join_row {
    const double *in;
    cplx *out;
    long ld;
};

K_FN struct spectral_join_row spectral_join_row(const struct spectral_join_args *a, long row)
{
    struct spectral_join_row r;
    r.in = a->in + 2 * row * a->ld;
    r.out = a->out + row * a->ld_spec;
    r.ld = a->ld;
    return r;
}

/* The zeros around a row's out; n elements between them. */
K_FN void spectral_join_zeros(const struct spectral_join_args *a, long row, long n,
                              struct k_share share)
{
    k_zeros_write(a->out + row * a->ld_spec, n, a->zeros, share);
}

K_FN void spectral_join_body(long i, const struct spectral_join_row *r)
{
    r->out[i] = split_get(r->in, r->ld, i);
}

/* spectral_quarter, of the same arguments: out = -i in, a quarter of a period late: the
 * imaginary part of the analytic signal of a real field has this spectrum. */
K_FN void spectral_quarter_body(long i, const struct spectral_join_row *r)
{
    const cplx z = split_get(r->in, r->ld, i);
    r->out[i] = cplx_make(z.i, -z.r);
}

/* spectral_late: the same of rows that are not split. */
struct spectral_late_args {
    const cplx *in; /* [rows][ld] */
    cplx *out;
    long ld;
    const unsigned char *active;
};

struct spectral_late_row {
    const cplx *in;
    cplx *out;
};

K_FN struct spectral_late_row spectral_late_row(const struct spectral_late_args *a, long row)
{
    struct spectral_late_row r;
    r.in = a->in + row * a->ld;
    r.out = a->out + row * a->ld;
    return r;
}

K_FN void spectral_late_body(long i, const struct spectral_late_row *r)
{
    const cplx z = r->in[i];
    r->out[i] = cplx_make(z.i, -z.r);
}

/* spectral_sums (strict): out[row][3] = sum |a|^2, sum |a|^2 / w, sum w |a|^2 over the bins
 * with w > 0 (energy, photon number and first moment up to constants), each compensated. */
struct spectral_sums_args {
    const cplx *a;
    const double *w; /* [rows][ld], angular frequency of each bin */
    double *out;     /* [rows][3] */
    long ld;
    const unsigned char *active;
};

struct spectral_sums_row {
    const cplx *a;
    const double *w;
};

K_FN struct spectral_sums_row spectral_sums_row(const struct spectral_sums_args *args, long row)
{
    struct spectral_sums_row r;
    r.a = args->a + row * args->ld;
    r.w = args->w + row * args->ld;
    return r;
}

/* A sum and the part that rounding took from it (Kahan 1965, Babuska 1969, Neumaier 1974). */
struct spectral_sum {
    double head, tail;
};

/* Exact only where the compiler may not reassociate or contract: strict units. */
K_FN void spectral_sum_add(struct spectral_sum *s, double x)
{
    const double head = s->head + x;
    const int head_larger = s->head >= x; /* all terms are >= 0 */
    s->tail += head_larger ? (s->head - head) + x : (x - head) + s->head;
    s->head = head;
}

K_FN void spectral_sums_body(long n, const struct spectral_sums_row *r, double *out)
{
    struct spectral_sum plain = {0.0, 0.0};
    struct spectral_sum over = {0.0, 0.0};
    struct spectral_sum times = {0.0, 0.0};
    for (long i = 0; i < n; i++) {
        const double w = r->w[i];
        if (w > 0.0) {
            const double power = r->a[i].r * r->a[i].r + r->a[i].i * r->a[i].i;
            spectral_sum_add(&plain, power);
            spectral_sum_add(&over, power / w);
            spectral_sum_add(&times, w * power);
        }
    }
    out[0] = plain.head + plain.tail;
    out[1] = over.head + over.tail;
    out[2] = times.head + times.tail;
}

#endif
