/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdio.h>
#include <string.h>

#include "kernels/base/command.h"
#include "kernels/base/mem.h"
#include "kernels/base/options.h"
#include "kernels/base/status.h"
#include "slurm/queue.h"
#include "slurm/submit.h"

#define SCANCEL_LIMIT 60.0 /* s */
#define IDS_MAX       500  /* of one call */
#define ID_SIZE       24

enum { ROW_PENDING };

static const struct option_row rows[] = {
    [ROW_PENDING] = {"pending", 0, NULL,
                     "only shards that have not begun; what runs and what follows goes on"},
    {NULL, 0, NULL, NULL}};

static const struct command cancel_row = {
    .name = "cancel",
    .arguments = "NAME.submission",
    .doc = "Take the jobs of a submission out of the queue; those that run stop in order.",
    .details =
        "What is computed stays in the files: submitting again goes on from there.\n"
        "Exit codes: 0 nothing of it is left to run; 2 usage; 3 Slurm does not answer.\n",
    .options = rows,
};

/* Whether a job is to be cancelled. */
static bool is_meant(const struct submission_job *job, const struct queue_job *left,
                     bool pending)
{
    const bool computes = job->kind == SUBMISSION_RUN || job->kind == SUBMISSION_RETRY;
    if (pending)
        return computes && left->pending > 0;
    return left->pending + left->running > 0;
}

static int call_scancel(const char *const *ids, int count, bool pending)
{
    const char *words[IDS_MAX + 4] = {"scancel", "--quiet"};
    int used = 2;
    char why[512];
    struct command_result result;
    if (pending)
        words[used++] = "--state=PENDING";
    for (int i = 0; i < count; i++)
        words[used++] = ids[i];
    int rc = command_run(words, SCANCEL_LIMIT, &result);
    if (rc == 0 && !command_succeeded(&result)) {
        command_explain(&result, "scancel", SCANCEL_LIMIT, why, sizeof why);
        rc = status_fail(ERR_IO, "%s", why);
    }
    command_clear(&result);
    return rc;
}

static int cancel_some(const struct submission *s, const struct queue *queue, bool pending,
                       int *done)
{
    char(*text)[ID_SIZE] = NULL;
    const char *ids[IDS_MAX];
    int count = 0;
    int rc = MEM_NEW(IDS_MAX, &text);
    *done = 0;
    for (int j = 0; rc == 0 && j < s->jobs; j++) {
        if (!is_meant(&s->job[j], &queue->job[j], pending))
            continue;
        snprintf(text[count], ID_SIZE, "%ld", s->job[j].id);
        ids[count] = text[count];
        if (++count == IDS_MAX) {
            rc = call_scancel(ids, count, pending);
            *done += rc == 0 ? count : 0;
            count = 0;
        }
    }
    if (rc == 0 && count > 0)
        rc = call_scancel(ids, count, pending);
    *done += rc == 0 ? count : 0;
    mem_free(text);
    return rc;
}

static void tell(const struct submission *s, const struct queue *queue, bool pending)
{
    for (int j = 0; j < s->jobs; j++) {
        char text[120];
        struct queue_job left = queue->job[j];
        if (!is_meant(&s->job[j], &left, pending))
            continue;
        if (pending)
            left.running = 0;
        queue_text(&left, text, sizeof text);
        printf("cancelled: %s job %ld (%s)\n", submission_kind_name(s->job[j].kind),
               s->job[j].id, text);
    }
}

static int cancel(const char *path, bool pending)
{
    struct submission submission;
    struct queue queue = {0};
    int done = 0;
    int rc = submission_read(path, &submission);
    if (rc == 0)
        rc = queue_ask(&submission, &queue);
    if (rc == 0 && !queue.known)
        rc = status_fail(ERR_IO, "%s: nothing is cancelled", queue.why);
    if (rc == 0)
        rc = cancel_some(&submission, &queue, pending, &done);
    if (rc == 0)
        tell(&submission, &queue, pending);
    if (rc == 0 && done == 0)
        printf("nothing of %s %s\n", path, pending ? "waits in the queue" : "is in the queue");
    queue_clear(&queue);
    submission_clear(&submission);
    return rc;
}

int cancel_command(int argc, char **argv)
{
    struct options o;
    int row = 0;
    bool pending = false;
    options_begin(&o, &cancel_row, argc, argv);
    int rc = options_next(&o, &row);
    while (rc == 0 && row != OPTIONS_END) {
        if (row == OPTIONS_HELP)
            return 0;
        pending = true;
        rc = options_next(&o, &row);
    }
    if (rc == 0)
        rc = options_require(&o, 1, 1);
    if (rc == 0)
        rc = cancel(o.argument[0], pending);
    return status_exit_code(rc);
}
