/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef KERNELS_BODIES_BALANCE_H
#define KERNELS_BODIES_BALANCE_H

#include "kernels/bodies/stage.h"
#include "kernels/bodies/vmath.h"
#include "kernels/kdefs.h"

/*
 * What is kept account of along the way, from a state and the step that led to it: the
 * strongest sample, and what absorbers take.
 *
 *   balance_square     field^2 of real samples: their sum and the largest
 *   balance_power      |field|^2 of complex ones
 *   balance_edge       lost = rate field, and the sum of lost field
 *   balance_edge_wave  the same of complex samples, and the sum of Re(lost conj(field))
 *   balance_loss       what L takes over a step, of the first four terms
 *   balance_loss_all   the same of all terms
 */
struct balance_square_args {
    const double *field; /* [rows][ld] */
    double *out;         /* [rows][2] */
    long ld;
    const unsigned char *active; /* [rows], NULL: all */
};

struct balance_square_row {
    const double *field;
};

K_FN struct balance_square_row balance_square_row(const struct balance_square_args *a, long row)
{
    struct balance_square_row r;
    r.field = a->field + row * a->ld;
    return r;
}

K_FN double balance_square_body(long i, const struct balance_square_row *r)
{
    return r->field[i] * r->field[i];
}

struct balance_power_args {
    const cplx *field; /* [rows][ld] */
    double *out;       /* [rows][2] */
    long ld;
    const unsigned char *active;
};

struct balance_power_row {
    const cplx *field;
};

K_FN struct balance_power_row balance_power_row(const struct balance_power_args *a, long row)
{
    struct balance_power_row r;
    r.field = a->field + row * a->ld;
    return r;
}

K_FN double balance_power_body(long i, const struct balance_power_row *r)
{
    return cplx_abs2(r->field[i]);
}

struct balance_edge_args {
    const double *field; /* [rows][ld] */
    const double *rate;
    double *lost;
    double *out; /* [rows] */
    long ld;
    const unsigned char *active;
};

struct balance_edge_row {
    const double *field, *rate;
    double *lost;
};

K_FN struct balance_edge_row balance_edge_row(const struct balance_edge_args *a, long row)
{
    struct balance_edge_row r;
    r.field = a->field + row * a->ld;
    r.rate = a->rate + row * a->ld;
    r.lost = a->lost + row * a->ld;
    return r;
}

K_FN struct k_terms balance_edge_body(long i, const struct balance_edge_row *r)
{
    const double x = r->field[i];
    const double lost = r->rate[i] * x;
    struct k_terms t;
    r->lost[i] = lost;
    t.a = lost * x;
    return t;
}

struct balance_edge_wave_args {
    const cplx *field;  /* [rows][ld] */
    const double *rate; /* [rows][ld_real] */
    cplx *lost;         /* [rows][ld] */
    double *out;        /* [rows] */
    long ld;
    long ld_real;
    const unsigned char *active;
};

struct balance_edge_wave_row {
    const cplx *field;
    const double *rate;
    cplx *lost;
};

K_FN struct balance_edge_wave_row balance_edge_wave_row(const struct balance_edge_wave_args *a,
                                                        long row)
{
    struct balance_edge_wave_row r;
    r.field = a->field + row * a->ld;
    r.rate = a->rate + row * a->ld_real;
    r.lost = a->lost + row * a->ld;
    return r;
}

K_FN struct k_terms balance_edge_wave_body(long i, const struct balance_edge_wave_row *r)
{
    const cplx u = r->field[i];
    const double rate = r->rate[i];
    struct k_terms t;
    r->lost[i] = cplx_scale(rate, u);
    t.a = rate * cplx_abs2(u);
    return t;
}

/*
 * Energy that L takes over a step. A bin with the loss x = -2 Re int L loses, of A = |state|^2
 * at the start and B = |next|^2 at the end, 1 - exp(-x) of A and what is due of B - A exp(-x),
 * which the nonlinear terms have brought evenly along the step:
 *
 *   A (1 - e^-x) + (B - A e^-x) (x/(1 - e^-x) - 1) = x B + g(x) (A - B), g = 1 - x/(e^x - 1),
 *
 * exact for a linear field however long the step, the trapezoidal rule where the loss is small.
 * Terms that a row lacks have path 0.
 */
struct balance_loss_args {
    const double *state; /* [rows][2][ld] */
    const cplx *next;    /* [rows][ld_spec] */
    const double
        *loss[STAGE_TERMS]; /* [rows][ld_real] Re L_j; of balance_loss the first four */
    const double *path;     /* [rows][STAGE_TERMS] integrals over the step */
    double *out;            /* [rows] */
    long ld;
    long ld_spec;
    long ld_real;
    const unsigned char *active;
};

struct balance_loss_row {
    const double *state;
    const cplx *next;
    const double *loss[STAGE_TERMS];
    double path[STAGE_TERMS];
    long ld;
};

K_FN struct balance_loss_row balance_loss_row(const struct balance_loss_args *a, long row)
{
    struct balance_loss_row r;
    r.state = a->state + 2 * row * a->ld;
    r.next = a->next + row * a->ld_spec;
    for (int j = 0; j < STAGE_TERMS; j++) {
        r.loss[j] = k_row_real(a->loss[j], row * a->ld_real);
        r.path[j] = a->path[row * STAGE_TERMS + j];
    }
    r.ld = a->ld;
    return r;
}

/* g near 0: its Taylor series (Bernoulli numbers), whose next term at 1/4 is 4e-19 of it. */
K_FN double balance_early_near(double x)
{
    const double s = x * x;
    double p = 691.0 / 1307674368000.0 * s - 1.0 / 47900160.0;
    p = p * s + 1.0 / 1209600.0;
    p = p * s - 1.0 / 30240.0;
    p = p * s + 1.0 / 720.0;
    p = p * s - 1.0 / 12.0;
    return x * (0.5 + x * p);
}

/* g. Of a large loss only m = expm1(-|x|) is known well: x/(e^x - 1) is -x (1 + m)/m, and of a
 * gain -|x|/m. */
K_FN double balance_early(double x)
{
    const double size = __builtin_fabs(x);
    const double m = vmath_expm1_negative(-size);
    const double far = 1.0 + size * (x > 0.0 ? 1.0 + m : 1.0) / m;
    return size < 0.25 ? balance_early_near(x) : far;
}

K_FN struct k_terms balance_loss_term(long i, const struct balance_loss_row *r, double integral)
{
    const double x = -2.0 * integral;
    const double start = cplx_abs2(split_get(r->state, r->ld, i));
    const double end = cplx_abs2(r->next[i]);
    struct k_terms t;
    t.a = x * end + balance_early(x) * (start - end);
    return t;
}

K_FN double balance_integral(long i, const struct balance_loss_row *r)
{
    return ((r->loss[0][i] * r->path[0] + r->loss[1][i] * r->path[1])
            + r->loss[2][i] * r->path[2])
           + r->loss[3][i] * r->path[3];
}

K_FN struct k_terms balance_loss_body(long i, const struct balance_loss_row *r)
{
    return balance_loss_term(i, r, balance_integral(i, r));
}

K_FN struct k_terms balance_loss_all_body(long i, const struct balance_loss_row *r)
{
    const double few = balance_integral(i, r);
    return balance_loss_term(i, r,
                             (((few + r->loss[4][i] * r->path[4]) + r->loss[5][i] * r->path[5])
                              + r->loss[6][i] * r->path[6])
                                 + r->loss[7][i] * r->path[7]);
}

#endif
