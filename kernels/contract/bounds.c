/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "kernels/contract/bounds.h"

#include <float.h>
#include <math.h>
#include <string.h>

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

/* Modulus of an element, or of the difference of two when `minus` is given. */
static double modulus(const struct comparison_input *in, const double *array,
                      const double *minus, long i)
{
    const long at = in->is_complex ? 2 * i : i;
    const double r = array[at] - (minus != NULL ? minus[at] : 0.0);
    if (!in->is_complex)
        return fabs(r);
    return hypot(r, array[at + 1] - (minus != NULL ? minus[at + 1] : 0.0));
}

static int finite_element(const struct comparison_input *in, const double *array, long i)
{
    if (!in->is_complex)
        return isfinite(array[i]);
    return isfinite(array[2 * i]) && isfinite(array[2 * i + 1]);
}

/* Refuses a reference that proves nothing; its peak. */
static int reference_check(const struct comparison_input *in, double *peak)
{
    if (in->n < 1 || in->value == NULL || in->reference == NULL)
        FAIL(ERR_ARGUMENT, "nothing to compare: %ld elements", in->n);
    *peak = 0.0;
    for (long i = 0; i < in->n; i++) {
        if (!finite_element(in, in->reference, i))
            FAIL(ERR_ARGUMENT, "element %ld of the reference is not finite", i);
        *peak = fmax(*peak, modulus(in, in->reference, NULL, i));
    }
    if (*peak == 0.0)
        FAIL(ERR_ARGUMENT,
             "all %ld elements of the reference are zero: nothing is proven by it", in->n);
    return 0;
}

static int element_bound(const struct comparison_input *in, long i, double size, double *out)
{
    *out = in->bounds != NULL ? in->bounds[i] : in->atol + in->rtol * size;
    if (!(*out >= 0.0) || !isfinite(*out))
        FAIL(ERR_ARGUMENT, "the bound of element %ld is %g: it must be finite and not negative",
             i, *out);
    return 0;
}

static double margin_of(double error, double allowed)
{
    if (error == 0.0)
        return 0.0;
    return allowed > 0.0 && isfinite(error) ? error / allowed : (double)INFINITY;
}

int comparison_run(const struct comparison_input *in, struct comparison *out)
{
    double peak;
    TRY(reference_check(in, &peak));
    *out = (struct comparison){.worst = -1, .margin = -1.0};
    for (long i = 0; i < in->n; i++) {
        const double size = modulus(in, in->reference, NULL, i);
        double allowed;
        TRY(element_bound(in, i, size, &allowed));
        const int finite = finite_element(in, in->value, i);
        const double error =
            finite ? modulus(in, in->value, in->reference, i) : (double)INFINITY;
        const double margin = margin_of(error, allowed);
        out->not_finite += !finite;
        if (size > 0.0 && size < bound(BOUND_weak_bin) * peak)
            out->weak = fmax(out->weak, error / size);
        if (margin > out->margin) {
            out->margin = margin;
            out->worst = i;
            out->observed = error;
            out->allowed = allowed;
        }
    }
    out->within = out->not_finite == 0 && out->margin <= 1.0;
    return 0;
}

int comparison_norm(const struct comparison_input *in, double limit, struct comparison *out)
{
    double peak;
    TRY(reference_check(in, &peak));
    if (!(limit > 0.0) || !isfinite(limit))
        FAIL(ERR_ARGUMENT, "a norm bound of %g: it must be positive and finite", limit);
    *out = (struct comparison){.worst = -1};
    double error2 = 0.0;
    double size2 = 0.0;
    for (long i = 0; i < in->n;
         i++) { /* scaled by the peak: squares neither over- nor underflow */
        const double size = modulus(in, in->reference, NULL, i) / peak;
        const double error = modulus(in, in->value, in->reference, i) / peak;
        out->not_finite += !finite_element(in, in->value, i);
        if (size > 0.0 && size < bound(BOUND_weak_bin))
            out->weak = fmax(out->weak, error / size);
        error2 += error * error;
        size2 += size * size;
    }
    out->observed = out->not_finite == 0 ? sqrt(error2 / size2) : (double)INFINITY;
    out->allowed = limit;
    out->margin = margin_of(out->observed, limit);
    out->within = out->not_finite == 0 && out->margin <= 1.0;
    return 0;
}

long comparison_bits(const void *a, const void *b, size_t size, long count)
{
    for (long i = 0; i < count; i++)
        if (memcmp((const char *)a + (size_t)i * size, (const char *)b + (size_t)i * size, size)
            != 0)
            return i;
    return -1;
}
