/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Times that follow a known law, and what is made of them. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "kernels/base/mem.h"
#include "kernels/base/status.h"
#include "runner/cost.h"
#include "runner/cost_cache.h"
#include "tests/exact.h"
#include "tests/perturb/near.h"
#include "tests/unit_main.h"

struct bed {
    struct scan *scan;
    struct cost cost;
};

static const char two_axes[] = "scan: two\nmodel: probe\n"
                               "axes: [a: {from: 1, to: 16, points: 16},\n"
                               "       b: {from: -3, to: 4, points: 8}]\n";

static struct bed *open_bed(const char *text)
{
    struct bed *bed = NULL;
    ck_assert_int_eq(MEM_NEW(1, &bed), 0);
    ck_assert_int_eq(scan_parse(text, strlen(text), "text", NULL, 0, &bed->scan), 0);
    ck_assert_int_eq(cost_open(bed->scan, 0, scan_points(bed->scan), &bed->cost), 0);
    return bed;
}

static void close_bed(struct bed *bed)
{
    cost_clear(&bed->cost);
    scan_destroy(bed->scan);
    mem_free(bed);
    ck_assert_int_eq(mem_live(), 0);
}

static double predict(struct bed *bed, int64_t point)
{
    struct cost_input input;
    cost_look(&bed->cost, point, &input);
    return cost_seconds(&bed->cost, cost_rank(&bed->cost, &input));
}

/* 0.2 s times a squared and an exponential of b; a is slow, b is fast. */
static double law(int64_t point)
{
    const double a = 1 + (double)(point / 8);
    const double b = -3 + (double)(point % 8);
    return 0.2 * a * a * exp(0.3 * b);
}

static void learn_all(struct bed *bed, double scale)
{
    for (int64_t i = 0; i < 128; i++) {
        const int64_t point = i * 37 % 128; /* each point once, in no order */
        cost_learn(&bed->cost, point, scale * law(point));
    }
    cost_fit(&bed->cost);
}

START_TEST(before_any_time_the_models_estimate_orders_the_members)
{
    struct bed *bed = open_bed("scan: s\nmodel: probe\n"
                               "axes: [sleep: [3 s, 1 s, 0 s, 10 s]]\n");
    struct cost_input input[4];
    for (int i = 0; i < 4; i++)
        cost_look(&bed->cost, i, &input[i]);
    ck_assert(!bed->cost.known);
    ck_assert_exactly(predict(bed, 0), 0);
    const double rank[] = {cost_rank(&bed->cost, &input[0]), cost_rank(&bed->cost, &input[1]),
                           cost_rank(&bed->cost, &input[2]), cost_rank(&bed->cost, &input[3])};
    ck_assert_double_gt(rank[3], rank[0]);
    ck_assert_double_gt(rank[0], rank[1]);
    ck_assert_double_gt(rank[1], rank[2]);
    ck_assert_rounding(rank[3] - rank[1], log(10), 1e-12);
    close_bed(bed);
}
END_TEST

START_TEST(a_law_of_powers_and_exponentials_is_found)
{
    struct bed *bed = open_bed(two_axes);
    learn_all(bed, 1);
    for (int64_t point = 0; point < 128; point++)
        ck_assert_near(predict(bed, point) / law(point), 1, 0.05,
                       predict(bed, point ^ 1) / law(point),
                       "the costs of the point beside it");
    close_bed(bed);
}
END_TEST

START_TEST(the_model_being_right_one_time_tells_all)
{
    struct bed *bed = open_bed("scan: s\nmodel: probe\n"
                               "axes: [sleep: {from: 1 s, to: 100 s, points: 100}]\n"
                               "save: {planes: last}\n");
    cost_learn(&bed->cost, 49, 25); /* 50 s in the model's units */
    ck_assert_near(predict(bed, 49), 25, 1e-3, predict(bed, 49) * 1.001, "a second of 1.001 s");
    ck_assert_near(predict(bed, 99) / 50, 1, 0.2, predict(bed, 49) / 50,
                   "the same time for twice the work");
    close_bed(bed);
}
END_TEST

