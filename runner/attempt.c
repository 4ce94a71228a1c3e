/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "runner/attempt.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "kernels/base/log.h"
#include "kernels/base/mem.h"
#include "kernels/base/status.h"
#include "runner/status.h"
#include "runner/text.h"
#include "runner/tolerance.h"
#include "runner/version.h"
#include "runner/wisdom.h"
#include "scanfarm_version.h"

/* How often Slurm has requeued this job. */
static int restarts(void)
{
    const char *const text = getenv("SLURM_RESTART_COUNT");
    return text == NULL ? 0 : (int)strtol(text, NULL, 10);
}

/* "threads_pointwise = 16384\n…" */
static void describe_thresholds(const struct backend_options *options, char *text, size_t size)
{
    size_t used = 0;
    text[0] = '\0';
    for (int i = 0; i < THRESHOLDS && used < size; i++) {
        const char *const name = backend_thresholds()[i].name;
        const long value = backend_threshold(options, (enum threshold)i);
        const char *const from = options->threshold[i] > 0 ? " (by --threshold)" : "";
        used += (size_t)snprintf(text + used, size - used, "%s = %ld%s\n", name, value, from);
    }
}

int attempt_begin(struct prepared *p, const char *layout, int workers, int *attempt)
{
    char libraries[256];
    *attempt = -1;
    char thresholds[512];
    version_libraries(libraries, sizeof libraries);
    describe_thresholds(&p->options->backend, thresholds, sizeof thresholds);
    const struct store_provenance provenance = {
        .libraries = libraries,
        .build = SCANFARM_COMPILER "; " SCANFARM_BUILD_FLAGS,
        .layout = layout,
        .wisdom = p->wisdom,
        .thresholds = thresholds,
        .job = getenv("SLURM_JOB_ID"),
        .restart_count = restarts(),
        .sync_member = scan_get_store(p->scan)->sync == SYNC_MEMBER,
    };
    TRY(store_begin_attempt(p->options->file, &provenance, attempt));
    TRY(journal_open(p->options->file, p->run, *attempt, &p->journal));
    p->dispatch.journal = p->journal;
    return journal_write_begin(p->journal, p->dispatch.part.count, workers,
                               p->options->scan_path);
}

/* Something failed at the end. After an error it is that error once more: it is not said. */
static void worsen(struct attempt_end *end, int rc, const char *text)
{
    const bool well =
        end->code == 0 || end->code == EXIT_MEMBERS_FAILED || end->code == EXIT_STOPPED;
    if (rc == 0)
        return;
    log_line(well ? LOG_ERROR : LOG_DEBUG, "%s", text);
    if (!well)
        return;
    end->code = status_exit_code(rc);
    snprintf(end->text, sizeof end->text, "%s", text);
}

static int write_end(struct journal *journal, const struct attempt_end *end)
{
    const int rc = journal_write_end(journal, end->code, end->text);
    const int closed = journal_close(journal);
    return rc != 0 ? rc : closed;
}

int attempt_write_end(struct prepared *p, struct attempt_end *end)
{
    char text[JOURNAL_TEXT_SIZE];
    if (p->journal == NULL)
        return 0;
    dispatch_remember(&p->dispatch);
    const struct status_saved saved = status_capture_save();
    status_capture(text, sizeof text);
    const int rc = write_end(p->journal, end);
    status_capture_restore(saved);
    p->journal = NULL;
    p->dispatch.journal = NULL;
    worsen(end, rc, text);
    return rc;
}

static int store_node_wisdom(const char *file)
{
    char host[64] = "";
    char *text = NULL;
    struct wisdom wisdom;
    gethostname(host, sizeof host - 1);
    wisdom_init(&wisdom, file, host, "");
    TRY(wisdom_read(&wisdom, &text));
    const int rc = text[0] != '\0' ? store_write_wisdom(file, text) : 0;
    mem_free(text);
    return rc;
}

void attempt_finish(const struct run_options *options, int attempt, struct attempt_end *end)
{
    char text[JOURNAL_TEXT_SIZE];
    const struct status_saved saved = status_capture_save();
    status_capture(text, sizeof text);
    const int stored = store_node_wisdom(options->file);
    status_capture_restore(saved);
    worsen(end, stored, text);
    status_capture(text, sizeof text);
    const int finished = store_finish(options->file, attempt, end->code, end->text);
    status_capture_restore(saved);
    worsen(end, finished, text);
}

void attempt_close(struct prepared *p, int attempt, struct attempt_end *end)
{
    attempt_write_end(p, end);
    const int code = end->code;
    if (attempt < 0)
        return;
    attempt_finish(p->options, attempt, end);
    if (end->code != code && journal_open(p->options->file, p->run, attempt, &p->journal) == 0)
        attempt_write_end(p, end);
}

static int64_t failed_of(const struct status_report *report)
{
    return report->state[MEMBER_FAILED] + report->state[MEMBER_TIMED_OUT]
           + report->state[MEMBER_QUARANTINED];
}

