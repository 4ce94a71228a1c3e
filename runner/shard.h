/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef RUNNER_SHARD_H
#define RUNNER_SHARD_H

#include <stddef.h>
#include <stdint.h>

#include "io/store.h"
#include "scans/scan.h"

/*
 * A scan in shards: N ranges of member ids, side by side, of equal cost by the model's own
 * estimate (plane_layout.work). Each has a file, a journal and a run of its own. Every machine
 * and every run finds the same ranges: estimates are rounded so that a last bit, which
 * mathematical libraries compute differently, decides nothing, and all sums are of integers.
 */

/* All shards of a scan. */
struct shard_division {
    long shards;
    int64_t *first; /* [shards + 1] shard K has members [first[K - 1], first[K]) */
    double *share;  /* [shards] of the whole cost */
};

/**
 * Read "K/N".
 *
 * @param option  for messages: "--shard"
 * @return 0, or ERR_ARGUMENT with what is accepted
 */
int shard_read(const char *option, const char *text, long *shard, long *shards);

/**
 * Divide a scan. No shard is empty; the cost of each differs from the mean by less than its
 * dearest member, where that is possible with one member at least in each. A scan of more than
 * 65 536 points is divided by a sample: 8192 to 65 536 points, 64 a shard.
 *
 * @param out  free with shard_division_clear, also after an error
 * @return 0, ERR_ARGUMENT for more shards than members, ERR_MEMORY
 */
int shard_divide(const struct scan *scan, long shards, struct shard_division *out);

/** Free; legal on a zeroed object. */
void shard_division_clear(struct shard_division *division);

/** The members of one shard, for its file. Otherwise as shard_divide. */
int shard_window(const struct scan *scan, long shard, long shards, struct store_window *out);

/**
 * The file of a shard of a result: shard_file_name, and the path itself where it has that name
 * already.
 *
 * @param path  [size] of the result; receives the shard's file
 * @return 0, ERR_ARGUMENT
 */
int shard_name_file(long shard, long shards, char *path, size_t size);

/** "shard 3/16: members 40 to 59 of 320". @param text [size] */
void shard_text(const struct store_window *window, int64_t members, char *text, size_t size);

#endif
