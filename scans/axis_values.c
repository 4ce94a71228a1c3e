/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/base/mem.h"
#include "kernels/base/nearest.h"
#include "kernels/base/status.h"
#include "scans/internal.h"
#include "scans/names.h"
#include "scans/numbers.h"
#include "scans/text.h"

#define EXACT_MAX    9007199254740992.0 /* 2^53 */
#define WRITTEN_SIZE 4096

/* Values by index */

static double decimal_at(const struct axis_decimal *d, int64_t index)
{
    const double whole = d->first + (double)index * d->advance;
    return d->divide ? whole / d->scale : whole * d->scale;
}

/* The decimal number of 15 digits next to a value when it is within 2 units of its last place:
 * log axes over decades give 1e-4, not 1.0000000000000001e-4. */
static double nearest_decimal(double value)
{
    char text[NUMBER_SIZE];
    const locale_t previous = number_locale_enter();
    snprintf(text, sizeof text, "%.15g", value);
    const double rounded = strtod(text, NULL);
    number_locale_leave(previous);
    return fabs(rounded - value) <= 2.0 * 0x1p-52 * fabs(value) ? rounded : value;
}

static double log_at(const struct axis_values *v, int64_t index)
{
    const long double part = (long double)index / (long double)(v->length - 1);
    const long double ratio = (long double)v->to / (long double)v->from;
    return nearest_decimal((double)((long double)v->from * powl(ratio, part)));
}

/* The last value may lie 1e-9 step beyond `to`, which could leave the legal range. */
static double step_at(const struct axis_values *v, int64_t index)
{
    const double value = v->decimal.is_exact ? decimal_at(&v->decimal, index)
                                             : fma((double)index, v->step, v->from);
    const bool beyond = v->step > 0.0 ? value > v->to : value < v->to;
    return beyond ? v->to : value;
}

/* Both ends are exact. */
static double compute_at(const struct axis_values *v, int64_t index)
{
    if (index == 0)
        return v->from;
    if (v->form == AXIS_STEP)
        return step_at(v, index);
    if (index == v->length - 1)
        return v->to;
    if (v->form == AXIS_LOG)
        return log_at(v, index);
    if (v->decimal.is_exact)
        return decimal_at(&v->decimal, index);
    return fma((double)index / (double)(v->length - 1), v->to - v->from, v->from);
}

double axis_values_at(const struct axis_values *values, int64_t index)
{
    if (values->row != NULL)
        return (double)index;
    return values->value != NULL ? values->value[index] : compute_at(values, index);
}

/* Exact decimals */

/* A double as whole * 10^exponent with at most 15 digits, when it is one. */
static bool split_decimal(double value, double *whole, int *exponent)
{
    char text[NUMBER_SIZE];
    const locale_t previous = number_locale_enter();
    snprintf(text, sizeof text, "%.14e", value); /* d.dddddddddddddde±xx */
    const bool same = strtod(text, NULL) == value;
    number_locale_leave(previous);
    if (!same || value == 0.0) {
        *whole = 0.0;
        *exponent = 0;
        return same;
    }
    char digits[NUMBER_SIZE];
    size_t n = 0;
    const char *p = text;
    for (; *p != 'e'; p++)
        if (*p != '.')
            digits[n++] = *p;
    digits[n] = '\0';
    long long mantissa = strtoll(digits, NULL, 10);
    int power = (int)strtol(p + 1, NULL, 10) - 14;
    while (mantissa % 10 == 0) {
        mantissa /= 10;
        power++;
    }
    *whole = (double)mantissa;
    *exponent = power;
    return true;
}

/* whole * 10^(from - to) when it stays a whole number below 2^53; from >= to. */
static bool rescale(double *whole, int from, int to)
{
    for (int i = to; i < from && fabs(*whole) <= EXACT_MAX; i++)
        *whole *= 10.0;
    return fabs(*whole) <= EXACT_MAX;
}

