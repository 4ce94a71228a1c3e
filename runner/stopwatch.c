/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "runner/stopwatch.h"

#include <string.h>

#include "kernels/base/clock.h"

void stopwatch_start(struct stopwatch *watch, enum work_part part)
{
    memset(watch, 0, sizeof *watch);
    watch->part = part;
    watch->begin = clock_wall();
    watch->since = watch->begin;
}

enum work_part stopwatch_switch(struct stopwatch *watch, enum work_part part)
{
    const enum work_part before = watch->part;
    const double now = clock_wall();
    watch->seconds[before] += now - watch->since;
    watch->since = now;
    watch->part = part;
    return before;
}

struct store_timing stopwatch_read(struct stopwatch *watch)
{
    stopwatch_switch(watch, watch->part);
    return (struct store_timing){.load = watch->seconds[PART_LOAD],
                                 .advance = watch->seconds[PART_ADVANCE],
                                 .host = watch->seconds[PART_HOST],
                                 .output = watch->seconds[PART_OUTPUT],
                                 .mpi = watch->seconds[PART_MPI],
                                 .idle = watch->seconds[PART_IDLE],
                                 .total = watch->since - watch->begin};
}
