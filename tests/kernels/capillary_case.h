/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "kernels/base/data.h"
#include "kernels/base/params.h"
#include "kernels/kdefs.h"
#include "kernels/model.h"
#include "kernels/models/pulse/capillary_observe.h"

/* Test cases of model capillary: parameters by name, one member run to its end, its planes
 * kept. */

#define CAPILLARY_CASE_INDEX 1.45 /* of the wall of the small case */

struct capillary_case {
    struct params params;
    double positions[32];
    struct seed seed;
    const char *isa;
};

struct capillary_planes {
    long bins;
    long planes; /* reached */
    struct row_status row;
    cplx *field;                                 /* [planes][bins] */
    double (*observable)[CAPILLARY_OBSERVABLES]; /* [planes] */
    double *omega;                               /* [bins] */
};

/** Set what the table gives a default to its default. */
void capillary_defaults(struct params *p);

/**
 * The argon capillary of cases L, B0 and B1 of the reference program, see test_capillary_cases:
 * 125 um, 80 mbar, 3 m, 10 fs, 60 uJ at 800 nm, linear; saves both ends.
 */
void capillary_case_init(struct capillary_case *c);

/** Free a case. */
void capillary_case_clear(struct capillary_case *c);

/** Set a number, SI. */
void capillary_case_set(struct capillary_case *c, const char *name, double value);

/** Set a choice by its word; `none` of an optional parameter unsets it. */
void capillary_case_choose(struct capillary_case *c, const char *name, const char *word);

/** Take a value away. */
void capillary_case_unset(struct capillary_case *c, const char *name);

/** Set a list. */
void capillary_case_list(struct capillary_case *c, const char *name, const double *values,
                         int count);

/** One gas. */
void capillary_case_gas(struct capillary_case *c, const char *name);

/** A table for a parameter of kind data; `set` must stay. */
void capillary_case_data(struct capillary_case *c, const char *name,
                         const struct data_set *set);

/** Like capillary_case_init, half a metre, on a small grid: 300 nm to 2 um, 200 fs; a wall of
 * index CAPILLARY_CASE_INDEX. */
void capillary_case_small(struct capillary_case *c);

/** A radius that is linear between points. */
void capillary_case_taper(struct capillary_case *c, const double *z, const double *radius,
                          int count);

/** A pressure gradient over the length, Pa. */
void capillary_case_gradient(struct capillary_case *c, double from, double to);

/** Saved positions, at most 32. */
void capillary_case_planes(struct capillary_case *c, const double *positions, int count);

/** Run one member to its end; free with capillary_planes_free. Asserts that no call fails. */
struct capillary_planes capillary_case_run(const struct capillary_case *c);

/** The same, and assert that the end was reached. */
struct capillary_planes capillary_case_finish(const struct capillary_case *c);

/** Run it, and assert what it counts of each evaluation, 1 + 6 a trial, and 7 passes a trial of
 * the stepper. */
void capillary_case_check_counts(const struct capillary_case *c, int transforms, int passes);

/** Assert that the case is refused with a code and a line that holds both words, and that
 * nothing is left behind; free it. */
void capillary_case_refused(struct capillary_case *c, int code, const char *word,
                            const char *other);

/** Free what capillary_case_run gave. */
void capillary_planes_free(struct capillary_planes *p);

/** ||a - b|| / ||b||. */
double capillary_distance(const cplx *a, const cplx *b, long n);
