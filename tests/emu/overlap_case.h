/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TESTS_EMU_OVERLAP_CASE_H
#define TESTS_EMU_OVERLAP_CASE_H

#include <stdbool.h>

#include "kernels/backend.h"
#include "kernels/model.h"

/*
 * A batch of three members on the emulated device, of which two land on a plane while a trial
 * of the third is under way.
 */

#define ROWS   3
#define PLANES 3
#define STEPS  5
#define N_MAX  4096

/* A model with members that differ, and what it asks of a backend. */
struct kind {
    const char *name;
    const struct model_ops *ops;
    void (*fill)(struct params *p, int member);
    void (*set_schedule)(struct model *m, int row, const double *lengths, long count);
    double length;  /* m */
    int transforms; /* of an evaluation */
    int downloads;  /* of a trial */
    int pieces;     /* of a plane */
    int first;      /* of one that no step has led to */
};

#define KINDS 5

/* gnlse, then capillaries. */
extern const struct kind kinds[KINDS];

/* What is kept of a plane. */
struct kept {
    cplx field[N_MAX];
    double path[3]; /* of a capillary */
    double observable[OBSERVABLES_MAX];
};

/* A batch, its members, and what their planes were. */
struct batch {
    const struct kind *kind;
    struct backend *be;
    struct model *m;
    struct plane_layout layout;
    struct params params[ROWS];
    double positions[ROWS][PLANES];
    double lengths[STEPS];
    struct row_status st[ROWS];
    struct run_control control;
    struct kept plane[ROWS][PLANES];
};

/** A batch of these members, rows empty; on a device in order. */
void batch_open(struct batch *b, const struct kind *kind, const int *members);

/** Load a row with its member, from its start or a state. */
void batch_load(struct batch *b, int r, const struct state_in *from);

/** Free it. */
void batch_close(struct batch *b);

/** Assert that neither device nor host hold memory. */
void nothing_is_left(void);

/** One call of the model, which must not fail. */
void batch_advance(struct batch *b);

/** Read the planes that rows stand on, each twice. @return how many */
int batch_read(struct batch *b);

/** Whether a row does. */
bool batch_runs(const struct batch *b);

/** Advance and read until all rows are done. */
void batch_finish(struct batch *b);

/** Assert that a row has the same planes in two batches, from plane `first` on. */
void check_same(const struct batch *a, const struct batch *b, int row, int first);

/** Note from now on what is asked of a backend: b and e begin and end a fetch, d is a download,
 * n the first pass of a trial. */
void trace_begin(struct backend *be);

/** Ask no more. */
void trace_end(struct backend *be);

/** Forget what was noted. */
void trace_clear(void);

/** Assert what was asked for: D, downloads of a trial; P and F, begun pieces of a plane and of
 * one that no step has led to; E, ended ones of a plane. */
void check_trace(const struct kind *kind, const char *script);

/** Launches and transforms of a device so far. */
long work_of(struct backend *be);

/** The same when the last trial began, while its backend is traced. */
long work_at_trial(void);

/** Three members loaded, their first planes read. */
void open_loaded(struct batch *b, const struct kind *kind);

/** The same in the next call: two rows land beside one whose trial is under way. Traced. */
void open_under_way(struct batch *b, const struct kind *kind);

#endif
