/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a collect has to tell: of each file from the log, of the members from the result file.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "io/read.h"
#include "kernels/base/clock.h"
#include "kernels/base/log.h"
#include "kernels/base/mem.h"
#include "kernels/base/status.h"
#include "runner/collecting.h"
#include "runner/shard.h"
#include "runner/status.h"
#include "runner/text.h"
#include "scans/scan.h"

#define BLOCK        65536 /* members read at a time */
#define RANGES_MAX   1000  /* ranges of missing members that are told */
#define FAILURES_MAX 10

/* Summing up */

static void add_note(struct collect_report *r, const struct collect_note *note)
{
    if (note->first >= 0)
        return;
    r->unreadable += note->kind == COLLECT_UNREADABLE;
    r->foreign += note->kind == COLLECT_FOREIGN;
    if (note->kind == COLLECT_FOREIGN && r->foreign_text[0] == '\0')
        snprintf(r->foreign_text, sizeof r->foreign_text, "%s", note->text);
}

static int read_log(struct collecting *c, struct collect_report *r)
{
    struct collect_log *const log = collect_get_log(c->collect);
    struct collect_file file;
    struct collect_note note;
    enum collect_line line = COLLECT_LINE_FILE;
    long whole = 0; /* files told as a whole before this one */
    bool agree = true;
    TRY(collect_log_rewind(log));
    while (collect_log_next(log, &line, &file, &note)) {
        if (line == COLLECT_LINE_FILE) {
            whole = r->unreadable + r->foreign;
            if (file.window.shards > 1 && r->shards > 1)
                agree = agree && r->shards == file.window.shards;
            if (file.window.shards > 1)
                r->shards = file.window.shards;
        } else if (line == COLLECT_LINE_NOTE) {
            add_note(r, &note);
        } else {
            r->files++;
            r->good += whole == r->unreadable + r->foreign;
            r->taken += file.taken;
            r->equal += file.equal;
            r->damaged += file.damaged;
            r->conflicts += file.conflicts;
        }
    }
    r->shards = agree ? r->shards : 0;
    return 0;
}

/* States of all members, a block at a time. */
struct states {
    struct store *store;
    uint8_t *state;
    int64_t *saved;
    int64_t first, count; /* of the block */
};

static int states_open(const char *path, struct states *out)
{
    *out = (struct states){0};
    TRY(store_open_read(path, &out->store));
    TRY(MEM_NEW(BLOCK, &out->state));
    return MEM_NEW(BLOCK, &out->saved);
}

static void states_close(struct states *s)
{
    store_close(s->store);
    mem_free(s->state);
    mem_free(s->saved);
}

static int states_load(struct states *s, int64_t first)
{
    const int64_t left = store_members(s->store) - first;
    s->first = first;
    s->count = left < BLOCK ? left : BLOCK;
    return store_read_states(s->store, first, s->count, s->state, s->saved);
}

static int count_states(struct states *s, struct collect_report *r)
{
    r->members = store_members(s->store);
    for (int64_t first = 0; first < r->members; first += BLOCK) {
        TRY(states_load(s, first));
        for (int64_t i = 0; i < s->count; i++) {
            r->state[s->state[i]]++;
            r->begun += s->state[i] == MEMBER_PENDING && s->saved[i] > 0;
        }
        TRY(status_verdicts_read(s->store, first, s->count, s->state, &r->verdicts));
    }
    return 0;
}

int collect_report_read(struct collecting *c, struct collect_report *out)
{
    struct states s;
    *out = (struct collect_report){0};
    TRY(read_log(c, out));
    int rc = states_open(c->result, &s);
    if (rc == 0)
        rc = count_states(&s, out);
    states_close(&s);
    return rc;
}

static int64_t failed_of(const struct collect_report *r)
{
    return r->state[MEMBER_FAILED] + r->state[MEMBER_TIMED_OUT] + r->state[MEMBER_QUARANTINED];
}

int collect_report_code(const struct collect_report *r)
{
    const struct status_verdicts *const v = &r->verdicts;
    const bool judged = v->outside + v->none + v->waiting == 0;
    const bool well = judged && r->state[MEMBER_PENDING] == 0 && failed_of(r) == 0
                      && r->unreadable == 0 && r->foreign == 0 && r->damaged == 0
                      && r->conflicts == 0;
    return well ? 0 : EXIT_MEMBERS_FAILED;
}

static void add_count(char *text, size_t size, int64_t count, const char *what)
{
    const size_t used = strlen(text);
    if (count > 0)
        snprintf(text + used, size - used, ", %" PRId64 " %s", count, what);
}

