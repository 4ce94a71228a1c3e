/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef KERNELS_STEP_RK45_H
#define KERNELS_STEP_RK45_H

#include "kernels/kdefs.h"
#include "kernels/model.h"
#include "kernels/step/control.h"
#include "kernels/step/schedule.h"

/*
 * Dormand-Prince 5(4) in the interaction picture of the current step, first same as last, for a
 * batch of independent rows y' = L y + pre N(y, z), L diagonal (numerics.md §4, §5). Each row
 * has its own step, accept flag, plane and outcome.
 *
 * L may change along z: L(w, z) = sum_j q_j(z) L_j(w), L_j = lr_j + i li_j, with at most
 * STEP_TERMS terms. The stepper forms exp(sum_j L_j I_j) from the integrals I_j of q_j over the
 * distance from the step's start to a stage, which the system's `path` gives for all stages of
 * a step at once. A constant L is one term with q = 1 and I = c h, exactly.
 *
 * The state has n bins; the argument of N has `spectrum` >= n of them, the others zero: the
 * padding of a real field onto a finer grid in time. The response is cropped to the state's
 * bins.
 *
 * A row may hold a group of such states, the modes of one field, each with L and pre of its own
 * and bins as the others: they share the step, its outcome, the norm of its error (that of all
 * bins together), the q_j and one call of N, which is where they may act on each other. All
 * arrays of a row are then [group] after each other, and a pass covers the group.
 *
 * Between two evaluations of N there is one pass over the bins: it makes the slope out of N
 * (prefactor and rotation back), combines the slopes, propagates and writes the zeros around
 * (kernels/bodies/stage.h). A trial is 6 evaluations and RK45_TRIAL_PASSES such passes: entry,
 * 4 turns, last, close; a row that has made a step has 1 + 6 (accepted + rejected) evaluations.
 * With more than 2 terms, RK45_PHASE_PASSES more write the exponents of a trial's positions.
 * Where rows advance together one launch more takes accepted states over, and terms are those
 * of the stepper, not of the member.
 *
 * Bins where field and `pre` are zero at load stay zero: they are left out of all passes, at
 * the start of the row and in the longest run of them elsewhere; not where rows advance
 * together.
 */
#define RK45_TRIAL_PASSES 7
#define RK45_PHASE_PASSES 5

/* Terms of L at most. */
#define STEP_TERMS 8

/* States of a row at most. */
#define STEP_GROUP 32

/* Stage of the last evaluation of a trial. */
#define STEP_END 6

/* Where N is evaluated. */
struct step_place {
    double z;  /* m */
    int index; /* of this position in the row's last call of `path`; -1 without `path` */
    int stage; /* 0: of the state a row begins with; STEP_END: of the state that a trial leads
                  to; others between */
};

/* One evaluation of N for `rows` rows of the stepper from `row` on. Arrays begin at that row.
 */
struct step_call {
    long row;
    long rows;
    long group;
    int stage;                   /* that of all places */
    const bool *on;              /* [rows] which are evaluated; NULL: all */
    const unsigned char *active; /* [rows][group] the same for kernels, on the backend, or NULL.
                                    Kernels may run over the others too: their spectra are
                                    free, and what a model keeps of its last evaluation is not
                                    asked for while rows are advanced */
    const struct step_place *place; /* [rows] */
    cplx *spectrum;        /* [rows][group][ld] on the backend: the argument of N, and in its
                              place N, not yet multiplied by `pre` */
    long ld;               /* stepper_spectrum_stride(spectrum) */
    struct row_status *st; /* [rows] receive their transforms and passes */
};

/** Whether the i-th row of a call is evaluated. */
bool step_call_has(const struct step_call *call, long i);

/** A call row by row, for systems that compute one at a time. */
int step_call_each(const struct step_call *call, void *model,
                   int (*evaluate)(void *model, long row, struct step_place place,
                                   cplx *spectrum, struct row_status *st));

/* What the stepper calls of its model. All may be called from several threads for different
 * rows. */
struct step_system {
    void *model;
    /* N of the rows of a call in place of its argument. Rows that advance together (a backend
     * that is `apart`) come in one call, others one at a time. */
    int (*nonlinear)(void *model, const struct step_call *call);
    int transforms; /* FFTs of one call, for the count of a resumed row */
    /* Integrals of q_j over [z, z + dz[i]] into out[i][j], j below the member's terms, as
     * direct increments: never a difference of two integrals from elsewhere, and out[i] does
     * not depend on the other positions. Called once for all distinct positions of a step, and
     * again only when the loss over a step makes it shorter; before the first slope of a row
     * with the one position dz = 0. A rejected step asks anew from the same z. The model may
     * keep what else it needs at these positions (densities) until the row's next call: `place`
     * names them. NULL: one term, q = 1. */
    int (*path)(void *model, long row, double z, const double *dz, int count,
                double (*out)[STEP_TERMS]);
    /* The evaluations of a trial, or the first one of rows, are asked for: what they left on
     * the backend and `accepted` or the outcome of the rows needs comes to the host, for all
     * rows of the call in one transfer. NULL: nothing is left. */
    int (*gather)(void *model, const struct step_call *call);
    /* A trial of length h was accepted: its last evaluation is that of the new state, which
     * lies at st->progress and has the sum |y|^2 of all bins `square`. For integrals along the
     * way; may end the member with a reason. NULL: not wanted. stepper_field and stepper_split
     * may still give the state before: they are for when advance has returned. */
    void (*accepted)(void *model, long row, double h, double square, struct row_status *st);
    /* The rows of [row, row+rows) that are `on` stand on planes; their states are there. Called
     * where rows advance together, before the others go on: the model launches what a plane
     * needs and begins to fetch it. Afterwards a trial of the other rows is under way when
     * stepper_advance returns, which may write all scratch; it is judged in the next call.
     * NULL: no trial is begun before planes were read. */
    int (*settled)(void *model, long row, long rows, const bool *on);
};

