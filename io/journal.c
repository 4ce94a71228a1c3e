/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "io/journal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "io/journal_private.h"
#include "kernels/base/mem.h"
#include "kernels/base/status.h"

int journal_open(const char *store_path, const char *run, int64_t attempt, struct journal **out)
{
    *out = NULL;
    struct journal *journal = NULL;
    TRY(MEM_NEW(1, &journal));
    int rc = 0;
    const size_t size = strlen(store_path) + sizeof ".journal";
    TRY_OR(rc, failed, MEM_NEW((long)size, &journal->path));
    snprintf(journal->path, size, "%s.journal", store_path);
    snprintf(journal->run, sizeof journal->run, "%s", run);
    journal->attempt = attempt;
    journal->begin_at = -1;
    journal->fd = open(journal->path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    if (journal->fd < 0) {
        rc = status_fail(ERR_IO, "cannot write %s: %s", journal->path, strerror(errno));
        goto failed;
    }
    *out = journal;
    return 0;
failed:
    mem_free(journal->path);
    mem_free(journal);
    return rc;
}

void journal_set_attempt(struct journal *journal, int64_t attempt)
{
    journal->attempt = attempt;
}

int journal_close(struct journal *journal)
{
    if (journal == NULL)
        return 0;
    const int rc = journal_flush(journal);
    close(journal->fd);
    mem_free(journal->path);
    mem_free(journal);
    return rc;
}

int journal_write_begin(struct journal *journal, int64_t members, int workers,
                        const char *command)
{
    TRY(journal_flush(journal));
    struct record record;
    record_begin(journal, &record, "begin");
    record_add(&record, ",\"members\":%lld,\"workers\":%d", (long long)members, workers);
    record_add_text(&record, "command", command);
    journal->begin_at = (int64_t)lseek(journal->fd, 0, SEEK_END);
    return record_write(journal, &record);
}

int journal_write_worker(struct journal *journal, int rank, const char *host, long pid,
                         const char *event)
{
    TRY(journal_flush(journal));
    struct record record;
    record_begin(journal, &record, "worker");
    record_add(&record, ",\"rank\":%d,\"pid\":%ld", rank, pid);
    record_add_text(&record, "host", host);
    record_add_text(&record, "event", event);
    return record_write(journal, &record);
}

/* Where readers find the beginning of this attempt without reading all before it. */
static void add_place(const struct journal *journal, struct record *record)
{
    if (journal->begin_at >= 0)
        record_add(record, ",\"begin_at\":%lld", (long long)journal->begin_at);
}

int journal_write_heartbeat(struct journal *journal, const struct journal_counts *counts)
{
    TRY(journal_flush(journal));
    struct record record;
    record_begin(journal, &record, "heartbeat");
    record_add(&record,
               ",\"members\":%lld,\"pending\":%lld,\"running\":%lld,\"done\":%lld,"
               "\"failed\":%lld,\"timed_out\":%lld,\"other\":%lld",
               (long long)counts->members, (long long)counts->pending,
               (long long)counts->running, (long long)counts->done, (long long)counts->failed,
               (long long)counts->timed_out, (long long)counts->other);
    record_add_number(&record, "rate", counts->rate);
    record_add_number(&record, "eta", counts->eta);
    if (counts->eta_high > 0) {
        record_add_number(&record, "eta_low", counts->eta_low);
        record_add_number(&record, "eta_high", counts->eta_high);
    }
    add_place(journal, &record);
    return record_write(journal, &record);
}

/* One column of a table as a JSON array. */
static void add_column(struct record *record, const char *name, const struct journal_load *load,
                       int count, int64_t (*value)(const struct journal_load *))
{
    record_add(record, ",\"%s\":[", name);
    for (int i = 0; i < count; i++)
        record_add(record, "%s%lld", i > 0 ? "," : "", (long long)value(&load[i]));
    record_add(record, "]");
}

static int64_t rank_of(const struct journal_load *load)
{
    return load->rank;
}

static int64_t held_of(const struct journal_load *load)
{
    return load->held;
}

static int64_t ended_of(const struct journal_load *load)
{
    return load->ended;
}

static int64_t steps_of(const struct journal_load *load)
{
    return load->steps;
}

/* Milliseconds keep the table of integers. */
static int64_t silence_of(const struct journal_load *load)
{
    return (int64_t)(1e3 * load->silent);
}

int journal_write_load(struct journal *journal, const struct journal_load *load, int count)
{
    TRY(journal_flush(journal));
    struct record record;
    const int most = count < JOURNAL_LOADS_MAX ? count : JOURNAL_LOADS_MAX;
    record_begin(journal, &record, "load");
    add_column(&record, "ranks", load, most, rank_of);
    add_column(&record, "held", load, most, held_of);
    add_column(&record, "ended", load, most, ended_of);
    add_column(&record, "steps", load, most, steps_of);
    add_column(&record, "silent_ms", load, most, silence_of);
    add_place(journal, &record);
    return record_write(journal, &record);
}

int journal_write_stop(struct journal *journal, const struct journal_stop *stop)
{
    TRY(journal_flush(journal));
    struct record record;
    record_begin(journal, &record, "stop");
    record_add(
        &record,
        ",\"point\":%lld,\"count\":%lld,\"realisations\":%lld,\"looks\":%d,\"reached\":%s",
        (long long)stop->point, (long long)stop->count, (long long)stop->realisations,
        stop->looks, stop->reached ? "true" : "false");
    record_add_number(&record, "value", stop->value);
    record_add_number(&record, "error", stop->error);
    return record_write(journal, &record);
}

int journal_write_reuse(struct journal *journal, const char *from, int64_t members,
                        int64_t damaged)
{
    TRY(journal_flush(journal));
    struct record record;
    record_begin(journal, &record, "reuse");
    record_add(&record, ",\"count\":%lld,\"damaged\":%lld", (long long)members,
               (long long)damaged);
    record_add_text(&record, "text", from);
    return record_write(journal, &record);
}

int journal_write_end(struct journal *journal, int code, const char *text)
{
    TRY(journal_flush(journal));
    struct record record;
    record_begin(journal, &record, "end");
    record_add(&record, ",\"code\":%d", code);
    record_add_text(&record, "text", text);
    TRY(record_write(journal, &record));
    if (fdatasync(journal->fd) != 0)
        FAIL(ERR_IO, "cannot write %s through to the disk: %s", journal->path, strerror(errno));
    return 0;
}