/* Powers of ten up to 10^22 are exact in double. */
static bool exact_power(int exponent, double *out)
{
    *out = 1.0;
    for (int i = 0; i < exponent; i++)
        *out *= 10.0;
    return exponent <= 22;
}

static bool is_exact_product(double a, double b)
{
    return isfinite(a * b) && fma(a, b, -(a * b)) == 0.0;
}

/* from and to (or step) of an axis as whole numbers of one power of ten. */
static bool find_wholes(const struct axis_values *v, double *first, double *second,
                        int *exponent)
{
    int e_first = 0;
    int e_second = 0;
    const double other = v->form == AXIS_STEP ? v->step : v->to;
    if (!split_decimal(v->from, first, &e_first) || !split_decimal(other, second, &e_second))
        return false;
    if (*first == 0.0)
        e_first = e_second;
    if (*second == 0.0)
        e_second = e_first;
    *exponent = e_first < e_second ? e_first : e_second;
    return rescale(first, e_first, *exponent) && rescale(second, e_second, *exponent);
}

/* Put 10^exponent / parts into first, advance and scale; false when that is not exact. */
static bool find_scale(struct axis_decimal *d, double last, int exponent, double parts)
{
    if (!exact_power(abs(exponent), &d->scale))
        return false;
    d->divide = exponent < 0 || parts > 1.0;
    if (parts == 1.0)
        return true;
    if (exponent <= 0) {
        const bool exact = is_exact_product(d->scale, parts);
        d->scale *= parts;
        return exact;
    }
    if (last > EXACT_MAX / d->scale)
        return false;
    d->first *= d->scale;
    d->advance *= d->scale;
    d->scale = parts;
    return true;
}

/*
 * With from = f 10^e and to or step = s 10^e: a step axis is (f + i s) 10^e, a linear axis
 * (f q + i (s - f)) 10^e / q with q = length - 1.
 */
static void find_decimal(struct axis_values *v)
{
    struct axis_decimal *d = &v->decimal;
    double first = 0.0;
    double second = 0.0;
    int exponent = 0;
    if (!find_wholes(v, &first, &second, &exponent))
        return;
    const double parts = v->form == AXIS_STEP ? 1.0 : (double)(v->length - 1);
    d->first = first * parts;
    d->advance = v->form == AXIS_STEP ? second : second - first;
    const double last = fabs(d->first) + (double)(v->length - 1) * fabs(d->advance);
    d->is_exact = last <= EXACT_MAX && find_scale(d, last, exponent, parts);
}

/* Reading */

static int check_whole(struct reader *r, const struct param_info *info, const struct node *node,
                       const struct axis_values *v)
{
    if (info->kind != PARAM_INT)
        return 0;
    if (v->form != AXIS_LOG) { /* equal distances: the second value decides */
        const double second = v->length > 1 ? compute_at(v, 1) : v->from;
        if (second == floor(second))
            return 0;
    } else if (v->length <= AXIS_CACHE_MAX) {
        int64_t i = 0;
        while (i < v->length && compute_at(v, i) == floor(compute_at(v, i)))
            i++;
        if (i == v->length)
            return 0;
    }
    return value_fail(r, node, "axis %s: not all values are whole numbers; list them instead",
                      info->name);
}

static int read_end(struct reader *r, const struct param_info *info, const struct node *map,
                    const char *key, double *out)
{
    const struct node *node = node_child(map, key);
    if (node == NULL)
        return value_fail(r, map,
                          "axis %s: '%s' is missing; accepted: [value, …], {from, to, points, "
                          "spacing: linear | log}, {from, to, step}",
                          info->name, key);
    struct param_value value;
    TRY(schema_value(r, info, node, &value));
    if (!value.set)
        return value_fail(r, node, "axis %s: a number is wanted", info->name);
    *out = value.number;
    return 0;
}

