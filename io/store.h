/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef IO_STORE_H
#define IO_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernels/model.h"

/*
 * The store: one HDF5 file that survives SIGKILL at any moment (docs/run-file.md). Life of a
 * file: store_define (rank 0, everything created, flushed, closed), store_open by each worker
 * on MPI_COMM_SELF, store_write_plane + commits, store_close, store_finish (one process). No
 * call here is collective. Only n_saved says what has been written.
 */

#define STORE_FORMAT_VERSION 1
#define STORE_REASON_SIZE    240
#define STORE_TIMING_ROWS    4096
#define STORE_ATTEMPT_ROWS   64

/* member/state */
enum member_state {
    MEMBER_PENDING = 0,
    MEMBER_DONE = 2,
    MEMBER_FAILED = 3,
    MEMBER_TIMED_OUT = 4,
    MEMBER_QUARANTINED = 5,
    MEMBER_NOT_NEEDED = 6,
    MEMBER_EXCLUDED = 7
};

/* A scanned parameter: its scale in the root and its column under /member/param. */
struct store_param {
    const char *name; /* "pulse.duration": scale pulse_duration_values is written as name with
                         '.' -> '_' plus "_values"; member/param/pulse.duration likewise '_' */
    const char *unit;
    const char *doc;
    const char *as_written;
    int axis;             /* which axis it belongs to */
    const double *values; /* [axis_length[axis]] SI */
};

/* The facts of one member, written at define time and compared on resume. */
struct store_member_row {
    uint64_t identity[2];
    uint64_t point_key;
    int64_t realisation;
    int64_t grid;
};

/* Which members of its scan a file holds: the whole scan, or those of one shard. */
struct store_window {
    int64_t first; /* the file holds members [first, first + count) */
    int64_t count;
    long shard, shards; /* shard K of N, K from 1 */
};

/* When the ensemble of a point has members enough. */
struct store_until {
    char quantity[80]; /* mean_spectrum, g12 or an observable */
    double error;      /* wanted */
    int64_t min, max;  /* realisations of the first and of the last look */
    bool banded;       /* of a spectrum: these bins only */
    double omega[2];   /* rad/s, ascending */
};

/* Everything that store_define needs; all pointers borrowed during the call. */
struct store_spec {
    const char *scan_name;
    const char *model_name;
    const char *convention;
    const char *config; /* the scan file's text */
    size_t config_length;
    const char *config_canonical; /* one dotted `key: value` a line */
    int axes;
    const int64_t *axis_length; /* [axes] */
    int params;
    const struct store_param *param;
    int64_t points;
    int64_t realisations;
    int64_t grids;
    struct store_window window;             /* with shards <= 1: the whole scan */
    const struct plane_layout *layout;      /* the largest shape: every axis length, planes */
    const struct plane_layout *grid_layout; /* [grids] valid lengths of each grid */
    /* values of a layout axis of a grid, SI: fills values[grid_layout[grid].axis[axis].length]
     */
    int (*axis_values)(void *context, int64_t grid, int axis, double *values);
    /* per-member facts of members [first, first + count), ids of the scan */
    int (*member_rows)(void *context, int64_t first, int64_t count,
                       struct store_member_row *rows);
    void *context;
    const struct model_info *model; /* observables and bounds */
    bool field;                     /* arrays with is_field are stored */
    bool field_float32;             /* … narrowed to float32 / complex64 */
    const bool *observable;         /* [model->observable_count] stored or not */
    long history;                   /* steps kept a member */
    size_t resume_state;            /* bytes of the largest checkpointed state; 0: no /resume */
    int64_t resume_rows; /* members computed at the same time, as far as it is known */
    bool ensemble;       /* make /ensemble; not in a shard */
    const struct store_until *until; /* ensembles stop themselves; NULL: all members count */
    bool judged; /* members are judged by an envelope: room for what comes of it … */
    bool gains;  /* … on windows that are chosen by gains: room for those too */
    long histogram_bins;
    int compress;     /* 1 to 9: arrays in compressed pieces, for readers only; 0: not */
    bool sync_member; /* default of store_set_sync for this file */
    bool check_space;
    bool reserve; /* allocate the apparent size on the disk now (posix_fallocate) */
};

