/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a configuration says of its file. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "io/store_private.h"
#include "io/verify.h"
#include "kernels/base/mem.h"
#include "kernels/base/status.h"

#define BLOCK 4096 /* members looked at at a time */

/* What stands in the file beside what should. */
struct expected {
    struct store *store;
    const struct store_spec *spec;
    struct verify_report *report;
    int64_t first, count;
    struct store_member_row *row; /* [BLOCK] */
    uint64_t (*pair)[2];          /* [BLOCK] */
    int64_t *integer;             /* [BLOCK] */
    int32_t *point;               /* [BLOCK][axes] */
    double *value;                /* [BLOCK] */
};

static int read_column(const struct expected *e, const char *name, size_t bytes, void *values)
{
    struct h5_dataset dataset;
    TRY(store_open_dataset(e->store, name, &dataset));
    size_t row = dataset.size;
    for (int d = 1; d < dataset.dims; d++)
        row *= (size_t)dataset.length[d];
    const int rc = row != bytes
                       ? status_fail(ERR_CONFLICT, "%s is damaged: rows of %s have %zu bytes",
                                     e->store->path, name, row)
                       : h5_read_rows(&dataset, e->first, e->count, values);
    h5_dataset_close(&dataset);
    return rc;
}

static int verify_layout(const struct expected *e)
{
    struct schema schema;
    TRY(schema_init(e->spec, &schema));
    for (int i = 0; i < schema.count; i++) {
        char text[VERIFY_TEXT_SIZE];
        if (store_skips_entry(e->store, &schema.entry[i]))
            continue;
        e->report->kind[VERIFY_LAYOUT].checked++;
        const struct status_saved saved = status_capture_save();
        status_capture(text, sizeof text);
        const int rc = store_compare_entry(e->store->file, e->store->path, &schema.entry[i]);
        status_capture_restore(saved);
        if (rc != 0)
            verify_break(e->report, VERIFY_LAYOUT, "%s", text);
    }
    schema_clear(&schema);
    return 0;
}

static int verify_identities(const struct expected *e)
{
    TRY(read_column(e, "member/identity", sizeof *e->pair, e->pair));
    for (int64_t i = 0; i < e->count; i++) {
        e->report->kind[VERIFY_IDENTITIES].checked++;
        if (memcmp(e->pair[i], e->row[i].identity, sizeof e->pair[i]) != 0)
            verify_break(e->report, VERIFY_IDENTITIES,
                         "member %" PRId64 " has identity %016" PRIx64 "%016" PRIx64
                         ", its parameters give %016" PRIx64 "%016" PRIx64,
                         e->first + i, e->pair[i][0], e->pair[i][1], e->row[i].identity[0],
                         e->row[i].identity[1]);
    }
    return 0;
}

static int verify_seeds(const struct expected *e)
{
    TRY(read_column(e, "member/seed", sizeof *e->pair, e->pair));
    for (int64_t i = 0; i < e->count; i++)
        if (e->pair[i][0] != e->row[i].point_key
            || e->pair[i][1] != (uint64_t)e->row[i].realisation)
            verify_break(e->report, VERIFY_POINTS,
                         "member %" PRId64
                         ": its seed is not that of its point and realisation",
                         e->first + i);
    return 0;
}

static int verify_ids(const struct expected *e)
{
    TRY(read_column(e, "member/grid", sizeof *e->integer, e->integer));
    for (int64_t i = 0; i < e->count; i++) {
        e->report->kind[VERIFY_POINTS].checked++;
        if (e->integer[i] != e->row[i].grid)
            verify_break(e->report, VERIFY_POINTS,
                         "member %" PRId64 ": grid %" PRId64 ", its point has %" PRId64,
                         e->first + i, e->integer[i], e->row[i].grid);
    }
    /* The scale has no name of a group before it: its rows are not called by ids. */
    struct h5_dataset scale;
    TRY(h5_dataset_open(e->store->file, e->store->path, "member_id", &scale));
    const int rc =
        h5_read_rows(&scale, e->first - e->store->window.first, e->count, e->integer);
    h5_dataset_close(&scale);
    TRY(rc);
    for (int64_t i = 0; i < e->count; i++)
        if (e->integer[i] != e->first + i)
            verify_break(e->report, VERIFY_POINTS,
                         "row of member %" PRId64 ": member_id is %" PRId64, e->first + i,
                         e->integer[i]);
    return 0;
}

/* Index of a point on an axis: mixed radix, last axis fastest. */
static int64_t point_index(const struct store_spec *spec, int64_t point, int axis)
{
    for (int a = spec->axes - 1; a > axis; a--)
        point /= spec->axis_length[a];
    return point % spec->axis_length[axis];
}

