/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <string.h>

#include "kernels/base/mem.h"
#include "kernels/base/status.h"
#include "scans/units.h"
#include "tests/exact.h"
#include "tests/perturb/near.h"
#include "tests/unit_main.h"

static double convert(struct units *units, const char *text, const char *unit)
{
    char why[UNITS_WHY_SIZE] = "";
    double value = -1.0;
    const int rc = units_value(units, text, unit, &value, why);
    ck_assert_msg(rc == 0, "'%s' in '%s': %s", text, unit, why);
    return value;
}

/* Right values are the compiler's, which rounds decimal literals correctly. */
START_TEST(decimal_units_give_the_bits_of_the_literal)
{
    static const struct {
        const char *text;
        const char *unit;
        double value;
    } cases[] = {{"50 fs", "s", 50e-15},
                 {"835 nm", "m", 835e-9},
                 {"0.835 um", "m", 0.835e-6},
                 {"0.835 µm", "m", 0.835e-6},
                 {"12.5 ps", "s", 12.5e-12},
                 {"15 cm", "m", 0.15},
                 {"10 kW", "W", 10e3},
                 {"275 uJ", "J", 275e-6},
                 {"0.8 bar", "Pa", 0.8e5},
                 {"-11.830 ps^2/km", "s^2 m^-1", -11.830e-27},
                 {"8.1038e-2 ps^3/km", "s^3 m^-1", 8.1038e-41},
                 {"-9.5205e-5 ps^4/km", "s^4 m^-1", -9.5205e-56},
                 {"-1.7140e-24 ps^10/m", "s^10 m^-1", -1.7140e-144},
                 {"-0.01183 ps^2/m", "s^2 m^-1", -0.01183e-24},
                 {"0.11 W^-1 m^-1", "W^-1 m^-1", 0.11},
                 {"11 W^-1 km^-1", "W^-1 m^-1", 11e-3},
                 {"11 1/(W km)", "W^-1 m^-1", 11e-3},
                 {"11 1/W/km", "W^-1 m^-1", 11e-3},
                 {"11 (W km)^-1", "W^-1 m^-1", 11e-3},
                 {"3 fs^2", "s^2", 3e-30},
                 {"3 fs2", "s^2", 3e-30},
                 {"3 fs²", "s^2", 3e-30},
                 {"5 %", "1", 5e-2},
                 {"5%", "1", 5e-2},
                 {"7.5fs", "s", 7.5e-15},
                 {"1.2 THz", "Hz", 1.2e12},
                 {"2.35 rad/fs", "rad/s", 2.35e15},
                 {"3 mrad", "rad", 3e-3},
                 {"0.1", "m", 0.1},
                 {"+3", "s", 3.0},
                 {"1 rad/s", "rad s^-1", 1.0}};
    struct units *units = NULL;
    ck_assert_int_eq(units_create(&units), 0);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const double value = convert(units, cases[i].text, cases[i].unit);
        ck_assert_msg(exactly(value, cases[i].value), "%s is %.17g, not %.17g", cases[i].text,
                      value, cases[i].value);
    }
    units_destroy(units);
}
END_TEST

START_TEST(other_units_convert_to_the_nearest_double)
{
    struct units *units = NULL;
    ck_assert_int_eq(units_create(&units), 0);
    ck_assert(exactly(convert(units, "10 min", "s"), 600.0));
    ck_assert(exactly(convert(units, "0.1 h", "s"), 360.0));
    ck_assert(exactly(convert(units, "20 degC", "K"), 293.15));
    ck_assert(exactly(convert(units, "90 deg", "rad"), M_PI_2));
    ck_assert(exactly(convert(units, "180 degree", "rad"), M_PI));
    ck_assert_rounding(convert(units, "1 inch", "m"), 0.0254, 4e-16);
    /* Power attenuation: 10 dB is a factor 10, so 10 dB/m is alpha = ln 10 per metre. */
    ck_assert(exactly(convert(units, "10 dB/m", "m^-1"), log(10.0)));
    ck_assert_rounding(convert(units, "0.2 dB/km", "m^-1"), 0.02e-3 * log(10.0), 3e-16);
    ck_assert_rounding(convert(units, "3 dB m^-1", "m^-1"), 0.3 * log(10.0), 3e-16);
    ck_assert(exactly(convert(units, "0 dB/m", "m^-1"), 0.0));
    ck_assert(exactly(convert(units, "2 km^-1", "m^-1"), 2e-3));
    units_destroy(units);
}
END_TEST

