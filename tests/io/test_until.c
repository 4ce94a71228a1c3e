/* SPDX-License-Identifier: GPL-3.0-or-later */
/* When the ensemble of a point has members enough, from its stored members. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <check.h>

#include "io/read.h"
#include "io/reduce.h"
#include "io/reduce_sums.h"
#include "io/store.h"
#include "io/until.h"
#include "io/verify.h"
#include "kernels/base/mem.h"
#include "kernels/base/rng.h"
#include "kernels/base/status.h"
#include "kernels/contract/bounds.h"
#include "kernels/contract/sequential.h"
#include "tests/exact.h"
#include "tests/io/refusal.h"
#include "tests/perturb/near.h"
#include "tests/unit_main.h"

enum { POINT = 2, M = 60, BINS = FIXTURE_OMEGA };

static struct store_until rule;
static struct store *store;
static double field[M][2 * BINS]; /* of the last plane of POINT */
static double energy[M];

static void end(void)
{
    const int rc = store_close(store);
    teardown();
    ck_assert_int_eq(rc, 0);
}

/* Another empty folder. */
static void renew(void)
{
    ck_assert_int_eq(store_close(store), 0);
    fixture_folder_remove(folder);
    fixture_folder(folder);
    fixture_path(folder, "out.h5", path);
}

/* A file whose ensembles stop by a quantity. Looks after 8, 16, 32, 60 members. */
static void begin(const char *quantity, double error, bool banded)
{
    rule = (struct store_until){.error = error, .min = 8, .max = M, .banded = banded};
    snprintf(rule.quantity, sizeof rule.quantity, "%s", quantity);
    rule.omega[0] = 1002; /* the fixture's omega: 1000, 1001, ... */
    rule.omega[1] = 1004.5;
    fixture.spec.realisations = M;
    fixture.spec.history = 0;
    fixture.spec.until = &rule;
    ck_assert_msg(store_define(path, &fixture.spec) == 0, "%s", message);
    ck_assert_int_eq(store_open(path, &store), 0);
    for (int i = 0; i < M; i++) {
        const struct rng_stream stream = {.seed = 9, .realisation = (uint64_t)i};
        double x[2];
        for (int k = 0; k < BINS; k++) {
            rng_normal2(&stream, (uint64_t)k, x);
            field[i][2 * k] = 1 + 0.3 * k + 0.2 * x[0];
            field[i][2 * k + 1] = 0.2 * x[1];
        }
        rng_normal2(&stream, 99, x);
        energy[i] = 5 + x[0];
    }
}

static void write_member(int i, enum member_state state)
{
    static double none[FIXTURE_X * 2 * BINS];
    const int64_t member = (int64_t)POINT * M + i;
    for (long plane = 0; plane < FIXTURE_PLANES; plane++) {
        const bool last = plane == FIXTURE_PLANES - 1;
        const struct plane_buffers buffers = {.array = {last ? field[i] : none, none},
                                              .observable = {last ? energy[i] : 1e9, 1, 0}};
        ck_assert_int_eq(store_write_plane(store, member, &fixture.layout, plane, 0, &buffers),
                         0);
    }
    ck_assert_int_eq(fixture_end_member(store, member, state, ""), 0);
}

static void write_members(int from, int to)
{
    for (int i = from; i < to; i++)
        write_member(i, MEMBER_DONE);
}

static struct reduce_result look(void)
{
    struct reduce_result result;
    ck_assert_msg(reduce_look(store, POINT, &result) == 0, "%s", message);
    return result;
}

static int state_of(int64_t i)
{
    uint8_t state = 0;
    ck_assert_int_eq(store_read_states(store, POINT * M + i, 1, &state, NULL), 0);
    return state;
}

static double number(const char *name)
{
    double value = 0;
    ck_assert_int_eq(read_rows(store, name, POINT, 1, 1, &value), 0);
    return value;
}

/* Student's quantile over the normal one, as the four looks have it. */
static double widening(int n)
{
    const struct sequential_rule ladder = {.error = 1, .min = 8, .max = M};
    return sequential_widening(&ladder, n);
}

static void near(double value, double want)
{
    ck_assert_rounding(value, want, 1e-12);
}

/* The definition, in two passes: sqrt(sum_k var_k / n) / sqrt(sum_k mean_k^2) over the bins. */
static double spectrum_error(int n, int from, int to, double *norm)
{
    double variance = 0;
    *norm = 0;
    for (int k = from; k < to; k++) {
        double mean = 0;
        double squares = 0;
        for (int pass = 0; pass < 2; pass++)
            for (int i = 0; i < n; i++) {
                const double p = field[i][2 * k] * field[i][2 * k]
                                 + field[i][2 * k + 1] * field[i][2 * k + 1];
                if (pass == 0)
                    mean += p / n;
                else
                    squares += (p - mean) * (p - mean);
            }
        variance += squares / (n - 1) / n;
        *norm += mean * mean;
    }
    *norm = sqrt(*norm);
    return sqrt(variance) / *norm;
}

