/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef RUNNER_PROGRESS_H
#define RUNNER_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

#define PROGRESS_LINE_SIZE 256

/* What a progress line is made of. */
struct progress_counts {
    int64_t total;     /* members of the scan */
    int64_t before;    /* ended in earlier runs */
    int64_t done;      /* in this run */
    int64_t failed;    /* in this run: failed, timed out */
    int64_t timed_out; /* of these */
    int64_t running;   /* given to workers, not yet reported */
    int64_t points;    /* points to reduce, 0: none */
    int64_t reduced;
    int64_t judges; /* members to judge, 0: none */
    int64_t judged;
    double elapsed;  /* s since the first task was given */
    double left;     /* s until the end, predicted from costs; 0: not predicted … */
    double left_low; /* … and its band, two standard deviations to each side */
    double left_high;
};

/* When and where lines are written. */
struct progress {
    bool terminal; /* one line, redrawn; else plain lines */
    bool quiet;
    bool drawn; /* a terminal line stands on the screen */
    double begin;
    double last; /* time of the last line */
    int64_t shown;
};

/** Members per second of this run; 0 before the first member has ended. */
double progress_rate(const struct progress_counts *counts);

/** Seconds until the end: as predicted, else at this rate; NaN while nothing is known. */
double progress_eta(const struct progress_counts *counts);

/** The line's text: "120/480 members (25.0 %), 2 failed, 4 running, 3.2/s, 1 min 52 s left
 * (1 min 40 s to 2 min 5 s)". */
void progress_format(const struct progress_counts *counts, char text[PROGRESS_LINE_SIZE]);

/** Begin: times count from here. */
void progress_begin(struct progress *progress, bool terminal, bool quiet);

/** Write a line if it is time for one: at most 5 a second on a terminal, else one in 10 s. */
void progress_update(struct progress *progress, const struct progress_counts *counts);

/** Write the last line and end it. */
void progress_end(struct progress *progress, const struct progress_counts *counts);

/** Wipe a drawn terminal line, so that a log line may follow. */
void progress_wipe(struct progress *progress);

#endif
