/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Where the keys of a scan stand, and which of them a message is about. */
#include <string.h>

#include "kernels/base/mem.h"
#include "kernels/base/status.h"
#include "scans/internal.h"
#include "tests/unit_main.h"

static const char text[] = "scan: places\n"                         /* 1 */
                           "model: gnlse\n"                         /* 2 */
                           "parameters:\n"                          /* 3 */
                           "  length: 2 mm\n"                       /* 4 */
                           "  wavelength: 835 nm\n"                 /* 5 */
                           "  betas: [-11.83 ps^2/km]\n"            /* 6 */
                           "  gamma: 0.11 W^-1 m^-1\n"              /* 7 */
                           "  pulse: {shape: sech, energy: 1 nJ}\n" /* 8 */
                           "  grid.window: 1 ps\n"                  /* 9 */
                           "axes:\n"                                /* 10 */
                           "  - pulse.duration: [50 fs, 60 fs]\n"   /* 11 */
                           "  - zip: {grid.points: [128, 256], loss: [0, 1]}\n"
                           "save: {planes: 3}\n";

static struct scan *scan;

static void read_scan(const char *set)
{
    const struct scan_override override = {set};
    ck_assert_int_eq(
        scan_parse(text, strlen(text), "s.yaml", &override, set != NULL ? 1 : 0, &scan), 0);
}

START_TEST(every_given_key_has_its_place)
{
    static const char *const wanted[][2] = {
        {"model", "s.yaml:2:1"},         {"length", "s.yaml:4:3"},
        {"pulse", "s.yaml:8:3"},         {"pulse.energy", "s.yaml:8:24"},
        {"grid.window", "s.yaml:9:3"},   {"pulse.duration", "s.yaml:11:5"},
        {"grid.points", "s.yaml:12:11"}, {"loss", "s.yaml:12:36"},
        {"save.planes", "s.yaml:13:8"}};
    const long before = mem_live();
    read_scan(NULL);
    for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++)
        ck_assert_str_eq(scan_place(scan, wanted[i][0]), wanted[i][1]);
    ck_assert_ptr_null(scan_place(scan, "pulse.peak_power"));
    scan_destroy(scan);
    ck_assert_int_eq(mem_live(), before);
}
END_TEST

START_TEST(what_the_command_line_gave_stands_there)
{
    read_scan("save.planes=7");
    ck_assert_str_eq(scan_place(scan, "save.planes"), "--set 'save.planes=7'");
    scan_destroy(scan);
    read_scan("axis.grid.points=[64, 128]");
    ck_assert_str_eq(scan_place(scan, "grid.points"), "--set 'axis.grid.points=[64, 128]'");
    scan_destroy(scan);
    read_scan("pulse={peak_power: 1 kW}");
    ck_assert_str_eq(scan_blame(scan, "both pulse.energy and pulse.peak_power given"),
                     "--set 'pulse={peak_power: 1 kW}'");
    scan_destroy(scan);
}
END_TEST

START_TEST(a_message_is_about_the_longest_dotted_key_in_it)
{
    static const char *const wanted[][2] = {
        {"grid.points: 17 is no length; pulse.energy", "s.yaml:8:24"},
        {"grid.points: 17 is not an even number", "s.yaml:12:11"},
        {"both (pulse.energy) and pulse.peak_power.", "s.yaml:8:24"},
        {"position 9 m of save.planes.", "s.yaml:13:8"},
        {"pulse: neither", "s.yaml:8:3"},
        {"grid: both", "s.yaml:9:3"},
        {"length: too long", "s.yaml:4:3"},
        /* a word of a sentence is no key */
        {"the length is too long", "s.yaml:2:1"},
        {"xgrid.points: unknown", "s.yaml:2:1"},
        {"grid.points.more: unknown", "s.yaml:2:1"},
        {"", "s.yaml:2:1"}};
    read_scan(NULL);
    for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++)
        ck_assert_str_eq(scan_blame(scan, wanted[i][0]), wanted[i][1]);
    char why[200];
    status_capture(why, sizeof why);
    ck_assert_int_eq(scan_fail(scan, ERR_ARGUMENT, "save.planes: no"), ERR_ARGUMENT);
    status_capture(NULL, 0);
    ck_assert_str_eq(why, "s.yaml:13:8: save.planes: no");
    scan_destroy(scan);
}
END_TEST

START_TEST(the_canonical_form_has_no_places)
{
    struct scan *copy = NULL;
    read_scan(NULL);
    const char *canonical = scan_canonical(scan);
    ck_assert_int_eq(scan_parse_canonical(canonical, strlen(canonical), &copy), 0);
    ck_assert_ptr_null(scan_place(copy, "model"));
    ck_assert_ptr_null(scan_blame(copy, "grid.points: 17"));
    scan_destroy(copy);
    scan_destroy(scan);
}
END_TEST

static Suite *places_suite(void)
{
    Suite *suite = suite_create("places");
    TCase *tcase = tcase_create("places");
    tcase_add_test(tcase, every_given_key_has_its_place);
    tcase_add_test(tcase, what_the_command_line_gave_stands_there);
    tcase_add_test(tcase, a_message_is_about_the_longest_dotted_key_in_it);
    tcase_add_test(tcase, the_canonical_form_has_no_places);
    suite_add_tcase(suite, tcase);
    return suite;
}

int main(void)
{
    return unit_main(places_suite());
}
