/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Whether rows are the members that they say they are. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "io/verify_private.h"
#include "kernels/base/mem.h"
#include "kernels/base/status.h"

#define BLOCK 4096 /* members looked at at a time */

/* Facts of every file; those that its configuration asks for follow. */
enum fact { FACT_IDENTITY, FACT_IDS, FACT_SEED, FACT_GRID, FACT_FIRST_OF_SPEC };

static const char *const fixed_names[FACT_FIRST_OF_SPEC] = {[FACT_IDENTITY] = "member/identity",
                                                            [FACT_IDS] = SCHEMA_MEMBER_ID,
                                                            [FACT_SEED] = "member/seed",
                                                            [FACT_GRID] = "member/grid"};

struct verify_rows {
    int axes;
    int64_t first, count;               /* of the block */
    struct store_member_row row[BLOCK]; /* what should stand there */
    int64_t id[BLOCK];                  /* members that the rows should be */
    uint64_t identity[BLOCK][2];
    uint64_t seed[BLOCK][2];
    int64_t integer[BLOCK];
    double value[BLOCK];
    int32_t *point; /* [BLOCK][axes] */
};

/* A block of rows that is compared. */
struct look {
    struct verify_rows *rows;
    const struct verify_subject *subject;
    struct verify_report *report;
};

int verify_rows_create(int axes, struct verify_rows **out)
{
    struct verify_rows *rows = NULL;
    *out = NULL;
    TRY(MEM_NEW(1, &rows));
    rows->axes = axes;
    const int rc = MEM_NEW((long)BLOCK * (axes + 1), &rows->point);
    if (rc != 0)
        verify_rows_destroy(rows);
    else
        *out = rows;
    return rc;
}

void verify_rows_destroy(struct verify_rows *rows)
{
    if (rows == NULL)
        return;
    mem_free(rows->point);
    mem_free(rows);
}

/* The facts */

static int add_fact(const struct store *store, struct verify_facts *facts, const char *name)
{
    TRY(store_open_dataset(store, name, &facts->dataset[facts->count]));
    facts->count++;
    return 0;
}

static bool has_length(const struct store_spec *spec, int axis)
{
    return spec->layout->axis[axis].dimension == axis;
}

int verify_facts_open(const struct store *store, const struct store_spec *spec,
                      struct verify_facts *out)
{
    char path[SCHEMA_NAME_MAX + 16];
    char name[SCHEMA_NAME_MAX];
    *out = (struct verify_facts){0};
    TRY(MEM_NEW(FACT_FIRST_OF_SPEC + 1 + spec->params + spec->layout->axes, &out->dataset));
    for (int i = 0; i < FACT_FIRST_OF_SPEC; i++)
        TRY(add_fact(store, out, fixed_names[i]));
    if (spec->axes > 0)
        TRY(add_fact(store, out, "member/point"));
    for (int p = 0; p < spec->params; p++) {
        schema_param_name(&spec->param[p], "", name, sizeof name);
        snprintf(path, sizeof path, "member/param/%s", name);
        TRY(add_fact(store, out, path));
    }
    for (int a = 0; a < spec->layout->axes; a++) {
        if (!has_length(spec, a))
            continue;
        snprintf(path, sizeof path, "member/n_%s", spec->layout->axis[a].name);
        TRY(add_fact(store, out, path));
    }
    return 0;
}

void verify_facts_close(struct verify_facts *facts)
{
    for (int i = 0; i < facts->count; i++)
        h5_dataset_close(&facts->dataset[i]);
    mem_free(facts->dataset);
    *facts = (struct verify_facts){0};
}

/* Rows of a block. @param bytes of a row, as they are wanted */
static int read_fact(const struct look *look, int fact, size_t bytes, void *values)
{
    const struct verify_subject *const s = look->subject;
    const struct h5_dataset *const dataset = &s->facts->dataset[fact];
    int64_t start[H5_DIMS_MAX] = {look->rows->first};
    int64_t count[H5_DIMS_MAX] = {look->rows->count};
    size_t row = dataset->size;
    for (int d = 1; d < dataset->dims; d++) {
        count[d] = dataset->length[d];
        row *= (size_t)dataset->length[d];
    }
    if (row != bytes)
        FAIL(ERR_CONFLICT, "%s is damaged: rows of %s have %zu bytes", s->store->path,
             dataset->name, row);
    if (fact == FACT_IDS) /* a scale: its rows are not called by ids */
        start[0] -= s->store->window.first;
    return store_get(s->store, dataset, start, count, values);
}