struct store; /* an open file */

/**
 * Bytes of the file that a spec gives: apparent size, and those that carry data when all is
 * done. Only lengths, names and flags are read: param[].values, grid_layout, axis_values and
 * member_rows may be NULL (`plan` of 10^9 points), and nothing is visited one by one.
 */
int store_bytes(const struct store_spec *spec, double *apparent, double *data);

/**
 * Names of what a file of a spec keeps as one number a plane or a point, in the order of the
 * file: progress, observables, numbers of the ensemble. What store_bytes leaves alone may be
 * NULL.
 *
 * @param names  receives a text with a NUL behind each name and an empty name at the end; free
 *               with mem_free
 */
int store_number_names(const struct store_spec *spec, char **names);

/** Bytes that one plane of a member takes in the file: arrays, numbers, checksum. */
int store_plane_bytes(const struct store_spec *spec, double *bytes);

/** Whether a new file of a spec has a folder, and room where the spec asks for a look: ERR_IO
 * with path, need and free bytes. Nothing is written. */
int store_check_room(const char *path, const struct store_spec *spec);

/**
 * Create the file: everything contiguous, early-allocated, fixed size; flushed, closed, opened
 * again as a check. Refuses when the file exists (ERR_CONFLICT), the directory is missing or
 * read-only, or the disk is too small (ERR_IO, with path, need and free bytes).
 */
int store_define(const char *path, const struct store_spec *spec);

/**
 * Compare an existing file with a spec: format, version, layout, canonical configuration, shard
 * and the member rows. Foreign, truncated, newer files, another configuration and another shard
 * are refused with ERR_CONFLICT and, for a configuration, the differing keys with both values.
 */
int store_compare(const char *path, const struct store_spec *spec);

/** The same of the configuration alone, of a file that is not to be written. */
int store_compare_config(const char *path, const struct store_spec *spec);

/** Whether a path exists at all. */
bool store_exists(const char *path);

/** Open for a worker (read-write, mpio driver on MPI_COMM_SELF); handles are opened once. A
 * compressed file is refused: ERR_CONFLICT. */
int store_open(const char *path, struct store **out);
/**
 * Open for reading only (status, plot, reduce): serial driver. Format, version, numbers, shapes
 * and the datasets that readers count on are checked: ERR_CONFLICT, "… is damaged: …".
 */
int store_open_read(const char *path, struct store **out);

/** Tries of a member that were made before this one, 0 for a member never begun. */
int store_read_attempts(struct store *store, int64_t member, int *attempts);

/** The same of members [first, first + count) as the file has them. @param tries [count] */
int store_read_tries(struct store *store, int64_t first, int64_t count, int32_t *tries);

/**
 * Make a member that ended without a result pending again: its planes and its reason are
 * forgotten, its tries stay counted. Single writer, before the workers open the file.
 */
int store_retry_member(struct store *store, int64_t member);

/* What earlier tries left of a member. */
struct store_past {
    int state;       /* enum member_state */
    int64_t n_saved; /* planes that count */
    int tries;       /* made before this one */
};

/** What is there of a member that may have been begun before. */
int store_read_past(struct store *store, int64_t member, struct store_past *out);

/** Count a try of a member that ended without a word, before the member goes on. */
int store_count_try(struct store *store, int64_t member);

/** Fail with "PATH is damaged: TEXT"; a path at the start of the text is left out.
 *  @return ERR_CONFLICT */
int store_fail_damaged(const char *path, const char *text);

/** Refuse a compressed file, which can be read only: ERR_CONFLICT with what to do. */
int store_refuse_compressed(const struct store *store);

