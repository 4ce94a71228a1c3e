/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef IO_COLLECT_INDEX_H
#define IO_COLLECT_INDEX_H

#include <stdbool.h>
#include <stdint.h>

/* Where the newest record of each file stands in a collect log: 16 bytes a slot, two to four
 * slots a file. Private to io. */

/* A file that is known. */
struct collect_entry {
    uint64_t hash;  /* of its path */
    int64_t offset; /* of its record */
    bool seen;      /* it is one of the files of this run */
    bool tentative; /* its members may not count: the record has no commit behind it */
};

/* The same, packed. */
struct collect_slot {
    uint64_t hash;
    int64_t place; /* offset, seen and tentative; 0: empty */
};

/* An open-addressing table. */
struct collect_index {
    struct collect_slot *slot; /* [capacity] */
    long capacity;             /* a power of two */
    long count;
};

/** Insert or replace. ERR_MEMORY */
int collect_index_put(struct collect_index *index, const struct collect_entry *entry);

/** The entry of a path's hash. @return false without one */
bool collect_index_find(const struct collect_index *index, uint64_t hash,
                        struct collect_entry *out);

/** What was tentative before a commit is no more. */
void collect_index_commit(struct collect_index *index);

/** Free; legal on a zeroed table. */
void collect_index_clear(struct collect_index *index);

#endif
