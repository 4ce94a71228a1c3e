/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "kernels/models/pulse/capillary_observe.h"

#include <math.h>
#include <stdbool.h>

#include "kernels/models/pulse/constants.h"

#define EDGE_FRACTION 0.05

/* Whether position i of n is in the outer 5 %. */
static bool is_edge(long i, long n)
{
    const double x = ((double)i + 0.5) / (double)n;
    return x < EDGE_FRACTION || x > 1.0 - EDGE_FRACTION;
}

/* Energy, photons, mean frequency, edge of the band. */
static void observe_sums(const struct capillary_point *point, const cplx *a, double *values)
{
    const struct real_grid *const grid = &point->grid;
    double power = 0.0;
    double over = 0.0;
    double moment = 0.0;
    double edge = 0.0;
    const double width = real_grid_omega(grid, 1);
#pragma omp simd reduction(+ : power, over, moment)
    for (long k = grid->first; k < grid->last; k++) {
        const double p = cplx_abs2(a[k]);
        const double omega = width * (double)k;
        power += p;
        over += p / omega;
        moment += p * omega;
    }
    const long count = grid->last - grid->first;
    for (long i = 0; is_edge(i, count); i++)
        edge += cplx_abs2(a[grid->first + i]) + cplx_abs2(a[grid->last - 1 - i]);
    values[CAPILLARY_ENERGY] = 4.0 * grid->window * power;
    values[CAPILLARY_PHOTON_NUMBER] = 4.0 * grid->window * over / PULSE_HBAR;
    values[CAPILLARY_OMEGA_MEAN] = power > 0.0 ? moment / power : point->omega0;
    values[CAPILLARY_EDGE_OMEGA] = power > 0.0 ? edge / power : 0.0;
}

/* Bins with less than this share of the strongest one's energy do not count for the chirp. */
#define CHIRP_FLOOR 1e-8

static double strongest(const struct real_grid *grid, const cplx *a)
{
    double top = 0.0;
    for (long k = grid->first; k < grid->last; k++)
        top = fmax(top, cplx_abs2(a[k]));
    return top;
}

/* Slope of the group delay over the frequency, least squares with the energy as weight. The
 * delay between two bins is the turn from one to the next; the window's middle, t = 0, turns by
 * half a period. */
static double spectrum_chirp(const struct real_grid *grid, const cplx *a, double mean)
{
    const double least = CHIRP_FLOOR * strongest(grid, a);
    double weight = 0.0;
    double delay = 0.0;
    double moment = 0.0;
    double square = 0.0;
    double first = 0.0;
    for (long k = grid->first; k + 1 < grid->last; k++) {
        const cplx turn = cplx_mul_conj(a[k], a[k + 1]);
        const double w = sqrt(cplx_abs2(turn));
        if (!(w > least))
            continue;
        const double tau = atan2(-turn.i, -turn.r) * grid->window / (2.0 * PULSE_PI);
        const double x = 0.5 * (real_grid_omega(grid, k) + real_grid_omega(grid, k + 1)) - mean;
        weight += w;
        delay += w * tau;
        first += w * x;
        moment += w * x * tau;
        square += w * x * x;
    }
    const double spread = square * weight - first * first;
    return spread > 0.0 ? (moment * weight - first * delay) / spread : 0.0;
}

static double band_energy(const struct real_grid *grid, const cplx *a,
                          struct wavelength_band band)
{
    double sum = 0.0;
    if (!(band.shortest > 0.0))
        return 0.0;
    /* Bin k has the wavelength c T/k. */
    const double light = PULSE_C * grid->window;
    const long from = (long)fmax(ceil(light / band.longest), (double)grid->first);
    const long to = (long)fmin(floor(light / band.shortest) + 1.0, (double)grid->last);
    for (long k = from; k < to; k++)
        sum += cplx_abs2(a[k]);
    return 4.0 * grid->window * sum;
}

