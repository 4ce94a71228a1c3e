/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef IO_REDUCE_H
#define IO_REDUCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "io/store.h"
#include "io/until.h"

/*
 * Ensemble observables of one point: pass 2 of the farm, and `scanfarm reduce`. They are
 * computed from the stored planes of members with state done, in realisation order, so that
 * their bits do not depend on who computes them. Formulas: docs/run-file.md, "Ensemble".
 */

/* What a reduction says to the controller. */
struct reduce_result {
    int64_t n;              /* members that entered */
    int64_t failed;         /* members that ended otherwise */
    double coherence;       /* overall |g12| of the last plane; NaN when there is none */
    double error;           /* its jackknife error */
    struct until_end until; /* of an ensemble that stops itself */
};

/**
 * Reduce one point and write its row of /ensemble; `reduced` of the row is written last.
 *
 * Where ensembles stop themselves the members of the last look that was taken enter, all that
 * are done before the first.
 *
 * Memory: about ten rows of one spectrum, whatever the number of members. Reads each plane
 * twice. Legal on a file without /ensemble (the result
 * then has the counts only).
 *
 * @param store  opened by store_open
 * @param point  0 ... store_points - 1
 * @return 0, ERR_ARGUMENT, ERR_UNSUPPORTED for a shard, ERR_MEMORY, ERR_IO
 *
 * Source: Dudley and Coen, Opt. Lett. 27, 1180 (2002), with pairs i != j.
 */
int reduce_point(struct store *store, int64_t point, struct reduce_result *result);

/* A row of /ensemble as it is stored, and as its members give it. */
struct reduce_row {
    const char *name; /* "g12" */
    int64_t point;
    long plane;      /* -1: one number a point */
    int64_t members; /* that entered */
    long n;          /* elements */
    size_t size;     /* bytes of one */
    bool is_double;
    const void *stored; /* [n] */
    const void *right;  /* [n] */
};

/* Whoever compares. */
struct reduce_look {
    int (*row)(void *context, const struct reduce_row *row);
    void *context;
};

/** Reduce a point and write nothing: each row is handed over instead, in the order of
 * reduce_point. The file may be open for reading only. @return as reduce_point */
int reduce_look_at(struct store *store, int64_t point, const struct reduce_look *look);

/**
 * The looks that are due at a point whose ensemble stops itself, and its row: the error so far,
 * and once no further member is needed all of it, as reduce_point; pending members beyond it
 * are then not needed. Another file: reduce_point.
 */
int reduce_look(struct store *store, int64_t point, struct reduce_result *result);

/** Say that a point's row counts no more; nothing without /ensemble. ERR_IO */
int reduce_forget(struct store *store, int64_t point);

/**
 * Which points have a valid /ensemble row.
 *
 * A row is stale when its `n` differs from the number of done members of the point: the caller
 * compares.
 *
 * @param reduced [count] 1 when the row was written, else 0; may be NULL
 * @param n       [count] members that entered; may be NULL
 */
int reduce_read_rows(struct store *store, int64_t first, int64_t count, uint8_t *reduced,
                     int64_t *n);

#endif
