/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "kernels/base/mem.h"
#include "kernels/base/status.h"
#include "kernels/base/submission.h"
#include "tests/unit_main.h"

#define FILE_NAME "of a test's own.submission"
#define HEAD                                                                                   \
    "scanfarm submission 1\n"                                                                  \
    "scan: /home/me/my scans/a: b.yaml\n"                                                      \
    "result: /scratch/é \"x\".h5\n"                                                           \
    "shards: 16\n"                                                                             \
    "script: /scratch/x.sbatch\n"                                                              \
    "submitted: 2026-11-30T03:30:00Z\n"

static char error[512];

static void write_file(const char *text)
{
    FILE *const file = fopen(FILE_NAME, "w");
    ck_assert_ptr_nonnull(file);
    fputs(text, file);
    ck_assert_int_eq(fclose(file), 0);
}

static int read_text(const char *text, struct submission *out)
{
    write_file(text);
    status_capture(error, sizeof error);
    const int rc = submission_read(FILE_NAME, out);
    status_capture(NULL, 0);
    return rc;
}

static void enter_folder(void)
{
    char folder[] = "submission-XXXXXX";
    ck_assert_ptr_nonnull(mkdtemp(folder));
    ck_assert_int_eq(chdir(folder), 0);
}

static void leave_folder(void)
{
    char folder[4096];
    unlink(FILE_NAME);
    ck_assert_ptr_nonnull(getcwd(folder, sizeof folder));
    ck_assert_int_eq(rmdir(folder), 0);
    ck_assert_int_eq(mem_live(), 0);
}

START_TEST(a_file_is_read_with_its_jobs_in_order)
{
    struct submission s;
    ck_assert_int_eq(
        read_text(HEAD "job: run 1234 1-16\njob: retry 77 3-3\njob: collect 5 -\n", &s), 0);
    ck_assert_str_eq(s.scan, "/home/me/my scans/a: b.yaml");
    ck_assert_str_eq(s.result, "/scratch/é \"x\".h5");
    ck_assert_str_eq(s.script, "/scratch/x.sbatch");
    ck_assert_str_eq(s.submitted, "2026-11-30T03:30:00Z");
    ck_assert_int_eq(s.shards, 16);
    ck_assert_int_eq(s.jobs, 3);
    ck_assert_int_eq(s.job[0].kind, SUBMISSION_RUN);
    ck_assert_int_eq(s.job[0].id, 1234);
    ck_assert_int_eq(s.job[0].first, 1);
    ck_assert_int_eq(s.job[0].last, 16);
    ck_assert_int_eq(s.job[1].first, 3);
    ck_assert_int_eq(s.job[2].kind, SUBMISSION_COLLECT);
    ck_assert_int_eq(s.job[2].first, 0);
    ck_assert(submission_is_one(FILE_NAME));
    submission_clear(&s);
}
END_TEST

START_TEST(what_is_written_is_read_again_and_jobs_are_appended)
{
    struct submission s;
    ck_assert_int_eq(read_text(HEAD, &s), 0);
    ck_assert_int_eq(submission_write(FILE_NAME, &s), 0);
    submission_clear(&s);
    for (long i = 1; i <= 40; i++) {
        const struct submission_job job = {SUBMISSION_RETRY, 1000 + i, i <= 16 ? i : 0,
                                           i <= 16 ? 16 : 0};
        ck_assert_int_eq(submission_append(FILE_NAME, &job), 0);
    }
    ck_assert_int_eq(submission_read(FILE_NAME, &s), 0);
    ck_assert_str_eq(s.scan, "/home/me/my scans/a: b.yaml");
    ck_assert_int_eq(s.jobs, 40);
    for (int i = 0; i < 40; i++)
        ck_assert_int_eq(s.job[i].id, 1001 + i);
    ck_assert_int_eq(s.job[15].last, 16);
    ck_assert_int_eq(s.job[16].last, 0);
    submission_clear(&s);
}
END_TEST

