/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef RUNNER_TUNE_H
#define RUNNER_TUNE_H

#include <stdbool.h>

#include "kernels/backend.h"
#include "runner/run.h"
#include "scans/scan.h"

/* Parts of the command `tune`. */

#define TUNE_LENGTHS_MAX 64
#define TUNE_KINDS       4

/* Transforms of one length. */
struct tune_need {
    long n;
    bool kind[TUNE_KINDS]; /* by enum fft_kind */
};

/* All transforms to tune, in the order in which they were asked for. */
struct tune_needs {
    int count;
    struct tune_need need[TUNE_LENGTHS_MAX];
};

/* One transform, tuned. */
struct tune_result {
    long n;
    enum fft_kind kind;
    bool known;      /* the cache held its plan already */
    double before;   /* s of one transform with the plan of `before_rigour` */
    double after;    /* s with the tuned plan */
    double planning; /* s that the search took; 0 when known */
};

/** Words for a kind of transform: "complex, forward". */
const char *tune_kind_name(enum fft_kind kind);

/** Words for a rigour: "patient". */
const char *tune_rigour_name(enum fft_rigour rigour);

/** Add a transform to those wanted. ERR_ARGUMENT above TUNE_LENGTHS_MAX lengths. */
int tune_add(struct tune_needs *needs, enum fft_kind kind, long n);

/**
 * The transforms that the models of a scan's structural keys use: each model is made once.
 *
 * @return 0, or the error of the first model that cannot be made
 */
int tune_collect(const struct scan *scan, struct tune_needs *needs);

/**
 * Tune one transform: time it with a plan as a run without wisdom makes it (one rigour below),
 * then search for a better one, time that in turn with the first, and put it into the cache.
 *
 * @param folder the cache, "" to keep nothing
 */
int tune_transform(const char *folder, enum fft_rigour rigour, enum fft_kind kind, long n,
                   struct tune_result *out);

/** Print what the cache holds. ERR_IO, ERR_MEMORY */
int tune_list(const char *folder, bool json);

#endif
