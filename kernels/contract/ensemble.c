/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "kernels/contract/ensemble.h"

#include <math.h>
#include <stdbool.h>

#include <gsl/gsl_cdf.h>

#include "kernels/base/mem.h"
#include "kernels/base/status.h"
#include "kernels/contract/bounds.h"

int ensemble_mean_error(const double *values, long count, long stride, double *mean,
                        double *error)
{
    if (count < 2)
        FAIL(ERR_ARGUMENT, "a standard error of %ld realisations: it takes two", count);
    double sum = 0.0;
    for (long i = 0; i < count; i++)
        sum += values[i * stride];
    const double middle = sum / (double)count;
    if (!isfinite(middle))
        FAIL(ERR_ARGUMENT, "realisations with a mean of %g", middle);
    double squares = 0.0;
    for (long i = 0; i < count; i++) {
        const double off = values[i * stride] - middle;
        squares += off * off;
    }
    if (mean != NULL)
        *mean = middle;
    *error = sqrt(squares / (double)(count - 1) / (double)count);
    return 0;
}

int ensemble_coherence_error(enum coherence_estimate estimate, double g, double runs,
                             struct coherence_error *out)
{
    if (!(g >= 0.0) || g > 1.0 || !(runs >= 2.0) || !isfinite(runs))
        FAIL(ERR_ARGUMENT, "a coherence of %g from %g realisations", g, runs);
    const double rest = 1.0 - g;
    if (estimate == COHERENCE_PRODUCTS) {
        const double square = rest * (1.0 + g);
        *out = (struct coherence_error){.floor = 1.0 / sqrt(runs),
                                        .variance = square * square / (2.0 * runs)};
        return 0;
    }
    const double mean = 2.0 / exp(1.0); /* of |x - 1|, x exponential with mean 1 */
    const double floor = mean / (runs - 1.0);
    const double empty = (1.0 - mean * mean) / ((runs - 1.0) * (runs - 1.0));
    const double noisy = g * (2.0 - g) / runs;
    *out = (struct coherence_error){.floor = floor,
                                    .variance = rest * rest * (noisy + rest * rest * empty)};
    return 0;
}

/* Bins that hold something in either ensemble, and whose means are known to some error. */
static bool is_compared(const struct ensemble_mean *a, const struct ensemble_mean *b, long k,
                        double floor)
{
    const double error = hypot(a->error[k], b->error[k]);
    return fmax(a->mean[k], b->mean[k]) >= floor && error > 0.0 && isfinite(error)
           && isfinite(a->mean[k] - b->mean[k]);
}

static double peak_of(const struct ensemble_mean *a, long bins)
{
    double peak = 0.0;
    for (long k = 0; k < bins; k++)
        if (isfinite(a->mean[k]))
            peak = fmax(peak, a->mean[k]);
    return peak;
}

/* Integrated autocorrelation of z over neighbouring bins, cut where it first falls to nothing.
 */
static double correlation_of(const double *z, long n)
{
    double square = 0.0;
    double sum = 1.0;
    for (long i = 0; i < n; i++)
        square += z[i] * z[i];
    for (long lag = 1; lag < n && square > 0.0; lag++) {
        double product = 0.0;
        for (long i = 0; i + lag < n; i++)
            product += z[i] * z[i + lag];
        if (product <= 0.0)
            break;
        sum += 2.0 * product / square;
    }
    return fmin(sum, (double)n);
}

static void count_bins(const double *z, struct ensemble_difference *out)
{
    double square = 0.0;
    for (long i = 0; i < out->bins; i++) {
        square += z[i] * z[i];
        out->beyond2 += fabs(z[i]) > 2.0;
        out->beyond3 += fabs(z[i]) > 3.0;
    }
    out->chi2 = square / (double)out->bins;
}

static void expect(struct ensemble_difference *out)
{
    const double f = out->freedom;
    const double n = (double)out->bins;
    const double variance = 2.0 * f * f * (f - 1.0) / ((f - 2.0) * (f - 2.0) * (f - 4.0));
    out->expected = f / (f - 2.0);
    out->spread = sqrt(variance * out->correlation / n);
    out->chance2 = 2.0 * n * gsl_cdf_tdist_Q(2.0, f);
    out->chance3 = 2.0 * n * gsl_cdf_tdist_Q(3.0, f);
}

int ensemble_compare(const struct ensemble_mean *a, const struct ensemble_mean *b, long bins,
                     struct ensemble_difference *out)
{
    double *z = NULL;
    *out =
        (struct ensemble_difference){.freedom = (double)(a->runs + b->runs - 2), .worst = -1};
    if (out->freedom < 5.0 || a->runs < 2 || b->runs < 2)
        FAIL(ERR_ARGUMENT, "ensembles of %ld and %ld realisations: 7 together are compared",
             a->runs, b->runs);
    const double floor = bound(BOUND_weak_bin) * fmax(peak_of(a, bins), peak_of(b, bins));
    TRY(MEM_NEW(bins > 0 ? bins : 1, &z));
    for (long k = 0; k < bins; k++) {
        if (!is_compared(a, b, k, floor))
            continue;
        z[out->bins] = (a->mean[k] - b->mean[k]) / hypot(a->error[k], b->error[k]);
        if (fabs(z[out->bins]) > out->largest || out->worst < 0) {
            out->largest = fabs(z[out->bins]);
            out->worst = k;
        }
        out->bins++;
    }
    if (out->bins > 0) {
        out->correlation = correlation_of(z, out->bins);
        count_bins(z, out);
        expect(out);
    }
    mem_free(z);
    if (out->bins == 0)
        FAIL(ERR_ARGUMENT, "ensembles without a bin that can be compared");
    return 0;
}

double ensemble_limit(double tests)
{
    const double one = gsl_cdf_ugaussian_Q(bound(BOUND_sigmas));
    return gsl_cdf_ugaussian_Qinv(one / fmax(tests, 1.0));
}

/* The chance that any of so many bins is this far off, however they vary together, in standard
 * deviations of a normal number. */
static double largest_in_sigmas(const struct ensemble_difference *d)
{
    const double chance = 2.0 * (double)d->bins * gsl_cdf_tdist_Q(d->largest, d->freedom);
    return chance < 1.0 ? gsl_cdf_ugaussian_Qinv(fmax(0.5 * chance, 1e-300)) : 0.0;
}

double ensemble_excess(const struct ensemble_difference *d)
{
    const double share = d->chance3 / (double)d->bins;
    /* bins that vary together come together */
    const double spread = sqrt(d->chance3 * (1.0 - share) * d->correlation);
    const double bins = ((double)d->beyond3 - d->chance3) / fmax(spread, d->correlation);
    const double square = (d->chi2 - d->expected) / d->spread;
    return fmax(fmax(0.0, largest_in_sigmas(d)), fmax(square, bins));
}
