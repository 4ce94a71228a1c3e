/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "kernels/models/pulse/capillary_input.h"

#include <math.h>
#include <string.h>

#include "kernels/models/pulse/constants.h"
#include "kernels/models/pulse/noise.h"

/* Amplitude of the shape at a time, 1 at the peak. */
static double envelope(const struct capillary_pulse *pulse, double t)
{
    if (pulse->shape == REAL_GAUSS) {
        const double x = t / pulse->duration;
        return exp(-2.0 * log(2.0) * x * x);
    }
    /* sech without overflow far out */
    const double e = exp(-2.0 * log(1.0 + sqrt(2.0)) * fabs(t) / pulse->duration);
    return 2.0 * e / (1.0 + e * e);
}

static cplx phase_factor(const struct capillary_pulse *p, double omega)
{
    const double w = omega - p->omega0;
    const double phi = p->cep + w * (p->delay + w * (p->gdd / 2.0 + w * p->tod / 6.0));
    return cplx_make(cos(phi), -sin(phi));
}

static double spectrum_energy(const struct real_grid *grid, const cplx *a)
{
    double sum = 0.0;
    for (long k = grid->first; k < grid->last; k++)
        sum += cplx_abs2(a[k]);
    return 4.0 * grid->window * sum;
}

/* Highest |A_analytic|^2; between samples that of the parabola through the three highest. */
static double peak_power(const cplx *samples, long n)
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

static int scale_factor(const struct capillary_point *point, struct host_fft *fft,
                        cplx *scratch, const cplx *a, double *factor)
{
    const struct real_grid *const grid = &point->grid;
    if (point->pulse.by_energy) {
        *factor = sqrt(point->pulse.energy / spectrum_energy(grid, a));
        return 0;
    }
    memset(scratch, 0, (size_t)grid->fine * sizeof *scratch);
    for (long k = grid->first; k < grid->last; k++)
        scratch[k] = cplx_scale(2.0, a[k]);
    const int rc = host_fft_execute(fft, false, scratch);
    *factor = sqrt(point->pulse.peak_power / peak_power(scratch, grid->fine));
    return rc;
}

int capillary_input(const struct capillary_point *point, struct host_fft *fft, cplx *scratch,
                    cplx *a)
{
    const struct real_grid *const grid = &point->grid;
    const struct capillary_pulse *const pulse = &point->pulse;
    for (long j = 0; j < grid->fine; j++) {
        const double t = real_grid_time(grid, j);
        const double angle = pulse->omega0 * t;
        const cplx carrier = grid->envelope ? cplx_make(0.5 * cos(angle), 0.5 * sin(angle))
                                            : cplx_make(cos(angle), 0.0);
        scratch[j] = cplx_scale(envelope(pulse, t), carrier);
    }
    int rc = host_fft_execute(fft, true, scratch);
    memset(a, 0, (size_t)real_grid_bins(grid) * sizeof *a);
    for (long k = grid->first; k < grid->last; k++) {
        const double weight = real_grid_spectral(grid, k) / (double)grid->fine;
        a[k] = cplx_mul(cplx_scale(weight, scratch[k]),
                        phase_factor(pulse, real_grid_omega(grid, k)));
    }
    double factor = 0.0;
    if (rc == 0)
        rc = scale_factor(point, fft, scratch, a, &factor);
    for (long k = grid->first; k < grid->last; k++)
        a[k] = cplx_scale(factor, a[k]);
    return rc;
}

void capillary_noise_add(const struct capillary_point *point, const struct seed *seed, cplx *a)
{
    const struct real_grid *const grid = &point->grid;
    if (seed->noise == NOISE_NONE)
        return;
    for (long k = grid->first; k < grid->last; k++) {
        const double frequency =
            seed->noise == NOISE_DIRECT ? point->pulse.omega0 : real_grid_omega(grid, k);
        /* A quarter: this bin's energy is 4 T |a|^2. */
        const double photon = PULSE_HBAR * frequency / (4.0 * grid->window);
        a[k] = cplx_add(a[k], pulse_noise_bin(seed, k, photon));
    }
}
