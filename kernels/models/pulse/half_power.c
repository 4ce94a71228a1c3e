/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "kernels/models/pulse/half_power.h"

#include <math.h>

#include "kernels/base/status.h"
#include "kernels/models/pulse/capillary_observe.h"
#include "kernels/models/pulse/constants.h"

/* Fewer samples are not worth it, and have no room for a block in `work`. */
#define LEAST_SAMPLES 1024
/* Pairs that are looked at together, at most. */
#define MOST_PAIRS 512

bool half_power_sizes(long fine, long coarse)
{
    return fine >= LEAST_SAMPLES && fine % 4 == 0 && coarse <= fine / 2;
}

bool half_power_fits(const struct real_grid *grid)
{
    return !grid->envelope && half_power_sizes(grid->fine, grid->coarse)
           && grid->last <= grid->fine / 4;
}

static long smaller(long a, long b)
{
    return a < b ? a : b;
}

static long block_count(const struct half_power *h)
{
    return (h->n + HALF_POWER_BLOCK - 1) / HALF_POWER_BLOCK;
}

static const cplx *pairs(const struct half_power *h, long from)
{
    return (const cplx *)h->samples + from;
}

int half_power_init(const struct real_grid *grid, struct half_power *h)
{
    struct backend *const be = h->be;
    h->n = grid->fine / 2;
    h->block = -1;
    h->most = smaller(MOST_PAIRS, grid->fine / 8);
    h->bend = 2.0 * PULSE_PI / (double)grid->fine * (double)(grid->last - 1 - grid->first);
    const long whole = h->n / HALF_POWER_BLOCK;
    const long rest = h->n % HALF_POWER_BLOCK;
    struct half_even_args args = {pairs(h, 0), h->quadrature, h->work, HALF_POWER_BLOCK, NULL};
    TRY(be->kernels->half_even(be, &args, 0, whole, HALF_POWER_BLOCK));
    if (rest > 0)
        TRY(be->kernels->half_even(be, &args, whole, 1, rest));
    return be->ops->download(be, h->blocks, h->work,
                             (size_t)(2 * block_count(h)) * sizeof(double));
}

/* Sums and differences of quadrature and sample around a piece. The samples are periodic.
 * NOLINTNEXTLINE(readability-non-const-parameter): the kernel writes work */
static int make_sums(const struct half_power *h, long from, long reach, double *work)
{
    struct backend *const be = h->be;
    for (long done = 0; done < reach;) {
        const long at = (from + done + h->n) % h->n;
        const long some = smaller(reach - done, h->n - at);
        const struct half_sums_args args = {.samples = pairs(h, at),
                                            .quadrature = h->quadrature + at,
                                            .sum = work + done,
                                            .difference = work + reach + done,
                                            .ld = some};
        TRY(be->kernels->half_sums(be, &args, 0, 1, some));
        done += some;
    }
    return 0;
}

/* The powers of pairs onto the backend. */
static int find_powers(const struct half_power *h, long from, long count, const double **out)
{
    struct backend *const be = h->be;
    const long reach = count + 2 * HALF_TAPS;
    if (from < 0 || count < 1 || count > h->most || from + count > h->n)
        FAIL(ERR_BUG, "%ld pairs of samples from %ld on, of %ld", count, from, h->n);
    TRY(make_sums(h, from - HALF_TAPS, reach, h->work));
    const struct between_args args = {.samples = pairs(h, from),
                                      .quadrature = h->quadrature + from,
                                      .sum = h->work + HALF_TAPS,
                                      .difference = h->work + reach + HALF_TAPS,
                                      .out = (cplx *)(h->work + 2 * reach),
                                      .ld = count};
    *out = h->work + 2 * reach;
    return be->kernels->column_between(be, &args, 0, 1, count);
}

int half_power_read(const struct half_power *h, long from, long count, double *out)
{
    const double *found;
    TRY(find_powers(h, from, count, &found));
    return h->be->ops->download(h->be, out, found, (size_t)count * sizeof(cplx));
}

/*
 * What the samples before and after a sample that reaches `level` have at least. The power is a
 * trigonometric polynomial between 0 and its largest value anywhere, `most`: with power = most
 * cos^2(phi/2), |dphi/dt| is at most the width of its band (Szegö 1928; Bernstein's inequality
 * with a bound for each point), so that dt from the level it is at least
 * level (cos(b/2) - sqrt(most/level - 1) sin(b/2))^2, b the width times dt.
 */
static double floor_beside(double level, double most, double bend)
{
    const double root = cos(bend / 2.0) - sqrt(fmax(most / level - 1.0, 0.0)) * sin(bend / 2.0);
    return root > 0.0 ? level * root * root : 0.0;
}

/* The largest value that a power can have anywhere, from its largest sample: `bend` is the
 * width of the band times the distance that a point can have from the next sample. */
static double most_between(double top, double bend)
{
    const double least = cos(bend / 2.0);
    return top / (least * least);
}

/* The fine powers of a block, kept until those of another one are wanted; count receives how
 * many. */
