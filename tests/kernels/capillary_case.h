/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "kernels/base/params.h"
#include "kernels/kdefs.h"
#include "kernels/model.h"
#include "kernels/models/pulse/capillary_observe.h"

/* Test cases of model capillary: parameters by name, one member run to its end, its planes
 * kept. */

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

/** Saved positions, at most 32. */
void capillary_case_planes(struct capillary_case *c, const double *positions, int count);

/** Run one member to its end; free with capillary_planes_free. Asserts that no call fails. */
struct capillary_planes capillary_case_run(const struct capillary_case *c);

/** Free what capillary_case_run gave. */
void capillary_planes_free(struct capillary_planes *p);

/** ||a - b|| / ||b||. */
double capillary_distance(const cplx *a, const cplx *b, long n);
