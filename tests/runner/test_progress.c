/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <string.h>

#include "runner/progress.h"
#include "tests/exact.h"
#include "tests/unit_main.h"

START_TEST(nothing_done_gives_no_rate_and_no_time_left)
{
    char text[PROGRESS_LINE_SIZE];
    const struct progress_counts counts = {.total = 480};
    ck_assert_exactly(progress_rate(&counts), 0);
    ck_assert_double_nan(progress_eta(&counts));
    progress_format(&counts, text);
    ck_assert_str_eq(text, "0/480 members (0.0 %)");
}
END_TEST

START_TEST(a_scan_without_members_is_all_done)
{
    char text[PROGRESS_LINE_SIZE];
    const struct progress_counts counts = {0};
    progress_format(&counts, text);
    ck_assert_str_eq(text, "0/0 members (100.0 %)");
    ck_assert_exactly(progress_eta(&counts), 0);
}
END_TEST

START_TEST(the_line_has_counts_rate_and_time_left)
{
    char text[PROGRESS_LINE_SIZE];
    const struct progress_counts counts = {
        .total = 480, .done = 118, .failed = 2, .running = 4, .elapsed = 40};
    progress_format(&counts, text);
    ck_assert_ptr_nonnull(strstr(text, "120/480 members (25.0 %), 2 failed, 4 running, 3/s, "));
    ck_assert_ptr_nonnull(strstr(text, "2 min"));
    ck_assert_ptr_nonnull(strstr(text, " left"));
}
END_TEST

START_TEST(a_prediction_counts_more_than_the_rate_and_has_a_band)
{
    char text[PROGRESS_LINE_SIZE];
    struct progress_counts counts = {.total = 480,
                                     .done = 120,
                                     .elapsed = 40,
                                     .left = 600,
                                     .left_low = 480,
                                     .left_high = 720};
    ck_assert_exactly(progress_eta(&counts), 600);
    progress_format(&counts, text);
    ck_assert_ptr_nonnull(strstr(text, ", 10 min 00 s left (8 min 00 s to 12 min 00 s)"));
    counts.left_low = 599.99;
    counts.left_high = 600.01;
    progress_format(&counts, text);
    ck_assert_ptr_nonnull(strstr(text, ", 10 min 00 s left"));
    ck_assert_ptr_null(strstr(text, " to "));
}
END_TEST

START_TEST(members_of_earlier_runs_count_as_done_but_not_for_the_rate)
{
    const struct progress_counts counts = {
        .total = 100, .before = 60, .done = 10, .elapsed = 5};
    ck_assert_exactly(progress_rate(&counts), 2);
    ck_assert_exactly(progress_eta(&counts), 15);
}
END_TEST

START_TEST(slow_rates_are_given_a_minute)
{
    char text[PROGRESS_LINE_SIZE];
    const struct progress_counts counts = {.total = 10, .done = 1, .elapsed = 120};
    progress_format(&counts, text);
    ck_assert_ptr_nonnull(strstr(text, "0.5/min"));
}
END_TEST

START_TEST(reduced_points_are_shown_when_there_are_any)
{
    char text[PROGRESS_LINE_SIZE];
    const struct progress_counts counts = {
        .total = 10, .done = 10, .elapsed = 1, .points = 5, .reduced = 3};
    progress_format(&counts, text);
    ck_assert_ptr_nonnull(strstr(text, "3/5 points reduced"));
}
END_TEST

START_TEST(the_longest_line_is_cut_and_not_overrun)
{
    char text[PROGRESS_LINE_SIZE];
    const int64_t huge = INT64_MAX / 8;
    const struct progress_counts counts = {.total = INT64_MAX,
                                           .before = huge,
                                           .done = huge,
                                           .failed = huge,
                                           .running = huge,
                                           .points = huge,
                                           .reduced = huge,
                                           .elapsed = 1e-300};
    progress_format(&counts, text);
    ck_assert_uint_lt(strlen(text), PROGRESS_LINE_SIZE);
}
END_TEST

static Suite *progress_suite(void)
{
    Suite *suite = suite_create("progress");
    TCase *tests = tcase_create("progress");
    tcase_add_test(tests, nothing_done_gives_no_rate_and_no_time_left);
    tcase_add_test(tests, a_scan_without_members_is_all_done);
    tcase_add_test(tests, the_line_has_counts_rate_and_time_left);
    tcase_add_test(tests, a_prediction_counts_more_than_the_rate_and_has_a_band);
    tcase_add_test(tests, members_of_earlier_runs_count_as_done_but_not_for_the_rate);
    tcase_add_test(tests, slow_rates_are_given_a_minute);
    tcase_add_test(tests, reduced_points_are_shown_when_there_are_any);
    tcase_add_test(tests, the_longest_line_is_cut_and_not_overrun);
    suite_add_tcase(suite, tests);
    return suite;
}

int main(void)
{
    return unit_main(progress_suite());
}
