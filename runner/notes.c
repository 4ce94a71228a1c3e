/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "runner/notes.h"

#include "kernels/base/clock.h"
#include "kernels/base/status.h"

#define NOTES_PERIOD 3.0 /* s between two records of what workers are doing */
#define SHORT        0.2 /* s: members of which nobody asks who has them */

/* A record that failed ends the run in order. */
static void check(struct dispatch *d, int rc, const char *text)
{
    if (rc == 0)
        return;
    dispatch_fail(d, rc, text);
    d->journal = NULL;
}

static int write_given(struct dispatch *d, int rank, const struct message_give *give)
{
    if (give->count == 0)
        return journal_write_given(d->journal, rank, give->first, give->length);
    for (int i = 0; i < give->count; i++)
        TRY(journal_write_given(d->journal, rank, give->id[i], 1));
    return 0;
}

void notes_given(struct dispatch *d, int rank, const struct message_give *give)
{
    char text[STORE_REASON_SIZE];
    if (d->journal == NULL || give->pass != PASS_MEMBER
        || (d->recent_count > 0 && d->recent_seconds < SHORT * d->recent_count))
        return;
    const struct status_saved saved = status_capture_save();
    status_capture(text, sizeof text);
    const int rc = write_given(d, rank, give);
    status_capture_restore(saved);
    check(d, rc, text);
}

/* The next workers, round and round; returns how many. */
static int take_turn(struct notes_load *notes, int first, int last,
                     bool (*read)(void *context, struct journal_load *load), void *context,
                     struct journal_load *load)
{
    int count = 0;
    for (int looked = 0; looked <= last - first && count < JOURNAL_LOADS_MAX; looked++) {
        if (notes->rank < first || notes->rank > last)
            notes->rank = first;
        load[count] = (struct journal_load){.rank = notes->rank++};
        count += read(context, &load[count]);
    }
    return count;
}

void notes_load(struct notes_load *notes, struct dispatch *d, int first, int last,
                bool (*read)(void *context, struct journal_load *load), void *context)
{
    struct journal_load load[JOURNAL_LOADS_MAX];
    char text[STORE_REASON_SIZE];
    const double now = clock_wall();
    if (d->journal == NULL || now < notes->next)
        return;
    notes->next = now + (notes->next <= 0 ? 0.5 : NOTES_PERIOD); /* soon after the start too */
    const int count = take_turn(notes, first, last, read, context, load);
    if (count == 0)
        return;
    const struct status_saved saved = status_capture_save();
    status_capture(text, sizeof text);
    const int rc = journal_write_load(d->journal, load, count);
    status_capture_restore(saved);
    check(d, rc, text);
}
