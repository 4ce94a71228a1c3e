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
#define WORDS_MAX   12   /* Slurm knows ten ways to end */
#define SHOWN_WORDS 3

/* Everything about one submission. */
struct view {
    const char *path;
    struct submission submission;
    struct squeue queue;
    struct status_scan scan;      /* of several shards */
    struct status_report *report; /* of one file: read, unless it is not there */
    enum status_file file;
    enum status_file result; /* of several shards: what they are collected into */
    bool alive;
    int rc;
};

/* A reason, or a way to end, and how many tasks have it. */
struct word {
    const char *text; /* NULL: none */
    long count;
};

/* What the queue says of one call of sbatch. */
struct job_sum {
    long phase[SQUEUE_PHASES];
    long tasks; /* that it was given */
    long known; /* that the queue tells of */
    long restarts;
    long never;           /* that wait for what will not be */
    const char *since;    /* the earliest start of those that run … */
    const char *expected; /* … and of those that wait; NULL: it is not known */
    struct word word[SQUEUE_PHASES][WORDS_MAX];
};

static void add_word(struct word list[WORDS_MAX], const char *text)
{
    for (int i = 0; i < WORDS_MAX && text[0] != '\0'; i++) {
        if (list[i].text != NULL && strcmp(list[i].text, text) != 0)
            continue;
        list[i].text = text;
        list[i].count++;
        return;
    }
}

static long count_word(const struct word list[WORDS_MAX], const char *text)
{
    for (int i = 0; i < WORDS_MAX && list[i].text != NULL; i++)
        if (strcmp(list[i].text, text) == 0)
            return list[i].count;
    return 0;
}

static const char *earlier(const char *a, const char *b)
{
    return a == NULL || (b != NULL && strcmp(b, a) < 0) ? b : a;
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
        sum.never += strcmp(task->reason, "DependencyNeverSatisfied") == 0;
        if (phase == SQUEUE_RUNNING)
            sum.since = earlier(sum.since, task->since);
        else
            add_word(sum.word[phase], squeue_word(task));
        sum.expected = earlier(sum.expected, squeue_expected(task));
    }
    return sum;
}

/* A retry that Slurm has cancelled because all shards of its run have ended well: what it waits
 * for will never be. Slurm says so by a reason; where it does not, the run does. */
static bool is_not_needed(const struct view *v, const struct submission_job *job)
{
    const struct submission *const s = &v->submission;
    if (job->kind != SUBMISSION_RETRY)
        return false;
    const struct job_sum sum = sum_up(v, job);
    if (sum.known == 0 || count_word(sum.word[SQUEUE_ENDED], "CANCELLED") < sum.known)
        return false;
    if (sum.never == sum.known)
        return true;
    for (int j = 0; j < s->jobs; j++) {
        if (s->job[j].kind != SUBMISSION_RUN || s->job[j].first != job->first)
            continue;
        const struct job_sum run = sum_up(v, &s->job[j]);
        return count_word(run.word[SQUEUE_ENDED], "COMPLETED") == run.tasks;
    }
    return false;
}

static bool is_in_queue(const struct job_sum *sum)
{
    return sum->phase[SQUEUE_PENDING] + sum->phase[SQUEUE_HELD] + sum->phase[SQUEUE_RUNNING]
           > 0;
}

/* Which of several jobs tells of a shard: what runs, then the run while it waits, then a retry
 * that is to come, unless the run has ended well, then how it ended last. */
static int rank_of(const struct squeue_task *task)
{
    static const int run[SQUEUE_PHASES] = {
        [SQUEUE_RUNNING] = 6, [SQUEUE_PENDING] = 5, [SQUEUE_HELD] = 5, [SQUEUE_ENDED] = 1};
    static const int retry[SQUEUE_PHASES] = {
        [SQUEUE_RUNNING] = 6, [SQUEUE_PENDING] = 3, [SQUEUE_HELD] = 3, [SQUEUE_ENDED] = 2};
    const enum squeue_phase phase = squeue_phase(task);
    const bool waited = strncmp(task->reason, "Dependency", 10) == 0; /* it never began */
    if (task->kind == SUBMISSION_RETRY)
        return phase == SQUEUE_ENDED && waited ? 0 : retry[phase];
    return phase == SQUEUE_ENDED && !status_ended_badly(task) ? 4 : run[phase];
}

static void attach_job(struct view *v, const struct submission_job *job)
{
    for (long i = 0; i < v->queue.tasks; i++) {
        const struct squeue_task *const task = &v->queue.task[i];
        if (task->job != job->id || task->shard < 1 || task->shard > v->scan.shards)
            continue;
        const struct squeue_task **const at = &v->scan.shard[task->shard - 1].task;
        if (*at == NULL || rank_of(task) > rank_of(*at))
            *at = task;
    }
}

static void attach_tasks(struct view *v)
{
    v->scan.queued = v->queue.known && v->submission.jobs > 0;
    for (int j = 0; j < v->submission.jobs; j++)
        if (!is_not_needed(v, &v->submission.job[j]))
            attach_job(v, &v->submission.job[j]);
}

/* Whether a file's configuration is not the one that was submitted. */
static bool is_foreign(const struct view *v, const char *configuration)
{
    const char *const right = v->submission.configuration;
    return right[0] != '\0' && strcmp(configuration, right) != 0;
}

static int fail_foreign(const char *file)
{
    FAIL(ERR_CONFLICT, "%s holds another configuration than the scan that was submitted", file);
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
    if (rc != 0)
        shard->file = STATUS_UNREADABLE;
    else if (is_foreign(v, v->report->configuration))
        rc = fail_foreign(file);
    else if (!status_scan_take(&v->scan, v->report))
        rc =
            status_fail(ERR_CONFLICT, "%s belongs to another scan than the other shards", file);
    if (rc != 0 && shard->file != STATUS_UNREADABLE)
        shard->file = STATUS_FOREIGN;
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
        v->scan.submission = s;
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
    if (v->rc == 0 && is_foreign(v, v->report->configuration)) {
        v->file = STATUS_FOREIGN;
        v->rc = fail_foreign(s->result);
    }
    return 0;
}

