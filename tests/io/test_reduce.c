/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <check.h>

#include "io/read.h"
#include "io/reduce.h"
#include "io/store.h"
#include "kernels/base/mem.h"
#include "kernels/base/rng.h"
#include "kernels/base/status.h"
#include "tests/exact.h"
#include "tests/io/refusal.h"
#include "tests/perturb/near.h"
#include "tests/unit_main.h"

#define POINT 2

static struct store *store;
static long bins;
static int64_t members; /* a point */
static double *field;   /* [members][bins][2] of plane 1 of POINT; the other planes are zero */

static void end(void)
{
    free(field);
    field = NULL;
    const int rc = store_close(store);
    teardown();
    ck_assert_int_eq(rc, 0);
}

/* A file with `m` realisations of spectra of `n` bins; field is the caller's to fill. */
static void begin(int64_t m, long n)
{
    members = m;
    bins = n;
    fixture.spec.realisations = m;
    fixture.spec.history = 0;
    for (int a = 0; a < 2; a++) {
        fixture.layout.axis[a].length = n;
        fixture.grid_layout[0].axis[a].length = n;
    }
    field = calloc((size_t)(2 * m * n), sizeof *field);
    ck_assert_msg(store_define(path, &fixture.spec) == 0, "%s", message);
    ck_assert_int_eq(store_open(path, &store), 0);
}

static double *at(int64_t i, long k)
{
    return &field[2 * (i * bins + k)];
}

/* Signal plus complex noise. */
static void fill(double signal, double noise)
{
    for (int64_t i = 0; i < members; i++)
        for (long k = 0; k < bins; k++) {
            const struct rng_stream stream = {.seed = 5, .realisation = (uint64_t)i};
            double normal[2];
            rng_normal2(&stream, (uint64_t)k, normal);
            at(i, k)[0] = signal * (1 + 0.1 * (double)k) + noise * normal[0];
            at(i, k)[1] = noise * normal[1];
        }
}

static void write_member(int64_t i, enum member_state state)
{
    double *const none = calloc((size_t)(FIXTURE_X * 2 * bins), sizeof *none);
    const int64_t member = POINT * members + i;
    for (long plane = 0; plane < FIXTURE_PLANES; plane++) {
        const struct plane_buffers buffers = {.array = {plane == 1 ? at(i, 0) : none, none},
                                              .observable = {0, (double)(i * i + plane), 0}};
        ck_assert_int_eq(store_write_plane(store, member, &fixture.layout, plane, 0, &buffers),
                         0);
    }
    free(none);
    ck_assert_int_eq(fixture_end_member(store, member, state, ""), 0);
}

static struct reduce_result reduce(void)
{
    struct reduce_result result;
    ck_assert_msg(reduce_point(store, POINT, &result) == 0, "%s", message);
    return result;
}

static void read_spectrum(const char *name, double *values)
{
    const int64_t start[] = {POINT, 1, 0};
    const int64_t count[] = {1, 1, bins};
    ck_assert_int_eq(read_block(store, name, start, count, values), 0);
}

static double read_number(const char *name, long plane)
{
    double value = 0;
    const int64_t start[] = {POINT, plane};
    const int64_t count[] = {1, 1};
    ck_assert_int_eq(read_block(store, name, start, count, &value), 0);
    return value;
}

/* The definition itself: mean over pairs i != j, without the member `out`. */
static double pairs(long k, int64_t out)
{
    double r = 0;
    double im = 0;
    double power = 0;
    double n = 0;
    for (int64_t i = 0; i < members; i++) {
        const double *const a = at(i, k);
        if (i == out)
            continue;
        n++;
        power += a[0] * a[0] + a[1] * a[1];
        for (int64_t j = 0; j < members; j++) {
            const double *const b = at(j, k);
            if (j == out || j == i)
                continue;
            r += a[0] * b[0] + a[1] * b[1];
            im += a[0] * b[1] - a[1] * b[0];
        }
    }
    return hypot(r, im) / (n * (n - 1)) / (power / n);
}

