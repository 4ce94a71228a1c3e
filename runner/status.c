/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "runner/status.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "kernels/base/mem.h"
#include "kernels/base/status.h"
#include "kernels/base/submission.h"
#include "runner/commands.h"
#include "runner/options.h"
#include "runner/status_look.h"
#include "runner/status_workers.h"
#include "runner/text.h"

#define WATCH_SECONDS 2.0
#define QUEUE_SECONDS 10.0 /* the queue is not asked more often, unless somebody wants it */

enum { ROW_JSON, ROW_WATCH };

static const struct option_row status_options[] = {
    [ROW_JSON] = {"json", 0, NULL, "one JSON object instead of text"},
    [ROW_WATCH] = {"watch", 0, "[=SECONDS]",
                   "look again every SECONDS (2; 10 with a submission) while a run is in "
                   "progress"},
    {NULL, 0, NULL, NULL}};

/* Of a file that holds a part of its scan. */
static void write_part(const struct status_report *r, FILE *out)
{
    const struct store_window *const p = &r->part;
    const int64_t all = r->points * r->realisations;
    char members[TEXT_SIZE];
    text_members(p->first, p->first + p->count - 1, members);
    if (p->shards > 1)
        fprintf(out, "  shard     %ld/%ld, %s of %" PRId64 "\n", p->shard, p->shards, members,
                all);
}

const char *status_states_text(const int64_t state[STATUS_STATES], FILE *out)
{
    const char *separator = ": ";
    char count[TEXT_SIZE];
    for (int s = 0; s < STATUS_STATES; s++) {
        if (state[s] == 0)
            continue;
        text_count(state[s], count);
        fprintf(out, "%s%s %s", separator, count, status_state_name(s));
        separator = ", ";
    }
    return separator;
}

static void write_states(const struct status_report *r, FILE *out)
{
    char count[TEXT_SIZE];
    text_count(r->members, count);
    fprintf(out, "  members   %s", count);
    status_states_text(r->state, out);
    if (r->begun > 0)
        fprintf(out, " (%lld of the pending ones have saved planes)", (long long)r->begun);
    fprintf(out, "\n");
}

/* ", 1 min 30 s to 2 min 20 s"; nothing when it is not known. */
static void band_text(const struct journal_counts *c, char *text, size_t size)
{
    char low[TEXT_SIZE];
    char high[TEXT_SIZE];
    text[0] = '\0';
    if (!(c->eta_high > 0) || !isfinite(c->eta_low))
        return;
    text_seconds(c->eta_low, low);
    text_seconds(c->eta_high, high);
    snprintf(text, size, ", %s to %s", low, high);
}

static void write_progress(const struct status_report *r, FILE *out)
{
    const struct journal_counts *c = &r->journal.counts;
    if (!r->running || r->journal.heartbeat[0] == '\0')
        return;
    char eta[TEXT_SIZE];
    char band[3 * TEXT_SIZE];
    text_seconds(c->eta, eta);
    band_text(c, band, sizeof band);
    fprintf(out,
            "  running   %lld member%s on %lld worker%s, %.3g members/s, %s left%s (at %s)\n",
            (long long)c->running, c->running == 1 ? "" : "s", (long long)r->journal.workers,
            r->journal.workers == 1 ? "" : "s", c->rate, eta, band, r->journal.heartbeat);
}

static void write_holder(const struct status_report *r, FILE *out)
{
    const struct status_holder *const h = &r->holder;
    if (!r->running || h->run[0] == '\0')
        return;
    fprintf(out, "  written   by process %lld on %s", (long long)h->pid, h->host);
    if (h->processes > 1)
        fprintf(out, " and %d more", h->processes - 1);
    fprintf(out, "%s%s (run %s)\n", h->job[0] != '\0' ? ", job " : "", h->job, h->run);
}

static void write_attempts(const struct status_report *r, FILE *out)
{
    if (r->attempts == 0)
        return;
    const struct status_attempt *last = &r->attempt[r->attempts - 1];
    fprintf(out, "  attempts  %lld, the last began %s", (long long)last->number, last->start);
    if (last->end[0] != '\0')
        fprintf(out, ", ended %s, exit code %d%s%s", last->end, last->exit_code,
                last->reason[0] != '\0' ? ": " : "", last->reason);
    else
        fprintf(out, r->running ? ", runs" : ", has no record of its end");
    if (last->end[0] == '\0' && r->silent_since[0] != '\0')
        fprintf(out, ": no writer since %s", r->silent_since);
    fprintf(out, "\n");
}

/* Of the last attempt, or of the one named. */
static void write_times(const struct status_report *r, FILE *out)
{
    if (r->times.attempt == 0)
        return;
    const bool last = r->attempts > 0 && r->attempt[r->attempts - 1].number == r->times.attempt;
    fprintf(out, "  time      ");
    if (!last)
        fprintf(out, "attempt %lld: ", (long long)r->times.attempt);
    time_summary_text(&r->times, out);
}

