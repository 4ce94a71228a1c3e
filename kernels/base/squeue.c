/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "kernels/base/squeue.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "kernels/base/command.h"
#include "kernels/base/mem.h"
#include "kernels/base/status.h"

#define ID_SIZE 24 /* bytes of a number and a comma */

/* Columns of a fixed width, in this order; names as squeue's --Format has them. */
enum column { JOB, TASK, STATE, REASON, SINCE, RESTARTS, COLUMNS };
static const int widths[COLUMNS] = {
    [JOB] = 20, [TASK] = 20, [STATE] = 20, [REASON] = 44, [SINCE] = 28, [RESTARTS] = 12};
static const char format[] =
    "ArrayJobID:20,ArrayTaskID:20,State:20,Reason:44,StartTime:28,RestartCnt:12";

/* One column without the blanks around it, cut at size. */
static void take_column(const char *line, size_t length, enum column which, char *text,
                        size_t size)
{
    size_t first = 0;
    for (int c = 0; c < (int)which; c++)
        first += (size_t)widths[c];
    size_t end = first + (size_t)widths[which];
    end = end < length ? end : length;
    while (first < end && isspace((unsigned char)line[first]))
        first++;
    while (end > first && isspace((unsigned char)line[end - 1]))
        end--;
    const size_t bytes = end > first ? end - first : 0;
    snprintf(text, size, "%.*s", (int)(bytes < size ? bytes : size - 1),
             bytes > 0 ? line + first : "");
}

static long take_number(const char *line, size_t length, enum column which)
{
    char text[32];
    char *end = NULL;
    take_column(line, length, which, text, sizeof text);
    const long number = strtol(text, &end, 10);
    return end != text && *end == '\0' ? number : -1;
}

/* Squeue writes local time without saying so. Anything else ("N/A", a format that the user has
 * chosen by SLURM_TIME_FORMAT) stays. */
static void make_utc(char *text, size_t size)
{
    struct tm parts = {0};
    const char *const end = strptime(text, "%Y-%m-%dT%H:%M:%S", &parts);
    if (end == NULL || *end != '\0')
        return;
    parts.tm_isdst = -1;
    const time_t when = mktime(&parts);
    if (when != (time_t)-1 && gmtime_r(&when, &parts) != NULL)
        strftime(text, size, "%Y-%m-%dT%H:%M:%SZ", &parts);
}

/* The shard of a job's task: those of an array are counted from 1 behind the shards of the
 * calls of sbatch before it. */
static long shard_of(const struct submission_job *job, long task)
{
    if (job->first == 0)
        return 0;
    const long shard = task < 0 ? job->first : job->first - 1 + task;
    return shard >= job->first && shard <= job->last ? shard : 0;
}

static const struct submission_job *find_job(const struct submission *submission, long id)
{
    for (int j = 0; j < submission->jobs; j++)
        if (submission->job[j].id == id)
            return &submission->job[j];
    return NULL;
}

static void take_line(const char *line, size_t length, const struct submission *submission,
                      struct squeue *out)
{
    struct squeue_task *const task = &out->task[out->tasks];
    const struct submission_job *const job =
        find_job(submission, take_number(line, length, JOB));
    if (job == NULL)
        return;
    *task = (struct squeue_task){.job = job->id,
                                 .kind = job->kind,
                                 .shard = shard_of(job, take_number(line, length, TASK))};
    take_column(line, length, STATE, task->state, sizeof task->state);
    take_column(line, length, REASON, task->reason, sizeof task->reason);
    take_column(line, length, SINCE, task->since, sizeof task->since);
    make_utc(task->since, sizeof task->since);
    const long restarts = take_number(line, length, RESTARTS);
    task->restarts = restarts > 0 ? restarts : 0;
    out->tasks++;
}

