/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "kernels/models/pulse/guide_figures.h"

#include <math.h>

#include "kernels/contract/bounds.h"
#include "kernels/models/pulse/atomic.h"

/* Ratio of neighbouring wavelengths of a search: two zeros closer than this are not seen. */
#define SEARCH_STEP 0.995

static double omega_at(double wavelength)
{
    return 2.0 * PULSE_PI * PULSE_C / wavelength;
}

/* What is searched for a zero. */
struct search {
    const struct guide *guide;
    struct guide_place at;
    double omega0; /* of the pump */
    double excess; /* there: n_eff - 1 and its slope */
    double slope;
};

static double second_derivative(const struct search *s, double wavelength)
{
    struct guide_bin bin;
    guide_bin_load(s->guide, omega_at(wavelength), 2, &bin);
    const struct taylor beta = guide_beta(s->guide, &bin, s->at);
    return taylor_derivative(&beta, 2).r;
}

/* c times the phase mismatch: what the vacuum does cancels and is left out. */
static double mismatch(const struct search *s, double wavelength)
{
    struct guide_bin bin;
    const double omega = omega_at(wavelength);
    guide_bin_load(s->guide, omega, 0, &bin);
    const double excess = guide_excess(s->guide, &bin, s->at).c[0].r;
    return omega * (excess - s->excess) - s->omega0 * s->slope * (omega - s->omega0);
}

/* First zero of f from `longest` downward, by steps, then bisection. */
static double find_zero(const struct search *s, double longest, double shortest,
                        double (*f)(const struct search *, double))
{
    double above = longest;
    const double sign = f(s, above);
    while (above > shortest) {
        double below = fmax(above * SEARCH_STEP, shortest);
        if (f(s, below) * sign > 0.0) {
            above = below;
            continue;
        }
        while (above - below > bound(BOUND_root_bisection) * above) {
            const double middle = 0.5 * (above + below);
            if (middle >= above || middle <= below)
                break;
            *(f(s, middle) * sign > 0.0 ? &above : &below) = middle;
        }
        return 0.5 * (above + below);
    }
    return (double)NAN;
}

double guide_zdw(const struct guide *guide, struct guide_place at, struct guide_band band)
{
    const struct search s = {.guide = guide, .at = at};
    return find_zero(&s, band.longest, band.shortest, second_derivative);
}

double guide_rdw(const struct guide *guide, struct guide_place at, double pump, double shortest)
{
    struct guide_bin bin;
    const double omega0 = omega_at(pump);
    guide_bin_load(guide, omega0, 1, &bin);
    const struct taylor excess = guide_excess(guide, &bin, at);
    const struct search s = {guide, at, omega0, excess.c[0].r, excess.c[1].r};
    return find_zero(&s, 0.9 * pump, shortest, mismatch);
}

void guide_figures(const struct guide *guide, struct guide_place at,
                   const struct guide_pulse *pulse, struct guide_figures *out)
{
    const double omega = omega_at(pulse->wavelength);
    const struct search s = {.guide = guide, .at = at};
    out->area = mode_area(&guide->mode, at.radius);
    out->n2 = mixture_n2(guide->gas, at.rho, omega);
    out->gamma = out->n2 * omega / (PULSE_C * out->area);
    out->beta2 = second_derivative(&s, pulse->wavelength);
    out->l_dispersion = pulse->t0 * pulse->t0 / fabs(out->beta2);
    out->l_nonlinear = 1.0 / (out->gamma * pulse->peak_power);
    out->order = sqrt(out->l_dispersion / out->l_nonlinear);
    out->l_fission = out->l_dispersion / out->order;
    const double n = mixture_index(guide->gas, at.rho, omega, 0).c[0].r;
    out->critical_power =
        1.86225 * pulse->wavelength * pulse->wavelength / (4.0 * PULSE_PI * n * out->n2);
}
