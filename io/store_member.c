/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "io/read.h"
#include "io/store_private.h"
#include "io/verdict.h"
#include "kernels/base/fault.h"
#include "kernels/base/status.h"

void store_set_sync(struct store *store, bool member)
{
    store->sync = member;
}

int store_reset_member(struct store *store, int64_t member)
{
    TRY(store_check_member(store, member));
    TRY(store_commit_planes(store));
    const int64_t none = 0;
    const uint8_t pending = MEMBER_PENDING;
    /* The state first: a killed process must not leave a done member without planes. */
    TRY(store_put_row(store, &store->column[COLUMN_STATE], member, &pending));
    TRY(store_put_row(store, &store->column[COLUMN_N_SAVED], member, &none));
    TRY(verdict_forget(store, member));
    return store_count_try(store, member); /* the one whose planes are forgotten */
}

int store_count_try(struct store *store, int64_t member)
{
    int tries = 0;
    TRY(store_read_attempts(store, member, &tries));
    const int32_t one_more = tries + 1;
    return store_put_row(store, &store->column[COLUMN_ATTEMPTS], member, &one_more);
}

int store_read_past(struct store *store, int64_t member, struct store_past *out)
{
    uint8_t state = 0;
    int32_t tries = 0;
    TRY(store_check_member(store, member));
    TRY(store_get_row(store, &store->column[COLUMN_STATE], member, &state));
    TRY(store_get_row(store, &store->column[COLUMN_N_SAVED], member, &out->n_saved));
    TRY(store_get_row(store, &store->column[COLUMN_ATTEMPTS], member, &tries));
    TRY(store_check_states(store, member, 1, &state));
    TRY(store_check_saved(store, member, 1, &out->n_saved));
    out->state = state;
    out->tries = tries > 0 ? tries : 0;
    return 0;
}

int store_read_attempts(struct store *store, int64_t member, int *attempts)
{
    int32_t tries = 0;
    TRY(store_check_member(store, member));
    TRY(h5_read_rows(&store->column[COLUMN_ATTEMPTS], member, 1, &tries));
    *attempts = tries > 0 ? tries : 0;
    return 0;
}

/* Where the column of a member that ends now is kept. */
static char *held_value(struct store *store, enum store_column column)
{
    const size_t size = store->column[column].size;
    return store->held.value[column] + (size_t)store->held.count * size;
}

/* A text, NUL-padded to the column's width and cut between characters of UTF-8. */
static void hold_text(struct store *store, enum store_column column, const char *text)
{
    const size_t size = store->column[column].size;
    char *const value = held_value(store, column);
    size_t length = text == NULL ? 0 : strlen(text);
    if (length > size) {
        length = size;
        while (length > 0 && ((unsigned char)text[length] & 0xc0) == 0x80)
            length--;
    }
    memset(value, 0, size);
    if (length > 0)
        memcpy(value, text, length); /* NOLINT(bugprone-not-null-terminated-result): zeroed */
}

static void hold_numbers(struct store *store, const struct store_member_end *end)
{
    static const struct row_status none;
    const struct row_status *const row = end->row != NULL ? end->row : &none;
    const int32_t attempts = end->attempts;
    const int32_t rank = end->rank;
    const int64_t steps = row->steps;
    const int64_t rejected = row->rejected;
    const int64_t rhs_calls = row->rhs_calls;
    const int64_t transforms = row->transforms;
    const uint8_t truncated = row->history_truncated ? 1 : 0;
    const uint8_t state = (uint8_t)end->state;
    const struct {
        enum store_column column;
        const void *value;
    } numbers[] = {{COLUMN_ATTEMPTS, &attempts},   {COLUMN_RANK, &rank},
                   {COLUMN_WALL, &end->wall},      {COLUMN_CPU, &end->cpu},
                   {COLUMN_STEPS, &steps},         {COLUMN_REJECTED, &rejected},
                   {COLUMN_RHS_CALLS, &rhs_calls}, {COLUMN_TRANSFORMS, &transforms},
                   {COLUMN_TRUNCATED, &truncated}, {COLUMN_STATE, &state}};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        memcpy(held_value(store, numbers[i].column), numbers[i].value,
               store->column[numbers[i].column].size);
}

