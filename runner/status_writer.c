/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Whether somebody writes a file now: the processes of its lease on this machine, heartbeats
 * elsewhere. */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "kernels/base/status.h"
#include "runner/lease.h"
#include "runner/status.h"

#define SILENCE_LIMIT 60.0 /* s after which a writer on another host is not believed in */

/* What the lease of a file says of its writer. */
enum writer { WRITER_NONE, WRITER_HERE, WRITER_ELSEWHERE };

static void note_holder(const struct lease_info *info, struct status_holder *holder)
{
    snprintf(holder->run, sizeof holder->run, "%s", info->run);
    snprintf(holder->job, sizeof holder->job, "%s", info->job);
    snprintf(holder->host, sizeof holder->host, "%s", info->process[0].host);
    holder->pid = info->process[0].id.pid;
    holder->processes = info->processes;
}

static enum writer find_writer(const char *path, struct status_holder *holder)
{
    struct lease_info info;
    enum writer writer = WRITER_NONE;
    if (lease_read(path, &info) != 0 || (info.found && info.processes == 0))
        writer = WRITER_ELSEWHERE;
    for (int i = 0; i < info.processes && writer != WRITER_HERE; i++) {
        if (!process_is_here(&info.process[i].id))
            writer = WRITER_ELSEWHERE;
        else if (!process_is_gone(&info.process[i].id))
            writer = WRITER_HERE;
    }
    if (writer != WRITER_NONE && info.processes > 0)
        note_holder(&info, holder);
    lease_info_clear(&info);
    return writer;
}

/* Seconds since an ISO 8601 UTC time; large for what is none. */
static double age_of(const char *iso)
{
    struct tm utc = {0};
    if (strptime(iso, "%Y-%m-%dT%H:%M:%S", &utc) == NULL)
        return 1e300;
    return difftime(time(NULL), timegm(&utc));
}

void status_find_writer(struct status_report *report)
{
    const struct journal_summary *journal = &report->journal;
    report->running = false;
    report->silent_since[0] = '\0';
    if (!journal->found || journal->end.found)
        return;
    const char *last = journal->heartbeat[0] != '\0' ? journal->heartbeat : journal->begin;
    const enum writer writer = find_writer(report->path, &report->holder);
    report->running =
        writer == WRITER_HERE || (writer == WRITER_ELSEWHERE && age_of(last) < SILENCE_LIMIT);
    if (!report->running)
        snprintf(report->silent_since, sizeof report->silent_since, "%s", last);
}