static double mean_power(long k, int64_t out)
{
    double power = 0;
    int n = 0;
    for (int64_t i = 0; i < members; i++)
        if (i != out) {
            power += at(i, k)[0] * at(i, k)[0] + at(i, k)[1] * at(i, k)[1];
            n++;
        }
    return power / n;
}

static double overall(int64_t out)
{
    double above = 0;
    double below = 0;
    for (long k = 0; k < bins; k++) {
        above += pairs(k, out) * mean_power(k, out);
        below += mean_power(k, out);
    }
    return above / below;
}

/* Textbook jackknife of leave-one-out values. */
static double jackknife(const double *values)
{
    const double m = (double)members;
    double mean = 0;
    double sum = 0;
    for (int64_t i = 0; i < members; i++)
        mean += values[i] / m;
    for (int64_t i = 0; i < members; i++)
        sum += (values[i] - mean) * (values[i] - mean);
    return sqrt((m - 1) / m * sum);
}

START_TEST(results_equal_the_definition_by_pairs)
{
    begin(7, 11);
    fill(1, 0.8);
    for (int64_t i = 0; i < members; i++)
        write_member(i, MEMBER_DONE);
    reduce();
    double g[11];
    double error[11];
    double mean[11];
    double deviation[11];
    double snr[11];
    read_spectrum("ensemble/g12", g);
    read_spectrum("ensemble/g12_error", error);
    read_spectrum("ensemble/mean_spectrum", mean);
    read_spectrum("ensemble/std_spectrum", deviation);
    read_spectrum("ensemble/snr", snr);
    double without[7];
    for (long k = 0; k < bins; k++) {
        ck_assert_rounding_of(g[k], pairs(k, -1), 1.0, 1e-12);
        for (int64_t i = 0; i < members; i++)
            without[i] = pairs(k, i);
        ck_assert_rounding_of(error[k], jackknife(without), 1.0, 1e-12);
        const double power = mean_power(k, -1);
        double sum = 0;
        for (int64_t i = 0; i < members; i++) {
            const double d = at(i, k)[0] * at(i, k)[0] + at(i, k)[1] * at(i, k)[1] - power;
            sum += d * d;
        }
        ck_assert_rounding(mean[k], power, 1e-12);
        ck_assert_rounding_of(deviation[k], sqrt(sum / 6), power, 1e-12);
        ck_assert_near(snr[k], power / sqrt(sum / 6), 1e-10, power * (1 + 1e-9) / sqrt(sum / 6),
                       "a mean power larger by 1e-9");
    }
    for (int64_t i = 0; i < members; i++)
        without[i] = overall(i);
    ck_assert_rounding_of(read_number("ensemble/coherence", 1), overall(-1), 1.0, 1e-12);
    ck_assert_rounding_of(read_number("ensemble/coherence_error", 1), jackknife(without), 1.0,
                          1e-12);
}
END_TEST

/* |S|^2 / (M sigma^2) is exponential for pure noise, and E|X - 1| = 2/e = 0.736. */
START_TEST(pure_noise_has_the_known_floor)
{
    begin(20, 4096);
    fill(0, 1);
    for (int64_t i = 0; i < members; i++)
        write_member(i, MEMBER_DONE);
    reduce();
    double *const g = calloc((size_t)bins, sizeof *g);
    read_spectrum("ensemble/g12", g);
    double mean = 0;
    for (long k = 0; k < bins; k++)
        mean += g[k] / (double)bins;
    free(g);
    ck_assert_near(mean, 2 * exp(-1) / 19, 0.0015, 2 * exp(-1) / 20,
                   "19 degrees of freedom counted as 20"); /* 5 standard errors */
}
END_TEST

