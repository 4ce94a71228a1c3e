/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef IO_RESUME_H
#define IO_RESUME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "io/store.h"

/*
 * Checkpoints of members in progress: /resume/slot of the run file, [slots][2][bytes]. A slot
 * belongs to a worker's row, not to a member, and its halves are written in turns, so that one
 * whole checkpoint is there at any moment. A half is a head and the model's state; its checksum
 * covers both. It counts when its member is pending, the file knows of no later try, and no
 * more planes were committed before it than the file counts now.
 */

#define RESUME_SLOTS_MIN 16

/* What a checkpoint knows besides the model's state. */
struct resume_head {
    int64_t member;
    uint64_t
        seq; /* of two checkpoints of a member the larger one is newer: attempt and count */
    int64_t planes; /* committed before it */
    int64_t tries;  /* of the member, with the one that made it */
    double wall;    /* s spent on the member so far */
    double cpu;
    int64_t steps; /* counters of row_status */
    int64_t rejected;
    int64_t rhs_calls;
    int64_t transforms;
    int64_t history_count; /* steps of /step that belong to it */
    int64_t history_truncated;
    uint64_t history_hash; /* resume_hash_steps of them */
    uint64_t length;       /* bytes of the state */
};

/* Where a member's checkpoint lies: what rank 0 tells the workers. Plain data. */
struct resume_place {
    int64_t member;
    int64_t slot;
    int64_t half;
    int64_t planes;
    uint64_t seq;
};

/* Checkpoints that count, by member. */
struct resume_table {
    struct resume_place *place; /* [count] */
    int count;
};

/** Slots of a new file: twice the rows, so that no row is without one when others hold theirs
 * for members that nobody has continued yet; at least RESUME_SLOTS_MIN. */
int64_t resume_slots_for(int64_t rows);

/** Bytes of one half for a state of so many bytes. */
size_t resume_slot_bytes(size_t state);

/** Slots of an open file; 0: it keeps no checkpoints. */
int64_t resume_slots(const struct store *store);

/** Bytes of a state that a half has room for. */
size_t resume_room(const struct store *store);

/** Hash of the steps of a history, for resume_head. */
uint64_t resume_hash_steps(const struct step_record *record, long count);

/**
 * Write one half of a slot; with `store.sync: member` through to the disk.
 *
 * @param head   length and all
 * @param state  [head->length]
 * @return 0, ERR_IO, ERR_ARGUMENT for a slot or state that does not fit
 */
int resume_write(struct store *store, int64_t slot, int half, const struct resume_head *head,
                 const void *state);

/**
 * Read a checkpoint and check it against its checksum.
 *
 * @param state  [resume_room(store)] receives head->length bytes
 * @param valid  receives whether it is whole and of that member
 * @return 0, ERR_IO
 */
int resume_read(struct store *store, const struct resume_place *place, struct resume_head *head,
                void *state, bool *valid);

/**
 * The newest checkpoint that counts of each pending member; damaged ones are passed over.
 *
 * @param out  free with resume_table_clear
 */
int resume_survey(struct store *store, struct resume_table *out);

/** The same of one member. @param found false: it has none */
int resume_find(struct store *store, int64_t member, struct resume_place *out, bool *found);

/** Forget the checkpoints of one member: it begins anew. Nobody else may write them. ERR_IO */
int resume_drop_member(struct store *store, int64_t member);

/** Forget the checkpoints of members that have ended, before some of these are made pending
 * again: they begin anew. Single writer. ERR_IO */
int resume_drop_ended(struct store *store);

/** A member's place in a table, NULL: none. */
const struct resume_place *resume_table_find(const struct resume_table *table, int64_t member);

/**
 * Slots that no checkpoint of the table lies in, in rising order.
 *
 * @param slots  of the file
 * @param index  which one, from 0
 * @return its number, -1 when there are not so many
 */
int64_t resume_free_slot(const struct resume_table *table, int64_t slots, int64_t index);

/** Free; legal on a zeroed table. */
void resume_table_clear(struct resume_table *table);

#endif
