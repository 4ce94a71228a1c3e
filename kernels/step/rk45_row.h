/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef KERNELS_STEP_RK45_ROW_H
#define KERNELS_STEP_RK45_ROW_H

#include <stdint.h>

#include "kernels/backend.h"
#include "kernels/step/rk45.h"

/* Inside of the stepper: what rk45.c, rk45_trial.c and rk45_state.c share. */

#define RK45_ORDER  5
#define RK45_STAGES 5 /* between the first slope and the last */

/* Split rows of a member, one for each state of its group. The second slope is free when the
 * sixth is made and receives the partial error, the third the new state, the fourth the first
 * slope of the next step. The sixth is not stored. */
enum step_slot { K1, K2, K3, K4, K5, STATE, FACTOR, PREFACTOR, STEP_SLOTS };

#define STEP_SPANS 2
#define STEP_GAPS  2

/* Terms that the passes propagate themselves; with more, their exponents are rows. */
#define STEP_INLINE_TERMS 2

/* Scalars of one trial, uploaded together; pointers into the backend's copy go to the kernels.
 */
struct trial_scalars {
    double hb[RK45_STAGES][STAGE_SLOPES];
    double ch[RK45_STAGES];  /* integral of the first term; 1 where the exponents are rows */
    double ch2[RK45_STAGES]; /* of the second */
    double path[RK45_STAGES][STEP_TERMS];
    double last_hb[STEP_LAST_SLOPES];
    double last_he[STEP_LAST_SLOPES];
    double e7;
    double rtol;
    double atol;
};

/* Bins [begin, end), begin a multiple of 8. */
struct step_span {
    long begin, end;
};

/* One row: its memory on the backend and where it stands. */
struct step_row {
    /* rows on the backend */
    double *slot[STEP_SLOTS];
    cplx *spectrum; /* argument of N and N itself; free between steps */
    double *li[STEP_TERMS];
    double *lr[STEP_TERMS];
    double *phase;   /* exponents at a position, more than STEP_INLINE_TERMS only: Im */
    double *loss[2]; /* Re, of two positions in turns */
    struct trial_scalars *scalars;
    double *sums; /* [STEP_SPANS][STEP_SUMS group] */
    /* on the host */
    struct step_span span[STEP_SPANS]; /* the bins that may differ from zero */
    int spans;
    struct step_span gap[STEP_GAPS]; /* the others, up to the length of the spectrum */
    int gaps;
    int terms;
    bool lossy;      /* some lr is given */
    bool have_slope; /* slot[K1] holds the slope of the state */
    struct step_control control;
    struct step_plan plan;
    double guard;                  /* longest step that a constant L allows */
    double most_phase[STEP_TERMS]; /* largest |li_j| */
    double most_loss[STEP_TERMS];  /* largest |lr_j| */
    double z;
    double y2; /* sum |y|^2 */
    long next; /* plane that is reached next */
    long long trials;
    long long rejected;
    double *positions; /* [planes] */
    struct step_schedule schedule;
    long done; /* steps of it */
};

/* Sums of a span: |y'|^2, |e|^2, and the two of step_bin. Each kind is [group], the two are one
 * kind [group][2]. */
enum step_sum { SUM_STATE, SUM_ERROR, SUM_BINS, SUM_TOP, STEP_SUMS };

/* The rows and what they share. */
struct stepper {
    struct stepper_setup setup;
    long ld;       /* of split and real rows */
    long ld_spec;  /* of spectra */
    double *reals; /* on the backend: [rows][real rows of setup.terms][group][ld] */
    cplx *spectra; /* [rows][group][ld_spec] */
    double *sums;  /* [rows][STEP_SPANS][STEP_SUMS group]: one cache line a state */
    struct trial_scalars *scalars;
    double *positions; /* [rows][planes] */
    struct step_row *row;
};

/* What a trial found. */
struct trial_result {
    double err;  /* error over tolerance */
    double e2;   /* sum |e|^2 */
    double new2; /* sum |y'|^2 */
    double bins; /* of step_bin, where the norm asks for it */
    double top;
};

/** The slope of the state into K1, and its norm. */
int step_first_slope(struct stepper *s, long r, struct row_status *st, double *norm);

/** Bins of a row, all of its group. */
long step_bins(const struct stepper *s);

/** Numbers of a row, [group][n], to its spectra. */
int step_upload(struct stepper *s, long r, const cplx *from);
/** And out of them. */
int step_download(struct stepper *s, long r, cplx *to);

/** A slot as a spectrum, into `spectrum`. */
int step_join(struct stepper *s, long r, enum step_slot slot);
/** A slot out of `spectrum`. */
int step_split(struct stepper *s, long r, enum step_slot slot);

/* The positions of a trial and the integrals of the terms up to them. */
struct trial_path {
    double h;
    double dz[RK45_STAGES]; /* c_i h, each formed once */
    double integral[RK45_STAGES][STEP_TERMS];
    bool mild; /* no exponent's real part is above VMATH_MILD */
};

/**
 * The positions of a trial of length h.
 *
 * @param limit  receives by how much the step is too long for the range of exp(L h): <= 1 is
 *               well, NaN when an integral is not finite
 */
int step_path(struct stepper *s, long r, double h, struct row_status *st,
              struct trial_path *out, double *limit);

/** One trial step: the new state is in K3, its slope in K4. */
int step_trial(struct stepper *s, long r, const struct trial_path *path, struct row_status *st,
               struct trial_result *out);

#endif
