/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "kernels/models/pulse/band_table.h"

#include <math.h>

#include "kernels/base/mem.h"
#include "kernels/base/status.h"
#include "kernels/contract/bounds.h"
#include "kernels/models/pulse/constants.h"
#include "kernels/numeric/spline.h"

#define ROWS_MIN 4

/* Places at which tables are compared; how much a halved distance of the rows gains: a cubic's
 * fourth power where the table is smooth, little where it is rough. */
#define ERROR_SAMPLES 2000
#define FALL_LEAST    2.0
#define FALL_MOST     16.0

/* Ends of a band that agree to this share are the same. */
#define END_ROUNDING bound(BOUND_band_end)

#define AXES                                                                                   \
    {"omega", "rad s^-1", "Angular frequency", true}, {"frequency", "Hz", "Frequency", true},  \
    {                                                                                          \
        "wavelength", "m", "Vacuum wavelength", true                                           \
    }

const struct data_column band_table_index_columns[] = {
    AXES,
    {"index", "1", "Real part of n_eff; at the first position when there are several", false},
    {"index2", "1", "The same at the second position", false},
    {"index3", "1", "At the third", false},
    {"index4", "1", "At the fourth", false},
    {NULL, NULL, NULL, false}};

const char *const band_table_indices[] = {"omega/index",
                                          "omega/index/index2",
                                          "omega/index/index2/index3",
                                          "omega/index/index2/index3/index4",
                                          "frequency/index",
                                          "frequency/index/index2",
                                          "frequency/index/index2/index3",
                                          "frequency/index/index2/index3/index4",
                                          "wavelength/index",
                                          "wavelength/index/index2",
                                          "wavelength/index/index2/index3",
                                          "wavelength/index/index2/index3/index4",
                                          NULL};

const struct data_column band_table_loss_columns[] = {
    AXES, {"loss", "m^-1", "Power loss alpha", false}, {NULL, NULL, NULL, false}};

const char *const band_table_losses[] = {"omega/loss", "frequency/loss", "wavelength/loss",
                                         NULL};

static double omega_of(const struct data_array *axis, long i)
{
    const double x = axis->real[i];
    if (axis->name[0] == 'w')
        return 2.0 * PULSE_PI * PULSE_C / x;
    return axis->name[0] == 'f' ? 2.0 * PULSE_PI * x : x;
}

/* Rows in ascending order of omega. */
static int fill_column(const struct data_set *set, int column, const char *name, double shift,
                       double *omega, double *value)
{
    const struct data_array *const axis = &set->array[0];
    const struct data_array *const from = &set->array[column];
    const long rows = axis->length[0];
    for (long i = 0; i < rows; i++) {
        const long to = axis->name[0] == 'w' ? rows - 1 - i : i;
        if (!(axis->real[i] > 0.0))
            FAIL(ERR_ARGUMENT, "%s: %s %g %s in row %ld is not above 0", name, axis->name,
                 axis->real[i], axis->unit, i + 1);
        if (!(from->real[i] >= 0.0))
            FAIL(ERR_ARGUMENT, "%s: %s %g at %s %g %s, row %ld, is below 0", name, from->name,
                 from->real[i], axis->name, axis->real[i], axis->unit, i + 1);
        omega[to] = omega_of(axis, i);
        value[to] = from->real[i] - shift;
    }
    return 0;
}

/* Rows left of a table when each `stride`-th and the last are kept. */
static long rows_left(long rows, long stride)
{
    return (rows - 2) / stride + 2;
}

static void thin(double *x, long rows, long stride)
{
    const long left = rows_left(rows, stride);
    for (long i = 1; i < left; i++)
        x[i] = x[i == left - 1 ? rows - 1 : i * stride];
}

/* The table of each `stride`-th row and the last one. */
static int create_thinned(const struct data_set *set, const char *name, double shift,
                          long stride, struct band_table *out)
{
    double *omega = NULL;
    double *value = NULL;
    int rc = 0;
    *out = (struct band_table){0};
    const long rows = set->array[0].length[0];
    if (rows < ROWS_MIN)
        FAIL(ERR_ARGUMENT, "%s: %ld %s; at least %d are needed", name, rows,
             rows == 1 ? "row" : "rows", ROWS_MIN);
    TRY(MEM_NEW(rows, &omega));
    TRY_OR(rc, done, MEM_NEW(rows, &value));
    for (int j = 1; j < set->arrays; j++) {
        TRY_OR(rc, done, fill_column(set, j, name, shift, omega, value));
        thin(omega, rows, stride);
        thin(value, rows, stride);
        TRY_OR(rc, done,
               spline_create(omega, value, rows_left(rows, stride), &out->column[j - 1]));
        out->columns = j;
    }
    out->low = omega[0];
    out->high = omega[rows_left(rows, stride) - 1];
done:
    mem_free(omega);
    mem_free(value);
    if (rc != 0)
        band_table_clear(out);
    return rc;
}

int band_table_create(const struct data_set *set, const char *name, double shift,
                      struct band_table *out)
{
    return create_thinned(set, name, shift, 1, out);
}

/* max |a - b| omega^power over a band, of all columns. */
static double difference(const struct band_table *a, const struct band_table *b, double low,
                         double high, int power)
{
    double worst = 0.0;
    for (long i = 0; i <= ERROR_SAMPLES; i++) {
        const double omega = low + (high - low) * (double)i / ERROR_SAMPLES;
        for (int j = 0; j < a->columns; j++) {
            const double one = spline_value(a->column[j], omega);
            const double other = spline_value(b->column[j], omega);
            worst = fmax(worst, fabs(one - other) * (power == 0 ? 1.0 : omega));
        }
    }
    return worst;
}

int band_table_error(const struct data_set *set, double low, double high, int power,
                     double *out)
{
    struct band_table table[3] = {{0}};
    double apart[2] = {0.0, 0.0};
    const long rows = set->array[0].length[0];
    int made = 0;
    int rc = 0;
    *out = (double)INFINITY;
    while (made < 3 && rows_left(rows, 1L << made) >= ROWS_MIN) {
        TRY_OR(rc, done, create_thinned(set, "table", 0.0, 1L << made, &table[made]));
        if (made > 0)
            apart[made - 1] = difference(&table[made - 1], &table[made], low, high, power);
        made++;
    }
    /* An error that falls by r from one table to the next is 1/(r - 1) of their difference. */
    const double falls = apart[0] > 0.0 ? apart[1] / apart[0] : FALL_MOST;
    if (made == 3)
        *out = apart[0] / (fmin(fmax(falls, FALL_LEAST), FALL_MOST) - 1.0);
    else if (made == 2)
        *out = apart[0];
done:
    for (int i = 0; i < 3; i++)
        band_table_clear(&table[i]);
    return rc;
}

void band_table_clear(struct band_table *table)
{
    for (int j = 0; j < BAND_TABLE_COLUMNS; j++)
        spline_destroy(table->column[j]);
    *table = (struct band_table){0};
}

int band_table_check(const struct band_table *table, const char *name, double low, double high)
{
    const double turn = 2.0 * PULSE_PI * PULSE_C;
    if (low < table->low * (1.0 - END_ROUNDING) || high > table->high * (1.0 + END_ROUNDING))
        FAIL(ERR_ARGUMENT,
             "%s: the table holds %.6g m to %.6g m; the band with its edges needs %.6g m to "
             "%.6g m",
             name, turn / table->high, turn / table->low, turn / high, turn / low);
    return 0;
}

struct taylor band_table_read(const struct band_table *table, int column, double omega,
                              int order)
{
    return spline_taylor(table->column[column], taylor_variable(order, omega));
}