START_TEST(the_error_of_a_mean_spectrum_is_that_of_its_definition)
{
    double norm = 0;
    begin("mean_spectrum", 1e-9, _i == 1);
    write_members(0, 16);
    const struct reduce_result found = look();
    const double error = spectrum_error(16, _i == 1 ? 2 : 0, _i == 1 ? 5 : BINS, &norm);
    ck_assert_int_eq(found.until.stopped, UNTIL_OPEN);
    ck_assert_int_eq(found.until.looks, 2);
    ck_assert_int_eq(found.until.realisations, 16);
    near(found.until.value, norm);
    near(found.until.error, error * widening(16));
    near(number("ensemble/until_error"), found.until.error);
    ck_assert(exactly(number("ensemble/reduced"), 0.0));
}
END_TEST

START_TEST(an_observable_is_estimated_over_the_done_members)
{
    double mean = 0;
    double squares = 0;
    begin("energy", 1e-9, false);
    for (int i = 0; i < 16; i++)
        write_member(i, i == 3 ? MEMBER_FAILED : i == 9 ? MEMBER_TIMED_OUT : MEMBER_DONE);
    for (int i = 0; i < 16; i++)
        mean += i == 3 || i == 9 ? 0 : energy[i] / 14;
    for (int i = 0; i < 16; i++)
        squares += i == 3 || i == 9 ? 0 : (energy[i] - mean) * (energy[i] - mean);
    const struct reduce_result found = look();
    ck_assert_int_eq(found.until.looks, 2);
    near(found.until.value, mean);
    near(found.until.error, sqrt(squares / 13 / 14) / mean * widening(14));
}
END_TEST

/* |sum over pairs i != j| / (n - 1) / n, weighted with the power, without member `out`. */
static double coherence(int n, int from, int to, int out)
{
    double total = 0;
    double weight = 0;
    for (int k = from; k < to; k++) {
        double re = 0;
        double im = 0;
        double q = 0;
        int m = 0;
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n; j++) {
                if (i == out || j == out)
                    continue;
                const double *const a = &field[i][2 * k];
                const double *const b = &field[j][2 * k];
                if (i == j) {
                    q += a[0] * a[0] + a[1] * a[1];
                    m++;
                    continue;
                }
                re += a[0] * b[0] + a[1] * b[1];
                im += a[0] * b[1] - a[1] * b[0];
            }
        total += hypot(re, im) / (m - 1);
        weight += q;
    }
    return total / weight;
}

START_TEST(the_error_of_a_coherence_is_its_jackknife_in_the_band)
{
    double mean = 0;
    double squares = 0;
    double left_out[16];
    begin("g12", 1e-9, true);
    write_members(0, 16);
    for (int i = 0; i < 16; i++) {
        left_out[i] = coherence(16, 2, 5, i);
        mean += left_out[i] / 16;
    }
    for (int i = 0; i < 16; i++)
        squares += (left_out[i] - mean) * (left_out[i] - mean);
    const struct reduce_result found = look();
    near(found.until.value, coherence(16, 2, 5, -1));
    ck_assert_rounding(found.until.error, sqrt(15.0 / 16 * squares) * widening(16), 1e-12);
}
END_TEST

START_TEST(members_beyond_the_stop_do_not_count)
{
    double norm = 0;
    begin("mean_spectrum", 1, false);
    write_members(0, 6);
    write_member(7, MEMBER_DONE);
    write_member(12, MEMBER_DONE); /* of an earlier, longer ensemble */
    struct reduce_result found = look();
    ck_assert_int_eq(found.until.looks, 0); /* member 6 is missing */
    ck_assert(isnan(found.until.error));
    write_member(6, MEMBER_DONE);
    found = look();
    ck_assert_int_eq(found.until.stopped, UNTIL_REACHED);
    ck_assert_int_eq(found.until.realisations, 8);
    ck_assert_int_eq(found.n, 8);
    near(found.until.error, spectrum_error(8, 0, BINS, &norm) * widening(8));
    ck_assert(exactly(number("ensemble/n"), 8.0) && exactly(number("ensemble/reduced"), 1.0));
    ck_assert_int_eq(state_of(7), MEMBER_DONE);
    ck_assert_int_eq(state_of(12), MEMBER_DONE);
    for (int i = 8; i < M; i++)
        ck_assert_int_eq(state_of(i), i == 12 ? MEMBER_DONE : MEMBER_NOT_NEEDED);
    /* `scanfarm reduce` finds the same. */
    struct reduce_result again;
    ck_assert_int_eq(reduce_point(store, POINT, &again), 0);
    ck_assert_int_eq(again.n, 8);
    ck_assert(exactly(again.until.error, found.until.error));
}
END_TEST

