/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/base/mem.h"
#include "kernels/base/status.h"
#include "scans/internal.h"
#include "scans/numbers.h"
#include "scans/text.h"

/*
 * Text of a point: fixed pieces, formatted once, and values of the scanned parameters, whose
 * texts are kept for short axes: 10^6 identities take about a second.
 */

/* Texts of axis values */

static int keep_texts(const struct param_info *info, struct axis_values *v)
{
    if (v->length > AXIS_CACHE_MAX)
        return 0;
    size_t total = 0;
    char text[CANONICAL_VALUE_SIZE];
    TRY(MEM_NEW((long)v->length + 1, &v->start));
    for (int64_t i = 0; i < v->length; i++) {
        struct param_value value;
        axis_values_set(v, i, &value);
        v->start[i] = total;
        total += canonical_value(info, &value, text, sizeof text);
    }
    v->start[v->length] = total;
    TRY(mem_alloc((long)total + 1, 1, (void **)&v->texts));
    for (int64_t i = 0; i < v->length; i++) {
        struct param_value value;
        axis_values_set(v, i, &value);
        const size_t length = canonical_value(info, &value, text, sizeof text);
        memcpy(v->texts + v->start[i], text, length);
    }
    return 0;
}

/* Making the pieces */

struct piece_maker {
    const struct scan *scan;
    struct piece_list *list;
    struct text out; /* the fixed text */
    size_t from;     /* where the running fixed piece starts */
};

static void end_fixed(struct piece_maker *m)
{
    if (m->out.used > m->from)
        m->list->piece[m->list->count++] =
            (struct text_piece){.start = m->from, .length = m->out.used - m->from, .axis = -1};
    m->from = m->out.used;
}

static void add_param(struct piece_maker *m, int index)
{
    const struct param_info *info = &m->scan->info->params[index];
    int axis = 0;
    int place = 0;
    if (axes_find(m->scan, index, &axis, &place)) {
        text_add(&m->out, "%s=", info->name);
        end_fixed(m);
        m->list->piece[m->list->count++] = (struct text_piece){.axis = axis, .param = place};
        text_add(&m->out, "\n");
        return;
    }
    const struct param_value *value = &m->scan->base.values[index];
    if (!value->set && (info->flags & PARAM_NONE) == 0)
        return; /* one of two alternatives that was not chosen */
    char text[CANONICAL_VALUE_SIZE];
    canonical_value(info, value, text, sizeof text);
    text_add(&m->out, "%s=%s\n", info->name, text);
}

static void add_ensemble(struct piece_maker *m)
{
    static const char *const noises[] = {"none", "one_photon", "half_photon_gaussian",
                                         "direct"};
    const struct scan_ensemble *e = &m->scan->ensemble;
    text_add(&m->out, "noise=%s\nseed=%llu\n", e->present ? noises[e->noise] : "none",
             (unsigned long long)(e->present ? e->seed : 0));
}

static int compare_names(const void *a, const void *b)
{
    return strcmp((*(const struct param_info *const *)a)->name,
                  (*(const struct param_info *const *)b)->name);
}

/* @param sorted  [param_count] rows of the table in the order of their names */
static int make_pieces(struct scan *scan, const struct param_info *const *sorted, bool identity,
                       struct piece_list *out)
{
    const int count = scan->info->param_count;
    const size_t size = (size_t)(count + 8) * (CANONICAL_VALUE_SIZE + 128);
    TRY(MEM_NEW(2 * count + 2, &out->piece));
    TRY(mem_alloc((long)size, 1, (void **)&out->bytes));
    struct piece_maker m = {
        .scan = scan, .list = out, .out = {.bytes = out->bytes, .size = size}};
    if (identity)
        text_add(&m.out, "model=%s\nnumerics=%d\n", scan->info->name,
                 scan->info->numerics_version);
    for (int i = 0; i < count; i++)
        if (identity || !schema_is_stepper(sorted[i]->name))
            add_param(&m, (int)(sorted[i] - scan->info->params));
    if (identity)
        add_ensemble(&m);
    end_fixed(&m);
    if (text_is_full(&m.out))
        FAIL(ERR_BUG, "text of a point: more than %zu bytes", size);
    return 0;
}

