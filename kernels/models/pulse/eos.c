/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "kernels/models/pulse/eos.h"

#include <math.h>
#include <stdbool.h>

#include "kernels/base/status.h"
#include "kernels/contract/bounds.h"
#include "kernels/models/pulse/atomic.h"

struct fluid {
    const char *name;
    double gas_constant; /* J/(mol K), that of the publication */
    double temperature;  /* T_r, K */
    double density;      /* rho_r, mol/m^3 */
    double coldest, hottest, highest;
    const char *source;
};

/* A term of the residual Helmholtz energy; eta = 0 without a Gaussian. */
struct term {
    enum eos_fluid fluid;
    double n, d, t, l;
    double eta, beta, gamma, eps;
};

#define EOS_FLUID(id, ...) {__VA_ARGS__},
#define EOS_POWER(...)
#define EOS_GAUSS(...)
static const struct fluid fluids[EOS_COUNT] = {
#include "kernels/models/pulse/eos.def"
};
#undef EOS_FLUID
#undef EOS_POWER
#undef EOS_GAUSS

#define EOS_FLUID(...)
#define EOS_POWER(id, ...)          {EOS_##id, __VA_ARGS__, 0, 0, 0, 0},
#define EOS_GAUSS(id, n, d, t, ...) {EOS_##id, n, d, t, 0, __VA_ARGS__},
static const struct term terms[] = {
#include "kernels/models/pulse/eos.def"
};
#undef EOS_FLUID
#undef EOS_POWER
#undef EOS_GAUSS

#define TERMS ((int)(sizeof terms / sizeof terms[0]))

/* Steps of a walk along an isotherm, in units of rho_r; liquids end below 3.5 rho_r. */
#define WALK_STEPS 700
#define WALK_END   3.5

/* A point of an isotherm. */
struct state {
    double pressure; /* Pa */
    double slope;    /* dp/drho, Pa m^3/mol */
    double fugacity; /* ln(fugacity/(R T rho_r)) */
};

/* At molar density rho, mol/m^3. */
static struct state isotherm(enum eos_fluid fluid, double temperature, double rho)
{
    const struct fluid *const f = &fluids[fluid];
    const double tau = f->temperature / temperature;
    const double delta = rho / f->density;
    double a = 0.0;  /* residual Helmholtz energy over R T */
    double a1 = 0.0; /* delta times its derivative */
    double a2 = 0.0; /* delta^2 times its second derivative */
    for (int i = 0; i < TERMS; i++) {
        const struct term *const k = &terms[i];
        if (k->fluid != fluid)
            continue;
        const double dl = k->l > 0.0 ? pow(delta, k->l) : 0.0;
        const double shift = delta - k->eps;
        const double turn = tau - k->gamma;
        const double value = k->n * pow(delta, k->d) * pow(tau, k->t)
                             * exp(-dl - k->eta * shift * shift - k->beta * turn * turn);
        const double first = k->d - k->l * dl - 2.0 * k->eta * delta * shift;
        a += value;
        a1 += value * first;
        a2 +=
            value
            * (first * first - k->d - k->l * (k->l - 1.0) * dl - 2.0 * k->eta * delta * delta);
    }
    const double rt = f->gas_constant * temperature;
    return (struct state){rho * rt * (1.0 + a1), rt * (1.0 + 2.0 * a1 + a2),
                          a + a1 + log(delta)};
}

const char *eos_name(enum eos_fluid fluid)
{
    return fluids[fluid].name;
}

const char *eos_source(enum eos_fluid fluid)
{
    return fluids[fluid].source;
}

static int temperature_check(enum eos_fluid fluid, double temperature)
{
    const struct fluid *const f = &fluids[fluid];
    if (!(temperature >= f->coldest && temperature <= f->hottest))
        FAIL(ERR_ARGUMENT,
             "temperature: %g K is outside the equation of state of %s, %g K to %g K",
             temperature, f->name, f->coldest, f->hottest);
    return 0;
}

/* Density in [low, high] at which the pressure is p, where it rises. */
static double bisect_pressure(enum eos_fluid fluid, double temperature, double low, double high,
                              double p)
{
    for (int i = 0; i < 200 && high - low > bound(BOUND_root_bisection) * high; i++) {
        const double middle = 0.5 * (low + high);
        if (isotherm(fluid, temperature, middle).pressure < p)
            low = middle;
        else
            high = middle;
    }
    return 0.5 * (low + high);
}