START_TEST(the_last_look_ends_it_whatever_the_error)
{
    begin("energy", 1e-9, false);
    write_members(0, M);
    const struct reduce_result found = look();
    ck_assert_int_eq(found.until.stopped, UNTIL_ALL);
    ck_assert_int_eq(found.until.looks, 4);
    ck_assert_int_eq(found.until.realisations, M);
    ck_assert(found.until.error > 1e-9);
}
END_TEST

START_TEST(an_ensemble_without_scatter_stops_at_once_and_without_members_never)
{
    begin("energy", 0.01, false);
    for (int i = 0; i < 8; i++) {
        energy[i] = 0;
        write_member(i, MEMBER_DONE);
    }
    ck_assert_int_eq(look().until.stopped, UNTIL_REACHED);
    renew();
    begin("g12", 1, false);
    for (int i = 0; i < 16; i++)
        write_member(i, i < 2 ? MEMBER_DONE : MEMBER_FAILED);
    const struct reduce_result found = look();
    ck_assert_int_eq(found.until.looks, 2);
    ck_assert_int_eq(found.until.stopped, UNTIL_OPEN);
}
END_TEST

static int64_t prepared(void)
{
    int64_t reopened = -1;
    ck_assert_msg(until_prepare(store, &reopened) == 0, "%s", message);
    return reopened;
}

START_TEST(a_member_that_is_computed_again_opens_its_point)
{
    begin("mean_spectrum", 1, false);
    write_members(0, 8);
    look();
    ck_assert_int_eq(prepared(), 0); /* nothing has changed */
    ck_assert(exactly(number("ensemble/reduced"), 1.0));
    ck_assert_int_eq(store_retry_member(store, POINT * M + 5), 0);
    ck_assert_int_eq(prepared(), M - 8);
    ck_assert(exactly(number("ensemble/reduced"), 0.0));
    ck_assert(exactly(number("ensemble/stopped"), 0.0));
    for (int i = 8; i < M; i++)
        ck_assert_int_eq(state_of(i), MEMBER_PENDING);
    ck_assert_int_eq(prepared(), 0);
}
END_TEST

static int64_t broken(const char **text)
{
    static struct verify_report report;
    report = (struct verify_report){0};
    ck_assert_msg(verify_store(store, NULL, &report) == 0, "%s", message);
    *text = report.kind[VERIFY_STOPS].text[0];
    ck_assert_int_eq(report.kind[VERIFY_STOPS].checked, 6); /* points */
    return report.kind[VERIFY_STOPS].broken;
}

START_TEST(verify_finds_a_stop_that_members_do_not_say)
{
    const char *text = NULL;
    begin("mean_spectrum", 1, false);
    write_members(0, 16);
    const struct until_end right = look().until;
    ck_assert_int_eq(broken(&text), 0);
    struct until_end wrong = right;
    wrong.error *= 1 + 1e-9;
    ck_assert_int_eq(until_write_row(store, POINT, &wrong), 0);
    ck_assert_int_eq(broken(&text), 1);
    ck_assert_ptr_nonnull(strstr(text, "point 2 has the error"));
    wrong = right;
    wrong.looks = 2;
    wrong.realisations = 16;
    ck_assert_int_eq(until_write_row(store, POINT, &wrong), 0);
    ck_assert_int_eq(broken(&text), 2); /* it is made of 8, and it takes one look */
    ck_assert_int_eq(until_write_row(store, POINT, &right), 0);
    ck_assert_int_eq(broken(&text), 0);
    wrong = right;
    wrong.stopped = UNTIL_OPEN;
    ck_assert_int_eq(until_write_row(store, POINT, &wrong), 0);
    ck_assert_int_eq(broken(&text), M - 16); /* members that are not needed */
}
END_TEST

