/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "runner/history.h"

#include "io/read.h"
#include "kernels/base/bits.h"
#include "kernels/base/mem.h"
#include "kernels/base/status.h"

int history_read(struct store *store, int64_t member, struct step_record **step, long *count)
{
    double kept = 0;
    double cut = 0;
    *step = NULL;
    *count = 0;
    if (!read_exists(store, "step/n_steps"))
        return 0;
    TRY(read_rows(store, "step/n_steps", member, 1, 1, &kept));
    TRY(read_rows(store, "member/history_truncated", member, 1, 1, &cut));
    if (!(kept >= 1) || cut > 0)
        return 0;
    TRY(MEM_NEW((long)kept, step));
    *count = (long)kept;
    return store_read_steps(store, member, *count, *step);
}

/* The accepted ones come first then. Returns how many. */
static long keep_accepted(struct step_record *step, long count)
{
    long kept = 0;
    for (long i = 0; i < count; i++)
        if (step[i].accepted)
            step[kept++] = step[i];
    return kept;
}

static bool is_same(const struct step_record *a, const struct step_record *b)
{
    return bits_same(a->position, b->position) && bits_same(a->length, b->length)
           && a->order == b->order;
}

int history_same(struct store *const store[2], const int64_t member[2], bool *same)
{
    struct step_record *step[2] = {NULL, NULL};
    long count[2] = {0, 0};
    int rc = 0;
    *same = false;
    for (int s = 0; s < 2; s++) {
        TRY_OR(rc, done, history_read(store[s], member[s], &step[s], &count[s]));
        count[s] = keep_accepted(step[s], count[s]);
    }
    *same = step[0] != NULL && step[1] != NULL && count[0] > 0 && count[0] == count[1];
    for (long i = 0; *same && i < count[0]; i++)
        *same = is_same(&step[0][i], &step[1][i]);
done:
    mem_free(step[0]);
    mem_free(step[1]);
    return rc;
}
