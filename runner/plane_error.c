/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "runner/plane_error.h"

#include <math.h>
#include <stdio.h>

double plane_error_l2(const double *c, const double *r, long n)
{
    double difference = 0;
    double size = 0;
    for (long i = 0; i < n; i++) {
        difference += (c[i] - r[i]) * (c[i] - r[i]);
        size += r[i] * r[i];
    }
    const double error = sqrt(difference / size);
    return size > 0 && isfinite(error) ? error : (double)NAN;
}

double plane_error_power(const double *c, const double *r, long n)
{
    double difference = 0;
    double size = 0;
    for (long i = 0; i < 2 * n; i += 2) {
        const double p = c[i] * c[i] + c[i + 1] * c[i + 1];
        const double q = r[i] * r[i] + r[i + 1] * r[i + 1];
        difference += (p - q) * (p - q);
        size += q * q;
    }
    const double error = sqrt(difference / size);
    return size > 0 && isfinite(error) ? error : (double)NAN;
}

double plane_error_number(double c, double r)
{
    if (!isfinite(c) || !isfinite(r))
        return (double)NAN;
    const double difference = fabs(c - r);
    return difference > 0 ? difference / fabs(r) : 0;
}

void plane_error_judge(const double *error, const bool *judged, long planes, double bound,
                       struct plane_verdict *out)
{
    long worst = -1;
    *out = (struct plane_verdict){.bound = bound, .observed = (double)NAN};
    for (long k = 0; k < planes; k++) {
        if (!judged[k])
            continue;
        if (isnan(error[k])) {
            snprintf(out->reason, sizeof out->reason,
                     "plane %ld has no error: its reference is missing, zero or not finite", k);
            out->margin = (double)NAN;
            return;
        }
        if (worst < 0 || error[k] > error[worst])
            worst = k;
    }
    if (worst < 0) {
        snprintf(out->reason, sizeof out->reason, "no plane was judged");
        out->margin = (double)NAN;
        return;
    }
    out->observed = error[worst];
    out->margin = out->observed / bound;
    out->verdict = out->margin <= 1 ? VERDICT_WITHIN : VERDICT_OUTSIDE;
    if (out->verdict == VERDICT_OUTSIDE)
        snprintf(out->reason, sizeof out->reason,
                 "error %.3g at plane %ld is %.3g times the bound %.3g", out->observed, worst,
                 out->margin, bound);
}