START_TEST(a_damaged_rule_and_an_empty_band_are_refused)
{
    begin("g12", 0.1, true);
    write_members(0, 8);
    struct store_until found;
    ck_assert_int_eq(until_read_rule(store, &found), 0);
    ck_assert_str_eq(found.quantity, "g12");
    ck_assert_int_eq(found.min, 8);
    ck_assert_int_eq(found.max, M);
    ck_assert(exactly(found.error, 0.1) && exactly(found.omega[1], 1004.5) && found.banded);
    renew();
    begin("g12", 0.1, true);
    renew();
    rule.omega[0] = 1;
    rule.omega[1] = 2;
    ck_assert_int_eq(store_define(path, &fixture.spec), 0);
    ck_assert_int_eq(store_open(path, &store), 0);
    write_members(0, 8);
    struct reduce_result result;
    ck_assert_int_eq(reduce_look(store, POINT, &result), ERR_ARGUMENT);
    ck_assert_ptr_nonnull(strstr(message, "no frequency in ensemble.until.band"));
    renew();
    rule.max = M + 1;
    ck_assert_int_eq(store_define(path, &fixture.spec), 0);
    ck_assert_int_eq(store_open(path, &store), 0);
    ck_assert_int_eq(until_read_rule(store, &found), ERR_CONFLICT);
}
END_TEST

/* Part: coverage of the coherence, whose estimate is no mean and whose error is a jackknife. */

enum { ENSEMBLES = 2000, MOST = 640 };

#define TRUE_G12 0.5
#define Z        1.959963984540054 /* normal, 97.5 %: any table */

/* A field of one bin, signal and noise of the same power: g12 = 1/2. */
static void draw(int ensemble, double (*e)[2])
{
    for (int i = 0; i < MOST; i++) {
        const struct rng_stream stream = {
            .seed = 21, .point_key = (uint64_t)ensemble, .realisation = (uint64_t)i};
        rng_normal2(&stream, 0, e[i]);
        e[i][0] = 1 + e[i][0] / sqrt(2.0);
        e[i][1] = e[i][1] / sqrt(2.0);
    }
}

static double estimate(struct reduce_sums *sums, double (*e)[2], int64_t count, double *error)
{
    reduce_sums_begin(sums);
    for (int64_t i = 0; i < count; i++)
        reduce_sums_add(sums, e[i]);
    reduce_sums_mean(sums);
    for (int64_t i = 0; i < count; i++)
        reduce_sums_leave_out(sums, e[i]);
    return reduce_sums_coherence(sums, error);
}

START_TEST(intervals_of_the_coherence_cover_the_truth_at_the_stop)
{
    static double e[MOST][2];
    const struct sequential_rule ladder = {.error = 0.06, .min = 20, .max = MOST};
    struct reduce_sums *sums = NULL;
    int covered = 0;
    double mean = 0;
    store = NULL;
    ck_assert_int_eq(reduce_sums_create(1, &sums), 0);
    for (int n = 0; n < ENSEMBLES; n++) {
        double g = 0;
        double error = 0;
        int k = -1;
        draw(n, e);
        do {
            g = estimate(sums, e, sequential_count(&ladder, ++k), &error);
            error *= sequential_widening(&ladder, sequential_count(&ladder, k));
        } while (!sequential_stops(&ladder, k, error));
        covered += fabs(g - TRUE_G12) <= Z * error;
        mean += (double)sequential_count(&ladder, k) / ENSEMBLES;
    }
    reduce_sums_destroy(sums);
    printf("g12: %.2f %% covered, %.0f realisations\n", 100.0 * covered / ENSEMBLES, mean);
    ck_assert(covered >= bound(BOUND_sequential_coverage) * ENSEMBLES);
    ck_assert(mean > 40 && mean < MOST);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("until");
    TCase *tests = tcase_create("until");
    tcase_add_checked_fixture(tests, setup, end);
    tcase_set_timeout(tests, 60);
    tcase_add_loop_test(tests, the_error_of_a_mean_spectrum_is_that_of_its_definition, 0, 2);
    tcase_add_test(tests, an_observable_is_estimated_over_the_done_members);
    tcase_add_test(tests, the_error_of_a_coherence_is_its_jackknife_in_the_band);
    tcase_add_test(tests, members_beyond_the_stop_do_not_count);
    tcase_add_test(tests, the_last_look_ends_it_whatever_the_error);
    tcase_add_test(tests, an_ensemble_without_scatter_stops_at_once_and_without_members_never);
    tcase_add_test(tests, a_member_that_is_computed_again_opens_its_point);
    tcase_add_test(tests, verify_finds_a_stop_that_members_do_not_say);
    tcase_add_test(tests, a_damaged_rule_and_an_empty_band_are_refused);
    tcase_add_test(tests, intervals_of_the_coherence_cover_the_truth_at_the_stop);
    suite_add_tcase(suite, tests);
    return unit_main(suite);
}
