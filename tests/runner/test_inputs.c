/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/base/mem.h"
#include "kernels/base/status.h"
#include "runner/inputs.h"
#include "tests/exact.h"
#include "tests/unit_main.h"

#define TEXT                                                                                   \
    "scan: s\nmodel: gnlse\nparameters: {length: 1, wavelength: 1e-6, gamma: 1, betas: [0],\n" \
    "  grid: {points: 64, window: 1e-12}, pulse: {energy: 1e-9}}\n"                            \
    "axes: [{pulse.file: [a.txt, b.txt, c.txt]}]\n"

/* Three files, the first and the last of one content. */
static struct scan *make_scan(void)
{
    static const char *const hashes[] = {"0123456789abcdef0123456789abcdef",
                                         "11111111111111111111111111111111",
                                         "0123456789abcdef0123456789abcdef"};
    struct scan *scan = NULL;
    ck_assert_int_eq(scan_parse(TEXT, strlen(TEXT), "s.yaml", NULL, 0, &scan), 0);
    ck_assert_int_eq(scan_inputs(scan), 3);
    for (int i = 0; i < 3; i++) {
        struct data_set *set = &scan_get_input(scan, i)->set;
        double *values;
        snprintf(set->hash, sizeof set->hash, "%s", hashes[i]);
        snprintf(set->label, sizeof set->label, "a label");
        ck_assert_int_eq(data_add_real(set, "time", "s", 1, (const long[]){5}, &values), 0);
        for (int k = 0; k < 5; k++)
            values[k] = i == 1 ? 100.0 + k : k;
    }
    ck_assert_int_eq(scan_bind(scan), 0);
    return scan;
}

START_TEST(data_reach_the_points_of_another_process)
{
    struct scan *here = make_scan();
    struct scan *there = NULL;
    const char *form = scan_canonical(here);
    ck_assert_int_eq(scan_parse_canonical(form, strlen(form), &there), 0);
    const size_t size = inputs_packed_size(here);
    char *bytes = malloc(size);
    inputs_pack(here, bytes);
    ck_assert_int_eq(inputs_unpack(there, bytes, size), 0);
    free(bytes);
    struct params params;
    ck_assert_int_eq(scan_params_init(there, &params), 0);
    for (int point = 0; point < 3; point++) {
        scan_point(there, point, &params);
        const struct data_array *time = data_find(params_data(&params, "pulse.file"), "time");
        ck_assert_ptr_nonnull(time);
        ck_assert(exactly(time->real[4], (point == 1 ? 104.0 : 4.0)));
    }
    params_clear(&params);
    scan_destroy(here);
    scan_destroy(there);
    ck_assert_int_eq(mem_live(), 0);
}
END_TEST

START_TEST(data_that_do_not_come_are_missed)
{
    char why[300];
    struct scan *here = make_scan();
    struct scan *there = NULL;
    const char *form = scan_canonical(here);
    ck_assert_int_eq(scan_parse_canonical(form, strlen(form), &there), 0);
    status_capture(why, sizeof why);
    ck_assert_int_eq(inputs_unpack(there, "", 0), ERR_BUG);
    status_capture(NULL, 0);
    ck_assert_ptr_nonnull(strstr(why, "no data came for input"));
    scan_destroy(here);
    scan_destroy(there);
    ck_assert_int_eq(mem_live(), 0);
}
END_TEST

START_TEST(data_that_changed_since_the_file_was_made_are_refused)
{
    char why[300];
    struct scan *scan = make_scan();
    ck_assert_int_eq(inputs_check(scan, scan_canonical(scan), "out.h5"), 0);
    status_capture(why, sizeof why);
    ck_assert_int_eq(inputs_check(scan, "x 11111111111111111111111111111111 y", "out.h5"),
                     ERR_CONFLICT);
    status_capture(NULL, 0);
    ck_assert_str_eq(why, "s.yaml:5:22: pulse.file: a.txt has changed since out.h5 was made");
    scan_destroy(scan);
    ck_assert_int_eq(mem_live(), 0);
}
END_TEST

int main(void)
{
    Suite *const suite = suite_create("inputs");
    TCase *const tests = tcase_create("inputs");
    tcase_add_test(tests, data_reach_the_points_of_another_process);
    tcase_add_test(tests, data_that_do_not_come_are_missed);
    tcase_add_test(tests, data_that_changed_since_the_file_was_made_are_refused);
    suite_add_tcase(suite, tests);
    return unit_main(suite);
}