int store_sync(struct store *store)
{
    if (store->sync && fdatasync(store->fd) != 0)
        FAIL(ERR_IO, "cannot write %s through to the disk: %s (errno %d)", store->path,
             strerror(errno), errno);
    return 0;
}

int store_end_member(struct store *store, int64_t member, const struct store_member_end *end)
{
    TRY(store_check_member(store, member));
    hold_text(store, COLUMN_REASON, end->reason);
    hold_text(store, COLUMN_HOST, end->host);
    hold_text(store, COLUMN_DEVICE, end->device);
    hold_text(store, COLUMN_KERNEL_ID, end->kernel_id);
    hold_numbers(store, end);
    if (end->row != NULL)
        TRY(store_put_steps(store, member, end->row, end->steps_kept));
    store->held.member[store->held.count++] = member;
    if (store->chunk && store->held.count < STORE_HELD_MAX)
        return 0;
    const bool chunk = store->chunk;
    TRY(store_end_chunk(store));
    store->chunk = chunk;
    return 0;
}

void store_begin_chunk(struct store *store)
{
    store->chunk = true;
}

/* Write a column of all held members, a run of neighbours at a time. */
static int put_held(struct store *store, enum store_column column, int held)
{
    const struct h5_dataset *const dataset = &store->column[column];
    const int64_t *const member = store->held.member;
    for (int first = 0; first < held;) {
        int end = first + 1;
        while (end < held && member[end] == member[end - 1] + 1)
            end++;
        const int64_t start[H5_DIMS_MAX] = {member[first]};
        const int64_t count[H5_DIMS_MAX] = {end - first};
        TRY(store_put(store, dataset, start, count,
                      store->held.value[column] + (size_t)first * dataset->size));
        first = end;
    }
    return 0;
}

/* In test builds: what shall happen before a member's state is written. */
static int store_member_fault(const struct store *store, const char *point, int64_t member)
{
    fault_point(point, member, -1);
    const int error = fault_error(point, member, -1);
    if (error != 0)
        FAIL(ERR_IO, "cannot write %s: member/state of member %lld: %s (errno %d)", store->path,
             (long long)member, strerror(error), error);
    return 0;
}

int store_end_chunk(struct store *store)
{
    static const enum store_column columns[] = {
        COLUMN_REASON,    COLUMN_HOST,       COLUMN_DEVICE,   COLUMN_KERNEL_ID, COLUMN_ATTEMPTS,
        COLUMN_RANK,      COLUMN_WALL,       COLUMN_CPU,      COLUMN_STEPS,     COLUMN_REJECTED,
        COLUMN_RHS_CALLS, COLUMN_TRANSFORMS, COLUMN_TRUNCATED};
    const int held = store->held.count;
    TRY(store_commit_planes(store));
    store->chunk = false;
    store->held.count = 0;
    if (held == 0)
        return 0;
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++)
        TRY(put_held(store, columns[i], held));
    TRY(store_sync(store));
    for (int i = 0; i < held; i++)
        TRY(store_member_fault(store, "member.state", store->held.member[i]));
    TRY(put_held(store, COLUMN_STATE, held));
    for (int i = 0; i < held; i++)
        TRY(store_member_fault(store, "member.done", store->held.member[i]));
    return 0;
}

int store_write_timing(struct store *store, int attempt, int rank,
                       const struct store_timing *timing)
{
    if (rank < 0 || rank >= STORE_TIMING_ROWS)
        return 0;
    const int64_t number = attempt + 1;
    const struct {
        const char *path;
        const void *value;
    } columns[] = {{"timing/load", &timing->load},   {"timing/advance", &timing->advance},
                   {"timing/host", &timing->host},   {"timing/output", &timing->output},
                   {"timing/mpi", &timing->mpi},     {"timing/idle", &timing->idle},
                   {"timing/total", &timing->total}, {"timing/attempt", &number}};
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++) {
        struct h5_dataset dataset;
        if (!read_exists(store, columns[i].path))
            continue;
        TRY(h5_dataset_open(store->file, store->path, columns[i].path, &dataset));
        const int rc = store_put_row(store, &dataset, rank, columns[i].value);
        h5_dataset_close(&dataset);
        TRY(rc);
    }
    return 0;
}
