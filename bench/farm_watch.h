/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef BENCH_FARM_WATCH_H
#define BENCH_FARM_WATCH_H

#include <stdbool.h>

/*
 * Time stamps of one rank of the farm. They are taken at calls between the product's own files,
 * which the linker leads through here (--wrap), so that the product carries no code for it.
 */

enum watch_kind {
    WATCH_ANSWER,  /* controller: a REPORT was taken in, until the GIVE for it is on its way */
    WATCH_RESERVE, /* worker: a chunk's last member has ended, until the next chunk, which lay
                      in reserve, begins its first: what a busy worker waits for work */
    WATCH_ROUND,   /* worker: the same when it had nothing in reserve: a whole round of messages
                      with a controller that may be asleep */
    WATCH_KINDS
};

#define WATCH_SAMPLES_MAX                                                                      \
    4096 /* of one kind and rank; later ones replace earlier ones evenly */

/* What was seen of one kind. */
struct watch_samples {
    double seconds[WATCH_SAMPLES_MAX];
    long seen;
};

/** Begin: who this rank is. Before, nothing is kept. */
void watch_begin(bool controller, int ranks);

/** What was seen of a kind. */
const struct watch_samples *watch_samples(enum watch_kind kind);

/** Controller: time (clock_wall) of the last REPORT, 0 without one. */
double watch_last_report(void);

/** Free what watch_begin made. */
void watch_end(void);

#endif
