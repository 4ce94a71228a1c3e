/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/base/mem.h"
#include "kernels/base/status.h"
#include "scans/internal.h"
#include "scans/numbers.h"
#include "scans/text.h"

#define LINE_BOUND 2048 /* of a line without axis values and positions */

static size_t copy_word(const char *word, char *text, size_t size)
{
    const size_t length = strlen(word);
    if (length < size)
        memcpy(text, word, length + 1);
    return length;
}

size_t canonical_value(const struct param_info *info, const struct param_value *value,
                       char *text, size_t size)
{
    char number[NUMBER_SIZE];
    if (!value->set)
        return copy_word("none", text, size);
    if (info->kind == PARAM_DATA)
        return copy_word(value->data->hash, text, size);
    if (info->kind == PARAM_CHOICE)
        return copy_word(info->choices[(int)value->number], text, size);
    if (info->kind == PARAM_BOOL)
        return copy_word(value->number != 0.0 ? "true" : "false", text, size);
    if (info->kind != PARAM_LIST) {
        number_write(value->number, number);
        return copy_word(number, text, size);
    }
    struct text out = {.bytes = text, .size = size};
    for (int i = 0; i < value->count; i++) {
        number_write(value->list[i], number);
        text_add(&out, "%s%s", i == 0 ? "[" : ", ", number);
    }
    text_add(&out, "]");
    return out.used;
}

/* The whole form */

static size_t canonical_bound(const struct scan *scan)
{
    size_t bound = LINE_BOUND * (size_t)(64 + scan->info->param_count);
    bound += (size_t)scan->inputs * (DATA_LABEL_SIZE + DATA_HASH_SIZE + 16);
    for (int a = 0; a < scan->axes; a++)
        for (int k = 0; k < scan->axis[a].params; k++) {
            const struct axis_values *v = &scan->values[a][k];
            bound += LINE_BOUND;
            if (v->form != AXIS_VALUES)
                continue;
            bound += (size_t)v->length * (NAMES_BOUND + 4);
            for (int64_t i = 0; v->row != NULL && i < v->length; i++)
                bound += (size_t)v->row_count[i] * (NUMBER_SIZE + 2);
        }
    bound +=
        (size_t)(scan->save.planes.count + scan->envelope.planes.count) * (NUMBER_SIZE + 2);
    return bound;
}

/* Whether the form mentions a parameter: its value, or that it has none by choice. */
static bool is_mentioned(const struct param_info *info, const struct param_value *value)
{
    return value->set || (info->flags & PARAM_NONE) != 0;
}

static void write_params(const struct scan *scan, struct text *out)
{
    for (int i = 0; i < scan->info->param_count; i++) {
        const struct param_info *info = &scan->info->params[i];
        int axis = 0;
        int place = 0;
        if (axes_find(scan, i, &axis, &place) || !is_mentioned(info, &scan->base.values[i]))
            continue;
        char value[CANONICAL_VALUE_SIZE];
        canonical_value(info, &scan->base.values[i], value, sizeof value);
        text_add(out, "%s%s: %s\n", schema_is_stepper(info->name) ? "" : "parameters.",
                 info->name, value);
    }
}

static void write_axes(const struct scan *scan, struct text *out)
{
    for (int a = 0; a < scan->axes; a++)
        for (int k = 0; k < scan->axis[a].params; k++) {
            const struct scan_axis_param *p = &scan->axis[a].param[k];
            text_add(out, "axis.%d.%s: ", a, p->name);
            axis_values_write(&scan->values[a][k], &scan->info->params[p->param], out);
            text_add(out, "\n");
        }
}

static int compare_lines(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Sort the lines of text[used] into out; lines become NUL-terminated on the way. */
static int sort_lines(char *text, size_t used, char *out)
{
    long count = 0;
    for (size_t i = 0; i < used; i++)
        count += text[i] == '\n';
    const char **lines = NULL;
    TRY(MEM_NEW(count, &lines));
    char *p = text;
    for (long i = 0; i < count; i++) {
        lines[i] = p;
        p = strchr(p, '\n');
        *p++ = '\0';
    }
    qsort(lines, (size_t)count, sizeof *lines, compare_lines);
    for (long i = 0; i < count; i++) {
        const size_t length = strlen(lines[i]);
        memcpy(out, lines[i], length);
        out[length] = '\n';
        out += length + 1;
    }
    mem_free(lines);
    return 0;
}

static int make_form(struct scan *scan)
{
    char *bytes = NULL;
    const size_t size = canonical_bound(scan);
    TRY(mem_alloc((long)size, 1, (void **)&bytes));
    struct text out = {.bytes = bytes, .size = size};
    text_add(&out, "format: 1\nmodel: %s\nscan: \"%s\"\n", scan->info->name, scan->name);
    write_params(scan, &out);
    write_axes(scan, &out);
    section_write(scan, &out);
    inputs_write(scan, &out);
    int rc = text_is_full(&out) ? ERR_BUG : 0;
    if (rc == 0)
        rc = mem_alloc((long)out.used + 1, 1, (void **)&scan->canonical);
    if (rc == 0)
        rc = sort_lines(bytes, out.used, scan->canonical);
    mem_free(bytes);
    if (rc == ERR_BUG)
        FAIL(ERR_BUG, "canonical form: more than %zu bytes", size);
    return rc;
}

int canonical_make(struct scan *scan)
{
    TRY(make_form(scan));
    return pieces_make(scan);
}
