/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <stdbool.h>

#include "kernels/backend.h"
#include "kernels/step/tableau.h"

/*
 * Trial steps of a batch, made of the kernels and transforms that a mode-averaged real field
 * takes (numerics.md §5, §6), without the host's step control: Dormand-Prince 5(4) in the
 * interaction picture with fixed lengths, each row its own. A pulse in helium, as in
 * bench/rdw_case.h, at constant pressure, 4 mm a step; the energy grows from row to row. Each
 * trial is taken.
 */

enum device_rule { DEVICE_KERR, DEVICE_TRAPEZOID, DEVICE_BAND };

/* Whether the states of all rows come to the host after each trial: before the next one begins,
 * or beside it. */
enum device_planes { PLANES_STAY, PLANES_DOWNLOAD, PLANES_FETCH };

struct device_case {
    long rows;
    long points; /* fine samples, a power of two; 50 as apart, up to 16384, else further */
    enum device_rule rule;
    bool recorded; /* launches are recorded once and replayed */
    bool each;     /* scalars of a stage are sent by a copy of their own, as many as arrays */
    enum device_planes planes;
    bool wrong; /* a thousandth of a step's last slope too much, for tests of what compares */
};

/* Split rows of the batch. */
enum device_slot {
    SLOT_K1,
    SLOT_K2,
    SLOT_K3,
    SLOT_K4,
    SLOT_K5,
    SLOT_Y,
    SLOT_F,
    SLOT_PRE,
    DEVICE_SLOTS
};

#define DEVICE_STAGES TABLEAU_STAGES
#define DEVICE_PIECES 40 /* arrays of scalars of a trial, at most */

/* A piece of the block of scalars: [rows][width]. */
struct device_piece {
    long width;
    long at; /* in the block */
};

struct device_run {
    struct device_case c;
    struct backend *be;
    long bins;    /* of the state */
    long ld;      /* of split and real rows of bins */
    long ld_spec; /* of spectra */
    long ld_real; /* of samples */
    long ld_pad;  /* of the column's rows */
    struct fft *forward, *backward;
    double *slot[DEVICE_SLOTS];
    double *li, *lr;
    cplx *spectrum;
    double *samples, *window, *spare, *scratch, *taps;
    struct column_rate *rate;
    double *scalars;      /* of a trial, on the device */
    double *scalars_here; /* and on the host */
    long scalars_count;
    struct device_piece piece[DEVICE_PIECES];
    double *sums; /* [2][rows] |y|^2 and |e|^2 of the last trial, then the column's
                     [rows][COLUMN_SUMS] */
    double *sums_here;
    double *states_here; /* [rows][2][ld], of PLANES_DOWNLOAD */
    struct fetch *fetch; /* of PLANES_FETCH */
    bool fetching;
    int side;                       /* taps a side */
    struct recording *recording[2]; /* of even and of odd trials: states change places */
    int odd;
};

/** Make a batch with its first slopes. @return 0 or a run error */
int device_create(const struct device_case *c, struct backend *be, struct device_run *out);

/** Free. */
void device_clear(struct device_run *run);

/** Fill the tables, rates and states of a batch whose memory is there; part of device_create.
 */
int device_load(struct device_run *run);

/** N of the states, into `spectrum`: for a comparison of one evaluation. */
int device_evaluate(struct device_run *run);

/** A trial: scalars there, 6 evaluations and 7 passes, sums back. */
int device_trial(struct device_run *run);

/** The copies of a trial alone. */
int device_copies(struct device_run *run);

/** The transforms of a trial alone: the floor. */
int device_floor(struct device_run *run);

/** The passes of a trial over the bins alone. */
int device_passes(struct device_run *run);

/** The fields of the states as samples; then the passes of a trial over them alone. */
int device_samples(struct device_run *run);
int device_response(struct device_run *run);

/** Bytes that device_passes and device_response read and write, counted from what the passes
 * are: each array once. */
double device_passes_bytes(const struct device_run *run);
double device_response_bytes(const struct device_run *run);

/** States [rows][2 bins] of the batch, or the spectrum that an evaluation left. */
int device_states(struct device_run *run, double *out);
int device_spectra(struct device_run *run, double *out);
