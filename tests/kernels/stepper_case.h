/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "kernels/backend.h"
#include "kernels/step/rk45.h"

/* Small systems with known solutions for the stepper. */

#define CASE_BINS    32
#define CASE_PLANES  16
#define CASE_HISTORY 4096

/* What the system of a case says that a call of its N costs. It also counts one pass. */
#define CASE_TRANSFORMS 3

enum case_kind {
    CASE_KERR,   /* y' = L y - i g |y|^2 y, bin by bin */
    CASE_COUPLED /* y' = L y + i g (partner), bins 2m and 2m + 1 */
};

struct stepper_case {
    enum case_kind kind;
    double g;
    double lr;       /* of all bins */
    double scale;    /* of the initial field */
    long quiet_from; /* bins [quiet_from, quiet_to) have no field and no prefactor, */
    long quiet_to;   /* but an N; both even */
    long rows;
    int threads;
    long planes;
    double positions[CASE_PLANES];
    struct step_control control;
    struct step_schedule schedule; /* borrowed; count 0: the steps are chosen */
    long long poison_call;         /* the call of N that returns NaN, 0: none */
    long poison_row;               /* in this row */
    /* Sees each argument of N of row 0; NULL: nobody does. */
    void (*observe)(void *observer, const cplx *argument);
    void *observer;
    long long stop_call; /* the call of N that asks for a stop, 0: none */
};

struct stepper_run {
    struct stepper_case setup;
    struct backend *be;
    struct stepper *stepper;
    struct row_status *st;       /* [rows] */
    cplx *states;                /* [rows][CASE_BINS] of stepper_state_of */
    long long *calls;            /* [rows] of N, counted by the system itself */
    struct step_record *history; /* [rows][CASE_HISTORY] */
    struct run_control control;
    bool leaked; /* N was given something in a quiet bin */
};

/** Length 1, one plane at its end, rtol 1e-8, g = 3, lr = 0. */
struct stepper_case stepper_case_default(enum case_kind kind);

/** Make the stepper and load the case into every row. */
void stepper_open(struct stepper_run *run, const struct stepper_case *c);

/** Load a case of as many rows and planes into every row. */
void stepper_fill(struct stepper_run *run, const struct stepper_case *c);

/** Advance until no row runs, clearing planes as they come. */
void stepper_finish(struct stepper_run *run);

/** Free everything. */
void stepper_close(struct stepper_run *run);

/** State of a row on the host, until the next call for the same row. */
const cplx *stepper_state_of(struct stepper_run *run, long row);

/** Initial value of a bin. */
cplx stepper_start(const struct stepper_case *c, long bin);

/** Im L of a bin. */
double stepper_li(long bin);

/** Exact solution at z. */
void stepper_exact(const struct stepper_case *c, double z, cplx *y);

/** ||state - exact|| / ||exact|| of a row at z. */
double stepper_error(struct stepper_run *run, long row, double z);
