/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "kernels/models/pulse/capillary_entry.h"

#include <math.h>

#include "kernels/base/status.h"
#include "kernels/models/pulse/constants.h"

#define CUT_LIMIT 0.5 /* of the energy, as of a table */

static double gauss_rate(void)
{
    return 4.0 * log(2.0);
}

/* Full width at half maximum of the duration, stretched by gdd, of a Gaussian: with the width
 * 4 ln2/D of its spectrum, sqrt(D^2 + (gdd 4 ln2/D)^2). */
static double stretched(const struct input_pulse *p)
{
    return hypot(p->duration, p->gdd * gauss_rate() / p->duration);
}

/* Peak power after the phases, where it is certain; else 0. */
static double own_peak(const struct input_pulse *p)
{
    if (!p->by_energy)
        return p->peak_power;
    if (p->measured != NULL || p->tod != 0.0)
        return 0.0;
    if (p->gdd == 0.0)
        return p->peak_power;
    return p->shape == PULSE_GAUSS ? p->peak_power * p->duration / stretched(p) : 0.0;
}

/* Highest that the field of a pulse may be, sqrt(W). */
static double own_limit(const struct input_pulse *p)
{
    const double certain = own_peak(p);
    return sqrt(certain > 0.0 ? certain : p->peak_power);
}

/* Highest that the field of a pulse may be at a time: of a Gaussian without tod its closed
 * form. */
static double limit_at(const struct input_pulse *p, double t)
{
    const bool closed = p->measured == NULL && p->shape == PULSE_GAUSS && p->tod == 0.0;
    const double x = (t - p->delay) / stretched(p);
    return own_limit(p) * (closed ? exp(-0.5 * gauss_rate() * x * x) : 1.0);
}

double capillary_certain_peak(const struct capillary_point *point)
{
    double most = 0.0;
    for (int i = 0; i < point->pulses && point->earlier == NULL; i++) {
        double field = sqrt(own_peak(&point->pulse[i]));
        for (int j = 0; j < point->pulses; j++)
            field -= j == i ? 0.0 : limit_at(&point->pulse[j], point->pulse[i].delay);
        most = fmax(most, field);
    }
    return most * most;
}

double capillary_possible_peak(const struct capillary_point *point)
{
    double field = 0.0;
    for (int i = 0; i < point->pulses; i++)
        field += own_limit(&point->pulse[i]);
    return field * field;
}

/* Intensity of a shape's spectrum at a detuning, its integral over all of them 1. Gaussian of
 * FWHM D: exp(-w^2 D^2/(4 ln2)); sech(t/T0): sech^2(pi T0 w/2). */
static double spectrum_at(const struct input_pulse *p, double w)
{
    if (p->shape == PULSE_GAUSS)
        return p->duration / sqrt(PULSE_PI * gauss_rate())
               * exp(-w * w * p->duration * p->duration / gauss_rate());
    const double t0 = p->duration / (2.0 * log(1.0 + sqrt(2.0)));
    const double e = exp(-0.5 * PULSE_PI * t0 * fabs(w));
    const double sech = 2.0 * e / (1.0 + e * e);
    return 0.25 * PULSE_PI * t0 * sech * sech;
}

double capillary_band_cut(const struct capillary_point *point, int pulse)
{
    const struct real_grid *const g = &point->grid;
    const struct input_pulse *const p = &point->pulse[pulse];
    const double carrier = point->omega0 + p->detuning;
    double kept = 0.0;
    if (p->measured != NULL || point->earlier != NULL)
        return 0.0;
    for (long k = g->first; k < g->last; k++) {
        const double window = real_grid_spectral(g, k);
        kept += window * window * spectrum_at(p, real_grid_omega(g, k) - carrier);
    }
    return fmax(1.0 - kept * 2.0 * PULSE_PI / g->window, 0.0);
}

double capillary_reach(const struct capillary_point *point, int pulse)
{
    const struct input_pulse *const p = &point->pulse[pulse];
    const double width = gauss_rate() / p->duration;
    const double late = 0.5 * p->tod * width * width; /* of both wings of the spectrum */
    const double begin = p->delay + fmin(late, 0.0) - stretched(p);
    const double end = p->delay + fmax(late, 0.0) + stretched(p);
    return fmax(fabs(begin), fabs(end));
}

double capillary_flat(const struct capillary_point *point)
{
    return 0.5 * point->grid.window - real_grid_taper(&point->grid);
}

static int check_place(const struct capillary_point *point, int pulse)
{
    static const char *const names[PULSES_MAX] = {"pulse", "pulse2", "pulse3"};
    const struct input_pulse *const p = &point->pulse[pulse];
    /* of what was not read and of a plane the duration is not known: the delay alone */
    const bool known =
        point->earlier == NULL && (p->measured == NULL || pulses_loaded(p->measured));
    const double reach = known ? capillary_reach(point, pulse) : fabs(p->delay);
    const double cut = capillary_band_cut(point, pulse);
    if (!(reach <= 0.5 * point->grid.window))
        FAIL(
            ERR_ARGUMENT,
            "%s.phases: with delay %g s, gdd %g s^2 and tod %g s^3 the pulse reaches %g s from "
            "the middle of a window of %g s",
            names[pulse], p->delay, p->gdd, p->tod, reach, point->grid.window);
    if (cut > CUT_LIMIT)
        FAIL(ERR_ARGUMENT,
             "%s: %.3g %% of the energy of %g s at %g m lie outside of the band, "
             "grid.wavelengths",
             names[pulse], 100.0 * cut, p->duration,
             2.0 * PULSE_PI * PULSE_C / (point->omega0 + p->detuning));
    return 0;
}

int capillary_entry_check(const struct capillary_point *point)
{
    for (int i = 0; i < PULSES_MAX && i < point->pulses; i++)
        TRY(check_place(point, i));
    return 0;
}
