/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef RUNNER_STATUS_WORKERS_H
#define RUNNER_STATUS_WORKERS_H

#include <stdint.h>
#include <stdio.h>

#include "io/journal.h"

#define STATUS_MEMBERS_MAX 8 /* members remembered of a worker */

/* What the journal tells of one worker of the newest attempt. */
struct status_worker {
    int rank; /* 0: one process */
    int64_t pid;
    char host[64];
    char state[24];           /* the newest event: "ready", "left", "dead", "parked", … */
    char since[32];           /* its time */
    char told[32];            /* when the following was told; "": never */
    struct journal_load load; /* … */
    int members;              /* the last ones that it was given and that have not ended */
    int64_t member[STATUS_MEMBERS_MAX];
};

/* All of them. */
struct status_workers {
    struct status_worker *worker; /* [count] by rank */
    int count;
    int room;
};

/**
 * Read the workers of a file's newest attempt from its journal; members that have ended are
 * left out. Nothing recorded is no error.
 *
 * @param out  free with status_workers_clear
 */
int status_workers_read(const char *path, struct store *store, struct status_workers *out);

/** Free; legal on a zeroed object. */
void status_workers_clear(struct status_workers *workers);

/** Lines for people: of a run in progress all, 16 at most and all that are in trouble; of
 *  another one those in trouble only. */
void status_workers_text(const struct status_workers *workers, bool running, FILE *out);

/** A JSON array. */
void status_workers_json(const struct status_workers *workers, FILE *out);

#endif