static int read_points(struct reader *r, const struct param_info *info, const struct node *map,
                       struct axis_values *v)
{
    static const char *const spacings[] = {"linear", "log", NULL};
    int64_t points = 0;
    const struct node *node = node_child(map, "points");
    TRY(value_int(r, "points", node, 1, AXIS_LENGTH_MAX, &points));
    v->length = points;
    if (v->length == 1 && v->from != v->to)
        return value_fail(r, node, "axis %s: 1 point cannot include both ends; at least 2",
                          info->name);
    const struct node *spacing = node_child(map, "spacing");
    int log = 0;
    if (spacing != NULL)
        TRY(value_word(r, "spacing", spacing, spacings, &log));
    v->form = log != 0 ? AXIS_LOG : AXIS_LINEAR;
    if (!isfinite(v->to - v->from))
        return value_fail(r, map, "axis %s: the ends are too far apart", info->name);
    const bool one_sign = (v->from > 0.0 && v->to > 0.0) || (v->from < 0.0 && v->to < 0.0);
    if (log != 0 && !one_sign)
        return value_fail(r, spacing,
                          "axis %s: spacing log needs both ends above 0 (or both below)",
                          info->name);
    return 0;
}

static int read_step(struct reader *r, const struct param_info *info, const struct node *map,
                     struct axis_values *v)
{
    const struct node *node = node_child(map, "step");
    char unit[64];
    param_unit(info, 0, unit, sizeof unit);
    TRY(value_real(r, info->name, node, unit, &v->step));
    const double steps = (v->to - v->from) / v->step;
    if (v->step == 0.0 || steps < 0.0)
        return value_fail(r, node, "axis %s: step %.60s does not lead from %s to %s",
                          info->name, node->text, node_child(map, "from")->text,
                          node_child(map, "to")->text);
    if (!(steps < (double)AXIS_LENGTH_MAX))
        return value_fail(r, node, "axis %s: more than 10^15 values", info->name);
    v->form = AXIS_STEP;
    v->length = (int64_t)floor(steps + 1e-9) + 1;
    return 0;
}

static int check_keys(struct reader *r, const struct param_info *info, const struct node *map)
{
    static const char *const keys[] = {"from", "to", "points", "step", "spacing", NULL};
    for (const struct node *child = map->first; child != NULL; child = child->next) {
        int i = 0;
        while (keys[i] != NULL && strcmp(keys[i], child->key) != 0)
            i++;
        const char *near = nearest_name(child->key, keys);
        if (keys[i] == NULL)
            return text_fail(
                r->name, child->key_line, child->key_column,
                "axis %s: unknown key '%.60s'; %s%s%saccepted: from, to and points "
                "(and spacing) or step",
                info->name, child->key, near != NULL ? "did you mean '" : "",
                near != NULL ? near : "", near != NULL ? "'? " : "");
    }
    const bool points = node_child(map, "points") != NULL;
    if (points == (node_child(map, "step") != NULL))
        return value_fail(r, map, "axis %s: %s given; exactly one is wanted", info->name,
                          points ? "both points and step are" : "neither points nor step is");
    if (!points && node_child(map, "spacing") != NULL)
        return value_fail(r, map, "axis %s: spacing goes with points, not with step",
                          info->name);
    return 0;
}

static int read_range(struct reader *r, const struct param_info *info, const struct node *map,
                      struct axis_values *v)
{
    if (info->kind != PARAM_REAL && info->kind != PARAM_INT)
        return value_fail(r, map, "axis %s: {from, to} is for numbers; list its values",
                          info->name);
    TRY(check_keys(r, info, map));
    TRY(read_end(r, info, map, "from", &v->from));
    TRY(read_end(r, info, map, "to", &v->to));
    if (node_child(map, "points") != NULL)
        TRY(read_points(r, info, map, v));
    else
        TRY(read_step(r, info, map, v));
    if (v->form != AXIS_LOG && v->length > 1)
        find_decimal(v);
    TRY(check_whole(r, info, map, v));
    if (v->length > AXIS_CACHE_MAX)
        return 0;
    double *value = NULL;
    TRY(MEM_NEW((long)v->length, &value));
    for (int64_t i = 0; i < v->length; i++)
        value[i] = compute_at(v, i);
    v->value = value;
    return 0;
}