/* First density above `from` at which the slope of the isotherm changes sign; 0 when none. */
static double turning_point(enum eos_fluid fluid, double temperature, double from)
{
    const double end = WALK_END * fluids[fluid].density;
    const double step = end / WALK_STEPS;
    const bool rising = isotherm(fluid, temperature, from + step).slope > 0.0;
    for (int k = 1; k < WALK_STEPS && from + k * step < end; k++) {
        const double rho = from + k * step;
        if ((isotherm(fluid, temperature, rho + step).slope > 0.0) == rising)
            continue;
        double low = rho;
        double high = rho + step;
        for (int i = 0; i < 60; i++) {
            const double middle = 0.5 * (low + high);
            if ((isotherm(fluid, temperature, middle).slope > 0.0) == rising)
                low = middle;
            else
                high = middle;
        }
        return low;
    }
    return 0.0;
}

/* The pressure between `low` and `high` at which gas (below density `top` of its branch) and
 * liquid (above `bottom`) have the same fugacity. */
static double maxwell_pressure(enum eos_fluid fluid, double temperature, double top,
                               double bottom)
{
    const double dense = WALK_END * fluids[fluid].density;
    double low = fmax(isotherm(fluid, temperature, bottom).pressure, 0.0);
    double high = isotherm(fluid, temperature, top).pressure;
    for (int i = 0; i < 60; i++) {
        const double p = 0.5 * (low + high);
        const double gas = bisect_pressure(fluid, temperature, 0.0, top, p);
        const double liquid = bisect_pressure(fluid, temperature, bottom, dense, p);
        if (isotherm(fluid, temperature, gas).fugacity
            < isotherm(fluid, temperature, liquid).fugacity)
            low = p;
        else
            high = p;
    }
    return 0.5 * (low + high);
}

int eos_saturation(enum eos_fluid fluid, double temperature, double *pressure)
{
    TRY(temperature_check(fluid, temperature));
    *pressure = (double)INFINITY;
    if (temperature >= fluids[fluid].temperature)
        return 0;
    const double top = turning_point(fluid, temperature, 0.0);
    const double bottom = top > 0.0 ? turning_point(fluid, temperature, top) : 0.0;
    if (bottom > top)
        *pressure = maxwell_pressure(fluid, temperature, top, bottom);
    return 0;
}

/* Molar density of the gas, mol/m^3, by Newton inside a bracket; 0 when none is found. */
static double gas_root(enum eos_fluid fluid, double temperature, double p)
{
    double low = 0.0;
    double high = (double)INFINITY;
    double rho = p / (fluids[fluid].gas_constant * temperature);
    for (int i = 0; i < 200; i++) {
        const struct state s = isotherm(fluid, temperature, rho);
        *(s.pressure < p ? &low : &high) = rho;
        double next = rho + (p - s.pressure) / s.slope;
        if (!(s.slope > 0.0 && next > low && next < high))
            next = isfinite(high) ? 0.5 * (low + high) : 2.0 * rho;
        if (fmin(fabs(next - rho), high - low) <= bound(BOUND_root_newton) * rho)
            return next;
        rho = next;
    }
    return fabs(isotherm(fluid, temperature, rho).pressure / p - 1.0)
                   < bound(BOUND_root_pressure)
               ? rho
               : 0.0;
}

int eos_density(enum eos_fluid fluid, double temperature, double pressure,
                struct eos_density *out)
{
    const struct fluid *const f = &fluids[fluid];
    TRY(temperature_check(fluid, temperature));
    if (!(pressure >= 0.0 && pressure <= f->highest))
        FAIL(ERR_ARGUMENT,
             "pressure: %g Pa is outside the equation of state of %s, 0 Pa to %g Pa", pressure,
             f->name, f->highest);
    *out = (struct eos_density){0.0, PULSE_NA / (f->gas_constant * temperature)};
    if (pressure == 0.0)
        return 0;
    double limit = 0.0;
    TRY(eos_saturation(fluid, temperature, &limit));
    if (pressure > limit)
        FAIL(ERR_ARGUMENT, "pressure: %s at %g K is a gas up to %g Pa; at %g Pa it is a liquid",
             f->name, temperature, limit, pressure);
    const double rho = gas_root(fluid, temperature, pressure);
    if (!(rho > 0.0))
        FAIL(ERR_ARGUMENT, "pressure: %s has no density at %g Pa and %g K", f->name, pressure,
             temperature);
    *out = (struct eos_density){PULSE_NA * rho,
                                PULSE_NA / isotherm(fluid, temperature, rho).slope};
    return 0;
}

struct eos_density eos_ideal(double temperature, double pressure)
{
    const double kt = PULSE_KB * temperature;
    return (struct eos_density){pressure / kt, 1.0 / kt};
}
