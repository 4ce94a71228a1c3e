/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "kernels/models/snl1/sea.h"

#include <math.h>

#include "kernels/base/rng.h"

#define GRAVITY 9.806
#define PI      3.14159265358979323846

void snl1_dispersion(double sigma, double depth, double *k, double *cg)
{
    const double deep = sigma * sigma * depth / GRAVITY;
    double x = deep > 1.0 ? deep : sqrt(deep); /* k depth */
    for (int i = 0; i < 30; i++) {
        const double t = tanh(x);
        const double step = (x * t - deep) / (t + x * (1.0 - t * t));
        x -= step;
        if (fabs(step) < 1e-15 * x)
            break;
    }
    const double twice = 2.0 * x;
    const double ratio = twice > 500.0 ? 0.0 : twice / sinh(twice);
    *k = x / depth;
    *cg = sigma / *k * 0.5 * (1.0 + ratio);
}

/* JONSWAP, up to a factor. */
static double jonswap(const struct snl1_system *s, double f)
{
    const double ratio = f / s->peak;
    const double width = ratio <= 1.0 ? 0.07 : 0.09;
    const double off = (ratio - 1.0) / width;
    return pow(ratio, -5.0) * exp(-1.25 * pow(ratio, -4.0))
           * pow(s->gamma, exp(-0.5 * off * off));
}

static double direction_share(const struct snl1_system *s, double theta)
{
    return pow(fabs(cos(0.5 * (theta - s->direction))), 2.0 * s->spread);
}

/* Width of a row, Hz: half the distance of its neighbours. */
static double row_width(const struct snl1_grid *grid, int32_t f)
{
    return (double)grid->sig[f] / (2.0 * PI) * 0.5 * (grid->xfr - 1.0 / grid->xfr);
}

/* Factor that gives a system its height on this grid. */
static double system_scale(const struct snl1_grid *grid, const struct snl1_system *s)
{
    double sum = 0.0;
    double round = 0.0;
    if (!(s->height > 0.0))
        return 0.0;
    for (int32_t f = 0; f < grid->nk; f++)
        sum += jonswap(s, (double)grid->sig[f] / (2.0 * PI)) * row_width(grid, f);
    for (int32_t t = 0; t < grid->nth; t++)
        round += direction_share(s, 2.0 * PI * t / grid->nth) * 2.0 * PI / grid->nth;
    const double m0 = s->height * s->height / 16.0;
    return sum * round > 0.0 ? m0 / (sum * round) : 0.0;
}

/* Factor of a bin: exponential as the power of a random sea, in part. */
static double draw(const struct snl1_sea *sea, uint64_t bin)
{
    const struct rng_stream stream = {.seed = sea->seed, .component = sea->point};
    double u[2];
    if (!(sea->noise > 0.0))
        return 1.0;
    rng_uniform2(&stream, bin, u);
    return 1.0 - sea->noise - sea->noise * log(u[0]);
}

void snl1_sea_fill(const struct snl1_grid *grid, const struct snl1_sea *sea, float *a,
                   float *cg, float *kdmean)
{
    const double scale[2] = {system_scale(grid, &sea->sea), system_scale(grid, &sea->swell)};
    double energy = 0.0;
    double weighted = 0.0;
    for (int32_t f = 0; f < grid->nk; f++) {
        const double sigma = (double)grid->sig[f];
        const double hz = sigma / (2.0 * PI);
        double k;
        double speed;
        snl1_dispersion(sigma, sea->depth, &k, &speed);
        cg[f] = (float)speed;
        const double rows[2] = {scale[0] > 0.0 ? scale[0] * jonswap(&sea->sea, hz) : 0.0,
                                scale[1] > 0.0 ? scale[1] * jonswap(&sea->swell, hz) : 0.0};
        for (int32_t t = 0; t < grid->nth; t++) {
            const double theta = 2.0 * PI * t / grid->nth;
            const double e = (rows[0] * direction_share(&sea->sea, theta)
                              + rows[1] * direction_share(&sea->swell, theta))
                             * draw(sea, (uint64_t)(f * (long)grid->nth + t));
            a[f * (long)grid->nth + t] = (float)(e * speed / (2.0 * PI * sigma));
            energy += e * row_width(grid, f);
            weighted += e * row_width(grid, f) / sqrt(k);
        }
    }
    const double mean = energy > 0.0 ? energy / weighted * (energy / weighted) : 1.0;
    *kdmean = (float)mean * (float)sea->depth;
}

double snl1_sea_height(const struct snl1_grid *grid, const float *a, const float *cg)
{
    double m0 = 0.0;
    for (int32_t f = 0; f < grid->nk; f++) {
        const double factor = 2.0 * PI * (double)grid->sig[f] / (double)cg[f]
                              * row_width(grid, f) * 2.0 * PI / grid->nth;
        for (int32_t t = 0; t < grid->nth; t++)
            m0 += (double)a[f * (long)grid->nth + t] * factor;
    }
    return 4.0 * sqrt(fmax(m0, 0.0));
}
