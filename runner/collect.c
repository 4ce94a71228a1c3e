/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "kernels/base/clock.h"
#include "kernels/base/log.h"
#include "kernels/base/mem.h"
#include "kernels/base/status.h"
#include "runner/collecting.h"
#include "runner/commands.h"
#include "runner/options.h"
#include "runner/stop.h"
#include "runner/version.h"
#include "scanfarm_version.h"

#define SAY_PERIOD    10.0 /* s between two words on how far it is */
#define RECORD_PERIOD 0.2  /* s between two records of files in the journal */

enum {
    ROW_OUTPUT,
    ROW_FILES_FROM,
    ROW_COMPRESS,
    ROW_NO_REDUCE,
    ROW_NO_SPACE,
    ROW_JSON,
    ROW_QUIET
};

static const struct option_row collect_options[] = {
    [ROW_OUTPUT] = {"output", 'o', "OUT.h5", "the result file; a submission names its own"},
    [ROW_FILES_FROM] = {"files-from", 0, "LIST",
                        "read names of files from LIST, one a line; -: stdin"},
    [ROW_COMPRESS] = {"compress", 0, "LEVEL",
                      "1 to 9: arrays in compressed pieces; for readers only"},
    [ROW_NO_REDUCE] = {"no-reduce", 0, NULL, "leave the ensemble to `scanfarm reduce`"},
    [ROW_NO_SPACE] = {"no-space-check", 0, NULL, "begin on a disk that seems too small"},
    [ROW_JSON] = {"json", 0, NULL, "one JSON object instead of text"},
    [ROW_QUIET] = {"quiet", 'q', NULL, "no words on how far it is"},
    {NULL, 0, NULL, NULL}};

static int read_option(const struct options *o, int row, struct collecting *c,
                       const char **files_from)
{
    c->json = c->json || row == ROW_JSON;
    c->quiet = c->quiet || row == ROW_QUIET;
    c->reduce = c->reduce && row != ROW_NO_REDUCE;
    c->space_check = c->space_check && row != ROW_NO_SPACE;
    if (row == ROW_FILES_FROM)
        *files_from = o->value;
    if (row == ROW_COMPRESS)
        return options_integer(o, "compress", 1, 9, &c->compress);
    if (row != ROW_OUTPUT)
        return 0;
    if ((size_t)snprintf(c->result, sizeof c->result, "%s", o->value) >= sizeof c->result
        || o->value[0] == '\0')
        FAIL(ERR_ARGUMENT, "--output '%.60s': a path of 1 to %zu bytes is wanted", o->value,
             sizeof c->result - 1);
    return 0;
}

static int name_result(struct collecting *c)
{
    char result[RUN_PATH_SIZE];
    TRY(collect_names_result(c->names, result, sizeof result, c->configuration));
    if (c->result[0] == '\0')
        memcpy(c->result, result, sizeof c->result);
    if (c->result[0] == '\0')
        FAIL(ERR_ARGUMENT,
             "'collect' needs -o OUT.h5, the result file; usage: scanfarm collect "
             "-o OUT.h5 FILE…");
    return 0;
}

static void name_run(struct collecting *c)
{
    char host[32] = "";
    gethostname(host, sizeof host - 1);
    snprintf(c->run, sizeof c->run, "%s-%ld-%lld", host, (long)getpid(), (long long)time(NULL));
}

static int restarts(void)
{
    const char *const text = getenv("SLURM_RESTART_COUNT");
    return text == NULL ? 0 : (int)strtol(text, NULL, 10);
}

/* A collect is an attempt too: what it leaves when it dies is looked at by the next writer. */
static int begin_attempt(struct collecting *c)
{
    char libraries[256];
    struct store_recovery found;
    struct store *store = NULL;
    version_libraries(libraries, sizeof libraries);
    const struct store_provenance provenance = {
        .libraries = libraries,
        .build = SCANFARM_COMPILER "; " SCANFARM_BUILD_FLAGS,
        .layout = "members collected from other files, which the journal names",
        .wisdom = c->wisdom,
        .job = getenv("SLURM_JOB_ID"),
        .restart_count = restarts(),
        .sync_member = true};
    TRY(store_recover(c->result, &found));
    if (found.lowered > 0)
        log_warn("%s: %lld members lost planes when its last writer died", c->result,
                 (long long)found.lowered);
    TRY(store_begin_attempt(c->result, &provenance, &c->attempt));
    TRY(journal_open(c->result, c->run, c->attempt, &c->journal));
    TRY(store_open_read(c->result, &store));
    const int64_t members = store_members(store);
    TRY(store_close(store));
    return journal_write_begin(c->journal, members, 0, "collect");
}

