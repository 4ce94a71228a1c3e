/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "runner/status_stops.h"

#include <inttypes.h>
#include <math.h>

#include "io/reduce.h"
#include "io/until.h"
#include "kernels/base/mem.h"
#include "kernels/base/status.h"
#include "runner/text.h"

#define BLOCK 1024 /* points read at a time */

/* Rows of a block. */
struct rows {
    struct until_end end[BLOCK];
    uint8_t reduced[BLOCK];
};

static void count_point(struct status_stops *s, const struct until_end *end, bool whole)
{
    if (!whole || end->stopped == UNTIL_OPEN) {
        s->open++;
        if (end->looks > 0 && !(end->error <= s->worst))
            s->worst = end->error;
        return;
    }
    s->reached += end->stopped == UNTIL_REACHED;
    s->all += end->stopped == UNTIL_ALL;
    s->used += end->realisations;
    if (!(end->error >= s->smallest))
        s->smallest = end->error;
    if (!(end->error <= s->largest))
        s->largest = end->error;
}

int status_stops_read(struct store *store, struct status_stops *out)
{
    struct rows *rows = NULL;
    int rc = 0;
    *out = (struct status_stops){
        .smallest = (double)NAN, .largest = (double)NAN, .worst = (double)NAN};
    if (!until_is_on(store))
        return 0;
    out->any = true;
    out->points = store_points(store);
    TRY(until_read_rule(store, &out->rule));
    TRY(MEM_NEW(1, &rows));
    for (int64_t first = 0; first < out->points; first += BLOCK) {
        const int64_t left = out->points - first;
        const int64_t count = left < BLOCK ? left : BLOCK;
        TRY_OR(rc, done, until_read_rows(store, first, count, rows->end));
        TRY_OR(rc, done, reduce_read_rows(store, first, count, rows->reduced, NULL));
        for (int64_t i = 0; i < count; i++)
            count_point(out, &rows->end[i], rows->reduced[i] == 1);
    }
done:
    mem_free(rows);
    return rc;
}

void status_stops_text(const struct status_stops *s, FILE *out)
{
    if (!s->any)
        return;
    fprintf(out,
            "  ensembles until %s is known to %.3g %%: %" PRId64 " of %" PRId64
            " point%s stopped there",
            s->rule.quantity, 100 * s->rule.error, s->reached, s->points,
            s->points == 1 ? "" : "s");
    if (s->all > 0)
        fprintf(out, ", %" PRId64 " with all %" PRId64 " realisations", s->all, s->rule.max);
    if (s->open > 0)
        fprintf(out, ", %" PRId64 " open", s->open);
    if (s->open > 0 && isfinite(s->worst))
        fprintf(out, " (error %.3g %% so far)", 100 * s->worst);
    if (s->reached + s->all > 0)
        fprintf(out, "; errors %.3g to %.3g %%, %" PRId64 " realisations in all",
                100 * s->smallest, 100 * s->largest, s->used);
    fprintf(out, "\n");
}

void status_stops_json(const struct status_stops *s, FILE *out)
{
    if (!s->any)
        return;
    fprintf(out, ",\"until\":{\"quantity\":");
    json_text(out, s->rule.quantity);
    fprintf(out, ",\"error\":");
    json_number(out, s->rule.error);
    fprintf(out,
            ",\"min\":%" PRId64 ",\"max\":%" PRId64 ",\"reached\":%" PRId64 ",\"all\":%" PRId64
            ",\"open\":%" PRId64 ",\"realisations\":%" PRId64 ",\"error_low\":",
            s->rule.min, s->rule.max, s->reached, s->all, s->open, s->used);
    json_number(out, s->smallest);
    fprintf(out, ",\"error_high\":");
    json_number(out, s->largest);
    fprintf(out, ",\"error_open\":");
    json_number(out, s->worst);
    fprintf(out, "}");
}
