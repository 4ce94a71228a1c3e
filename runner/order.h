/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef RUNNER_ORDER_H
#define RUNNER_ORDER_H

#include <stdbool.h>
#include <stdint.h>

#include "runner/cost.h"
#include "runner/protocol.h"

/*
 * Longest first: a window of pending members, sorted by predicted cost into classes of about
 * 10 %. Within a class the order is that in which they were added, so that neighbours of equal
 * cost still travel as one range. Memory depends on the window, not on the scan.
 */

#define ORDER_CLASSES 256
#define ORDER_WINDOW  65536 /* members looked at ahead */

/* Neighbouring members of one point. */
struct order_node {
    int64_t first;
    int64_t point;
    int64_t key; /* structural */
    float work;
    float planes;
    float rank;
    int32_t count;
    int32_t next; /* in its class; -1: the last */
};

/* The window. Zeroed: it holds nothing and takes nothing. */
struct order {
    struct order_node *node; /* [room] */
    int32_t room;
    int32_t free; /* first free node, -1: none */
    int32_t head[ORDER_CLASSES];
    int32_t tail[ORDER_CLASSES];
    int top; /* no class above holds anything */
    bool based;
    double base;     /* rank of the middle class */
    int64_t members; /* in it */
    double sum;      /* of exp(rank) over them */
};

/** Make an empty window. @param members of the scan: more than those it never holds */
int order_init(struct order *order, int64_t members);

/** Free; legal on a zeroed object. */
void order_clear(struct order *order);

/** Members that it would still take. */
int64_t order_room(const struct order *order);

/** Add neighbouring members of one point; first, point, key, count, work, planes, rank count.
 */
void order_add(struct order *order, const struct order_node *members);

/**
 * The rank of what comes next.
 *
 * @param limit  ln of the most that exp(rank) / planes may be; INFINITY: whatever there is
 * @return false when there is none
 */
bool order_peek(const struct order *order, double limit, double *rank);

/**
 * Take up to `most` members of one structural key from the class of the most expensive one
 * that is within the limit: a range, or up to PROTOCOL_IDS_MAX ids.
 *
 * @param give  receives count, first, length and id
 * @return number of members taken, 0: there is none
 */
int64_t order_take(struct order *order, int64_t most, double limit, struct message_give *give);

/** Sort anew: the estimate has changed. */
void order_sort(struct order *order, const struct cost *cost);

#endif
