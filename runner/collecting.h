/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef RUNNER_COLLECTING_H
#define RUNNER_COLLECTING_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "io/collect.h"
#include "io/journal.h"
#include "runner/collect_names.h"
#include "runner/collect_spec.h"
#include "runner/lease.h"
#include "runner/run.h"
#include "runner/status_verdicts.h"

/* One `scanfarm collect`: shared by the files of this command. */
struct collecting {
    char result[RUN_PATH_SIZE];
    bool json, quiet, reduce, space_check;
    long compress; /* level, 0: not */
    struct collect_names *names;
    char configuration[SUBMISSION_HASH_SIZE]; /* of the submission's scan; "": any will do */
    struct lease *lease;
    char run[JOURNAL_RUN_SIZE];
    char *wisdom; /* for the result file */
    bool existed; /* the result file was there before */
    int attempt;  /* -1: none was begun */
    struct journal *journal;
    struct collect *collect;
    struct collect_spec spec; /* of its files */
    atomic_int stop;          /* 1: a signal asked for a stop */
    long files;               /* named, the result file itself apart */
    long unchanged;
    int64_t reduced;        /* points */
    double begun;           /* clock_wall */
    double said;            /* … of the last word on how far it is */
    double recorded;        /* … of the last journal record of files */
    long waiting;           /* files that have none yet */
    int64_t taken, damaged; /* of these */
};

/* What there is in the end. */
struct collect_report {
    long files, good, unreadable, foreign;
    int64_t taken, equal, damaged, conflicts;
    char foreign_text[COLLECT_TEXT_SIZE]; /* of the first foreign file */
    long shards; /* of the scan, as its files say; 0: unknown, or they disagree */
    int64_t members;
    int64_t state[8]; /* members by enum member_state */
    struct status_verdicts verdicts;
    int64_t begun; /* pending ones with planes */
};

/**
 * Make the result file when there is none: from the configuration of the first file that can be
 * read, of a submission the first that has its configuration. Those before it are told.
 *
 * @param made  false: no file can be read, and there is no result file
 * @return 0, ERR_CONFLICT for files of another numerics version, or of another configuration
 * than the submission's, errors of store_define
 */
int collecting_make(struct collecting *c, bool *made);

/**
 * Compute the rows of /ensemble whose members are not those they were made of; ends early at a
 * stop. No collect is open.
 */
int collecting_reduce(struct collecting *c);

/**
 * Write the result file anew and put it in the place of the old one: compressed, or as one that
 * can be written. What it holds stays as it is; its collect log goes. No collect is open.
 *
 * @param level  1 to 9; 0: not compressed
 */
int collecting_repack(struct collecting *c, int level);

/** Whether the result file is compressed. */
int collecting_is_packed(const struct collecting *c, bool *packed);

/** Sum up: the log of the open collect, and the result file. */
int collect_report_read(struct collecting *c, struct collect_report *out);

/** The exit code of an end in order: 0 when all members of the scan are done and nothing was
 *  wrong with any file, else 1. */
int collect_report_code(const struct collect_report *report);

/** "26 of 30 members done, 1 failed, 3 missing". @param text [size] */
void collect_report_counts(const struct collect_report *report, char *text, size_t size);

/** Write all on stdout: what is wrong a line each, then the sum. */
int collect_report_write(struct collecting *c, const struct collect_report *report, int code);

#endif
