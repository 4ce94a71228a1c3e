/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * kernels/models/pulse/half_power.h: powers between the samples that are known, and what they
 * tell, against the sum over the bins in long double for every fine sample.
 */
#include <complex.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "kernels/base/rng.h"
#include "kernels/contract/bounds.h"
#include "kernels/models/pulse/capillary_observe.h"
#include "kernels/models/pulse/half_power.h"
#include "tests/exact.h"
#include "tests/kernels/isa.h"
#include "tests/kernels/lane.h"
#include "tests/perturb/near.h"
#include "tests/perturb/record.h"
#include "tests/unit_main.h"

#define FINE   2048
#define WINDOW 1e-13
#define PI     3.14159265358979323846264338327950288L

/* The imaginary unit; C's I is a float. */
#define IMAGINARY ((long double complex)I)

struct look {
    struct backend *be;
    struct capillary_point point;
    long double complex bin[FINE / 4];
    double samples[FINE], power[FINE]; /* the right ones */
    double quadrature[FINE / 2];
    double *device[3]; /* samples, quadrature, work */
    double blocks[FINE / HALF_POWER_BLOCK + 2];
    struct half_power half;
};

static void look_open(struct look *l, long first, long last)
{
    const struct backend_options options = {
        .name = "cpu", .isa = isa_under_test(), .threads = lane_threads(1)};
    *l = (struct look){0};
    l->point.grid = (struct real_grid){
        .fine = FINE, .coarse = FINE / 2, .window = WINDOW, .first = first, .last = last};
    ck_assert_int_eq(backend_create(&options, &l->be), 0);
    for (int i = 0; i < 3; i++)
        ck_assert_int_eq(l->be->ops->alloc(l->be, FINE, sizeof(double), (void **)&l->device[i]),
                         0);
}

static void look_close(struct look *l)
{
    for (int i = 0; i < 3; i++)
        l->be->ops->release(l->be, l->device[i]);
    backend_destroy(l->be);
}

/* a(t_j) = 2 sum a_k exp(2 pi i j k/n) at every fine sample, and half of its imaginary parts.
 */
static void look_make(struct look *l)
{
    static long double complex turn[FINE];
    const struct real_grid *const grid = &l->point.grid;
    for (long j = 0; j < FINE; j++)
        turn[j] = cosl(2.0L * PI * j / FINE) + IMAGINARY * sinl(2.0L * PI * j / FINE);
    for (long j = 0; j < FINE; j++) {
        long double complex a = 0.0L;
        for (long k = grid->first; k < grid->last; k++)
            a += 2.0L * l->bin[k] * turn[j * k % FINE];
        l->samples[j] = (double)creall(a);
        l->power[j] = (double)(creall(a) * creall(a) + cimagl(a) * cimagl(a));
        if (j % 2 == 0)
            l->quadrature[j / 2] = (double)cimagl(a);
    }
    const struct backend_ops *const ops = l->be->ops;
    ck_assert_int_eq(ops->upload(l->be, l->device[0], l->samples, sizeof l->samples), 0);
    ck_assert_int_eq(ops->upload(l->be, l->device[1], l->quadrature, sizeof l->quadrature), 0);
    l->half = (struct half_power){.be = l->be,
                                  .samples = l->device[0],
                                  .quadrature = l->device[1],
                                  .work = l->device[2],
                                  .blocks = l->blocks};
    ck_assert(half_power_fits(grid));
    ck_assert_int_eq(half_power_init(grid, &l->half), 0);
}

static double top_of(const struct look *l)
{
    double top = 0.0;
    for (long j = 0; j < FINE; j++)
        top = fmax(top, l->power[j]);
    return top;
}

/* The outermost crossing of half of the maximum, by its definition. */
static double crossing(const struct look *l, double level, bool from_end)
{
    const long step = from_end ? -1 : 1;
    long j = from_end ? FINE - 1 : 0;
    if (l->power[j] >= level)
        return (double)j;
    while (l->power[j] < level)
        j += step;
    const double share = (l->power[j] - level) / (l->power[j] - l->power[j - step]);
    return (double)j - (double)step * share;
}

