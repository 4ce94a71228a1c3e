/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "runner/batch.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "kernels/base/log.h"
#include "kernels/base/status.h"
#include "runner/adaptive.h"
#include "runner/slot.h"
#include "runner/text.h"

#define SAMPLES 3 /* points that the first number of rows is found by */

/* What a ledger leaves to a batch. */
static double budget_of(const struct batch_ledger *l, bool *limited)
{
    const double free = fmax(l->left - l->reserve, 0) / l->shares;
    *limited = l->limit > 0 && l->limit < free;
    return *limited ? l->limit : free;
}

double batch_bytes(const struct batch_ledger *l, int64_t rows)
{
    const double more = (double)(rows - 1);
    return l->shared + l->row + l->work + more * (l->row + l->work_row);
}

/* Rows that so many bytes have room for: below 1 when it is not even one. */
static double rows_in(const struct batch_ledger *l, double bytes)
{
    const double more = bytes - batch_bytes(l, 1);
    const double each = l->row + l->work_row;
    if (more < 0)
        return 0;
    return each > 0 ? 1 + floor(more / each) : (double)l->most;
}

/* No room for one row. */
static int refuse(const struct batch_ledger *l, const char *device, double budget)
{
    char wanted[TEXT_SIZE];
    char left[TEXT_SIZE];
    char kept[TEXT_SIZE];
    char least[TEXT_SIZE];
    text_bytes(batch_bytes(l, 1), wanted);
    text_bytes(l->left, left);
    text_bytes(l->reserve, kept);
    text_bytes(budget, least);
    FAIL(ERR_DEVICE,
         "%s: a batch of one member needs %s (%.0f bytes); of %s that are free, %s are kept "
         "and %s a batch",
         device, wanted, batch_bytes(l, 1), left, kept, least);
}

int batch_count(struct batch_ledger *l, const char *device)
{
    bool limited;
    const double budget = budget_of(l, &limited);
    const double rows = rows_in(l, budget);
    l->bound = limited ? "resources.memory" : "its memory";
    if (rows < 1)
        return refuse(l, device, budget);
    l->rows = rows < (double)l->most ? (int64_t)rows : l->most;
    if (rows >= (double)l->most)
        l->bound = "the members there are";
    if (l->rows > BATCH_MOST || (rows >= BATCH_MOST && l->most >= BATCH_MOST)) {
        l->rows = BATCH_MOST;
        l->bound = "what a worker takes at most";
    }
    return 0;
}

int batch_objects(const struct scan *scan)
{
    const int64_t kinds = scan_structures(scan);
    return kinds < WORKER_SLOTS ? (int)kinds : WORKER_SLOTS;
}

/* Work areas of all plans of a model object: each plan has one for a row alone, and one for all
 * rows of a batch. */
static int find_work(const char *backend, const struct plane_layout *layout, int64_t rows,
                     double *bytes)
{
    *bytes = 0;
    for (int i = 0; i < layout->plans; i++) {
        const struct layout_plan *const plan = &layout->plan[i];
        const enum fft_kind kind = (enum fft_kind)plan->kind;
        size_t one = 0;
        size_t all = 0;
        TRY(backend_fft_bytes(backend, kind, plan->n, 1, &one));
        if (rows > 1)
            TRY(backend_fft_bytes(backend, kind, plan->n, (long)rows, &all));
        *bytes += (double)one + (double)all;
    }
    return 0;
}

/* A library need not take twice as much for twice the rows. What it takes is exact for one row
 * and for those that are found: as many as would go in by a share that was too small are asked
 * for, until it is not. */
int batch_fit(struct batch_ledger *l, const struct plane_layout *layout, const char *backend,
              const char *device)
{
    l->work_row = 0;
    TRY(find_work(backend, layout, 1, &l->work));
    for (;;) {
        double work;
        TRY(batch_count(l, device));
        if (l->rows < 2)
            return 0;
        TRY(find_work(backend, layout, l->rows, &work));
        const double share = (work - l->work) / (double)(l->rows - 1);
        if (share <= l->work_row)
            return 0;
        l->work_row = share;
    }
}

