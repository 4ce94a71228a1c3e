/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "runner/status_submission.h"

#include <stdio.h>
#include <string.h>

#include "io/store.h"
#include "kernels/base/mem.h"
#include "kernels/base/shard_name.h"
#include "kernels/base/squeue.h"
#include "kernels/base/status.h"
#include "runner/run.h"
#include "runner/status.h"
#include "runner/status_scan.h"
#include "runner/text.h"

#define QUEUE_LIMIT 10.0 /* s */
#define WORDS_MAX   3

/* Everything about one submission. */
struct view {
    const char *path;
    struct submission submission;
    struct squeue queue;
    struct status_scan scan;      /* of several shards */
    struct status_report *report; /* of one file: read, unless it is not there */
    enum status_file file;
    bool alive;
    int rc;
};

/* What the queue says of one call of sbatch. */
struct job_sum {
    long phase[SQUEUE_PHASES];
    long tasks; /* that it was given */
    long known; /* that the queue tells of */
    long restarts;
    const char *since;                          /* the earliest start of those that run */
    const char *word[SQUEUE_PHASES][WORDS_MAX]; /* reasons; how they ended */
};

static void add_word(const char *list[WORDS_MAX], const char *word)
{
    for (int i = 0; i < WORDS_MAX; i++) {
        if (list[i] != NULL && strcmp(list[i], word) != 0)
            continue;
        list[i] = word;
        return;
    }
}

static struct job_sum sum_up(const struct view *v, const struct submission_job *job)
{
    struct job_sum sum = {.tasks = job->first > 0 ? job->last - job->first + 1 : 1};
    for (long i = 0; i < v->queue.tasks; i++) {
        const struct squeue_task *const task = &v->queue.task[i];
        if (task->job != job->id)
            continue;
        const enum squeue_phase phase = squeue_phase(task);
        sum.phase[phase]++;
        sum.known++;
        sum.restarts += task->restarts;
        if (phase != SQUEUE_RUNNING)
            add_word(sum.word[phase], phase == SQUEUE_ENDED ? task->state : task->reason);
        else if (sum.since == NULL || strcmp(task->since, sum.since) < 0)
            sum.since = task->since;
    }
    return sum;
}

static bool is_in_queue(const struct job_sum *sum)
{
    return sum->phase[SQUEUE_PENDING] + sum->phase[SQUEUE_HELD] + sum->phase[SQUEUE_RUNNING]
           > 0;
}

/* Of several jobs that may compute a shard the one that is nearest to doing so. */
static void attach_tasks(struct view *v)
{
    static const int rank[SQUEUE_PHASES] = {
        [SQUEUE_RUNNING] = 3, [SQUEUE_PENDING] = 2, [SQUEUE_HELD] = 2, [SQUEUE_ENDED] = 1};
    v->scan.queued = v->queue.known && v->submission.jobs > 0;
    for (long i = 0; i < v->queue.tasks; i++) {
        const struct squeue_task *const task = &v->queue.task[i];
        if (task->shard < 1 || task->shard > v->scan.shards)
            continue;
        const struct squeue_task **const at = &v->scan.shard[task->shard - 1].task;
        if (*at == NULL || rank[squeue_phase(task)] >= rank[squeue_phase(*at)])
            *at = task;
    }
}

static int read_shard(struct view *v, long k)
{
    char file[RUN_PATH_SIZE];
    struct status_shard *const shard = &v->scan.shard[k - 1];
    TRY(shard_file_name(v->submission.result, k, v->submission.shards, file, sizeof file));
    shard->file = STATUS_NOT_BEGUN;
    if (!store_exists(file))
        return 0;
    int rc = status_read_brief(file, v->report);
    if (rc == 0 && !status_scan_take(&v->scan, v->report))
        rc =
            status_fail(ERR_CONFLICT, "%s belongs to another scan than the other shards", file);
    if (rc != 0)
        shard->file = STATUS_UNREADABLE;
    v->rc = v->rc == 0 ? rc : v->rc;
    v->alive = v->alive || (rc == 0 && v->report->running);
    status_clear(v->report);
    return 0;
}

static int read_files(struct view *v)
{
    const struct submission *const s = &v->submission;
    v->file = STATUS_NOT_BEGUN;
    if (s->shards > 1) {
        TRY(status_scan_init(s->shards, &v->scan));
        for (long k = 1; k <= s->shards; k++)
            TRY(read_shard(v, k));
        attach_tasks(v);
        return 0;
    }
    if (!store_exists(s->result))
        return 0;
    v->rc = status_read(s->result, v->report);
    v->file = v->rc == 0 ? STATUS_THERE : STATUS_UNREADABLE;
    v->alive = v->rc == 0 && v->report->running;
    return 0;
}

static int read_all(struct view *v)
{
    TRY(submission_read(v->path, &v->submission));
    TRY(squeue_ask(&v->submission, QUEUE_LIMIT, &v->queue));
    TRY(MEM_NEW(1, &v->report));
    TRY(read_files(v));
    for (int j = 0; j < v->submission.jobs; j++) {
        const struct job_sum sum = sum_up(v, &v->submission.job[j]);
        v->alive = v->alive || is_in_queue(&sum);
    }
    return 0;
}

static void clear(struct view *v)
{
    if (v->report != NULL)
        status_clear(v->report);
    mem_free(v->report);
    status_scan_clear(&v->scan);
    squeue_clear(&v->queue);
    submission_clear(&v->submission);
}