static double edge_of(const struct look *l)
{
    double all = 0.0;
    double edge = 0.0;
    for (long j = 0; j < FINE; j++) {
        const double x = ((double)j + 0.5) / FINE;
        all += l->power[j];
        edge += x < 0.05 || x > 0.95 ? l->power[j] : 0.0;
    }
    return edge / all;
}

/* Powers in pieces of several lengths, over both ends of the window. */
static void check_powers(const struct look *l, double top)
{
    static const long lengths[] = {1, 7, 64, 256};
    double out[FINE];
    double worst = 0.0;
    for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++)
        for (long from = 0; from < FINE / 2; from += lengths[i]) {
            const long rest = FINE / 2 - from;
            const long count = lengths[i] < rest ? lengths[i] : rest;
            ck_assert_int_eq(half_power_read(&l->half, from, count, out), 0);
            for (long j = 0; j < 2 * count; j++)
                worst = fmax(worst, fabs(out[j] - l->power[2 * from + j]));
        }
    ck_assert_double_le(worst, bound(BOUND_plane_again) * top);
    perturb_record_norm("plane_again", worst / top, bound(BOUND_plane_again));
}

static void check(struct look *l)
{
    const double tolerance = bound(BOUND_plane_again);
    const double dt = WINDOW / FINE;
    double values[CAPILLARY_OBSERVABLES] = {0.0};
    look_make(l);
    const double top = top_of(l);
    check_powers(l, top);
    ck_assert_int_eq(half_power_observe(&l->point, &l->half, values), 0);
    ck_assert_near(values[CAPILLARY_PEAK_POWER], top, tolerance * top,
                   top * (1.0 + 3.0 * tolerance), "three tolerances of the peak");
    const double width = dt * (crossing(l, top / 2.0, true) - crossing(l, top / 2.0, false));
    ck_assert_near(values[CAPILLARY_FWHM_T], width, tolerance * WINDOW,
                   width + 3.0 * tolerance * WINDOW, "three tolerances of the window");
    const long at = lround(values[CAPILLARY_T_PEAK] / dt) + FINE / 2;
    const bool inside = at >= 0 && at < FINE;
    ck_assert_double_ge(inside ? l->power[at] : 0.0, (1.0 - tolerance) * top);
    ck_assert_near(values[CAPILLARY_EDGE_T], edge_of(l), tolerance,
                   edge_of(l) + 3.0 * tolerance, "three tolerances");
}

/* A Gauss pulse of `width` samples around sample `centre`, at bin `carrier`. */
static void add_pulse(struct look *l, double centre, double width, double carrier, double size)
{
    for (long k = l->point.grid.first; k < l->point.grid.last; k++) {
        const long double w =
            2.0L * PI * ((long double)k - (long double)carrier) / FINE * (long double)width;
        const long double phase = -2.0L * PI * k * (long double)centre / FINE;
        l->bin[k] +=
            (long double)size * expl(-0.5L * w * w) * (cosl(phase) + IMAGINARY * sinl(phase));
    }
}

START_TEST(taps_are_one_over_the_band)
{
    double worst = 0.0;
    for (int i = 0; i <= 1000; i++) {
        const long double psi = PI / 4.0L * (long double)i / 1000.0L;
        long double sum = 0.0L;
#define ADD(m, tap)                                                                            \
    sum += sqrtl(2.0L) * (long double)(tap)*copysignl(1.0L, cosl((2 * (m) + 1) * PI / 4.0L))   \
           * cosl((2 * (m) + 1) * psi);
        HALF_EACH_TAP(ADD)
#undef ADD
        worst = fmax(worst, fabs((double)(2.0L * sum - 1.0L)));
    }
    printf("largest error of the factor %.3g\n", worst);
    ck_assert_double_le(worst, bound(BOUND_half_factor));
    perturb_record_norm("half_factor", worst, bound(BOUND_half_factor));
}
END_TEST

/* Noise fills band and window: every sample counts. */
START_TEST(noise_over_the_whole_band)
{
    static const long bands[][2] = {{1, FINE / 4}, {7, 370}, {300, 310}, {400, FINE / 4}};
    const struct rng_stream stream = {.seed = 20261130};
    static struct look l;
    for (size_t b = 0; b < sizeof bands / sizeof bands[0]; b++) {
        look_open(&l, bands[b][0], bands[b][1]);
        for (long k = bands[b][0]; k < bands[b][1]; k++) {
            double u[2];
            rng_uniform2(&stream, (uint64_t)(k + 1000 * (long)b), u);
            l.bin[k] = (long double)(u[0] - 0.5) + IMAGINARY * (long double)(u[1] - 0.5);
        }
        check(&l);
        look_close(&l);
    }
}
END_TEST

