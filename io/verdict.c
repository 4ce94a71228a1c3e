/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "io/verdict.h"

#include <stdio.h>
#include <string.h>

#include "io/read.h"
#include "io/store_private.h"
#include "io/verdict_private.h"
#include "kernels/base/fault.h"
#include "kernels/base/mem.h"
#include "kernels/base/status.h"

#define BLOCK 4096 /* members read at a time */

static const char *const names[] = {
#define VERDICT_NAME(column, name, kind) "member/contract/" name,
    VERDICT_LIST(VERDICT_NAME)
#undef VERDICT_NAME
};

static const enum h5_kind kinds[] = {
#define VERDICT_KIND(column, name, kind) kind,
    VERDICT_LIST(VERDICT_KIND)
#undef VERDICT_KIND
};

static int open_column(struct store *store, int c, struct h5_dataset *out)
{
    TRY(store_open_dataset(store, names[c], out));
    const int dims = c == VERDICT_ERROR || c == VERDICT_GAIN ? 2 : 1;
    const bool fits = out->kind == kinds[c] && out->dims == dims
                      && out->length[0] == store->members
                      && (dims == 1 || out->length[1] == store->planes);
    if (!fits)
        FAIL(ERR_IO, "%s is of another type or length", out->name);
    return 0;
}

int verdict_open(struct store *store)
{
    if (!read_exists(store, names[VERDICT_CHOSEN]))
        return 0;
    store->verdicts =
        read_exists(store, names[VERDICT_GAIN]) ? VERDICT_COLUMNS : VERDICT_COMMON;
    for (int c = 0; c < store->verdicts; c++)
        TRY(open_column(store, c, &store->verdict[c]));
    return 0;
}

void verdict_close(struct store *store)
{
    for (int c = 0; c < VERDICT_COLUMNS; c++)
        h5_dataset_close(&store->verdict[c]);
}

bool verdict_has_room(const struct store *store)
{
    return store->verdicts > 0;
}

bool verdict_has_gains(const struct store *store)
{
    return store->verdicts == VERDICT_COLUMNS;
}

static int read_bytes(struct store *store, enum verdict_column c, int64_t first, int64_t count,
                      uint8_t *values)
{
    return store_get(store, &store->verdict[c], &first, &count, values);
}

static int read_some(struct store *store, int64_t first, int64_t count,
                     struct verdict_state *out)
{
    uint8_t byte[3][BLOCK];
    uint64_t key[BLOCK];
    TRY(read_bytes(store, VERDICT_CHOSEN, first, count, byte[0]));
    TRY(read_bytes(store, VERDICT_OUTCOME, first, count, byte[1]));
    TRY(read_bytes(store, VERDICT_VERDICT, first, count, byte[2]));
    TRY(store_get(store, &store->verdict[VERDICT_ENVELOPE], &first, &count, key));
    for (int64_t i = 0; i < count; i++) {
        if (byte[1][i] > MEMBER_QUARANTINED || byte[2][i] > VERDICT_OUTSIDE)
            FAIL(ERR_CONFLICT, "%s is damaged: member/contract of member %lld is unknown",
                 store->path, (long long)(first + i));
        out[i] = (struct verdict_state){.chosen = byte[0][i],
                                        .outcome = byte[1][i],
                                        .verdict = byte[2][i],
                                        .envelope = key[i]};
    }
    return 0;
}

int verdict_read(struct store *store, int64_t first, int64_t count, struct verdict_state *out)
{
    TRY(store_check_members(store, first, count));
    memset(out, 0, (size_t)count * sizeof *out);
    for (int64_t i = 0; store->verdicts > 0 && i < count; i += BLOCK)
        TRY(read_some(store, first + i, count - i < BLOCK ? count - i : BLOCK, out + i));
    return 0;
}

int verdict_choose(struct store *store, int64_t first, int64_t count, const uint8_t *chosen)
{
    TRY(store_check_members(store, first, count));
    if (store->verdicts == 0)
        FAIL(ERR_BUG, "%s has no room for verdicts", store->path);
    return store_put(store, &store->verdict[VERDICT_CHOSEN], &first, &count, chosen);
}

static int put(struct store *store, enum verdict_column c, int64_t member, const void *value)
{
    return store_put_row(store, &store->verdict[c], member, value);
}

int verdict_begin(struct store *store, int64_t member)
{
    int32_t attempts = 0;
    TRY(store_check_member(store, member));
    TRY(store_get_row(store, &store->verdict[VERDICT_ATTEMPTS], member, &attempts));
    attempts++;
    return put(store, VERDICT_ATTEMPTS, member, &attempts);
}

/* A text, NUL-padded to the column's width. */
static int put_text(struct store *store, enum verdict_column c, int64_t member,
                    const char *text)
{
    char padded[STORE_REASON_SIZE + 1] = "";
    const size_t size = store->verdict[c].size;
    if (size >= sizeof padded)
        FAIL(ERR_IO, "%s is wider than %d bytes", store->verdict[c].name, STORE_REASON_SIZE);
    snprintf(padded, size + 1, "%s", text);
    return put(store, c, member, padded);
}

/* Errors or gains. */
static int put_planes(struct store *store, enum verdict_column c, int64_t member,
                      const double *value)
{
    const struct h5_dataset *const data = &store->verdict[c];
    const int64_t start[] = {member, 0};
    const int64_t count[] = {1, data->length[1]};
    return value != NULL && count[1] > 0 ? store_put(store, data, start, count, value) : 0;
}

/* The window of a judgment; rows of whole lengths stay as they are. */
static int put_window(struct store *store, int64_t member, const struct verdict_end *end)
{
    if (end->gain == NULL || !verdict_has_gains(store))
        return 0;
    TRY(put_planes(store, VERDICT_GAIN, member, end->gain));
    TRY(put(store, VERDICT_REACH, member, &end->reach));
    return put(store, VERDICT_BEYOND, member, &end->beyond);
}

