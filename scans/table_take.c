/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "kernels/base/nearest.h"
#include "kernels/base/status.h"
#include "scans/table.h"
#include "scans/text.h"
#include "scans/units.h"

#define TABLE_COLUMNS_MAX 8

/* Columns of a table that go together: indices into the table and into what is accepted. */
struct choice {
    const char *text; /* "time/intensity/phase" */
    int count;
    int column[TABLE_COLUMNS_MAX];
    const struct data_column *info[TABLE_COLUMNS_MAX];
};

static int find_column(const struct data_table *table, const char *name, size_t length)
{
    for (int i = 0; i < table->columns; i++)
        if (strlen(table->name[i]) == length && strncmp(table->name[i], name, length) == 0)
            return i;
    return -1;
}

static const struct data_column *find_info(const struct data_info *info, const char *name,
                                           size_t length)
{
    for (const struct data_column *c = info->columns; c->name != NULL; c++)
        if (strlen(c->name) == length && strncmp(c->name, name, length) == 0)
            return c;
    return NULL;
}

/* The columns of one accepted combination; false when the table lacks one. */
static bool match(const struct data_table *table, const struct data_info *info,
                  const char *text, struct choice *out)
{
    *out = (struct choice){.text = text};
    while (*text != '\0' && out->count < TABLE_COLUMNS_MAX) {
        const size_t length = strcspn(text, "/");
        out->column[out->count] = find_column(table, text, length);
        out->info[out->count] = find_info(info, text, length);
        if (out->column[out->count] < 0 || out->info[out->count] == NULL)
            return false;
        out->count++;
        text += length + (text[length] == '/');
    }
    return true;
}

/* NOLINTNEXTLINE(readability-non-const-parameter): written through out.bytes */
static void list_columns(const struct data_table *table, char *text, size_t size)
{
    struct text out = {.bytes = text, .size = size};
    for (int i = 0; i < table->columns; i++)
        text_add(&out, "%s%s", i > 0 ? ", " : "", table->name[i]);
    if (table->columns == 0)
        text_add(&out, "none");
    text_end(&out);
}

static int fail_columns(const struct data_table *table, const struct data_info *info)
{
    char there[300];
    char accepted[500];
    list_columns(table, there, sizeof there);
    nearest_list(info->tables, accepted, sizeof accepted);
    return text_fail(table->file, 0, 0, "the %s are %s; accepted, by these names: %s",
                     table->line != NULL ? "columns" : "datasets that could be columns", there,
                     accepted);
}

/* The longest combination that the table has; two of one length that differ are ambiguous. */
static int choose(const struct data_table *table, const struct data_info *info,
                  const char *columns, struct choice *out)
{
    struct choice one;
    const char *rival = NULL;
    *out = (struct choice){0};
    for (int i = 0; info->tables[i] != NULL; i++) {
        if ((columns != NULL && strcmp(columns, info->tables[i]) != 0)
            || !match(table, info, info->tables[i], &one) || one.count < out->count)
            continue;
        rival = one.count == out->count ? info->tables[i] : NULL;
        if (rival == NULL)
            *out = one;
    }
    if (out->count == 0)
        return fail_columns(table, info);
    if (rival != NULL)
        return text_fail(table->file, 0, 0,
                         "the table has %s and %s; name the columns that count", out->text,
                         rival);
    return 0;
}

/* Two columns of one name: which one counts nobody can know. */
static int check_names(const struct data_table *table, const struct choice *c)
{
    for (int i = 0; i < c->count; i++) {
        const char *name = c->info[i]->name;
        int count = 0;
        for (int k = 0; k < table->columns; k++)
            count += strcmp(table->name[k], name) == 0;
        if (count > 1)
            return text_fail(table->file, 0, 0, "%d columns are called %s; %s needs one", count,
                             name, c->text);
    }
    return 0;
}

