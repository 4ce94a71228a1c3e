/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "io/verify.h"

#include <stdio.h>
#include <string.h>

#include "kernels/base/mem.h"
#include "kernels/base/status.h"
#include "runner/commands.h"
#include "runner/options.h"
#include "runner/verifying.h"

enum { ROW_RECOMPUTE, ROW_MEMBERS, ROW_SCAN, ROW_TOLERANCE, ROW_JSON };

static const struct option_row verify_options[] = {
    [ROW_RECOMPUTE] = {"recompute", 'r', "N",
                       "compute N members again and compare; chosen by "
                       "their identities"},
    [ROW_MEMBERS] = {"members", 'm', "IDS", "compute these members again: 3,7,10-19 or @FILE"},
    [ROW_SCAN] = {"scan", 0, "SCAN.yaml", "scan file whose data files and envelope count"},
    [ROW_TOLERANCE] = {"tolerance", 0, "E",
                       "error of a member in field_l2 where the scan has no "
                       "envelope"},
    [ROW_JSON] = {"json", 0, NULL, "one JSON object instead of text"},
    {NULL, 0, NULL, NULL}};

int64_t verify_broken(const struct verify_report *report)
{
    int64_t broken = 0;
    for (int k = 0; k < VERIFY_KINDS; k++)
        broken += report->kind[k].broken;
    return broken;
}

static int make_members(struct verifying *v)
{
    struct verify_members *const m = &v->members;
    m->first = store_first(v->store);
    m->count = store_members(v->store);
    TRY(MEM_NEW((long)m->count, &m->bad));
    TRY(MEM_NEW((long)m->count, &m->again));
    TRY(MEM_NEW((long)m->count, &m->margin));
    v->report->bad = m->bad;
    v->report->first = m->first;
    v->report->members = m->count;
    return 0;
}

static int read_given(struct verifying *v)
{
    if (v->choice->scan_path == NULL)
        return 0;
    return options_read_scan(v->choice->scan_path, NULL, 0, &v->given);
}

static void verifying_clear(struct verifying *v)
{
    v->report->bad = NULL;
    spec_destroy(v->spec);
    scan_destroy(v->scan);
    scan_destroy(v->given);
    store_close(v->store);
    mem_free(v->members.bad);
    mem_free(v->members.again);
    mem_free(v->members.margin);
}

static void skip_all(struct verify_report *report)
{
    for (int k = 0; k < VERIFY_KINDS; k++)
        if (k != VERIFY_FORMAT && report->kind[k].checked == 0)
            verify_skip(report, (enum verify_kind)k, "the file cannot be read");
}

static int look_at(struct verifying *v)
{
    TRY(store_open_read(v->path, &v->store));
    TRY(make_members(v));
    TRY(verify_told(v));
    return verify_ensemble(v->store, v->report);
}

/* A file that is broken beyond reading is a finding too. */
static int verify_file(struct verifying *v)
{
    struct verify_report *const report = v->report;
    char text[VERIFY_TEXT_SIZE] = "";
    memset(report, 0, sizeof *report);
    TRY(options_check_file(v->path));
    TRY(read_given(v));
    const struct status_saved saved = status_capture_save();
    status_capture(text, sizeof text);
    const int rc = look_at(v);
    status_capture_restore(saved);
    report->kind[VERIFY_FORMAT].checked++;
    if (rc == ERR_MEMORY || rc == ERR_BUG || v->foreign)
        FAIL(rc, "%s", text);
    if (rc != 0) {
        verify_break(report, VERIFY_FORMAT, "%s", text);
        skip_all(report);
        return 0;
    }
    return verify_recompute(v);
}

/* Looked at, told of. */
static int verify_one(struct verifying *v, bool first, int64_t *broken)
{
    const bool json = v->choice->json;
    TRY(verify_file(v));
    if (json && !first)
        printf(", ");
    TRY(json ? verify_write_json(v) : verify_write_text(v));
    *broken += verify_broken(v->report);
    fflush(stdout);
    return 0;
}

/* One file that does not exist does not hide the others; the first error decides the code. */
static int verify_files(const struct options *o, const struct verify_choice *choice,
                        int64_t *broken)
{
    struct verify_report *report = NULL;
    int rc = 0;
    bool first = true;
    TRY(MEM_NEW(1, &report));
    if (choice->json)
        printf("{\"files\": [");
    for (int i = 0; i < o->arguments; i++) {
        struct verifying v = {.path = o->argument[i], .choice = choice, .report = report};
        const int one = verify_one(&v, first, broken);
        verifying_clear(&v);
        first = first && one != 0;
        rc = rc == 0 ? one : rc;
    }
    if (choice->json)
        printf("]}\n");
    mem_free(report);
    return rc;
}

static int take_option(const struct options *o, int row, struct verify_choice *choice)
{
    switch (row) {
    case ROW_RECOMPUTE:
        return options_integer(o, "recompute", 1, 1000000000, &choice->recompute);
    case ROW_MEMBERS:
        choice->members = o->value;
        return 0;
    case ROW_SCAN:
        choice->scan_path = o->value;
        return 0;
    case ROW_TOLERANCE:
        /* two may be twice that apart, and zeros are 1 from anything */
        return options_real(o, "tolerance", 1e-300, 0.49, &choice->tolerance);
    default:
        choice->json = true;
        return 0;
    }
}

static int read_line(const struct command *self, int argc, char **argv, int64_t *broken)
{
    struct options o;
    struct verify_choice choice = {.json = false};
    int row = 0;
    options_begin(&o, self, argc, argv);
    TRY(options_next(&o, &row));
    while (row != OPTIONS_END) {
        if (row == OPTIONS_HELP)
            return 0;
        TRY(take_option(&o, row, &choice));
        TRY(options_next(&o, &row));
    }
    TRY(options_require(&o, 1, argc));
    return verify_files(&o, &choice, broken);
}

static int run_verify(const struct command *self, int argc, char **argv)
{
    int64_t broken = 0;
    const int rc = read_line(self, argc, argv, &broken);
    return rc != 0 ? options_exit(rc) : broken > 0 ? EXIT_MEMBERS_FAILED : 0;
}

const struct command verify_command = {
    .name = "verify",
    .arguments = "FILE…",
    .doc =
        "Check a result file by contract class: planes, counters, verdicts, ensembles, members "
        "again",
    .details =
        "Reads only, every plane. Works on the files of runs, of shards and of collect. With\n"
        "--recompute N members are computed once more here: those of this very program and\n"
        "kernels are held to rounding, others to twice the error of their envelope.\n"
        "Exit code 0: nothing is broken; 1: something is.\n",
    .options = verify_options,
    .run = run_verify,
};
