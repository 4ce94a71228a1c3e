/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef RUNNER_CHECKPOINT_H
#define RUNNER_CHECKPOINT_H

#include <stdbool.h>
#include <stdint.h>

#include "io/resume.h"
#include "kernels/model.h"

/*
 * A worker's checkpoints: where a member goes on that was begun before, and what is kept of the
 * members in its rows for whoever continues them.
 */

struct worker;

/* The state of a worker's checkpoints. */
struct checkpoints {
    const struct resume_table *table; /* of the start, borrowed; NULL: none */
    int workers;                      /* that share the file's slots */
    int64_t *free;                    /* [free_count] slots of no row */
    int free_count;
    void *state; /* [resume_room] */
    double due;  /* clock_wall of the next ones */
    uint64_t seq;
    bool said; /* that a row has none */
};

/* A row's share. */
struct row_resume {
    int64_t slot;  /* -1: none yet */
    int half;      /* that is written next */
    int64_t tries; /* of the member, with this one */
    int64_t saved; /* planes that the file counted at its load: they are not written again */
    long kept;     /* steps of its history that the file has */
};

/* Where a member can go on, the best first. */
enum resume_source { RESUME_CHECKPOINT, RESUME_PLANE, RESUME_START };

/* What is there of a member that is loaded. */
struct continuation {
    bool
        judges; /* it is the reference run of a judgment: WORKER_JUDGE_STEPS are kept of it … */
    double perturbation; /* … from an input that is perturbed so much (struct seed) */
    bool known;          /* it was looked at: it may have been begun */
    struct store_past past;
    bool placed;
    struct resume_place place;
    struct resume_head head;
};

/** Make room; takes this worker's share of the file's slots. worker->store is open. */
int checkpoint_open(struct worker *worker);

/** Free all; legal on a zeroed worker. */
void checkpoint_close(struct worker *worker);

/**
 * What is there of a member. Nothing is looked at in a run that found the file untouched.
 *
 * @param again  it may have been begun in this run, by a worker that died
 */
int checkpoint_look(struct worker *worker, int64_t member, bool again,
                    struct continuation *out);

/**
 * The state that a row loads its member from.
 *
 * @param source  to try; RESUME_START is always found, with nothing to load
 * @param state   receives bytes that are valid until the next call
 */
int checkpoint_fetch(struct worker *worker, int row, enum resume_source source,
                     struct continuation *from, struct state_in *state, bool *found);

/** A row has loaded its member from a source: counters, history, its slot, tries in the file.
 */
int checkpoint_adopt(struct worker *worker, int row, enum resume_source source,
                     const struct continuation *from);

/** Checkpoints of all running rows; a row without a slot has none. No row stands on a plane
 * that has not been written. */
int checkpoint_rows(struct worker *worker);

/** The same when it is time; sets when the model has to return for the next ones. */
int checkpoint_when_due(struct worker *worker);

/** The model has to return by `when` (clock_wall) too; INFINITY: not before it has to anyway.
 */
void checkpoint_limit(struct worker *worker, double when);

/** A row is free again, and so is its slot. */
void checkpoint_release(struct worker *worker, int row);

#endif