/** Close; NULL is legal. Returns ERR_IO when data may be lost. */
int store_close(struct store *store);

/** Number of members that the file holds: all of the scan, or those of a shard. */
int64_t store_members(const struct store *store);
/** The first of them. Wherever a member is named, here and in the other headers, its id in the
 * scan is meant: store_first(store) ... store_first(store) + store_members(store) - 1. */
int64_t store_first(const struct store *store);
/** Number of members of the scan, points times realisations. */
int64_t store_scan_members(const struct store *store);
/** What the file holds of its scan; of an ordinary file shard 1 of 1. */
struct store_window store_window(const struct store *store);
/** Refuse a file that holds a shard: "PATH holds shard 3/16 of its scan; WHAT: collect the
 * shards first". @return 0 for an ordinary file, ERR_UNSUPPORTED */
int store_refuse_shard(const struct store *store, const char *what);
/** Number of points of the scan. */
int64_t store_points(const struct store *store);
/** Number of realisations a point. */
int64_t store_realisations(const struct store *store);

/**
 * State and n_saved of a range of members, for the resume decision and for status.
 *
 * @param state    [count] enum member_state; may be NULL
 * @param n_saved  [count]; may be NULL
 */
int store_read_states(struct store *store, int64_t first, int64_t count, uint8_t *state,
                      int64_t *n_saved);

/**
 * Write one plane of a member and commit it: arrays, observables, progress, checksum, then
 * n_saved = plane + 1. Arrays are in the layout's valid shape for the member's grid; beyond it
 * the file gets NaN (integers 0).
 *
 * @param layout   the member's own layout (valid lengths)
 * @param progress position of the plane, SI
 */
int store_write_plane(struct store *store, int64_t member, const struct plane_layout *layout,
                      long plane, double progress, const struct plane_buffers *buffers);

/**
 * Whether fdatasync comes before a member's `state` (`store.sync: member`). A finished member
 * then survives a power cut; without it, a killed process only. Default: what the spec said at
 * define time.
 */
void store_set_sync(struct store *store, bool member);

/**
 * How long (s) a plane may wait for its commit when the one before it came less than that ago:
 * planes in quick succession then share the writes of their numbers and of the count. A killed
 * process loses work of at most that time. 0, the default: each is committed at once. Planes
 * that wait are committed before any member's state is written, and by store_close.
 */
int store_set_planes_span(struct store *store, double seconds);

/**
 * Begin a chunk of short members: until store_end_chunk, store_end_member keeps the columns
 * back (in memory, 2048 members at most), so that few writes and one fdatasync serve them all.
 */
void store_begin_chunk(struct store *store);

/** Columns of the members ended since store_begin_chunk, one fdatasync (with sync), then their
 * states. To be called before the outcomes are reported. ERR_IO. Legal without
 * store_begin_chunk. */
int store_end_chunk(struct store *store);

/** Forget the planes of a member that is computed anew: n_saved = 0, state pending; the try
 * that saved them is counted. */
int store_reset_member(struct store *store, int64_t member);

/* Columns written when a member ends. */
struct store_member_end {
    enum member_state state;
    const char *reason; /* "" when done */
    int attempts;
    double wall; /* s */
    double cpu;  /* s */
    int rank;
    const char *host;
    const char *device;
    const char *kernel_id;        /* instruction set, FFT library or kernel */
    const struct row_status *row; /* counters and history */
    long steps_kept;              /* of the history, in the file already: store_put_steps */
};

/** Write a member's columns and its step history; `state` last. */
int store_end_member(struct store *store, int64_t member, const struct store_member_end *end);

/**
 * Write the steps of a member's history from `first` on, and how many are kept; those beyond
 * the file's room are left out. A file without /step takes nothing. ERR_IO
 */
int store_put_steps(struct store *store, int64_t member, const struct row_status *row,
                    long first);

