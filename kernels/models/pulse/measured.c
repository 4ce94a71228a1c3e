/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "kernels/models/pulse/measured.h"

#include <math.h>
#include <stdio.h>

#include "kernels/base/mem.h"
#include "kernels/base/status.h"
#include "kernels/models/pulse/constants.h"
#include "kernels/models/pulse/grid.h"
#include "kernels/numeric/spline.h"

#define ROWS_MIN     4
#define SIGNIFICANT  1e-3 /* of the peak: below, a measured phase is noise */
#define OUTSIDE_MAX  0.5
#define FWHM_PER_RMS 2.354820045030949 /* 2 sqrt(2 ln 2): a Gaussian */

const struct data_column measured_columns[] = {
    {"time", "s", "Time", true},
    {"frequency", "Hz", "Frequency", true},
    {"omega", "rad s^-1", "Angular frequency", true},
    {"wavelength", "m", "Vacuum wavelength", true},
    {"intensity", "1", "Intensity over time, relative", false},
    {"spectral_power", "1", "Spectral power per unit of the axis, relative", false},
    {"phase", "rad", "Phase, +phase over time, -phase over frequency", false},
    {"real", "1", "Real part of the amplitude, relative", false},
    {"imag", "1", "Imaginary part of the amplitude, relative", false},
    {NULL, NULL, NULL, false}};

const char *const measured_tables[] = {"time/intensity",
                                       "time/intensity/phase",
                                       "time/real/imag",
                                       "frequency/spectral_power",
                                       "frequency/spectral_power/phase",
                                       "frequency/real/imag",
                                       "omega/spectral_power",
                                       "omega/spectral_power/phase",
                                       "omega/real/imag",
                                       "wavelength/spectral_power",
                                       "wavelength/spectral_power/phase",
                                       NULL};

/* A pulse as amplitudes over time or angular frequency, ascending. */
struct amplitudes {
    long rows;
    bool spectral;
    double *x;    /* [rows] s or rad/s */
    double *real; /* [rows] */
    double *imag; /* [rows] */
};

bool measured_is_spectral(const struct data_set *set)
{
    return data_find(set, "time") == NULL;
}

static void amplitudes_clear(struct amplitudes *a)
{
    mem_free(a->x);
    mem_free(a->real);
    mem_free(a->imag);
}

/* A value of an optional column. */
static double value_or_zero(const struct data_array *array, long i)
{
    return array != NULL ? array->real[i] : 0.0;
}

/* Row i of the table as row `to`; `power` scales what is given per unit of wavelength. */
static void take_row(const struct data_set *set, struct amplitudes *a, long i, long to,
                     double per_unit)
{
    const struct data_array *real = data_find(set, "real");
    const struct data_array *phase = data_find(set, "phase");
    if (real != NULL) {
        a->real[to] = real->real[i];
        a->imag[to] = data_find(set, "imag")->real[i];
        return;
    }
    const struct data_array *power =
        data_find(set, a->spectral ? "spectral_power" : "intensity");
    const double size = sqrt(fmax(power->real[i], 0.0) * per_unit);
    const double angle = (a->spectral ? -1.0 : 1.0) * value_or_zero(phase, i);
    a->real[to] = size * cos(angle);
    a->imag[to] = size * sin(angle);
}

static int amplitudes_make(const struct data_set *set, struct amplitudes *a)
{
    const struct data_array *axis = &set->array[0];
    const bool wavelength = data_find(set, "wavelength") != NULL;
    const double factor = data_find(set, "frequency") != NULL ? 2.0 * PULSE_PI : 1.0;
    *a = (struct amplitudes){.rows = axis->length[0], .spectral = measured_is_spectral(set)};
    if (a->rows < ROWS_MIN)
        FAIL(ERR_ARGUMENT, "pulse.file: the table has %ld %s; at least %d are needed", a->rows,
             a->rows == 1 ? "row" : "rows", ROWS_MIN);
    TRY(MEM_NEW(a->rows, &a->x));
    TRY(MEM_NEW(a->rows, &a->real));
    TRY(MEM_NEW(a->rows, &a->imag));
    for (long i = 0; i < a->rows; i++) {
        const double x = axis->real[i];
        const long to = wavelength ? a->rows - 1 - i : i;
        if (a->spectral && !(x > 0.0))
            FAIL(ERR_ARGUMENT, "pulse.file: %s %g is not above 0", axis->name, x);
        a->x[to] = wavelength ? 2.0 * PULSE_PI * PULSE_C / x : factor * x;
        /* power per wavelength times d lambda / d omega, up to a constant */
        take_row(set, a, i, to, wavelength ? x * x : 1.0);
    }
    return 0;
}

