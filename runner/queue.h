/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef RUNNER_QUEUE_H
#define RUNNER_QUEUE_H

#include <stdbool.h>
#include <stdint.h>

#include "runner/protocol.h"

/*
 * The tasks that nobody has yet: one bit an id, 125 kB for 10^6 members. Order is file order.
 * Ids below `base` are never pending and take no room.
 */
struct queue {
    uint64_t *bits; /* from `base` on */
    int64_t base;   /* a multiple of 64 */
    int64_t total;  /* end of the ids */
    int64_t pending;
    int64_t first; /* no pending id is below */
};

/* Structural keys: tasks of one GIVE agree in theirs. */
struct queue_keys {
    int64_t (*key)(const void *context, int64_t id); /* NULL: all alike */
    const void *context;
    int64_t block; /* the key is the same within id / block */
};

/** Make a queue of ids [0, total), all pending or none. 0 or ERR_MEMORY; free: queue_clear. */
int queue_init(struct queue *queue, int64_t total, bool pending);

/** The same of ids [first, end): a part of a scan. */
int queue_init_part(struct queue *queue, int64_t first, int64_t end, bool pending);

/** Free the bits; legal on a zeroed object. */
void queue_clear(struct queue *queue);

/** Mark ids [first, first + count) as pending or not. */
void queue_set(struct queue *queue, int64_t first, int64_t count, bool pending);

/** Whether an id is pending. */
bool queue_has(const struct queue *queue, int64_t id);

/** The first pending id that is not below `from`; queue->total when there is none. */
int64_t queue_next(const struct queue *queue, int64_t from);

/**
 * Take up to `most` tasks that agree in their key: a contiguous range, or a list of at most
 * PROTOCOL_IDS_MAX ids when equal keys do not lie side by side.
 *
 * @param give receives count, first, length and id; pass is the caller's
 * @return number of tasks taken, 0 when nothing is pending
 */
int64_t queue_take(struct queue *queue, int64_t most, const struct queue_keys *keys,
                   struct message_give *give);

/* What the size of a chunk depends on. */
struct chunk_request {
    double chunk_time;     /* s of work wanted in one message */
    double member_seconds; /* measured work of one member; 0: not known yet */
    int64_t pending;       /* tasks that nobody has */
    int workers;
    int capacity; /* members that this worker computes at the same time */
};

/**
 * Number of tasks in the next chunk, at least 1: about chunk_time of work, never more than this
 * worker's half share of what is pending, so that chunks shrink towards the end.
 */
int64_t chunk_size(const struct chunk_request *request);

#endif
