/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <pthread.h>
#include <string.h>

#include "kernels/base/status.h"
#include "tests/unit_main.h"

static int fails(int value)
{
    if (value > 3)
        FAIL(ERR_PARSE, "value %d is above 3", value);
    return 0;
}

static int passes_up(int value, int *reached)
{
    TRY(fails(value));
    *reached = 1;
    return 0;
}

static int cleans_up(int value, int *cleaned)
{
    int rc;
    TRY_OR(rc, done, fails(value));
    rc = 77;
done:
    *cleaned = 1;
    return rc;
}

START_TEST(exit_codes_are_those_of_the_commands)
{
    static const struct {
        int code;
        int exit_code;
        const char *name;
    } table[] = {{STATUS_OK, 0, "ok"},          {ERR_ARGUMENT, 2, "argument"},
                 {ERR_PARSE, 2, "parse"},       {ERR_UNSUPPORTED, 2, "unsupported"},
                 {ERR_MEMORY, 3, "memory"},     {ERR_IO, 3, "input/output"},
                 {ERR_MPI, 3, "MPI"},           {ERR_DEVICE, 3, "device"},
                 {ERR_CONFLICT, 4, "conflict"}, {ERR_BUG, 70, "internal"},
                 {12345, 70, "internal"},       {-1, 70, "internal"}};
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        ck_assert_int_eq(status_exit_code(table[i].code), table[i].exit_code);
        ck_assert_str_eq(status_name(table[i].code), table[i].name);
    }
}
END_TEST

START_TEST(a_failure_says_its_value_once_and_keeps_its_code)
{
    char text[100];
    int reached = 0;
    status_capture(text, sizeof text);
    ck_assert_int_eq(passes_up(5, &reached), ERR_PARSE);
    ck_assert_int_eq(reached, 0);
    ck_assert_str_eq(text, "value 5 is above 3");
    ck_assert_int_eq(fails(6), ERR_PARSE); /* only the first is kept */
    ck_assert_str_eq(text, "value 5 is above 3");
    status_capture(NULL, 0);
    ck_assert_int_eq(passes_up(1, &reached), 0);
    ck_assert_int_eq(reached, 1);
}
END_TEST

START_TEST(try_or_cleans_up_with_the_first_code)
{
    char text[100];
    int cleaned = 0;
    status_capture(text, sizeof text);
    ck_assert_int_eq(cleans_up(5, &cleaned), ERR_PARSE);
    ck_assert_int_eq(cleaned, 1);
    ck_assert_int_eq(cleans_up(0, &cleaned), 77);
    status_capture(NULL, 0);
}
END_TEST

START_TEST(a_long_text_is_cut_at_the_buffer)
{
    char text[8];
    status_capture(text, sizeof text);
    ck_assert_int_eq(fails(1000000), ERR_PARSE);
    status_capture(NULL, 0);
    ck_assert_str_eq(text, "value 1");
}
END_TEST

static void *fail_elsewhere(void *buffer)
{
    status_capture(buffer, 100);
    (void)fails(9);
    status_capture(NULL, 0);
    return NULL;
}

START_TEST(each_thread_captures_its_own_texts)
{
    char here[100];
    char there[100] = "";
    pthread_t thread;
    status_capture(here, sizeof here);
    ck_assert_int_eq(pthread_create(&thread, NULL, fail_elsewhere, there), 0);
    ck_assert_int_eq(pthread_join(thread, NULL), 0);
    ck_assert_str_eq(here, "");
    ck_assert_str_eq(there, "value 9 is above 3");
    ck_assert_int_eq(fails(8), ERR_PARSE);
    ck_assert_str_eq(here, "value 8 is above 3");
    status_capture(NULL, 0);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("status");
    TCase *tests = tcase_create("status");
    tcase_add_test(tests, exit_codes_are_those_of_the_commands);
    tcase_add_test(tests, a_failure_says_its_value_once_and_keeps_its_code);
    tcase_add_test(tests, try_or_cleans_up_with_the_first_code);
    tcase_add_test(tests, a_long_text_is_cut_at_the_buffer);
    tcase_add_test(tests, each_thread_captures_its_own_texts);
    suite_add_tcase(suite, tests);
    return unit_main(suite);
}
