/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef RUNNER_STATUS_H
#define RUNNER_STATUS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "io/canonical.h"
#include "io/journal.h"
#include "io/store.h"
#include "runner/status_verdicts.h"
#include "runner/status_workers.h"
#include "runner/worker_times.h"

#define STATUS_REASONS_MAX  10
#define STATUS_ATTEMPTS_MAX 64
#define STATUS_STATES       8 /* values of enum member_state */

/* A member that ended without a result. */
struct status_reason {
    int64_t member;
    enum member_state state;
    char text[STORE_REASON_SIZE + 1];
};

/* One attempt to run the scan. */
struct status_attempt {
    int64_t number; /* from 1 */
    char start[32];
    char end[32]; /* "" while it runs */
    int exit_code;
    char reason[STORE_REASON_SIZE + 1];
};

/* Who writes a file, as its lease says. */
struct status_holder {
    char run[64]; /* "": nobody is known */
    char host[64];
    char job[64]; /* "" outside a batch job */
    int64_t pid;  /* of the first of its processes */
    int processes;
};

/* What `status` knows of one file. */
struct status_report {
    const char *path;
    char scan[96];
    char model[96];
    char configuration[CANONICAL_HASH_SIZE];
    int64_t members; /* of the file; of a shard those that it holds */
    int64_t points, realisations;
    struct store_window part;
    int64_t planes; /* a member */
    int64_t state[STATUS_STATES];
    int64_t begun; /* pending members with saved planes */
    int64_t saved; /* planes in all */
    bool complete;
    struct status_verdicts verdicts;
    int reasons;
    struct status_reason reason[STATUS_REASONS_MAX];
    int attempts;
    struct status_attempt attempt[STATUS_ATTEMPTS_MAX]; /* oldest first */
    struct journal_summary journal;
    bool running;                /* somebody writes it now */
    struct status_holder holder; /* of a run in progress */
    char silent_since[32]; /* a run without an end that nobody writes: its last sign of life */
    struct time_summary times;
    struct status_workers workers;
};

/** The word for a state: "pending", "done", "failed", … */
const char *status_state_name(int state);

/** What a reason says besides the word for its state that it begins with; all, otherwise. */
const char *status_reason_rest(int state, const char *reason);

/** The hash of a file's configuration; "" when it has none. ERR_CONFLICT, ERR_IO, ERR_MEMORY */
int status_read_configuration(struct store *store, char hash[CANONICAL_HASH_SIZE]);

/**
 * Read everything of one file, read-only; works while a run writes it.
 *
 * @param out  free with status_clear, also after an error
 * @return 0, or what store_open_read refuses: ERR_CONFLICT for a foreign, truncated or newer
 * file
 */
int status_read(const char *path, struct status_report *out);

/** The same without attempts, times and workers: what a summary of many files needs. */
int status_read_brief(const char *path, struct status_report *out);

/** Leave the cores to whoever computes: readers wait when there is not enough for both. */
void status_stand_back(void);

/** Free what a report holds; legal on a zeroed one. */
void status_clear(struct status_report *report);

/** Find out whether the run that the journal tells of is still there: running, silent_since. */
void status_find_writer(struct status_report *report);

/** Write a report for people. */
void status_write_text(const struct status_report *report, FILE *out);

/** Write counts by state, each with a separator before it: ": 12 done, 3 pending".
 *  @return the separator of what may follow: ", ", or ": " when there were none */
const char *status_states_text(const int64_t state[STATUS_STATES], FILE *out);

/** The same as a part of a JSON object: ,"states":{…} */
void status_states_json(const int64_t state[STATUS_STATES], FILE *out);

/** A line on a member that ended without a result. */
void status_reason_text(const struct status_reason *reason, int64_t realisations, FILE *out);

/** Such members as a part of a JSON object: ,"failures":[…] */
void status_reasons_json(const struct status_reason *reason, int count, FILE *out);

/** Of a shard, its members as parts of a JSON object: "shard", "first_member", …; else nothing.
 */
void status_part_json(const struct status_report *report, FILE *out);

/** Write a report as a JSON object. */
void status_write_json(const struct status_report *report, FILE *out);

#endif
