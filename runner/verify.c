/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "io/verify.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/read.h"
#include "kernels/base/mem.h"
#include "kernels/base/status.h"
#include "runner/commands.h"
#include "runner/options.h"
#include "runner/shard.h"
#include "runner/spec.h"
#include "runner/text.h"
#include "scans/scan.h"

enum { ROW_JSON };

static const struct option_row verify_options[] = {
    [ROW_JSON] = {"json", 0, NULL, "one JSON object instead of text"}, {NULL, 0, NULL, NULL}};

static int verify_shard(struct store *store, const struct scan *scan,
                        struct verify_report *report)
{
    const struct store_window there = store_window(store);
    struct store_window right;
    if (there.shards < 2) {
        verify_skip(report, VERIFY_SHARD, "the file holds the whole scan");
        return 0;
    }
    TRY(shard_window(scan, there.shard, there.shards, &right));
    report->kind[VERIFY_SHARD].checked++;
    char members[2][TEXT_SIZE];
    text_members(right.first, right.first + right.count - 1, members[0]);
    text_members(there.first, there.first + there.count - 1, members[1]);
    if (there.first != right.first || there.count != right.count)
        verify_break(report, VERIFY_SHARD, "shard %ld/%ld has %s, the file %s", there.shard,
                     there.shards, members[0], members[1]);
    return 0;
}

/* Against the scan that the file says it holds. */
static int verify_scan(struct store *store, const struct scan *scan,
                       struct verify_report *report)
{
    const struct store_window window = store_window(store);
    const int version = scan_model(scan)->info->numerics_version;
    char there[32];
    struct spec *spec = NULL;
    TRY(read_attribute(store, "/", "numerics_version", there, sizeof there));
    const bool same = strtol(there, NULL, 10) == version;
    if (!same)
        verify_skip(report, VERIFY_IDENTITIES,
                    "numerics version %s of the model there, %d in this program", there,
                    version);
    TRY(spec_create(scan, &spec));
    if (window.shards > 1)
        spec_set_window(spec, &window);
    int rc = verify_spec(store, &spec->store, same, report);
    if (rc == 0)
        rc = verify_shard(store, scan, report);
    spec_destroy(spec);
    return rc;
}

/* A configuration that this program does not understand leaves the rest to be looked at. */
static int verify_config(struct store *store, struct verify_report *report)
{
    char reason[300] = "";
    char *canonical = NULL;
    struct scan *scan = NULL;
    TRY(read_text(store, "config_canonical", &canonical));
    const struct status_saved saved = status_capture_save();
    status_capture(reason, sizeof reason);
    int rc = scan_parse_canonical(canonical, strlen(canonical), &scan);
    status_capture_restore(saved);
    mem_free(canonical);
    if (rc == ERR_MEMORY)
        FAIL(rc, "%s", reason);
    if (rc != 0) {
        static const enum verify_kind kinds[] = {VERIFY_LAYOUT, VERIFY_IDENTITIES,
                                                 VERIFY_POINTS, VERIFY_SHARD};
        for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
            verify_skip(report, kinds[i], "the configuration is not understood: %s", reason);
        return 0;
    }
    rc = verify_scan(store, scan, report);
    scan_destroy(scan);
    return rc;
}

static int verify_open(struct store *store, struct verify_report *report)
{
    TRY(verify_config(store, report));
    return verify_store(store, report);
}

static void skip_all(struct verify_report *report)
{
    for (int k = 0; k < VERIFY_KINDS; k++)
        if (k != VERIFY_FORMAT && report->kind[k].checked == 0)
            verify_skip(report, (enum verify_kind)k, "the file cannot be read");
}

