/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "kernels/base/nearest.h"
#include "kernels/base/status.h"
#include "scans/internal.h"
#include "scans/text.h"

int value_fail(const struct reader *r, const struct node *node, const char *format, ...)
{
    char message[1600];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    return text_fail(r->name, node->line, node->column, "%s", message);
}

bool value_is(const struct node *node, const char *word)
{
    return node->kind == NODE_SCALAR && strcmp(node->text, word) == 0;
}

int value_text(struct reader *r, const char *where, const struct node *node, const char *what,
               const char **out)
{
    if (node->kind != NODE_SCALAR)
        return value_fail(r, node, "%s: %s stands here, %s is wanted", where,
                          node_kind_name(node), what);
    if (node->text[0] == '\0')
        return value_fail(r, node, "%s: no value is given, %s is wanted", where, what);
    *out = node->text;
    return 0;
}

int value_real_or(struct reader *r, const char *where, const struct node *node,
                  const char *unit, const char *words, double *out)
{
    char what[96];
    if (strcmp(unit, "1") == 0)
        snprintf(what, sizeof what, "a number%s", words);
    else
        snprintf(what, sizeof what, "a number with a unit (bare: %s)%s", unit, words);
    const char *text = "";
    TRY(value_text(r, where, node, what, &text));
    char why[UNITS_WHY_SIZE] = "";
    const int rc = units_value(r->units, text, unit, out, why);
    if (rc == ERR_PARSE)
        return value_fail(r, node, "%s: %s; %s is wanted", where, why, what);
    return rc;
}

int value_real(struct reader *r, const char *where, const struct node *node, const char *unit,
               double *out)
{
    return value_real_or(r, where, node, unit, "", out);
}

int value_int(struct reader *r, const char *where, const struct node *node, int64_t minimum,
              int64_t maximum, int64_t *out)
{
    double number = 0.0;
    TRY(value_real(r, where, node, "1", &number));
    if (number != floor(number) || fabs(number) > 9007199254740992.0)
        return value_fail(r, node, "%s: %s is not a whole number up to 2^53", where,
                          node->text);
    const int64_t value = (int64_t)number;
    if (value < minimum || value > maximum)
        return value_fail(r, node, "%s: %s is out of range; accepted: %lld to %lld", where,
                          node->text, (long long)minimum, (long long)maximum);
    *out = value;
    return 0;
}

int value_bool(struct reader *r, const char *where, const struct node *node, bool *out)
{
    const char *text = "";
    TRY(value_text(r, where, node, "true or false", &text));
    if (strcmp(text, "true") != 0 && strcmp(text, "false") != 0)
        return value_fail(r, node, "%s: '%.60s' is not true or false", where, text);
    *out = strcmp(text, "true") == 0;
    return 0;
}

int value_word(struct reader *r, const char *where, const struct node *node,
               const char *const *words, int *out)
{
    char list[512];
    nearest_list(words, list, sizeof list);
    char what[560];
    snprintf(what, sizeof what, "one of: %s", list);
    const char *text = "";
    TRY(value_text(r, where, node, what, &text));
    for (int i = 0; words[i] != NULL; i++)
        if (strcmp(words[i], text) == 0) {
            *out = i;
            return 0;
        }
    const char *nearest = nearest_name(text, words);
    if (nearest != NULL)
        return value_fail(r, node,
                          "%s: unknown choice '%.60s'; did you mean '%s'? accepted: %s", where,
                          text, nearest, list);
    return value_fail(r, node, "%s: unknown choice '%.60s'; accepted: %s", where, text, list);
}