/* Which members the rows should be */

/* The member that a row's point and realisation name; the one of its place where there is none.
 */
static int64_t claim_of(const struct look *look, int64_t i)
{
    const struct store_spec *const spec = look->subject->spec;
    const int64_t place = look->rows->first + i;
    const uint64_t realisation = look->rows->seed[i][1];
    int64_t point = 0;
    for (int a = 0; a < spec->axes; a++) {
        const int32_t index = look->rows->point[i * spec->axes + a];
        if (index < 0 || index >= spec->axis_length[a])
            return place;
        point = point * spec->axis_length[a] + index;
    }
    if (realisation >= (uint64_t)spec->realisations)
        return place;
    return point * spec->realisations + (int64_t)realisation;
}

/* What should stand in the rows, a run of neighbouring members at a time. */
static int expect_rows(const struct look *look)
{
    struct verify_rows *const r = look->rows;
    const struct store_spec *const spec = look->subject->spec;
    for (int64_t i = 0; i < r->count; i++)
        r->id[i] = look->subject->order == VERIFY_BY_CLAIM ? claim_of(look, i) : r->first + i;
    for (int64_t begin = 0; begin < r->count;) {
        int64_t end = begin + 1;
        while (end < r->count && r->id[end] == r->id[end - 1] + 1)
            end++;
        TRY(spec->member_rows(spec->context, r->id[begin], end - begin, &r->row[begin]));
        begin = end;
    }
    return 0;
}

/* The comparisons */

static void check_identities(const struct look *look)
{
    const struct verify_rows *const r = look->rows;
    for (int64_t i = 0; i < r->count; i++) {
        look->report->kind[VERIFY_IDENTITIES].checked++;
        if (memcmp(r->identity[i], r->row[i].identity, sizeof r->identity[i]) != 0)
            verify_break_member(look->report, VERIFY_IDENTITIES, r->first + i,
                                "member %" PRId64 " has identity %016" PRIx64 "%016" PRIx64
                                ", its parameters give %016" PRIx64 "%016" PRIx64,
                                r->first + i, r->identity[i][0], r->identity[i][1],
                                r->row[i].identity[0], r->row[i].identity[1]);
    }
}

static void check_seeds(const struct look *look)
{
    const struct verify_rows *const r = look->rows;
    for (int64_t i = 0; i < r->count; i++)
        if (r->seed[i][0] != r->row[i].point_key
            || r->seed[i][1] != (uint64_t)r->row[i].realisation)
            verify_break_member(look->report, VERIFY_POINTS, r->first + i,
                                "member %" PRId64
                                ": its seed is not that of its point and realisation",
                                r->first + i);
}

static int check_grids(const struct look *look)
{
    struct verify_rows *const r = look->rows;
    TRY(read_fact(look, FACT_GRID, sizeof *r->integer, r->integer));
    for (int64_t i = 0; i < r->count; i++) {
        look->report->kind[VERIFY_POINTS].checked++;
        if (r->integer[i] != r->row[i].grid)
            verify_break_member(look->report, VERIFY_POINTS, r->first + i,
                                "member %" PRId64 ": grid %" PRId64 ", its point has %" PRId64,
                                r->first + i, r->integer[i], r->row[i].grid);
    }
    return 0;
}

static int check_ids(const struct look *look)
{
    struct verify_rows *const r = look->rows;
    TRY(read_fact(look, FACT_IDS, sizeof *r->integer, r->integer));
    for (int64_t i = 0; i < r->count; i++)
        if (r->integer[i] != r->first + i)
            verify_break_member(look->report, VERIFY_POINTS, r->first + i,
                                "row of member %" PRId64 ": member_id is %" PRId64,
                                r->first + i, r->integer[i]);
    return 0;
}

