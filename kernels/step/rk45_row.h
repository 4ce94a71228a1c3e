/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef KERNELS_STEP_RK45_ROW_H
#define KERNELS_STEP_RK45_ROW_H

#include <stdint.h>

#include "kernels/backend.h"
#include "kernels/step/rk45.h"
#include "kernels/step/tableau.h"

/*
 * Inside of the stepper: what rk45.c, rk45_team.c, rk45_trial.c and rk45_state.c share.
 *
 * Rows are advanced in *teams*, a trial of all rows of a team at once. Where the host reaches
 * the backend's memory a team is one row. On a backend that is `apart` one team holds them all:
 * it is *joint*. Its rows have their places in arrays, so that a launch covers them; a mask
 * says which take part. A row of it must not depend on who its neighbours are: its passes go
 * over all bins, with the terms and the loss that any row may have.
 */

#define RK45_ORDER  5
#define RK45_STAGES TABLEAU_STAGES

/* Split rows of a member, one for each state of its group. The second slope is free when the
 * sixth is made and receives the partial error, the third the new state, the fourth the first
 * slope of the next step. The sixth is not stored. */
enum step_slot { K1, K2, K3, K4, K5, STATE, FACTOR, PREFACTOR, STEP_SLOTS };

#define STEP_SPANS 2
#define STEP_GAPS  2

/* Terms that the passes propagate themselves; with more, their exponents are rows. */
#define STEP_INLINE_TERMS 2

/* Scalars of a trial, numbers of one row; those of a team are uploaded together. Each is an
 * array [rows] or, with a width, [rows][width]. */
enum step_scalar {
    SCALAR_ENTRY, /* of stage_entry */
    SCALAR_HB,    /* of stage_turn 1 …, width STAGE_SLOPES each */
    SCALAR_CH = SCALAR_HB + (RK45_STAGES - 1) * STAGE_SLOPES, /* of each stage: integral of the
                      first term; 1 where the exponents are rows */
    SCALAR_CH2 = SCALAR_CH + RK45_STAGES,                     /* of the second */
    SCALAR_PATH = SCALAR_CH2 + RK45_STAGES, /* of each stage, width STEP_TERMS */
    SCALAR_LAST_HB = SCALAR_PATH + RK45_STAGES * STEP_TERMS, /* width STEP_LAST_SLOPES */
    SCALAR_LAST_HE = SCALAR_LAST_HB + STEP_LAST_SLOPES,      /* the same */
    SCALAR_E7 = SCALAR_LAST_HE + STEP_LAST_SLOPES,
    SCALAR_RTOL,
    SCALAR_ATOL,
    STEP_SCALARS
};

/* Masks of a joint team, [rows][group] each, behind its scalars. */
enum step_mask {
    MASK_ACTIVE, /* the rows of the pass under way */
    MASK_TAKEN,  /* rows whose new state is to become their state */
    STEP_MASKS
};

/* Sums of a span: |y'|^2, |e|^2, and the two of step_bin. Each kind is [rows][group], the two
 * are one kind [rows][group][2]. */
enum step_sum { SUM_STATE, SUM_ERROR, SUM_BINS, SUM_TOP, STEP_SUMS };

/* Bins [begin, end), begin a multiple of 8. */
struct step_span {
    long begin, end;
};

/* Rows [first, first + rows) of the stepper and their memory. */
struct step_team {
    long first, rows;
    bool joint;
    /* on the backend */
    double *slot[STEP_SLOTS]; /* [rows][group][2][ld] */
    cplx *spectrum;           /* [rows][group][ld_spec] argument of N and N itself; free between
                                 steps */
    double *li[STEP_TERMS];   /* [rows][group][ld] */
    double *lr[STEP_TERMS];
    double *phase;   /* exponents at a position, more than STEP_INLINE_TERMS only: Im */
    double *loss;    /* Re */
    double *scalars; /* [STEP_SCALARS] of [rows]; joint: then the masks */
    double *sums;    /* [STEP_SPANS][STEP_SUMS] of [rows][group] */
    /* on the host */
    double *block;  /* as `scalars` */
    double *found;  /* as `sums` */
    bool *on;       /* [rows] of the pass under way */
    bool taking;    /* some row's new state waits to become its state */
    bool under_way; /* the trial of the rows that are `on` was launched and waits to be judged
                       in the next call; joint only. It writes spectra, all slots but STATE, K1
                       and the tables, and what the model has as scratch. */
    long moving;    /* rows that ran then */
    struct step_span span[STEP_SPANS]; /* the bins that may differ from zero */
    int spans;
    struct step_span gap[STEP_GAPS]; /* the others, up to the length of the spectrum */
    int gaps;
    int terms;  /* of the passes */
    bool lossy; /* some lr is given; joint: may be */
};