static void say_failures(const struct status_report *report, int64_t failed)
{
    for (int i = 0; i < report->reasons; i++) {
        const struct status_reason *const r = &report->reason[i];
        const char *const rest = status_reason_rest((int)r->state, r->text);
        log_warn("member %" PRId64 " %s%s %s", r->member, status_state_name((int)r->state),
                 rest == r->text ? ":" : "", rest);
    }
    const struct status_verdicts *const v = &report->verdicts;
    for (int i = 0; i < v->bad; i++)
        log_warn("member %" PRId64 " %s: %s", v->list[i].member,
                 v->list[i].outside ? "is outside the envelope" : "has no verdict",
                 v->list[i].text);
    if (v->outside + v->none > v->bad)
        log_warn("and %" PRId64 " more outside the envelope or without a verdict; `scanfarm "
                 "status %s` has the counts",
                 v->outside + v->none - v->bad, report->path);
    if (failed > report->reasons)
        log_warn("and %" PRId64 " more; `scanfarm status %s` has the counts",
                 failed - report->reasons, report->path);
}

/* ", 2 failed", nothing for none. */
static void add_count(char *text, size_t size, int64_t count, const char *what)
{
    const size_t used = strlen(text);
    if (count > 0)
        snprintf(text + used, size - used, ", %" PRId64 " %s", count, what);
}

/* "28 of 30 members done, 1 failed, 1 timed out" */
static void count_text(const struct status_report *report, char *text, size_t size)
{
    char shard[64] = "";
    if (report->part.shards > 1)
        snprintf(shard, sizeof shard, " of shard %ld/%ld", report->part.shard,
                 report->part.shards);
    snprintf(text, size, "%" PRId64 " of %" PRId64 " member%s%s done",
             report->state[MEMBER_DONE], report->members, report->members == 1 ? "" : "s",
             shard);
    add_count(text, size, report->state[MEMBER_FAILED], "failed");
    add_count(text, size, report->state[MEMBER_TIMED_OUT], "timed out");
    add_count(text, size, report->state[MEMBER_QUARANTINED], "quarantined");
    add_count(text, size, report->state[MEMBER_NOT_NEEDED], "not needed");
    add_count(text, size, report->state[MEMBER_PENDING], "left");
    add_count(text, size, report->verdicts.within, "within the envelope");
    add_count(text, size, report->verdicts.outside, "outside it");
    add_count(text, size, report->verdicts.none, "without a verdict");
    add_count(text, size, report->verdicts.waiting, "not judged yet");
}

static void say_idle(const struct prepared *p, const struct status_report *report,
                     const struct attempt_end *end)
{
    char counts[300];
    count_text(report, counts, sizeof counts);
    if (p->options->only != NULL)
        log_info("nothing to do: %s", end->text);
    if (failed_of(report) + report->verdicts.outside + report->verdicts.none > 0)
        log_info("nothing to do: %s; `scanfarm status %s` has the reasons", counts,
                 report->path);
    else
        log_info("nothing to do: %s: %s", counts, report->path);
}

static void say_text(const struct prepared *p, const struct status_report *report, double wall,
                     const struct attempt_end *end)
{
    char span[TEXT_SIZE];
    char counts[300];
    char tolerance[512];
    text_seconds(wall, span);
    count_text(report, counts, sizeof counts);
    if (end->code == EXIT_STOPPED || end->code == EXIT_INTERRUPTED_TWICE)
        log_info("%s", end->text);
    log_info("%s, in %s: %s", counts, span, report->path);
    if (report->stops.any && end->code == 0)
        log_info("%s", end->text);
    if (end->code != 0 && end->code != EXIT_MEMBERS_FAILED)
        return;
    if (p->options->shard > 1) /* the first shard says it */
        return;
    tolerance_text(p->scan, tolerance, sizeof tolerance);
    if (tolerance[0] != '\0')
        log_info("%s", tolerance);
}

static int say_json(const struct prepared *p, const struct status_report *report, double wall,
                    const struct attempt_end *end)
{
    printf("{\"file\": ");
    json_text(stdout, report->path);
    printf(", \"scan\": ");
    json_text(stdout, report->scan);
    printf(", \"members\": %" PRId64 ", \"done\": %" PRId64 ", \"failed\": %" PRId64
           ", \"timed_out\": %" PRId64,
           report->members, report->state[MEMBER_DONE],
           report->state[MEMBER_FAILED] + report->state[MEMBER_QUARANTINED],
           report->state[MEMBER_TIMED_OUT]);
    printf(", \"pending\": %" PRId64 ", \"pending_before\": %" PRId64 ", \"workers\": %d",
           report->state[MEMBER_PENDING], p->dispatch.pending_before,
           p->options->workers > 0 ? p->options->workers : 1);
    status_part_json(report, stdout);
    status_stops_json(&report->stops, stdout);
    status_verdicts_json(&report->verdicts, stdout);
    printf(", \"wall_s\": ");
    json_number(stdout, wall);
    printf(", \"exit_code\": %d, \"text\": ", end->code);
    json_text(stdout, end->text);
    printf("}\n");
    errno = 0;
    if (fflush(stdout) != 0 || ferror(stdout) != 0)
        FAIL(ERR_IO, "cannot write the results: %s", strerror(errno));
    return 0;
}

int attempt_summary(const struct prepared *p, double wall, const struct attempt_end *end)
{
    struct status_report *report = NULL;
    TRY(MEM_NEW(1, &report));
    int rc = status_read(p->options->file, report);
    if (rc == 0 && !end->idle)
        say_failures(report, failed_of(report)); /* warnings: --quiet keeps them */
    if (rc == 0 && end->idle)
        say_idle(p, report, end);
    else if (rc == 0)
        say_text(p, report, wall, end);
    if (rc == 0 && p->options->json)
        rc = say_json(p, report, wall, end);
    status_clear(report);
    mem_free(report);
    return rc;
}
