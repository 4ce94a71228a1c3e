/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "kernels/models/pulse/capillary_observe.h"

#include <math.h>
#include <stdbool.h>

#include "kernels/bodies/spectral.h"
#include "kernels/contract/bounds.h"
#include "kernels/models/pulse/constants.h"

#define EDGE_FRACTION 0.05
#define BLOCK         64 /* samples that are looked at together */
#define LANES         8  /* of a sum, each a chain of additions of its own */

/* Whether position i of n is in the outer 5 %. */
static bool is_edge(long i, long n)
{
    const double x = ((double)i + 0.5) / (double)n;
    return x < EDGE_FRACTION || x > 1.0 - EDGE_FRACTION;
}

long capillary_edge_count(long n)
{
    long count = (long)(EDGE_FRACTION * (double)n) - 2;
    count = count < 0 ? 0 : count;
    while (is_edge(count, n))
        count++;
    return count;
}

struct capillary_block capillary_observe_block(const double *power, long n)
{
    /* In lanes of their own: one chain of additions would take longer than the memory does. */
    double top[8] = {0.0};
    double sum[8] = {0.0};
    const long whole = n - n % 8;
    for (long j = 0; j < whole; j += 8)
#pragma omp simd
        for (int i = 0; i < 8; i++) {
            top[i] = power[j + i] > top[i] ? power[j + i] : top[i];
            sum[i] += power[j + i];
        }
    struct capillary_block all = {0.0, 0.0};
    for (int i = 0; i < 8; i++) {
        all.top = top[i] > all.top ? top[i] : all.top;
        all.sum += sum[i];
    }
    for (long j = whole; j < n; j++) {
        all.top = power[j] > all.top ? power[j] : all.top;
        all.sum += power[j];
    }
    return all;
}

static double lanes_sum(const double *lane)
{
    double sum = 0.0;
    for (int i = 0; i < LANES; i++)
        sum += lane[i];
    return sum;
}

void capillary_observe_powers(const struct real_grid *grid, const double *state, long ld,
                              double *power, struct capillary_powers *out)
{
    double sum[CAPILLARY_POWERS][LANES] = {{0.0}};
    for (long from = grid->first; from < grid->last; from += LANES) {
        const long end = from + LANES < grid->last ? from + LANES : grid->last;
#pragma omp simd
        for (long k = from; k < end; k++) {
            const double bin = cplx_abs2(split_get(state, ld, k));
            power[k] = bin;
            sum[POWERS_ALL][k - from] += bin;
            sum[POWERS_OVER][k - from] += bin / (double)(int)k;
            sum[POWERS_MOMENT][k - from] += bin * (double)(int)k;
        }
    }
    out->bin = power;
    for (int j = 0; j < CAPILLARY_POWERS; j++)
        out->sums[j] = lanes_sum(sum[j]);
}

void capillary_observe_line(const struct capillary_pairs *pairs, const double *state, long ld,
                            double *room, double *sums)
{
    double *const size = room;
    double *const angle = size + pairs->count;
    const struct spectral_turn_row turn = {.in = state + pairs->from,
                                           .next = state + pairs->from + 1,
                                           .size = size,
                                           .angle = angle,
                                           .ld = ld};
    const struct spectral_line_row line = {
        .size = size, .angle = angle, .shift = pairs->shift, .least = pairs->least};
    double sum[CAPILLARY_LINE][LANES] = {{0.0}};
#pragma omp simd
    for (long i = 0; i < pairs->count; i++)
        spectral_turn_body(i, &turn);
    for (long from = 0; from < pairs->count; from += LANES) {
        const long end = from + LANES < pairs->count ? from + LANES : pairs->count;
#pragma omp simd
        for (long i = from; i < end; i++) {
            const struct k_terms weight = spectral_weight_body(i, &line);
            const struct k_terms moment = spectral_moment_body(i, &line);
            sum[LINE_WEIGHT][i - from] += weight.a;
            sum[LINE_ANGLE][i - from] += weight.b;
            sum[LINE_PLACE][i - from] += weight.c;
            sum[LINE_SLOPE][i - from] += moment.a;
            sum[LINE_SPREAD][i - from] += moment.b;
        }
    }
    for (int j = 0; j < CAPILLARY_LINE; j++)
        sums[j] = lanes_sum(sum[j]);
}

