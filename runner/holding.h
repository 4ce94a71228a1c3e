/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef RUNNER_HOLDING_H
#define RUNNER_HOLDING_H

#include <stdbool.h>
#include <stdint.h>

#include "runner/protocol.h"

/*
 * Which tasks one worker has and has not reported, in the order in which it computes them. A
 * few runs of neighbours: as large as what a worker holds, whatever the scan's size.
 */

/* Neighbouring ids of one GIVE. */
struct holding_span {
    int64_t first;
    int64_t count;
    int64_t give; /* number of the GIVE in this run, from 1 */
    int32_t pass;
    double seconds; /* predicted, of one task; 0: not known */
};

/* What a GIVE's tasks have in common. */
struct holding_lot {
    int64_t give;   /* its number */
    double seconds; /* predicted, of one task; 0: not known */
};

/* All of a worker's. */
struct holding {
    struct holding_span *span; /* [capacity] oldest first */
    int spans;
    int capacity;
};

/** Add the tasks of a GIVE. @return 0; ERR_MEMORY, and nothing is added */
int holding_add(struct holding *holding, const struct message_give *give,
                const struct holding_lot *lot);

/**
 * Take neighbouring tasks out, whichever GIVEs they came in.
 *
 * @param lot receives the number of the GIVE of the first of them, and the seconds predicted
 * for all of them together
 * @return 0; ERR_BUG when not all of them are held; ERR_MEMORY
 */
int holding_remove(struct holding *holding, int32_t pass, int64_t first, int64_t count,
                   struct holding_lot *lot);

/** Seconds predicted for all that is held. */
double holding_seconds(const struct holding *holding);

/** Tasks of the oldest GIVE that are still held. */
int64_t holding_oldest(const struct holding *holding);

/** Forget all and free; legal on a zeroed object, which may be filled again. */
void holding_clear(struct holding *holding);

#endif
