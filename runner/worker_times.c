/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "runner/worker_times.h"

#include <string.h>

#include "io/read.h"
#include "kernels/base/mem.h"
#include "kernels/base/status.h"
#include "runner/text.h"

/* The dataset of each part, and the word that people read. */
static const struct {
    const char *column;
    const char *name;
} parts[PARTS] = {
    [PART_LOAD] = {"load", "load"},      [PART_ADVANCE] = {"advance", "kernels"},
    [PART_HOST] = {"host", "host loop"}, [PART_OUTPUT] = {"output", "output"},
    [PART_MPI] = {"mpi", "MPI"},         [PART_IDLE] = {"idle", "idle"},
};

const char *work_part_name(enum work_part part)
{
    return parts[part].name;
}

/* A column of all rows; one that an older file lacks is all zeros. */
static int read_column(struct store *store, const char *name, int64_t rows, double *values)
{
    char path[READ_NAME_SIZE];
    snprintf(path, sizeof path, "timing/%s", name);
    memset(values, 0, (size_t)rows * sizeof *values);
    return read_exists(store, path) ? read_rows(store, path, 0, rows, (long)rows, values) : 0;
}

/* Rows of the newest attempt. */
static int find_rows(int64_t rows, const double *attempt, struct worker_times *out)
{
    double newest = 0;
    for (int64_t r = 0; r < rows; r++)
        newest = attempt[r] > newest ? attempt[r] : newest;
    if (newest < 1)
        return 0;
    TRY(MEM_NEW((long)rows, &out->worker));
    out->attempt = (int64_t)newest;
    for (int64_t r = 0; r < rows; r++)
        if (attempt[r] >= newest)
            out->worker[out->workers++].worker = (int)r;
    return 0;
}

static int fill(struct store *store, int64_t rows, double *values, struct worker_times *out)
{
    for (int p = 0; p < PARTS; p++) {
        TRY(read_column(store, parts[p].column, rows, values));
        for (int i = 0; i < out->workers; i++)
            out->worker[i].part[p] = values[out->worker[i].worker];
    }
    TRY(read_column(store, "total", rows, values));
    for (int i = 0; i < out->workers; i++)
        out->worker[i].total = values[out->worker[i].worker];
    return 0;
}

int worker_times_read(struct store *store, struct worker_times *out)
{
    struct read_dataset column;
    double *values = NULL;
    *out = (struct worker_times){0};
    if (!read_exists(store, "timing/attempt"))
        return 0;
    TRY(read_describe(store, "timing/attempt", &column));
    const int64_t rows = column.length[0];
    int rc = 0;
    TRY_OR(rc, done, MEM_NEW((long)rows, &values));
    TRY_OR(rc, done, read_column(store, "attempt", rows, values));
    TRY_OR(rc, done, find_rows(rows, values, out));
    if (out->workers > 0)
        rc = fill(store, rows, values, out);
done:
    mem_free(values);
    if (rc != 0)
        worker_times_clear(out);
    return rc;
}

void worker_times_clear(struct worker_times *times)
{
    mem_free(times->worker);
    *times = (struct worker_times){0};
}

struct time_summary worker_times_sum(const struct worker_times *times)
{
    struct time_summary sum = {.attempt = times->attempt, .workers = times->workers};
    double all = 0;
    sum.extreme_kernels = 2;
    for (int i = 0; i < times->workers; i++) {
        const struct worker_time *w = &times->worker[i];
        const double kernels = w->total > 0 ? w->part[PART_ADVANCE] / w->total : 0;
        for (int p = 0; p < PARTS; p++) {
            sum.share[p] += w->part[p];
            all += w->part[p];
        }
        sum.total += w->total / times->workers;
        if (kernels < sum.extreme_kernels) {
            sum.extreme_kernels = kernels;
            sum.extreme = w->worker;
        }
    }
    if (!(all > 0))
        return (struct time_summary){0};
    for (int p = 0; p < PARTS; p++)
        sum.share[p] /= all;
    return sum;
}

void time_summary_text(const struct time_summary *summary, FILE *out)
{
    char span[TEXT_SIZE];
    const char *separator = ": ";
    text_seconds(summary->total, span);
    fprintf(out, "%d worker%s, %s%s", summary->workers, summary->workers == 1 ? "" : "s", span,
            summary->workers == 1 ? "" : " each");
    for (int p = 0; p < PARTS; p++) {
        if (summary->share[p] < 0.0005)
            continue;
        fprintf(out, "%s%s %.1f %%", separator, parts[p].name, 100 * summary->share[p]);
        separator = ", ";
    }
    if (summary->workers > 1)
        fprintf(out, "; computed least: worker %d, kernels %.1f %%", summary->extreme,
                100 * summary->extreme_kernels);
    fprintf(out, "\n");
}

void time_summary_json(const struct time_summary *summary, FILE *out)
{
    fprintf(out, "{\"attempt\":%lld,\"workers\":%d,\"seconds\":", (long long)summary->attempt,
            summary->workers);
    json_number(out, summary->total);
    fprintf(out, ",\"share\":{");
    for (int p = 0; p < PARTS; p++) {
        fprintf(out, "%s\"%s\":", p > 0 ? "," : "", parts[p].column);
        json_number(out, summary->share[p]);
    }
    fprintf(out, "},\"extreme\":{\"worker\":%d,\"advance\":", summary->extreme);
    json_number(out, summary->extreme_kernels);
    fprintf(out, "}}");
}
