/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How a scan is divided into shards. Costs are those of the probe, which are known: its planes
 * times `work`, computed here from the values of the axes alone. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "kernels/base/clock.h"
#include "kernels/base/mem.h"
#include "kernels/base/status.h"
#include "runner/shard.h"
#include "tests/perturb/near.h"
#include "tests/unit_main.h"

#define ROUNDED 2e-4 /* relative: 12 bits of an estimate count */

static const char *const texts[] = {
    "scan: x\nmodel: probe\nparameters: {work: 3}\nensemble: {realisations: 101, seed: 1}\n",
    "scan: x\nmodel: probe\naxes: [work: {from: 1, to: 1000, points: 1000}]\n",
    "scan: x\nmodel: probe\naxes: [a: [1, 2, 3], work: [900, 1, 2, 3, 40]]\n"
    "ensemble: {realisations: 7, seed: 1}\n",
    "scan: x\nmodel: probe\naxes: [work: [0, 1e-9, 1, 1e6]]\n"
    "ensemble: {realisations: 25, seed: 1}\n",
    "scan: x\nmodel: probe\naxes: [work: {from: 0, to: 99999, points: 100000}]\n"
    "ensemble: {realisations: 3, seed: 1}\n",
};
enum { TEXTS = sizeof texts / sizeof *texts };

static char message[600];

static void setup(void)
{
    status_capture(message, sizeof message);
}

static void teardown(void)
{
    status_capture(NULL, 0);
    ck_assert_int_eq(mem_live(), 0);
}

static struct scan *read_scan(const char *text)
{
    struct scan *scan = NULL;
    ck_assert_msg(scan_parse(text, strlen(text), "text", NULL, 0, &scan) == 0, "%s", message);
    return scan;
}

/* The value of `work`, which is the last parameter of the last axis; 3 without axes. */
static double member_work(const struct scan *scan, int64_t member)
{
    int64_t index[16];
    const int last = scan_axes(scan) - 1;
    if (last < 0)
        return 3;
    scan_point_indices(scan, member / scan_realisations(scan), index);
    return scan_axis_value(scan, last, 0, index[last]);
}

static void divide(const struct scan *scan, long shards, struct shard_division *out)
{
    message[0] = '\0';
    ck_assert_msg(shard_divide(scan, shards, out) == 0, "%s", message);
    ck_assert_int_eq(out->shards, shards);
}

START_TEST(shards_cover_all_members_once_and_none_is_empty)
{
    static const long numbers[] = {1, 2, 3, 7, 16, 99, 100};
    struct scan *const scan = read_scan(texts[_i]);
    for (size_t n = 0; n < sizeof numbers / sizeof *numbers; n++) {
        struct shard_division d;
        double sum = 0;
        divide(scan, numbers[n], &d);
        ck_assert_int_eq(d.first[0], 0);
        ck_assert_int_eq(d.first[d.shards], scan_members(scan));
        for (long k = 0; k < d.shards; k++) {
            ck_assert_int_lt(d.first[k], d.first[k + 1]);
            sum += d.share[k];
        }
        ck_assert_rounding(sum, 1.0, 1e-12);
        shard_division_clear(&d);
    }
    scan_destroy(scan);
}
END_TEST

START_TEST(costs_differ_from_the_mean_by_less_than_the_dearest_member)
{
    static const long numbers[] = {2, 3, 10};
    struct scan *const scan = read_scan(texts[_i]);
    double total = 0;
    double dearest = 0;
    for (int64_t m = 0; m < scan_members(scan); m++) {
        total += member_work(scan, m);
        dearest = fmax(dearest, member_work(scan, m));
    }
    for (size_t n = 0; n < sizeof numbers / sizeof *numbers; n++) {
        struct shard_division d;
        divide(scan, numbers[n], &d);
        for (long k = 0; k < d.shards; k++) {
            double cost = 0;
            for (int64_t m = d.first[k]; m < d.first[k + 1]; m++)
                cost += member_work(scan, m);
            const double mean = total / (double)d.shards;
            ck_assert_near(cost, mean, dearest + ROUNDED * total,
                           cost + 3 * (dearest + ROUNDED * total),
                           "three dear members too many");
            ck_assert_near(d.share[k], cost / total, ROUNDED, cost / total + 3e-4,
                           "3e-4 of the work in the next shard");
        }
        shard_division_clear(&d);
    }
    scan_destroy(scan);
}
END_TEST