int squeue_read(const char *text, const struct submission *submission, struct squeue *out)
{
    long lines = 1;
    for (const char *at = text; *at != '\0'; at++)
        lines += *at == '\n';
    TRY(MEM_NEW(lines, &out->task));
    while (*text != '\0') {
        const size_t length = strcspn(text, "\n");
        take_line(text, length, submission, out);
        text += length + (text[length] == '\n');
    }
    return 0;
}

/* "1234,1235": all jobs of a submission. */
static int list_ids(const struct submission *submission, char **out)
{
    size_t used = 0;
    const size_t size = (size_t)submission->jobs * ID_SIZE + 1;
    TRY(MEM_NEW((long)size, out));
    for (int j = 0; j < submission->jobs; j++)
        used += (size_t)snprintf(*out + used, size - used, "%s%ld", j > 0 ? "," : "",
                                 submission->job[j].id);
    return 0;
}

static int judge(const struct command_result *result, double limit,
                 const struct submission *submission, struct squeue *out)
{
    /* of one job that it has forgotten squeue speaks as of an error */
    const bool gone = result->end == COMMAND_EXITED && result->errors != NULL
                      && strstr(result->errors, "Invalid job id") != NULL;
    out->known = gone || command_succeeded(result);
    if (out->known)
        return squeue_read(result->output, submission, out);
    command_explain(result, "squeue", limit, out->why, sizeof out->why);
    return 0;
}

int squeue_ask(const struct submission *submission, double limit, struct squeue *out)
{
    char *ids = NULL;
    struct command_result result = {0};
    *out = (struct squeue){.known = submission->jobs == 0};
    if (submission->jobs == 0)
        return 0;
    TRY(list_ids(submission, &ids));
    const char *const words[] = {"squeue",       "--noheader", "--array",
                                 "--states=all", "--jobs",     ids,
                                 "--Format",     format,       NULL};
    int rc = command_run(words, limit, &result);
    if (rc == 0)
        rc = judge(&result, limit, submission, out);
    command_clear(&result);
    mem_free(ids);
    return rc;
}

enum squeue_phase squeue_phase(const struct squeue_task *task)
{
    static const char *const alive[] = {"RUNNING",  "COMPLETING", "CONFIGURING", "SUSPENDED",
                                        "RESIZING", "SIGNALING",  "STAGE_OUT",   "STOPPED"};
    static const char *const waits[] = {"PENDING", "REQUEUED", "REQUEUE_FED", "PREEMPTED"};
    static const char *const held[] = {"REQUEUE_HOLD", "SPECIAL_EXIT", "RESV_DEL_HOLD"};
    for (size_t i = 0; i < sizeof held / sizeof *held; i++)
        if (strcmp(task->state, held[i]) == 0)
            return SQUEUE_HELD;
    for (size_t i = 0; i < sizeof waits / sizeof *waits; i++)
        if (strcmp(task->state, waits[i]) == 0)
            return strncmp(task->reason, "JobHeld", 7) == 0 ? SQUEUE_HELD : SQUEUE_PENDING;
    for (size_t i = 0; i < sizeof alive / sizeof *alive; i++)
        if (strcmp(task->state, alive[i]) == 0)
            return SQUEUE_RUNNING;
    return SQUEUE_ENDED;
}

const char *squeue_phase_name(enum squeue_phase phase)
{
    static const char *const names[SQUEUE_PHASES] = {"pending", "held", "running", "ended"};
    return names[phase];
}

const char *squeue_word(const struct squeue_task *task)
{
    const bool none = task->reason[0] == '\0' || strcmp(task->reason, "None") == 0;
    if (squeue_phase(task) == SQUEUE_ENDED)
        return task->state;
    if (!none)
        return task->reason;
    return strcmp(task->state, "PENDING") == 0 ? "" : task->state;
}

const char *squeue_expected(const struct squeue_task *task)
{
    const bool told = task->since[0] >= '0' && task->since[0] <= '9';
    return squeue_phase(task) == SQUEUE_PENDING && told ? task->since : NULL;
}

void squeue_clear(struct squeue *queue)
{
    mem_free(queue->task);
    *queue = (struct squeue){0};
}