/* The file that the shards are collected into. */
static int read_result(struct view *v)
{
    const char *const result = v->submission.result;
    char hash[CANONICAL_HASH_SIZE] = "";
    struct store *store = NULL;
    v->result = STATUS_NOT_BEGUN;
    if (v->submission.shards == 1 || !store_exists(result))
        return 0;
    int rc = store_open_read(result, &store);
    if (rc == 0)
        rc = status_read_configuration(store, hash);
    store_close(store);
    v->result = rc != 0 ? STATUS_UNREADABLE : STATUS_THERE;
    if (rc == 0 && is_foreign(v, hash)) {
        v->result = STATUS_FOREIGN;
        rc = fail_foreign(result);
    }
    v->rc = v->rc == 0 ? rc : v->rc;
    return 0;
}

static int read_all(struct view *v)
{
    TRY(submission_read(v->path, &v->submission));
    TRY(squeue_ask(&v->submission, QUEUE_LIMIT, &v->queue));
    TRY(MEM_NEW(1, &v->report));
    TRY(read_files(v));
    TRY(read_result(v));
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

/* " (COMPLETED)", " (3 COMPLETED, 1 FAILED)" */
static void write_words(const struct word list[WORDS_MAX])
{
    const bool several = list[1].text != NULL;
    for (int i = 0; i < SHOWN_WORDS && list[i].text != NULL; i++) {
        printf(i > 0 ? ", " : " (");
        if (several)
            printf("%ld ", list[i].count);
        printf("%s", list[i].text);
    }
    if (list[0].text != NULL)
        printf("%s)", list[SHOWN_WORDS].text != NULL ? ", …" : "");
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
        if (phase == SQUEUE_PENDING && sum->expected != NULL)
            printf(", may start %s", sum->expected);
    }
    if (sum->known < sum->tasks)
        printf("%s%ld not in the queue any more", separator, sum->tasks - sum->known);
    if (sum->restarts > 0)
        printf("; requeued %ld time%s", sum->restarts, sum->restarts == 1 ? "" : "s");
}

/* Why a job ended that stands for itself; those of shards stand with the shards. */
static bool wants_log(const struct view *v, const struct submission_job *job)
{
    for (long i = 0; i < v->queue.tasks; i++)
        if (v->queue.task[i].job == job->id && status_wants_log(&v->queue.task[i]))
            return (job->first == 0 || v->submission.shards == 1) && !is_not_needed(v, job);
    return false;
}

static void write_job_log(const struct view *v, const struct submission_job *job)
{
    struct job_log log;
    if (!wants_log(v, job))
        return;
    job_log_read(&v->submission, job, job->first, &log);
    status_log_text(&log, stdout);
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
        if (!v->queue.known)
            printf(": unknown");
        else if (is_not_needed(v, job))
            printf(": not needed, all shards have ended well");
        else
            write_sum(&sum);
        printf("\n");
        write_job_log(v, job);
    }
    if (!v->queue.known)
        printf("  queue     does not answer (%s): whether jobs wait or run is unknown\n",
               v->queue.why);
    if (v->submission.jobs == 0)
        printf("  job       none was submitted\n");
}

static const char *file_text(enum status_file file)
{
    static const char *const texts[] = {
        [STATUS_NOT_BEGUN] = "has not begun",
        [STATUS_UNREADABLE] = "cannot be read",
        [STATUS_FOREIGN] = "is of another configuration than the scan that was submitted",
        [STATUS_THERE] = "is there"};
    return texts[file];
}

static void write_text(const struct view *v)
{
    const struct submission *const s = &v->submission;
    printf("%s: %s", v->path, s->scan);
    if (s->shards > 1)
        printf(" in %ld shards", s->shards);
    printf(", submitted %s\n", s->submitted);
    write_jobs(v);
    if (s->shards > 1 && v->result != STATUS_NOT_BEGUN)
        printf("  result    %s %s\n", s->result, file_text(v->result));
    if (s->shards > 1)
        status_scan_text(&v->scan, stdout);
    else if (v->file == STATUS_THERE)
        status_write_text(v->report, stdout);
    else
        printf("  result    %s %s\n", s->result, file_text(v->file));
}

/* Part: JSON. */

static void json_member(const char *name, const char *value)
{
    printf(",\"%s\":", name);
    json_text(stdout, value);
}

static void write_json_ends(const struct view *v, const struct submission_job *job,
                            const struct job_sum *sum)
{
    struct job_log log;
    const struct word *const list = sum->word[SQUEUE_ENDED];
    printf(",\"ended_as\":{");
    for (int i = 0; i < WORDS_MAX && list[i].text != NULL; i++)
        printf("%s\"%s\":%ld", i > 0 ? "," : "", list[i].text, list[i].count);
    printf("},\"not_needed\":%s", is_not_needed(v, job) ? "true" : "false");
    if (wants_log(v, job)) {
        job_log_read(&v->submission, job, job->first, &log);
        status_log_json(&log, stdout);
    }
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
        if (sum.expected != NULL)
            json_member("expected", sum.expected);
        if (sum.word[SQUEUE_PENDING][0].text != NULL)
            json_member("reason", sum.word[SQUEUE_PENDING][0].text);
        write_json_ends(v, job, &sum);
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
    printf(",\"foreign_result\":%s",
           v->file == STATUS_FOREIGN || v->result == STATUS_FOREIGN ? "true" : "false");
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
