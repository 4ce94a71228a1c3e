/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "kernels/models/pulse/earlier.h"

#include <math.h>

#include "kernels/base/status.h"
#include "kernels/models/pulse/constants.h"

#define GRID_TOLERANCE 1e-9              /* of the bin width and of the reference */
#define FWHM_PER_RMS   2.354820045030949 /* 2 sqrt(2 ln 2): a Gaussian */

static bool is_close(double a, double b)
{
    return fabs(a - b) <= GRID_TOLERANCE * fabs(b);
}

int earlier_check(const struct data_set *set, const struct measured_grid *grid)
{
    const struct data_array *omega = data_find(set, "omega");
    const struct data_array *field = data_find(set, "field");
    if (omega == NULL || field == NULL || field->dims != 2 || omega->length[0] < 2)
        FAIL(ERR_ARGUMENT, "input.from: the plane has no field over omega");
    const long n = omega->length[0];
    const double reference = omega->real[0];
    const double window = 2.0 * PULSE_PI / (omega->real[1] - reference);
    if (n == grid->n && is_close(window, grid->window) && is_close(reference, grid->omega0))
        return 0;
    FAIL(ERR_ARGUMENT,
         "input.from: the plane has %ld points over %.10g s around %.10g m, the scan %ld over "
         "%.10g s around %.10g m; the grids must be the same, a plane is not resampled",
         n, window, 2.0 * PULSE_PI * PULSE_C / reference, grid->n, grid->window,
         2.0 * PULSE_PI * PULSE_C / grid->omega0);
}

void earlier_look(const struct data_set *set, const struct measured_grid *grid, double *energy,
                  double *duration)
{
    const double *a = data_find(set, "field")->real;
    const double width = 2.0 * PULSE_PI / grid->window;
    double sum = 0.0;
    double first = 0.0;
    double second = 0.0;
    for (long k = 0; k < grid->n; k++) {
        const long next = (k + 1) % grid->n;
        /* b_k = (-1)^k a_k has its time 0 in the middle of the window */
        const double step_real = -(a[2 * next] + a[2 * k]) / width;
        const double step_imag = -(a[2 * next + 1] + a[2 * k + 1]) / width;
        sum += a[2 * k] * a[2 * k] + a[2 * k + 1] * a[2 * k + 1];
        first += a[2 * k] * step_imag - a[2 * k + 1] * step_real;
        second += step_real * step_real + step_imag * step_imag;
    }
    const double mean = sum > 0.0 ? first / sum : 0.0;
    *energy = grid->window * sum;
    *duration = FWHM_PER_RMS * sqrt(fmax(sum > 0.0 ? second / sum - mean * mean : 0.0, 0.0));
}

void earlier_fill(const struct data_set *set, cplx *out)
{
    const struct data_array *field = data_find(set, "field");
    for (long k = 0; k < field->length[0]; k++)
        out[k] = cplx_make(field->real[2 * k], field->real[2 * k + 1]);
}
