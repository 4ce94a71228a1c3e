/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "runner/status_scan.h"

#include <math.h>
#include <string.h>

#include "kernels/base/mem.h"
#include "kernels/base/status.h"
#include "runner/text.h"

#define SHOWN_MOST 40 /* lines of shards */

/* What a shard is at, in the order in which they are counted up. */
enum phase {
    COMPLETE,
    FAILURES,
    RUNNING,
    UNFINISHED,
    NOT_BEGUN,
    FOREIGN,
    UNREADABLE,
    NOT_GIVEN,
    PHASES
};

static const char *const phase_names[PHASES] = {
    "complete", "ended with failures", "running",  "unfinished", "not begun",
    "foreign",  "unreadable",          "not given"};

/* Sums over the shards. */
struct totals {
    long phase[PHASES];
    int64_t state[STATUS_STATES];
    int64_t members; /* in files that were read */
    int64_t computing, workers;
    double rate;
    long slowest; /* shard, from 0; -1: none tells */
};

int status_scan_init(long shards, struct status_scan *out)
{
    *out = (struct status_scan){.shards = shards};
    return MEM_NEW(shards, &out->shard);
}

void status_scan_clear(struct status_scan *scan)
{
    mem_free(scan->shard);
    *scan = (struct status_scan){0};
}

static int64_t bad_of(const int64_t state[STATUS_STATES])
{
    return state[MEMBER_FAILED] + state[MEMBER_TIMED_OUT] + state[MEMBER_QUARANTINED];
}

static enum phase phase_of(const struct status_shard *s)
{
    static const enum phase without[] = {[STATUS_NOT_GIVEN] = NOT_GIVEN,
                                         [STATUS_NOT_BEGUN] = NOT_BEGUN,
                                         [STATUS_UNREADABLE] = UNREADABLE,
                                         [STATUS_FOREIGN] = FOREIGN};
    if (s->file != STATUS_THERE)
        return without[s->file];
    if (s->running)
        return RUNNING;
    if (s->state[MEMBER_PENDING] + s->waiting > 0)
        return UNFINISHED;
    return bad_of(s->state) + s->beyond > 0 ? FAILURES : COMPLETE;
}

/* The first ones of all, by member: shards may come in any order. */
static void take_reasons(struct status_scan *scan, const struct status_report *report)
{
    for (int i = 0; i < report->reasons; i++) {
        int place = scan->reasons;
        while (place > 0 && scan->reason[place - 1].member > report->reason[i].member)
            place--;
        if (place == STATUS_REASONS_MAX)
            return;
        scan->reasons += scan->reasons < STATUS_REASONS_MAX;
        memmove(&scan->reason[place + 1], &scan->reason[place],
                (size_t)(scan->reasons - 1 - place) * sizeof scan->reason[0]);
        scan->reason[place] = report->reason[i];
    }
}

static bool is_of(const struct status_scan *scan, const struct status_report *report)
{
    const int64_t members = report->points * report->realisations;
    if (report->part.shards != scan->shards)
        return false;
    return scan->scan[0] == '\0'
           || (strcmp(scan->scan, report->scan) == 0 && strcmp(scan->model, report->model) == 0
               && scan->members == members && scan->realisations == report->realisations);
}

bool status_scan_take(struct status_scan *scan, const struct status_report *report)
{
    if (!is_of(scan, report))
        return false;
    struct status_shard *const s = &scan->shard[report->part.shard - 1];
    const struct journal_counts *const counts = &report->journal.counts;
    const struct squeue_task *const task = s->task;
    memcpy(scan->scan, report->scan, sizeof scan->scan);
    memcpy(scan->model, report->model, sizeof scan->model);
    scan->members = report->points * report->realisations;
    scan->realisations = report->realisations;
    *s = (struct status_shard){.file = STATUS_THERE,
                               .running = report->running,
                               .first = report->part.first,
                               .count = report->members,
                               .left = (double)NAN,
                               .task = task};
    memcpy(s->state, report->state, sizeof s->state);
    s->waiting = report->verdicts.waiting;
    s->beyond = report->verdicts.outside + report->verdicts.none;
    status_verdicts_add(&scan->verdicts, &report->verdicts);
    if (report->running && report->journal.heartbeat[0] != '\0') {
        s->computing = counts->running;
        s->workers = report->journal.workers;
        s->rate = counts->rate;
        s->left = counts->eta;
    }
    scan->bad += bad_of(report->state);
    take_reasons(scan, report);
    return true;
}

static struct totals add_up(const struct status_scan *scan)
{
    struct totals t = {.slowest = -1};
    for (long k = 0; k < scan->shards; k++) {
        const struct status_shard *const s = &scan->shard[k];
        t.phase[phase_of(s)]++;
        t.members += s->count;
        t.computing += s->computing;
        t.workers += s->workers;
        t.rate += isfinite(s->rate) ? s->rate : 0;
        for (int i = 0; i < STATUS_STATES; i++)
            t.state[i] += s->state[i];
        if (s->running && isfinite(s->left)
            && (t.slowest < 0 || s->left > scan->shard[t.slowest].left))
            t.slowest = k;
    }
    return t;
}

