/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef RUNNER_WORKER_H
#define RUNNER_WORKER_H

#include <stdbool.h>

#include "io/store.h"
#include "io/verdict.h"
#include "kernels/backend.h"
#include "kernels/model.h"
#include "runner/checkpoint.h"
#include "runner/devices.h"
#include "runner/kernel_id.h"
#include "runner/placement.h"
#include "runner/protocol.h"
#include "runner/run.h"
#include "runner/stopwatch.h"
#include "runner/wisdom.h"
#include "runner/worker_device.h"
#include "scans/scan.h"

#define WORKER_GIVES_MAX 8 /* chunks it can hold beside one for each row */
#define WORKER_SLOTS     2 /* model objects it keeps */
#define WORKER_HOST_SIZE 64
#define WORKER_JUDGED    64 /* judgments that wait for the next report */

#define WORKER_JUDGE_STEPS 512 /* steps of a reference run that are looked at */

struct worker;
struct judgment;  /* worker_judge.c */
struct reference; /* reference.h */

/* How a worker speaks with whoever gives it work: messages, or calls in one process. */
struct worker_link {
    /* Take what is there: worker_give for work, worker->quit when there is no more. idle: the
     * worker has nothing to do, so wait a little (2 ms at most). */
    int (*poll)(void *context, struct worker *worker, bool idle);
    int (*report)(void *context, const struct message_report *report);
    /* Whether the file may still be written: 0, or why not. NULL: always. */
    int (*may_write)(void *context);
    void *context;
    bool messages; /* they are MPI's: poll and report are no work of the host loop */
};

/* A model object and what belongs to it. */
struct worker_slot {
    bool used;
    int64_t structure; /* structural key of its members */
    long long age;     /* when it was used last */
    struct model *model;
    int capacity;              /* rows of the model; placement.capacity at most */
    struct row_status *status; /* [placement.capacity]; what is beyond the model's is empty */
    struct plane_buffers buffers; /* of one plane; NULL: not saved */
    size_t buffer_size[LAYOUT_ARRAYS_MAX];
};

/* A member in a row. */
struct worker_row {
    int64_t member; /* -1: free */
    double begin;
    double cpu;
    struct plane_layout layout;
    struct step_record *history;
    struct row_resume resume;
    struct judgment *judgment; /* the row is the reference run of a judgment; NULL: it is not */
};

/* What a worker's judgments need. */
struct worker_judges {
    struct reference *reference; /* of ENVELOPE_STORED, opened by the first one */
    uint64_t key;                /* of the envelope; 0: not known yet */
    double *plane[2];            /* [room] a plane as it is stored, and the reference's */
    long room;
    struct verdict_word word[WORKER_JUDGED]; /* [words] ended, and not committed */
    int words;
};

/* A worker's self-checks. */
struct worker_checks {
    int64_t point;   /* of the member begun last */
    int64_t members; /* that ended, or were judged, since the last good one */
    bool made;       /* there was one */
    bool asked;      /* the controller wants one */
    bool failed;     /* the worker starts nothing any more */
};

/* One worker: a straight line of take, load, advance, write, commit, report. */
struct worker {
    const struct scan *scan;
    const struct run_options *options;
    const struct model_ops *ops;
    struct worker_link link;
    struct run_control control;
    double deadline;            /* clock_wall at which a step in progress ends; 0: none */
    const atomic_int *draining; /* load nothing, end at the next plane; NULL: never */
    struct store *store;
    struct backend *backend;
    struct wisdom wisdom;
    int rank;
    int attempt;
    char host[WORKER_HOST_SIZE];
    char kernel_id[KERNEL_ID_SIZE]; /* of the slot in use */
    struct placement placement;     /* its capacity: rows of any model object, at most */
    struct device_choice device;    /* zeroed: the CPU, or as the options say */
    double batch_left;              /* bytes of it that were free at the start */
    int64_t open;                   /* rows wanted of all workers at the start; 0: not known */
    bool touched;                   /* members may have planes of an earlier run */
    bool quit;
    struct worker_slot slot[WORKER_SLOTS];
    struct checkpoints checkpoints;
    struct worker_checks check;
    struct worker_judges judges;
    int current;               /* slot in use, -1: none */
    struct worker_row *row;    /* [capacity] */
    int running;               /* rows that hold a member */
    struct message_give *give; /* [gives_max] ring */
    int gives_max;
    int gives;
    int first_give;
    int64_t next_task; /* within the first give */
    double chunk_begin;
    struct message_report report;
    char error_text[STORE_REASON_SIZE]; /* of the first run error */
    double last_report;
    struct params params;
    char *text; /* scratch for seeds */
    size_t text_size;
    struct stopwatch watch; /* since worker_open */
    int64_t members;
    long long clock; /* counts uses of slots */
    struct device_effort effort;
};

/**
 * Make a worker. The file is opened; the backend and model objects are made at the first task.
 *
 * @param worker zeroed, with scan, options, link, rank, attempt, host, placement, device,
 *               touched, wisdom, checkpoints.table and .workers set; free with worker_close
 */
int worker_open(struct worker *worker);

/** Hand a chunk to a worker. ERR_BUG when it holds more than whoever keeps its
 * rows busy gives it. */
int worker_give(struct worker *worker, const struct message_give *give);

/**
 * Work until there is no more. Tasks that are not finished because of a stop or an error are
 * given back in the last reports; an error is in the last report too.
 */
int worker_run(struct worker *worker);

/** Close the file, free everything but the stopwatch. Legal on a zeroed object. ERR_IO when
 * data may be lost. */
int worker_close(struct worker *worker);

#endif