int verdict_put(struct store *store, int64_t member, const struct verdict_end *end)
{
    const uint8_t class = end->gain != NULL ? CONTRACT_N : CONTRACT_T;
    const uint8_t verdict = (uint8_t)end->verdict;
    const struct {
        enum verdict_column column;
        const char *value;
    } texts[] = {{VERDICT_NORM, end->norm},
                 {VERDICT_REFERENCE, end->reference},
                 {VERDICT_WINDOW, end->window},
                 {VERDICT_REASON, end->reason}};
    const struct {
        enum verdict_column column;
        const void *value;
    } numbers[] = {{VERDICT_CLASS, &class},
                   {VERDICT_BOUND, &end->bound},
                   {VERDICT_OBSERVED, &end->observed},
                   {VERDICT_MARGIN, &end->margin},
                   {VERDICT_WALL, &end->wall},
                   {VERDICT_RHS_CALLS, &end->rhs_calls},
                   {VERDICT_ENVELOPE, &end->envelope},
                   {VERDICT_VERDICT, &verdict}};
    TRY(store_check_member(store, member));
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        TRY(put_text(store, texts[i].column, member, texts[i].value));
    TRY(put_planes(store, VERDICT_ERROR, member, end->error));
    TRY(put_window(store, member, end));
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        TRY(put(store, numbers[i].column, member, numbers[i].value));
    return 0;
}

int verdict_commit(struct store *store, const struct verdict_word *word, int count)
{
    if (count > 0)
        TRY(store_sync(store));
    for (int i = 0; i < count; i++) {
        const uint8_t outcome = (uint8_t)word[i].outcome;
        fault_point("judge.outcome", word[i].member, -1);
        TRY(put(store, VERDICT_OUTCOME, word[i].member, &outcome));
        fault_point("judge.done", word[i].member, -1);
    }
    return 0;
}

int verdict_forget(struct store *store, int64_t member)
{
    const uint8_t none = 0;
    const uint64_t no_key = 0;
    TRY(store_check_member(store, member));
    if (store->verdicts == 0)
        return 0;
    TRY(put(store, VERDICT_OUTCOME, member, &none));
    TRY(put(store, VERDICT_VERDICT, member, &none));
    return put(store, VERDICT_ENVELOPE, member, &no_key);
}

/* Errors or gains of the planes, where the new file has as many. */
static int copy_planes(struct store *from, int64_t there, struct store *to, int64_t here,
                       enum verdict_column c)
{
    const struct h5_dataset *const old = &from->verdict[c];
    const int64_t start[] = {there, 0};
    const int64_t count[] = {1, old->length[1]};
    double *value = NULL;
    if (old->length[1] != to->verdict[c].length[1])
        return 0;
    TRY(MEM_NEW((long)count[1], &value));
    int rc = store_get(from, old, start, count, value);
    if (rc == 0)
        rc = put_planes(to, c, here, value);
    mem_free(value);
    return rc;
}

static int copy_value(struct store *from, int64_t there, struct store *to, int64_t here, int c)
{
    const struct h5_dataset *const old = &from->verdict[c];
    char value[STORE_REASON_SIZE];
    if (old->size != to->verdict[c].size || old->size > sizeof value)
        FAIL(ERR_CONFLICT, "%s: %s has another width than in %s", from->path, old->name,
             to->path);
    TRY(store_get_row(from, old, there, value));
    return put(to, (enum verdict_column)c, here, value);
}

int verdict_copy(struct store *from, int64_t there, struct store *to, int64_t here)
{
    uint8_t outcome = 0;
    if (to->verdicts == 0 || from->verdicts == 0)
        return verdict_forget(to, here);
    TRY(copy_value(from, there, to, here, VERDICT_CHOSEN));
    TRY(store_get_row(from, &from->verdict[VERDICT_OUTCOME], there, &outcome));
    if (outcome == 0)
        return verdict_forget(to, here);
    TRY(copy_planes(from, there, to, here, VERDICT_ERROR));
    for (int c = VERDICT_VERDICT; c < VERDICT_ERROR; c++)
        TRY(copy_value(from, there, to, here, c));
    if (verdict_has_gains(from) && verdict_has_gains(to)) {
        TRY(copy_planes(from, there, to, here, VERDICT_GAIN));
        TRY(copy_value(from, there, to, here, VERDICT_REACH));
        TRY(copy_value(from, there, to, here, VERDICT_BEYOND));
    }
    return put(to, VERDICT_OUTCOME, here, &outcome);
}

int verdict_read_window(struct store *store, int64_t member, struct verdict_window *out,
                        bool *known)
{
    const int64_t start[] = {member, 0};
    const int64_t count[] = {1, store->planes};
    uint8_t class = 0;
    uint8_t outcome = 0;
    *known = false;
    TRY(store_check_member(store, member));
    if (!verdict_has_gains(store))
        return 0;
    TRY(store_get_row(store, &store->verdict[VERDICT_CLASS], member, &class));
    TRY(store_get_row(store, &store->verdict[VERDICT_OUTCOME], member, &outcome));
    *known = outcome != MEMBER_PENDING && class == CONTRACT_N;
    if (!*known)
        return 0;
    if (out->gain != NULL)
        TRY(store_get(store, &store->verdict[VERDICT_GAIN], start, count, out->gain));
    TRY(store_get_row(store, &store->verdict[VERDICT_REACH], member, &out->reach));
    return store_get_row(store, &store->verdict[VERDICT_BEYOND], member, &out->beyond);
}
