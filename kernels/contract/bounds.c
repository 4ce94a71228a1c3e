/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "kernels/contract/bounds.h"

#include <float.h>
#include <math.h>

#include "kernels/base/status.h"

static const struct bound_entry entries[BOUND_COUNT] = {
#define BOUND(name, value, unit, source) {#name, value, unit, source},
#include "kernels/contract/bounds.def"
#undef BOUND
};

const struct bound_entry *bound_entry(enum bound_id id)
{
    return &entries[id];
}

double bound(enum bound_id id)
{
    return entries[id].value;
}

double precision_roundoff(enum precision precision)
{
    static const double values[] = {
        [PRECISION_F64] = 0x1p-53, [PRECISION_F32] = 0x1p-24, [PRECISION_BF16] = 0x1p-8};
    return values[precision];
}

double precision_tiny(enum precision precision)
{
    static const double values[] = {
        [PRECISION_F64] = 0x1p-1074, [PRECISION_F32] = 0x1p-149, [PRECISION_BF16] = 0x1p-133};
    return values[precision];
}

int bound_gamma(double k, enum precision precision, double *gamma)
{
    const double ku = k * precision_roundoff(precision);
    if (!(k >= 0.0) || ku >= 1.0)
        FAIL(ERR_ARGUMENT, "no rounding bound for %g roundings: k u = %g is not in [0, 1)", k,
             ku);
    *gamma = ku / (1.0 - ku);
    return 0;
}

static int magnitude_check(double sum_abs)
{
    if (!(sum_abs >= 0.0) || !isfinite(sum_abs))
        FAIL(ERR_ARGUMENT, "a sum of magnitudes of %g: it must be finite and not negative",
             sum_abs);
    return 0;
}

int bound_sum_depth(long n, long lanes, double *depth)
{
    if (lanes < 1 || n < lanes)
        FAIL(ERR_ARGUMENT, "a sum of %ld terms in %ld lanes", n, lanes);
    const long more = (n - 1) / lanes; /* ceil(n / lanes) - 1 */
    *depth = (double)more;
    for (long joined = 1; joined<lanes; joined = joined> lanes / 2 ? lanes : 2 * joined)
        *depth += 1.0;
    return 0;
}

int bound_sum(double depth, double sum_abs, enum precision precision, double *out)
{
    double gamma = 0.0;
    TRY(magnitude_check(sum_abs));
    TRY(bound_gamma(depth, precision, &gamma));
    *out = gamma * sum_abs;
    return 0;
}

int bound_dot(double n, double sum_abs, enum precision precision, double *out)
{
    TRY(bound_sum(n, sum_abs, precision, out));
    *out += n * precision_tiny(precision);
    return 0;
}

int bound_complex_dot(double n, double sum_abs, enum precision precision, double *out)
{
    TRY(bound_dot(2.0 * n, sum_abs, precision, out));
    *out *= sqrt(2.0);
    return 0;
}

int bound_scan(double chunk, double offsets, double sum_abs, enum precision precision,
               double *out)
{
    return bound_sum(chunk + offsets + 1.0, sum_abs, precision, out);
}

int bound_stencil(int side, double sum_abs, enum precision precision, double *out)
{
    if (side < 0)
        FAIL(ERR_ARGUMENT, "a stencil of %d taps a side", side);
    return bound_dot(2.0 * side + 2.0, sum_abs, precision, out);
}

int bound_fft(long n, double *out)
{
    if (n < 1)
        FAIL(ERR_ARGUMENT, "transform length %ld: it must be at least 1", n);
    double levels = 1.0;
    while (ldexp(1.0, (int)levels) < (double)n)
        levels += 1.0;
    *out = bound(BOUND_fft_round_trip) * DBL_EPSILON * levels;
    return 0;
}

int bound_steps(int steps, double peak, double *out)
{
    if (steps < 1 || steps > 8)
        FAIL(ERR_ARGUMENT, "the step ladder is for 1 to 8 steps, not %d", steps);
    if (!(peak > 0.0) || !isfinite(peak))
        FAIL(ERR_ARGUMENT, "a peak magnitude of %g: it must be positive and finite", peak);
    *out = bound(steps == 1 ? BOUND_ladder_one_step : BOUND_ladder_eight_steps) * DBL_EPSILON
           * peak;
    return 0;
}

int bound_propagation(const struct propagation_step *steps, int count, double initial,
                      double *out)
{
    double error = initial;
    if (count < 0 || !(error >= 0.0) || !isfinite(error))
        FAIL(ERR_ARGUMENT, "a propagation of %d steps from an error of %g", count, error);
    for (int k = 0; k < count; k++) {
        const struct propagation_step *s = &steps[k];
        if (!(s->gain >= 0.0) || !(s->rounding >= 0.0))
            FAIL(ERR_ARGUMENT, "step %d has a gain of %g and a rounding error of %g", k,
                 s->gain, s->rounding);
        error = s->gain * error + s->rounding;
        if (!isfinite(error))
            FAIL(ERR_ARGUMENT, "the bound is not finite behind step %d", k);
    }
    *out = error;
    return 0;
}