START_TEST(the_band_narrows_with_what_is_seen_and_widens_outside_it)
{
    struct bed *bed = open_bed(two_axes);
    struct cost_input near;
    struct cost_input far;
    cost_look(&bed->cost, 0, &near);
    cost_look(&bed->cost, 127, &far);
    for (int64_t point = 0; point < 16; point++)
        cost_learn(&bed->cost, point, law(point));
    cost_fit(&bed->cost);
    const double inside = cost_deviation(&bed->cost, near.x, 1e9);
    const double outside = cost_deviation(&bed->cost, far.x, 1e9);
    ck_assert_double_gt(outside, inside);
    learn_all(bed, 1);
    ck_assert_double_lt(cost_deviation(&bed->cost, far.x, 1e9), outside);
    ck_assert_double_gt(cost_deviation(&bed->cost, far.x, 1),
                        cost_deviation(&bed->cost, far.x, 100));
    close_bed(bed);
}
END_TEST

START_TEST(a_later_scan_of_the_kind_knows_the_slopes_and_finds_its_own_scale)
{
    struct bed *first = open_bed(two_axes);
    char folder[] = "/tmp/scanfarm-cost-XXXXXX";
    char path[300];
    ck_assert_ptr_nonnull(mkdtemp(folder));
    learn_all(first, 1);
    ck_assert(cost_cache_write(folder, &first->cost));
    cost_cache_path(folder, &first->cost, path, sizeof path);
    /* Other values of the same numbers, on a machine a hundred times slower. */
    struct bed *second = open_bed("scan: other\nmodel: probe\n"
                                  "axes: [a: {from: 20, to: 40, points: 3},\n"
                                  "       b: {from: -3, to: 4, points: 8}]\n");
    ck_assert(cost_cache_read(folder, &second->cost));
    ck_assert_near(predict(second, 16) / predict(second, 0), 4, 0.2,
                   predict(second, 8) / predict(second, 0), "the value of a before");
    for (int64_t point = 0; point < 8; point++)
        cost_learn(&second->cost, point, 100 * 0.2 * 400 * exp(0.3 * (double)(point - 3)));
    cost_fit(&second->cost);
    ck_assert_near(log(predict(second, 0) / (8000 * exp(-0.9))), 0, 1,
                   log(predict(second, 0) / 100 / (8000 * exp(-0.9))),
                   "the time of the other machine");
    ck_assert_near(predict(second, 16) / predict(second, 0), 4, 0.4,
                   predict(second, 8) / predict(second, 0), "the value of a before");
    ck_assert_int_eq(unlink(path), 0);
    ck_assert_int_eq(rmdir(folder), 0);
    cost_clear(&second->cost);
    scan_destroy(second->scan);
    mem_free(second);
    close_bed(first);
}
END_TEST

/* In [0, 1), the next of a sequence (Knuth's MMIX constants). */
static double draw(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (double)(*state >> 11) * 0x1p-53;
}

/* A scan of four powers, of which one or two are a shard. */
static struct scan *draw_scan(uint64_t *state)
{
    char text[600];
    struct scan *scan = NULL;
    const double power = pow(10, 3 + draw(state));
    snprintf(text, sizeof text,
             "scan: s\nmodel: gnlse\nparameters: {length: %g m, wavelength: 835 nm, "
             "betas: [-11.83 ps^2/km], gamma: 0.11 W^-1 m^-1, "
             "pulse: {duration: 50 fs, peak_power: 1 kW}, grid: {points: %d, window: 12 ps}}\n"
             "axes: [pulse.peak_power: [%g, %g, %g, %g]]\n",
             pow(10, 2 * draw(state) - 2), 256 << (int)(6 * draw(state)), power, 1.5 * power,
             2 * power, 2.5 * power);
    ck_assert_int_eq(scan_parse(text, strlen(text), "text", NULL, 0, &scan), 0);
    return scan;
}