static int verify_indices(const struct expected *e)
{
    const struct store_spec *const spec = e->spec;
    TRY(read_column(e, "member/point", (size_t)spec->axes * sizeof *e->point, e->point));
    for (int64_t i = 0; i < e->count; i++)
        for (int a = 0; a < spec->axes; a++) {
            const int64_t want = point_index(spec, (e->first + i) / spec->realisations, a);
            const int64_t got = e->point[i * spec->axes + a];
            if (got != want)
                verify_break(e->report, VERIFY_POINTS,
                             "member %" PRId64 ": index %" PRId64
                             " on axis %d, it has %" PRId64,
                             e->first + i, got, a, want);
        }
    return 0;
}

static int verify_values(const struct expected *e, const struct store_param *param)
{
    const struct store_spec *const spec = e->spec;
    char name[SCHEMA_NAME_MAX];
    char path[SCHEMA_NAME_MAX + 16];
    schema_param_name(param, "", name, sizeof name);
    snprintf(path, sizeof path, "member/param/%s", name);
    TRY(read_column(e, path, sizeof *e->value, e->value));
    for (int64_t i = 0; i < e->count; i++) {
        const int64_t index =
            point_index(spec, (e->first + i) / spec->realisations, param->axis);
        if (e->value[i] != param->values[index])
            verify_break(e->report, VERIFY_POINTS,
                         "member %" PRId64 ": %s is %.17g, its point has %.17g", e->first + i,
                         param->name, e->value[i], param->values[index]);
    }
    return 0;
}

static int verify_lengths(const struct expected *e)
{
    const struct plane_layout *const layout = e->spec->layout;
    for (int a = 0; a < layout->axes; a++) {
        char path[SCHEMA_NAME_MAX + 16];
        if (layout->axis[a].dimension != a)
            continue;
        snprintf(path, sizeof path, "member/n_%s", layout->axis[a].name);
        TRY(read_column(e, path, sizeof *e->integer, e->integer));
        for (int64_t i = 0; i < e->count; i++) {
            const int64_t want = e->spec->grid_layout[e->row[i].grid].axis[a].length;
            if (e->integer[i] != want)
                verify_break(e->report, VERIFY_POINTS,
                             "member %" PRId64 ": %" PRId64
                             " values along %s, its grid has %" PRId64,
                             e->first + i, e->integer[i], layout->axis[a].name, want);
        }
    }
    return 0;
}

static int verify_rows(const struct expected *e, bool identities)
{
    const struct store_spec *const spec = e->spec;
    TRY(spec->member_rows(spec->context, e->first, e->count, e->row));
    if (identities)
        TRY(verify_identities(e));
    TRY(verify_ids(e));
    TRY(verify_seeds(e));
    if (spec->axes > 0)
        TRY(verify_indices(e));
    for (int p = 0; p < spec->params; p++)
        TRY(verify_values(e, &spec->param[p]));
    return verify_lengths(e);
}

static int verify_all(struct expected *e, bool identities)
{
    const int64_t end = e->store->window.first + e->store->members;
    for (e->first = e->store->window.first; e->first < end; e->first += BLOCK) {
        e->count = end - e->first < BLOCK ? end - e->first : BLOCK;
        TRY(verify_rows(e, identities));
    }
    return 0;
}

int verify_spec(struct store *store, const struct store_spec *spec, bool identities,
                struct verify_report *report)
{
    struct expected e = {.store = store, .spec = spec, .report = report};
    int rc = 0;
    TRY(verify_layout(&e));
    if (report->kind[VERIFY_LAYOUT].broken > 0) {
        verify_skip(report, VERIFY_IDENTITIES, "the layout is another");
        verify_skip(report, VERIFY_POINTS, "the layout is another");
        return 0;
    }
    TRY_OR(rc, done, MEM_NEW(BLOCK, &e.row));
    TRY_OR(rc, done, MEM_NEW(BLOCK, &e.pair));
    TRY_OR(rc, done, MEM_NEW(BLOCK, &e.integer));
    TRY_OR(rc, done, MEM_NEW((long)BLOCK * (spec->axes + 1), &e.point));
    TRY_OR(rc, done, MEM_NEW(BLOCK, &e.value));
    rc = verify_all(&e, identities);
done:
    mem_free(e.value);
    mem_free(e.point);
    mem_free(e.integer);
    mem_free(e.pair);
    mem_free(e.row);
    return rc;
}