/* Bins with less than this share of the strongest one's energy do not count for the chirp. */
#define CHIRP_FLOOR 1e-8

/* Energy, photons, mean frequency, edge of the band; the strongest bin. */
static double observe_sums(const struct capillary_point *point,
                           const struct capillary_powers *powers, double *values)
{
    const struct real_grid *const grid = &point->grid;
    const double *const bin = powers->bin + grid->first;
    const double width = real_grid_omega(grid, 1);
    const double all = powers->sums[POWERS_ALL];
    const double energy = 4.0 * grid->window;
    const long count = grid->last - grid->first;
    const long outer = capillary_edge_count(count);
    const double edge = capillary_observe_block(bin, outer).sum
                        + capillary_observe_block(bin + count - outer, outer).sum;
    values[CAPILLARY_ENERGY] = energy * all;
    values[CAPILLARY_PHOTON_NUMBER] = energy * powers->sums[POWERS_OVER] / width / PULSE_HBAR;
    values[CAPILLARY_OMEGA_MEAN] =
        all > 0.0 ? width * powers->sums[POWERS_MOMENT] / all : point->omega0;
    values[CAPILLARY_EDGE_OMEGA] = all > 0.0 ? edge / all : 0.0;
    return capillary_observe_block(bin, count).top;
}

/* A pair's weight, the root of the product of its powers, is not above `least` where neither of
 * them is. */
static struct capillary_pairs find_pairs(const struct real_grid *grid, const double *powers,
                                         double least)
{
    long from = grid->first;
    long end = grid->last;
    while (from < end && !(powers[from] > least))
        from++;
    while (end > from && !(powers[end - 1] > least))
        end--;
    if (from == end)
        return (struct capillary_pairs){.least = least, .from = from};
    from -= from > grid->first ? 1 : 0;
    end -= end < grid->last ? 0 : 1;
    return (struct capillary_pairs){.least = least, .from = from, .count = end - from};
}

/* The delay between two bins is the turn from one to the next; the window's middle, t = 0,
 * turns by half a period. */
double capillary_observe_chirp(const struct real_grid *grid, const double *sums)
{
    const double period = grid->window / (2.0 * PULSE_PI);
    const double spread =
        sums[LINE_SPREAD] * sums[LINE_WEIGHT] - sums[LINE_PLACE] * sums[LINE_PLACE];
    const double slope =
        sums[LINE_SLOPE] * sums[LINE_WEIGHT] - sums[LINE_PLACE] * sums[LINE_ANGLE];
    return spread > 0.0 ? slope / spread * period / real_grid_omega(grid, 1) : 0.0;
}

static double band_energy(const struct real_grid *grid, const double *powers,
                          struct wavelength_band band)
{
    if (!(band.shortest > 0.0))
        return 0.0;
    /* Bin k has the wavelength c T/k. */
    const double light = PULSE_C * grid->window;
    const long from = (long)fmax(ceil(light / band.longest), (double)grid->first);
    const long to = (long)fmin(floor(light / band.shortest) + 1.0, (double)grid->last);
    return from < to
               ? 4.0 * grid->window * capillary_observe_block(powers + from, to - from).sum
               : 0.0;
}

/* The highest local maximum so far. */
struct peak {
    double above, below; /* rad/s: where it is looked for */
    double best;         /* its power, or else what it must exceed */
    double at;           /* rad/s; 0: none */
};

static void look_at_bin(const struct real_grid *grid, const double *powers, long k,
                        struct peak *peak)
{
    const double here = powers[k];
    const double before = powers[k - 1];
    const double after = powers[k + 1];
    if (!(here > peak->best && here >= before && here > after))
        return;
    const double omega = real_grid_omega(grid, k);
    if (omega < peak->above || omega > peak->below)
        return;
    peak->best = here;
    const double curvature = before - 2.0 * here + after;
    const double shift = curvature < 0.0 ? 0.5 * (before - after) / curvature : 0.0;
    peak->at = 2.0 * PULSE_PI * ((double)k + shift) / grid->window;
}

