/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "kernels/base/params.h"
#include "kernels/kdefs.h"
#include "kernels/model.h"

/* Test cases of model gnlse: parameters by name, one member run to its end, its planes kept. */

struct gnlse_case {
    struct params params;
    double positions[32];
    struct seed seed;
    const double *schedule; /* [scheduled] step lengths to replay, NULL: none */
    long scheduled;
    const char *isa;
    int threads;
};

struct gnlse_planes {
    long n;
    long planes; /* reached */
    struct row_status row;
    struct step_record *history;
    cplx *field;                           /* [planes][n] */
    double (*observable)[OBSERVABLES_MAX]; /* [planes] */
    double *omega;                         /* [n] */
    double *Omega;                         /* [n] */
    double *t;                             /* [n] */
};

/** A small lossless case without Raman and self-steepening; saves both ends. */
void case_init(struct gnlse_case *c);

/** Free a case. */
void case_clear(struct gnlse_case *c);

/** Set a parameter, SI. */
void case_set(struct gnlse_case *c, const char *name, double value);

/** Take a value away: `none`. */
void case_unset(struct gnlse_case *c, const char *name);

/** Dispersion coefficients from beta2 on. */
void case_betas(struct gnlse_case *c, const double *betas, int count);

/** Saved positions, at most 32. */
void case_planes(struct gnlse_case *c, const double *positions, int count);

/** Raman of Blow and Wood with the textbook's numbers for silica. */
void case_raman(struct gnlse_case *c);

/** The supercontinuum of Dudley et al., Rev. Mod. Phys. 78, 1135 (2006), Fig. 3. */
void case_dudley(struct gnlse_case *c, double rtol);

/** Run one member to its end; free with planes_free. Asserts that no call fails. */
struct gnlse_planes case_run(const struct gnlse_case *c);

/** Free what case_run gave and assert that nothing else is left. */
void planes_free(struct gnlse_planes *p, struct gnlse_case *c);

/** A(t_j) = sum_k a_k exp(+2 pi i j k / n) by its definition, [n]. Free with free. */
cplx *case_samples(const cplx *spectrum, long n);

/** a_k = sum_j A_j exp(-2 pi i j k / n) / n by its definition, [n]. Free with free. */
cplx *case_spectrum(const cplx *samples, long n);

/** ||a - b|| / ||b||. */
double case_distance(const cplx *a, const cplx *b, long n);
