/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "slurm/submit.h"

#include <ctype.h>
#include <errno.h>
#include <glob.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "kernels/base/log.h"
#include "kernels/base/mem.h"
#include "kernels/base/replace.h"
#include "kernels/base/status.h"
#include "slurm/block.h"
#include "slurm/queue.h"
#include "slurm/sbatch.h"
#include "slurm/script.h"

#define WRITE_SPEED  50e6 /* bytes/s that a busy file system takes from one job, at least */
#define SIGNAL_LEAST 60   /* s before the limit; Slurm may be as much earlier */
#define SIGNAL_MOST  65535
#define STOP_BASE    20 /* s that a stop in order takes besides writing */
#define MAIN_SCRIPTS 3

static const enum submission_kind script_kinds[MAIN_SCRIPTS] = {
    SUBMISSION_RUN, SUBMISSION_COLLECT, SUBMISSION_PLOT};

static bool exists(const char *path)
{
    return access(path, F_OK) == 0;
}

/* Where everything lies, from the scan's name or --output. */
static int find_places(struct batch *b)
{
    char file[PLACE_SIZE];
    const struct choice *const c = b->choice;
    snprintf(file, sizeof file, "%s.h5", b->plan.name);
    TRY(place_absolute(c->scan, b->scan));
    TRY(place_absolute(c->output != NULL ? c->output : file, b->result));
    if (c->container != NULL && strstr(c->container, "://") != NULL)
        snprintf(b->image, sizeof b->image, "%s", c->container); /* docker://… */
    else if (c->container != NULL)
        TRY(place_absolute(c->container, b->image));
    size_t length = strlen(b->result);
    if (length > 3 && strcmp(b->result + length - 3, ".h5") == 0)
        length -= 3;
    const char *const name = strrchr(b->result, '/') + 1;
    const size_t rest = length - (size_t)(name - b->result);
    if (length >= sizeof b->stem || rest >= sizeof b->name || rest > NAME_MAX - 64)
        FAIL(ERR_ARGUMENT, "%s: a name of %zu bytes is too long", b->result, rest);
    if (rest == 0)
        FAIL(ERR_ARGUMENT, "%s: a result file needs a name before .h5", b->result);
    snprintf(b->stem, sizeof b->stem, "%.*s", (int)length, b->result);
    snprintf(b->name, sizeof b->name, "%.*s", (int)rest, name);
    snprintf(b->submission, sizeof b->submission, "%s.submission", b->stem);
    return 0;
}

/* Seconds of writing at a stop in order: each worker writes a plane and a checkpoint. */
static double write_seconds(const struct batch *b)
{
    const double rows = b->plan.threads > 0 ? (double)b->plan.threads : 1;
    const double workers = (double)(b->choice->nodes * b->choice->workers);
    return workers * rows * (b->plan.plane_bytes + b->plan.state_bytes) / WRITE_SPEED;
}

static void choose_signal(struct batch *b)
{
    const long minutes = b->choice->minutes;
    double seconds = fmax(SIGNAL_LEAST, STOP_BASE + ceil(write_seconds(b)));
    if (minutes > 0)
        seconds = fmin(seconds, 15.0 * (double)minutes); /* a quarter */
    b->signal = (long)fmin(seconds, SIGNAL_MOST);
}

/* Bytes of --mem as sbatch reads it; 0: all of the node, or not given. */
static double memory_of(const char *text)
{
    static const char units[] = "KMGT";
    char *unit = NULL;
    if (text == NULL)
        return 0;
    const double number = (double)strtoull(text, &unit, 10);
    const char *const place =
        *unit != '\0' ? strchr(units, toupper((unsigned char)*unit)) : NULL;
    return number * pow(1024, place != NULL ? (double)(place - units + 1) : 2);
}

static void warn(const struct batch *b)
{
    const struct choice *const c = b->choice;
    if (!b->site.known)
        log_warn("%s: MaxArraySize is taken to be %ld", b->site.why, b->site.max_array);
    if (write_seconds(b) > (double)b->site.kill_wait)
        log_warn("a stop in order may have to write for %.0f s; a job that is cancelled or "
                 "preempted is killed after %ld s (KillWait), and what is not written by then "
                 "is computed again",
                 write_seconds(b), b->site.kill_wait);
    const double memory = memory_of(c->mem);
    const double need = (double)c->workers * b->plan.worker_bytes;
    if (memory > 0 && need > memory)
        log_warn("--mem %s: %ld workers need %.0f MB of a node at least", c->mem, c->workers,
                 ceil(need / 1048576));
    if (c->max_running > 0 && c->shards > b->piece
        && c->max_running < (c->shards + b->piece - 1) / b->piece)
        log_warn("--max-running %ld: each of the %ld arrays may run one shard at least",
                 c->max_running, (c->shards + b->piece - 1) / b->piece);
    if (!c->collect && c->shards > 1 && c->plots.count > 0)
        log_warn("--plot without collecting: pictures of %s as it is then", b->result);
}