/* Part: for people. */

static void write_phases(const struct status_scan *scan, const struct totals *t, FILE *out)
{
    char count[TEXT_SIZE];
    const char *separator = ": ";
    text_count(scan->shards, count);
    fprintf(out, "  shards    %s", count);
    for (int p = 0; p < PHASES; p++) {
        if (t->phase[p] == 0)
            continue;
        text_count(t->phase[p], count);
        fprintf(out, "%s%s %s", separator, count, phase_names[p]);
        separator = ", ";
    }
    fprintf(out, "\n");
}

static void write_members(const struct status_scan *scan, const struct totals *t, FILE *out)
{
    char count[TEXT_SIZE];
    if (scan->members == 0) {
        fprintf(out, "  members   no shard has begun\n");
        return;
    }
    text_count(scan->members, count);
    fprintf(out, "  members   %s", count);
    const char *const separator = status_states_text(t->state, out);
    text_count(scan->members - t->members, count);
    if (scan->members > t->members)
        fprintf(out, "%s%s in shards that are %s", separator, count,
                t->phase[NOT_GIVEN] > 0                        ? "not given"
                : t->phase[UNREADABLE] + t->phase[FOREIGN] > 0 ? "not begun, foreign or "
                                                                 "unreadable"
                                                               : "not begun");
    fprintf(out, "\n");
}

static void write_running(const struct status_scan *scan, const struct totals *t, FILE *out)
{
    char left[TEXT_SIZE];
    if (t->phase[RUNNING] == 0)
        return;
    fprintf(out, "  running   %lld member%s on %lld worker%s, %.3g members/s",
            (long long)t->computing, t->computing == 1 ? "" : "s", (long long)t->workers,
            t->workers == 1 ? "" : "s", t->rate);
    if (t->slowest >= 0) {
        text_seconds(scan->shard[t->slowest].left, left);
        fprintf(out, ", %s left (the slowest that runs: shard %ld)", left, t->slowest + 1);
    }
    fprintf(out, "\n");
}

bool status_ended_badly(const struct squeue_task *task)
{
    return squeue_phase(task) == SQUEUE_ENDED && strcmp(task->state, "COMPLETED") != 0;
}

bool status_wants_log(const struct squeue_task *task)
{
    return status_ended_badly(task) && strcmp(task->state, "CANCELLED") != 0;
}

void status_log_text(const struct job_log *log, FILE *out)
{
    if (log->path[0] != '\0')
        fprintf(out, "            log %s: %s\n", log->path,
                log->why[0] != '\0'    ? log->why
                : log->line[0] != '\0' ? log->line
                                       : "it is empty");
}

void status_log_json(const struct job_log *log, FILE *out)
{
    fprintf(out, ",\"log\":");
    json_text(out, log->path);
    fprintf(out, ",\"last_line\":");
    json_text(out, log->line);
}

/* The log of a shard's task. */
static void read_log(const struct status_scan *scan, const struct squeue_task *task,
                     struct job_log *out)
{
    const struct submission *const s = scan->submission;
    *out = (struct job_log){.line = ""};
    for (int j = 0; s != NULL && j < s->jobs; j++)
        if (s->job[j].id == task->job)
            job_log_read(s, &s->job[j], task->shard, out);
}

static void write_task(const struct squeue_task *task, FILE *out)
{
    const enum squeue_phase phase = squeue_phase(task);
    const char *const word = squeue_word(task);
    const char *const expected = squeue_expected(task);
    fprintf(out, "; %sjob %ld %s", task->kind == SUBMISSION_RETRY ? "retry " : "", task->job,
            squeue_phase_name(phase));
    if (phase == SQUEUE_RUNNING)
        fprintf(out, " since %s", task->since);
    else if (word[0] != '\0')
        fprintf(out, " (%s)", word);
    if (expected != NULL)
        fprintf(out, ", may start %s", expected);
    if (task->restarts > 0)
        fprintf(out, ", requeued %ld time%s", task->restarts, task->restarts == 1 ? "" : "s");
}

static void write_shard(const struct status_scan *scan, long k, FILE *out)
{
    const struct status_shard *const s = &scan->shard[k];
    const enum phase phase = phase_of(s);
    char left[TEXT_SIZE];
    fprintf(out, "  shard %-4ld", k + 1);
    if (s->file == STATUS_THERE) {
        text_members(s->first, s->first + s->count - 1, left);
        fprintf(out, "%s", left);
        status_states_text(s->state, out);
    } else {
        fprintf(out, "%s", phase_names[phase]);
    }
    if (phase == RUNNING)
        fprintf(out, "; runs, %.3g members/s", s->rate);
    if (phase == RUNNING && isfinite(s->left)) {
        text_seconds(s->left, left);
        fprintf(out, ", %s left", left);
    }
    if (s->task != NULL)
        write_task(s->task, out);
    else if (scan->queued && phase != COMPLETE && phase != RUNNING)
        fprintf(out, "; no job of it is in the queue");
    fprintf(out, "\n");
    if (s->task != NULL && status_wants_log(s->task)) {
        struct job_log log;
        read_log(scan, s->task, &log);
        status_log_text(&log, out);
    }
}

