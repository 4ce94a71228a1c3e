/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <regex.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "kernels/base/clock.h"
#include "kernels/base/log.h"
#include "kernels/base/status.h"
#include "tests/unit_main.h"

/* stderr goes into a pipe; each test is a process of its own. */
static int reading;

static void redirect(void)
{
    int ends[2];
    ck_assert_int_eq(pipe(ends), 0);
    ck_assert_int_ge(dup2(ends[1], STDERR_FILENO), 0);
    close(ends[1]);
    reading = ends[0];
}

/* What was logged since; a last line of the test's own marks the end. */
static void logged(char *text, size_t size)
{
    ck_assert_int_eq(write(STDERR_FILENO, "\x04", 1), 1);
    size_t used = 0;
    while (used < size - 1 && read(reading, text + used, 1) == 1 && text[used] != '\x04')
        used++;
    text[used] = '\0';
}

static void ck_assert_matches(const char *text, const char *pattern)
{
    regex_t regex;
    ck_assert_int_eq(regcomp(&regex, pattern, REG_EXTENDED | REG_NOSUB), 0);
    ck_assert_msg(regexec(&regex, text, 0, NULL, 0) == 0, "'%s' does not match %s", text,
                  pattern);
    regfree(&regex);
}

START_TEST(a_command_says_its_name_and_nothing_else)
{
    char text[400];
    log_info("two %s", "words");
    log_warn("careful");
    logged(text, sizeof text);
    ck_assert_str_eq(text, "scanfarm: two words\nscanfarm: warning: careful\n");
}
END_TEST

START_TEST(a_rank_says_time_level_rank_and_host)
{
    char text[400];
    log_set_writer(3, "node17");
    log_error("plane %d lost", 5);
    logged(text, sizeof text);
    ck_assert_matches(text,
                      "^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}[.][0-9]{3}Z "
                      "error 3@node17: plane 5 lost\n$");
}
END_TEST

START_TEST(a_line_stays_one_line)
{
    char text[400];
    log_info("one\ntwo\nthree");
    logged(text, sizeof text);
    ck_assert_str_eq(text, "scanfarm: one two three\n");
}
END_TEST

START_TEST(what_a_terminal_would_obey_is_written_out)
{
    char text[400];
    log_info("%s", "a\x1b[31mb\a\x7f\r\tc\xc2\x9b é €");
    logged(text, sizeof text);
    ck_assert_str_eq(text, "scanfarm: a\\x1b[31mb\\x07\\x7f\\x0d\\x09c\\x9b é €\n");
    char longest[4000];
    memset(longest, '\x1b', sizeof longest - 1);
    longest[sizeof longest - 1] = '\0';
    log_info("%s", longest);
    char much[6000];
    logged(much, sizeof much);
    ck_assert_uint_lt(strlen(much), 2801);
    ck_assert_int_eq(much[strlen(much) - 1], '\n');
    ck_assert_ptr_null(strchr(much, '\x1b'));
}
END_TEST

START_TEST(less_important_lines_than_the_level_are_left_out)
{
    char text[400];
    log_debug("unseen by default");
    log_set_level(LOG_WARN);
    log_info("unseen");
    log_warn("seen");
    log_set_level(LOG_DEBUG);
    log_debug("seen too");
    logged(text, sizeof text);
    ck_assert_str_eq(text, "scanfarm: warning: seen\nscanfarm: seen too\n");
}
END_TEST

START_TEST(a_very_long_line_is_cut_and_ends)
{
    static char text[8000];
    static char words[6000];
    memset(words, 'x', sizeof words - 1);
    log_info("%s", words);
    logged(text, sizeof text);
    ck_assert_uint_gt(strlen(text), 2000);
    ck_assert_uint_lt(strlen(text), 2500);
    ck_assert_int_eq(text[strlen(text) - 1], '\n');
}
END_TEST

START_TEST(a_failure_without_a_capture_goes_to_the_log)
{
    char text[400];
    ck_assert_int_eq(status_fail(ERR_IO, "cannot open %s", "x.h5"), ERR_IO);
    logged(text, sizeof text);
    ck_assert_str_eq(text, "scanfarm: cannot open x.h5\n");
}
END_TEST

START_TEST(clocks_do_not_run_backwards)
{
    const double wall = clock_wall();
    const double thread = clock_cpu_thread();
    const double process = clock_cpu_process();
    ck_assert(clock_wall() >= wall);
    ck_assert(clock_cpu_thread() >= thread);
    ck_assert(clock_cpu_process() >= process);
    ck_assert(process >= 0.0 && thread >= 0.0);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("log");
    TCase *tests = tcase_create("log");
    tcase_add_checked_fixture(tests, redirect, NULL);
    tcase_add_test(tests, a_command_says_its_name_and_nothing_else);
    tcase_add_test(tests, a_rank_says_time_level_rank_and_host);
    tcase_add_test(tests, a_line_stays_one_line);
    tcase_add_test(tests, what_a_terminal_would_obey_is_written_out);
    tcase_add_test(tests, less_important_lines_than_the_level_are_left_out);
    tcase_add_test(tests, a_very_long_line_is_cut_and_ends);
    tcase_add_test(tests, a_failure_without_a_capture_goes_to_the_log);
    tcase_add_test(tests, clocks_do_not_run_backwards);
    suite_add_tcase(suite, tests);
    return unit_main(suite);
}