static double abs2_at(const struct amplitudes *a, long i)
{
    return a->real[i] * a->real[i] + a->imag[i] * a->imag[i];
}

/* Figures */

static double find_peak(const struct amplitudes *a)
{
    double peak = 0.0;
    for (long i = 0; i < a->rows; i++)
        peak = fmax(peak, abs2_at(a, i));
    return peak;
}

/* Where the intensity passes through a level between two rows. */
static double crossing(const struct amplitudes *a, long i, double level)
{
    const double left = abs2_at(a, i);
    const double right = abs2_at(a, i + 1);
    return a->x[i] + (a->x[i + 1] - a->x[i]) * (level - left) / (right - left);
}

static double half_width(const struct amplitudes *a, double peak)
{
    double first = a->x[0];
    double last = a->x[a->rows - 1];
    long i = 0;
    while (i < a->rows && abs2_at(a, i) < peak / 2.0)
        i++;
    if (i > 0 && i < a->rows)
        first = crossing(a, i - 1, peak / 2.0);
    for (i = a->rows - 1; i > 0 && abs2_at(a, i) < peak / 2.0;)
        i--;
    if (i < a->rows - 1)
        last = crossing(a, i, peak / 2.0);
    return last - first;
}

/* rms duration: <t^2> = integral |da/domega|^2 over integral |a|^2, <t> from Im a* da/domega.
 */
static double rms_duration(const struct amplitudes *a)
{
    double energy = 0.0;
    double first = 0.0;
    double second = 0.0;
    for (long i = 0; i + 1 < a->rows; i++) {
        const double step = a->x[i + 1] - a->x[i];
        const double slope_real = (a->real[i + 1] - a->real[i]) / step;
        const double slope_imag = (a->imag[i + 1] - a->imag[i]) / step;
        const double real = 0.5 * (a->real[i + 1] + a->real[i]);
        const double imag = 0.5 * (a->imag[i + 1] + a->imag[i]);
        energy += step * 0.5 * (abs2_at(a, i) + abs2_at(a, i + 1));
        first += step * (real * slope_imag - imag * slope_real);
        second += step * (slope_real * slope_real + slope_imag * slope_imag);
    }
    const double mean = first / energy;
    return sqrt(fmax(second / energy - mean * mean, 0.0));
}

static double largest_turn(const struct amplitudes *a, double peak)
{
    double turn = 0.0;
    for (long i = 0; i + 1 < a->rows; i++) {
        if (fmin(abs2_at(a, i), abs2_at(a, i + 1)) < SIGNIFICANT * peak)
            continue;
        const double real = a->real[i] * a->real[i + 1] + a->imag[i] * a->imag[i + 1];
        const double imag = a->real[i] * a->imag[i + 1] - a->imag[i] * a->real[i + 1];
        turn = fmax(turn, fabs(atan2(imag, real)));
    }
    return turn;
}

/* What is looked at again and again, once: the figures, and the energy up to each row. */
static int keep_figures(const struct amplitudes *a, double peak, struct data_set *set)
{
    const long three = 3;
    const long pieces = a->rows - 1;
    double *figures;
    double *middle;
    double *energy;
    TRY(data_add_real(set, "figures", "1", 1, &three, &figures));
    TRY(data_add_real(set, "middle", "1", 1, &pieces, &middle));
    TRY(data_add_real(set, "energy", "1", 1, &a->rows, &energy));
    figures[0] = a->spectral ? FWHM_PER_RMS * rms_duration(a) : half_width(a, peak);
    figures[1] = fmax(abs2_at(a, 0), abs2_at(a, a->rows - 1)) / peak;
    figures[2] = largest_turn(a, peak);
    for (long i = 0; i < pieces; i++) {
        const double step = a->x[i + 1] - a->x[i];
        middle[i] = a->x[i] + 0.5 * step;
        energy[i + 1] = energy[i] + 0.5 * (abs2_at(a, i) + abs2_at(a, i + 1)) * step;
    }
    return 0;
}

/* Derived values, whatever their cost in memory; measured_prepare judges that. */
static int add_figures(struct data_set *set)
{
    struct amplitudes a;
    int rc = amplitudes_make(set, &a);
    const double peak = rc == 0 ? find_peak(&a) : 0.0;
    if (rc == 0 && !(peak > 0.0))
        rc = status_fail(ERR_ARGUMENT, "pulse.file: no row of the table is above 0");
    if (rc == 0)
        rc = keep_figures(&a, peak, set);
    amplitudes_clear(&a);
    return rc;
}

/* Free the arrays of a set from one on. */
static void drop_arrays(struct data_set *set, int from)
{
    while (set->arrays > from) {
        set->arrays--;
        mem_free(set->array[set->arrays].real);
    }
}