/* Shards of another number beside the result, or shards where one file is wanted. */
static int check_shards(const struct batch *b)
{
    char *pattern = NULL;
    glob_t found = {0};
    int rc = 0;
    size_t size = 2 * strlen(b->stem) + 32;
    TRY(MEM_NEW((long)size, &pattern));
    size_t used = 0;
    for (const char *c = b->stem; *c != '\0'; c++) { /* glob's own letters mean themselves */
        if (strchr("*?[]\\", *c) != NULL)
            pattern[used++] = '\\';
        pattern[used++] = *c;
    }
    snprintf(pattern + used, size - used, ".shard-*-of-*.h5");
    if (glob(pattern, GLOB_NOSORT, NULL, &found) != 0)
        found.gl_pathc = 0;
    for (size_t i = 0; rc == 0 && i < found.gl_pathc; i++) {
        const char *const of = strstr(found.gl_pathv[i] + strlen(b->stem), "-of-");
        const long shards = of != NULL ? strtol(of + 4, NULL, 10) : 0;
        const bool joined = b->choice->shards == 1 && exists(b->result);
        if (shards > 1 && shards != b->choice->shards && !joined)
            rc =
                status_fail(ERR_CONFLICT,
                            "%s is of a scan in %ld shards, and --shards is %ld: give --shards "
                            "%ld, collect and remove them, or take another --output",
                            found.gl_pathv[i], shards, b->choice->shards, shards);
    }
    globfree(&found);
    mem_free(pattern);
    return rc;
}

/* What an earlier submission of this result has in the queue. */
static int check_queue(const struct batch *b, struct queue *queue)
{
    struct submission before;
    *queue = (struct queue){.known = true};
    if (!exists(b->submission))
        return 0;
    int rc = submission_read(b->submission, &before);
    if (rc == 0)
        rc = queue_ask(&before, queue);
    for (int j = 0; rc == 0 && j < before.jobs && queue->total > 0; j++) {
        char text[120];
        queue_text(&queue->job[j], text, sizeof text);
        if (text[0] != '\0')
            rc = status_fail(ERR_CONFLICT,
                             "%s: %s job %ld is in the queue (%s): wait, or `scanfarm cancel` "
                             "it first",
                             b->submission, submission_kind_name(before.job[j].kind),
                             before.job[j].id, text);
    }
    submission_clear(&before);
    return rc;
}

/* A script takes its place whole: by rename. */
static int write_script(const struct batch *b, enum submission_kind kind)
{
    char path[PLACE_SIZE];
    struct replacement file;
    batch_script(b, kind, path);
    TRY(replace_begin(path, &file));
    script_write(b, kind, file.file);
    TRY(replace_end(&file, 0755, false));
    printf("wrote %s\n", path);
    return 0;
}

static int write_files(struct batch *b, bool submission)
{
    struct submission new = {.scan = b->scan, .result = b->result, .shards = b->choice->shards};
    char script[PLACE_SIZE];
    for (int i = 0; i < MAIN_SCRIPTS; i++)
        if (batch_has(b, script_kinds[i]))
            TRY(write_script(b, script_kinds[i]));
    fflush(stdout);
    if (!submission)
        return 0;
    batch_script(b, SUBMISSION_RUN, script);
    new.script = script;
    clock_iso(new.submitted);
    memcpy(new.configuration, b->plan.configuration, sizeof new.configuration);
    return submission_write(b->submission, &new);
}

static int print_all(const struct batch *b)
{
    char path[PLACE_SIZE];
    for (int i = 0; i < MAIN_SCRIPTS; i++) {
        if (!batch_has(b, script_kinds[i]))
            continue;
        batch_script(b, script_kinds[i], path);
        printf("### %s\n", path);
        script_write(b, script_kinds[i], stdout);
        printf("\n");
    }
    printf("### calls\n");
    return sbatch_print(b, stdout);
}

/* Everything that can be found out without writing. */
static int prepare(struct batch *b)
{
    const struct choice *const c = b->choice;
    TRY(place_program("scanfarm", b->scanfarm));
    TRY(plan_ask(b->scanfarm, c, &b->plan));
    if ((double)c->shards > b->plan.members)
        FAIL(ERR_ARGUMENT, "--shards %ld: the scan has %.0f members", c->shards,
             b->plan.members);
    TRY(find_places(b));
    TRY(site_ask(&b->site));
    if (b->site.max_array < 2 && c->shards > 1)
        FAIL(ERR_UNSUPPORTED, "--shards %ld: this cluster has no job arrays (MaxArraySize %ld)",
             c->shards, b->site.max_array);
    b->piece = b->site.max_array - 1;
    choose_signal(b);
    return check_shards(b);
}

static int submit(struct batch *b)
{
    struct queue queue;
    char script[PLACE_SIZE];
    bool kept = false;
    TRY(prepare(b));
    batch_script(b, SUBMISSION_RUN, script);
    TRY(block_choose(script, b->choice, &b->block, &kept));
    warn(b);
    if (kept)
        log_info("%s has a site block of its own, which stays; remove the script to have the "
                 "profile's",
                 script);
    if (b->choice->dry_run)
        return print_all(b);
    int rc = check_queue(b, &queue);
    const bool known = queue.known;
    if (rc == 0)
        rc = write_files(b, known);
    if (rc == 0 && !known)
        rc = status_fail(ERR_IO,
                         "%s: whether jobs of an earlier submission are in the queue is not "
                         "known, so nothing is submitted; the scripts are written",
                         queue.why);
    queue_clear(&queue);
    if (rc == 0)
        rc = sbatch_all(b);
    if (rc == 0)
        printf("scanfarm status %s tells how far they are\n", b->submission);
    return rc;
}

int submit_command(int argc, char **argv)
{
    struct choice choice;
    struct batch *batch = NULL;
    bool help = false;
    int rc = choice_read(argc, argv, &choice, &help);
    if (rc == 0 && !help)
        rc = MEM_NEW(1, &batch);
    if (batch != NULL) {
        batch->choice = &choice;
        rc = submit(batch);
        mem_free(batch->block);
        mem_free(batch);
    }
    choice_clear(&choice);
    return status_exit_code(rc);
}
