/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <errno.h>
#include <fcntl.h>

#include "io/store_private.h"

/*
 * Disk space for the planes that a member writes next, taken in one piece before them: the file
 * system then looks for space once instead of page by page, and a plane is written in three
 * quarters of the time (docs/performance.md, "Store"). The file's length and what is read from
 * it stay as they are. Only ever within the rows of a member that is being written; what a
 * member that ends early leaves unused is at most RESERVE_MOST an array.
 */
#define RESERVE_LEAST ((off_t)1 << 20) /* bytes; less is not worth the call */
#define RESERVE_MOST  ((off_t)16 << 20)

void store_reserve(struct store *store, struct store_part *part, int64_t member, long plane)
{
    off_t bytes = (off_t)part->data.size;
    for (int d = 2; d < part->data.dims; d++)
        bytes *= (off_t)part->data.length[d];
    const off_t row = (off_t)(member - part->data.origin) * store->planes;
    const off_t begin = (off_t)part->data.offset + (row + plane) * bytes;
    const off_t end = (off_t)part->data.offset + (row + store->planes) * bytes;
    const off_t length = end - begin < RESERVE_MOST ? end - begin : RESERVE_MOST;
    if (store->no_reserve || length < RESERVE_LEAST
        || (begin >= part->reserved[0] && begin < part->reserved[1]))
        return;
    part->reserved[0] = begin;
    part->reserved[1] = begin + length;
    /* whatever else stands in the way, a full disk above all, the write itself will say */
    if (fallocate(store->fd, FALLOC_FL_KEEP_SIZE, begin, length) != 0 && errno != EINTR)
        store->no_reserve = errno == EOPNOTSUPP || errno == ENOSYS;
}