/**
 * Read the first steps of a member's history.
 *
 * @param count   at most what the file keeps a member, else ERR_ARGUMENT
 * @param record  [count]
 */
int store_read_steps(struct store *store, int64_t member, long count,
                     struct step_record *record);

/** Disjoint parts of a worker's time, seconds: from opening the file to having closed it. */
struct store_timing {
    double load;    /* translation: parameters, tables, plans, input */
    double advance; /* kernels: the model's stepping and its observables */
    double host;    /* everything that is none of the others */
    double output;  /* writing, reducing */
    double mpi;     /* messages */
    double idle;    /* waiting for work */
    double total;   /* their sum */
};

/**
 * Write a worker's row of /timing. Ranks from STORE_TIMING_ROWS on are left out, and so are
 * columns that the file, made by an earlier program, does not have.
 *
 * @param attempt  as store_begin_attempt gave it
 */
int store_write_timing(struct store *store, int attempt, int rank,
                       const struct store_timing *timing);

/* What the run knows of itself, for /provenance. */
struct store_provenance {
    const char *libraries;  /* "Open MPI 4.1.4; HDF5 1.10.8; fftw-3.3.10…" */
    const char *build;      /* compiler and flags */
    const char *layout;     /* ranks, hosts, cores, one a line */
    const char *wisdom;     /* FFTW wisdom text */
    const char *thresholds; /* switching points, one a line; or NULL */
    const char *job;        /* SLURM_JOB_ID, or NULL */
    int restart_count;      /* SLURM_RESTART_COUNT, or 0 */
    bool sync_member;       /* this attempt syncs each member */
};

/**
 * Begin an attempt: single writer, before the workers open the file. Writes its row of
 * /provenance/attempt (start, job id, restart count) and the texts. An earlier row without an
 * end is closed as `ended without a record`.
 *
 * @param attempt receives its number, from 0; its row is the number modulo STORE_ATTEMPT_ROWS
 */
int store_begin_attempt(const char *path, const struct store_provenance *provenance,
                        int *attempt);

/**
 * Finish an attempt: single writer, all workers gone; idempotent. Sets `complete` when no
 * member is pending, ends the attempt's row unless it is ended, and writes the file through to
 * the disk.
 *
 * @param attempt  as store_begin_attempt gave it; -1: only `complete` (a finish that is
 * missing)
 */
int store_finish(const char *path, int attempt, int exit_code, const char *reason);

/**
 * Write the FFTW wisdom of this attempt; single writer, no workers (after the farm).
 */
int store_write_wisdom(const char *path, const char *wisdom);

/* What store_recover found. */
struct store_recovery {
    bool unclean;     /* the newest attempt did not end in order: planes were checked */
    int64_t members;  /* whose planes were checked */
    int64_t planes;   /* checked */
    int64_t lowered;  /* members that lost planes */
    int64_t reopened; /* of those: done members that are pending again */
    int64_t first;    /* the first of them, and what it has left */
    int64_t first_saved;
};

/**
 * After an end out of order: check what counts of the unfinished members, of all members when
 * the file is not synced, against the checksums, and lower n_saved to the first damaged plane;
 * a done member with such a plane is pending again, and its point is to be reduced anew. Then
 * the attempt's row is closed. Single writer, before an attempt; nothing is done after an end
 * in order. ERR_IO
 */
int store_recover(const char *path, struct store_recovery *out);

/**
 * Read one plane of a member as stored doubles or complex numbers.
 *
 * @param array  name of the array under /plane, e.g. "field"
 * @param values [elements] converted to double (complex: pairs)
 */
int store_read_plane(struct store *store, const char *array, int64_t member, long plane,
                     long elements, double *values);

/** Check the stored checksum of a plane against its bytes: 0, or ERR_IO when they differ. */
int store_check_plane(struct store *store, int64_t member, long plane);

#endif