static size_t longest_value(const struct param_info *info)
{
    size_t longest = info->kind == PARAM_DATA ? DATA_HASH_SIZE : NUMBER_SIZE;
    for (int i = 0; info->kind == PARAM_CHOICE && info->choices[i] != NULL; i++)
        if (strlen(info->choices[i]) > longest)
            longest = strlen(info->choices[i]);
    return info->kind == PARAM_LIST ? CANONICAL_VALUE_SIZE : longest;
}

static size_t pieces_bound(const struct scan *scan, const struct piece_list *list)
{
    size_t bound = 1;
    for (int i = 0; i < list->count; i++) {
        const struct text_piece *p = &list->piece[i];
        bound +=
            p->axis < 0
                ? p->length
                : longest_value(&scan->info->params[scan->axis[p->axis].param[p->param].param]);
    }
    return bound;
}

int pieces_make(struct scan *scan)
{
    for (int a = 0; a < scan->axes; a++)
        for (int k = 0; k < scan->axis[a].params; k++)
            TRY(keep_texts(&scan->info->params[scan->axis[a].param[k].param],
                           &scan->values[a][k]));
    const int count = scan->info->param_count;
    const struct param_info **sorted = NULL;
    TRY(MEM_NEW(count, &sorted));
    for (int i = 0; i < count; i++)
        sorted[i] = &scan->info->params[i];
    qsort(sorted, (size_t)count, sizeof *sorted, compare_names);
    int rc = make_pieces(scan, sorted, false, &scan->point_pieces);
    if (rc == 0)
        rc = make_pieces(scan, sorted, true, &scan->identity_pieces);
    mem_free(sorted);
    const size_t point = pieces_bound(scan, &scan->point_pieces);
    const size_t identity = pieces_bound(scan, &scan->identity_pieces);
    scan->text_bound = point > identity ? point : identity;
    return rc;
}

/* Writing */

static void put(const char *bytes, size_t length, char *text, size_t size, size_t *used)
{
    if (*used < size) {
        const size_t left = size - *used;
        memcpy(text + *used, bytes, length < left ? length : left);
    }
    *used += length;
}

static void put_value(const struct scan *scan, const struct text_piece *p, int64_t index,
                      char *text, size_t size, size_t *used)
{
    const struct axis_values *v = &scan->values[p->axis][p->param];
    if (v->texts != NULL) {
        put(v->texts + v->start[index], v->start[index + 1] - v->start[index], text, size,
            used);
        return;
    }
    struct param_value value;
    char bytes[CANONICAL_VALUE_SIZE];
    axis_values_set(v, index, &value);
    const struct param_info *info =
        &scan->info->params[scan->axis[p->axis].param[p->param].param];
    put(bytes, canonical_value(info, &value, bytes, sizeof bytes), text, size, used);
}

static size_t write_pieces(const struct scan *scan, const struct piece_list *list,
                           int64_t point, char *text, size_t size)
{
    int64_t index[SCAN_AXES_MAX];
    scan_point_indices(scan, point, index);
    size_t used = 0;
    for (int i = 0; i < list->count; i++) {
        const struct text_piece *p = &list->piece[i];
        if (p->axis < 0)
            put(list->bytes + p->start, p->length, text, size, &used);
        else
            put_value(scan, p, index[p->axis], text, size, &used);
    }
    if (size > 0)
        text[used < size ? used : size - 1] = '\0';
    return used;
}

size_t scan_point_text(const struct scan *scan, int64_t point, char *text, size_t size)
{
    return write_pieces(scan, &scan->point_pieces, point, text, size);
}

size_t scan_identity_text(const struct scan *scan, int64_t point, char *text, size_t size)
{
    return write_pieces(scan, &scan->identity_pieces, point, text, size);
}

size_t scan_text_bound(const struct scan *scan)
{
    return scan->text_bound;
}
