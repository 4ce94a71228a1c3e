/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <string.h>
#include <sys/resource.h>

#include "io/read.h"
#include "kernels/base/mem.h"
#include "kernels/base/status.h"
#include "runner/status.h"

enum { CHUNK = 65536 };

const char *status_state_name(int state)
{
    static const char *const names[STATUS_STATES] = {[MEMBER_PENDING] = "pending",
                                                     [1] = "unknown",
                                                     [MEMBER_DONE] = "done",
                                                     [MEMBER_FAILED] = "failed",
                                                     [MEMBER_TIMED_OUT] = "timed out",
                                                     [MEMBER_QUARANTINED] = "quarantined",
                                                     [MEMBER_NOT_NEEDED] = "not needed",
                                                     [MEMBER_EXCLUDED] = "excluded"};
    return state >= 0 && state < STATUS_STATES ? names[state] : "unknown";
}

const char *status_reason_rest(int state, const char *reason)
{
    const char *const name = status_state_name(state);
    const size_t length = strlen(name);
    return strncmp(reason, name, length) == 0 && reason[length] == ' ' ? reason + length + 1
                                                                       : reason;
}

static bool ended_badly(int state)
{
    return state == MEMBER_FAILED || state == MEMBER_TIMED_OUT || state == MEMBER_QUARANTINED;
}

static int add_reason(struct store *store, struct status_report *report, int64_t member,
                      uint8_t state)
{
    if (report->reasons == STATUS_REASONS_MAX)
        return 0;
    struct status_reason *r = &report->reason[report->reasons++];
    r->member = member;
    r->state = (enum member_state)state;
    return read_text_row(store, "member/reason", member, r->text, sizeof r->text);
}

static int count_chunk(struct store *store, struct status_report *report, int64_t first,
                       int64_t count, uint8_t *state, int64_t *saved)
{
    TRY(store_read_states(store, first, count, state, saved));
    for (int64_t i = 0; i < count; i++) {
        const int s = state[i] < STATUS_STATES ? state[i] : 1;
        report->state[s]++;
        report->saved += saved[i];
        report->begun += s == MEMBER_PENDING && saved[i] > 0;
        if (ended_badly(s))
            TRY(add_reason(store, report, first + i, state[i]));
    }
    return status_verdicts_read(store, first, count, state, &report->verdicts);
}

static int count_members(struct store *store, struct status_report *report)
{
    uint8_t *state = NULL;
    int64_t *saved = NULL;
    int rc = 0;
    TRY_OR(rc, done, MEM_NEW(CHUNK, &state));
    TRY_OR(rc, done, MEM_NEW(CHUNK, &saved));
    const int64_t end = report->part.first + report->members;
    for (int64_t first = report->part.first; first < end; first += CHUNK) {
        const int64_t left = end - first;
        TRY_OR(rc, done,
               count_chunk(store, report, first, left < CHUNK ? left : CHUNK, state, saved));
    }
done:
    mem_free(saved);
    mem_free(state);
    return rc;
}

static int read_number(struct store *store, const char *path, int64_t row, double *value)
{
    return read_rows(store, path, row, 1, 1, value);
}

static int read_attempt(struct store *store, int64_t row, struct status_attempt *a)
{
    double number = 0;
    double code = 0;
    *a = (struct status_attempt){0};
    TRY(read_number(store, "provenance/attempt/number", row, &number));
    a->number = (int64_t)number;
    if (a->number == 0)
        return 0;
    TRY(read_number(store, "provenance/attempt/exit_code", row, &code));
    a->exit_code = (int)code;
    TRY(read_text_row(store, "provenance/attempt/start", row, a->start, sizeof a->start));
    TRY(read_text_row(store, "provenance/attempt/end", row, a->end, sizeof a->end));
    return read_text_row(store, "provenance/attempt/reason", row, a->reason, sizeof a->reason);
}

/* The rows are a ring: keep them in the order of their numbers. */
static void insert_attempt(struct status_report *report, const struct status_attempt *a)
{
    int place = report->attempts++;
    for (; place > 0 && report->attempt[place - 1].number > a->number; place--)
        report->attempt[place] = report->attempt[place - 1];
    report->attempt[place] = *a;
}

static int read_attempts(struct store *store, struct status_report *report)
{
    struct read_dataset numbers;
    if (!read_exists(store, "provenance/attempt/number"))
        return 0;
    TRY(read_describe(store, "provenance/attempt/number", &numbers));
    for (int64_t row = 0; row < numbers.length[0] && row < STATUS_ATTEMPTS_MAX; row++) {
        struct status_attempt a;
        TRY(read_attempt(store, row, &a));
        if (a.number > 0)
            insert_attempt(report, &a);
    }
    return 0;
}

int status_read_configuration(struct store *store, char hash[CANONICAL_HASH_SIZE])
{
    char *canonical = NULL;
    hash[0] = '\0';
    if (!read_exists(store, "config_canonical"))
        return 0;
    TRY(read_text(store, "config_canonical", &canonical));
    const int rc = canonical_hash(canonical, hash);
    mem_free(canonical);
    return rc;
}

static int read_facts(struct store *store, struct status_report *report)
{
    struct read_dataset planes;
    double complete = 0;
    report->members = store_members(store);
    report->part = store_window(store);
    report->points = store_points(store);
    report->realisations = store_realisations(store);
    TRY(read_attribute(store, "/", "scan", report->scan, sizeof report->scan));
    TRY(read_attribute(store, "/", "model", report->model, sizeof report->model));
    TRY(read_describe(store, "plane/checksum", &planes));
    report->planes = planes.length[1];
    const int64_t none = 0;
    TRY(status_read_configuration(store, report->configuration));
    TRY(read_block(store, "complete", &none, &none, &complete));
    report->complete = complete != 0;
    return 0;
}

/* Where the time went in the newest attempt that has ended. */
static int read_times(struct store *store, struct status_report *report)
{
    struct worker_times times;
    TRY(worker_times_read(store, &times));
    report->times = worker_times_sum(&times);
    worker_times_clear(&times);
    return 0;
}

static int read_members(const char *path, struct store *store, struct status_report *out)
{
    TRY(read_facts(store, out));
    TRY(count_members(store, out));
    TRY(journal_read_summary(path, &out->journal));
    status_find_writer(out);
    return 0;
}

static int read_history(const char *path, struct store *store, struct status_report *out)
{
    TRY(read_attempts(store, out));
    TRY(read_times(store, out));
    return status_workers_read(path, store, &out->workers);
}

static int read_report(const char *path, bool brief, struct status_report *out)
{
    struct store *store = NULL;
    *out = (struct status_report){.path = path};
    TRY(store_open_read(path, &store));
    int rc = read_members(path, store, out);
    if (rc == 0 && !brief)
        rc = read_history(path, store, out);
    store_close(store);
    return rc;
}

int status_read(const char *path, struct status_report *out)
{
    return read_report(path, false, out);
}

int status_read_brief(const char *path, struct status_report *out)
{
    return read_report(path, true, out);
}

void status_clear(struct status_report *report)
{
    status_workers_clear(&report->workers);
}

void status_stand_back(void)
{
    (void)setpriority(PRIO_PROCESS, 0, 19); /* without it we are as others */
}
