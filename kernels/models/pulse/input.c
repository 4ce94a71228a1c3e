/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "kernels/models/pulse/input.h"

#include <math.h>

#include "kernels/models/pulse/constants.h"
#include "kernels/models/pulse/grid.h"

/* sech without overflow far out. */
static double sech(double x)
{
    const double e = exp(-fabs(x));
    return 2.0 * e / (1.0 + e * e);
}

void pulse_input_shape(const struct gnlse_point *point, cplx *a)
{
    const double amplitude = sqrt(point->peak_power);
    const double t0 = point->duration / (2.0 * log(1.0 + sqrt(2.0)));
    const double rate = 2.0 * log(2.0) / (point->duration * point->duration);
    const long middle = point->n / 2;
    for (long j = 0; j < point->n; j++) {
        const double t = point->dt * (double)(j - middle);
        const double shape = point->shape == PULSE_SECH ? sech(t / t0) : exp(-rate * t * t);
        a[j] = cplx_make(amplitude * shape, 0.0);
    }
}

bool pulse_input_has_phase(const struct gnlse_point *point)
{
    return point->cep != 0.0 || point->delay != 0.0 || point->gdd != 0.0 || point->tod != 0.0;
}

void pulse_input_phase(const struct gnlse_point *point, cplx *spectrum)
{
    const double width = 2.0 * PULSE_PI / point->window;
    for (long k = 0; k < point->n; k++) {
        const double w = width * (double)pulse_bin(k, point->n);
        const double phi =
            point->cep + w * (point->delay + w * (point->gdd / 2.0 + w * point->tod / 6.0));
        spectrum[k] = cplx_mul(spectrum[k], cplx_make(cos(phi), -sin(phi)));
    }
}

double pulse_input_energy_factor(const struct gnlse_point *point, const cplx *spectrum)
{
    double sum = 0.0;
    for (long k = 0; k < point->n; k++)
        sum += cplx_abs2(spectrum[k]);
    return sum > 0.0 ? sqrt(point->energy / (point->window * sum)) : 0.0;
}

double pulse_input_peak_factor(const struct gnlse_point *point, const cplx *samples)
{
    const long n = point->n;
    long top = 0;
    for (long j = 1; j < n; j++)
        if (cplx_abs2(samples[j]) > cplx_abs2(samples[top]))
            top = j;
    const double before = cplx_abs2(samples[(top + n - 1) % n]);
    const double peak = cplx_abs2(samples[top]);
    const double after = cplx_abs2(samples[(top + 1) % n]);
    const double curvature = before - 2.0 * peak + after;
    const double slope = (after - before) / 2.0;
    const double refined = curvature < 0.0 ? peak - slope * slope / (2.0 * curvature) : peak;
    return refined > 0.0 ? sqrt(point->peak_power / refined) : 0.0;
}
