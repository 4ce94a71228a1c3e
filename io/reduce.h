/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef IO_REDUCE_H
#define IO_REDUCE_H

#include <stdint.h>

#include "io/store.h"

/*
 * Ensemble observables of one point: pass 2 of the farm, and `scanfarm reduce`. They are
 * computed from the stored planes of members with state done, in realisation order, so that
 * their bits do not depend on who computes them. Formulas: docs/run-file.md, "Ensemble".
 */

/* What a reduction says to the controller. */
struct reduce_result {
    int64_t n;        /* members that entered */
    int64_t failed;   /* members that ended otherwise */
    double coherence; /* overall |g12| of the last plane; NaN when there is none */
    double error;     /* its jackknife error */
};

/**
 * Reduce one point and write its row of /ensemble; `reduced` of the row is written last.
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
