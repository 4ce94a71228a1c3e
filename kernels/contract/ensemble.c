/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "kernels/contract/ensemble.h"

#include <math.h>

#include "kernels/base/status.h"

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
