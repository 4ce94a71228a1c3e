/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "runner/retry.h"

#include <inttypes.h>

#include "io/resume.h"
#include "io/verdict.h"
#include "kernels/base/log.h"
#include "kernels/base/mem.h"
#include "kernels/base/status.h"

#define BLOCK 65536 /* members read at a time */

/* What is being made pending again. */
struct retry {
    const struct selection *selection; /* NULL: all */
    struct store *store;
    struct journal *journal; /* opened at the first one */
    int64_t count;
    int64_t judgments; /* without a verdict, to be made again */
};

static bool is_failure(uint8_t state)
{
    return state == MEMBER_FAILED || state == MEMBER_TIMED_OUT || state == MEMBER_QUARANTINED;
}

/* A judgment that ended without a verdict is made again. */
static int retry_judgments(struct retry *r, int64_t first, int64_t count)
{
    struct verdict_state *found = NULL;
    int rc = 0;
    if (!verdict_has_room(r->store))
        return 0;
    TRY(MEM_NEW((long)count, &found));
    TRY_OR(rc, done, verdict_read(r->store, first, count, found));
    for (int64_t i = 0; i < count; i++) {
        if (found[i].chosen == 0 || !is_failure(found[i].outcome)
            || !selection_has(r->selection, first + i))
            continue;
        TRY_OR(rc, done, verdict_forget(r->store, first + i));
        r->judgments++;
    }
done:
    mem_free(found);
    return rc;
}

static int retry_block(struct retry *r, const struct prepared *p, int64_t first, int64_t count,
                       uint8_t *state)
{
    TRY(store_read_states(r->store, first, count, state, NULL));
    for (int64_t i = 0; i < count; i++) {
        if (!is_failure(state[i]) || !selection_has(r->selection, first + i))
            continue;
        if (r->journal == NULL)
            TRY(journal_open(p->options->file, p->run, -1, &r->journal));
        TRY(store_retry_member(r->store, first + i));
        TRY(journal_write_members(r->journal, first + i, 1, "retried", ""));
        r->count++;
    }
    return retry_judgments(r, first, count);
}

static int retry_all(struct retry *r, const struct prepared *p)
{
    uint8_t *state = NULL;
    int rc = 0;
    TRY_OR(rc, done, MEM_NEW(BLOCK, &state));
    const int64_t end = store_first(r->store) + store_members(r->store);
    for (int64_t first = store_first(r->store); first < end; first += BLOCK) {
        const int64_t left = end - first;
        TRY_OR(rc, done, retry_block(r, p, first, left < BLOCK ? left : BLOCK, state));
    }
done:
    mem_free(state);
    return rc;
}

static void say_count(int64_t count, int64_t judgments)
{
    if (judgments > 0)
        log_info("--retry-failed: %" PRId64 " member%s judged again", judgments,
                 judgments == 1 ? " is" : "s are");
    if (count == 0 && judgments > 0)
        return;
    if (count == 0)
        log_info("--retry-failed: no member has failed");
    else if (count == 1)
        log_info("--retry-failed: 1 member is computed again");
    else
        log_info("--retry-failed: %" PRId64 " members are computed again", count);
}

int retry_failed(struct prepared *p)
{
    const char *const file = p->options->file;
    struct retry r = {.selection = p->options->only != NULL ? &p->selection : NULL};
    TRY(store_open(file, &r.store));
    int rc = resume_drop_ended(r.store);
    if (rc == 0)
        rc = retry_all(&r, p);
    const int closed = store_close(r.store);
    const int written = journal_close(r.journal);
    rc = rc != 0 ? rc : closed != 0 ? closed : written;
    if (rc == 0 && r.count + r.judgments > 0)
        rc = store_finish(file, -1, 0, ""); /* it is not complete */
    if (rc == 0)
        say_count(r.count, r.judgments);
    return rc;
}