START_TEST(the_window_of_each_shard_is_that_of_the_division)
{
    struct scan *const scan = read_scan(texts[2]);
    struct shard_division d;
    divide(scan, 9, &d);
    for (long k = 1; k <= 9; k++) {
        struct store_window window;
        ck_assert_int_eq(shard_window(scan, k, 9, &window), 0);
        ck_assert_int_eq(window.first, d.first[k - 1]);
        ck_assert_int_eq(window.first + window.count, d.first[k]);
        ck_assert_int_eq(window.shard, k);
        ck_assert_int_eq(window.shards, 9);
    }
    struct store_window all;
    ck_assert_int_eq(shard_window(scan, 1, 1, &all), 0);
    ck_assert_int_eq(all.first, 0);
    ck_assert_int_eq(all.count, scan_members(scan));
    shard_division_clear(&d);
    scan_destroy(scan);
}
END_TEST

START_TEST(a_division_is_the_same_of_the_file_and_of_its_canonical_text)
{
    struct scan *const scan = read_scan(texts[_i]);
    const char *const text = scan_canonical(scan);
    struct scan *again = NULL;
    struct shard_division d[2];
    ck_assert_int_eq(scan_parse_canonical(text, strlen(text), &again), 0);
    divide(scan, 13, &d[0]);
    divide(again, 13, &d[1]);
    for (long k = 0; k <= 13; k++)
        ck_assert_int_eq(d[0].first[k], d[1].first[k]);
    shard_division_clear(&d[0]);
    shard_division_clear(&d[1]);
    scan_destroy(again);
    scan_destroy(scan);
}
END_TEST

START_TEST(one_dear_member_gets_a_shard_of_its_own_and_the_others_share_the_rest)
{
    struct scan *const scan =
        read_scan("scan: x\nmodel: probe\naxes: [work: [1, 1, 1, 1000, 1, 1, 1, 1]]\n");
    struct shard_division d;
    divide(scan, 4, &d);
    bool found = false;
    for (long k = 0; k < 4; k++)
        found = found || (d.first[k] <= 3 && d.first[k + 1] == 4);
    ck_assert(found);
    shard_division_clear(&d);
    divide(scan, 8, &d);
    for (long k = 0; k < 8; k++)
        ck_assert_int_eq(d.first[k], k);
    shard_division_clear(&d);
    scan_destroy(scan);
}
END_TEST

START_TEST(more_shards_than_members_are_refused)
{
    struct scan *const scan = read_scan(texts[1]);
    struct shard_division d;
    struct store_window window;
    ck_assert_int_eq(shard_divide(scan, 1001, &d), ERR_ARGUMENT);
    ck_assert_msg(strstr(message, "1001 shards of a scan of 1000 members: 1 to 1000") != NULL,
                  "%s", message);
    shard_division_clear(&d);
    ck_assert_int_eq(shard_window(scan, 1, 1001, &window), ERR_ARGUMENT);
    scan_destroy(scan);
}
END_TEST

/* Work rises with the slowest of three axes: the share of the first members is a sum of
 * squares.
 */
START_TEST(a_billion_points_are_divided_by_a_sample)
{
    struct scan *const scan = read_scan(
        "scan: x\nmodel: probe\naxes: [work: {from: 1, to: 1000, points: 1000}, "
        "a: {from: 1, to: 1000, points: 1000}, b: {from: 1, to: 1000, points: 1000}]\n");
    struct shard_division d;
    const double begin = clock_wall();
    divide(scan, 1000, &d);
    ck_assert(clock_wall() - begin < 30); /* visiting all would take an hour */
    ck_assert_int_eq(d.first[1000], 1000000000);
    for (long k = 100; k < 1000; k += 100) {
        const double x = (double)d.first[k] / 1e9;
        ck_assert_near(x * x, (double)k / 1000, 0.002, (x + 0.005) * (x + 0.005),
                       "0.005 of the members in the next shard");
    }
    shard_division_clear(&d);
    divide(scan, 1000000, &d);
    for (long k = 0; k < 1000000; k++)
        ck_assert_int_lt(d.first[k], d.first[k + 1]);
    shard_division_clear(&d);
    scan_destroy(scan);
}
END_TEST

