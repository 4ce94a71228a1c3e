/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <string.h>

#include "kernels/base/status.h"
#include "slurm/walltime.h"
#include "tests/unit_main.h"

START_TEST(times_are_those_that_slurm_reads)
{
    /* TimeLimit of `scontrol show job` after `sbatch --time=…`, Slurm 22.05.8 */
    static const struct {
        const char *text;
        long minutes;
        const char *canonical;
    } cases[] = {{"30", 30, "30:00"},
                 {"1", 1, "1:00"},
                 {"05", 5, "5:00"},
                 {"90:00", 90, "1:30:00"},
                 {"1:99", 3, "3:00"},
                 {"5:30", 6, "6:00"},
                 {"0:01", 1, "1:00"},
                 {"1:30:00", 90, "1:30:00"},
                 {"100:00:00", 6000, "4-04:00:00"},
                 {"1:60:00", 120, "2:00:00"},
                 {"1-0", 1440, "1-00:00:00"},
                 {"1-30", 3240, "2-06:00:00"},
                 {"0-25:00", 1500, "1-01:00:00"},
                 {"2-12", 3600, "2-12:00:00"},
                 {"2-12:30", 3630, "2-12:30:00"},
                 {"2-12:30:15", 3631, "2-12:31:00"},
                 {"1-1:99:99", 1601, "1-02:41:00"},
                 {"99999999", 99999999, "69444-10:39:00"},
                 {"UNLIMITED", WALLTIME_UNLIMITED, "UNLIMITED"},
                 {"infinite", WALLTIME_UNLIMITED, "UNLIMITED"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char canonical[WALLTIME_SIZE];
        long minutes = 0;
        ck_assert_int_eq(walltime_read("time", cases[i].text, &minutes), 0);
        ck_assert_msg(minutes == cases[i].minutes, "%s: %ld", cases[i].text, minutes);
        walltime_text(minutes, canonical);
        ck_assert_str_eq(canonical, cases[i].canonical);
    }
}
END_TEST

START_TEST(what_slurm_refuses_or_takes_for_no_limit_is_refused_with_the_forms)
{
    static const char *const bad[] = {
        "",    "-1",   "1:2:3:4", " 5",         "5 ",        "1.5",
        "5m",  "1:",   ":3",      "1--2",       "1-2:",      "1-2-3",
        "-",   "1-",   "2 h",     "soon",       "0",         "0:00",
        "0-0", "0x10", "1:-3",    "9999999999", "1-2:3:4:5", "99999999999999999999"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        char text[512];
        long minutes = 0;
        status_capture(text, sizeof text);
        ck_assert_msg(walltime_read("time", bad[i], &minutes) == ERR_ARGUMENT, "'%s'", bad[i]);
        status_capture(NULL, 0);
        ck_assert_ptr_nonnull(strstr(text, "--time"));
        ck_assert_ptr_nonnull(strstr(text, "UNLIMITED"));
    }
}
END_TEST

static Suite *walltime_suite(void)
{
    Suite *suite = suite_create("walltime");
    TCase *tests = tcase_create("walltime");
    tcase_add_test(tests, times_are_those_that_slurm_reads);
    tcase_add_test(tests, what_slurm_refuses_or_takes_for_no_limit_is_refused_with_the_forms);
    suite_add_tcase(suite, tests);
    return suite;
}

int main(void)
{
    return unit_main(walltime_suite());
}
