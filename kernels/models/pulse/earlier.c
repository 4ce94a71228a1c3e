/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "kernels/models/pulse/earlier.h"

#include <math.h>

#include "kernels/base/status.h"
#include "kernels/contract/bounds.h"
#include "kernels/models/pulse/constants.h"
#include "kernels/models/pulse/grid.h"

#define GRID_TOLERANCE bound(BOUND_same_grid)
#define CUT_MAX        1e-3              /* of the energy */
#define FWHM_PER_RMS   2.354820045030949 /* 2 sqrt(2 ln 2): a Gaussian */

static bool is_close(double a, double b)
{
    return fabs(a - b) <= GRID_TOLERANCE * fabs(b);
}

/* Amplitude of a signed bin; 0 beyond the plane's band. */
static cplx amplitude(const struct data_array *field, long bin)
{
    const long n = field->length[0];
    const long k = bin >= 0 ? bin : bin + n;
    if (bin < -(n / 2) || bin >= n - n / 2)
        return cplx_make(0.0, 0.0);
    return cplx_make(field->real[2 * k], field->real[2 * k + 1]);
}

/* Share of the energy in bins that n points do not hold. */
static double share_cut(const struct data_array *field, long n)
{
    const long there = field->length[0];
    double whole = 0.0;
    double outside = 0.0;
    for (long k = 0; k < there; k++) {
        const long bin = pulse_bin(k, there);
        const double part = cplx_abs2(amplitude(field, bin));
        whole += part;
        outside += bin < -(n / 2) || bin >= n - n / 2 ? part : 0.0;
    }
    return whole > 0.0 ? outside / whole : 0.0;
}

int earlier_check(const struct data_set *set, const struct measured_grid *grid, double *cut)
{
    const struct data_array *omega = data_find(set, "omega");
    const struct data_array *field = data_find(set, "field");
    if (omega == NULL || field == NULL || field->dims != 2 || omega->length[0] < 2)
        FAIL(ERR_ARGUMENT, "input.from: the plane has no field over omega");
    const double reference = omega->real[0];
    const double window = 2.0 * PULSE_PI / (omega->real[1] - reference);
    if (!is_close(window, grid->window) || !is_close(reference, grid->omega0))
        FAIL(ERR_ARGUMENT,
             "input.from: the plane has a window of %.10g s around %.10g m, the scan %.10g s "
             "around %.10g m; both must be the same, only the number of points may differ",
             window, 2.0 * PULSE_PI * PULSE_C / reference, grid->window,
             2.0 * PULSE_PI * PULSE_C / grid->omega0);
    *cut = share_cut(field, grid->n);
    if (*cut > CUT_MAX)
        FAIL(ERR_ARGUMENT,
             "input.from: the plane has %ld points, the scan %ld, whose band cuts off %.2g of "
             "the energy; accepted: at most %g",
             omega->length[0], grid->n, *cut, CUT_MAX);
    return 0;
}

void earlier_look(const struct data_set *set, const struct measured_grid *grid, double *energy,
                  double *duration)
{
    const struct data_array *field = data_find(set, "field");
    const double width = 2.0 * PULSE_PI / grid->window;
    double sum = 0.0;
    double first = 0.0;
    double second = 0.0;
    for (long bin = -(grid->n / 2); bin < grid->n / 2; bin++) {
        const cplx a = amplitude(field, bin);
        /* (-1)^k a_k has its time 0 in the middle of the window */
        const cplx step = cplx_scale(-1.0 / width, cplx_add(amplitude(field, bin + 1), a));
        sum += cplx_abs2(a);
        first += a.r * step.i - a.i * step.r;
        second += cplx_abs2(step);
    }
    const double mean = sum > 0.0 ? first / sum : 0.0;
    *energy = grid->window * sum;
    *duration = FWHM_PER_RMS * sqrt(fmax(sum > 0.0 ? second / sum - mean * mean : 0.0, 0.0));
}

void earlier_fill(const struct data_set *set, const struct measured_grid *grid, cplx *out)
{
    const struct data_array *field = data_find(set, "field");
    for (long k = 0; k < grid->n; k++)
        out[k] = amplitude(field, pulse_bin(k, grid->n));
}
