/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "kernels/contract/sequential.h"

#include <math.h>

#include <gsl/gsl_cdf.h>

#include "kernels/base/status.h"

int sequential_check(const struct sequential_rule *rule)
{
    if (!(rule->error > 0.0) || !isfinite(rule->error))
        FAIL(ERR_ARGUMENT, "a wanted error of %g: it must be above 0", rule->error);
    if (rule->min < SEQUENTIAL_LEAST || rule->max < rule->min)
        FAIL(ERR_ARGUMENT, "looks from %lld to %lld realisations: %d or more, ascending",
             (long long)rule->min, (long long)rule->max, SEQUENTIAL_LEAST);
    return 0;
}

int sequential_looks(const struct sequential_rule *rule)
{
    int looks = 1;
    while (looks < SEQUENTIAL_LOOKS_MAX && sequential_count(rule, looks - 1) < rule->max)
        looks++;
    return looks;
}

int64_t sequential_count(const struct sequential_rule *rule, int look)
{
    int64_t count = rule->min;
    for (int k = 0; k < look && count < rule->max; k++)
        count = count > rule->max / 2 ? rule->max : 2 * count;
    return count < rule->max ? count : rule->max;
}

double sequential_widening(const struct sequential_rule *rule, int64_t count)
{
    const double tail = SEQUENTIAL_ALPHA / 2.0;
    if (count < 2)
        return (double)INFINITY;
    return gsl_cdf_tdist_Qinv(tail / sequential_looks(rule), (double)(count - 1))
           / gsl_cdf_ugaussian_Qinv(tail);
}

bool sequential_stops(const struct sequential_rule *rule, int look, double widened)
{
    return widened <= rule->error || sequential_count(rule, look) >= rule->max;
}