/* What a stepper is made for. `backend->apart` says whether rows advance together: it is read
 * when the stepper is made. */
struct stepper_setup {
    struct backend *backend;
    long rows;
    long n;      /* bins of the state */
    long planes; /* saved positions of each row */
    struct step_system system;
    long spectrum; /* bins of the argument of N, >= n; 0: n */
    int terms;     /* most that a member has, <= STEP_TERMS; 0: 1 */
    int group;     /* states of a row, <= STEP_GROUP; 0: 1 */
};

/* A member for a row; host memory, copied. */
struct step_member {
    struct step_control control;
    const double *positions;       /* [planes], ascending */
    const cplx *field;             /* [group][n] state at 0 */
    const double *li;              /* [terms][group][n] Im L_j; L_j q_j in rad/m */
    const double *lr;              /* [terms][group][n] Re L_j; L_j q_j in 1/m; NULL: zero */
    const cplx *pre;               /* [group][n] */
    int terms;                     /* 0: 1 */
    struct step_schedule schedule; /* borrowed until the row is loaded again; count 0: the steps
                                      are chosen. Saved planes are where steps end. */
};

struct stepper;

/** Make a stepper; all memory of all rows is allocated here. */
int stepper_create(const struct stepper_setup *setup, struct stepper **out);

/** Free a stepper; NULL is legal. */
void stepper_destroy(struct stepper *stepper);

/**
 * Put a member into a row and reset its status (struct row_status). A field that is not finite
 * makes the row ROW_FAILED.
 */
int stepper_load(struct stepper *stepper, long row, const struct step_member *member,
                 struct row_status *st);

/**
 * Continue a row that was loaded from a state of stepper_save: field, first slope, controller,
 * counters.
 *
 * @return 0, or ERR_ARGUMENT: not a state of this version and size
 */
int stepper_resume(struct stepper *stepper, long row, const struct state_in *state,
                   struct row_status *st);

/**
 * Give a loaded row a schedule without positions, as step_member.schedule. For comparisons of
 * class R.
 *
 * @param lengths  [count] m, borrowed until the row is loaded again
 */
void stepper_set_schedule(struct stepper *stepper, long row, const double *lengths, long count);

/**
 * Each running row to its next plane (model_ops.advance has the rules). With several rows and
 * threads, the rows are spread over the threads; otherwise the threads share a row's passes.
 * Rows that advance together, on a backend that is `apart`, return as soon as one of them
 * stands on its next plane or ended; the others go on at the next call, or with
 * step_system.settled at once: their trial is then under way. Nothing of it shows before the
 * next call, which waits for it first; every other function of a stepper may be called between.
 *
 * @return 0, or a run error. A member that ends is reported in st[rows]. Does not allocate.
 */
int stepper_advance(struct stepper *stepper, struct run_control *control,
                    struct row_status *st);

/**
 * State of a row, between steps.
 *
 * @param out  receives [group] rows [spectrum] on the backend, zero beyond n, valid until the
 *             row is advanced; the caller may overwrite them
 */
int stepper_field(struct stepper *stepper, long row, cplx **out);

/** Those rows as they are, for what the caller wants to keep there until the row is advanced.
 */
cplx *stepper_room(const struct stepper *stepper, long row);

/** Elements from one row of `spectrum` bins of a group to the next. */
long stepper_spectrum_stride(long spectrum);

/** Elements from the real to the imaginary parts of a split row of n bins. */
long stepper_split_stride(long n);

/** State of a row, between steps: the split row [2][*ld] on the backend, to read only. */
const double *stepper_split(const struct stepper *stepper, long row, long *ld);

/** Index of the plane that a row has reached, -1 before the first. */
long stepper_plane(const struct stepper *stepper, long row);

/** Bytes of stepper_save for n bins, all of a group. */
size_t stepper_state_bytes(long n);

/** Bytes of one row of n bins, `spectrum` and `terms` as in struct stepper_setup; a group takes
 * at most as many times that. */
size_t stepper_row_bytes(long n, long spectrum, int terms);

/**
 * A state for stepper_resume of a row that stands on a plane, out of its field alone: slope and
 * step length are found anew, counters begin at 0.
 *
 * @param n      bins, all of a group
 * @param z      position of the plane, as the row's member has it
 * @param field  [n]
 */
int stepper_state_at(long n, long plane, double z, const cplx *field, struct state_out *out);

/** All that a resume needs of a row, between steps. */
int stepper_save(struct stepper *stepper, long row, struct state_out *out);

#endif
