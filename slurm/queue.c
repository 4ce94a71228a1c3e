/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "slurm/queue.h"

#include <stdio.h>
#include <string.h>

#include "kernels/base/mem.h"
#include "kernels/base/squeue.h"
#include "kernels/base/status.h"

#define QUEUE_LIMIT 30.0 /* s */

static void count_task(const struct submission *submission, const struct squeue_task *task,
                       struct queue *out)
{
    const enum squeue_phase phase = squeue_phase(task);
    for (int j = 0; phase != SQUEUE_ENDED && j < submission->jobs; j++) {
        if (submission->job[j].id != task->job)
            continue;
        if (phase == SQUEUE_RUNNING)
            out->job[j].running++;
        else
            out->job[j].pending++;
        out->total++;
        return;
    }
}

int queue_ask(const struct submission *submission, struct queue *out)
{
    struct squeue answer = {0};
    memset(out, 0, sizeof *out);
    int rc = MEM_NEW(submission->jobs, &out->job);
    if (rc == 0)
        rc = squeue_ask(submission, QUEUE_LIMIT, &answer);
    out->known = answer.known;
    memcpy(out->why, answer.why, sizeof out->why);
    for (long t = 0; rc == 0 && answer.known && t < answer.tasks; t++)
        count_task(submission, &answer.task[t], out);
    squeue_clear(&answer);
    return rc;
}

void queue_text(const struct queue_job *job, char *text, size_t size)
{
    if (job->running > 0 && job->pending > 0)
        snprintf(text, size, "%ld running, %ld pending", job->running, job->pending);
    else if (job->running > 0)
        snprintf(text, size, "%ld running", job->running);
    else if (job->pending > 0)
        snprintf(text, size, "%ld pending", job->pending);
    else
        text[0] = '\0';
}

void queue_clear(struct queue *queue)
{
    mem_free(queue->job);
    memset(queue, 0, sizeof *queue);
}