/* One record for many files when they come fast. */
static int record_files(struct collecting *c, const char *name, bool end)
{
    char text[JOURNAL_TEXT_SIZE];
    const double now = clock_wall();
    if (c->waiting == 0 || (!end && now - c->recorded < RECORD_PERIOD))
        return 0;
    if (c->waiting == 1)
        snprintf(text, sizeof text, "%.500s", name);
    else
        snprintf(text, sizeof text, "%ld files, the last %.400s", c->waiting, name);
    TRY(journal_write_reuse(c->journal, text, c->taken, c->damaged));
    c->recorded = now;
    c->waiting = 0;
    c->taken = c->damaged = 0;
    return 0;
}

/* What `log` tells of the members: mostly one range. */
static int record_members(struct collecting *c, const struct collect_file *file)
{
    struct collect_range *range = NULL;
    long ranges = 0;
    int rc = 0;
    if (file->taken == 0)
        return 0;
    if (file->last - file->first + 1 == file->taken)
        return journal_write_members(c->journal, file->first, file->taken, "collected", "");
    TRY(collect_log_claims(collect_get_log(c->collect), file->path, &range, &ranges));
    for (long i = 0; rc == 0 && i < ranges; i++)
        rc = journal_write_members(c->journal, range[i].first,
                                   range[i].last - range[i].first + 1, "collected", "");
    mem_free(range);
    return rc;
}

static int note_file(struct collecting *c, const char *name, enum collect_outcome outcome)
{
    const struct collect_file *const file = collect_last(c->collect);
    const double now = clock_wall();
    c->files += outcome == COLLECT_READ || outcome == COLLECT_UNCHANGED;
    c->unchanged += outcome == COLLECT_UNCHANGED;
    if (!c->quiet && now - c->said > SAY_PERIOD) {
        c->said = now;
        log_info("collect: %ld files so far, %ld of them unchanged since an earlier time",
                 c->files, c->unchanged);
    }
    if (outcome != COLLECT_READ)
        return 0;
    TRY(record_members(c, file));
    c->waiting++;
    c->taken += file->taken;
    c->damaged += file->damaged;
    return record_files(c, name, false);
}

static int add_files(struct collecting *c)
{
    char name[COLLECT_PATH_SIZE];
    char last[COLLECT_PATH_SIZE] = "";
    enum collect_outcome outcome = COLLECT_READ;
    bool more = true;
    TRY(collect_names_rewind(c->names));
    while (atomic_load(&c->stop) == 0) {
        TRY(collect_names_next(c->names, name, sizeof name, &more));
        if (!more)
            break;
        TRY(collect_add(c->collect, name, &outcome));
        TRY(note_file(c, name, outcome));
        memcpy(last, name, sizeof last);
    }
    TRY(collect_flush(c->collect));
    return record_files(c, last, true);
}

/* The log goes when it has nothing to say that the result file does not. */
static int end_log(struct collecting *c, int code)
{
    char path[COLLECT_PATH_SIZE];
    if (c->compress > 0 && code != EXIT_STOPPED)
        return collecting_repack(c, (int)c->compress);
    if (code != 0)
        return 0;
    TRY(collect_log_path(c->result, path, sizeof path));
    unlink(path);
    return 0;
}

static int close_collect(struct collecting *c)
{
    struct collect *const collect = c->collect;
    c->collect = NULL;
    return collect_close(collect);
}

/* End the attempt: in the journal first, which a full disk refuses before the file's row. */
static int end_attempt(struct collecting *c, int code, const char *text)
{
    TRY(journal_write_end(c->journal, code, text));
    TRY(journal_close(c->journal));
    c->journal = NULL;
    TRY(store_finish(c->result, c->attempt, code, text));
    c->attempt = -1;
    return 0;
}

static int say_stopped(struct collecting *c, int *code)
{
    char text[160];
    *code = EXIT_STOPPED;
    snprintf(text, sizeof text, "stopped by %s after %ld files; the same command goes on",
             stop_signal_name(stop_signal()), c->files);
    log_info("%s", text);
    return end_attempt(c, EXIT_STOPPED, text);
}

static int refuse_foreign(const struct collecting *c, const struct collect_report *report)
{
    if (!c->existed || report->good > 0 || report->foreign == 0)
        return 0;
    FAIL(ERR_CONFLICT,
         "%s is of another configuration than the files: %s (-o names another file)", c->result,
         report->foreign_text);
}

static int report_end(struct collecting *c, int *code)
{
    struct collect_report report;
    char text[JOURNAL_TEXT_SIZE];
    TRY(collect_report_read(c, &report));
    TRY(refuse_foreign(c, &report));
    *code = collect_report_code(&report);
    collect_report_counts(&report, text, sizeof text - 80);
    snprintf(text + strlen(text), 80, ", collected from %ld files", report.files);
    TRY(end_attempt(c, *code, text));
    return collect_report_write(c, &report, *code);
}

