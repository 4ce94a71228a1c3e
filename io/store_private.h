/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef IO_STORE_PRIVATE_H
#define IO_STORE_PRIVATE_H

#include <stdbool.h>
#include <stdint.h>

#include "io/h5.h"
#include "io/hash.h"
#include "io/schema.h"
#include "io/store.h"

/* The open store, shared by io's own files. */

#define STORE_HELD_MAX 2048 /* about 1.3 MB of columns */

/* Planes that wait for their commit together; more gain nothing. */
#define STORE_READY_MAX 64

/* Columns of /member that a worker writes at the end of a member, and of /step. */
#define STORE_COLUMN_LIST(X)                                                                   \
    X(COLUMN_N_SAVED, "member/n_saved")                                                        \
    X(COLUMN_STATE, "member/state")                                                            \
    X(COLUMN_REASON, "member/reason")                                                          \
    X(COLUMN_ATTEMPTS, "member/attempts")                                                      \
    X(COLUMN_WALL, "member/wall_s")                                                            \
    X(COLUMN_CPU, "member/cpu_s")                                                              \
    X(COLUMN_RANK, "member/rank")                                                              \
    X(COLUMN_HOST, "member/host")                                                              \
    X(COLUMN_DEVICE, "member/device")                                                          \
    X(COLUMN_KERNEL_ID, "member/kernel_id")                                                    \
    X(COLUMN_STEPS, "member/steps")                                                            \
    X(COLUMN_REJECTED, "member/rejected")                                                      \
    X(COLUMN_RHS_CALLS, "member/rhs_calls")                                                    \
    X(COLUMN_TRANSFORMS, "member/transforms")                                                  \
    X(COLUMN_TRUNCATED, "member/history_truncated")

/* Columns of the tables /member and /point, in this order. */
enum store_column {
#define STORE_COLUMN_ENUM(name, path) name,
    STORE_COLUMN_LIST(STORE_COLUMN_ENUM)
#undef STORE_COLUMN_ENUM
        COLUMN_COUNT
};

/* Columns of /member/contract, for io's own files. */
#define VERDICT_LIST(X)                                                                        \
    X(VERDICT_CHOSEN, "chosen", H5_U8)                                                         \
    X(VERDICT_OUTCOME, "outcome", H5_U8)                                                       \
    X(VERDICT_VERDICT, "verdict", H5_U8)                                                       \
    X(VERDICT_ENVELOPE, "envelope", H5_U64)                                                    \
    X(VERDICT_ATTEMPTS, "attempts", H5_I32)                                                    \
    X(VERDICT_CLASS, "class", H5_U8)                                                           \
    X(VERDICT_NORM, "norm", H5_TEXT)                                                           \
    X(VERDICT_REFERENCE, "reference", H5_TEXT)                                                 \
    X(VERDICT_WINDOW, "window", H5_TEXT)                                                       \
    X(VERDICT_REASON, "reason", H5_TEXT)                                                       \
    X(VERDICT_BOUND, "bound", H5_F64)                                                          \
    X(VERDICT_OBSERVED, "observed", H5_F64)                                                    \
    X(VERDICT_MARGIN, "margin", H5_F64)                                                        \
    X(VERDICT_WALL, "wall_s", H5_F64)                                                          \
    X(VERDICT_RHS_CALLS, "rhs_calls", H5_I64)                                                  \
    X(VERDICT_ERROR, "error", H5_F64)                                                          \
    X(VERDICT_GAIN, "gain", H5_F64)                                                            \
    X(VERDICT_REACH, "window_end", H5_F64)                                                     \
    X(VERDICT_BEYOND, "planes_beyond", H5_I64)

/* The same in this order. */
enum verdict_column {
#define VERDICT_ENUM(column, name, kind) column,
    VERDICT_LIST(VERDICT_ENUM)
#undef VERDICT_ENUM
        VERDICT_COLUMNS,
    VERDICT_COMMON = VERDICT_GAIN /* columns of every file with room; the others only where
                                     gains are measured */
};