/*
 * Shards of single values pass on what they saw, from one scan to the next of its kind: numbers
 * that do not vary within a shard and go together beyond it. Times here are the model's
 * estimate to 20 %, on machines that differ by 15 %: what is made of them is to be right within
 * e^0.7.
 */
START_TEST(shards_of_single_values_make_nothing_absurd_of_the_times_of_others)
{
    struct cost_sums sums = {0};
    double reference[COST_FEATURES_MAX] = {0};
    uint64_t state = 7;
    for (int shard = 0; shard < 60; shard++) {
        struct scan *const scan = draw_scan(&state);
        struct cost cost;
        const int64_t first = (int64_t)(4 * draw(&state));
        const int64_t points = first < 3 && draw(&state) < 0.4 ? 2 : 1;
        const double scale = 1e-10 * exp(0.3 * (draw(&state) - 0.5));
        ck_assert_int_eq(cost_open(scan, first, points, &cost), 0);
        cost_resume(&cost, &sums, reference);
        for (int member = 0; member < 8; member++) {
            struct cost_input input;
            cost_look(&cost, first + member % points, &input);
            const double seconds = scale * input.work * (0.8 + 0.4 * draw(&state));
            cost_learn(&cost, first + member % points, seconds);
            cost_look(&cost, first + points - 1, &input);
            const double said = cost_seconds(&cost, cost_rank(&cost, &input));
            const double deviation = cost_deviation(&cost, input.x, 1);
            ck_assert_near(log(said / (scale * input.work)), 0.0, 0.7, log(3.0),
                           "three times the work");
            ck_assert_msg(deviation < 1, "shard %d, member %d: +-%g", shard, member, deviation);
        }
        sums = cost.sums;
        for (int i = 0; i < cost.features; i++)
            reference[i] = cost.feature[i].reference;
        cost_clear(&cost);
        scan_destroy(scan);
    }
    ck_assert_int_eq(mem_live(), 0);
}
END_TEST

START_TEST(a_damaged_file_of_times_is_left_out)
{
    struct bed *bed = open_bed(two_axes);
    char folder[] = "/tmp/scanfarm-cost-XXXXXX";
    char path[300];
    ck_assert_ptr_nonnull(mkdtemp(folder));
    ck_assert(!cost_cache_read(folder, &bed->cost));
    learn_all(bed, 1);
    ck_assert(cost_cache_write(folder, &bed->cost));
    cost_cache_path(folder, &bed->cost, path, sizeof path);
    FILE *file = fopen(path, "r+");
    ck_assert_ptr_nonnull(file);
    ck_assert_int_eq(fseek(file, -3, SEEK_END), 0);
    ck_assert_int_ne(fputc('x', file), EOF);
    ck_assert_int_eq(fclose(file), 0);
    struct bed *other = open_bed(two_axes);
    ck_assert(!cost_cache_read(folder, &other->cost));
    ck_assert(!other->cost.known);
    ck_assert_int_eq(unlink(path), 0);
    ck_assert_int_eq(rmdir(folder), 0);
    cost_clear(&other->cost);
    scan_destroy(other->scan);
    mem_free(other);
    close_bed(bed);
}
END_TEST

static Suite *cost_suite(void)
{
    Suite *suite = suite_create("cost");
    TCase *tests = tcase_create("cost");
    tcase_add_test(tests, before_any_time_the_models_estimate_orders_the_members);
    tcase_add_test(tests, a_law_of_powers_and_exponentials_is_found);
    tcase_add_test(tests, the_model_being_right_one_time_tells_all);
    tcase_add_test(tests, the_band_narrows_with_what_is_seen_and_widens_outside_it);
    tcase_add_test(tests, a_later_scan_of_the_kind_knows_the_slopes_and_finds_its_own_scale);
    tcase_add_test(tests, shards_of_single_values_make_nothing_absurd_of_the_times_of_others);
    tcase_add_test(tests, a_damaged_file_of_times_is_left_out);
    suite_add_tcase(suite, tests);
    return suite;
}

int main(void)
{
    return unit_main(cost_suite());
}
