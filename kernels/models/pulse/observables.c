/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "kernels/models/pulse/observables.h"

#include <math.h>
#include <stdbool.h>

#include "kernels/models/pulse/constants.h"
#include "kernels/models/pulse/grid.h"

#define EDGE_FRACTION 0.05
#define DEPTH_20DB    0.01

/* Whether position i of n, in ascending order of time or frequency, is in the outer 5 %. */
static bool is_edge(long i, long n)
{
    const double x = ((double)i + 0.5) / (double)n;
    return x < EDGE_FRACTION || x > 1.0 - EDGE_FRACTION;
}

static void observe_spectrum(const struct pulse_plane *plane, double *values)
{
    const long n = plane->n;
    const double width = 2.0 * PULSE_PI / plane->window;
    double energy = 0.0;
    double photons = 0.0;
    double moment = 0.0;
    double edge = 0.0;
    double top = 0.0;
    for (long k = 0; k < n; k++) {
        const double power = cplx_abs2(plane->spectrum[k]);
        const long bin = pulse_bin(k, n);
        const double omega = plane->omega0 + width * (double)bin;
        energy += power;
        photons += omega > 0.0 ? power / (PULSE_HBAR * omega) : 0.0;
        moment += width * (double)bin * power;
        edge += is_edge(bin + n / 2, n) ? power : 0.0;
        top = fmax(top, power);
    }
    long low = n / 2;
    long high = -n / 2;
    for (long k = 0; k < n; k++)
        if (top > 0.0 && cplx_abs2(plane->spectrum[k]) >= DEPTH_20DB * top) {
            low = pulse_bin(k, n) < low ? pulse_bin(k, n) : low;
            high = pulse_bin(k, n) > high ? pulse_bin(k, n) : high;
        }
    values[PULSE_ENERGY] = plane->window * energy;
    values[PULSE_PHOTON_NUMBER] = plane->window * photons;
    values[PULSE_OMEGA_MEAN] = plane->omega0 + (energy > 0.0 ? moment / energy : 0.0);
    values[PULSE_WIDTH_20DB] = top > 0.0 ? width * (double)(high - low) : 0.0;
    values[PULSE_EDGE_OMEGA] = energy > 0.0 ? edge / energy : 0.0;
}

/* Outermost crossing of the level, walking from one end; in samples, linear between two. */
static double crossing(const struct pulse_plane *plane, double level, bool from_end)
{
    const long n = plane->n;
    const long step = from_end ? -1 : 1;
    long j = from_end ? n - 1 : 0;
    double outside = cplx_abs2(plane->samples[j]);
    if (outside >= level)
        return (double)j;
    double inside = outside;
    while (inside < level) {
        outside = inside;
        j += step;
        inside = cplx_abs2(plane->samples[j]);
    }
    return (double)j - (double)step * (inside - level) / (inside - outside);
}

static void observe_samples(const struct pulse_plane *plane, double *values)
{
    const long n = plane->n;
    const double dt = plane->window / (double)n;
    double energy = 0.0;
    double edge = 0.0;
    long top = 0;
    for (long j = 0; j < n; j++) {
        const double power = cplx_abs2(plane->samples[j]);
        energy += power;
        edge += is_edge(j, n) ? power : 0.0;
        top = power > cplx_abs2(plane->samples[top]) ? j : top;
    }
    const double peak = cplx_abs2(plane->samples[top]);
    values[PULSE_PEAK_POWER] = peak;
    values[PULSE_FWHM_T] =
        peak > 0.0
            ? dt * (crossing(plane, peak / 2.0, true) - crossing(plane, peak / 2.0, false))
            : 0.0;
    const long middle = n / 2;
    values[PULSE_T_PEAK] = peak > 0.0 ? dt * (double)(top - middle) : 0.0;
    values[PULSE_EDGE_T] = energy > 0.0 ? edge / energy : 0.0;
}

void pulse_observe(const struct pulse_plane *plane, double *values)
{
    observe_spectrum(plane, values);
    observe_samples(plane, values);
}
