/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "scans/numbers.h"
#include "scans/units.h"
#include "tests/exact.h"
#include "tests/perturb/near.h"
#include "tests/scans/comma.h"
#include "tests/unit_main.h"

static double read_number(const char *text)
{
    double value = -1.0;
    ck_assert_uint_eq(number_length(text), strlen(text));
    ck_assert(number_real(text, strlen(text), 0, &value));
    return value;
}

START_TEST(numbers_of_the_documented_grammar_are_read)
{
    ck_assert(exactly(read_number("1"), 1.0));
    ck_assert(exactly(read_number("1e-6"), 1e-6));
    ck_assert(exactly(read_number("1.5E+3"), 1500.0));
    ck_assert(exactly(read_number(".5"), 0.5));
    ck_assert(exactly(read_number("5."), 5.0));
    ck_assert(exactly(read_number("+3"), 3.0));
    ck_assert(exactly(read_number("-0.25e1"), -2.5));
    ck_assert(exactly(read_number("9007199254740993"), 9007199254740992.0)); /* ties to even */
    ck_assert(exactly(read_number("1.7976931348623157e308"), 1.7976931348623157e308));
    ck_assert(exactly(read_number("5e-324"), 0x1p-1074));
    ck_assert(!signbit(read_number("-0")));
}
END_TEST

START_TEST(everything_else_is_no_number)
{
    static const char *const texts[] = {"",    "+",    ".",    "e5",  "-.",       "nan", "inf",
                                        "NaN", ".inf", "-inf", "_1",  "infinity", "x1",  ",5",
                                        "--1", "+-1",  "%",    ".e1", "−1"};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        ck_assert_msg(number_length(texts[i]) == 0, "'%s'", texts[i]);
}
END_TEST

START_TEST(a_number_ends_where_the_grammar_ends)
{
    ck_assert_uint_eq(number_length("1_000"), 1);
    ck_assert_uint_eq(number_length("0x10"), 1);
    ck_assert_uint_eq(number_length("1,5"), 1);
    ck_assert_uint_eq(number_length("1.2.3"), 3);
    ck_assert_uint_eq(number_length("1e"), 1);
    ck_assert_uint_eq(number_length("1e+"), 1);
    ck_assert_uint_eq(number_length("1e-6 m"), 4);
}
END_TEST

START_TEST(numbers_beyond_double_are_refused)
{
    static const char *const texts[] = {"1e309", "-1e400", "1e-400", "1e99999999999999999999",
                                        "0.1e-99999999999999999999"};
    double value = 0.0;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        ck_assert_msg(!number_real(texts[i], strlen(texts[i]), 0, &value), "%s", texts[i]);
    ck_assert(number_real("0e-9999", 7, 0, &value));
    ck_assert(exactly(value, 0.0));
    char digits[1000];
    memset(digits, '1', sizeof digits);
    digits[999] = '\0';
    ck_assert(!number_real(digits, 999, 0, &value));
}
END_TEST

START_TEST(the_decimal_shift_rounds_once)
{
    double value = 0.0;
    ck_assert(number_real("835", 3, -9, &value));
    ck_assert(exactly(value, 835e-9));
    ck_assert(number_real("1.2e1", 5, -15, &value));
    ck_assert(exactly(value, 12e-15));
    ck_assert(number_real("3e300", 5, -300, &value));
    ck_assert(exactly(value, 3.0));
}
END_TEST

START_TEST(whole_numbers_are_exact_to_64_bits)
{
    uint64_t value = 0;
    ck_assert(number_unsigned("18446744073709551615", &value));
    ck_assert(value == UINT64_MAX);
    ck_assert(!number_unsigned("18446744073709551616", &value));
    ck_assert(!number_unsigned("1e3", &value));
    ck_assert(!number_unsigned("-1", &value));
    ck_assert(!number_unsigned("", &value));
}
END_TEST

START_TEST(written_numbers_read_as_the_same_bits)
{
    const double values[] = {0.1,    1e-300, 8.35e-7,    M_PI,   1.0 / 3.0, 5e-324,
                             -2e-15, 1e15,   0x1p53 + 2, 123456, DBL_MAX,   -7};
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
        char text[NUMBER_SIZE];
        const size_t length = number_write(values[i], text);
        ck_assert_uint_eq(length, strlen(text));
        ck_assert(exactly(read_number(text), values[i]));
    }
}
END_TEST

START_TEST(the_locale_changes_nothing)
{
    if (!comma_locale())
        return;
    char text[NUMBER_SIZE];
    snprintf(text, sizeof text, "%g", 0.5);
    ck_assert_str_eq(text, "0,5"); /* the locale is really in force */
    ck_assert(exactly(read_number("1.5"), 1.5));
    number_write(0.5, text);
    ck_assert_str_eq(text, "0.5");
    struct units *units = NULL;
    char why[UNITS_WHY_SIZE];
    double value = 0.0;
    ck_assert_int_eq(units_create(&units), 0);
    ck_assert_int_eq(units_value(units, "1.5 inch", "m", &value, why), 0);
    ck_assert_rounding(value, 0.0381, 2.6e-16); /* 0.0254 stands in the units database */
    ck_assert_int_eq(units_value(units, "2.5 fs", "s", &value, why), 0);
    ck_assert(exactly(value, 2.5e-15));
    units_destroy(units);
    snprintf(text, sizeof text, "%g", 0.5);
    ck_assert_str_eq(text, "0,5"); /* and was given back */
}
END_TEST

static Suite *numbers_suite(void)
{
    Suite *suite = suite_create("numbers");
    TCase *tcase = tcase_create("numbers");
    tcase_add_test(tcase, numbers_of_the_documented_grammar_are_read);
    tcase_add_test(tcase, everything_else_is_no_number);
    tcase_add_test(tcase, a_number_ends_where_the_grammar_ends);
    tcase_add_test(tcase, numbers_beyond_double_are_refused);
    tcase_add_test(tcase, the_decimal_shift_rounds_once);
    tcase_add_test(tcase, whole_numbers_are_exact_to_64_bits);
    tcase_add_test(tcase, written_numbers_read_as_the_same_bits);
    tcase_add_test(tcase, the_locale_changes_nothing);
    suite_add_tcase(suite, tcase);
    return suite;
}

int main(void)
{
    return unit_main(numbers_suite());
}
