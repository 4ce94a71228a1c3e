/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef RUNNER_STATUS_SCAN_H
#define RUNNER_STATUS_SCAN_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "kernels/base/squeue.h"
#include "runner/job_log.h"
#include "runner/status.h"

/* What is known of a shard's file. */
enum status_file {
    STATUS_NOT_GIVEN,  /* nobody has looked */
    STATUS_NOT_BEGUN,  /* there is none */
    STATUS_UNREADABLE, /* there is one, and it cannot be read */
    STATUS_FOREIGN,    /* … and it is of another scan */
    STATUS_THERE
};

/* What one shard of a scan is at. */
struct status_shard {
    enum status_file file;
    bool running; /* somebody writes it now */
    int64_t first, count;
    int64_t state[STATUS_STATES];
    int64_t waiting;   /* members that are not judged yet */
    int64_t beyond;    /* outside the envelope or without a verdict */
    int64_t computing; /* members, of a run in progress … */
    int64_t workers;
    double rate;                    /* … members/s */
    double left;                    /* … s; NaN: not known */
    const struct squeue_task *task; /* borrowed; NULL: no job of it is known */
};

/* A scan whose members lie in several files. */
struct status_scan {
    char scan[96]; /* "" until a file has been read */
    char model[96];
    int64_t members, realisations;
    long shards;
    struct status_shard *shard;          /* [shards] */
    bool queued;                         /* the queue was asked, and answered */
    const struct submission *submission; /* borrowed; NULL: there is none */
    struct status_verdicts verdicts;     /* of all shards */
    int64_t bad;                         /* members that ended without a result */
    int reasons;
    struct status_reason reason[STATUS_REASONS_MAX]; /* the first of them, by member */
};

/** Begin with no shard known. @param out free with status_scan_clear. 0 or ERR_MEMORY */
int status_scan_init(long shards, struct status_scan *out);

/** Free; legal on a zeroed object. */
void status_scan_clear(struct status_scan *scan);

/** Take in the report of a shard's file. @return false when it is of another scan */
bool status_scan_take(struct status_scan *scan, const struct status_report *report);

/** A job's end that wants a reason: the path of its log and the last line in it. */
void status_log_text(const struct job_log *log, FILE *out);

/** The same as parts of a JSON object. */
void status_log_json(const struct job_log *log, FILE *out);

/** Whether a task has ended, and not well. */
bool status_ended_badly(const struct squeue_task *task);

/** Whether it ended so that its log should say why: not where it was cancelled. */
bool status_wants_log(const struct squeue_task *task);

/** Write the summary and the shards for people: of many those that are not complete. */
void status_scan_text(const struct status_scan *scan, FILE *out);

/** Write them as a JSON object. */
void status_scan_json(const struct status_scan *scan, FILE *out);

#endif
