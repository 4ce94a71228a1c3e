/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "kernels/backend.h"
#include "kernels/step/rk45.h"

/*
 * Rows of one stepper that have nothing in common: y' = sum_j q_j(z) L_j y - i g |y|^2 y with
 * terms, loss, tolerance, norm, length, planes and schedule of their own. N is one launch for
 * all rows of a call, without a mask, as the transforms of a model are: it spoils what is free.
 * The integrals of terms that a row does not have are NaN.
 */

#define TEAM_BINS    29
#define TEAM_PAD     6 /* bins of N's argument beyond the state's */
#define TEAM_GROUP   2 /* states of a row at most */
#define TEAM_ROWS    6 /* at most */
#define TEAM_PLANES  3
#define TEAM_HISTORY 64
#define TEAM_ALL     (TEAM_GROUP * TEAM_BINS)

/* A member that a row is loaded with. */
struct team_member {
    int number; /* what its field and L are made from */
    int terms;
    bool lossy;
    double gain;   /* Re L, added to the first term's */
    double wiggle; /* q_0 = 1 + wiggle cos 20 z */
    double g;
    long dead; /* bins at the start without field and prefactor */
    double positions[TEAM_PLANES];
    struct step_control control;
    struct step_schedule schedule; /* borrowed */
    double deadline;
};

/* What became of a row. */
struct team_result {
    struct row_status st;
    struct step_record history[TEAM_HISTORY];
    long planes;                    /* that were read */
    cplx at[TEAM_PLANES][TEAM_ALL]; /* the state there */
    double along;                   /* sum of what `accepted` was told */
};

struct team_run {
    struct backend *be;
    struct stepper *stepper;
    int rows, group, terms;
    struct team_member member[TEAM_ROWS];
    struct row_status st[TEAM_ROWS];
    struct team_result result[TEAM_ROWS];
    struct run_control control;
    double at[TEAM_ROWS][8];        /* positions of a row's last call of path */
    long calls;                     /* of N */
    long stop_call;                 /* that asks for a stop, 0: none */
    long gathered;                  /* calls of gather */
    long told[TEAM_ROWS];           /* plane of each row that `settled` was told of last */
    long calls_told;                /* calls of N before it was */
    cplx left[TEAM_ROWS][TEAM_ALL]; /* the state then */
};

/** Member number 0 … 5 of a stepper whose rows have at most so many terms: 0 plain; 1 begins
 * with a step that is rejected; 2 overflows on its way; 3 is short and has a plane at its
 * start; 4 has a schedule; 5, whose L changes fast, has a step rejected on its way. */
struct team_member team_member_of(int number, int terms);

/** Eight given steps in place of what the member does. */
struct team_member team_member_eight(int number, int terms);

/** A backend by the environment (tests/kernels/lane.h) whose rows advance together. */
struct backend *team_backend(void);

/** Make a stepper, load nothing. */
void team_open(struct team_run *run, struct backend *be, int rows, int group, int terms);

/** Load a member into a row. */
void team_load(struct team_run *run, int row, const struct team_member *m);

/** Advance once and read the planes that rows stand on. */
void team_advance(struct team_run *run);

/** Advance until no row runs. */
void team_finish(struct team_run *run);

/** Free the stepper; not the backend. */
void team_close(struct team_run *run);

/** State of a row, [group][TEAM_BINS] on the host. */
void team_state(struct team_run *run, int row, cplx *out);

/** A member alone in a stepper of one row, to its end. */
void team_alone(struct backend *be, int group, int terms, const struct team_member *m,
                struct team_result *out);

/** Assert that two rows have equal outcomes, counters, steps and bits. */
void team_check_same(const struct team_result *a, const struct team_result *b,
                     const char *what);