static int read_block(struct half_power *h, long block, long *count)
{
    const long from = block * HALF_POWER_BLOCK;
    const long some = smaller(HALF_POWER_BLOCK, h->n - from);
    *count = 2 * some;
    if (h->block == block)
        return 0;
    h->block = -1;
    TRY(half_power_read(h, from, some, h->fine));
    h->block = block;
    return 0;
}

/* The first of the largest fine samples. */
static int find_peak(struct half_power *h, double *top, long *at)
{
    double even = 0.0;
    *top = 0.0;
    *at = 0;
    for (long b = 0; b < block_count(h); b++)
        even = h->blocks[2 * b + 1] > even ? h->blocks[2 * b + 1] : even;
    if (!(even > 0.0))
        return 0;
    const double least = floor_beside(even, most_between(even, h->bend), h->bend);
    for (long b = 0; b < block_count(h); b++) {
        long count = 0;
        if (!(h->blocks[2 * b + 1] >= least))
            continue;
        TRY(read_block(h, b, &count));
        for (long i = 0; i < count; i++)
            if (h->fine[i] > *top) {
                *top = h->fine[i];
                *at = 2 * b * HALF_POWER_BLOCK + i;
            }
    }
    return 0;
}

/* The outermost fine sample from one end on that is not below the level; one end if there is
 * none. */
static int find_outermost(struct half_power *h, double level, double least, bool from_end,
                          long *at)
{
    const long blocks = block_count(h);
    *at = from_end ? 2 * h->n - 1 : 0;
    for (long k = 0; k < blocks; k++) {
        const long b = from_end ? blocks - 1 - k : k;
        long count = 0;
        if (!(h->blocks[2 * b + 1] >= least))
            continue;
        TRY(read_block(h, b, &count));
        for (long i = 0; i < count; i++) {
            const long j = from_end ? count - 1 - i : i;
            if (h->fine[j] >= level) {
                *at = 2 * b * HALF_POWER_BLOCK + j;
                return 0;
            }
        }
    }
    return 0;
}

static int power_at(struct half_power *h, long j, double *power)
{
    const long block = j / (2L * HALF_POWER_BLOCK);
    long count;
    TRY(read_block(h, block, &count));
    *power = h->fine[j - 2 * block * HALF_POWER_BLOCK];
    return 0;
}

/* Outermost crossing of the level, from one end; in samples, linear between two. */
static int find_crossing(struct half_power *h, double level, double least, bool from_end,
                         double *out)
{
    const long step = from_end ? -1 : 1;
    long j;
    double inside;
    double outside;
    TRY(find_outermost(h, level, least, from_end, &j));
    *out = (double)j;
    if (j == (from_end ? 2 * h->n - 1 : 0))
        return 0;
    TRY(power_at(h, j, &inside));
    TRY(power_at(h, j - step, &outside));
    *out = (double)j - (double)step * (inside - level) / (inside - outside);
    return 0;
}

/* Sum of the fine samples [from, to). */
static int sum_between(const struct half_power *h, long from, long to, double *sum)
{
    double room[2 * MOST_PAIRS];
    *sum = 0.0;
    for (long pair = from / 2; 2 * pair < to; pair += h->most) {
        const long some = smaller(h->most, (to + 1) / 2 - pair);
        const long begin = from > 2 * pair ? from - 2 * pair : 0;
        const long end = smaller(2 * some, to - 2 * pair);
        const double *fine;
        TRY(find_powers(h, pair, some, &fine));
        TRY(backend_view(h->be, fine, 2 * some, room, &fine));
        *sum += capillary_observe_block(fine + begin, end - begin).sum;
    }
    return 0;
}

/* Share of the energy in the outer 5 % of the fine samples. That of all is twice that of the
 * even ones, whose sum is exact for the band of a power. */
static int find_edge(const struct half_power *h, double *share)
{
    const long n = 2 * h->n;
    const long edge = capillary_edge_count(n);
    double all = 0.0;
    double before;
    double behind;
    for (long b = 0; b < block_count(h); b++)
        all += 2.0 * h->blocks[2 * b];
    TRY(sum_between(h, 0, edge, &before));
    TRY(sum_between(h, n - edge, n, &behind));
    *share = all > 0.0 ? (before + behind) / all : 0.0;
    return 0;
}

int half_power_observe(const struct capillary_point *point, struct half_power *h,
                       double *values)
{
    const double dt = point->grid.window / (double)point->grid.fine;
    double top;
    long at;
    double first = 0.0;
    double last = 0.0;
    TRY(find_peak(h, &top, &at));
    if (top > 0.0) {
        /* The fine samples are below the peak: nothing between them is far above it. */
        const double most = most_between(top, h->bend / 2.0);
        const double least = floor_beside(top / 2.0, most, h->bend);
        TRY(find_crossing(h, top / 2.0, least, false, &first));
        TRY(find_crossing(h, top / 2.0, least, true, &last));
    }
    values[CAPILLARY_PEAK_POWER] = top;
    values[CAPILLARY_FWHM_T] = dt * (last - first);
    values[CAPILLARY_T_PEAK] = top > 0.0 ? real_grid_time(&point->grid, at) : 0.0;
    return find_edge(h, &values[CAPILLARY_EDGE_T]);
}
