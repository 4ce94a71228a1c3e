/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "kernels/models/pulse/capillary_input.h"

#include <math.h>
#include <string.h>

#include "kernels/base/mem.h"
#include "kernels/base/status.h"
#include "kernels/models/pulse/constants.h"
#include "kernels/models/pulse/earlier.h"
#include "kernels/models/pulse/input.h"
#include "kernels/models/pulse/noise.h"

/* Amplitude of the shape at a time, 1 at the peak. */
static double envelope(const struct input_pulse *pulse, double t)
{
    if (pulse->shape == PULSE_GAUSS) {
        const double x = t / pulse->duration;
        return exp(-2.0 * log(2.0) * x * x);
    }
    /* sech without overflow far out */
    const double e = exp(-2.0 * log(1.0 + sqrt(2.0)) * fabs(t) / pulse->duration);
    return 2.0 * e / (1.0 + e * e);
}

static cplx phase_factor(const struct input_pulse *p, double carrier, double omega)
{
    const double w = omega - carrier;
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

static int scale_factor(const struct real_grid *grid, const struct input_pulse *pulse,
                        struct host_fft *fft, cplx *scratch, const cplx *a, double *factor)
{
    if (pulse->by_energy) {
        const double energy = spectrum_energy(grid, a);
        *factor = energy > 0.0 ? sqrt(pulse->energy / energy) : 0.0;
        return 0;
    }
    memset(scratch, 0, (size_t)grid->fine * sizeof *scratch);
    for (long k = grid->first; k < grid->last; k++)
        scratch[k] = cplx_scale(2.0, a[k]);
    const int rc = host_fft_execute(fft, false, scratch);
    const double peak = pulse_input_peak(scratch, grid->fine);
    *factor = peak > 0.0 ? sqrt(pulse->peak_power / peak) : 0.0;
    return rc;
}

/* Of the carrier what the fine samples hold: the cosine, or half of exp(i angle). */
static cplx carrier_at(const struct real_grid *grid, double angle)
{
    return grid->envelope ? cplx_make(0.5 * cos(angle), 0.5 * sin(angle))
                          : cplx_make(cos(angle), 0.0);
}

/* A table over frequency: its bins, those of the analytic signal. Complex fine samples have no
 * room for frequencies as far below 0, so theirs are taken around an even bin, which leaves the
 * time 0 where it is. */
static int fill_spectrum(const struct real_grid *grid, const struct input_pulse *pulse,
                         cplx *scratch)
{
    const long n = grid->fine;
    const long middle = grid->envelope ? n / 4 * 2 : 0;
    const double omega = 2.0 * PULSE_PI * (double)middle / grid->window;
    cplx *bins = NULL;
    TRY(MEM_NEW(n, &bins));
    const int rc =
        measured_fill(pulse->measured, &(struct measured_grid){n, grid->window, omega}, bins);
    for (long k = 0; k < n && rc == 0; k++)
        scratch[k] = bins[(k - middle + n) % n];
    mem_free(bins);
    return rc;
}

/* Samples of a table over time: Re(envelope exp(i omega t)), or half of the analytic signal. */
static int fill_samples(const struct real_grid *grid, const struct input_pulse *pulse,
                        double carrier, cplx *scratch)
{
    TRY(measured_fill(pulse->measured, &(struct measured_grid){grid->fine, grid->window, 0.0},
                      scratch));
    for (long j = 0; j < grid->fine; j++) {
        const double angle = carrier * real_grid_time(grid, j);
        const cplx field = cplx_mul(scratch[j], cplx_make(cos(angle), sin(angle)));
        scratch[j] = grid->envelope ? cplx_scale(0.5, field) : cplx_make(field.r, 0.0);
    }
    return 0;
}

/* The bins of a pulse in scratch, up to a factor, before window and phases. */
static int make_bins(const struct real_grid *grid, const struct input_pulse *pulse,
                     double carrier, struct host_fft *fft, cplx *scratch)
{
    if (pulse->measured != NULL && measured_is_spectral(pulse->measured))
        return fill_spectrum(grid, pulse, scratch);
    if (pulse->measured != NULL) {
        TRY(fill_samples(grid, pulse, carrier, scratch));
        return host_fft_execute(fft, true, scratch);
    }
    for (long j = 0; j < grid->fine; j++) {
        const double t = real_grid_time(grid, j);
        scratch[j] = cplx_scale(envelope(pulse, t), carrier_at(grid, carrier * t));
    }
    return host_fft_execute(fft, true, scratch);
}

static int make_pulse(const struct capillary_point *point, const struct input_pulse *pulse,
                      struct host_fft *fft, cplx *scratch, cplx *a)
{
    const struct real_grid *const grid = &point->grid;
    const double carrier = point->omega0 + pulse->detuning;
    double factor = 0.0;
    TRY(make_bins(grid, pulse, carrier, fft, scratch));
    memset(a, 0, (size_t)real_grid_bins(grid) * sizeof *a);
    for (long k = grid->first; k < grid->last; k++) {
        const double weight = real_grid_spectral(grid, k) / (double)grid->fine;
        a[k] = cplx_mul(cplx_scale(weight, scratch[k]),
                        phase_factor(pulse, carrier, real_grid_omega(grid, k)));
    }
    TRY(scale_factor(grid, pulse, fft, scratch, a, &factor));
    for (long k = grid->first; k < grid->last; k++)
        a[k] = cplx_scale(factor, a[k]);
    return 0;
}

/* A plane as it is; phases only where there are any, so that its bits stay. */
static int take_earlier(const struct capillary_point *point, cplx *a)
{
    const struct real_grid *const grid = &point->grid;
    const struct input_pulse *const phases = &point->pulse[0];
    TRY(earlier_real_fill(point->earlier, grid, a));
    for (long k = grid->first; k < grid->last && pulses_have_phase(phases); k++)
        a[k] = cplx_mul(a[k], phase_factor(phases, point->omega0, real_grid_omega(grid, k)));
    return 0;
}

int capillary_input(const struct capillary_point *point, struct host_fft *fft, cplx *scratch,
                    cplx *a)
{
    const struct real_grid *const grid = &point->grid;
    cplx *further = NULL;
    int rc = 0;
    if (point->earlier != NULL)
        return take_earlier(point, a);
    TRY(make_pulse(point, &point->pulse[0], fft, scratch, a));
    if (point->pulses == 1)
        return 0;
    TRY(MEM_NEW(real_grid_bins(grid), &further));
    for (int i = 1; i < point->pulses && rc == 0; i++) {
        rc = make_pulse(point, &point->pulse[i], fft, scratch, further);
        for (long k = grid->first; k < grid->last; k++)
            a[k] = cplx_add(a[k], further[k]);
    }
    mem_free(further);
    return rc;
}

void capillary_noise_add(const struct capillary_point *point, const struct seed *seed, cplx *a)
{
    const struct real_grid *const grid = &point->grid;
    if (seed->noise == NOISE_NONE)
        return;
    for (long k = grid->first; k < grid->last; k++) {
        const double frequency =
            seed->noise == NOISE_DIRECT ? point->omega0 : real_grid_omega(grid, k);
        /* A quarter: this bin's energy is 4 T |a|^2. */
        const double photon = PULSE_HBAR * frequency / (4.0 * grid->window);
        a[k] = cplx_add(a[k], pulse_noise_bin(seed, k, photon));
    }
}