void collect_report_counts(const struct collect_report *r, char *text, size_t size)
{
    snprintf(text, size, "%" PRId64 " of %" PRId64 " member%s done", r->state[MEMBER_DONE],
             r->members, r->members == 1 ? "" : "s");
    add_count(text, size, r->state[MEMBER_FAILED], "failed");
    add_count(text, size, r->state[MEMBER_TIMED_OUT], "timed out");
    add_count(text, size, r->state[MEMBER_QUARANTINED], "quarantined");
    add_count(text, size, r->state[MEMBER_PENDING] - r->begun, "missing");
    add_count(text, size, r->begun, "begun but not finished");
    add_count(text, size, r->verdicts.outside, "outside the envelope");
    add_count(text, size, r->verdicts.none, "without a verdict");
    add_count(text, size, r->verdicts.waiting - r->state[MEMBER_PENDING], "not judged yet");
}

/* Telling */

/* What is being written, and how far. */
struct telling {
    bool json;
    long ranges; /* of missing members so far */
    int failures;
    struct shard_division division; /* shards 0: unknown */
};

static int tell_notes(struct collecting *c, const struct telling *t)
{
    struct collect_log *const log = collect_get_log(c->collect);
    struct collect_file file;
    struct collect_note note;
    enum collect_line line = COLLECT_LINE_FILE;
    const char *separator = "";
    TRY(collect_log_rewind(log));
    if (t->json)
        printf("\"problems\": [");
    while (collect_log_next(log, &line, &file, &note)) {
        if (line != COLLECT_LINE_NOTE)
            continue;
        if (!t->json) {
            printf("%s: %s\n", collect_kind_name(note.kind), note.text);
            continue;
        }
        printf("%s{\"kind\": \"%s\", \"file\": ", separator, collect_kind_name(note.kind));
        json_text(stdout, file.path);
        if (note.first >= 0)
            printf(", \"first\": %" PRId64 ", \"last\": %" PRId64, note.first, note.last);
        printf(", \"text\": ");
        json_text(stdout, note.text);
        printf("}");
        separator = ", ";
    }
    if (t->json)
        printf("]");
    return 0;
}

/* The shard that a member is in, from 1. */
static long shard_of(const struct shard_division *d, int64_t member)
{
    long low = 1;
    long high = d->shards;
    while (low < high) {
        const long middle = low + (high - low + 1) / 2;
        if (d->first[middle - 1] <= member)
            low = middle;
        else
            high = middle - 1;
    }
    return low;
}

static void tell_range(struct telling *t, int64_t first, int64_t last)
{
    if (t->ranges++ >= RANGES_MAX)
        return;
    const long from = t->division.shards > 1 ? shard_of(&t->division, first) : 0;
    const long to = t->division.shards > 1 ? shard_of(&t->division, last) : 0;
    if (t->json) {
        printf("%s{\"first\": %" PRId64 ", \"last\": %" PRId64, t->ranges > 1 ? ", " : "",
               first, last);
        if (from > 0)
            printf(", \"first_shard\": %ld, \"last_shard\": %ld", from, to);
        printf("}");
        return;
    }
    printf("missing: member%s %" PRId64, first < last ? "s" : "", first);
    if (first < last)
        printf(" to %" PRId64, last);
    if (from > 0 && from == to)
        printf(" (shard %ld/%ld)", from, t->division.shards);
    else if (from > 0)
        printf(" (shards %ld to %ld of %ld)", from, to, t->division.shards);
    printf("\n");
}

/* Ranges of pending members. */
static int tell_missing(struct states *s, struct telling *t)
{
    const int64_t members = store_members(s->store);
    int64_t begin = -1;
    if (t->json)
        printf(", \"missing_ranges\": [");
    for (int64_t first = 0; first < members; first += BLOCK) {
        TRY(states_load(s, first));
        for (int64_t i = 0; i < s->count; i++) {
            const bool pending = s->state[i] == MEMBER_PENDING;
            if (pending && begin < 0)
                begin = first + i;
            if (!pending && begin >= 0) {
                tell_range(t, begin, first + i - 1);
                begin = -1;
            }
        }
    }
    if (begin >= 0)
        tell_range(t, begin, members - 1);
    if (t->json)
        printf("]");
    else if (t->ranges > RANGES_MAX)
        printf("missing: … and %ld more ranges\n", t->ranges - RANGES_MAX);
    return 0;
}

static int tell_failure(struct states *s, struct telling *t, int64_t member, int state)
{
    char reason[STORE_REASON_SIZE + 1];
    TRY(read_text_row(s->store, "member/reason", member, reason, sizeof reason));
    if (!t->json) {
        printf("%s: member %" PRId64 ": %s\n", status_state_name(state), member,
               status_reason_rest(state, reason));
        return 0;
    }
    printf("%s{\"member\": %" PRId64 ", \"state\": ", t->failures > 0 ? ", " : "", member);
    json_text(stdout, status_state_name(state));
    printf(", \"reason\": ");
    json_text(stdout, reason);
    printf("}");
    return 0;
}

