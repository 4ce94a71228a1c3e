/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "runner/prepare.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "io/read.h"
#include "io/store.h"
#include "kernels/base/clock.h"
#include "kernels/base/log.h"
#include "kernels/base/mem.h"
#include "kernels/base/status.h"
#include "runner/adaptive.h"
#include "runner/devices.h"
#include "runner/early.h"
#include "runner/inputs.h"
#include "runner/judging.h"
#include "runner/placement.h"
#include "runner/retry.h"
#include "runner/reuse.h"
#include "runner/self_check.h"
#include "runner/shard.h"
#include "runner/survey.h"
#include "runner/text.h"
#include "runner/withdraw.h"

#define WRITE_SPEED  50e6 /* bytes/s that a busy file system takes from one job, at least */
#define DEVICE_ROWS  256  /* checkpoints that the file has room for, a worker on a device */
#define CHECK_PERIOD 1.0  /* s between two looks whether the file is still there */

/* Without -o the file has the scan's name and lies in the current directory. */
static int name_file(struct run_options *options, const struct scan *scan)
{
    if (options->file[0] == '\0')
        snprintf(options->file, sizeof options->file, "%s.h5", scan_name(scan));
    if (options->shards < 2)
        return 0;
    return shard_name_file(options->shard, options->shards, options->file,
                           sizeof options->file);
}

/* Rows of one worker's batch, as far as it is known before the worker is placed. */
static double row_count(const struct scan_resources *resources)
{
    return resources->worker == WORKER_THREADS ? resources->threads : 1;
}

static int check_memory(const struct scan *scan, const struct plane_layout *largest,
                        int workers)
{
    const struct scan_resources *resources = scan_get_resources(scan);
    const double shared = (double)largest->shared_bytes + (double)scan_input_bytes(scan);
    const double rows = (double)largest->row_bytes * row_count(resources);
    const double limit = resources->memory > 0 ? resources->memory
                         : getenv("SLURM_JOB_ID") != NULL
                             ? (double)INFINITY
                             : placement_memory() / (workers > 0 ? workers : 1);
    if (shared + rows <= limit)
        return 0;
    char wanted[TEXT_SIZE];
    char part[TEXT_SIZE];
    char most[TEXT_SIZE];
    text_bytes(shared + rows, wanted);
    text_bytes(fmax(shared, rows), part);
    text_bytes(limit, most);
    char message[300];
    snprintf(message, sizeof message, "a worker needs %s (largest: %s for %s); %s allows %s",
             wanted, part, shared > rows ? "tables shared by its rows" : "its rows",
             resources->memory > 0 ? "resources.memory"
                                   : "this machine, shared by the workers,",
             most);
    return scan_fail(scan, ERR_ARGUMENT, message);
}

void prepare_warn(const struct prepared *prepared)
{
    const struct survey *survey = prepared->survey;
    if (survey == NULL || prepared->options->quiet || prepared->options->shard > 1)
        return; /* of a scan in shards the first says it */
    for (int i = 0; i < survey->notes; i++)
        if (survey->note[i].warned > 0)
            log_warn("%s: %s (%lld of %lld points looked at; see `scanfarm plan`)",
                     survey->note[i].name, survey->note[i].warning,
                     (long long)survey->note[i].warned, (long long)survey->looked_at);
}

static int judge(struct prepared *p)
{
    TRY(MEM_NEW(1, &p->survey));
    TRY(survey_scan(p->scan, p->survey));
    TRY(judging_check_layout(p->scan, &p->survey->largest));
    TRY(adaptive_check_layout(p->scan, &p->survey->largest));
    TRY(adaptive_check_options(p->scan, p->options));
    return check_memory(p->scan, &p->survey->largest, p->options->workers);
}

static void name_run(struct prepared *p)
{
    char host[32] = "";
    gethostname(host, sizeof host - 1);
    snprintf(p->run, sizeof p->run, "%s-%ld-%lld", host, (long)getpid(), (long long)time(NULL));
}