/* Index of a point on an axis: mixed radix, last axis fastest. */
static int64_t point_index(const struct store_spec *spec, int64_t point, int axis)
{
    for (int a = spec->axes - 1; a > axis; a--)
        point /= spec->axis_length[a];
    return point % spec->axis_length[axis];
}

static void check_indices(const struct look *look)
{
    const struct verify_rows *const r = look->rows;
    const struct store_spec *const spec = look->subject->spec;
    for (int64_t i = 0; i < r->count; i++)
        for (int a = 0; a < spec->axes; a++) {
            const int64_t want = point_index(spec, r->id[i] / spec->realisations, a);
            const int64_t got = r->point[i * spec->axes + a];
            if (got != want)
                verify_break_member(look->report, VERIFY_POINTS, r->first + i,
                                    "member %" PRId64 ": index %" PRId64
                                    " on axis %d, it has %" PRId64,
                                    r->first + i, got, a, want);
        }
}

static int check_values(const struct look *look, int fact, const struct store_param *param)
{
    struct verify_rows *const r = look->rows;
    const struct store_spec *const spec = look->subject->spec;
    TRY(read_fact(look, fact, sizeof *r->value, r->value));
    for (int64_t i = 0; i < r->count; i++) {
        const int64_t index = point_index(spec, r->id[i] / spec->realisations, param->axis);
        if (r->value[i] != param->values[index])
            verify_break_member(look->report, VERIFY_POINTS, r->first + i,
                                "member %" PRId64 ": %s is %.17g, its point has %.17g",
                                r->first + i, param->name, r->value[i], param->values[index]);
    }
    return 0;
}

static int check_lengths(const struct look *look, int fact)
{
    struct verify_rows *const r = look->rows;
    const struct store_spec *const spec = look->subject->spec;
    for (int a = 0; a < spec->layout->axes; a++) {
        if (!has_length(spec, a))
            continue;
        TRY(read_fact(look, fact++, sizeof *r->integer, r->integer));
        for (int64_t i = 0; i < r->count; i++) {
            const int64_t want = spec->grid_layout[r->row[i].grid].axis[a].length;
            if (r->integer[i] != want)
                verify_break_member(
                    look->report, VERIFY_POINTS, r->first + i,
                    "member %" PRId64 ": %" PRId64 " values along %s, its grid has %" PRId64,
                    r->first + i, r->integer[i], spec->layout->axis[a].name, want);
        }
    }
    return 0;
}

static int check_block(const struct look *look)
{
    struct verify_rows *const r = look->rows;
    const struct store_spec *const spec = look->subject->spec;
    int fact = FACT_FIRST_OF_SPEC;
    TRY(read_fact(look, FACT_SEED, sizeof *r->seed, r->seed));
    if (spec->axes > 0)
        TRY(read_fact(look, fact++, (size_t)spec->axes * sizeof *r->point, r->point));
    TRY(expect_rows(look));
    TRY(read_fact(look, FACT_IDENTITY, sizeof *r->identity, r->identity));
    if (look->subject->identities)
        check_identities(look);
    TRY(check_grids(look));
    TRY(check_ids(look));
    check_seeds(look);
    check_indices(look);
    for (int p = 0; p < spec->params; p++)
        TRY(check_values(look, fact++, &spec->param[p]));
    return check_lengths(look, fact);
}

int verify_rows_check(struct verify_rows *rows, const struct verify_subject *subject,
                      struct verify_report *report)
{
    const struct store *const store = subject->store;
    const struct look look = {rows, subject, report};
    const int64_t end = store->window.first + store->members;
    if (subject->spec->axes != rows->axes)
        FAIL(ERR_BUG, "%d axes, and room for %d", subject->spec->axes, rows->axes);
    for (rows->first = store->window.first; rows->first < end; rows->first += BLOCK) {
        rows->count = end - rows->first < BLOCK ? end - rows->first : BLOCK;
        TRY(check_block(&look));
    }
    return 0;
}