int measured_prepare(struct data_set *set)
{
    char why[200];
    const int arrays = set->arrays;
    if (data_bytes(set) > DATA_BYTES_MAX / 4)
        return 0;
    const struct status_saved saved = status_capture_save();
    status_capture(why, sizeof why);
    const int rc = add_figures(set);
    status_capture_restore(saved);
    if (rc != 0)
        drop_arrays(set, arrays);
    return rc == ERR_MEMORY ? rc : 0; /* what is wrong with it is told where it is used */
}

/* The first of n ascending numbers that is above a limit, or not below it. */
static long find_first(const double *x, long n, double limit, bool above)
{
    long low = 0;
    while (n > 0) {
        const long half = n / 2;
        const bool before = above ? x[low + half] <= limit : x[low + half] < limit;
        low += before ? half + 1 : 0;
        n = before ? n - half - 1 : half;
    }
    return low;
}

/* Share of the energy between rows whose middle lies outside of [low, high]. */
static double share_outside(const struct data_set *set, double low, double high)
{
    const struct data_array *middle = data_find(set, "middle");
    const double *energy = data_find(set, "energy")->real;
    const long pieces = middle->length[0];
    const long first = find_first(middle->real, pieces, low, false);
    const long end = find_first(middle->real, pieces, high, true);
    const double inside = end > first ? energy[end] - energy[first] : 0.0;
    return fmax(1.0 - inside / energy[pieces], 0.0);
}

static int look(const struct data_set *set, const struct measured_grid *grid,
                struct measured_figures *out)
{
    const double *figures = data_find(set, "figures")->real;
    const bool spectral = measured_is_spectral(set);
    const double half =
        spectral ? PULSE_PI * (double)grid->n / grid->window : grid->window / 2.0;
    const double middle = spectral ? grid->omega0 : 0.0;
    *out =
        (struct measured_figures){.duration = figures[0],
                                  .outside = share_outside(set, middle - half, middle + half),
                                  .edge = figures[1],
                                  .turn = figures[2]};
    if (out->outside > OUTSIDE_MAX)
        FAIL(ERR_ARGUMENT,
             "pulse.file: %.0f %% of the pulse lie outside of the %s, %g to %g %s",
             100.0 * out->outside, spectral ? "band" : "window", middle - half, middle + half,
             spectral ? "rad/s" : "s");
    return 0;
}

int measured_look(const struct data_set *set, const struct measured_grid *grid,
                  struct measured_figures *out)
{
    *out = (struct measured_figures){0};
    if (data_find(set, "figures") != NULL)
        return look(set, grid, out);
    struct data_set own = *set; /* its arrays are borrowed, those that are added are not */
    int rc = add_figures(&own);
    if (rc == 0)
        rc = look(&own, grid, out);
    drop_arrays(&own, set->arrays);
    return rc;
}

/* Filling */

static cplx amplitude_at(const struct amplitudes *a, const struct spline *real,
                         const struct spline *imag, double x)
{
    if (x < a->x[0] || x > a->x[a->rows - 1])
        return cplx_make(0.0, 0.0);
    return cplx_make(spline_value(real, x), spline_value(imag, x));
}

/* Time 0 is the middle of the window: in bin k the factor exp(-i Omega_k T/2) = (-1)^k. */
static void fill(const struct amplitudes *a, const struct spline *real,
                 const struct spline *imag, const struct measured_grid *grid, cplx *out)
{
    const double dt = grid->window / (double)grid->n;
    const long half = grid->n / 2;
    for (long i = 0; i < grid->n; i++) {
        const long bin = pulse_bin(i, grid->n);
        const double x = a->spectral
                             ? grid->omega0 + 2.0 * PULSE_PI * (double)bin / grid->window
                             : dt * (double)(i - half);
        const double sign = a->spectral && bin % 2 != 0 ? -1.0 : 1.0;
        out[i] = cplx_scale(sign, amplitude_at(a, real, imag, x));
    }
}

int measured_fill(const struct data_set *set, const struct measured_grid *grid, cplx *out)
{
    struct amplitudes a;
    struct spline *real = NULL;
    struct spline *imag = NULL;
    int rc = 0;
    TRY_OR(rc, done, amplitudes_make(set, &a));
    TRY_OR(rc, done, spline_create(a.x, a.real, a.rows, &real));
    TRY_OR(rc, done, spline_create(a.x, a.imag, a.rows, &imag));
    fill(&a, real, imag, grid, out);
done:
    spline_destroy(real);
    spline_destroy(imag);
    amplitudes_clear(&a);
    return rc;
}
