/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "kernels/models/pulse/grid.h"

#include <math.h>

#include "kernels/base/status.h"
#include "kernels/models/pulse/constants.h"

bool pulse_grid_smooth(long n)
{
    static const long primes[] = {2, 3, 5, 7};
    for (int i = 0; i < 4; i++)
        while (n % primes[i] == 0)
            n /= primes[i];
    return n == 1;
}

static long next_smooth(long n, long step)
{
    while (n > PULSE_GRID_MIN && n < PULSE_GRID_MAX && !(n % 2 == 0 && pulse_grid_smooth(n)))
        n += step;
    return n;
}

int pulse_grid_check(long n)
{
    if (n < PULSE_GRID_MIN || n > PULSE_GRID_MAX)
        FAIL(ERR_ARGUMENT, "grid.points: %ld is outside %d to %d", n, PULSE_GRID_MIN,
             PULSE_GRID_MAX);
    if (n % 2 != 0 || !pulse_grid_smooth(n))
        FAIL(ERR_ARGUMENT,
             "grid.points: %ld is not an even 2^a 3^b 5^c 7^d; %ld and %ld are the nearest", n,
             next_smooth(n, -1), next_smooth(n, 1));
    return 0;
}

int pulse_grid_points(const struct pulse_band *band, double window, long *n)
{
    const double reference = 2.0 * PULSE_PI * PULSE_C / band->omega0;
    if (!(band->shortest < reference && reference < band->longest))
        FAIL(ERR_ARGUMENT,
             "grid.wavelengths: %g m to %g m does not enclose the reference wavelength %g m",
             band->shortest, band->longest, reference);
    const double centre = band->omega0 / (2.0 * PULSE_PI);
    const double blue = 1.1 * PULSE_C / band->shortest - centre;
    const double red = centre - PULSE_C / band->longest;
    const double needed = window * 2.0 * fmax(blue, red);
    if (!(needed <= PULSE_GRID_MAX))
        FAIL(ERR_ARGUMENT,
             "grid.wavelengths: %g points are needed for a window of %g s; at most "
             "%d are supported",
             needed, window, PULSE_GRID_MAX);
    *n = PULSE_GRID_MIN;
    while ((double)*n < needed)
        *n *= 2;
    return 0;
}

long pulse_bin(long k, long n)
{
    return k < n / 2 ? k : k - n;
}

void pulse_grid_omega(double *omega, long n, double window)
{
    const double width = 2.0 * PULSE_PI / window;
    for (long k = 0; k < n; k++)
        omega[k] = width * (double)pulse_bin(k, n);
}

void pulse_grid_time(double *t, long n, double window)
{
    const double dt = window / (double)n;
    const long middle = n / 2;
    for (long j = 0; j < n; j++)
        t[j] = dt * (double)(j - middle);
}

double pulse_planck(double x, double edge)
{
    const double inside =
        1.0 - fabs(x); /* distance from the end: 0 at the end, edge at the flat */
    if (inside >= edge)
        return 1.0;
    if (inside <= 0.0)
        return 0.0;
    const double exponent = edge / inside + edge / (inside - edge);
    return exponent > 700.0 ? 0.0 : 1.0 / (1.0 + exp(exponent));
}