static void write_shards(const struct status_scan *scan, FILE *out)
{
    const bool all = scan->shards <= SHOWN_MOST;
    long shown = 0;
    long left_out = 0;
    for (long k = 0; k < scan->shards; k++) {
        const enum phase phase = phase_of(&scan->shard[k]);
        const struct squeue_task *const task = scan->shard[k].task;
        const bool well = task == NULL || !status_ended_badly(task);
        if (!all && well && (phase == COMPLETE || phase == NOT_GIVEN))
            continue;
        if (shown < SHOWN_MOST)
            write_shard(scan, k, out);
        else
            left_out++;
        shown++;
    }
    if (left_out > 0)
        fprintf(out, "  … and %ld more shards that are not complete\n", left_out);
}

void status_scan_text(const struct status_scan *scan, FILE *out)
{
    const struct totals t = add_up(scan);
    if (scan->scan[0] != '\0')
        fprintf(out, "scan %s, model %s, in %ld shards\n", scan->scan, scan->model,
                scan->shards);
    write_phases(scan, &t, out);
    write_members(scan, &t, out);
    status_verdicts_text(&scan->verdicts, out);
    write_running(scan, &t, out);
    write_shards(scan, out);
    for (int i = 0; i < scan->reasons; i++)
        status_reason_text(&scan->reason[i], scan->realisations, out);
    if (scan->bad > scan->reasons)
        fprintf(out, "  … and %lld more\n", (long long)(scan->bad - scan->reasons));
    status_verdicts_list(&scan->verdicts, out);
}

/* Part: JSON. */

/* "not_begun" */
static void write_word(const char *name, FILE *out)
{
    fputc('"', out);
    for (; *name != '\0'; name++)
        fputc(*name == ' ' ? '_' : *name, out);
    fputc('"', out);
}

static void write_json_task(const struct status_scan *scan, const struct squeue_task *task,
                            FILE *out)
{
    struct job_log log;
    fprintf(out, ",\"job\":{\"id\":%ld,\"kind\":\"%s\",\"phase\":\"%s\",\"state\":", task->job,
            submission_kind_name(task->kind), squeue_phase_name(squeue_phase(task)));
    json_text(out, task->state);
    fprintf(out, ",\"reason\":");
    json_text(out, task->reason);
    fprintf(out, squeue_expected(task) != NULL ? ",\"expected\":" : ",\"since\":");
    json_text(out, task->since);
    fprintf(out, ",\"requeued\":%ld", task->restarts);
    if (status_wants_log(task)) {
        read_log(scan, task, &log);
        status_log_json(&log, out);
    }
    fprintf(out, "}");
}

static void write_json_shard(const struct status_scan *scan, long k, FILE *out)
{
    const struct status_shard *const s = &scan->shard[k];
    fprintf(out, "{\"shard\":%ld,\"state\":", k + 1);
    write_word(phase_names[phase_of(s)], out);
    if (s->file == STATUS_THERE) {
        fprintf(out, ",\"first_member\":%lld,\"members\":%lld", (long long)s->first,
                (long long)s->count);
        status_states_json(s->state, out);
    }
    if (s->running) {
        fprintf(out, ",\"rate\":");
        json_number(out, s->rate);
        fprintf(out, ",\"seconds_left\":");
        json_number(out, s->left);
    }
    if (s->task != NULL)
        write_json_task(scan, s->task, out);
    fprintf(out, "}");
}

void status_scan_json(const struct status_scan *scan, FILE *out)
{
    const struct totals t = add_up(scan);
    fprintf(out, "{\"scan\":");
    json_text(out, scan->scan);
    fprintf(out, ",\"model\":");
    json_text(out, scan->model);
    fprintf(out, ",\"members\":%lld,\"shards\":%ld,\"shards_by_state\":{",
            (long long)scan->members, scan->shards);
    for (int p = 0; p < PHASES; p++) {
        fprintf(out, "%s", p > 0 ? "," : "");
        write_word(phase_names[p], out);
        fprintf(out, ":%ld", t.phase[p]);
    }
    fprintf(out, "}");
    status_states_json(t.state, out);
    status_verdicts_json(&scan->verdicts, out);
    fprintf(out,
            ",\"members_without_file\":%lld,\"members_running\":%lld,\"workers\":%lld,"
            "\"rate\":",
            (long long)(scan->members - t.members), (long long)t.computing,
            (long long)t.workers);
    json_number(out, t.rate);
    fprintf(out, ",\"seconds_left\":");
    json_number(out, t.slowest >= 0 ? scan->shard[t.slowest].left : (double)NAN);
    fprintf(out, ",\"shard_list\":[");
    for (long k = 0; k < scan->shards; k++) {
        fprintf(out, "%s", k > 0 ? "," : "");
        write_json_shard(scan, k, out);
    }
    fprintf(out, "]");
    status_reasons_json(scan->reason, scan->reasons, out);
    fprintf(out, "}");
}
