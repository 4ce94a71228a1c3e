/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/base/mem.h"
#include "kernels/base/status.h"
#include "tests/exact.h"
#include "tests/scans/comma.h"
#include "tests/scans/toy.h"
#include "tests/unit_main.h"

START_TEST(lines_are_sorted_and_hold_si_values_and_defaults)
{
    struct scan *scan =
        toy_scan(TOY_HEAD "parameters: {length: 15 cm}\naxes:\n"
                          "  - pulse.power: {from: 5 kW, to: 10 kW, points: 4}\n"
                          "  - shock: [true, false]\n");
    const char *form = scan_canonical(scan);
    for (const char *p = form; *p != '\0';) {
        const char *next = strchr(p, '\n') + 1;
        if (*next != '\0')
            ck_assert_int_lt(strcmp(p, next), 0);
        ck_assert_ptr_nonnull(strstr(p, ": "));
        p = next;
    }
    toy_has_line(scan,
                 "axis.0.pulse.power: {from: 5000, to: 10000, points: 4, spacing: linear}");
    toy_has_line(scan, "axis.1.shock: [true, false]");
    toy_has_line(scan, "parameters.length: 0.14999999999999999");
    toy_has_line(scan, "parameters.pulse.duration: 5.0000000000000002e-14");
    toy_has_line(scan, "parameters.pulse.shape: sech");
    toy_has_line(scan, "parameters.edge.share: none");
    toy_has_line(scan, "stepper.rtol: 9.9999999999999995e-07");
    toy_has_line(scan, "model: toy");
    toy_has_line(scan, "scan: \"test\"");
    toy_has_line(scan, "save.planes: 51");
    scan_destroy(scan);
}
END_TEST

START_TEST(notation_and_order_of_keys_do_not_matter)
{
    struct scan *a = toy_scan("scan: x\nmodel: toy\nparameters: {length: 1.5 m, gamma: 2}\n"
                              "save: {planes: last}\n");
    struct scan *b = toy_scan("save:\n  planes: last # comment\nparameters:\n  gamma: 2.0\n"
                              "  length: 150 cm\nmodel: toy\nformat: 1\nscan: x\n");
    ck_assert_str_eq(scan_canonical(a), scan_canonical(b));
    scan_destroy(a);
    scan_destroy(b);
}
END_TEST

START_TEST(random_scans_come_back_bit_for_bit)
{
    static const char *const units[] = {"fs", "ps", "ns", "us", "ms"};
    srand(7);
    for (int trial = 0; trial < 50; trial++) {
        char text[1024];
        const int digits = 1 + rand() % 17;
        snprintf(text, sizeof text,
                 TOY_HEAD "parameters: {length: %.*e m, gamma: %.*g}\naxes:\n"
                          "  - pulse.duration: [%.*e %s, %.*e %s]\n"
                          "  - loss: {from: %.*g, to: %.*g, points: %d%s}\n"
                          "  - frequency: {from: %.*g, to: 1.3e3, step: %.*g}\n"
                          "ensemble: {realisations: %d, seed: %d}\n",
                 digits, 1e3 * (rand() + 1.0) / RAND_MAX, digits, rand() * 1e-7 - 100, digits,
                 (rand() + 1.0) / RAND_MAX, units[rand() % 5], digits,
                 (rand() + 1.0) / RAND_MAX, units[rand() % 5], digits,
                 (rand() + 1.0) / RAND_MAX, digits, 1 + (rand() + 1.0) / RAND_MAX,
                 2 + rand() % 50, rand() % 2 ? ", spacing: log" : "", digits,
                 rand() * 1e3 / RAND_MAX, digits, 1 + rand() * 100.0 / RAND_MAX, 1 + rand() % 9,
                 rand());
        struct scan *scan = toy_scan(text);
        toy_check_canonical(toy_models, scan);
        scan_destroy(scan);
    }
}
END_TEST

START_TEST(long_lists_come_back)
{
    char *text = malloc(400000);
    ck_assert_ptr_nonnull(text);
    size_t used = (size_t)snprintf(text, 400000, TOY "axes:\n  - gamma: [0");
    for (int i = 1; i < 20000; i++)
        used += (size_t)snprintf(text + used, 400000 - used, ", %d.3", i);
    snprintf(text + used, 400000 - used, "]\n");
    struct scan *scan = toy_scan(text);
    ck_assert(exactly(scan_axis_value(scan, 0, 0, 19999), 19999.3));
    toy_check_canonical(toy_models, scan);
    scan_destroy(scan);
    free(text);
}
END_TEST

START_TEST(the_locale_changes_no_form)
{
    static const char text[] = TOY "axes: [{loss: {from: 0.5 dB/m, to: 1.5 dB/m, points: 3}}]\n"
                                   "limits: {timeout: 1.5 min}\nsave: {planes: [0.5]}\n";
    struct scan *before = toy_scan(text);
    if (comma_locale()) {
        struct scan *after = toy_scan(text);
        ck_assert_str_eq(scan_canonical(before), scan_canonical(after));
        toy_check_canonical(toy_models, after);
        scan_destroy(after);
    }
    scan_destroy(before);
}
END_TEST

START_TEST(a_damaged_form_is_refused)
{
    static const char *const forms[] = {"scan: x\n", "model: toy\nscan: x\nnothing.known: 3\n",
                                        "model: toy\nscan: x\naxis.99.gamma: [1]\n",
                                        "model: toy\nscan: x\naxis.1.gamma: [1]\n",
                                        "model: toy\nscan: x\nparameters.length: 1 m\n"};
    const long before = mem_live();
    char why[512];
    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) {
        struct scan *scan = NULL;
        status_capture(why, sizeof why);
        ck_assert_int_ne(
            scan_parse_canonical_models(toy_models, forms[i], strlen(forms[i]), &scan), 0);
        status_capture(NULL, 0);
        ck_assert_ptr_null(scan);
        ck_assert_int_eq(mem_live(), before);
    }
}
END_TEST

static Suite *canonical_suite(void)
{
    Suite *suite = suite_create("canonical");
    TCase *tcase = tcase_create("canonical");
    tcase_add_test(tcase, lines_are_sorted_and_hold_si_values_and_defaults);
    tcase_add_test(tcase, notation_and_order_of_keys_do_not_matter);
    tcase_add_test(tcase, random_scans_come_back_bit_for_bit);
    tcase_add_test(tcase, long_lists_come_back);
    tcase_add_test(tcase, the_locale_changes_no_form);
    tcase_add_test(tcase, a_damaged_form_is_refused);
    tcase_set_timeout(tcase, 60);
    suite_add_tcase(suite, tcase);
    return suite;
}

int main(void)
{
    return unit_main(canonical_suite());
}
