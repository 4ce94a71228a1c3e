/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "kernels/models/pulse/gas.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "kernels/base/status.h"
#include "kernels/models/pulse/atomic.h"

static const struct gas_info gases[GAS_COUNT] = {
#define GAS(id, ...) [GAS_##id] = {__VA_ARGS__},
#include "kernels/models/pulse/gas.def"
#undef GAS
};

/* chi3 of helium at 1 atm and 0 degrees Celsius in the convention of Lehmeier et al., m^2/V^2
 */
#define LEHMEIER 3.43e-28

const struct gas_info *gas_info(enum gas gas)
{
    return &gases[gas];
}

int gas_find(const char *name, enum gas *out)
{
    char names[160] = "";
    size_t used = 0;
    for (int i = 0; i < GAS_COUNT; i++) {
        if (strcmp(name, gases[i].name) == 0) {
            *out = (enum gas)i;
            return 0;
        }
        const int n = snprintf(names + used, sizeof names - used, " %s", gases[i].name);
        used += n > 0 && (size_t)n < sizeof names - used ? (size_t)n : 0;
    }
    FAIL(ERR_ARGUMENT, "gas: there is no %s; known are%s", name, names);
}

int gas_density(enum gas gas, enum density_model model, double temperature, double pressure,
                struct eos_density *out)
{
    const struct gas_info *const g = &gases[gas];
    if (model == DENSITY_HELMHOLTZ) {
        if (g->fluid == EOS_NONE)
            FAIL(ERR_UNSUPPORTED,
                 "density: there is no equation of state for %s; use density: ideal", g->name);
        return eos_density(g->fluid, temperature, pressure, out);
    }
    if (!(pressure >= 0.0 && isfinite(pressure))
        || !(temperature > 0.0 && isfinite(temperature)))
        FAIL(ERR_ARGUMENT,
             "pressure: %g Pa at %g K; a pressure >= 0 and a temperature > 0 are needed",
             pressure, temperature);
    *out = eos_ideal(temperature, pressure);
    return 0;
}

int gas_reference_density(enum gas gas, enum density_model model, double *rho)
{
    struct eos_density density;
    TRY(gas_density(gas, model, gases[gas].temperature, gases[gas].pressure, &density));
    *rho = density.rho;
    return 0;
}

K_FN struct taylor reference_chi(enum gas gas, double omega, int order)
{
    const struct gas_info *const g = &gases[gas];
    /* 1/wavelength in 1/um */
    const struct taylor s =
        taylor_scale(1e-6 / (2.0 * PULSE_PI * PULSE_C), taylor_variable(order, omega));
    const struct taylor s2 = taylor_mul(s, s);
    struct taylor sum = taylor_constant(order, cplx_make(g->offset, 0.0));
    for (int i = 0; i < GAS_TERMS; i++) {
        const double b = g->terms[i][0];
        const double c = g->terms[i][1];
        const struct taylor below = g->fit == GAS_FIT_CHI
                                        ? taylor_shift(taylor_scale(-c, s2), 1.0)
                                        : taylor_shift(taylor_scale(-1.0, s2), c);
        if (b > 0.0)
            sum = taylor_add(sum, taylor_scale(b, taylor_inverse(below)));
    }
    /* n^2 - 1 = (n - 1)(n + 1) */
    return g->fit == GAS_FIT_CHI ? sum : taylor_mul(sum, taylor_shift(sum, 2.0));
}

struct taylor gas_reference_chi(enum gas gas, double omega, int order)
{
    return TAYLOR_PLAIN(reference_chi, order, gas, omega);
}

double gas_resonance(enum gas gas)
{
    const struct gas_info *const g = &gases[gas];
    double longest = 0.0;
    for (int i = 0; i < GAS_TERMS; i++) {
        const double c = g->terms[i][1];
        if (c > 0.0)
            longest = fmax(longest, 1e-6 * (g->fit == GAS_FIT_CHI ? sqrt(c) : 1.0 / sqrt(c)));
    }
    return longest;
}

/* gamma3 = (4/3) eps0 c n0^2 n2 / rho at 1 atm, 293.15 K, 800 nm */
static int gamma3_from_n2(enum gas gas, enum density_model model, double *gamma3)
{
    struct eos_density density;
    double reference = 0.0;
    TRY(gas_density(gas, model, 293.15, PULSE_ATM, &density));
    TRY(gas_reference_density(gas, model, &reference));
    const double omega = 2.0 * PULSE_PI * PULSE_C / 800e-9;
    const double n_squared =
        1.0 + density.rho / reference * gas_reference_chi(gas, omega, 0).c[0].r;
    *gamma3 =
        4.0 / 3.0 * PULSE_EPS0 * PULSE_C * n_squared * gases[gas].kerr_value / density.rho;
    return 0;
}

/* gamma3 of a gas that is not given through another one. */
static int gamma3_own(enum gas gas, enum density_model model, double *gamma3)
{
    const struct gas_info *const g = &gases[gas];
    if (g->kerr == GAS_KERR_N2)
        return gamma3_from_n2(gas, model, gamma3);
    struct eos_density density;
    TRY(gas_density(gas, model, PULSE_ZERO_C, PULSE_ATM, &density));
    *gamma3 = 4.0 * g->kerr_value * LEHMEIER / density.rho;
    return 0;
}

int gas_gamma3(enum gas gas, enum density_model model, double *gamma3)
{
    const struct gas_info *const g = &gases[gas];
    if (g->kerr == GAS_KERR_RATIO) {
        TRY(gamma3_own(g->kerr_of, model, gamma3));
        *gamma3 *= g->kerr_value;
        return 0;
    }
    if (g->kerr == GAS_KERR_AIR) {
        double nitrogen = 0.0;
        double oxygen = 0.0;
        TRY(gamma3_own(GAS_N2, model, &nitrogen));
        TRY(gamma3_own(GAS_O2, model, &oxygen));
        *gamma3 = GAS_AIR_NITROGEN * nitrogen + GAS_AIR_OXYGEN * oxygen;
        return 0;
    }
    return gamma3_own(gas, model, gamma3);
}
