/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "runner/status_look.h"

#include <stdio.h>

#include "kernels/base/mem.h"
#include "kernels/base/status.h"
#include "runner/options.h"
#include "runner/status.h"
#include "runner/status_scan.h"
#include "runner/status_submission.h"

#define SCANS_MAX 16 /* that are summed up; shards of further ones stand for themselves */

/* One look. */
struct look {
    char *const *path;
    int paths;
    bool json;
    bool alive;
    int rc; /* of the first file that could not be read */
    int shown;
    struct status_report *report;
    struct status_scan scan[SCANS_MAX];
    int scans;
};

/* Put a shard to the others of its scan. @param taken false: it has to stand for itself */
static int take_shard(struct look *look, bool *taken)
{
    *taken = false;
    for (int i = 0; i < look->scans && !*taken; i++)
        *taken = status_scan_take(&look->scan[i], look->report);
    if (*taken || look->scans == SCANS_MAX)
        return 0;
    struct status_scan *const scan = &look->scan[look->scans];
    TRY(status_scan_init(look->report->part.shards, scan));
    look->scans++;
    *taken = status_scan_take(scan, look->report);
    return 0;
}

/* A file that has been read. */
static int show_report(struct look *look)
{
    bool taken = false;
    look->alive = look->alive || look->report->running;
    if (look->paths > 1 && look->report->part.shards > 1)
        TRY(take_shard(look, &taken));
    if (look->json) {
        printf("%s", look->shown > 0 ? "," : "");
        status_write_json(look->report, stdout);
    } else if (!taken) {
        status_write_text(look->report, stdout);
    }
    look->shown++;
    return 0;
}

/* Shards that are summed up may be many, and the sum says less of each. */
static int read_file(struct look *look, const char *path)
{
    if (look->json || look->paths == 1)
        return status_read(path, look->report);
    TRY(status_read_brief(path, look->report));
    if (look->report->part.shards > 1)
        return 0;
    status_clear(look->report);
    return status_read(path, look->report);
}

static int show_files(struct look *look)
{
    for (int i = 0; i < look->paths; i++) {
        if (submission_is_meant(look->path[i]))
            continue;
        int one = options_check_file(look->path[i]);
        one = one == 0 ? read_file(look, look->path[i]) : one;
        look->rc = look->rc == 0 ? one : look->rc;
        const int rc = one == 0 ? show_report(look) : 0;
        status_clear(look->report);
        TRY(rc);
    }
    return 0;
}

static void show_scans(struct look *look)
{
    if (look->json && look->scans > 0)
        printf(",\"scans\":[");
    for (int i = 0; i < look->scans; i++) {
        if (look->json)
            printf("%s", i > 0 ? "," : "");
        (look->json ? status_scan_json : status_scan_text)(&look->scan[i], stdout);
    }
    if (look->json && look->scans > 0)
        printf("]");
}

static void show_submissions(struct look *look)
{
    int shown = 0;
    for (int i = 0; i < look->paths; i++) {
        bool alive = false;
        if (!submission_is_meant(look->path[i]))
            continue;
        if (look->json)
            printf("%s", shown > 0 ? "," : ",\"submissions\":[");
        const int rc = status_submission(look->path[i], look->json, &alive);
        look->rc = look->rc == 0 ? rc : look->rc;
        look->alive = look->alive || alive;
        shown++;
    }
    if (look->json && shown > 0)
        printf("]");
}

int status_look(char *const *path, int paths, bool json, bool *alive)
{
    struct look look = {.path = path, .paths = paths, .json = json};
    TRY(MEM_NEW(1, &look.report));
    if (json)
        printf("{\"files\":[");
    const int rc = show_files(&look);
    if (json)
        printf("]");
    show_scans(&look);
    show_submissions(&look);
    if (json)
        printf("}\n");
    for (int i = 0; i < look.scans; i++)
        status_scan_clear(&look.scan[i]);
    mem_free(look.report);
    *alive = look.alive;
    return rc != 0 ? rc : look.rc;
}
