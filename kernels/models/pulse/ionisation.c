/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "kernels/models/pulse/ionisation.h"

#include <math.h>
#include <stddef.h>

#include "kernels/base/status.h"
#include "kernels/models/pulse/atomic.h"
#include "kernels/models/pulse/ppt_sum.h"

/* physics.md §4: a rate is looked for from this field in steps of this ratio. */
#define SEARCH_START 1e3
#define SEARCH_RATIO 1.01

static int check_request(const struct rate_request *r, const struct gas_info *g)
{
    if (!(g->potential > 0.0))
        FAIL(ERR_UNSUPPORTED,
             "plasma.rate: %s has no ionisation potential here; plasma.rate: none leaves the "
             "plasma out",
             g->name);
    if (r->kind == RATE_PPT && !(g->z > 0.0))
        FAIL(ERR_UNSUPPORTED,
             "plasma.rate: ppt needs quantum numbers, which %s has none of; use plasma.rate: "
             "adk",
             g->name);
    if (!(r->occupancy > 0.0 && isfinite(r->occupancy)))
        FAIL(ERR_ARGUMENT, "plasma.occupancy: %g; a positive number is needed", r->occupancy);
    if (!(r->adk_floor >= 0.0))
        FAIL(ERR_ARGUMENT, "plasma.adk_floor: %g; a positive exponent or none is needed",
             r->adk_floor);
    if (r->kind == RATE_PPT && !(r->wavelength > 0.0 && isfinite(r->wavelength)))
        FAIL(ERR_ARGUMENT, "plasma.rate: ppt at a wavelength of %g m", r->wavelength);
    return 0;
}

/* 4 wp/wt: four times the tunnelling frequency ratio of Ammosov et al.; dimensionless. */
static double adk_argument(const struct ionisation *i, double field)
{
    const double joule = i->potential * PULSE_HARTREE;
    return 4.0 * (joule / PULSE_HBAR) * sqrt(2.0 * PULSE_ME * joule) / (PULSE_E * field);
}

/* physics.md §4: wp C^2 (4 wp/wt)^(2n - 1) exp(-(4/3) wp/wt), C^2 = 2^2n/(n Gamma(n + 1)
 * Gamma(n)); the cycle average is times sqrt(3 E/(pi F0)), F0 = (2 Ip)^(3/2). */
static double adk_log_rate(const struct ionisation *i, double field)
{
    const double n = sqrt(0.5 / i->potential);
    const double x = adk_argument(i, field);
    const double constant = 2.0 * n * log(2.0) - log(n) - lgamma(n + 1.0) - lgamma(n);
    double sum = log(i->potential * PULSE_HARTREE / PULSE_HBAR) + constant
                 + (2.0 * n - 1.0) * log(x) - x / 3.0;
    if (i->request.cycle_average)
        sum +=
            0.5 * log(3.0 * field / (PULSE_PI * pow(2.0 * i->potential, 1.5) * PULSE_AU_FIELD));
    return sum;
}

/* The potential in this field, Hartree. */
static double shifted_potential(const struct ionisation *i, double f)
{
    return i->potential + i->shift * f * f;
}

/* (Ip + Up)/omega, f in atomic units. */
static double photons(const struct ionisation *i, double f)
{
    return (shifted_potential(i, f) + f * f / (4.0 * i->omega * i->omega)) / i->omega;
}

