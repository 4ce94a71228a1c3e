/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "kernels/models/pulse/band_table.h"

#include "kernels/base/mem.h"
#include "kernels/base/status.h"
#include "kernels/contract/bounds.h"
#include "kernels/models/pulse/constants.h"
#include "kernels/numeric/spline.h"

#define ROWS_MIN 4

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
            FAIL(ERR_ARGUMENT, "%s: %s %g is not above 0", name, axis->name, axis->real[i]);
        if (!(from->real[i] >= 0.0))
            FAIL(ERR_ARGUMENT, "%s: %s %g at %s %g is below 0", name, from->name, from->real[i],
                 axis->name, axis->real[i]);
        omega[to] = omega_of(axis, i);
        value[to] = from->real[i] - shift;
    }
    return 0;
}

int band_table_create(const struct data_set *set, const char *name, double shift,
                      struct band_table *out)
{
    double *omega = NULL;
    double *value = NULL;
    int rc = 0;
    *out = (struct band_table){0};
    const long rows = set->array[0].length[0];
    if (rows < ROWS_MIN)
        FAIL(ERR_ARGUMENT, "%s: %ld rows; at least %d are needed", name, rows, ROWS_MIN);
    TRY(MEM_NEW(rows, &omega));
    TRY_OR(rc, done, MEM_NEW(rows, &value));
    for (int j = 1; j < set->arrays; j++) {
        TRY_OR(rc, done, fill_column(set, j, name, shift, omega, value));
        TRY_OR(rc, done, spline_create(omega, value, rows, &out->column[j - 1]));
        out->columns = j;
    }
    out->low = omega[0];
    out->high = omega[rows - 1];
done:
    mem_free(omega);
    mem_free(value);
    if (rc != 0)
        band_table_clear(out);
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
