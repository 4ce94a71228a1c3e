/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "io/verify.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "io/read.h"
#include "io/verify_private.h"
#include "kernels/base/mem.h"
#include "kernels/base/status.h"

#define BLOCK 4096 /* members looked at at a time */

static const struct {
    const char *name;
    const char *text;
} kinds[VERIFY_KINDS] = {
#define VERIFY_ROW(kind, name, doc) {name, doc},
    VERIFY_LIST(VERIFY_ROW)
#undef VERIFY_ROW
};

const char *verify_kind_name(enum verify_kind kind)
{
    return kinds[kind].name;
}

const char *verify_kind_text(enum verify_kind kind)
{
    return kinds[kind].text;
}

void verify_break(struct verify_report *report, enum verify_kind kind, const char *format, ...)
{
    struct verify_result *const r = &report->kind[kind];
    r->broken++;
    if (r->worst == VERIFY_WORST_MAX)
        return;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(r->text[r->worst++], VERIFY_TEXT_SIZE, format, arguments);
    va_end(arguments);
}

void verify_skip(struct verify_report *report, enum verify_kind kind, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(report->kind[kind].skipped, VERIFY_TEXT_SIZE, format, arguments);
    va_end(arguments);
}

/* Members of a block, as they stand in the file. */
struct block {
    int64_t first, count;
    uint8_t state[BLOCK];
    int64_t saved[BLOCK];
    uint8_t truncated[BLOCK];
    int64_t steps[BLOCK];
    int64_t rejected[BLOCK];
    int64_t kept[BLOCK];
};

/* What is being looked at. */
struct verify {
    struct store *store;
    struct verify_report *report;
    struct step_record *step; /* [history] */
    int64_t pending;
};

static bool has_failed(uint8_t state)
{
    return state == MEMBER_FAILED || state == MEMBER_TIMED_OUT || state == MEMBER_QUARANTINED;
}

static int verify_reason(struct verify *v, int64_t member)
{
    char reason[STORE_REASON_SIZE + 1] = "";
    TRY(store_get_row(v->store, &v->store->column[COLUMN_REASON], member, reason));
    if (reason[0] == '\0')
        verify_break(v->report, VERIFY_STATES, "member %" PRId64 " has failed without a reason",
                     member);
    return 0;
}

static int verify_state(struct verify *v, int64_t member, uint8_t state, int64_t saved)
{
    const long planes = v->store->planes;
    v->report->kind[VERIFY_STATES].checked++;
    v->pending += state == MEMBER_PENDING;
    if (state == 1 || state > MEMBER_EXCLUDED)
        verify_break(v->report, VERIFY_STATES, "member %" PRId64 " has state %d, which is none",
                     member, state);
    else if (saved < 0 || saved > planes)
        verify_break(v->report, VERIFY_STATES,
                     "member %" PRId64 " has %" PRId64 " of %ld planes saved", member, saved,
                     planes);
    else if (state == MEMBER_DONE && saved != planes)
        verify_break(v->report, VERIFY_STATES,
                     "member %" PRId64 " is done with %" PRId64 " of %ld planes saved", member,
                     saved, planes);
    else if (has_failed(state))
        return verify_reason(v, member);
    return 0;
}

static int verify_planes(struct verify *v, int64_t member, int64_t saved)
{
    const long counted = saved < v->store->planes ? (long)saved : v->store->planes;
    for (long plane = 0; plane < counted; plane++) {
        char text[300] = "";
        bool right = true;
        const struct status_saved capture = status_capture_save();
        status_capture(text, sizeof text);
        const int rc = store_test_plane(v->store, member, plane, &right);
        status_capture_restore(capture);
        v->report->kind[VERIFY_PLANES].checked++;
        if (rc == ERR_MEMORY)
            FAIL(rc, "%s", text);
        if (rc != 0)
            verify_break(v->report, VERIFY_PLANES,
                         "plane %ld of member %" PRId64 " cannot be read: %s", plane, member,
                         text);
        else if (!right)
            verify_break(v->report, VERIFY_PLANES,
                         "plane %ld of member %" PRId64 " has not its checksum", plane, member);
    }
    return 0;
}

