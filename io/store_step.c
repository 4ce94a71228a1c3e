/* SPDX-License-Identifier: GPL-3.0-or-later */
/* /step: the trial steps of a member, as far as the file keeps them. */
#include "io/store_private.h"
#include "kernels/base/status.h"

#define STEP_BLOCK 512

/* A block of one column, as it stands in the file. */
union step_values {
    double real[STEP_BLOCK];
    int32_t integer[STEP_BLOCK];
    uint8_t byte[STEP_BLOCK];
};

/* Which number of a step a column keeps. */
enum step_part { STEP_PROGRESS, STEP_H, STEP_ORDER, STEP_ERROR, STEP_ACCEPTED };
enum { STEP_PARTS = STEP_ACCEPTED + 1 };

static const struct h5_dataset *step_column(const struct store *store, enum step_part part)
{
    const struct store_history *const h = &store->history;
    const struct h5_dataset *const columns[STEP_PARTS] = {[STEP_PROGRESS] = &h->progress,
                                                          [STEP_H] = &h->h,
                                                          [STEP_ORDER] = &h->order,
                                                          [STEP_ERROR] = &h->error,
                                                          [STEP_ACCEPTED] = &h->accepted};
    return columns[part];
}

static void step_take(const struct step_record *record, long count, enum step_part part,
                      union step_values *values)
{
    for (long i = 0; i < count; i++) {
        switch (part) {
        case STEP_PROGRESS:
            values->real[i] = record[i].position;
            break;
        case STEP_H:
            values->real[i] = record[i].length;
            break;
        case STEP_ORDER:
            values->integer[i] = record[i].order;
            break;
        case STEP_ERROR:
            values->real[i] = record[i].error;
            break;
        case STEP_ACCEPTED:
            values->byte[i] = record[i].accepted ? 1 : 0;
            break;
        }
    }
}

static void step_give(const union step_values *values, long count, enum step_part part,
                      struct step_record *record)
{
    for (long i = 0; i < count; i++) {
        switch (part) {
        case STEP_PROGRESS:
            record[i].position = values->real[i];
            break;
        case STEP_H:
            record[i].length = values->real[i];
            break;
        case STEP_ORDER:
            record[i].order = values->integer[i];
            break;
        case STEP_ERROR:
            record[i].error = values->real[i];
            break;
        case STEP_ACCEPTED:
            record[i].accepted = values->byte[i];
            break;
        }
    }
}

static long block_of(long first, long end)
{
    return end - first < STEP_BLOCK ? end - first : STEP_BLOCK;
}

/* Columns of steps [first, end). */
static int put_columns(struct store *store, int64_t member, const struct step_record *record,
                       long first, long end)
{
    union step_values values;
    for (int p = 0; p < STEP_PARTS; p++)
        for (long i = first; i < end; i += STEP_BLOCK) {
            const int64_t start[] = {member, i};
            const int64_t count[] = {1, block_of(i, end)};
            step_take(record + i, block_of(i, end), (enum step_part)p, &values);
            TRY(store_put(store, step_column(store, (enum step_part)p), start, count, &values));
        }
    return 0;
}

int store_put_steps(struct store *store, int64_t member, const struct row_status *row,
                    long first)
{
    int64_t kept = 0;
    if (!store->history_open)
        return 0;
    if (row->history != NULL) {
        kept = row->history_count < store->history.capacity ? row->history_count
                                                            : store->history.capacity;
        TRY(put_columns(store, member, row->history, first, (long)kept));
    }
    return store_put_row(store, &store->history.n_steps, member, &kept);
}

int store_read_steps(struct store *store, int64_t member, long count,
                     struct step_record *record)
{
    union step_values values;
    TRY(store_check_member(store, member));
    if (count < 0 || count > (store->history_open ? store->history.capacity : 0))
        FAIL(ERR_ARGUMENT, "%s keeps %ld steps a member, %ld asked for", store->path,
             store->history_open ? store->history.capacity : 0, count);
    for (int p = 0; p < STEP_PARTS; p++)
        for (long i = 0; i < count; i += STEP_BLOCK) {
            const int64_t start[] = {member, i};
            const int64_t block[] = {1, block_of(i, count)};
            TRY(store_get(store, step_column(store, (enum step_part)p), start, block, &values));
            step_give(&values, block_of(i, count), (enum step_part)p, record + i);
        }
    return 0;
}
