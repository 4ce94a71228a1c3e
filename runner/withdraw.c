/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "runner/withdraw.h"

#include <inttypes.h>
#include <string.h>

#include "io/reduce.h"
#include "io/resume.h"
#include "io/verdict.h"
#include "kernels/base/fault.h"
#include "kernels/base/log.h"
#include "kernels/base/status.h"

static int withdraw_one(struct store *store, const struct scan *scan, int64_t member,
                        enum task_pass pass)
{
    struct store_past past;
    TRY(verdict_forget(store, member));
    if (pass == PASS_JUDGE)
        return 0;
    TRY(reduce_forget(store, member / scan_realisations(scan)));
    TRY(resume_drop_member(store, member));
    TRY(store_read_past(store, member, &past));
    if (past.state != MEMBER_PENDING) /* its try is counted already */
        return store_retry_member(store, member);
    return past.n_saved > 0 ? store_reset_member(store, member) : 0;
}

int withdraw_members(struct store *store, struct dispatch *dispatch, int64_t *count)
{
    int64_t member = 0;
    enum task_pass pass = PASS_MEMBER;
    for (*count = 0; dispatch_next_withdrawn(dispatch, &member, &pass); ++*count) {
        fault_point("withdraw", member, -1);
        TRY(withdraw_one(store, dispatch->scan, member, pass));
    }
    return 0;
}

/* Members named since the last WITHDRAW_DONE of the newest run. */
static int read_left(const char *file, struct holding *left)
{
    struct journal_reader *reader = NULL;
    struct journal_record record;
    int rc = 0;
    TRY(journal_reader_open(file, true, &reader));
    while (rc == 0 && reader != NULL && journal_reader_next(reader, &record)) {
        const bool verdict = strcmp(record.word, WITHDRAW_VERDICT) == 0;
        const struct message_give named = {.pass = verdict ? PASS_JUDGE : PASS_MEMBER,
                                           .first = record.first,
                                           .length = record.last - record.first + 1};
        if (record.kind == JOURNAL_BEGIN
            || (record.kind == JOURNAL_WORKER && strcmp(record.word, WITHDRAW_DONE) == 0))
            holding_clear(left);
        else if (record.kind == JOURNAL_MEMBER
                 && (verdict || strcmp(record.word, WITHDRAW_STATE) == 0))
            rc = holding_add(left, &named, &(struct holding_lot){.give = 0});
    }
    journal_reader_close(reader);
    return rc;
}

static int withdraw_spans(const struct prepared *p, const struct holding *left)
{
    struct store *store = NULL;
    int64_t count = 0;
    int rc = 0;
    TRY(store_open(p->options->file, &store));
    const int64_t first = store_first(store);
    const int64_t end = first + store_members(store);
    for (int i = 0; i < left->spans; i++)
        for (int64_t m = left->span[i].first; m < left->span[i].first + left->span[i].count;
             m++, count++)
            if (m >= first && m < end)
                TRY_OR(rc, done,
                       withdraw_one(store, p->scan, m, (enum task_pass)left->span[i].pass));
done:;
    const int closed = store_close(store);
    if (rc == 0)
        log_warn("the run before ended while results of a worker that failed its self-check "
                 "were taken back: %" PRId64 " member%s computed again",
                 count, count == 1 ? " is" : "s are");
    return rc != 0 ? rc : closed;
}

int withdraw_left(const struct prepared *prepared)
{
    struct holding left = {0};
    int rc = read_left(prepared->options->file, &left);
    if (rc == 0 && left.spans > 0)
        rc = withdraw_spans(prepared, &left);
    holding_clear(&left);
    return rc;
}
