/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef KERNELS_BASE_SHARD_NAME_H
#define KERNELS_BASE_SHARD_NAME_H

#include <stddef.h>

/* A scan that is computed in parts: shard K of N, K from 1, each with a result file of its own.
 * N is at most SHARDS_MAX. */
#define SHARDS_MAX 1000000

/**
 * Result file of a shard: DIR/NAME.h5 gives DIR/NAME.shard-03-of-16.h5, the number as wide as
 * that of all shards. A result without `.h5` at its end keeps its whole name in front; the only
 * shard of one is the result file itself.
 *
 * @param shard   1 ... shards
 * @param shards  1 ... SHARDS_MAX
 * @param out     [size]
 * @return 0, ERR_ARGUMENT for other numbers, an empty name or one that does not fit
 */
int shard_file_name(const char *result, long shard, long shards, char *out, size_t size);

#endif