int prepare_scan(struct run_options *options, struct prepared *out)
{
    out->options = options;
    name_run(out);
    TRY(options_read_scan(options->scan_path, options->override, options->overrides,
                          &out->scan));
    TRY(name_file(options, out->scan));
    if (options->self_check > 0 && !self_check_possible(scan_model(out->scan)->info))
        FAIL(ERR_ARGUMENT,
             "--self-check: model %s has no stepper: there are no steps to compare",
             scan_model(out->scan)->info->name);
    if (options->only != NULL)
        TRY(selection_read("only", options->only, scan_members(out->scan), &out->selection));
    TRY(device_check(options->backend.name, scan_model(out->scan)->info,
                     scan_get_resources(out->scan)));
    /* Under a launcher the scan has been judged. */
    return options->mode == RUN_RANK ? 0 : judge(out);
}

/* Move a file aside; one that is not there is no error. */
static int move_aside(const char *path, const char *stamp)
{
    char aside[RUN_PATH_SIZE + 64];
    snprintf(aside, sizeof aside, "%s.old-%s", path, stamp);
    if (rename(path, aside) == 0) {
        log_info("%s is now %s", path, aside);
        return 0;
    }
    if (errno == ENOENT)
        return 0;
    FAIL(ERR_IO, "cannot move %s aside: %s", path, strerrordesc_np(errno));
}

static int start_fresh(const char *file)
{
    char stamp[32];
    char journal[RUN_PATH_SIZE + 16];
    const time_t now = time(NULL);
    struct tm utc;
    gmtime_r(&now, &utc);
    strftime(stamp, sizeof stamp, "%Y%m%dT%H%M%SZ", &utc);
    snprintf(journal, sizeof journal, "%s.journal", file);
    TRY(move_aside(file, stamp));
    return move_aside(journal, stamp);
}

/* Each process that reads the scan reads the data anew; a farm that is started again must get
 * those that the file was made with. */
static int check_inputs(struct store *store, const struct prepared *p)
{
    char *canonical = NULL;
    if (scan_inputs(p->scan) == 0)
        return 0;
    TRY(read_text(store, "config_canonical", &canonical));
    const int rc = inputs_check(p->scan, canonical, p->options->file);
    mem_free(canonical);
    return rc;
}

/* What the workers are told of the file: its wisdom and its checkpoints. */
static int read_facts(struct prepared *p)
{
    struct store *store = NULL;
    TRY(store_open_read(p->options->file, &store));
    const bool there = read_exists(store, "provenance/wisdom");
    int rc = there ? read_text(store, "provenance/wisdom", &p->wisdom)
                   : mem_copy_text("", &p->wisdom);
    if (rc == 0)
        rc = check_inputs(store, p);
    if (rc == 0)
        rc = resume_survey(store, &p->resume);
    const int closed = store_close(store);
    return rc != 0 ? rc : closed;
}

/* What was interrupted goes on first: its work is not lost if this run is cut short too. */
static int begin_with_checkpoints(struct prepared *p)
{
    int64_t *member = NULL;
    if (p->resume.count == 0)
        return 0;
    TRY(MEM_NEW(p->resume.count, &member));
    for (int i = 0; i < p->resume.count; i++)
        member[i] = p->resume.place[i].member;
    const int rc = dispatch_begin_with(&p->dispatch, member, p->resume.count);
    mem_free(member);
    return rc;
}

int prepare_dispatch(struct prepared *p)
{
    TRY(read_facts(p));
    TRY(dispatch_open(p->scan, p->options->file, p->options->reduce && spec_reduces(p->spec),
                      p->options->chunk_time, p->options->workers,
                      p->options->only != NULL ? &p->selection : NULL, &p->dispatch));
    TRY(judging_find_key(p->scan, p->options->scan_path, &p->dispatch.judging.key));
    return begin_with_checkpoints(p);
}

/* Whether workers may compute on devices, as far as this machine tells. */
static bool may_use_devices(const struct prepared *p)
{
    const char *name = p->options->backend.name;
    char why[DEVICE_TEXT_SIZE];
    if (strcmp(name, "auto") == 0)
        name = scan_model(p->scan)->info->on_devices ? backend_auto(why, sizeof why) : "cpu";
    return strcmp(name, "cpu") != 0;
}

/* Of batches whose size their devices will tell. */
static int64_t device_rows(const struct prepared *p, int workers)
{
    const int64_t share = (scan_members(p->scan) + workers - 1) / workers;
    const int64_t most = p->options->rows > 0 ? p->options->rows : DEVICE_ROWS;
    return workers * (share < most ? share : most);
}

