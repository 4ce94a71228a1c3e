/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "kernels/base/mem.h"
#include "kernels/base/status.h"
#include "runner/selection.h"
#include "tests/unit_main.h"

static char message[512];

static int read_text(const char *text, struct selection *s)
{
    status_capture(message, sizeof message);
    const int rc = selection_read("members", text, 100, s);
    status_capture(NULL, 0);
    return rc;
}

START_TEST(ids_and_ranges_are_one_set)
{
    struct selection s;
    ck_assert_int_eq(read_text(" 7, 10-19,3 18-20\n21,7", &s), 0);
    for (int64_t m = -1; m < 101; m++)
        ck_assert_int_eq(selection_has(&s, m), m == 3 || m == 7 || (m >= 10 && m <= 21));
    ck_assert_int_eq(selection_count(&s, 0, INT64_MAX), 14);
    ck_assert_int_eq(selection_count(&s, 5, 10), 6); /* 7 and 10 to 14 */
    ck_assert_int_eq(selection_count(NULL, 5, 3), 3);
    ck_assert_int_eq(s.ranges, 3);
    selection_clear(&s);
    ck_assert_int_eq(mem_live(), 0);
}
END_TEST

START_TEST(no_set_is_the_set_of_all)
{
    ck_assert(selection_has(NULL, 0));
    ck_assert(selection_has(NULL, INT64_MAX));
}
END_TEST

START_TEST(what_is_no_id_of_a_member_is_named)
{
    static const char *const bad[] = {"100", "7,x",   "-1",   "3-",
                                      "5-3", "1-2-3", "0x10", "99-100",
                                      "1.5", "+3",    "1;2",  "99999999999999999999"};
    struct selection s;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        ck_assert_int_eq(read_text(bad[i], &s), ERR_ARGUMENT);
        ck_assert_ptr_nonnull(strstr(message, "0 to 99"));
        ck_assert_int_eq(mem_live(), 0);
    }
    ck_assert_int_eq(read_text("3,12z,4", &s), ERR_ARGUMENT);
    ck_assert_ptr_nonnull(strstr(message, "--members: '12z'"));
    ck_assert_int_eq(read_text("", &s), ERR_ARGUMENT);
    ck_assert_int_eq(read_text(" , ", &s), ERR_ARGUMENT);
}
END_TEST

START_TEST(a_file_may_hold_the_list)
{
    struct selection s;
    const char *const path = "selection-ids.txt";
    FILE *const file = fopen(path, "w");
    ck_assert_ptr_nonnull(file);
    fputs("# two of the first 10 # and not 50\n1\n2-3 # 4\n\n99", file);
    fclose(file);
    ck_assert_int_eq(read_text("@selection-ids.txt", &s), 0);
    ck_assert_int_eq(selection_count(&s, 0, INT64_MAX), 4);
    ck_assert(selection_has(&s, 99));
    ck_assert(!selection_has(&s, 4));
    selection_clear(&s);
    unlink(path);
    ck_assert_int_eq(read_text("@selection-ids.txt", &s), ERR_ARGUMENT);
    ck_assert_ptr_nonnull(strstr(message, "selection-ids.txt: No such file"));
    ck_assert_int_eq(read_text("@.", &s), ERR_ARGUMENT);
    ck_assert_int_eq(mem_live(), 0);
}
END_TEST

static Suite *selection_suite(void)
{
    Suite *suite = suite_create("selection");
    TCase *tests = tcase_create("selection");
    tcase_add_test(tests, ids_and_ranges_are_one_set);
    tcase_add_test(tests, no_set_is_the_set_of_all);
    tcase_add_test(tests, what_is_no_id_of_a_member_is_named);
    tcase_add_test(tests, a_file_may_hold_the_list);
    suite_add_tcase(suite, tests);
    return suite;
}

int main(void)
{
    return unit_main(selection_suite());
}