/* Wavelength of the highest local maximum of |a|^2 in bands.rdw, or else on the short side; 0
 * without one: bins below `weak_bin` of the highest of all, `top`, hold rounding at best. */
static double short_peak(const struct capillary_point *point, const double *powers, double top)
{
    const struct real_grid *const grid = &point->grid;
    const struct wavelength_band band = point->band[BAND_RDW];
    const double turn = 2.0 * PULSE_PI * PULSE_C;
    const bool given = band.shortest > 0.0;
    struct peak peak = {.above =
                            given ? turn / band.longest : point->omega0 / CAPILLARY_RDW_SHARE,
                        .below = given ? turn / band.shortest : (double)INFINITY,
                        .best = bound(BOUND_weak_bin) * bound(BOUND_weak_bin) * top};
    /* Bins before it lie below. */
    const long first = (long)(peak.above / real_grid_omega(grid, 1)) - 1;
    const long end = grid->last - 1;
    for (long from = first > grid->first ? first : grid->first + 1; from < end; from += BLOCK) {
        const long to = from + BLOCK < end ? from + BLOCK : end;
        if (capillary_observe_block(powers + from, to - from).top > peak.best)
            for (long k = from; k < to; k++)
                look_at_bin(grid, powers, k, &peak);
    }
    return peak.at > 0.0 ? turn / peak.at : 0.0;
}

void capillary_observe_spectrum(const struct capillary_point *point,
                                const struct capillary_powers *powers, double *values,
                                struct capillary_pairs *pairs)
{
    static const enum capillary_observable energies[CAPILLARY_BANDS] = {
        CAPILLARY_ENERGY_RDW, CAPILLARY_ENERGY_UV, CAPILLARY_ENERGY_VISIBLE,
        CAPILLARY_ENERGY_INFRARED};
    const double top = observe_sums(point, powers, values);
    *pairs = find_pairs(&point->grid, powers->bin, CHIRP_FLOOR * top);
    pairs->shift = (double)pairs->from + 0.5
                   - values[CAPILLARY_OMEGA_MEAN] / real_grid_omega(&point->grid, 1);
    for (int i = 0; i < CAPILLARY_BANDS; i++)
        values[energies[i]] = band_energy(&point->grid, powers->bin, point->band[i]);
    values[CAPILLARY_RDW_PEAK] = short_peak(point, powers->bin, top);
}

/* The first sample from one end on that is not below the level, which one is not. */
static long outermost(const double *power, long n, double level, bool from_end)
{
    long at = 0; /* samples that are below */
    while (at + BLOCK <= n
           && capillary_observe_block(power + (from_end ? n - at - BLOCK : at), BLOCK).top
                  < level)
        at += BLOCK;
    while (power[from_end ? n - 1 - at : at] < level)
        at++;
    return from_end ? n - 1 - at : at;
}

/* Outermost crossing of the level, from one end; in samples, linear between two. */
static double crossing(const double *power, long n, double level, bool from_end)
{
    const long step = from_end ? -1 : 1;
    const long j = outermost(power, n, level, from_end);
    if (j == (from_end ? n - 1 : 0))
        return (double)j;
    const double outside = power[j - step];
    return (double)j - (double)step * (power[j] - level) / (power[j] - outside);
}

void capillary_observe_power(const struct capillary_point *point, const double *power,
                             double *values)
{
    const long n = point->grid.fine;
    const double dt = point->grid.window / (double)n;
    const long edge = capillary_edge_count(n);
    const struct capillary_block all = capillary_observe_block(power, n);
    const bool lit = all.top > 0.0;
    values[CAPILLARY_PEAK_POWER] = all.top;
    values[CAPILLARY_FWHM_T] = lit ? dt
                                         * (crossing(power, n, all.top / 2.0, true)
                                            - crossing(power, n, all.top / 2.0, false))
                                   : 0.0;
    values[CAPILLARY_T_PEAK] =
        lit ? real_grid_time(&point->grid, outermost(power, n, all.top, false)) : 0.0;
    const double outer = capillary_observe_block(power, edge).sum
                         + capillary_observe_block(power + n - edge, edge).sum;
    values[CAPILLARY_EDGE_T] = all.sum > 0.0 ? outer / all.sum : 0.0;
}