/* A compressed result takes nothing: it is written anew first. */
static int unpack(struct collecting *c)
{
    bool packed = false;
    TRY(collecting_is_packed(c, &packed));
    if (packed)
        log_info("%s is compressed: it is written anew before it takes more", c->result);
    return packed ? collecting_repack(c, 0) : 0;
}

/* The result file is there and ours. */
static int collect_all(struct collecting *c, int *code)
{
    TRY(unpack(c));
    TRY(begin_attempt(c));
    const struct collect_judge judge = collect_spec_judge(&c->spec);
    TRY(collect_open(c->result, &judge, &c->stop, &c->collect));
    TRY(add_files(c));
    if (c->reduce && atomic_load(&c->stop) == 0)
        TRY(collecting_reduce(c));
    if (atomic_load(&c->stop) != 0)
        return say_stopped(c, code);
    return report_end(c, code);
}

/* An error ends the attempt as far as that is possible. */
static void give_up(struct collecting *c, int rc, const char *text)
{
    char ignored[JOURNAL_TEXT_SIZE];
    const struct status_saved saved = status_capture_save();
    status_capture(ignored, sizeof ignored);
    if (c->journal != NULL)
        journal_write_end(c->journal, status_exit_code(rc), text);
    if (c->attempt >= 0)
        store_finish(c->result, c->attempt, status_exit_code(rc), text);
    status_capture_restore(saved);
}

static int collect_into(struct collecting *c, int *code)
{
    bool made = false;
    TRY(lease_take(c->result, c->run, LEASE_EXPIRY, &c->lease));
    TRY(collecting_make(c, &made));
    if (!made) {
        *code = atomic_load(&c->stop) != 0 ? EXIT_STOPPED : EXIT_MEMBERS_FAILED;
        log_error("nothing is collected into %s: %s", c->result,
                  c->files == 0 ? "no file is named" : "no file can be read");
        return 0;
    }
    char text[JOURNAL_TEXT_SIZE] = "";
    const struct status_saved saved = status_capture_save();
    status_capture(text, sizeof text);
    int rc = collect_all(c, code);
    status_capture_restore(saved);
    if (rc != 0)
        give_up(c, rc, text);
    const int closed = close_collect(c);
    rc = rc != 0 ? status_fail(rc, "%s", text) : closed;
    return rc != 0 ? rc : end_log(c, *code);
}

static int read_line(struct collecting *c, const struct command *self, int argc, char **argv,
                     bool *help)
{
    struct options o;
    const char *files_from = NULL;
    int row = 0;
    options_begin(&o, self, argc, argv);
    TRY(options_next(&o, &row));
    while (row != OPTIONS_END) {
        *help = row == OPTIONS_HELP;
        if (*help)
            return 0;
        TRY(read_option(&o, row, c, &files_from));
        TRY(options_next(&o, &row));
    }
    TRY(options_require(&o, files_from != NULL ? 0 : 1, argc));
    TRY(collect_names_open(o.argument, o.arguments, files_from, &c->names));
    return name_result(c);
}

static int run_collect(const struct command *self, int argc, char **argv)
{
    struct collecting c = {.reduce = true, .space_check = true, .attempt = -1};
    bool help = false;
    int code = 0;
    c.begun = c.said = clock_wall();
    int rc = read_line(&c, self, argc, argv, &help);
    if (rc == 0 && !help) {
        name_run(&c);
        stop_catch(true);
        stop_attach(&c.stop);
        rc = collect_into(&c, &code);
        stop_attach(NULL);
    }
    journal_close(c.journal);
    lease_drop(c.lease);
    collect_names_close(c.names);
    collect_spec_clear(&c.spec);
    mem_free(c.wisdom);
    return rc != 0 ? options_exit(rc) : code;
}

const struct command collect_command = {
    .name = "collect",
    .arguments = "FILE…",
    .doc = "Put the members of many files of one scan, such as shards, into one result file",
    .details = "FILE is a result file, a shard's file, a folder (its *.h5) or a .submission. "
               "Members are\n"
               "placed by their identity, checked against their checksums, and never computed: "
               "what is\n"
               "missing is told, and `scanfarm run SCAN.yaml -o OUT.h5` computes it. The same "
               "command\n"
               "goes on after it was stopped or killed. Exit code 0: all members are there and "
               "done; 1:\n"
               "some are missing, failed or in conflict, or a file could not be read.\n",
    .options = collect_options,
    .run = run_collect,
};