START_TEST(what_is_not_understood_is_refused_with_its_line)
{
    static const struct {
        const char *text;
        const char *says;
    } bad[] = {
        {"", "no line 'scan: …'"},
        {"scanfarm submission 2\n", "line 1"},
        {"anything\n", "line 1"},
        {HEAD "job: run 1234 1-17\n", "to 17, and there are 16"},
        {HEAD "job: walk 1234 -\n", "line 7"},
        {HEAD "job: run 1234\n", "line 7"},
        {HEAD "job: run -1 1-2\n", "line 7"},
        {HEAD "job: run 12 0-2\n", "line 7"},
        {HEAD "job: run 12 3-2\n", "line 7"},
        {HEAD "job: run 12 3-4 \n", "line 7"},
        {HEAD "job: run 99999999999999999999 -\n", "line 7"},
        {HEAD "job: run 12 -\njob: run 12", "line 8 is cut short"},
        {HEAD "scan: /twice.yaml\n", "line 7"},
        {HEAD "shards: 4\n", "line 7"},
        {HEAD "colour: red\n", "'colour: red'"},
        {HEAD "configuration: 0123\n", "line 7"},
        {HEAD "configuration: 0123456789ABCDEF\n", "line 7"},
        {HEAD "configuration: 0123456789abcdef\nconfiguration: 0123456789abcdef\n", "line 8"},
        {HEAD "\n", "line 7"},
        {"scanfarm submission 1\nscan: not/absolute\n", "line 2"},
        {"scanfarm submission 1\nshards: 0\n", "line 2"},
        {"scanfarm submission 1\nscan: /a\nresult: /b\nscript: /c\n", "'shards: …'"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct submission s;
        ck_assert_msg(read_text(bad[i].text, &s) == ERR_ARGUMENT, "%s", bad[i].text);
        ck_assert_msg(strstr(error, bad[i].says) != NULL, "%s: %s", bad[i].text, error);
        ck_assert_ptr_nonnull(strstr(error, FILE_NAME));
        submission_clear(&s);
    }
}
END_TEST

START_TEST(the_configuration_is_kept_where_it_is_told)
{
    struct submission s;
    ck_assert_int_eq(read_text(HEAD, &s), 0);
    ck_assert_str_eq(s.configuration, "");
    snprintf(s.configuration, sizeof s.configuration, "0123456789abcdef");
    ck_assert_int_eq(submission_write(FILE_NAME, &s), 0);
    submission_clear(&s);
    ck_assert_int_eq(submission_read(FILE_NAME, &s), 0);
    ck_assert_str_eq(s.configuration, "0123456789abcdef");
    submission_clear(&s);
}
END_TEST

START_TEST(logs_have_the_names_that_the_scripts_give_them)
{
    char script[] = "/a b/x.sbatch";
    struct submission s = {.script = script, .shards = 16};
    const struct submission_job run = {SUBMISSION_RUN, 12, 11, 16};
    const struct submission_job collect = {SUBMISSION_COLLECT, 13, 0, 0};
    const struct submission_job plot = {SUBMISSION_PLOT, 14, 0, 0};
    const struct submission_job one = {SUBMISSION_RUN, 15, 1, 1};
    char path[64];
    submission_log(&s, &run, 13, path, sizeof path);
    ck_assert_str_eq(path, "/a b/x.12_3.out"); /* tasks are counted in each array */
    submission_log(&s, &collect, 0, path, sizeof path);
    ck_assert_str_eq(path, "/a b/x.collect.13.out");
    submission_log(&s, &plot, 0, path, sizeof path);
    ck_assert_str_eq(path, "/a b/x.plot.14.out");
    s.shards = 1;
    submission_log(&s, &one, 1, path, sizeof path);
    ck_assert_str_eq(path, "/a b/x.15.out");
    submission_log(&s, &one, 1, path, 8);
    ck_assert_str_eq(path, "");
}
END_TEST

START_TEST(a_file_that_is_missing_or_another_s_is_no_submission)
{
    struct submission s;
    ck_assert(!submission_is_one("missing"));
    ck_assert(!submission_is_meant("missing"));
    ck_assert(!submission_is_meant(".submission"));
    ck_assert(submission_is_meant("missing.submission"));
    status_capture(error, sizeof error);
    ck_assert_int_eq(submission_read("missing", &s), ERR_ARGUMENT);
    status_capture(NULL, 0);
    ck_assert_ptr_nonnull(strstr(error, "missing"));
    write_file("\x89HDF\r\n");
    ck_assert(!submission_is_one(FILE_NAME));
    write_file("scanfarm submission 12\n"); /* a newer one is one, and refused by its version */
    ck_assert(submission_is_one(FILE_NAME));
    submission_clear(&s);
}
END_TEST

START_TEST(a_newline_in_a_path_and_a_missing_folder_are_refused)
{
    char path[] = "/a\nb";
    struct submission s = {.scan = path, .result = path, .script = path, .shards = 1};
    const struct submission_job job = {SUBMISSION_RUN, 5, 0, 0};
    status_capture(error, sizeof error);
    ck_assert_int_eq(submission_write(FILE_NAME, &s), ERR_ARGUMENT);
    path[2] = '/';
    ck_assert_int_eq(submission_write("no/such/folder", &s), ERR_IO);
    ck_assert_int_eq(submission_append(FILE_NAME, &job), ERR_IO); /* it was never begun */
    status_capture(NULL, 0);
    ck_assert(!submission_is_one(FILE_NAME));
}
END_TEST

static Suite *submission_suite(void)
{
    Suite *suite = suite_create("submission");
    TCase *tests = tcase_create("submission");
    tcase_add_checked_fixture(tests, enter_folder, leave_folder);
    tcase_add_test(tests, a_file_is_read_with_its_jobs_in_order);
    tcase_add_test(tests, what_is_written_is_read_again_and_jobs_are_appended);
    tcase_add_test(tests, what_is_not_understood_is_refused_with_its_line);
    tcase_add_test(tests, the_configuration_is_kept_where_it_is_told);
    tcase_add_test(tests, logs_have_the_names_that_the_scripts_give_them);
    tcase_add_test(tests, a_file_that_is_missing_or_another_s_is_no_submission);
    tcase_add_test(tests, a_newline_in_a_path_and_a_missing_folder_are_refused);
    suite_add_tcase(suite, tests);
    return suite;
}

int main(void)
{
    return unit_main(submission_suite());
}
