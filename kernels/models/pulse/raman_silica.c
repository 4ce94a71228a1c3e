/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "kernels/models/pulse/raman_silica.h"

#include <math.h>

#include "kernels/models/pulse/constants.h"
#include "kernels/numeric/quadrature.h"

/* Table 1 of the paper; wavenumbers in 1/cm. */
struct vibration {
    double position;
    double amplitude;
    double gauss;   /* full width at half maximum */
    double lorentz; /* the same */
};

static const struct vibration vibrations[] = {
    {56.25, 1.0, 52.1, 17.37},    {100.0, 11.4, 110.42, 38.81}, {231.25, 36.67, 175.0, 58.33},
    {362.5, 67.67, 162.5, 54.17}, {463.0, 74.0, 135.33, 45.11}, {497.0, 4.5, 24.5, 8.17},
    {611.5, 6.8, 41.5, 13.83},    {691.67, 4.6, 155.0, 51.67},  {793.67, 4.2, 59.5, 19.83},
    {835.5, 4.5, 64.3, 21.43},    {930.0, 2.7, 150.0, 50.0},    {1080.0, 3.1, 91.0, 30.33},
    {1215.0, 3.0, 160.0, 53.33}};

#define VIBRATIONS ((int)(sizeof vibrations / sizeof vibrations[0]))

/* The slowest vibration has decayed to exp(-40) at the end; a panel holds a period of the
 * fastest.
 */
#define INTEGRAL_END    8e-12
#define INTEGRAL_PANELS 400

double raman_silica_response(double scale, double t)
{
    const double width = 100.0 * PULSE_PI * PULSE_C; /* rad/s of a full width of 1/cm */
    double sum = 0.0;
    for (int i = 0; i < VIBRATIONS && t >= 0.0; i++) {
        const struct vibration *const v = &vibrations[i];
        const double gauss = width * v->gauss * t;
        sum += v->amplitude * exp(-width * v->lorentz * t - 0.25 * gauss * gauss)
               * sin(2.0 * width * v->position * t);
    }
    return scale * sum;
}

double raman_silica_scale(void)
{
    struct quadrature q;
    quadrature_legendre(&q, 16);
    const double panel = INTEGRAL_END / INTEGRAL_PANELS;
    double sum = 0.0;
    for (int k = 0; k < INTEGRAL_PANELS; k++)
        for (int i = 0; i < q.n; i++)
            sum += panel * q.weight[i] * raman_silica_response(1.0, panel * (k + q.node[i]));
    return 1.0 / sum;
}