/* Peaks on, beside and between the even samples, and at both ends of the window. */
START_TEST(pulses_wherever_they_lie)
{
    static const double centres[] = {1024.0, 1025.0, 1024.4, 1025.5, 0.0,
                                     1.0,    2047.0, 2046.3, 511.0,  255.5};
    static const double widths[] = {3.0, 20.0, 300.0};
    static struct look l;
    for (size_t i = 0; i < sizeof centres / sizeof centres[0]; i++)
        for (size_t w = 0; w < sizeof widths / sizeof widths[0]; w++) {
            look_open(&l, 2, 500);
            add_pulse(&l, centres[i], widths[w], 250.0, 1.0);
            check(&l);
            look_close(&l);
        }
}
END_TEST

/* The highest sample is an odd one far from the highest even one. */
START_TEST(the_higher_of_two_pulses_lies_between)
{
    static struct look l;
    for (int i = 0; i < 2; i++) {
        look_open(&l, 2, FINE / 4);
        add_pulse(&l, 700.0, 2.0, 256.0, 1.0);
        add_pulse(&l, 1401.0, 2.0, 256.0, i == 0 ? 1.01 : 0.99);
        check(&l);
        look_close(&l);
    }
}
END_TEST

/* Power between 0 and its largest value as steeply as its band allows. */
START_TEST(two_bins_at_the_ends_of_the_band)
{
    static struct look l;
    for (int i = 0; i < 8; i++) {
        const long double phase = PI * (long double)i / 8.0L;
        look_open(&l, 3, FINE / 4);
        l.bin[3] = 1.0L;
        l.bin[FINE / 4 - 1] = cosl(phase) + IMAGINARY * sinl(phase);
        check(&l);
        look_close(&l);
    }
}
END_TEST

START_TEST(no_field_has_no_width)
{
    static struct look l;
    double values[CAPILLARY_OBSERVABLES];
    look_open(&l, 2, 500);
    look_make(&l);
    for (int i = 0; i < CAPILLARY_OBSERVABLES; i++)
        values[i] = 1.0;
    ck_assert_int_eq(half_power_observe(&l.point, &l.half, values), 0);
    ck_assert_exactly(values[CAPILLARY_PEAK_POWER], 0.0);
    ck_assert_exactly(values[CAPILLARY_FWHM_T], 0.0);
    ck_assert_exactly(values[CAPILLARY_T_PEAK], 0.0);
    ck_assert_exactly(values[CAPILLARY_EDGE_T], 0.0);
    look_close(&l);
}
END_TEST

START_TEST(only_bands_below_a_quarter_are_taken)
{
    struct real_grid grid = {.fine = FINE, .coarse = FINE / 2, .first = 1, .last = FINE / 4};
    ck_assert(half_power_fits(&grid));
    grid.last = FINE / 4 + 1;
    ck_assert(!half_power_fits(&grid));
    ck_assert(!half_power_sizes(FINE, FINE));
    ck_assert(!half_power_sizes(FINE + 2, FINE / 2));
    ck_assert(!half_power_sizes(512, 128));
    grid.last = 20;
    grid.envelope = true;
    ck_assert(!half_power_fits(&grid));
}
END_TEST

int main(void)
{
    if (isa_check() != 0)
        return ISA_SKIPPED;
    Suite *const suite = suite_create("power from half of the quadrature");
    TCase *const tests = tcase_create("half");
    tcase_set_timeout(tests, 60);
    tcase_add_test(tests, taps_are_one_over_the_band);
    tcase_add_test(tests, noise_over_the_whole_band);
    tcase_add_test(tests, pulses_wherever_they_lie);
    tcase_add_test(tests, the_higher_of_two_pulses_lies_between);
    tcase_add_test(tests, two_bins_at_the_ends_of_the_band);
    tcase_add_test(tests, no_field_has_no_width);
    tcase_add_test(tests, only_bands_below_a_quarter_are_taken);
    suite_add_tcase(suite, tests);
    return unit_main(suite);
}