START_TEST(identical_shots_are_fully_coherent)
{
    begin(5, 16);
    fill(1, 0);
    for (int64_t i = 0; i < members; i++)
        write_member(i, MEMBER_DONE);
    reduce();
    double g[16];
    double error[16];
    double deviation[16];
    read_spectrum("ensemble/g12", g);
    read_spectrum("ensemble/g12_error", error);
    read_spectrum("ensemble/std_spectrum", deviation);
    for (long k = 0; k < bins; k++) {
        ck_assert_rounding_of(g[k], 1, 1.0, 1e-14);
        ck_assert_norm(error[k], 1e-14);
        ck_assert_norm(deviation[k], 1e-15);
    }
    ck_assert_rounding(read_number("ensemble/coherence", 1), 1, 1e-14);
    ck_assert(isnan(read_number("ensemble/coherence", 0))); /* no energy there */
}
END_TEST

START_TEST(members_that_are_not_done_leave_a_counted_hole)
{
    begin(7, 11);
    fill(1, 0.8);
    write_member(0, MEMBER_DONE);
    write_member(1, MEMBER_FAILED);
    write_member(2, MEMBER_DONE);
    write_member(3, MEMBER_TIMED_OUT);
    write_member(4, MEMBER_DONE);
    write_member(5, MEMBER_DONE);
    /* 6 stays pending */
    const struct reduce_result result = reduce();
    ck_assert_int_eq(result.n, 4);
    ck_assert_int_eq(result.failed, 2);
    double g[11];
    double row = 0;
    read_spectrum("ensemble/g12", g);
    ck_assert_int_eq(read_rows(store, "ensemble/biased", POINT, 1, 1, &row), 0);
    ck_assert(exactly(row, 1));
    ck_assert_int_eq(read_rows(store, "ensemble/n_failed", POINT, 1, 1, &row), 0);
    ck_assert(exactly(row, 2));
    static const int64_t done[] = {0, 2, 4, 5};
    for (int64_t i = 0; i < 4; i++)
        memmove(at(i, 0), at(done[i], 0), (size_t)(2 * bins) * sizeof *field);
    members = 4;
    for (long k = 0; k < bins; k++)
        ck_assert_rounding_of(g[k], pairs(k, -1), 1.0, 1e-12);
}
END_TEST

START_TEST(too_few_members_give_nan_not_numbers)
{
    begin(3, 4);
    fill(1, 0.5);
    for (int64_t n = 0; n <= 3; n++) {
        if (n > 0)
            write_member(n - 1, MEMBER_DONE);
        ck_assert_int_eq(reduce().n, n);
        double values[4];
        read_spectrum("ensemble/mean_spectrum", values);
        ck_assert_int_eq(isnan(values[0]), n < 1);
        read_spectrum("ensemble/std_spectrum", values);
        ck_assert_int_eq(isnan(values[0]), n < 2);
        read_spectrum("ensemble/g12", values);
        ck_assert_int_eq(isnan(values[0]), n < 2);
        read_spectrum("ensemble/g12_error", values);
        ck_assert_int_eq(isnan(values[0]), n < 3);
        ck_assert_int_eq(isnan(read_number("ensemble/coherence", 1)), n < 2);
        ck_assert_int_eq(isnan(read_number("ensemble/coherence_error", 1)), n < 3);
        const int64_t start[] = {POINT, 0, 0};
        const int64_t count[] = {1, 1, 1};
        ck_assert_int_eq(read_block(store, "ensemble/peak_power_edges", start, count, values),
                         0);
        ck_assert_int_eq(isnan(values[0]), n < 1);
    }
}
END_TEST

START_TEST(the_histogram_counts_every_member_once)
{
    begin(9, 4);
    fill(1, 0.5);
    for (int64_t i = 0; i < members; i++)
        write_member(i,
                     MEMBER_DONE); /* peak powers i^2 + 1 at plane 1: 1 2 5 10 17 26 37 50 65 */
    reduce();
    double edge[5];
    double counted[4];
    const int64_t start[] = {POINT, 1, 0};
    const int64_t edges[] = {1, 1, 5};
    const int64_t counts[] = {1, 1, 4};
    ck_assert_int_eq(read_block(store, "ensemble/peak_power_edges", start, edges, edge), 0);
    ck_assert_int_eq(read_block(store, "ensemble/peak_power_histogram", start, counts, counted),
                     0);
    static const double expected_edges[] = {1, 17, 33, 49, 65};
    static const double expected_counts[] = {4, 2, 1, 2}; /* 17 belongs to the second bin */
    for (int b = 0; b < 4; b++) {
        ck_assert_exactly(edge[b], expected_edges[b]);
        ck_assert_exactly(counted[b], expected_counts[b]);
    }
    ck_assert_exactly(edge[4], 65);
}
END_TEST

