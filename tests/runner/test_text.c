/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <check.h>

#include "runner/plot.h"
#include "runner/text.h"
#include "tests/exact.h"
#include "tests/perturb/near.h"
#include "tests/unit_main.h"

START_TEST(quantities_are_shown_with_the_prefix_that_reads_well)
{
    static const struct {
        double value;
        const char *unit;
        const char *text;
    } cases[] = {{5e-14, "s", "50 fs"},
                 {1e4, "W", "10 kW"},
                 {0.15, "m", "15 cm"},
                 {835e-9, "m", "835 nm"},
                 {2e3, "m", "2 km"},
                 {9.09e-4, "m", "909 µm"},
                 {2.3e15, "rad/s", "2.3 rad/fs"},
                 {1e12, "rad s^-1", "1 rad/ps"},
                 {0.11, "W^-1 m^-1", "0.11 W⁻¹ m⁻¹"},
                 {8.649, "1", "8.649"},
                 {-3e-12, "s", "-3 ps"},
                 {0, "s", "0 s"},
                 {999.9999999999e-9, "J", "1 µJ"}};
    const size_t i = (size_t)_i;
    char text[TEXT_SIZE];
    ck_assert_uint_lt(i, sizeof cases / sizeof cases[0]);
    text_value(cases[i].value, cases[i].unit, text);
    ck_assert_str_eq(text, cases[i].text);
}
END_TEST

START_TEST(units_are_written_with_raised_exponents)
{
    char text[40];
    text_pretty_unit("m^-3", text, sizeof text);
    ck_assert_str_eq(text, "m⁻³");
    text_pretty_unit("m2 s-1", text, sizeof text);
    ck_assert_str_eq(text, "m² s⁻¹");
    text_pretty_unit("1", text, sizeof text);
    ck_assert_str_eq(text, "");
    text_pretty_unit("W^0.5", text, sizeof text);
    ck_assert_str_eq(text, "W⁰.⁵");
    char tiny[4]; /* a cut never splits a character */
    text_pretty_unit("m^-3", tiny, sizeof tiny);
    ck_assert_str_eq(tiny, "m");
}
END_TEST

START_TEST(sizes_times_and_counts_are_for_people)
{
    char text[TEXT_SIZE];
    text_bytes(0, text);
    ck_assert_str_eq(text, "0 B");
    text_bytes(999, text);
    ck_assert_str_eq(text, "999 B");
    text_bytes(1.5e9, text);
    ck_assert_str_eq(text, "1.5 GB");
    text_seconds(0.0123, text);
    ck_assert_str_eq(text, "12.3 ms");
    text_seconds(245, text);
    ck_assert_str_eq(text, "4 min 05 s");
    text_seconds(12000, text);
    ck_assert_str_eq(text, "3 h 20 min");
    text_seconds((double)NAN, text);
    ck_assert_str_eq(text, "unknown");
    text_count(1500000, text);
    ck_assert_str_eq(text, "1 500 000");
    text_count(999, text);
    ck_assert_str_eq(text, "999");
    text_count(INT64_MAX, text);
    ck_assert_str_eq(text, "9 223 372 036 854 775 807");
}
END_TEST

static void write_json(const char *text, char *out, size_t size)
{
    FILE *file = fmemopen(out, size, "w");
    json_text(file, text);
    fclose(file);
}

START_TEST(json_strings_are_escaped)
{
    char out[80] = "";
    write_json("a\"b\\c\n\t\x01 µ", out, sizeof out);
    ck_assert_str_eq(out, "\"a\\\"b\\\\c\\u000a\\u0009\\u0001 µ\"");
    write_json("\xff\xc3(", out, sizeof out);
    ck_assert_str_eq(out, "\"\\ufffd\\ufffd(\"");
}
END_TEST

START_TEST(resampling_keeps_the_mean_and_fills_between_samples)
{
    enum { N = 1000, PIXELS = 10 };
    double x[N];
    double y[N];
    double out[PIXELS];
    for (int i = 0; i < N; i++) {
        x[i] = (i + 0.5) / N;
        y[i] = 3 * x[i];
    }
    plot_resample(N, x, y, (struct plot_window){0, 1}, PIXELS, out);
    for (int p = 0; p < PIXELS; p++)
        ck_assert_rounding(out[p], 3 * (p + 0.5) / PIXELS, 1e-12);
    const double two[2] = {0, 1};
    const double line[2] = {5, 7};
    plot_resample(2, two, line, (struct plot_window){-1, 2}, 9, out);
    ck_assert(isnan(out[0]) && isnan(out[8]));
    ck_assert_rounding(out[4], 6, 1e-12);
}
END_TEST

START_TEST(a_window_holds_what_is_above_the_range)
{
    double x[101];
    double y[101];
    for (int i = 0; i <= 100; i++) {
        x[i] = i;
        y[i] = pow(10, -fabs(i - 50.0) / 10); /* 1 dB a step */
    }
    const struct plot_window w = plot_find_window(101, x, y, 20.5);
    ck_assert_rounding(w.low, 30 - 0.04 * 40, 1e-12);
    ck_assert_rounding(w.high, 70 + 0.04 * 40, 1e-12);
    for (int i = 0; i <= 100; i++)
        y[i] = 0;
    const struct plot_window all = plot_find_window(101, x, y, 20);
    ck_assert_exactly(all.low, 0);
    ck_assert_exactly(all.high, 100);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("text");
    TCase *tests = tcase_create("text");
    tcase_add_loop_test(tests, quantities_are_shown_with_the_prefix_that_reads_well, 0, 13);
    tcase_add_test(tests, units_are_written_with_raised_exponents);
    tcase_add_test(tests, sizes_times_and_counts_are_for_people);
    tcase_add_test(tests, json_strings_are_escaped);
    tcase_add_test(tests, resampling_keeps_the_mean_and_fills_between_samples);
    tcase_add_test(tests, a_window_holds_what_is_above_the_range);
    suite_add_tcase(suite, tests);
    return unit_main(suite);
}
