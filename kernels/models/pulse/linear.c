/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "kernels/models/pulse/linear.h"

#include <math.h>

#include "kernels/bodies/raman.h"
#include "kernels/models/pulse/constants.h"
#include "kernels/models/pulse/dispersion_table.h"
#include "kernels/models/pulse/grid.h"
#include "kernels/models/pulse/raman_silica.h"

/* -ln(w) in units of the absorption length, at most: exp(-40) is below the rounding of a field.
 */
#define ABSORBER_CAP 40.0

static double bin_omega(const struct gnlse_point *point, long k)
{
    return 2.0 * PULSE_PI / point->window * (double)pulse_bin(k, point->n);
}

void pulse_linear_phase(const struct gnlse_point *point, double *li)
{
    double coefficient[PARAM_LIST_MAX] = {0};
    double factorial = 1.0;
    for (int i = 0; i < point->betas; i++) {
        factorial *= (double)(i + 2);
        coefficient[i] = point->beta[i] / factorial;
    }
    for (long k = 0; point->table != NULL && k < point->n; k++)
        li[k] = -dispersion_table_phase(point->table, bin_omega(point, k));
    for (long k = 0; point->table == NULL && k < point->n; k++) {
        const double omega = bin_omega(point, k);
        double sum = 0.0;
        for (int i = point->betas; i-- > 0;)
            sum = sum * omega + coefficient[i];
        li[k] = -(sum * omega * omega);
    }
}

bool pulse_linear_has_loss(const struct gnlse_point *point)
{
    return point->loss > 0.0 || point->absorber;
}

/* Taper of bin k: the outer `edge` of the whole band at each side. */
static double spectral_taper(const struct gnlse_point *point, long k)
{
    const double x = 2.0 * (double)pulse_bin(k, point->n) / (double)point->n;
    return pulse_planck(x, 2.0 * point->edge);
}

static double absorber_rate(const struct gnlse_point *point, double taper)
{
    const double exponent = taper > 0.0 ? fmin(-log(taper), ABSORBER_CAP) : ABSORBER_CAP;
    return exponent / point->absorber_length;
}

bool pulse_linear_masked(const struct gnlse_point *point, long k)
{
    return point->absorber && spectral_taper(point, k) == 0.0;
}

void pulse_linear_loss(const struct gnlse_point *point, double *lr)
{
    for (long k = 0; k < point->n; k++) {
        const double edge =
            point->absorber ? absorber_rate(point, spectral_taper(point, k)) : 0.0;
        lr[k] = pulse_linear_masked(point, k) ? 0.0 : -(point->loss / 2.0 + edge);
    }
}

void pulse_linear_prefactor(const struct gnlse_point *point, cplx *pre)
{
    const double scale = -point->gamma / (double)point->n;
    for (long k = 0; k < point->n; k++) {
        const double shock =
            point->steepening ? 1.0 + bin_omega(point, k) / point->omega0 : 1.0;
        pre[k] = cplx_make(0.0, pulse_linear_masked(point, k) ? 0.0 : scale * shock);
    }
}

void pulse_linear_edge(const struct gnlse_point *point, double *edge)
{
    const long middle = point->n / 2;
    for (long j = 0; j < point->n; j++) {
        const double x = 2.0 * (double)(j - middle) / (double)point->n;
        const double taper = pulse_planck(x, 2.0 * point->edge);
        edge[j] = -absorber_rate(point, taper) / (double)point->n;
    }
}

void pulse_raman_samples(const struct gnlse_point *point, double scale, double *h)
{
    for (long j = 0; j < point->n; j++) {
        const double t = point->dt * (double)j;
        h[j] = 0.0;
        if (j < point->n / 2)
            h[j] = point->dt
                   * (point->silica ? raman_silica_response(scale, t)
                                    : raman_blow_wood(t, point->tau1, point->tau2));
    }
}

void pulse_raman_transfer(const struct gnlse_point *point, cplx *h)
{
    const double scale = 1.0 / (double)point->n;
    for (long k = 0; k < point->n / 2 + 1; k++) {
        const cplx raman = cplx_scale(point->fraction, h[k]);
        h[k] = cplx_scale(scale, cplx_add(cplx_make(1.0 - point->fraction, 0.0), raman));
    }
}