/* Totals of /member against the sums over /step. */
static int verify_steps(struct verify *v, const struct block *b, int64_t i)
{
    const int64_t member = b->first + i;
    int64_t accepted = 0;
    v->report->kind[VERIFY_STEPS].checked++;
    if (b->kept[i] < 0 || b->kept[i] > v->store->history.capacity) {
        verify_break(v->report, VERIFY_STEPS,
                     "member %" PRId64 " keeps %" PRId64 " of %ld steps", member, b->kept[i],
                     v->store->history.capacity);
        return 0;
    }
    if (b->kept[i] > 0)
        TRY(store_read_steps(v->store, member, (long)b->kept[i], v->step));
    for (int64_t s = 0; s < b->kept[i]; s++)
        accepted += v->step[s].accepted ? 1 : 0;
    if (accepted != b->steps[i] || b->kept[i] - accepted != b->rejected[i])
        verify_break(v->report, VERIFY_STEPS,
                     "member %" PRId64 ": %" PRId64 " steps and %" PRId64 " rejected, its "
                     "history has %" PRId64 " and %" PRId64,
                     member, b->steps[i], b->rejected[i], accepted, b->kept[i] - accepted);
    return 0;
}

/* What ended by its worker's word has counters; a quarantined one may have none. */
static bool has_counters(uint8_t state)
{
    return state == MEMBER_DONE || state == MEMBER_FAILED || state == MEMBER_TIMED_OUT;
}

static int verify_block(struct verify *v, const struct block *b)
{
    for (int64_t i = 0; i < b->count; i++) {
        const int64_t member = b->first + i;
        TRY(verify_state(v, member, b->state[i], b->saved[i]));
        TRY(verify_planes(v, member, b->saved[i]));
        if (v->store->history_open && has_counters(b->state[i]) && b->truncated[i] == 0)
            TRY(verify_steps(v, b, i));
    }
    return 0;
}

static int load_block(struct verify *v, struct block *b)
{
    struct store *const store = v->store;
    const struct {
        enum store_column column;
        void *values;
    } columns[] = {{COLUMN_STATE, b->state},
                   {COLUMN_N_SAVED, b->saved},
                   {COLUMN_TRUNCATED, b->truncated},
                   {COLUMN_STEPS, b->steps},
                   {COLUMN_REJECTED, b->rejected}};
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++)
        TRY(store_get(store, &store->column[columns[i].column], &b->first, &b->count,
                      columns[i].values));
    if (!store->history_open)
        return 0;
    return store_get(store, &store->history.n_steps, &b->first, &b->count, b->kept);
}

static int verify_complete(struct verify *v)
{
    struct h5_dataset dataset;
    uint8_t complete = 0;
    TRY(h5_dataset_open(v->store->file, v->store->path, "complete", &dataset));
    const int rc = h5_read_rows(&dataset, 0, 1, &complete);
    h5_dataset_close(&dataset);
    TRY(rc);
    v->report->kind[VERIFY_STATES].checked++;
    if (complete != 0 && v->pending > 0)
        verify_break(v->report, VERIFY_STATES,
                     "the file says it is complete, %" PRId64 " members are pending",
                     v->pending);
    return 0;
}

static int verify_members(struct verify *v, struct block *b)
{
    const int64_t end = v->store->window.first + v->store->members;
    for (b->first = v->store->window.first; b->first < end; b->first += BLOCK) {
        b->count = end - b->first < BLOCK ? end - b->first : BLOCK;
        TRY(load_block(v, b));
        TRY(verify_block(v, b));
    }
    return verify_complete(v);
}

int verify_store(struct store *store, struct verify_report *report)
{
    struct verify v = {.store = store, .report = report};
    struct block *block = NULL;
    int rc = 0;
    if (!store->history_open)
        verify_skip(report, VERIFY_STEPS, "the file keeps no history of steps");
    else
        TRY(MEM_NEW(store->history.capacity, &v.step));
    TRY_OR(rc, done, MEM_NEW(1, &block));
    TRY_OR(rc, done, verify_members(&v, block));
    rc = verify_stops(store, report);
done:
    mem_free(block);
    mem_free(v.step);
    return rc;
}