/* Members that are computed at the same time, as far as it is known before the placement. */
static int64_t farm_rows(const struct prepared *p)
{
    const struct scan_resources *resources = scan_get_resources(p->scan);
    const int workers = p->options->workers > 0 ? p->options->workers : 1;
    if (may_use_devices(p))
        return device_rows(p, workers);
    if (p->options->backend.threads > 0)
        return (int64_t)workers * p->options->backend.threads;
    if (resources->worker == WORKER_SOCKET)
        return (int64_t)workers * CPU_COUNT(early_allowed());
    return (int64_t)workers * (int64_t)row_count(resources);
}

double prepare_closing(const struct prepared *p)
{
    double plane = 0;
    if (store_plane_bytes(&p->spec->store, &plane) != 0)
        return 0;
    return (double)farm_rows(p) * (plane + (double)p->spec->store.resume_state) / WRITE_SPEED;
}

/* What a run before this one left, when it did not end in order. */
static int recover(const char *file)
{
    struct store_recovery found;
    TRY(store_recover(file, &found));
    if (found.planes > 0 && found.lowered == 0)
        log_info("the run before did not end in order: %lld plane%s of %lld member%s checked, "
                 "no damage found",
                 (long long)found.planes, found.planes == 1 ? "" : "s",
                 (long long)found.members, found.members == 1 ? "" : "s");
    if (found.lowered > 0)
        log_warn("the run before did not end in order: %lld of %lld member%s lost planes (the "
                 "first: member %lld, %lld left) and %lld of them count as done no more; they "
                 "are computed again",
                 (long long)found.lowered, (long long)found.members,
                 found.members == 1 ? "" : "s", (long long)found.first,
                 (long long)found.first_saved, (long long)found.reopened);
    return 0;
}

int prepare_check_file(struct prepared *p)
{
    struct stat now;
    const char *const path = p->options->file;
    if (clock_wall() < p->next_check)
        return 0;
    p->next_check = clock_wall() + CHECK_PERIOD;
    const int rc = stat(path, &now);
    if (rc != 0 && errno != ENOENT) /* a file system that is away for a moment */
        return 0;
    if (rc == 0 && p->file.st_nlink == 0)
        p->file = now;
    if (rc != 0 || now.st_ino != p->file.st_ino || now.st_dev != p->file.st_dev)
        FAIL(ERR_IO, "%s was removed or replaced while the run wrote into it", path);
    return 0;
}

int prepare_file(struct prepared *p)
{
    const struct run_options *options = p->options;
    struct store_window window;
    if (p->spec == NULL)
        TRY(spec_create(p->scan, &p->spec));
    TRY(shard_window(p->scan, options->shard, options->shards, &window));
    spec_set_window(p->spec, &window);
    p->spec->store.check_space = options->space_check;
    p->spec->store.reserve = options->reserve;
    p->spec->store.resume_rows = farm_rows(p);
    TRY(judging_check(p));
    if (!store_exists(options->file)) /* on a full disk not even the lease can be made */
        TRY(store_check_room(options->file, &p->spec->store));
    TRY(lease_take(options->file, p->run, LEASE_EXPIRY, &p->lease));
    TRY(reuse_find(p, &p->reuse));
    if (options->fresh)
        TRY(start_fresh(options->file));
    if (store_exists(options->file)) {
        TRY(spec_compare(p->spec, options->file, true,
                         "--fresh moves it aside, -o names another file"));
        TRY(recover(options->file));
        TRY(withdraw_left(p));
    } else {
        TRY(store_define(options->file, &p->spec->store));
    }
    if (options->retry_failed)
        TRY(retry_failed(p));
    struct reuse *const reuse = p->reuse;
    p->reuse = NULL;
    TRY(reuse_members(p, reuse));
    TRY(adaptive_prepare(p));
    TRY(judging_prepare(p));
    return prepare_dispatch(p);
}

void prepare_clear(struct prepared *p)
{
    if (p->options == NULL)
        return;
    journal_close(p->journal);
    p->journal = NULL;
    dispatch_clear(&p->dispatch);
    reuse_close(p->reuse);
    selection_clear(&p->selection);
    mem_free(p->wisdom);
    resume_table_clear(&p->resume);
    spec_destroy(p->spec);
    mem_free(p->survey);
    scan_destroy(p->scan);
    lease_drop(p->lease);
    memset(p, 0, sizeof *p);
}