/* 16 points a part: a fixed place in each would see one value of the fast axis only. */
START_TEST(a_fast_axis_is_not_mistaken_for_a_trend)
{
    struct scan *const scan =
        read_scan("scan: x\nmodel: probe\naxes: [a: {from: 1, to: 65536, points: 65536}, "
                  "work: [1, 900, 1, 1, 900, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1]]\n");
    struct shard_division d;
    divide(scan, 8, &d);
    for (long k = 0; k < 8; k++) {
        const double part = (double)(d.first[k + 1] - d.first[k]) * 8 / (16 * 65536);
        ck_assert_near(part, 1, 0.2, part + 0.45, "0.45 of a part too many");
    }
    shard_division_clear(&d);
    scan_destroy(scan);
}
END_TEST

START_TEST(a_shard_is_read_as_k_of_n)
{
    static const char *const wrong[] = {
        "",     "3",    "3/",   "/3",    "0/3", "4/3",   "-1/3",      "1/0",
        "1/-2", "1/3 ", " 1/3", "1/3/4", "a/b", "1.5/3", "1/1000001", "1/99999999999999999999"};
    long shard = 0;
    long shards = 0;
    ck_assert_int_eq(shard_read("--shard", "3/16", &shard, &shards), 0);
    ck_assert_int_eq(shard, 3);
    ck_assert_int_eq(shards, 16);
    ck_assert_int_eq(shard_read("--shard", "1/1", &shard, &shards), 0);
    ck_assert_int_eq(shard_read("--shard", "0016/016", &shard, &shards), 0);
    ck_assert_int_eq(shard, 16);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        ck_assert_msg(shard_read("--shard", wrong[i], &shard, &shards) == ERR_ARGUMENT,
                      "'%s' is accepted", wrong[i]);
}
END_TEST

START_TEST(the_file_of_a_shard_is_named_once)
{
    char path[64] = "runs/x.h5";
    ck_assert_int_eq(shard_name_file(3, 16, path, sizeof path), 0);
    ck_assert_str_eq(path, "runs/x.shard-03-of-16.h5");
    ck_assert_int_eq(shard_name_file(3, 16, path, sizeof path), 0);
    ck_assert_str_eq(path, "runs/x.shard-03-of-16.h5");
    ck_assert_int_eq(shard_name_file(1, 1, path, sizeof path), 0);
    ck_assert_str_eq(path, "runs/x.shard-03-of-16.h5");
    char narrow[16] = "runs/x.h5";
    ck_assert_int_eq(shard_name_file(3, 16, narrow, sizeof narrow), ERR_ARGUMENT);
}
END_TEST

int main(void)
{
    Suite *const suite = suite_create("division");
    TCase *const tests = tcase_create("division");
    tcase_set_timeout(tests, 120);
    tcase_add_checked_fixture(tests, setup, teardown);
    tcase_add_loop_test(tests, shards_cover_all_members_once_and_none_is_empty, 0, TEXTS);
    tcase_add_loop_test(tests, costs_differ_from_the_mean_by_less_than_the_dearest_member, 0,
                        TEXTS);
    tcase_add_test(tests, the_window_of_each_shard_is_that_of_the_division);
    tcase_add_loop_test(tests, a_division_is_the_same_of_the_file_and_of_its_canonical_text, 0,
                        TEXTS);
    tcase_add_test(tests,
                   one_dear_member_gets_a_shard_of_its_own_and_the_others_share_the_rest);
    tcase_add_test(tests, more_shards_than_members_are_refused);
    tcase_add_test(tests, a_billion_points_are_divided_by_a_sample);
    tcase_add_test(tests, a_fast_axis_is_not_mistaken_for_a_trend);
    tcase_add_test(tests, a_shard_is_read_as_k_of_n);
    tcase_add_test(tests, the_file_of_a_shard_is_named_once);
    suite_add_tcase(suite, tests);
    return unit_main(suite);
}
