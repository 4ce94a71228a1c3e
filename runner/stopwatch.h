/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef RUNNER_STOPWATCH_H
#define RUNNER_STOPWATCH_H

#include "io/store.h"

/*
 * Where a worker's time goes. One look at the clock ends a part and begins the next, so that
 * the parts are disjoint and leave nothing out; a member costs about ten looks, about a
 * microsecond in all on a slow clock.
 */

/* Parts of a worker's time; the order of the bars of a picture. */
enum work_part { PART_LOAD, PART_ADVANCE, PART_HOST, PART_OUTPUT, PART_MPI, PART_IDLE, PARTS };

/* Seconds of each part so far. */
struct stopwatch {
    enum work_part part; /* the one that runs */
    double begin;
    double since; /* when it began */
    double seconds[PARTS];
};

/** Start in a part. */
void stopwatch_start(struct stopwatch *watch, enum work_part part);

/** End the running part, begin another. Returns the one that ran, to go back to. */
enum work_part stopwatch_switch(struct stopwatch *watch, enum work_part part);

/** The parts up to now and the time since the start, which is their sum. */
struct store_timing stopwatch_read(struct stopwatch *watch);

#endif
