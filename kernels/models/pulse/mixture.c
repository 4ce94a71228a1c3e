/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "kernels/models/pulse/mixture.h"

#include <math.h>

#include "kernels/base/status.h"
#include "kernels/contract/bounds.h"
#include "kernels/models/pulse/atomic.h"

/* How far from 1 the sum of fractions may be: what is written with six decimals. */
#define FRACTION_SLACK bound(BOUND_fraction_sum)

static int check_fractions(const struct mixture_request *r, double *sum)
{
    if (r->count < 1 || r->count > MIXTURE_GASES)
        FAIL(ERR_ARGUMENT, "gas: %d gases; 1 to %d are accepted", r->count, MIXTURE_GASES);
    *sum = 0.0;
    for (int i = 0; i < r->count; i++) {
        const char *const name = gas_info(r->gas[i])->name;
        if (!(r->fraction[i] > 0.0 && r->fraction[i] <= 1.0))
            FAIL(ERR_ARGUMENT, "gas.%s: mole fraction %g; it must lie above 0 and up to 1",
                 name, r->fraction[i]);
        *sum += r->fraction[i];
    }
    if (fabs(*sum - 1.0) > FRACTION_SLACK)
        FAIL(ERR_ARGUMENT, "gas: the mole fractions sum to %.9g; they must sum to 1", *sum);
    return 0;
}

int mixture_init(struct mixture *out, const struct mixture_request *request)
{
    double sum = 0.0;
    TRY(check_fractions(request, &sum));
    *out = (struct mixture){.request = *request};
    for (int i = 0; i < request->count; i++) {
        const enum gas gas = request->gas[i];
        double reference = 0.0;
        double gamma3 = 0.0;
        struct eos_density density;
        out->request.fraction[i] /= sum;
        TRY(gas_reference_density(gas, request->model, &reference));
        TRY(gas_gamma3(gas, request->model, &gamma3));
        TRY(gas_density(gas, request->model, request->temperature, 0.0, &density));
        out->scale[i] = out->request.fraction[i] / reference;
        out->gamma3 += out->request.fraction[i] * gamma3;
        if (gas_resonance(gas) > out->resonance) {
            out->resonance = gas_resonance(gas);
            out->resonant = gas_info(gas)->name;
        }
    }
    return 0;
}

/* Adds to the kind that is there, or as a new one. */
static int add_part(struct mixture_part *out, int count, enum gas gas, double fraction)
{
    int i = 0;
    while (i < count && out[i].gas != gas)
        i++;
    if (i == count)
        out[i] = (struct mixture_part){gas, 0.0};
    out[i].fraction += fraction;
    return i == count ? count + 1 : count;
}

int mixture_parts(const struct mixture *mixture, struct mixture_part out[MIXTURE_PARTS])
{
    const struct mixture_request *const r = &mixture->request;
    int count = 0;
    for (int i = 0; i < r->count; i++) {
        if (r->gas[i] != GAS_AIR) {
            count = add_part(out, count, r->gas[i], r->fraction[i]);
            continue;
        }
        count = add_part(out, count, GAS_N2, GAS_AIR_NITROGEN * r->fraction[i]);
        count = add_part(out, count, GAS_O2, GAS_AIR_OXYGEN * r->fraction[i]);
    }
    return count;
}

int mixture_density(const struct mixture *mixture, double pressure, struct eos_density *out)
{
    const struct mixture_request *const r = &mixture->request;
    double volume = 0.0; /* of one particle, m^3; at no pressure: divided by 1/p */
    double slope = 0.0;  /* minus its derivative */
    for (int i = 0; i < r->count; i++) {
        struct eos_density d;
        TRY(gas_density(r->gas[i], r->model, r->temperature, pressure, &d));
        volume += r->fraction[i] / (pressure > 0.0 ? d.rho : d.drhodp);
        slope += pressure > 0.0 ? r->fraction[i] * (d.drhodp / d.rho) / d.rho : 0.0;
    }
    *out = pressure > 0.0 ? (struct eos_density){1.0 / volume, slope / volume / volume}
                          : (struct eos_density){0.0, 1.0 / volume};
    return 0;
}

K_FN struct taylor susceptibility(const struct mixture *mixture, double omega, int order)
{
    struct taylor sum = taylor_constant(order, cplx_make(0.0, 0.0));
    for (int i = 0; i < mixture->request.count; i++)
        sum = taylor_add(
            sum, taylor_scale(mixture->scale[i],
                              gas_reference_chi(mixture->request.gas[i], omega, order)));
    return sum;
}

struct taylor mixture_susceptibility(const struct mixture *mixture, double omega, int order)
{
    return TAYLOR_PLAIN(susceptibility, order, mixture, omega);
}

struct taylor mixture_index(const struct mixture *mixture, double rho, double omega, int order)
{
    const struct taylor g = mixture_susceptibility(mixture, omega, order);
    return taylor_sqrt(taylor_shift(taylor_scale(rho, g), 1.0));
}

double mixture_n2(const struct mixture *mixture, double rho, double omega)
{
    const double n = mixture_index(mixture, rho, omega, 0).c[0].r;
    return 0.75 * rho * mixture->gamma3 / (PULSE_EPS0 * PULSE_C * n * n);
}

int mixture_check_band(const struct mixture *mixture, double shortest)
{
    if (!(shortest > mixture->resonance))
        FAIL(ERR_ARGUMENT,
             "grid.wavelengths: the band reaches %g m, but the index of %s is known down to "
             "its resonance at %g m only",
             shortest, mixture->resonant, mixture->resonance);
    return 0;
}
