/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "slurm/sbatch.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/base/command.h"
#include "kernels/base/mem.h"
#include "kernels/base/status.h"
#include "slurm/quote.h"

#define SBATCH_LIMIT 120.0 /* s */
#define WORDS_MAX    12
#define ID_SIZE      24

/* One call in the making. */
struct call {
    char *word[WORDS_MAX + 1]; /* NULL-terminated, owned */
    int count;
    int error;
};

/* The calls that were made, or shown. */
struct series {
    const struct batch *batch;
    FILE *show;     /* NULL: they are made */
    char *runs;     /* ":1234:1235" of the run, owned */
    size_t retried; /* characters of it that have their retry */
    char *all;      /* … and of the retry */
    char collect[ID_SIZE];
};

static void add(struct call *call, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void add(struct call *call, const char *format, ...)
{
    char *text = NULL;
    va_list values;
    if (call->error != 0)
        return;
    va_start(values, format);
    const int length = vsnprintf(NULL, 0, format, values);
    va_end(values);
    call->error = MEM_NEW(length + 1, &text);
    if (call->error != 0)
        return;
    va_start(values, format);
    vsnprintf(text, (size_t)length + 1, format, values);
    va_end(values);
    call->word[call->count++] = text;
}

static void clear_call(struct call *call)
{
    for (int i = 0; i < call->count; i++)
        mem_free(call->word[i]);
    memset(call, 0, sizeof *call);
}

/* " (that leaves out the collecting, the pictures)": what one call by hand is not. */
static void tell_left_out(const struct batch *batch, const struct submission_job *job,
                          char *text, size_t size)
{
    static const char *const names[SUBMISSION_KINDS] = {[SUBMISSION_RUN] =
                                                            "the shards behind these",
                                                        [SUBMISSION_RETRY] = "the retry",
                                                        [SUBMISSION_COLLECT] = "the collecting",
                                                        [SUBMISSION_PLOT] = "the pictures"};
    size_t used = 0;
    text[0] = '\0';
    const int first = (int)job->kind;
    for (int kind = first; kind < SUBMISSION_KINDS; kind++) {
        const bool more = job->first > 0 && job->last < batch->choice->shards;
        const bool left = kind == first ? more : batch_has(batch, (enum submission_kind)kind);
        if (left)
            used += (size_t)snprintf(text + used, size - used, "%s%s",
                                     used > 0 ? ", " : " (that leaves out ", names[kind]);
    }
    if (used > 0)
        snprintf(text + used, size - used, ")");
}

static int fail_call(const struct batch *batch, const struct command_result *result,
                     const struct call *call, const struct submission_job *job)
{
    char why[512];
    char left[160];
    char *words = NULL;
    size_t size = 0;
    FILE *const text = open_memstream(&words, &size);
    for (int i = 0; text != NULL && i < call->count; i++) {
        if (strcmp(call->word[i], "--parsable") == 0)
            continue;
        fputs(i > 0 ? " " : "", text);
        quote_shell(call->word[i], text);
    }
    if (text != NULL)
        fclose(text);
    command_explain(result, "sbatch", SBATCH_LIMIT, why, sizeof why);
    tell_left_out(batch, job, left, sizeof left);
    const int rc = status_fail(
        ERR_IO, "%s%s; when that is mended, submit again or call: %s%s", why,
        result->end == COMMAND_TIMED_OUT ? " (squeue tells whether it took the job)" : "",
        words != NULL ? words : "sbatch", left);
    free(words);
    return rc;
}

/* The number that sbatch --parsable prints, "1234" or "1234;cluster". */
static int read_id(const struct command_result *result, long *id)
{
    char *end = NULL;
    *id = strtol(result->output, &end, 10);
    if (end == result->output || *id < 1)
        FAIL(ERR_IO, "sbatch gave no number of a job: '%.80s'", result->output);
    return 0;
}

static void show_call(const struct call *call, FILE *out)
{
    for (int i = 0; i < call->count; i++) {
        fputs(i > 0 ? " " : "", out);
        quote_shell(call->word[i], out);
    }
    fputc('\n', out);
}

static void tell(const struct submission_job *job)
{
    static const char *const does[SUBMISSION_KINDS] = {
        [SUBMISSION_RUN] = "computes",
        [SUBMISSION_RETRY] = "computes what failed once more, when those have ended:",
        [SUBMISSION_COLLECT] = "joins the shards, when all have ended",
        [SUBMISSION_PLOT] = "draws the pictures, after that"};
    printf("job %ld %s", job->id, does[job->kind]);
    if (job->first > 0 && job->last > job->first)
        printf(" shards %ld to %ld", job->first, job->last);
    else if (job->first > 0)
        printf(" shard %ld", job->first);
    printf("\n");
    fflush(stdout);
}

/* Make one call and note the job. @param id [ID_SIZE] receives its number as text */
static int make_call(struct series *s, struct call *call, struct submission_job job,
                     char id[ID_SIZE])
{
    struct command_result result = {0};
    if (call->error != 0)
        return call->error;
    if (s->show != NULL) {
        show_call(call, s->show);
        snprintf(id, ID_SIZE, "<%s>", submission_kind_name(job.kind));
        return 0;
    }
    int rc = command_run((const char *const *)call->word, SBATCH_LIMIT, &result);
    if (rc == 0)
        rc = command_succeeded(&result) ? read_id(&result, &job.id)
                                        : fail_call(s->batch, &result, call, &job);
    command_clear(&result);
    if (rc != 0)
        return rc;
    tell(&job);
    snprintf(id, ID_SIZE, "%ld", job.id);
    return submission_append(s->batch->submission, &job);
}

static int append_id(char **list, const char *id)
{
    char *longer = NULL;
    const size_t size = (*list != NULL ? strlen(*list) : 0) + strlen(id) + 2;
    TRY(MEM_NEW((long)size, &longer));
    snprintf(longer, size, "%s:%s", *list != NULL ? *list : "", id);
    mem_free(*list);
    *list = longer;
    return 0;
}

static void begin_call(const struct series *s, struct call *call)
{
    add(call, "sbatch");
    if (s->show == NULL)
        add(call, "--parsable");
}

/* ":1234", the next array of the run: a retry is of the shards of one. Several after afternotok
 * would all have to fail. */
static void take_run(struct series *s, char id[ID_SIZE])
{
    const char *const from = s->runs != NULL ? s->runs + s->retried : "";
    const size_t length = *from == ':' ? 1 + strcspn(from + 1, ":") : 0;
    snprintf(id, ID_SIZE, "%.*s", (int)length, from);
    s->retried += length;
}

/* The shards behind `offset`, as a run or a retry. */
static int call_shards(struct series *s, enum submission_kind kind, long offset)
{
    struct call call = {0};
    char script[PLACE_SIZE];
    char id[ID_SIZE];
    const struct batch *const batch = s->batch;
    const long tasks = batch_tasks(batch, offset);
    const long throttle = batch_throttle(batch);
    const struct submission_job job = {kind, 0, offset + 1, offset + (tasks > 0 ? tasks : 1)};
    batch_script(batch, SUBMISSION_RUN, script);
    begin_call(s, &call);
    if (tasks > 0 && throttle > 0)
        add(&call, "--array=1-%ld%%%ld", tasks, throttle);
    else if (tasks > 0)
        add(&call, "--array=1-%ld", tasks);
    if (kind == SUBMISSION_RETRY) {
        take_run(s, id);
        add(&call, "--dependency=afternotok%s", id);
        add(&call, "--kill-on-invalid-dep=yes");
    }
    add(&call, "%s", script);
    if (offset > 0 || kind == SUBMISSION_RETRY)
        add(&call, "%ld", offset);
    if (kind == SUBMISSION_RETRY)
        add(&call, "retry");
    int rc = make_call(s, &call, job, id);
    if (rc == 0 && kind == SUBMISSION_RUN)
        rc = append_id(&s->runs, id);
    if (rc == 0)
        rc = append_id(&s->all, id);
    clear_call(&call);
    return rc;
}

static int call_all_shards(struct series *s, enum submission_kind kind)
{
    const struct batch *const batch = s->batch;
    if (!batch_has(batch, kind))
        return 0;
    for (long offset = 0; offset < batch->choice->shards; offset += batch->piece)
        TRY(call_shards(s, kind, offset));
    return 0;
}

/* A job behind all others, whatever has become of them. */
static int call_after(struct series *s, enum submission_kind kind, char id[ID_SIZE])
{
    struct call call = {0};
    char script[PLACE_SIZE];
    if (!batch_has(s->batch, kind))
        return 0;
    batch_script(s->batch, kind, script);
    begin_call(s, &call);
    if (kind == SUBMISSION_PLOT && s->collect[0] != '\0')
        add(&call, "--dependency=afterany:%s", s->collect);
    else
        add(&call, "--dependency=afterany%s", s->all);
    add(&call, "%s", script);
    const int rc = make_call(s, &call, (struct submission_job){.kind = kind}, id);
    clear_call(&call);
    return rc;
}

static int make_series(struct series *s)
{
    char plot[ID_SIZE];
    TRY(call_all_shards(s, SUBMISSION_RUN));
    TRY(call_all_shards(s, SUBMISSION_RETRY));
    TRY(call_after(s, SUBMISSION_COLLECT, s->collect));
    return call_after(s, SUBMISSION_PLOT, plot);
}

static int run_series(const struct batch *batch, FILE *show)
{
    struct series s = {.batch = batch, .show = show};
    const int rc = make_series(&s);
    mem_free(s.runs);
    mem_free(s.all);
    return rc;
}

int sbatch_all(const struct batch *batch)
{
    return run_series(batch, NULL);
}

int sbatch_print(const struct batch *batch, FILE *out)
{
    return run_series(batch, out);
}
