/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdio.h>
#include <string.h>

#include "kernels/base/mem.h"
#include "kernels/base/nearest.h"
#include "kernels/base/status.h"
#include "scans/internal.h"
#include "scans/names.h"
#include "scans/text.h"

bool axes_find(const struct scan *scan, int param, int *axis, int *place)
{
    for (int a = 0; a < scan->axes; a++)
        for (int k = 0; k < scan->axis[a].params; k++)
            if (scan->axis[a].param[k].param == param) {
                *axis = a;
                *place = k;
                return true;
            }
    return false;
}

void axes_clear(struct scan *scan)
{
    for (int a = 0; a < SCAN_AXES_MAX; a++)
        for (int k = 0; k < SCAN_AXIS_PARAMS_MAX; k++)
            axis_values_clear(&scan->values[a][k]);
}

/* The parameter that an axis names, by its own or its group's name. */
static int find_param(struct reader *r, const char *name, const struct node *node, int *out)
{
    const struct model_info *info = r->scan->info;
    *out = schema_index(info, name);
    if (*out < 0)
        return schema_fail_unknown(r, name, node->key_line, node->key_column);
    int axis = 0;
    int place = 0;
    if (axes_find(r->scan, *out, &axis, &place))
        return text_fail(r->name, node->key_line, node->key_column,
                         "axis %s: %s is scanned by axis %d already; one axis a parameter",
                         name, info->params[*out].name, axis);
    return 0;
}

int axes_join(struct reader *r, int axis, int param, int *out)
{
    struct scan_axis *a = &r->scan->axis[axis];
    if (a->params == SCAN_AXIS_PARAMS_MAX)
        FAIL(ERR_PARSE, "%s: more than %d parameters on axis %d", r->name, SCAN_AXIS_PARAMS_MAX,
             axis);
    /* Order of the parameter table, whatever the order in the file. */
    int place = a->params;
    while (place > 0 && a->param[place - 1].param > param)
        place--;
    struct axis_values *values = r->scan->values[axis];
    const size_t after = (size_t)(a->params - place);
    memmove(&a->param[place + 1], &a->param[place], after * sizeof a->param[0]);
    memmove(&values[place + 1], &values[place], after * sizeof values[0]);
    a->params++;
    a->param[place].param = param;
    values[place] = (struct axis_values){0};
    snprintf(a->param[place].name, sizeof a->param[place].name, "%s",
             r->scan->info->params[param].name);
    *out = place;
    return 0;
}

int axes_read_param(struct reader *r, int axis, const char *name, const struct node *node)
{
    int param = 0;
    int place = 0;
    TRY(find_param(r, name, node, &param));
    if (r->scan->axis[axis].params == SCAN_AXIS_PARAMS_MAX)
        return text_fail(r->name, node->key_line, node->key_column,
                         "more than %d parameters in one zip", SCAN_AXIS_PARAMS_MAX);
    TRY(axes_join(r, axis, param, &place));
    const struct param_info *info = &r->scan->info->params[param];
    TRY(places_note(r, info->name, node));
    return axis_values_read(r, info, node, &r->scan->values[axis][place]);
}

static int read_zip(struct reader *r, int axis, const struct node *zip)
{
    if (zip->kind != NODE_MAP || zip->count == 0)
        return value_fail(r, zip,
                          "zip: %s stands here; accepted: {parameter: [value, …], "
                          "parameter: [value, …]}",
                          node_kind_name(zip));
    for (const struct node *child = zip->first; child != NULL; child = child->next)
        TRY(axes_read_param(r, axis, child->key, child));
    return 0;
}

int axes_read(struct reader *r, const struct node *list)
{
    if (list->kind != NODE_LIST)
        return value_fail(r, list,
                          "axes: %s stands here; accepted: a list of `- parameter: values`",
                          node_kind_name(list));
    for (const struct node *item = list->first; item != NULL; item = item->next) {
        if (item->kind != NODE_MAP || item->count != 1)
            return value_fail(r, item,
                              "axes: each axis is one `- parameter: values`; several "
                              "parameters on one axis are a zip");
        const int axis = r->scan->axes;
        if (axis == SCAN_AXES_MAX)
            return value_fail(r, item, "axes: more than %d axes", SCAN_AXES_MAX);
        r->scan->axes++;
        if (strcmp(item->first->key, "zip") == 0)
            TRY(read_zip(r, axis, item->first));
        else
            TRY(axes_read_param(r, axis, item->first->key, item->first));
    }
    return 0;
}

int axes_replace(struct reader *r, const char *name, const struct node *node)
{
    const int param = schema_index(r->scan->info, name);
    int axis = 0;
    int place = 0;
    if (param < 0 || !axes_find(r->scan, param, &axis, &place)) {
        struct names names = {0};
        for (int a = 0; a < r->scan->axes; a++)
            for (int k = 0; k < r->scan->axis[a].params; k++)
                names_add(&names, r->scan->axis[a].param[k].name);
        char list[512];
        nearest_list(names.name, list, sizeof list);
        return value_fail(r, node, "no axis scans '%.60s'; axes of this scan: %s", name,
                          names.count > 0 ? list : "none");
    }
    struct axis_values *values = &r->scan->values[axis][place];
    axis_values_clear(values);
    TRY(places_note(r, r->scan->info->params[param].name, node));
    return axis_values_read(r, &r->scan->info->params[param], node, values);
}

static int check_lengths(struct reader *r, int axis)
{
    const struct axis_values *values = r->scan->values[axis];
    struct scan_axis *a = &r->scan->axis[axis];
    a->length = values[0].length;
    for (int k = 1; k < a->params; k++)
        if (values[k].length != a->length)
            return text_fail(r->name, values[k].line, values[k].column,
                             "zip: %s has %lld values, %s has %lld; equal lengths are wanted",
                             a->param[k].name, (long long)values[k].length, a->param[0].name,
                             (long long)a->length);
    return 0;
}

int axes_finish(struct reader *r)
{
    struct scan *scan = r->scan;
    scan->points = 1;
    for (int a = 0; a < scan->axes; a++) {
        if (scan->axis[a].params == 0)
            FAIL(ERR_PARSE, "%s: axis %d is missing", r->name, a);
        TRY(check_lengths(r, a));
        if (__builtin_mul_overflow(scan->points, scan->axis[a].length, &scan->points)
            || scan->points > SCAN_MEMBERS_MAX)
            return text_fail(r->name, scan->values[a][0].line, scan->values[a][0].column,
                             "axes: more than 10^15 points with axis %s",
                             scan->axis[a].param[0].name);
    }
    scan->realisations = scan->ensemble.until.kind != UNTIL_NONE ? scan->ensemble.until.max
                         : scan->ensemble.present                ? scan->ensemble.realisations
                                                                 : 1;
    if (__builtin_mul_overflow(scan->points, scan->realisations, &scan->members)
        || scan->members > SCAN_MEMBERS_MAX)
        return text_fail(r->name, 0, 0,
                         "%lld points times %lld realisations are more than 10^15 members",
                         (long long)scan->points, (long long)scan->realisations);
    if (!scan->history_given)
        scan->store.history = scan->members > HISTORY_MEMBERS_MAX ? 0 : HISTORY_DEFAULT;
    return 0;
}