void status_reason_text(const struct status_reason *reason, int64_t realisations, FILE *out)
{
    const char *const text = reason->text[0] != '\0' ? reason->text : "no reason recorded";
    const char *const rest = status_reason_rest((int)reason->state, text);
    fprintf(out, "  member %lld (point %lld, realisation %lld) %s%s %s\n",
            (long long)reason->member, (long long)(reason->member / realisations),
            (long long)(reason->member % realisations), status_state_name((int)reason->state),
            rest == text ? ":" : "", rest);
}

static void write_reasons(const struct status_report *r, FILE *out)
{
    int64_t bad =
        r->state[MEMBER_FAILED] + r->state[MEMBER_TIMED_OUT] + r->state[MEMBER_QUARANTINED];
    for (int i = 0; i < r->reasons; i++)
        status_reason_text(&r->reason[i], r->realisations, out);
    if (bad > r->reasons)
        fprintf(out, "  … and %lld more\n", (long long)(bad - r->reasons));
}

void status_write_text(const struct status_report *r, FILE *out)
{
    char saved[TEXT_SIZE];
    char all[TEXT_SIZE];
    text_count(r->saved, saved);
    text_count(r->members * r->planes, all);
    fprintf(out, "%s: scan %s, model %s\n", r->path, r->scan, r->model);
    write_part(r, out);
    write_states(r, out);
    fprintf(out, "  planes    %s of %s saved\n", saved, all);
    fprintf(out, "  complete  %s\n", r->complete ? "yes" : "no");
    status_verdicts_text(&r->verdicts, out);
    write_progress(r, out);
    write_holder(r, out);
    status_workers_text(&r->workers, r->running, out);
    write_attempts(r, out);
    write_times(r, out);
    write_reasons(r, out);
    status_verdicts_list(&r->verdicts, out);
}

void status_part_json(const struct status_report *r, FILE *out)
{
    if (r->part.shards > 1)
        fprintf(out,
                ",\"shard\":\"%ld/%ld\",\"first_member\":%" PRId64
                ",\"members_of_scan\":%" PRId64,
                r->part.shard, r->part.shards, r->part.first, r->points * r->realisations);
}

void status_states_json(const int64_t state[STATUS_STATES], FILE *out)
{
    fprintf(out, ",\"states\":{");
    for (int s = 0; s < STATUS_STATES; s++) {
        if (s == 1)
            continue; /* no such state */
        char name[24];
        snprintf(name, sizeof name, "%s", status_state_name(s));
        for (char *c = name; *c != '\0'; c++)
            *c = *c == ' ' ? '_' : *c;
        fprintf(out, "%s\"%s\":%lld", s > 0 ? "," : "", name, (long long)state[s]);
    }
    fprintf(out, "}");
}

/* Of a run in progress. */
static void write_json_progress(const struct status_report *r, FILE *out)
{
    const struct journal_counts *c = &r->journal.counts;
    fprintf(out, ",\"members_running\":%lld,\"workers\":%lld,\"rate\":", (long long)c->running,
            (long long)r->journal.workers);
    json_number(out, c->rate);
    fprintf(out, ",\"seconds_left\":");
    json_number(out, c->eta);
    fprintf(out, ",\"seconds_left_low\":");
    json_number(out, c->eta_low);
    fprintf(out, ",\"seconds_left_high\":");
    json_number(out, c->eta_high);
    fprintf(out, ",\"heartbeat\":");
    json_text(out, r->journal.heartbeat);
    if (r->holder.run[0] == '\0')
        return;
    fprintf(out, ",\"writer\":{\"run\":");
    json_text(out, r->holder.run);
    fprintf(out, ",\"host\":");
    json_text(out, r->holder.host);
    fprintf(out, ",\"pid\":%lld,\"processes\":%d,\"job\":", (long long)r->holder.pid,
            r->holder.processes);
    json_text(out, r->holder.job);
    fprintf(out, "}");
}

static void write_json_attempts(const struct status_report *r, FILE *out)
{
    fprintf(out, ",\"attempts\":[");
    for (int i = 0; i < r->attempts; i++) {
        const struct status_attempt *a = &r->attempt[i];
        fprintf(out, "%s{\"number\":%lld,\"start\":", i > 0 ? "," : "", (long long)a->number);
        json_text(out, a->start);
        if (a->end[0] != '\0') {
            fprintf(out, ",\"end\":");
            json_text(out, a->end);
            fprintf(out, ",\"exit_code\":%d,\"reason\":", a->exit_code);
            json_text(out, a->reason);
        }
        fprintf(out, "}");
    }
    fprintf(out, "]");
}