START_TEST(a_reduction_is_repeatable_and_marks_its_row)
{
    begin(6, 32);
    fill(1, 0.7);
    uint8_t reduced[6];
    int64_t n[6];
    ck_assert_int_eq(reduce_read_rows(store, 0, 6, reduced, n), 0);
    ck_assert_int_eq(reduced[POINT], 0);
    for (int64_t i = members - 1; i >= 0; i--) /* written in another order */
        write_member(i, MEMBER_DONE);
    double first[32];
    double second[32];
    reduce();
    read_spectrum("ensemble/g12_error", first);
    reduce();
    read_spectrum("ensemble/g12_error", second);
    ck_assert(equal_bits(first, second, sizeof first));
    ck_assert_int_eq(reduce_read_rows(store, 0, 6, reduced, n), 0);
    for (int p = 0; p < 6; p++) {
        ck_assert_int_eq(reduced[p], p == POINT);
        ck_assert_int_eq(n[p], p == POINT ? 6 : 0);
    }
    struct reduce_result result;
    ck_assert_int_eq(reduce_point(store, 6, &result), ERR_ARGUMENT);
}
END_TEST

START_TEST(a_short_grid_is_reduced_over_its_own_bins)
{
    fixture_two_grids(&fixture);
    ck_assert_int_eq(store_define(path, &fixture.spec), 0);
    ck_assert_int_eq(store_open(path, &store), 0);
    for (int64_t m = 0; m < 30; m++)
        ck_assert_int_eq(fixture_write_member(&fixture, store, m), 0);
    struct reduce_result result;
    ck_assert_int_eq(reduce_point(store, 4, &result), 0); /* members 20 … 24, 5 bins */
    double mean[FIXTURE_OMEGA];
    const int64_t start[] = {4, 2, 0};
    const int64_t count[] = {1, 1, FIXTURE_OMEGA};
    ck_assert_int_eq(read_block(store, "ensemble/mean_spectrum", start, count, mean), 0);
    for (long k = 0; k < FIXTURE_OMEGA; k++) {
        double sum = 0;
        for (int64_t m = 20; m < 25; m++)
            sum += pow(fixture_field(m, 2, k, 0), 2) + pow(fixture_field(m, 2, k, 1), 2);
        ck_assert_int_eq(isnan(mean[k]), k >= 5);
        if (k < 5)
            ck_assert_rounding_of(mean[k], sum / 5, sum, 1e-12);
    }
}
END_TEST

static Suite *reduce_suite(void)
{
    Suite *const suite = suite_create("reduce");
    TCase *const tests = tcase_create("reduce");
    tcase_add_checked_fixture(tests, setup, end);
    tcase_set_timeout(tests, 60);
    tcase_add_test(tests, results_equal_the_definition_by_pairs);
    tcase_add_test(tests, pure_noise_has_the_known_floor);
    tcase_add_test(tests, identical_shots_are_fully_coherent);
    tcase_add_test(tests, members_that_are_not_done_leave_a_counted_hole);
    tcase_add_test(tests, too_few_members_give_nan_not_numbers);
    tcase_add_test(tests, the_histogram_counts_every_member_once);
    tcase_add_test(tests, a_reduction_is_repeatable_and_marks_its_row);
    tcase_add_test(tests, a_short_grid_is_reduced_over_its_own_bins);
    suite_add_tcase(suite, tests);
    return suite;
}

int main(void)
{
    return unit_main(reduce_suite());
}