/* A file that is broken beyond reading is a finding too. */
static int verify_file(const char *path, struct verify_report *report)
{
    char text[VERIFY_TEXT_SIZE] = "";
    struct store *store = NULL;
    memset(report, 0, sizeof *report);
    TRY(options_check_file(path));
    const struct status_saved saved = status_capture_save();
    status_capture(text, sizeof text);
    int rc = store_open_read(path, &store);
    if (rc == 0)
        rc = verify_open(store, report);
    status_capture_restore(saved);
    store_close(store);
    report->kind[VERIFY_FORMAT].checked++;
    if (rc == ERR_MEMORY || rc == ERR_BUG)
        FAIL(rc, "%s", text);
    if (rc != 0) {
        verify_break(report, VERIFY_FORMAT, "%s", text);
        skip_all(report);
    }
    return 0;
}

static int64_t broken_of(const struct verify_report *report)
{
    int64_t broken = 0;
    for (int k = 0; k < VERIFY_KINDS; k++)
        broken += report->kind[k].broken;
    return broken;
}

static void write_text(const char *path, const struct verify_report *report)
{
    printf("%s: %s\n", path, broken_of(report) == 0 ? "nothing is broken" : "broken");
    for (int k = 0; k < VERIFY_KINDS; k++) {
        const struct verify_result *const r = &report->kind[k];
        char checked[TEXT_SIZE];
        char broken[TEXT_SIZE];
        text_count(r->checked, checked);
        text_count(r->broken, broken);
        if (r->skipped[0] != '\0' && r->broken == 0)
            printf("  %-10s not checked: %s\n", verify_kind_name((enum verify_kind)k),
                   r->skipped);
        else
            printf("  %-10s %s checked, %s broken (%s)\n",
                   verify_kind_name((enum verify_kind)k), checked, broken,
                   verify_kind_text((enum verify_kind)k));
        for (int i = 0; i < r->worst; i++)
            printf("    %s\n", r->text[i]);
        if (r->broken > r->worst)
            printf("    … and %" PRId64 " more\n", r->broken - r->worst);
    }
}

static void write_json(const char *path, const struct verify_report *report)
{
    printf("{\"file\": ");
    json_text(stdout, path);
    printf(", \"broken\": %" PRId64 ", \"checks\": {", broken_of(report));
    for (int k = 0; k < VERIFY_KINDS; k++) {
        const struct verify_result *const r = &report->kind[k];
        printf("%s\"%s\": {\"checked\": %" PRId64 ", \"broken\": %" PRId64, k > 0 ? ", " : "",
               verify_kind_name((enum verify_kind)k), r->checked, r->broken);
        if (r->skipped[0] != '\0') {
            printf(", \"skipped\": ");
            json_text(stdout, r->skipped);
        }
        printf(", \"findings\": [");
        for (int i = 0; i < r->worst; i++) {
            printf("%s", i > 0 ? ", " : "");
            json_text(stdout, r->text[i]);
        }
        printf("]}");
    }
    printf("}}");
}

/* One file that does not exist does not hide the others; the first error decides the code. */
static int verify_files(const struct options *o, bool json, int64_t *broken)
{
    struct verify_report *report = NULL;
    int rc = 0;
    int shown = 0;
    TRY(MEM_NEW(1, &report));
    if (json)
        printf("{\"files\": [");
    for (int i = 0; i < o->arguments; i++) {
        const int one = verify_file(o->argument[i], report);
        rc = rc == 0 ? one : rc;
        if (one != 0)
            continue;
        if (json)
            printf("%s", shown++ > 0 ? ", " : "");
        (json ? write_json : write_text)(o->argument[i], report);
        *broken += broken_of(report);
        fflush(stdout);
    }
    if (json)
        printf("]}\n");
    mem_free(report);
    return rc;
}

static int read_line(const struct command *self, int argc, char **argv, int64_t *broken)
{
    struct options o;
    bool json = false;
    bool help = false;
    options_begin(&o, self, argc, argv);
    TRY(options_read_flag(&o, &json, &help));
    if (help)
        return 0;
    TRY(options_require(&o, 1, argc));
    return verify_files(&o, json, broken);
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
    .doc = "Check a result file: format, identities, states, checksums of all counted planes",
    .details =
        "Reads only, every plane. Works on the files of runs, of shards and of collect.\n"
        "Exit code 0: nothing is broken; 1: something is.\n",
    .options = verify_options,
    .run = run_verify,
};