void batch_text(const struct batch_ledger *l, char *text, size_t size)
{
    char left[TEXT_SIZE];
    char all[TEXT_SIZE];
    char kept[TEXT_SIZE];
    char shared[TEXT_SIZE];
    char row[TEXT_SIZE];
    char work[TEXT_SIZE];
    char sum[TEXT_SIZE];
    const double transforms = l->work + (double)(l->rows - 1) * l->work_row;
    text_bytes(l->left, left);
    text_bytes(l->all, all);
    text_bytes(l->reserve, kept);
    text_bytes(l->shared, shared);
    text_bytes(l->row, row);
    text_bytes(transforms, work);
    text_bytes(batch_bytes(l, l->rows), sum);
    const int used = snprintf(text, size, "%s of %s free, %s kept", left, all, kept);
    if (used < 0 || (size_t)used >= size)
        return;
    const size_t at = (size_t)used;
    if (l->shares > 1)
        snprintf(text + at, size - at, ", a share of 1/%d", l->shares);
    const size_t then = strlen(text);
    snprintf(text + then, size - then, "; tables %s + %lld row%s of %s%s%s = %s, by %s", shared,
             (long long)l->rows, l->rows == 1 ? "" : "s", row,
             transforms > 0 ? " + transforms " : "", transforms > 0 ? work : "", sum, l->bound);
}

/* Members for each worker, and what the command line allows. An ensemble that stops itself may
 * turn out longer than what waits now. */
static int64_t most_rows(const struct worker *w)
{
    const int workers = w->options->workers > 0 ? w->options->workers : 1;
    const bool known = w->open > 0 && !adaptive_is_on(w->scan);
    const int64_t members = known ? w->open : scan_members(w->scan);
    const int64_t share = (members + workers - 1) / workers;
    const long rows = w->options->rows;
    return rows > 0 && rows < share ? rows : share;
}

static int fill(const struct worker *w, const struct plane_layout *layout, double left,
                struct batch_ledger *l)
{
    *l = (struct batch_ledger){.all = (double)w->backend->on.memory,
                               .left = left,
                               .reserve = (double)w->backend->on.memory / BATCH_RESERVE,
                               .limit = scan_get_resources(w->scan)->memory,
                               .shares = batch_objects(w->scan)
                                         * (w->device.sharers > 0 ? w->device.sharers : 1),
                               .shared = (double)layout->shared_bytes,
                               .row = (double)layout->row_bytes,
                               .most = most_rows(w)};
    const int rc = batch_fit(l, layout, w->backend->ops->name, w->backend->device);
    if (rc == 0 && w->options->rows > 0 && l->rows == w->options->rows)
        l->bound = "--rows";
    return rc;
}

/* The ledger that allows most rows, of the first points, middle and last that the model takes:
 * the others have rows of their own when they come. */
static int sample(struct worker *w, struct batch_ledger *best)
{
    const int64_t points = scan_points(w->scan);
    char why[STORE_REASON_SIZE];
    int rc = 0;
    best->rows = 0;
    for (int i = 0; i < SAMPLES; i++) {
        struct plane_layout layout = {0};
        struct batch_ledger l;
        scan_point(w->scan, (points - 1) * i / (SAMPLES - 1), &w->params);
        const struct status_saved saved = status_capture_save();
        status_capture(why, sizeof why);
        int found = w->ops->layout(&w->params, &layout);
        if (found == 0)
            found = rc = fill(w, &layout, w->batch_left, &l);
        status_capture_restore(saved);
        if (found == 0 && l.rows > best->rows)
            *best = l;
    }
    if (rc != 0 && best->rows == 0)
        FAIL(rc, "%s", why);
    return 0;
}

int batch_open(struct worker *w, char *text)
{
    struct batch_ledger ledger = {0};
    size_t left = 0;
    text[0] = '\0';
    if (w->device.sharers == 0)
        return 0;
    w->ops = scan_model(w->scan);
    TRY(slot_backend(w));
    TRY(backend_memory_left(w->backend, &left));
    w->batch_left = (double)left;
    TRY(scan_params_init(w->scan, &w->params));
    const int rc = sample(w, &ledger);
    params_clear(&w->params);
    TRY(rc);
    w->placement.capacity = ledger.rows > 0 ? (int)ledger.rows : 1;
    if (ledger.rows > 0)
        batch_text(&ledger, text, BATCH_TEXT_SIZE);
    return 0;
}

int batch_rows(const struct worker *w, const struct plane_layout *layout,
               struct batch_ledger *out)
{
    size_t now = 0;
    TRY(backend_memory_left(w->backend, &now));
    /* The object of another kind holds its own share of what was there at the start. */
    TRY(fill(w, layout, w->batch_left, out));
    const double least = fmax(rows_in(out, (double)now), 1);
    if (least < (double)out->rows)
        out->rows = (int64_t)least;
    if (out->rows > w->placement.capacity)
        out->rows = w->placement.capacity;
    char text[BATCH_TEXT_SIZE];
    batch_text(out, text, sizeof text);
    log_debug("a batch on %s: %s", w->backend->device, text);
    return 0;
}
