/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "kernels/models/pulse/dispersion_table.h"

#include "kernels/base/mem.h"
#include "kernels/base/status.h"
#include "kernels/models/pulse/constants.h"
#include "kernels/numeric/spline.h"

#define ROWS_MIN 4

const struct data_column dispersion_columns[] = {
    {"omega", "rad s^-1", "Angular frequency", true},
    {"frequency", "Hz", "Frequency", true},
    {"wavelength", "m", "Vacuum wavelength", true},
    {"beta", "rad m^-1", "Propagation constant", false},
    {"index", "1", "Effective index: beta = index omega/c", false},
    {NULL, NULL, NULL, false}};

const char *const dispersion_tables[] = {
    "omega/beta",       "omega/index", "frequency/beta", "frequency/index", "wavelength/beta",
    "wavelength/index", NULL};

/* The spline is that of what is left of beta without the line through the reference with the
 * index of the first row: its values are small, and so is their rounding. */
struct dispersion_table {
    struct spline *spline;
    double omega0;
    double low, high; /* rad/s */
    double beta0, beta1;
};

static double omega_of(const struct data_array *axis, long i)
{
    const double x = axis->real[i];
    if (axis->name[0] == 'w')
        return 2.0 * PULSE_PI * PULSE_C / x;
    return axis->name[0] == 'f' ? 2.0 * PULSE_PI * x : x;
}

static int fill_rows(const struct data_set *set, double *omega, double *beta)
{
    const struct data_array *axis = &set->array[0];
    const struct data_array *values = &set->array[1];
    const bool index = data_find(set, "index") != NULL;
    const bool turned = axis->name[0] == 'w';
    const long rows = axis->length[0];
    for (long i = 0; i < rows; i++) {
        const long to = turned ? rows - 1 - i : i;
        if (!(axis->real[i] > 0.0))
            FAIL(ERR_ARGUMENT, "dispersion.file: %s %g is not above 0", axis->name,
                 axis->real[i]);
        omega[to] = omega_of(axis, i);
        beta[to] = index ? values->real[i] * omega[to] / PULSE_C : values->real[i];
    }
    return 0;
}

/* Value, slope and second derivative of the spline at a frequency inside of the table. */
static void derivatives(const struct dispersion_table *t, double omega, double out[3])
{
    const struct taylor at = spline_taylor(t->spline, taylor_variable(2, omega));
    for (int k = 0; k < 3; k++)
        out[k] = taylor_derivative(&at, k).r;
}

static int make(const struct data_set *set, double omega0, double *omega, double *beta,
                struct dispersion_table *t)
{
    const long rows = set->array[0].length[0];
    double at[3];
    TRY(fill_rows(set, omega, beta));
    t->omega0 = omega0;
    t->low = omega[0];
    t->high = omega[rows - 1];
    if (!(omega0 >= t->low && omega0 <= t->high))
        FAIL(ERR_ARGUMENT,
             "dispersion.file: the reference, %g m, lies outside of the table, %g to %g m",
             2.0 * PULSE_PI * PULSE_C / omega0, 2.0 * PULSE_PI * PULSE_C / t->high,
             2.0 * PULSE_PI * PULSE_C / t->low);
    const double slope = (beta[rows - 1] - beta[0]) / (t->high - t->low);
    const double first = beta[0];
    for (long i = 0; i < rows; i++)
        beta[i] -= first + slope * (omega[i] - t->low);
    TRY(spline_create(omega, beta, rows, &t->spline));
    derivatives(t, omega0, at);
    t->beta0 = at[0];
    t->beta1 = at[1];
    return 0;
}

int dispersion_table_create(const struct data_set *set, double omega0,
                            struct dispersion_table **out)
{
    const long rows = set->array[0].length[0];
    double *omega = NULL;
    double *beta = NULL;
    struct dispersion_table *t = NULL;
    int rc = 0;
    *out = NULL;
    if (rows < ROWS_MIN)
        FAIL(ERR_ARGUMENT, "dispersion.file: the table has %ld %s; at least %d are needed",
             rows, rows == 1 ? "row" : "rows", ROWS_MIN);
    TRY_OR(rc, done, MEM_NEW(rows, &omega));
    TRY_OR(rc, done, MEM_NEW(rows, &beta));
    TRY_OR(rc, done, MEM_NEW(1, &t));
    TRY_OR(rc, done, make(set, omega0, omega, beta, t));
    *out = t;
    t = NULL;
done:
    dispersion_table_destroy(t);
    mem_free(omega);
    mem_free(beta);
    return rc;
}

void dispersion_table_destroy(struct dispersion_table *table)
{
    if (table == NULL)
        return;
    spline_destroy(table->spline);
    mem_free(table);
}

static double nearest(const struct dispersion_table *t, double omega)
{
    return omega < t->low ? t->low : omega > t->high ? t->high : omega;
}

double dispersion_table_phase(const struct dispersion_table *table, double Omega)
{
    const double omega = table->omega0 + Omega;
    const double inside = nearest(table, omega);
    const double beyond = omega - inside;
    double at[3];
    derivatives(table, inside, at);
    return at[0] + beyond * (at[1] + 0.5 * beyond * at[2]) - table->beta0
           - table->beta1 * Omega;
}

double dispersion_table_beta2(const struct dispersion_table *table, double Omega)
{
    double at[3];
    derivatives(table, nearest(table, table->omega0 + Omega), at);
    return at[2];
}

void dispersion_table_range(const struct dispersion_table *table, double *low, double *high)
{
    *low = table->low;
    *high = table->high;
}