/* A dataset of /plane. */
struct store_part {
    struct h5_dataset data;
    enum plane_part part;
    int index;
    char name[SCHEMA_NAME_MAX];
    struct h5_dataset valid[LAYOUT_DIMS_MAX]; /* member/n_DIM of its inner dimensions */
    int64_t reserved[2]; /* bytes of the file that store_reserve took last */
};

/* Lengths of a plane of an array, padded in front with ones to LAYOUT_DIMS_MAX dimensions. */
struct store_shape {
    long whole[LAYOUT_DIMS_MAX];
    long valid[LAYOUT_DIMS_MAX];
};

/* Step history; not open when the file keeps none. */
struct store_history {
    struct h5_dataset progress, h, order, error, accepted, n_steps;
    long capacity;
};

/* A member whose end is written with the next commit. */
/* Members that have ended since store_begin_chunk: their columns go into the file together,
 * one write for each column and run of neighbours. */
struct store_held {
    int count;
    int64_t member[STORE_HELD_MAX];
    char *value[COLUMN_COUNT]; /* [STORE_HELD_MAX] elements of the column */
};

/* Planes whose numbers and counts are not in the file yet (store_planes.c). */
struct store_ready {
    int64_t member;   /* of the first */
    int64_t first;    /* plane */
    int64_t count;    /* planes; 0: none */
    uint64_t *value;  /* [parts][STORE_READY_MAX] numbers and checksums, as stored */
    double span;      /* s that planes may wait; 0: none does */
    double committed; /* clock_wall of the last commit */
};

/* An open file with the handles that it keeps. */
struct store {
    char *path;
    int64_t file;
    int fd;      /* of raw reads and writes and fdatasync */
    bool writes; /* it is open for writing */
    bool sync;
    struct store_window window;
    int64_t members; /* rows: those of the window */
    int64_t points, realisations, grids;
    bool no_reserve; /* the file system has no fallocate */
    long planes;
    struct store_part
        *part; /* [parts] progress, arrays, observables, checksum, in this order */
    int parts;
    struct h5_dataset column[COLUMN_COUNT];
    struct store_history history;
    struct h5_dataset resume; /* resume/slot; not open when the file has none */
    struct h5_dataset verdict[VERDICT_COLUMNS]; /* not open when the file has none */
    int verdicts; /* columns of them that are open, from the first: 0, VERDICT_COMMON or
                     VERDICT_COLUMNS */
    bool history_open;
    struct hash_stream *hash;
    void *dense;  /* one plane of the largest array, valid part */
    void *padded; /* … the whole */
    struct store_held held;
    struct store_ready ready;
    bool chunk;
};

/** The part of a kind and index, NULL when the file does not keep it. */
struct store_part *store_find_part(struct store *store, enum plane_part part, int index);

/** The part of a name, NULL when there is none. */
struct store_part *store_find_name(struct store *store, const char *name);

/** Shape of an array's plane for a member, from member/n_DIM. */
int store_shape(struct store *store, struct store_part *part, int64_t member,
                struct store_shape *shape);

/** Elements of the valid part of a shape. */
long store_shape_valid(const struct store_shape *shape);

/** Copy the valid part out of a whole plane: dense[valid elements]. */
void store_take_valid(const struct store_shape *shape, size_t size, const void *whole,
                      void *dense);

/** Copy a dense valid part into a whole plane, the rest filled (NaN; integers 0). */
void store_fill_whole(const struct store_shape *shape, enum h5_kind kind, const void *dense,
                      void *whole);

/** Take disk space for the planes of a member from this one on, where that pays. Never fails.
 */
void store_reserve(struct store *store, struct store_part *part, int64_t member, long plane);

/** Write a block that is one contiguous byte range. ERR_IO with path and errno. */
int store_put(struct store *store, const struct h5_dataset *dataset, const int64_t *start,
              const int64_t *count, const void *values);

