/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef RUNNER_BATCH_H
#define RUNNER_BATCH_H

#include "runner/worker.h"

/*
 * Rows of a batch on a device: as many as its free memory has room for, with the work areas of
 * their transforms, less a reserve for what the runtime takes beside, and no more than there
 * are members for a worker.
 */

#define BATCH_TEXT_SIZE 280
#define BATCH_RESERVE   16   /* one of so many parts of the device's memory is left alone */
#define BATCH_MOST      1024 /* rows */

/* Where the memory of a batch comes from and goes to; bytes. */
struct batch_ledger {
    double all;        /* of the device */
    double left;       /* that nobody has taken */
    double reserve;    /* that is not touched */
    double limit;      /* resources.memory of a worker, 0: none */
    int shares;        /* workers on the device, times the model objects that each may keep */
    double shared;     /* of a model object, whatever its rows */
    double row;        /* of one row more */
    double work;       /* of the transforms of one row */
    double work_row;   /* of those of one row more */
    int64_t most;      /* rows that there is a use for */
    int64_t rows;      /* the result */
    const char *bound; /* by what: "its memory" */
};

/**
 * Rows by a ledger whose other numbers are known. Pure.
 *
 * @return 0, or ERR_DEVICE when there is no room for one row, with the bytes
 */
int batch_count(struct batch_ledger *ledger, const char *device);

/** Model objects that a worker keeps at a time, each with a batch of its own. */
int batch_objects(const struct scan *scan);

/**
 * The same with what the transforms of a layout take, by the library of a backend.
 *
 * @param backend  of backend_names
 * @return 0, ERR_DEVICE, ERR_MEMORY
 */
int batch_fit(struct batch_ledger *ledger, const struct plane_layout *layout,
              const char *backend, const char *device);

/** Bytes of a model object with so many rows. */
double batch_bytes(const struct batch_ledger *ledger, int64_t rows);

/** The ledger in one line: what is free, what is kept, what the rows take. */
void batch_text(const struct batch_ledger *ledger, char *text, size_t size);

/**
 * Take the device of a worker and find how many rows it may have at the same time:
 * worker->placement.capacity. On the CPU that stands already, and nothing is done.
 *
 * @param worker  with scan, options, placement and device set; needs no worker_open
 * @param text    [BATCH_TEXT_SIZE] receives the ledger, "" on the CPU
 * @return 0, ERR_DEVICE, ERR_MEMORY
 */
int batch_open(struct worker *worker, char *text);

/** Rows of a model object for points of this layout, by what is free now: of a worker on a
 * device whose batch_open has been called; worker->placement.capacity at most.
 * @param out receives the ledger; its rows are >= 1 */
int batch_rows(const struct worker *worker, const struct plane_layout *layout,
               struct batch_ledger *out);

#endif
