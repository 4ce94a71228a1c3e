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

/* Amplitude of a shape at a time, of its peak. */
static double shape_at(const struct input_pulse *pulse, double t)
{
    const double t0 = pulse->duration / (2.0 * log(1.0 + sqrt(2.0)));
    const double rate = 2.0 * log(2.0) / (pulse->duration * pulse->duration);
    if (pulse->shape == PULSE_CW)
        return 1.0;
    return pulse->shape == PULSE_SECH ? sech(t / t0) : exp(-rate * t * t);
}

void pulse_input_shape(const struct gnlse_point *point, const struct input_pulse *pulse,
                       cplx *a)
{
    const double amplitude = sqrt(pulse->peak_power);
    const long middle = point->n / 2;
    for (long j = 0; j < point->n; j++) {
        const double t = point->dt * (double)(j - middle);
        a[j] = cplx_make(amplitude * shape_at(pulse, t), 0.0);
    }
}

void pulse_input_phase(const struct gnlse_point *point, const struct input_pulse *pulse,
                       cplx *spectrum)
{
    const double width = 2.0 * PULSE_PI / point->window;
    for (long k = 0; k < point->n; k++) {
        const double w = width * (double)pulse_bin(k, point->n);
        const double phi =
            pulse->cep + w * (pulse->delay + w * (pulse->gdd / 2.0 + w * pulse->tod / 6.0));
        spectrum[k] = cplx_mul(spectrum[k], cplx_make(cos(phi), -sin(phi)));
    }
}

double pulse_input_energy_factor(const struct gnlse_point *point,
                                 const struct input_pulse *pulse, const cplx *spectrum)
{
    double sum = 0.0;
    for (long k = 0; k < point->n; k++)
        sum += cplx_abs2(spectrum[k]);
    return sum > 0.0 ? sqrt(pulse->energy / (point->window * sum)) : 0.0;
}

double pulse_input_peak(const cplx *samples, long n)
{
    long top = 0;
    for (long j = 1; j < n; j++)
        if (cplx_abs2(samples[j]) > cplx_abs2(samples[top]))
            top = j;
    const double before = cplx_abs2(samples[(top + n - 1) % n]);
    const double peak = cplx_abs2(samples[top]);
    const double after = cplx_abs2(samples[(top + 1) % n]);
    const double curvature = before - 2.0 * peak + after;
    const double slope = (after - before) / 2.0;
    return curvature < 0.0 ? peak - slope * slope / (2.0 * curvature) : peak;
}

double pulse_input_peak_factor(const struct gnlse_point *point, const struct input_pulse *pulse,
                               const cplx *samples)
{
    const double peak = pulse_input_peak(samples, point->n);
    return peak > 0.0 ? sqrt(pulse->peak_power / peak) : 0.0;
}

void pulse_input_shift(const struct gnlse_point *point, double detuning, cplx *samples)
{
    const long middle = point->n / 2;
    for (long j = 0; j < point->n; j++) {
        const double angle = detuning * point->dt * (double)(j - middle);
        samples[j] = cplx_mul(samples[j], cplx_make(cos(angle), sin(angle)));
    }
}
