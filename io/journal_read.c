/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <string.h>

#include "io/journal_private.h"
#include "kernels/base/mem.h"
#include "kernels/base/status.h"

static void end_take(const struct record_line *line, struct journal_end *out)
{
    out->found = true;
    out->code = (int)record_integer(line, "code", 0);
    out->attempt = record_integer(line, "attempt", 0);
    record_text(line, "run", out->run, sizeof out->run);
    record_text(line, "text", out->text, sizeof out->text);
    record_text(line, "time", out->time, sizeof out->time);
}

int journal_read_end(const char *store_path, const char *run, struct journal_end *out)
{
    *out = (struct journal_end){0};
    FILE *file = NULL;
    TRY(record_open(store_path, false, &file));
    if (file == NULL)
        return 0;
    struct record_line line;
    while (record_next(file, &line)) {
        char of[JOURNAL_RUN_SIZE];
        if (!record_is(&line, "end"))
            continue;
        record_text(&line, "run", of, sizeof of);
        if (run == NULL || strcmp(run, of) == 0)
            end_take(&line, out);
    }
    fclose(file);
    return 0;
}

static void begin_take(const struct record_line *line, struct journal_summary *out)
{
    *out = (struct journal_summary){.found = true};
    out->attempt = record_integer(line, "attempt", 0);
    out->workers = record_integer(line, "workers", 0);
    out->counts.members = record_integer(line, "members", 0);
    out->counts.rate = (double)NAN;
    out->counts.eta = (double)NAN;
    out->counts.eta_low = (double)NAN;
    out->counts.eta_high = (double)NAN;
    record_text(line, "run", out->run, sizeof out->run);
    record_text(line, "time", out->begin, sizeof out->begin);
}

static void heartbeat_take(const struct record_line *line, struct journal_summary *out,
                           locale_t locale)
{
    record_text(line, "time", out->heartbeat, sizeof out->heartbeat);
    out->counts.members = record_integer(line, "members", 0);
    out->counts.pending = record_integer(line, "pending", 0);
    out->counts.running = record_integer(line, "running", 0);
    out->counts.done = record_integer(line, "done", 0);
    out->counts.failed = record_integer(line, "failed", 0);
    out->counts.timed_out = record_integer(line, "timed_out", 0);
    out->counts.other = record_integer(line, "other", 0);
    out->counts.rate = record_real(line, "rate", locale);
    out->counts.eta = record_real(line, "eta", locale);
    out->counts.eta_low = record_real(line, "eta_low", locale);
    out->counts.eta_high = record_real(line, "eta_high", locale);
}

int journal_read_summary(const char *store_path, struct journal_summary *out)
{
    *out = (struct journal_summary){0};
    FILE *file = NULL;
    TRY(record_open(store_path, true, &file));
    if (file == NULL)
        return 0;
    const locale_t locale = newlocale(LC_NUMERIC_MASK, "C", (locale_t)0);
    struct record_line line;
    while (record_next(file, &line)) {
        if (record_is(&line, "begin"))
            begin_take(&line, out);
        else if (record_is(&line, "heartbeat"))
            heartbeat_take(&line, out, locale);
        else if (record_is(&line, "end"))
            end_take(&line, &out->end);
    }
    freelocale(locale);
    fclose(file);
    return 0;
}

struct journal_reader {
    FILE *file;
    locale_t locale;
    struct record_line line;
};

int journal_reader_open(const char *store_path, bool newest, struct journal_reader **out)
{
    FILE *file = NULL;
    *out = NULL;
    TRY(record_open(store_path, newest, &file));
    if (file == NULL)
        return 0;
    const int rc = MEM_NEW(1, out);
    if (rc != 0) {
        fclose(file);
        return rc;
    }
    (*out)->file = file;
    (*out)->locale = newlocale(LC_NUMERIC_MASK, "C", (locale_t)0);
    return 0;
}

void journal_reader_close(struct journal_reader *reader)
{
    if (reader == NULL)
        return;
    freelocale(reader->locale);
    fclose(reader->file);
    mem_free(reader);
}

static enum journal_kind kind_of(const struct record_line *line)
{
    static const char *const names[] = {
        [JOURNAL_BEGIN] = "begin",   [JOURNAL_WORKER] = "worker",
        [JOURNAL_MEMBER] = "member", [JOURNAL_HEARTBEAT] = "heartbeat",
        [JOURNAL_LOAD] = "load",     [JOURNAL_REUSE] = "reuse",
        [JOURNAL_END] = "end"};
    for (int k = JOURNAL_BEGIN; k <= JOURNAL_END; k++)
        if (record_is(line, names[k]))
            return (enum journal_kind)k;
    return JOURNAL_UNKNOWN;
}

static void load_take(struct journal_reader *reader, struct journal_record *out)
{
    static const char *const keys[] = {"ranks", "held", "ended", "steps", "silent_ms"};
    double value[5][JOURNAL_LOADS_MAX] = {{0}};
    int count = JOURNAL_LOADS_MAX;
    for (int k = 0; k < 5; k++) {
        const int found =
            record_reals(&reader->line, keys[k], reader->locale, JOURNAL_LOADS_MAX, value[k]);
        count = found < count ? found : count;
    }
    out->loads = count;
    for (int i = 0; i < count; i++)
        out->load[i] = (struct journal_load){.rank = (int)value[0][i],
                                             .held = (int64_t)value[1][i],
                                             .ended = (int64_t)value[2][i],
                                             .steps = (int64_t)value[3][i],
                                             .silent = 1e-3 * value[4][i]};
}

static void member_take(const struct record_line *line, struct journal_record *out)
{
    out->first = record_integer(line, "first", -1);
    out->last = record_integer(line, "last", -1);
    out->count = record_integer(line, "count", out->last - out->first + 1);
    out->rank = (int)record_integer(line, "rank", 0);
    record_text(line, "state", out->word, sizeof out->word);
    record_text(line, "reason", out->text, sizeof out->text);
}

static void worker_take(const struct record_line *line, struct journal_record *out)
{
    out->rank = (int)record_integer(line, "rank", 0);
    out->pid = record_integer(line, "pid", 0);
    record_text(line, "host", out->host, sizeof out->host);
    record_text(line, "event", out->word, sizeof out->word);
}

bool journal_reader_next(struct journal_reader *reader, struct journal_record *out)
{
    const struct record_line *const line = &reader->line;
    if (!record_next(reader->file, &reader->line))
        return false;
    memset(out, 0, sizeof *out);
    out->kind = kind_of(line);
    if (out->kind == JOURNAL_HEARTBEAT || out->kind == JOURNAL_UNKNOWN)
        return true;
    out->attempt = record_integer(line, "attempt", -1);
    record_text(line, "time", out->time, sizeof out->time);
    switch (out->kind) {
    case JOURNAL_WORKER:
        worker_take(line, out);
        break;
    case JOURNAL_MEMBER:
        member_take(line, out);
        break;
    case JOURNAL_LOAD:
        load_take(reader, out);
        break;
    default:
        out->code = (int)record_integer(line, "code", 0);
        out->count = record_integer(line, "count", 0);
        record_text(line, "text", out->text, sizeof out->text);
        break;
    }
    return true;
}
