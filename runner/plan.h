/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef RUNNER_PLAN_H
#define RUNNER_PLAN_H

#include <stdio.h>

#include "io/canonical.h"
#include "runner/batch.h"
#include "runner/shard.h"
#include "runner/spec.h"
#include "runner/survey.h"
#include "scans/scan.h"

/* All that `plan` says of a scan. */
struct plan {
    const struct scan *scan;
    struct survey survey;
    int rows; /* rows of one worker's model object; 0: one a core of a socket */
    struct backend_device device; /* that a worker would compute on here; name "": the CPU */
    struct batch_ledger batch;    /* of it, as though nobody else used it */
    double worker_bytes; /* memory of one worker's model object and plane buffers, least */
    struct spec_size size;
    struct shard_division division; /* --shards; shards 0: not asked for */
    struct spec_size shard_size;    /* of the shard with most members */
    double transforms;              /* of the whole scan */
    long fft_length;                /* 0: the model makes no transforms */
    char configuration[CANONICAL_HASH_SIZE];
    char *numbers;      /* store_number_names; owned */
    char refusal[400];  /* why one run cannot do it, "" */
    double fft_seconds; /* one complex transform of that length here; 0: not measured */
};

/**
 * Compare the files that a run would go on with, of shards also those that they would be
 * collected into, with the scan: as the run does.
 *
 * @param result  NULL: the scan's name and .h5
 * @return 0; ERR_CONFLICT for one of another configuration, with the keys that differ
 */
int plan_check_files(const struct plan *plan, const char *result);

/** Write the plan for people. */
void plan_write_text(const struct plan *plan, FILE *out);

/** Write the table of the shards for people: of many the first, the last and the extremes. */
void plan_write_shards_text(const struct plan *plan, FILE *out);

/** The table of the shards as parts of a JSON object, nothing when it was not asked for. */
void plan_write_shards_json(const struct plan *plan, FILE *out);

/** Write the plan as one JSON object. */
void plan_write_json(const struct plan *plan, FILE *out);

#endif