/* physics.md §4, PPT; in atomic units. v is the photon number at the field. */
static double ppt_log_rate(const struct ionisation *i, double field, double v)
{
    const double f = field / PULSE_AU_FIELD;
    const double ip = shifted_potential(i, f);
    const double n = i->z / sqrt(2.0 * ip);
    const double f0 = pow(2.0 * ip, 1.5);
    const double g = i->omega * sqrt(2.0 * ip) / f; /* Keldysh */
    const double h = sqrt(1.0 + g * g);
    double channels[PPT_SUMS];
    ppt_sum(2.0 * (asinh(g) - g / h), 2.0 * g / h, v, channels);
    const double q = 2.0 * f0 / (f * h);
    /* m = 0 and, for p electrons, m = -1, 1: f_lm = 2 l + 1 for all of these. */
    const double orbit =
        (2.0 * i->l + 1.0) * (channels[0] + (i->l > 0 ? 2.0 * channels[1] / q : 0.0));
    double sum = log(4.0 * sqrt(2.0) / PULSE_PI) + 2.0 * n * log(2.0) - log(n) - lgamma(2.0 * n)
                 + (2.0 * n - 1.5) * log(q) - 2.0 * v * (asinh(g) - g * h / (1.0 + 2.0 * g * g))
                 + log(ip * g * g / (h * h)) + log(orbit) - i->weakening * f
                 - log(PULSE_AU_TIME);
    if (!i->request.cycle_average)
        sum += 0.5 * log(PULSE_PI * f0 / (3.0 * f));
    return sum;
}

double ionisation_log_rate(const struct ionisation *rate, double field)
{
    const double one = rate->request.kind == RATE_ADK
                           ? adk_log_rate(rate, field)
                           : ppt_log_rate(rate, field, ionisation_photons(rate, field));
    return log(rate->request.occupancy) + one;
}

double ionisation_log_rate_at(const struct ionisation *rate, double number)
{
    return log(rate->request.occupancy)
           + ppt_log_rate(rate, ionisation_field(rate, number), number);
}

/* ADK: the field at and below which there is no rate. */
static double adk_threshold(const struct ionisation *i)
{
    if (i->request.adk_floor > 0.0)
        return adk_argument(i, 1.0) / (3.0 * i->request.adk_floor);
    double dark = 0.0;
    double field = SEARCH_START;
    while (!(exp(ionisation_log_rate(i, field)) > 0.0)) {
        dark = field;
        field *= SEARCH_RATIO;
    }
    return dark;
}

int ionisation_init(struct ionisation *out, const struct rate_request *request)
{
    const struct gas_info *const g = gas_info(request->gas);
    TRY(check_request(request, g));
    const double z = g->z > 0.0 ? g->z : 1.0;
    *out = (struct ionisation){.request = *request,
                               .potential = g->potential,
                               .z = z,
                               .l = g->l,
                               .barrier =
                                   g->potential * g->potential / (4.0 * z) * PULSE_AU_FIELD};
    out->ceiling = 2.0 * out->barrier;
    if (request->kind == RATE_ADK) {
        out->threshold = adk_threshold(out);
        return 0;
    }
    out->omega = 2.0 * PULSE_PI * PULSE_C / request->wavelength * PULSE_AU_TIME;
    if (request->stark && g->alpha_ion > 0.0)
        out->shift = 0.5 * (g->alpha_atom - g->alpha_ion);
    if (request->dipole)
        out->weakening = 2.0 * g->alpha_ion;
    return 0;
}

double ionisation_rate(const struct ionisation *rate, double field, bool *saturated)
{
    if (saturated != NULL)
        *saturated = field > rate->ceiling;
    if (!(field > rate->threshold))
        return 0.0;
    return exp(ionisation_log_rate(rate, fmin(field, rate->ceiling)));
}

double ionisation_photons(const struct ionisation *rate, double field)
{
    return photons(rate, field / PULSE_AU_FIELD);
}

double ionisation_field(const struct ionisation *rate, double number)
{
    const double free = photons(rate, 0.0);
    const double slope = photons(rate, 1.0) - free;
    return number > free ? sqrt((number - free) / slope) * PULSE_AU_FIELD : 0.0;
}

int ionisation_adk(const struct ionisation *rate, double out[3])
{
    if (rate->request.kind != RATE_ADK)
        FAIL(ERR_BUG, "only adk is a formula of three numbers");
    const double n = sqrt(0.5 / rate->potential);
    const double x = adk_argument(rate, 1.0);
    const double average = rate->request.cycle_average ? 0.5 : 0.0;
    out[1] = average - (2.0 * n - 1.0);
    out[2] = x / 3.0;
    /* What is left at 1 V/m without the exponential. */
    out[0] = ionisation_log_rate(rate, x) + out[2] / x - out[1] * log(x);
    return 0;
}
