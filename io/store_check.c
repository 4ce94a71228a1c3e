/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Whether an open file has what format 1 promises: a reader must not stumble over the rest. */
#include <stdio.h>
#include <string.h>

#include "io/read.h"
#include "io/store_private.h"
#include "kernels/base/mem.h"
#include "kernels/base/status.h"

int store_fail_damaged(const char *path, const char *text)
{
    const size_t length = strlen(path);
    if (strncmp(text, path, length) == 0)
        text += length + strspn(text + length, ": ");
    FAIL(ERR_CONFLICT, "%s is damaged: %s", path, text);
}

static int check_numbers(const struct store *store)
{
    int64_t members = 0;
    const bool whole = store->window.shards < 2;
    if (store->members < 1 || store->points < 1 || store->realisations < 1 || store->grids < 1
        || store->planes < 1
        || __builtin_mul_overflow(store->points, store->realisations, &members)
        || (whole ? members != store->members : members < store->window.first + store->members))
        FAIL(ERR_IO, "%lld members, %lld points, %lld realisations, %ld planes do not fit",
             (long long)store->members, (long long)store->points,
             (long long)store->realisations, store->planes);
    return 0;
}

/* One row a member (or point, plane, …): the first lengths of a dataset. */
static int check_rows(const struct h5_dataset *dataset, int dims, const int64_t *length)
{
    bool fits = dataset->dims >= dims;
    for (int d = 0; fits && d < dims; d++)
        fits = dataset->length[d] == length[d];
    if (!fits)
        FAIL(ERR_IO, "%s has not one row for each of %lld", dataset->name,
             (long long)length[0]);
    return 0;
}

static int check_column(const struct store *store, enum store_column which, enum h5_kind kind)
{
    const struct h5_dataset *const column = &store->column[which];
    if (column->kind != kind || column->dims != 1)
        FAIL(ERR_IO, "%s is of another type", column->name);
    return 0;
}

static int check_history(const struct store_history *history, int64_t members)
{
    const struct h5_dataset *const steps[] = {&history->progress, &history->h, &history->order,
                                              &history->error, &history->accepted};
    const int64_t length[] = {members, history->capacity};
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++)
        TRY(check_rows(steps[i], 2, length));
    return check_rows(&history->n_steps, 1, length);
}

static int check_open_datasets(const struct store *store)
{
    const int64_t plane[] = {store->members, store->planes};
    bool checksum = false;
    bool progress = false;
    for (int i = 0; i < store->parts; i++) {
        TRY(check_rows(&store->part[i].data, 2, plane));
        checksum = checksum || store->part[i].part == PART_CHECKSUM;
        progress = progress || store->part[i].part == PART_PROGRESS;
    }
    if (!checksum || !progress)
        FAIL(ERR_IO, "plane has no %s", checksum ? "progress" : "checksum");
    for (int c = 0; c < COLUMN_COUNT; c++)
        TRY(check_rows(&store->column[c], 1, plane));
    if (store->history_open)
        TRY(check_history(&store->history, store->members));
    TRY(check_column(store, COLUMN_STATE, H5_U8));
    TRY(check_column(store, COLUMN_N_SAVED, H5_I64));
    TRY(check_column(store, COLUMN_ATTEMPTS, H5_I32));
    return check_column(store, COLUMN_REASON, H5_TEXT);
}

/* Other datasets that readers count on. rows -1: as many as members, -2: as points. */
static const struct {
    const char *path;
    const char *group; /* needed when this is there; NULL: always */
    int rows;
    bool text;
} needed[] = {
    {"complete", NULL, 0, false},
    {"member/identity", NULL, -1, false},
    {"member/seed", NULL, -1, false},
    {"member/grid", NULL, -1, false},
    {"provenance/attempt/number", NULL, STORE_ATTEMPT_ROWS, false},
    {"provenance/attempt/exit_code", NULL, STORE_ATTEMPT_ROWS, false},
    {"provenance/attempt/start", NULL, STORE_ATTEMPT_ROWS, true},
    {"provenance/attempt/end", NULL, STORE_ATTEMPT_ROWS, true},
    {"provenance/attempt/reason", NULL, STORE_ATTEMPT_ROWS, true},
    {"ensemble/reduced", "ensemble", -2, false},
    {"ensemble/n", "ensemble", -2, false},
    {"ensemble/n_failed", "ensemble", -2, false},
};

static int check_needed(struct store *store)
{
    for (size_t i = 0; i < sizeof needed / sizeof *needed; i++) {
        struct h5_dataset dataset;
        if (needed[i].group != NULL && !read_exists(store, needed[i].group))
            continue;
        if (!read_exists(store, needed[i].path))
            FAIL(ERR_IO, "it has no %s", needed[i].path);
        TRY(store_open_dataset(store, needed[i].path, &dataset));
        const int64_t rows = needed[i].rows == -1   ? store->members
                             : needed[i].rows == -2 ? store->points
                                                    : needed[i].rows;
        int rc = check_rows(&dataset, needed[i].rows != 0 ? 1 : 0, &rows);
        if (rc == 0 && needed[i].text != (dataset.kind == H5_TEXT))
            rc = status_fail(ERR_IO, "%s is of another type", needed[i].path);
        h5_dataset_close(&dataset);
        TRY(rc);
    }
    return 0;
}

int store_check(struct store *store)
{
    TRY(check_numbers(store));
    TRY(check_open_datasets(store));
    return check_needed(store);
}

int store_check_states(const struct store *store, int64_t first, int64_t count,
                       const uint8_t *state)
{
    for (int64_t i = 0; i < count; i++)
        if (state[i] == 1 || state[i] > MEMBER_EXCLUDED)
            FAIL(ERR_CONFLICT, "%s is damaged: member/state of member %lld is %d", store->path,
                 (long long)(first + i), state[i]);
    return 0;
}

int store_check_saved(const struct store *store, int64_t first, int64_t count,
                      const int64_t *n_saved)
{
    for (int64_t i = 0; i < count; i++)
        if (n_saved[i] < 0 || n_saved[i] > store->planes)
            FAIL(ERR_CONFLICT,
                 "%s is damaged: member/n_saved of member %lld is %lld of %ld planes",
                 store->path, (long long)(first + i), (long long)n_saved[i], store->planes);
    return 0;
}