/* Part: for people. */

static void write_words(const char *const list[WORDS_MAX])
{
    for (int i = 0; i < WORDS_MAX && list[i] != NULL; i++)
        printf("%s%s", i > 0 ? ", " : " (", list[i]);
    if (list[0] != NULL)
        printf(")");
}

static void write_sum(const struct job_sum *sum)
{
    const char *separator = ": ";
    static const enum squeue_phase order[SQUEUE_PHASES] = {SQUEUE_RUNNING, SQUEUE_PENDING,
                                                           SQUEUE_HELD, SQUEUE_ENDED};
    for (int i = 0; i < SQUEUE_PHASES; i++) {
        const enum squeue_phase phase = order[i];
        if (sum->phase[phase] == 0)
            continue;
        printf("%s%ld %s", separator, sum->phase[phase], squeue_phase_name(phase));
        separator = ", ";
        if (phase == SQUEUE_RUNNING)
            printf(" since %s", sum->since);
        else
            write_words(sum->word[phase]);
    }
    if (sum->known < sum->tasks)
        printf("%s%ld not in the queue any more", separator, sum->tasks - sum->known);
    if (sum->restarts > 0)
        printf("; requeued %ld time%s", sum->restarts, sum->restarts == 1 ? "" : "s");
}

static void write_jobs(const struct view *v)
{
    for (int j = 0; j < v->submission.jobs; j++) {
        const struct submission_job *const job = &v->submission.job[j];
        const struct job_sum sum = sum_up(v, job);
        printf("  job       %s %ld", submission_kind_name(job->kind), job->id);
        if (job->last > job->first)
            printf(", shards %ld to %ld", job->first, job->last);
        else if (job->first > 0 && v->submission.shards > 1)
            printf(", shard %ld", job->first);
        if (v->queue.known)
            write_sum(&sum);
        else
            printf(": unknown");
        printf("\n");
    }
    if (!v->queue.known)
        printf("  queue     does not answer (%s): whether jobs wait or run is unknown\n",
               v->queue.why);
    if (v->submission.jobs == 0)
        printf("  job       none was submitted\n");
}

static void write_text(const struct view *v)
{
    const struct submission *const s = &v->submission;
    printf("%s: %s", v->path, s->scan);
    if (s->shards > 1)
        printf(" in %ld shards", s->shards);
    printf(", submitted %s\n", s->submitted);
    write_jobs(v);
    if (s->shards > 1 && store_exists(s->result))
        printf("  result    %s is there\n", s->result);
    if (s->shards > 1)
        status_scan_text(&v->scan, stdout);
    else if (v->file == STATUS_THERE)
        status_write_text(v->report, stdout);
    else
        printf("  result    %s %s\n", s->result,
               v->file == STATUS_NOT_BEGUN ? "has not begun" : "cannot be read");
}

/* Part: JSON. */

static void json_member(const char *name, const char *value)
{
    printf(",\"%s\":", name);
    json_text(stdout, value);
}

static void write_json_job(const struct view *v, const struct submission_job *job)
{
    const struct job_sum sum = sum_up(v, job);
    printf("{\"kind\":\"%s\",\"id\":%ld", submission_kind_name(job->kind), job->id);
    if (job->first > 0)
        printf(",\"first_shard\":%ld,\"last_shard\":%ld", job->first, job->last);
    if (v->queue.known) {
        for (int p = 0; p < SQUEUE_PHASES; p++)
            printf(",\"%s\":%ld", squeue_phase_name((enum squeue_phase)p), sum.phase[p]);
        printf(",\"left_the_queue\":%ld,\"requeued\":%ld", sum.tasks - sum.known, sum.restarts);
        if (sum.since != NULL)
            json_member("since", sum.since);
        if (sum.word[SQUEUE_PENDING][0] != NULL)
            json_member("reason", sum.word[SQUEUE_PENDING][0]);
    }
    printf("}");
}

static void write_json(const struct view *v)
{
    const struct submission *const s = &v->submission;
    printf("{\"submission\":");
    json_text(stdout, v->path);
    json_member("scan_file", s->scan);
    json_member("result", s->result);
    json_member("submitted", s->submitted);
    printf(",\"shards\":%ld,\"queue_answers\":%s", s->shards,
           v->queue.known ? "true" : "false");
    if (!v->queue.known)
        json_member("queue_error", v->queue.why);
    printf(",\"jobs\":[");
    for (int j = 0; j < s->jobs; j++) {
        printf("%s", j > 0 ? "," : "");
        write_json_job(v, &s->job[j]);
    }
    printf("]");
    if (s->shards > 1) {
        printf(",\"state\":");
        status_scan_json(&v->scan, stdout);
    } else if (v->file == STATUS_THERE) {
        printf(",\"file\":");
        status_write_json(v->report, stdout);
    }
    printf("}");
}

int status_submission(const char *path, bool json, bool *alive)
{
    struct view view = {.path = path};
    int rc = read_all(&view);
    if (rc == 0)
        (json ? write_json : write_text)(&view);
    else if (json) {
        printf("{\"submission\":");
        json_text(stdout, path);
        printf("}");
    }
    *alive = view.alive;
    rc = rc != 0 ? rc : view.rc;
    clear(&view);
    return rc;
}
