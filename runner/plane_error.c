/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "runner/plane_error.h"

#include <math.h>

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

long plane_error_missing(const double *error, const bool *judged, long planes)
{
    for (long k = 0; k < planes; k++)
        if (judged[k] && isnan(error[k]))
            return k;
    return -1;
}