static int read_values(struct reader *r, const struct param_info *info, const struct node *list,
                       struct axis_values *v)
{
    if (list->count == 0)
        return value_fail(r, list, "axis %s: the list is empty; at least one value is wanted",
                          info->name);
    v->form = AXIS_VALUES;
    v->length = list->count;
    if (info->kind == PARAM_LIST) {
        TRY(MEM_NEW((long)v->length * PARAM_LIST_MAX, &v->row));
        TRY(MEM_NEW((long)v->length, &v->row_count));
    } else {
        TRY(MEM_NEW((long)v->length, &v->value));
    }
    int64_t i = 0;
    for (const struct node *child = list->first; child != NULL; child = child->next, i++) {
        struct param_value value;
        TRY(schema_value(r, info, child, &value));
        if (info->kind == PARAM_LIST) {
            v->row_count[i] = value.set ? value.count : 0;
            memcpy(v->row + i * PARAM_LIST_MAX, value.list, sizeof value.list);
        } else {
            v->value[i] = value.set ? value.number : (double)NAN; /* NaN: the word none */
        }
    }
    return 0;
}

int axis_values_read(struct reader *r, const struct param_info *info, const struct node *node,
                     struct axis_values *out)
{
    *out = (struct axis_values){.line = node->line, .column = node->column};
    if (node->kind == NODE_SCALAR)
        return value_fail(
            r, node,
            "axis %s: a single value stands here; accepted: [value, …], {from, to, "
            "points, spacing: linear | log}, {from, to, step}",
            info->name);
    if (node->kind == NODE_LIST)
        TRY(read_values(r, info, node, out));
    else
        TRY(read_range(r, info, node, out));
    char written[WRITTEN_SIZE];
    node_write(node, written, sizeof written);
    return mem_copy_text(written, &out->written);
}

void axis_values_clear(struct axis_values *values)
{
    mem_free(values->value);
    mem_free(values->row);
    mem_free(values->row_count);
    mem_free(values->texts);
    mem_free(values->start);
    mem_free(values->written);
    mem_free(values->set);
    *values = (struct axis_values){0};
}

/* Canonical form */

static void write_range(const struct axis_values *v, struct text *out)
{
    char from[NUMBER_SIZE];
    char to[NUMBER_SIZE];
    char step[NUMBER_SIZE];
    number_write(v->from, from);
    number_write(v->to, to);
    number_write(v->step, step);
    if (v->form == AXIS_STEP)
        text_add(out, "{from: %s, to: %s, step: %s}", from, to, step);
    else
        text_add(out, "{from: %s, to: %s, points: %lld, spacing: %s}", from, to,
                 (long long)v->length, v->form == AXIS_LOG ? "log" : "linear");
}

void axis_values_write(const struct axis_values *values, const struct param_info *info,
                       struct text *out)
{
    if (values->form != AXIS_VALUES) {
        write_range(values, out);
        return;
    }
    text_add(out, "[");
    for (int64_t i = 0; i < values->length; i++) {
        struct param_value value;
        axis_values_set(values, i, &value);
        char text[CANONICAL_VALUE_SIZE];
        canonical_value(info, &value, text, sizeof text);
        text_add(out, "%s%s", i > 0 ? ", " : "", text);
    }
    text_add(out, "]");
}

void axis_values_set(const struct axis_values *values, int64_t index, struct param_value *out)
{
    if (values->row != NULL) {
        const double *row = values->row + index * PARAM_LIST_MAX;
        out->count = values->row_count[index];
        out->set = out->count > 0;
        out->number = row[0];
        out->data = NULL;
        memcpy(out->list, row, sizeof out->list);
        return;
    }
    const double number = axis_values_at(values, index);
    out->set = !isnan(number);
    out->data = values->set != NULL ? values->set[index] : NULL;
    out->count = out->set ? 1 : 0;
    out->number = number;
    out->list[0] = number;
}
