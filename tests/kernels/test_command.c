/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "kernels/base/clock.h"
#include "kernels/base/command.h"
#include "kernels/base/mem.h"
#include "kernels/base/status.h"
#include "tests/unit_main.h"

#define PATIENT 60.0

static struct command_result shell(const char *script, double limit)
{
    struct command_result result;
    const char *const words[] = {"sh", "-c", script, NULL};
    ck_assert_int_eq(command_run(words, limit, &result), 0);
    return result;
}

static const char *explained(const struct command_result *result)
{
    static char text[512];
    command_explain(result, "sh", 0.2, text, sizeof text);
    return text;
}

START_TEST(both_streams_and_the_exit_code_are_caught)
{
    struct command_result r = shell("echo words; echo 'two lines' >&2; exit 3", PATIENT);
    ck_assert_int_eq(r.end, COMMAND_EXITED);
    ck_assert_int_eq(r.exit_code, 3);
    ck_assert_str_eq(r.output, "words\n");
    ck_assert_str_eq(r.errors, "two lines\n");
    ck_assert(!command_succeeded(&r));
    command_clear(&r);
    r = shell("true", PATIENT);
    ck_assert(command_succeeded(&r));
    ck_assert_str_eq(r.output, "");
    ck_assert_str_eq(r.errors, "");
    command_clear(&r);
    ck_assert_int_eq(mem_live(), 0);
}
END_TEST

START_TEST(more_than_a_pipe_holds_comes_whole)
{
    struct command_result r =
        shell("i=0; while [ $i -lt 20000 ]; do echo 1234567 $i; echo e >&2; i=$((i+1)); done",
              PATIENT);
    ck_assert_int_eq(r.exit_code, 0);
    long lines = 0;
    for (const char *c = r.output; *c != '\0'; c++)
        lines += *c == '\n';
    ck_assert_int_eq(lines, 20000);
    ck_assert_uint_eq(strlen(r.errors), 40000);
    ck_assert_ptr_nonnull(strstr(r.output, "1234567 19999\n"));
    command_clear(&r);
}
END_TEST

START_TEST(a_program_beyond_its_limit_is_killed_with_what_it_started)
{
    const double begin = clock_wall();
    struct command_result r = shell("echo before; sleep 600 & sleep 600", 0.2);
    ck_assert_int_eq(r.end, COMMAND_TIMED_OUT);
    ck_assert_str_eq(r.output, "before\n");
    ck_assert_str_eq(explained(&r), "sh took longer than 0.2 s");
    ck_assert_double_lt(clock_wall() - begin, 300);
    command_clear(&r);
}
END_TEST

START_TEST(one_that_is_left_behind_with_the_streams_is_not_waited_for)
{
    const double begin = clock_wall();
    struct command_result r = shell("setsid sleep 20 & echo $!; exit 0", 600);
    ck_assert(command_succeeded(&r));
    ck_assert_double_lt(clock_wall() - begin, 15);
    kill((pid_t)strtol(r.output, NULL, 10), SIGKILL);
    command_clear(&r);
}
END_TEST

START_TEST(a_program_that_is_missing_says_so)
{
    struct command_result r;
    char text[256];
    const char *const words[] = {"no-such-program-of-anybody", NULL};
    ck_assert_int_eq(command_run(words, PATIENT, &r), 0);
    ck_assert_int_eq(r.end, COMMAND_MISSING);
    ck_assert_str_eq(r.output, "");
    command_explain(&r, words[0], PATIENT, text, sizeof text);
    ck_assert_str_eq(text, "no-such-program-of-anybody is not on the PATH");
    command_clear(&r);
    ck_assert(!command_exists(words[0]));
    ck_assert(command_exists("sh"));
    unsetenv("PATH");
    ck_assert(!command_exists("sh"));
}
END_TEST

START_TEST(a_failure_is_told_in_the_program_s_last_words)
{
    struct command_result r =
        shell("echo first >&2; echo 'sh: error: it is so' >&2; exit 1", 9);
    ck_assert_str_eq(explained(&r), "sh: error: it is so");
    command_clear(&r);
    r = shell("echo 'just so ' >&2; exit 1", 9);
    ck_assert_str_eq(explained(&r), "sh: just so");
    command_clear(&r);
    r = shell("echo \"sh: no option 'x'\" >&2; echo 'Try \"sh --help\" for more' >&2; exit 1",
              9);
    ck_assert_str_eq(explained(&r), "sh: no option 'x'");
    command_clear(&r);
    r = shell("echo 'Try \"sh --help\" for more' >&2; exit 1", 9); /* better than nothing */
    ck_assert_str_eq(explained(&r), "sh: Try \"sh --help\" for more");
    command_clear(&r);
    r = shell("exit 7", 9);
    ck_assert_str_eq(explained(&r), "sh ended with exit code 7");
    command_clear(&r);
    r = shell("kill -9 $$", 9);
    ck_assert_int_eq(r.end, COMMAND_KILLED);
    ck_assert_int_eq(r.signal, SIGKILL);
    ck_assert_str_eq(explained(&r), "sh was killed by signal 9");
    command_clear(&r);
}
END_TEST

START_TEST(a_program_gets_its_words_as_they_are_and_an_empty_stdin)
{
    struct command_result r;
    const char *const words[] = {
        "sh", "-c", "printf '%s|' \"$@\"; cat", "sh", "a b", "\"$HOME\" `x` \\", "", NULL};
    ck_assert_int_eq(command_run(words, PATIENT, &r), 0);
    ck_assert_str_eq(r.output, "a b|\"$HOME\" `x` \\||");
    command_clear(&r);
}
END_TEST

START_TEST(ignored_and_blocked_signals_are_not_handed_on)
{
    sigset_t set;
    signal(SIGUSR1, SIG_IGN);
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    sigprocmask(SIG_BLOCK, &set, NULL);
    struct command_result r = shell("kill -USR1 $$; echo alive", PATIENT);
    ck_assert_int_eq(r.end, COMMAND_KILLED);
    ck_assert_int_eq(r.signal, SIGUSR1);
    command_clear(&r);
}
END_TEST

static Suite *command_suite(void)
{
    Suite *suite = suite_create("command");
    TCase *tests = tcase_create("command");
    tcase_add_test(tests, both_streams_and_the_exit_code_are_caught);
    tcase_add_test(tests, more_than_a_pipe_holds_comes_whole);
    tcase_add_test(tests, a_program_beyond_its_limit_is_killed_with_what_it_started);
    tcase_add_test(tests, one_that_is_left_behind_with_the_streams_is_not_waited_for);
    tcase_add_test(tests, a_program_that_is_missing_says_so);
    tcase_add_test(tests, a_failure_is_told_in_the_program_s_last_words);
    tcase_add_test(tests, a_program_gets_its_words_as_they_are_and_an_empty_stdin);
    tcase_add_test(tests, ignored_and_blocked_signals_are_not_handed_on);
    tcase_set_timeout(tests, 30);
    suite_add_tcase(suite, tests);
    return suite;
}

int main(void)
{
    return unit_main(command_suite());
}