/* Wavelength of the highest local maximum of |a|^2 in bands.rdw, or else on the short side; 0
 * without one. */
static double short_peak(const struct capillary_point *point, const cplx *a)
{
    const struct real_grid *const grid = &point->grid;
    const struct wavelength_band band = point->band[BAND_RDW];
    const double turn = 2.0 * PULSE_PI * PULSE_C;
    const bool given = band.shortest > 0.0;
    const double above = given ? turn / band.longest : point->omega0 / CAPILLARY_RDW_SHARE;
    const double below = given ? turn / band.shortest : (double)INFINITY;
    double best = 0.0;
    double at = 0.0;
    for (long k = grid->first + 1; k + 1 < grid->last; k++) {
        const double before = cplx_abs2(a[k - 1]);
        const double here = cplx_abs2(a[k]);
        const double after = cplx_abs2(a[k + 1]);
        const double omega = real_grid_omega(grid, k);
        const bool top = here > best && here >= before && here > after;
        if (!top || omega < above || omega > below)
            continue;
        best = here;
        const double curvature = before - 2.0 * here + after;
        const double shift = curvature < 0.0 ? 0.5 * (before - after) / curvature : 0.0;
        at = 2.0 * PULSE_PI * ((double)k + shift) / grid->window;
    }
    return at > 0.0 ? turn / at : 0.0;
}

void capillary_observe_spectrum(const struct capillary_point *point, const cplx *a,
                                double *values)
{
    static const enum capillary_observable energies[CAPILLARY_BANDS] = {
        CAPILLARY_ENERGY_RDW, CAPILLARY_ENERGY_UV, CAPILLARY_ENERGY_VISIBLE,
        CAPILLARY_ENERGY_INFRARED};
    observe_sums(point, a, values);
    values[CAPILLARY_CHIRP] = spectrum_chirp(&point->grid, a, values[CAPILLARY_OMEGA_MEAN]);
    for (int i = 0; i < CAPILLARY_BANDS; i++)
        values[energies[i]] = band_energy(&point->grid, a, point->band[i]);
    values[CAPILLARY_RDW_PEAK] = short_peak(point, a);
}

/* Outermost crossing of the level, walking from one end; in samples, linear between two. */
static double crossing(const double *power, long n, double level, bool from_end)
{
    const long step = from_end ? -1 : 1;
    long j = from_end ? n - 1 : 0;
    if (power[j] >= level)
        return (double)j;
    while (power[j] < level)
        j += step;
    const double outside = power[j - step];
    return (double)j - (double)step * (power[j] - level) / (power[j] - outside);
}

static double sum_of(const double *power, long from, long to)
{
    double sum = 0.0;
#pragma omp simd reduction(+ : sum)
    for (long j = from; j < to; j++)
        sum += power[j];
    return sum;
}

void capillary_observe_power(const struct capillary_point *point, const double *power,
                             double *values)
{
    const long n = point->grid.fine;
    const double dt = point->grid.window / (double)n;
    long edge = 0; /* samples of a side that count as its edge */
    while (is_edge(edge, n))
        edge++;
    double peak = 0.0;
#pragma omp simd reduction(max : peak)
    for (long j = 0; j < n; j++)
        peak = power[j] > peak ? power[j] : peak;
    long top = 0;
    while (top < n - 1 && power[top] != peak)
        top++;
    const bool lit = peak > 0.0;
    const double energy = sum_of(power, 0, n);
    values[CAPILLARY_PEAK_POWER] = peak;
    values[CAPILLARY_FWHM_T] = lit ? dt
                                         * (crossing(power, n, peak / 2.0, true)
                                            - crossing(power, n, peak / 2.0, false))
                                   : 0.0;
    values[CAPILLARY_T_PEAK] = lit ? real_grid_time(&point->grid, top) : 0.0;
    values[CAPILLARY_EDGE_T] =
        energy > 0.0 ? (sum_of(power, 0, edge) + sum_of(power, n - edge, n)) / energy : 0.0;
}