void status_reasons_json(const struct status_reason *reason, int count, FILE *out)
{
    fprintf(out, ",\"failures\":[");
    for (int i = 0; i < count; i++) {
        fprintf(out, "%s{\"member\":%lld,\"state\":", i > 0 ? "," : "",
                (long long)reason[i].member);
        json_text(out, status_state_name((int)reason[i].state));
        fprintf(out, ",\"reason\":");
        json_text(out, reason[i].text);
        fprintf(out, "}");
    }
    fprintf(out, "]");
}

void status_write_json(const struct status_report *r, FILE *out)
{
    fprintf(out, "{\"file\":");
    json_text(out, r->path);
    fprintf(out, ",\"scan\":");
    json_text(out, r->scan);
    fprintf(out, ",\"model\":");
    json_text(out, r->model);
    fprintf(out, ",\"members\":%lld,\"points\":%lld,\"realisations\":%lld",
            (long long)r->members, (long long)r->points, (long long)r->realisations);
    status_part_json(r, out);
    status_states_json(r->state, out);
    fprintf(out, ",\"planes_saved\":%lld,\"planes\":%lld,\"complete\":%s,\"running\":%s",
            (long long)r->saved, (long long)r->members * r->planes,
            r->complete ? "true" : "false", r->running ? "true" : "false");
    status_verdicts_json(&r->verdicts, out);
    if (r->silent_since[0] != '\0') {
        fprintf(out, ",\"no_writer_since\":");
        json_text(out, r->silent_since);
    }
    if (r->running)
        write_json_progress(r, out);
    if (r->workers.count > 0) {
        fprintf(out, ",\"worker_list\":");
        status_workers_json(&r->workers, out);
    }
    write_json_attempts(r, out);
    if (r->times.attempt > 0) {
        fprintf(out, ",\"timing\":");
        time_summary_json(&r->times, out);
    }
    status_reasons_json(r->reason, r->reasons, out);
    fprintf(out, "}");
}

/* What the command line asks for. */
struct wish {
    bool json;
    bool watch;
    double period; /* s between two looks; 0: as is usual */
};

static void wait_for(double seconds)
{
    struct timespec left = {.tv_sec = (time_t)seconds};
    left.tv_nsec = (long)(1e9 * (seconds - (double)left.tv_sec));
    nanosleep(&left, NULL);
}

static double usual_period(const struct options *o)
{
    for (int i = 0; i < o->arguments; i++)
        if (submission_is_one(o->argument[i]))
            return QUEUE_SECONDS;
    return WATCH_SECONDS;
}

/* Look again and again while somebody writes one of the files. On a terminal the text stays at
 * its place. */
static int watch_files(const struct options *o, const struct wish *look)
{
    const double period = look->period > 0 ? look->period : usual_period(o);
    const bool terminal = isatty(STDOUT_FILENO) != 0 && !look->json;
    bool running = true;
    int rc = 0;
    while (running) {
        if (terminal)
            printf("\033[H\033[J");
        rc = status_look(o->argument, o->arguments, look->json, &running);
        if (fflush(stdout) != 0) /* nobody reads it any more: main says so */
            return rc;
        if (running)
            wait_for(period);
        if (running && !terminal && !look->json)
            printf("\n");
    }
    return rc;
}

static int read_option(const struct options *o, int row, struct wish *look)
{
    if (row == ROW_JSON)
        look->json = true;
    if (row != ROW_WATCH)
        return 0;
    look->watch = true;
    return o->value == NULL ? 0 : options_real(o, "watch", 0.1, 86400, &look->period);
}

static int show_status(const struct command *self, int argc, char **argv)
{
    struct options o;
    struct wish look = {0};
    bool running = false;
    int row = 0;
    options_begin(&o, self, argc, argv);
    TRY(options_next(&o, &row));
    while (row != OPTIONS_END) {
        if (row == OPTIONS_HELP)
            return 0;
        TRY(read_option(&o, row, &look));
        TRY(options_next(&o, &row));
    }
    TRY(options_require(&o, 1, argc));
    return look.watch ? watch_files(&o, &look)
                      : status_look(o.argument, o.arguments, look.json, &running);
}

static int run_status(const struct command *self, int argc, char **argv)
{
    status_stand_back();
    return options_exit(show_status(self, argc, argv));
}

const struct command status_command = {
    .name = "status",
    .arguments = "FILE…",
    .doc = "Members by state, progress, rate, failures with reasons; works on a live file, on "
           "shards and on a submission",
    .details =
        "Reads only. --watch ends with the run, that of NAME.submission when no job of it is "
        "left.\n"
        "Several files of shards are summed up. Exit code 0 when every file could be read, "
        "whatever its members' "
        "states;\n2 for a file that does not exist, 4 for one that is not scanfarm's, is "
        "damaged or newer.\n",
    .options = status_options,
    .run = run_status,
};