/* "line 17" of a text, "row 3" of a dataset. */
static int fail_row(const struct data_table *table, const struct choice *c, int which, long row,
                    const char *what)
{
    const char *name = c->info[which]->name;
    if (table->line != NULL)
        return text_fail(table->file, table->line[row], 1, "column %s: %s", name, what);
    return text_fail(table->file, 0, 0, "dataset %s, row %ld: %s", name, row, what);
}

/* Units */

static int fail_unit(const struct data_table *table, const struct data_column *info,
                     const char *why)
{
    return text_fail(table->file, 0, 0, "%s %s: %s; a unit of %s is wanted",
                     table->line != NULL ? "column" : "dataset", info->name, why, info->unit);
}

static int find_factor(struct units *units, const struct data_table *table, int column,
                       const struct data_column *info, double *factor)
{
    char why[UNITS_WHY_SIZE] = "";
    char text[DATA_NAME_SIZE + 8];
    const char *unit = table->unit[column];
    *factor = 1.0;
    if (strcmp(info->unit, "1") == 0 && (unit[0] == '\0' || strcmp(unit, "1") == 0))
        return 0;
    if (unit[0] == '\0')
        return fail_unit(table, info, "has no unit");
    snprintf(text, sizeof text, "1 %s", unit);
    int rc = units_value(units, text, info->unit, factor, why);
    double zero = 0.0;
    snprintf(text, sizeof text, "0 %s", unit);
    if (rc == 0)
        rc = units_value(units, text, info->unit, &zero, why);
    if (rc == 0 && (zero != 0.0 || *factor == 0.0)) {
        snprintf(why, sizeof why, "the zero of %s is not that of %s", unit, info->unit);
        rc = ERR_PARSE;
    }
    return rc == ERR_PARSE ? fail_unit(table, info, why) : rc;
}

/* Values */

static int check_axis(const struct data_table *table, const struct choice *c, int which,
                      const double *x)
{
    const bool falls = table->rows > 1 && x[1] < x[0];
    for (long i = 1; i < table->rows; i++)
        if (falls ? !(x[i] < x[i - 1]) : !(x[i] > x[i - 1])) {
            char what[160];
            snprintf(what, sizeof what,
                     "%.10g follows %.10g; the axis must strictly %s from row to row", x[i],
                     x[i - 1], falls ? "fall" : "rise");
            return fail_row(table, c, which, i, what);
        }
    return 0;
}

static int take_column(const struct data_table *table, const struct choice *c, int which,
                       double factor, bool turn, struct data_set *out)
{
    const double *from = table->values + c->column[which] * table->room;
    const long rows = table->rows;
    double *to = NULL;
    TRY(data_add_real(out, c->info[which]->name, c->info[which]->unit, 1, &rows, &to));
    for (long i = 0; i < rows; i++) {
        if (!isfinite(from[i] * factor))
            return fail_row(table, c, which, i, "a finite number is wanted");
        to[turn ? rows - 1 - i : i] = from[i] * factor + 0.0; /* -0 is 0 */
    }
    return 0;
}

int table_take(const struct data_table *table, const struct data_info *info,
               const char *columns, struct data_set *out)
{
    struct choice c;
    struct units *units = NULL;
    bool turn = false;
    int rc = 0;
    TRY(choose(table, info, columns, &c));
    TRY(check_names(table, &c));
    TRY(units_create(&units));
    for (int i = 0; i < c.count; i++) {
        const double *values = table->values + c.column[i] * table->room;
        double factor = 1.0;
        if (c.info[i]->is_axis) {
            TRY_OR(rc, done, check_axis(table, &c, i, values));
            turn = turn || (table->rows > 1 && values[1] < values[0]);
        }
        TRY_OR(rc, done, find_factor(units, table, c.column[i], c.info[i], &factor));
        TRY_OR(rc, done, take_column(table, &c, i, factor, turn, out));
    }
done:
    units_destroy(units);
    return rc;
}