/** One element of a column of a member. */
int store_put_row(struct store *store, const struct h5_dataset *dataset, int64_t row,
                  const void *value);

/** Read a block that is one contiguous byte range: by the store's own descriptor, a tenth of
 * the time that HDF5 takes; by HDF5 where the data have no place of their own. ERR_IO. */
int store_get(struct store *store, const struct h5_dataset *dataset, const int64_t *start,
              const int64_t *count, void *values);

/** One element of a column of a member. */
int store_get_row(struct store *store, const struct h5_dataset *dataset, int64_t row,
                  void *value);

/** Whether a plane's bytes have its checksum. @return 0, ERR_IO where they cannot be read */
int store_test_plane(struct store *store, int64_t member, long plane, bool *right);

/** The checksum that a plane would have with another seed: as another member's. */
int store_hash_plane(struct store *store, int64_t member, long plane, uint64_t seed,
                     uint64_t *hash);

/** Whether the newest attempt ended in order: finished, failed members, or stopped. A file
 * without attempts did. @param synced whether it synced its members */
int store_ended_well(struct store *store, bool *well, bool *synced);

/** Close the rows of attempts that have no end. */
int store_close_attempts(struct store *store);

/** What a test build asks of the write of a plane here: death, or an error (fault.h). */
int store_plane_fault(const struct store *store, const char *point, int64_t member, long plane);

/** A plane begins whose numbers will be held: what waits of others is committed. */
int store_begin_plane(struct store *store, int64_t member, long plane);

/** Hold a number or checksum of the plane that was begun. @param value 8 bytes as stored */
int store_hold_number(struct store *store, const struct store_part *part, const void *value);

/** The plane is whole: it is committed with those that wait, at once or soon. */
int store_end_plane(struct store *store);

/** Numbers, checksums and then the count of the planes that wait into the file. */
int store_commit_planes(struct store *store);

/** Whether a member is one that the file holds; ERR_ARGUMENT. */
int store_check_member(const struct store *store, int64_t member);

/** The same of members [first, first + count). */
int store_check_members(const struct store *store, int64_t first, int64_t count);

/** The numbers of an open file from its attributes, its window too. ERR_IO */
int store_read_numbers(struct store *store);

/** Room for one plane of the largest array, twice (valid part and whole), and for hashing. */
int store_make_scratch(struct store *store);

/** The window of an open file whose numbers have been read, from its attributes. ERR_IO */
int store_read_window(struct store *store);

/** Open a dataset of an open file: the rows of /member, /plane and /step are called by the
 * members' ids. ERR_IO */
int store_open_dataset(const struct store *store, const char *name, struct h5_dataset *out);

/** What the first row of a dataset of that name is called. */
int64_t store_dataset_origin(const struct store *store, const char *name);

/** Data so far through to the disk, when the store syncs its members. ERR_IO. */
int store_sync(struct store *store);

/** Whether an open file has what format 1 promises, numbers, shapes and datasets: ERR_IO. */
int store_check(struct store *store);

/** Whether states that were read are known ones: ERR_CONFLICT, the file is damaged. */
int store_check_states(const struct store *store, int64_t first, int64_t count,
                       const uint8_t *state);

/** Whether numbers of planes that were read can be: ERR_CONFLICT, the file is damaged. */
int store_check_saved(const struct store *store, int64_t first, int64_t count,
                      const int64_t *n_saved);

/** Whether a dataset of the file is as the schema says: ERR_CONFLICT with what differs. */
int store_compare_entry(int64_t file, const char *path, const struct schema_entry *entry);

/** Whether a dataset need not be as the schema says. */
bool store_skips_entry(const struct store *store, const struct schema_entry *entry);

/** Check that a file is a scanfarm file of a known version: ERR_CONFLICT with the reason,
 * ERR_IO when there is none or it cannot be read. Opens and closes it. */
int store_check_format(const char *path);

#endif