/* Where one row stands. */
struct step_row {
    struct step_team *team;
    int terms;
    bool have_slope; /* slot K1 holds the slope of the state */
    struct step_control control;
    struct step_plan plan;
    double guard;                  /* longest step that a constant L allows */
    double most_phase[STEP_TERMS]; /* largest |li_j| */
    double most_loss[STEP_TERMS];  /* largest |lr_j| */
    double z;
    double y2;   /* sum |y|^2 */
    long next;   /* plane that is reached next */
    bool landed; /* on a plane that the model was not told of yet; joint only */
    long long trials;
    long long rejected;
    double *positions; /* [planes] */
    struct step_schedule schedule;
    long done; /* steps of it */
};

/* The positions of a trial and the integrals of the terms up to them. */
struct trial_path {
    double h;
    double dz[RK45_STAGES]; /* c_i h, each formed once */
    double integral[RK45_STAGES][STEP_TERMS];
    bool mild; /* no exponent's real part is above VMATH_MILD */
};

/* What a trial found. */
struct trial_result {
    double err;  /* error over tolerance */
    double e2;   /* sum |e|^2, or of the first slope's squares */
    double new2; /* sum |y'|^2 */
    double bins; /* of step_bin, where the norm asks for it */
    double top;
};

/* What evaluations and passes count in a status. */
struct row_effort {
    long long rhs_calls, transforms, passes, bundles;
};

/* The trial under way of a row. */
struct row_trial {
    struct row_effort effort; /* of one that is judged in a later call: counted then */
    struct trial_path path;
    bool lands; /* on the next plane */
    struct trial_result result;
};

/* The rows and what they share. */
struct stepper {
    struct stepper_setup setup;
    long ld;      /* of split and real rows */
    long ld_spec; /* of spectra */
    /* on the backend: */
    double *reals; /* of each team [real rows of setup.terms][rows][group][ld] */
    cplx *spectra; /* [rows][group][ld_spec] */
    double *sums;  /* [rows][STEP_SPANS][STEP_SUMS group]: one cache line a state */
    double *scalars;
    /* on the host: */
    double *blocks;
    double *found;
    bool *on;                 /* [rows] */
    struct step_place *place; /* [rows] */
    struct row_trial *trial;  /* [rows] */
    double *positions;        /* [rows][planes] */
    double *zeros;            /* [n], for tables that a row of a joint team lacks; else NULL */
    struct step_row *row;
    struct step_team *team;
    long teams;
};

/** Bins of a row, all of its group. */
long step_bins(const struct stepper *s);

/** A row's part of a slot. */
double *step_slot_of(const struct stepper *s, long r, enum step_slot slot);
/** Of a table of li or lr. */
double *step_real_of(const struct stepper *s, long r, double *rows);
/** Of the spectra. */
cplx *step_spectrum_of(const struct stepper *s, long r);

/** Where the scalars of a team begin that are named, in `scalars` or in `block`. */
static inline double *step_scalars_at(const struct step_team *team, double *block, int scalar)
{
    return block + team->rows * scalar;
}

/** Scalars of a trial, and the masks of a joint team, to the backend in one copy. */
int step_send_trial(struct stepper *s, struct step_team *team);
/** The mask of a pass alone; a team that is not joint has none. */
int step_send_mask(struct stepper *s, struct step_team *team);

/** A mask for kernels; NULL unless the team is joint. */
const unsigned char *step_mask_of(const struct stepper *s, const struct step_team *team,
                                  enum step_mask mask);

/** The new state of a row, in K3, and its slope, in K4, become those of the row: of a joint
 * team at the next step_take. */
void step_accept(struct stepper *s, long r);

/** Do so for the rows that wait for it; `sent`: their mask is on the backend already. */
int step_take(struct stepper *s, struct step_team *team, bool sent);

/** Numbers of a row, [group][n], to its spectra. */
int step_upload(struct stepper *s, long r, const cplx *from);
/** And out of them. */
int step_download(struct stepper *s, long r, cplx *to);

/** A slot as a spectrum, into `spectrum`. */
int step_join(struct stepper *s, long r, enum step_slot slot);
/** A slot out of `spectrum`. */
int step_split(struct stepper *s, long r, enum step_slot slot);

/** The slopes of the states of the rows that are `on` into K1; their sums into result.e2. */
int step_first_slopes(struct stepper *s, struct step_team *team, struct row_status *st);

/**
 * The positions of a trial of length h, into the row's `trial`.
 *
 * @param limit  receives by how much the step is too long for the range of exp(L h): <= 1 is
 *               well, NaN when an integral is not finite
 */
int step_path(struct stepper *s, long r, double h, struct row_status *st, double *limit);

/** Launch a trial step of the rows that are `on`: their new states will be in K3, the slopes in
 * K4. Waits for nothing. */
int step_trial_launch(struct stepper *s, struct step_team *team, struct row_status *st);

/** Wait for it: what it found of the rows that are `on`, which may have become fewer. */
int step_trial_finish(struct stepper *s, struct step_team *team, struct row_status *st);

/** A row gets another state or schedule: what a trial under way finds of it is not asked for.
 */
void step_forget(struct stepper *s, long r);

#endif
