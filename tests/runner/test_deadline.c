/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "kernels/base/clock.h"
#include "kernels/base/status.h"
#include "runner/deadline.h"
#include "tests/exact.h"
#include "tests/perturb/near.h"
#include "tests/unit_main.h"

static double seconds_of(const char *text)
{
    double seconds = -1;
    ck_assert_int_eq(deadline_read("--time-limit", text, &seconds), 0);
    return seconds;
}

START_TEST(times_are_read_with_units_and_as_batch_systems_write_them)
{
    ck_assert_exactly(seconds_of("90"), 90);
    ck_assert_exactly(seconds_of("90 s"), 90);
    ck_assert_exactly(seconds_of("500 ms"), 0.5);
    ck_assert_exactly(seconds_of("2 h"), 7200);
    ck_assert_exactly(seconds_of("5:30"), 330);
    ck_assert_exactly(seconds_of("1:30:00"), 5400);
    ck_assert_exactly(seconds_of("2-12:00:00"), 216000);
    ck_assert_exactly(seconds_of("2-12:30"), 217800); /* hours and minutes */
}
END_TEST

START_TEST(what_is_no_time_is_refused_with_the_option_and_an_example)
{
    static const char *const bad[] = {"",        "soon", "-5",        "0",         "5 m",
                                      "1:2:3:4", "1::2", "1:30:00 s", "2-12h",     "nan",
                                      "1e300 s", "1:99", "1:60:00",   "1-25:00:00"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        char text[512];
        double seconds = 0;
        status_capture(text, sizeof text);
        ck_assert_msg(deadline_read("--time-limit", bad[i], &seconds) == ERR_ARGUMENT, "%s",
                      bad[i]);
        status_capture(NULL, 0);
        ck_assert_ptr_nonnull(strstr(text, "--time-limit"));
        ck_assert_ptr_nonnull(strstr(text, "1:30:00"));
    }
}
END_TEST

START_TEST(the_end_of_the_job_comes_from_its_environment)
{
    unsetenv("SLURM_JOB_ID");
    unsetenv("SLURM_JOB_END_TIME");
    ck_assert_exactly(deadline_of_job(), 0);
    setenv("SLURM_JOB_END_TIME", "1800000000", 1);
    ck_assert_exactly(deadline_of_job(), 1800000000);
    setenv("SLURM_JOB_END_TIME", "Unknown", 1);
    ck_assert_exactly(deadline_of_job(), 0);
}
END_TEST

START_TEST(a_stop_leaves_twenty_seconds_or_a_tenth)
{
    const double now = (double)time(NULL);
    ck_assert_exactly(deadline_stop(0, 0), 0);
    ck_assert_near(deadline_stop(now + 1000, 0) - clock_wall(), 980, 2,
                   deadline_stop(now + 995, 0) - clock_wall(), "an end five seconds earlier");
    ck_assert_near(deadline_stop(now + 100, 0) - clock_wall(), 90, 2,
                   deadline_stop(now + 95, 0) - clock_wall(), "an end five seconds earlier");
    ck_assert_double_gt(deadline_stop(now - 5, 0), 0); /* over, which is not none */
}
END_TEST

START_TEST(a_stop_leaves_time_for_the_last_writing_and_half_for_the_work)
{
    const double now = (double)time(NULL);
    ck_assert_exactly(deadline_stop(0, 40), 0);
    ck_assert_near(deadline_stop(now + 1000, 100) - clock_wall(), 880, 2,
                   deadline_stop(now + 995, 100) - clock_wall(), "an end five seconds earlier");
    ck_assert_near(deadline_stop(now + 100, 1000) - clock_wall(), 50, 2,
                   deadline_stop(now + 90, 1000) - clock_wall(), "an end ten seconds earlier");
    ck_assert_double_gt(deadline_stop(now - 5, 10), 0);
}
END_TEST

/* A squeue of our own in front of the PATH. */
static void make_squeue(const char *folder, const char *script)
{
    char path[512];
    char program[600];
    snprintf(program, sizeof program, "%s/squeue", folder);
    FILE *const file = fopen(program, "w");
    ck_assert_ptr_nonnull(file);
    fprintf(file, "#!/bin/sh\n%s\n", script);
    fclose(file);
    ck_assert_int_eq(chmod(program, 0755), 0);
    snprintf(path, sizeof path, "%s:/usr/bin:/bin", folder);
    setenv("PATH", path, 1);
}

START_TEST(without_the_variable_squeue_is_asked_once_and_its_silence_is_no_end)
{
    char folder[] = "/tmp/deadline-XXXXXX";
    char program[64];
    struct tm local = {
        .tm_year = 127, .tm_mon = 0, .tm_mday = 15, .tm_hour = 8, .tm_isdst = -1};
    ck_assert_ptr_nonnull(mkdtemp(folder));
    unsetenv("SLURM_JOB_END_TIME");
    setenv("SLURM_JOB_ID", "77", 1);
    make_squeue(folder, "[ \"$3\" = 77 ] && echo 2027-01-15T08:00:00");
    ck_assert_exactly(deadline_of_job(), (double)mktime(&local));
    make_squeue(folder, "echo 'slurm_load_jobs error: Invalid job id specified' >&2; exit 1");
    ck_assert_exactly(deadline_of_job(), 0);
    make_squeue(folder, "echo Unknown");
    ck_assert_exactly(deadline_of_job(), 0);
    snprintf(program, sizeof program, "%s/squeue", folder);
    unlink(program);
    setenv("PATH", folder, 1);
    ck_assert_exactly(deadline_of_job(), 0);
    rmdir(folder);
}
END_TEST

static Suite *deadline_suite(void)
{
    Suite *suite = suite_create("deadline");
    TCase *tests = tcase_create("deadline");
    tcase_add_test(tests, times_are_read_with_units_and_as_batch_systems_write_them);
    tcase_add_test(tests, what_is_no_time_is_refused_with_the_option_and_an_example);
    tcase_add_test(tests, the_end_of_the_job_comes_from_its_environment);
    tcase_add_test(tests, a_stop_leaves_twenty_seconds_or_a_tenth);
    tcase_add_test(tests, a_stop_leaves_time_for_the_last_writing_and_half_for_the_work);
    tcase_add_test(tests, without_the_variable_squeue_is_asked_once_and_its_silence_is_no_end);
    suite_add_tcase(suite, tests);
    return suite;
}

int main(void)
{
    return unit_main(deadline_suite());
}