START_TEST(units_that_do_not_fit_are_refused_by_name)
{
    static const struct {
        const char *text;
        const char *unit;
        const char *parts[2];
    } cases[] = {{"3 kg", "s", {"'kg'", "'s'"}},
                 {"3 THz", "rad/s", {"'THz'", "2 pi"}},
                 {"3 hertz", "rad s^-1", {"'hertz'", "2 pi"}},
                 {"3 rad/s", "Hz", {"'rad/s'", "2 pi"}},
                 {"3 deg", "1", {"'deg'", "angle"}},
                 {"3 rad", "1", {"'rad'", "angle"}},
                 {"3 dB", "1", {"'dB'", "does not convert"}},
                 {"3 dB/m", "s", {"'dB/m'", "'s'"}},
                 {"3 parsnip", "m", {"unknown unit 'parsnip'", "'m'"}},
                 {"3 5 m", "m", {"'5 m'", "not a unit"}},
                 {"1_000", "1", {"underscores", "1_000"}},
                 {"0x10", "m", {"hexadecimal", "0x10"}},
                 {"1,5", "m", {"commas", "1,5"}},
                 {"nan", "m", {"finite", "nan"}},
                 {"-inf", "m", {"finite", "inf"}},
                 {".inf", "m", {"finite", "inf"}},
                 {"12.5.3", "m", {"not a number", "12.5.3"}},
                 {"fs", "s", {"not a number", "fs"}},
                 {"1e400 m", "m", {"range", "1e400"}},
                 {"1e308 km", "m", {"range", "1e308"}},
                 {"1e-320 fs", "s", {"range", "1e-320"}},
                 {"5 m; rm", "m", {"not a unit", "m; rm"}}};
    struct units *units = NULL;
    ck_assert_int_eq(units_create(&units), 0);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char why[UNITS_WHY_SIZE] = "";
        double value = 0.0;
        const int rc = units_value(units, cases[i].text, cases[i].unit, &value, why);
        ck_assert_msg(rc == ERR_PARSE, "'%s' in '%s' is accepted", cases[i].text,
                      cases[i].unit);
        for (int k = 0; k < 2; k++)
            ck_assert_msg(strstr(why, cases[i].parts[k]) != NULL, "'%s' is not in: %s",
                          cases[i].parts[k], why);
    }
    units_destroy(units);
}
END_TEST

START_TEST(without_a_database_only_bare_numbers_are_read)
{
    char why[UNITS_WHY_SIZE] = "";
    double value = 0.0;
    ck_assert_int_eq(units_value(NULL, "1.5", "m", &value, why), 0);
    ck_assert(exactly(value, 1.5));
    ck_assert_int_eq(units_value(NULL, "1.5 m", "m", &value, why), ERR_PARSE);
}
END_TEST

START_TEST(a_missing_database_is_an_environment_error)
{
    setenv("UDUNITS2_XML_PATH", "/no-such-folder/udunits2.xml", 1);
    struct units *units = NULL;
    char why[UNITS_WHY_SIZE] = "";
    char text[512];
    double value = 0.0;
    ck_assert_int_eq(units_create(&units), 0);
    ck_assert_int_eq(units_value(units, "1.5", "m", &value, why), 0); /* not needed */
    status_capture(text, sizeof text);
    ck_assert_int_eq(units_value(units, "1.5 m", "m", &value, why), ERR_IO);
    status_capture(NULL, 0);
    ck_assert_ptr_nonnull(strstr(text, "udunits2"));
    units_destroy(units);
}
END_TEST

START_TEST(sizes_have_decimal_and_binary_prefixes)
{
    char why[UNITS_WHY_SIZE] = "";
    double value = 0.0;
    ck_assert_int_eq(units_bytes("4 GB", &value, why), 0);
    ck_assert(exactly(value, 4e9));
    ck_assert_int_eq(units_bytes("500 MiB", &value, why), 0);
    ck_assert(exactly(value, 524288000.0));
    ck_assert_int_eq(units_bytes("1e6", &value, why), 0);
    ck_assert(exactly(value, 1e6));
    ck_assert_int_eq(units_bytes("4 Gb", &value, why), ERR_PARSE);
    ck_assert_ptr_nonnull(strstr(why, "GiB"));
}
END_TEST

START_TEST(nothing_is_left_allocated)
{
    const long before = mem_live();
    struct units *units = NULL;
    ck_assert_int_eq(units_create(&units), 0);
    convert(units, "3 fs", "s");
    units_destroy(units);
    units_destroy(NULL);
    ck_assert_int_eq(mem_live(), before);
}
END_TEST

static Suite *units_suite(void)
{
    Suite *suite = suite_create("units");
    TCase *tcase = tcase_create("units");
    tcase_add_test(tcase, decimal_units_give_the_bits_of_the_literal);
    tcase_add_test(tcase, other_units_convert_to_the_nearest_double);
    tcase_add_test(tcase, units_that_do_not_fit_are_refused_by_name);
    tcase_add_test(tcase, without_a_database_only_bare_numbers_are_read);
    tcase_add_test(tcase, a_missing_database_is_an_environment_error);
    tcase_add_test(tcase, sizes_have_decimal_and_binary_prefixes);
    tcase_add_test(tcase, nothing_is_left_allocated);
    suite_add_tcase(suite, tcase);
    return suite;
}

int main(void)
{
    return unit_main(units_suite());
}