static int tell_failures(struct states *s, struct telling *t, int64_t failed)
{
    const int64_t members = store_members(s->store);
    if (t->json)
        printf(", \"failures\": [");
    for (int64_t first = 0; failed > 0 && first < members && t->failures < FAILURES_MAX;
         first += BLOCK) {
        TRY(states_load(s, first));
        for (int64_t i = 0; i < s->count && t->failures < FAILURES_MAX; i++) {
            const int state = s->state[i];
            if (state != MEMBER_FAILED && state != MEMBER_TIMED_OUT
                && state != MEMBER_QUARANTINED)
                continue;
            TRY(tell_failure(s, t, first + i, state));
            t->failures++;
        }
    }
    if (t->json)
        printf("]");
    else if (failed > t->failures)
        printf("failed: … and %" PRId64 " more\n", failed - t->failures);
    return 0;
}

/* Which members each shard of the scan has; unknown when it cannot be told. */
static int divide(struct store *store, const struct collect_report *r,
                  struct shard_division *out)
{
    char *canonical = NULL;
    struct scan *scan = NULL;
    *out = (struct shard_division){0};
    if (r->shards < 2 || r->state[MEMBER_PENDING] == 0)
        return 0;
    TRY(read_text(store, "config_canonical", &canonical));
    int rc = scan_parse_canonical(canonical, strlen(canonical), &scan);
    if (rc == 0)
        rc = shard_divide(scan, r->shards, out);
    scan_destroy(scan);
    mem_free(canonical);
    return rc;
}

static void sum_json(const struct collecting *c, const struct collect_report *r, int code)
{
    printf(", \"file\": ");
    json_text(stdout, c->result);
    printf(", \"members\": %" PRId64 ", \"done\": %" PRId64 ", \"failed\": %" PRId64
           ", \"timed_out\": %" PRId64 ", \"quarantined\": %" PRId64 ", \"missing\": %" PRId64
           ", \"begun\": %" PRId64,
           r->members, r->state[MEMBER_DONE], r->state[MEMBER_FAILED],
           r->state[MEMBER_TIMED_OUT], r->state[MEMBER_QUARANTINED], r->state[MEMBER_PENDING],
           r->begun);
    if (r->verdicts.any)
        printf(", \"within\": %" PRId64 ", \"outside\": %" PRId64
               ", \"without_verdict\": %" PRId64,
               r->verdicts.within, r->verdicts.outside, r->verdicts.none);
    printf(", \"files\": %ld, \"good\": %ld, \"unchanged\": %ld, \"unreadable\": %ld, "
           "\"foreign\": %ld",
           r->files, r->good, c->unchanged, r->unreadable, r->foreign);
    printf(", \"taken\": %" PRId64 ", \"duplicates\": %" PRId64 ", \"conflicts\": %" PRId64
           ", \"damaged\": %" PRId64 ", \"reduced\": %" PRId64 ", \"wall_s\": ",
           r->taken, r->equal, r->conflicts, r->damaged, c->reduced);
    json_number(stdout, clock_wall() - c->begun);
    printf(", \"exit_code\": %d}\n", code);
}

static void sum_text(const struct collecting *c, const struct collect_report *r)
{
    char counts[300];
    char span[TEXT_SIZE];
    char files[300] = "";
    collect_report_counts(r, counts, sizeof counts);
    text_seconds(clock_wall() - c->begun, span);
    add_count(files, sizeof files, c->unchanged, "of them unchanged since an earlier time");
    add_count(files, sizeof files, r->unreadable, "unreadable");
    add_count(files, sizeof files, r->foreign, "of another configuration");
    printf("%s: %s\n", c->result, counts);
    printf("  from %ld file%s%s, in %s\n", r->files, r->files == 1 ? "" : "s", files, span);
    if (r->equal > 0)
        printf("  %" PRId64 " member%s more than once, with the same content\n", r->equal,
               r->equal == 1 ? " was there" : "s were there");
    if (c->reduced > 0)
        printf("  %" PRId64 " point%s reduced\n", c->reduced, c->reduced == 1 ? "" : "s");
}

static int tell(struct collecting *c, const struct collect_report *r, struct states *s,
                int code)
{
    struct telling t = {.json = c->json};
    int rc = 0;
    TRY_OR(rc, done, divide(s->store, r, &t.division));
    if (t.json)
        printf("{");
    TRY_OR(rc, done, tell_notes(c, &t));
    TRY_OR(rc, done, tell_missing(s, &t));
    TRY_OR(rc, done, tell_failures(s, &t, failed_of(r)));
    if (c->json)
        sum_json(c, r, code);
    else
        sum_text(c, r);
done:
    shard_division_clear(&t.division);
    return rc;
}

int collect_report_write(struct collecting *c, const struct collect_report *r, int code)
{
    struct states s;
    int rc = states_open(c->result, &s);
    if (rc == 0)
        rc = tell(c, r, &s, code);
    states_close(&s);
    return rc;
}
