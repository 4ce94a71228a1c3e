/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef IO_COLLECT_PRIVATE_H
#define IO_COLLECT_PRIVATE_H

#include "io/collect.h"
#include "io/copy.h"
#include "io/twin.h"

#define COLLECT_ROWS  1024 /* members looked at at a time */
#define COLLECT_TWINS 8    /* layouts of files that are remembered */

/* Facts of a block of members, of one file. */
struct collect_rows {
    uint8_t state[COLLECT_ROWS];
    int64_t saved[COLLECT_ROWS];
    uint64_t identity[COLLECT_ROWS][2];
    int32_t *point; /* [COLLECT_ROWS][axes], NULL for a scan without axes */
};

/* Neighbouring members of which the same is to be said. */
struct collect_run {
    int64_t first, last; /* last < first: none */
    char owner[COLLECT_PATH_SIZE];
    struct collect_range owned; /* what the owner gave around the first of them */
};

/* A result file that is being filled. */
struct collect {
    const atomic_int *stop;
    struct collect_judge judge;
    struct verify_rows *rows; /* NULL until a file is judged */
    struct verify_report *report;
    struct source to; /* open for writing */
    struct copy copy;
    struct collect_log *log;
    bool fatal; /* the last error was not of the file that is read */
    char *canonical;
    char model[128];
    int64_t numerics;
    int axes;
    struct twin *twin[COLLECT_TWINS];
    int next_twin;  /* the one to be replaced */
    double flushed; /* clock_wall */
    /* of the file that is being read */
    struct source from;
    struct collect_file file;
    const char *name;            /* as it was given */
    struct collect_range *claim; /* [claims] what it gave earlier */
    long claims;
    struct collect_range took; /* not in the log yet; last < first: nothing */
    struct collect_run conflict;
    struct collect_rows here, there; /* result file, file that is read */
    uint64_t *sum[2];                /* [planes] */
    char *config;                    /* text of the file */
};

/** An error that is not of the file that is read ends everything. @return rc */
int collect_ours(struct collect *collect, int rc);

/** Merge the members of the open file; ends early at a stop. */
int collect_members(struct collect *collect);

/** Tell what is held back of a run of conflicts. */
int collect_tell_conflict(struct collect *collect);

/** What was taken so far stands in the log and counts in the result file. */
int collect_settle(struct collect *collect);

/** Add a note to the record of the file. @param last -1: of the file as a whole */
int collect_tell(struct collect *collect, enum collect_kind kind, int64_t first, int64_t last,
                 const char *text);

#endif
