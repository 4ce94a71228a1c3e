/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* The same program again in fresh processes: each line of JSON that they print. */
struct process_runs {
    int count;
    char **text; /* [count] */
};

struct process_median {
    double median, lowest, highest;
};

/**
 * Run this program `count` times, one after the other, with its own arguments, `--json` and
 * `--processes 1`.
 */
int processes_run(char **argv, int count, struct process_runs *out);

/** Free. */
void processes_clear(struct process_runs *runs);

/** Median and range of the number under a key of the runs' JSON. */
int processes_median(const struct process_runs *runs, const char *key,
                     struct process_median *out);
