/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Members that change their state are written as ranges, once a second, JOURNAL_RANGES_MAX of
 * them at most: the journal grows by a bounded amount a second, however fast members end and in
 * whatever order. Ranges that do not fit are put together with others of the same state; such a
 * record says of how many members between `first` and `last` it tells.
 */
#include <stdio.h>
#include <string.h>

#include "io/journal_private.h"
#include "kernels/base/clock.h"
#include "kernels/base/status.h"

#define RANGE_AGE 1.0 /* s after which ranges of members are written */

static int range_write(struct journal *journal, const struct journal_range *range,
                       const char *reason)
{
    struct record record;
    record_begin(journal, &record, "member");
    record_add(&record, ",\"first\":%lld,\"last\":%lld", (long long)range->first,
               (long long)range->last);
    if (range->count != range->last - range->first + 1)
        record_add(&record, ",\"count\":%lld", (long long)range->count);
    record_add_text(&record, "state", range->state);
    if (range->rank > 0)
        record_add(&record, ",\"rank\":%d", range->rank);
    if (reason[0] != '\0')
        record_add_text(&record, "reason", reason);
    return record_write(journal, &record);
}

int journal_flush(struct journal *journal)
{
    const int ranges = journal->ranges;
    journal->ranges = 0;
    for (int i = 0; i < ranges; i++)
        TRY(range_write(journal, &journal->range[i], ""));
    return 0;
}

static bool is_alike(const struct journal_range *a, const struct journal_range *b)
{
    return a->rank == b->rank && strcmp(a->state, b->state) == 0;
}

/* Whether a range has every member from first to last: then neighbours make it longer. */
static bool is_dense(const struct journal_range *range)
{
    return range->count == range->last - range->first + 1;
}

static bool extend(struct journal_range *range, const struct journal_range *more)
{
    if (!is_alike(range, more) || !is_dense(range))
        return false;
    if (more->first == range->last + 1)
        range->last = more->last;
    else if (more->last == range->first - 1)
        range->first = more->first;
    else
        return false;
    range->count += more->count;
    return true;
}

static bool widen(struct journal_range *range, const struct journal_range *more)
{
    if (!is_alike(range, more))
        return false;
    range->first = more->first < range->first ? more->first : range->first;
    range->last = more->last > range->last ? more->last : range->last;
    range->count += more->count;
    return true;
}

static bool overlaps(const struct journal_range *a, const struct journal_range *b)
{
    return a->first <= b->last && b->first <= a->last;
}

/* The newest first: neighbours come one after the other. Never before a range that has the same
 * members: what became of one stays in its order. */
static bool join(struct journal *journal, const struct journal_range *more,
                 bool (*into)(struct journal_range *, const struct journal_range *))
{
    for (int i = journal->ranges - 1; i >= 0; i--) {
        if (into(&journal->range[i], more))
            return true;
        if (overlaps(&journal->range[i], more))
            return false;
    }
    return false;
}

static int add(struct journal *journal, const struct journal_range *more)
{
    const double now = clock_wall();
    if (journal->ranges > 0 && now - journal->since > RANGE_AGE)
        TRY(journal_flush(journal));
    if (join(journal, more, extend))
        return 0;
    if (journal->ranges == JOURNAL_RANGES_MAX) {
        if (join(journal, more, widen))
            return 0;
        TRY(journal_flush(journal));
    }
    if (journal->ranges == 0)
        journal->since = now;
    journal->range[journal->ranges++] = *more;
    return 0;
}

static struct journal_range make_range(int64_t first, int64_t count, const char *state,
                                       int rank)
{
    struct journal_range range = {
        .rank = rank, .first = first, .last = first + count - 1, .count = count};
    snprintf(range.state, sizeof range.state, "%s", state);
    return range;
}

int journal_write_members(struct journal *journal, int64_t first, int64_t count,
                          const char *state, const char *reason)
{
    const struct journal_range range = make_range(first, count, state, 0);
    if (reason[0] == '\0')
        return add(journal, &range);
    TRY(journal_flush(journal));
    for (int64_t i = 0; i < count; i++) {
        const struct journal_range one = make_range(first + i, 1, state, 0);
        TRY(range_write(journal, &one, reason));
    }
    return 0;
}

int journal_write_given(struct journal *journal, int rank, int64_t first, int64_t count)
{
    const struct journal_range range = make_range(first, count, "running", rank);
    return add(journal, &range);
}
