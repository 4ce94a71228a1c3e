/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef IO_COPY_H
#define IO_COPY_H

#include <stdbool.h>
#include <stdint.h>

#include "io/store_private.h"

/*
 * Members from one file into another; private to io. The bytes are the same, except for the
 * checksums where a member has another number in the new file. Each plane is checked while it
 * is copied. First the planes and the columns of many members, then one fdatasync, then what
 * makes them count: `n_saved`, `state` last.
 */

#define COPY_HELD_MAX 1024 /* members that share one fdatasync */

/* What is taken of a member. */
struct copy_order {
    int64_t from;
    int64_t to;
    int64_t planes; /* that count */
    enum member_state state;
};

/* The two files, and the members that are whole in the new one but do not count yet. */
struct copy {
    struct store *from;       /* open for reading; may change between two members */
    struct store *to;         /* open for writing */
    bool stuck;               /* the last error was of the new file */
    struct step_record *step; /* [history of the new file] */
    int held;
    struct copy_order order[COPY_HELD_MAX];
};

/** Begin. @param to borrowed, open for writing */
int copy_init(struct store *to, struct copy *out);

/**
 * Copy a member of the old file; it counts from the next copy_flush, of which there must be one
 * for each COPY_HELD_MAX members. Of one that is pending its planes and tries are taken, of
 * others all columns and the history, and the planes that it does not have become NaN.
 * Checkpoints are not taken.
 *
 * @param right  receives false when a plane has not its checksum: the member does not count
 * then, and the planes that were copied of it are NaN
 * @return 0; ERR_CONFLICT, ERR_IO, of which copy->stuck tells whose they are
 */
int copy_member(struct copy *copy, const struct copy_order *order, bool *right);

/** Make a member of the new file one that was never begun, before another is put in its place:
 *  pending first, then without planes; the reduction of its point counts no more. */
int copy_forget(struct copy *copy, int64_t member);

/** Whether a member of the new file waits for copy_flush. */
bool copy_holds(const struct copy *copy, int64_t member);

/** Data through to the disk where the new file syncs, then what was held counts. */
int copy_flush(struct copy *copy);

/** Free; legal on a zeroed object. What is held does not count. */
void copy_clear(struct copy *copy);

#endif
