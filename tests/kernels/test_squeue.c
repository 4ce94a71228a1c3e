/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What Slurm's squeue prints; the lines are those of squeue 22.05. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "kernels/base/mem.h"
#include "kernels/base/squeue.h"
#include "tests/unit_main.h"

static const char output[] =
    "1234                1                   RUNNING             None                "
    "                        2026-11-30T03:58:21         2           \n"
    "1234                3                   PENDING             Priority            "
    "                        N/A                         0           \n"
    "1240                2                   PENDING             JobHeldUser         "
    "                        N/A                         0           \n"
    "1241                N/A                 COMPLETED           None                "
    "                        2026-11-30T04:00:24         0           \n"
    "77                  1                   RUNNING             None                "
    "                        2026-11-30T03:58:21         0           \n"
    "\n"
    "slurm says something else\n"
    "1234                2                   COMPLETING          None";

static struct submission_job jobs[] = {{SUBMISSION_RUN, 1234, 1, 4},
                                       {SUBMISSION_RUN, 1240, 5, 8},
                                       {SUBMISSION_COLLECT, 1241, 0, 0}};
static const struct submission submission = {.shards = 8, .job = jobs, .jobs = 3};

START_TEST(a_line_is_a_task_with_its_state_its_shard_and_its_restarts)
{
    struct squeue queue = {0};
    ck_assert_int_eq(squeue_read(output, &submission, &queue), 0);
    ck_assert_int_eq(queue.tasks, 5); /* job 77 is somebody else's */
    ck_assert_int_eq(queue.task[0].job, 1234);
    ck_assert_int_eq(queue.task[0].shard, 1);
    ck_assert_int_eq(queue.task[0].restarts, 2);
    ck_assert_str_eq(queue.task[0].state, "RUNNING");
    ck_assert_str_eq(queue.task[0].since, "2026-11-30T08:58:21Z"); /* five hours west */
    ck_assert_int_eq(queue.task[0].kind, SUBMISSION_RUN);
    ck_assert_int_eq(queue.task[3].kind, SUBMISSION_COLLECT);
    ck_assert_int_eq(queue.task[1].shard, 3);
    ck_assert_str_eq(queue.task[1].reason, "Priority");
    ck_assert_str_eq(queue.task[1].since, "N/A");
    ck_assert_int_eq(queue.task[2].shard, 6); /* the second array begins behind shard 4 */
    ck_assert_int_eq(queue.task[3].job, 1241);
    ck_assert_int_eq(queue.task[3].shard, 0);
    ck_assert_int_eq(queue.task[4].shard, 2);
    ck_assert_str_eq(queue.task[4].state, "COMPLETING");
    ck_assert_ptr_null(squeue_expected(&queue.task[1])); /* N/A */
    squeue_clear(&queue);
    ck_assert_int_eq(mem_live(), 0);
}
END_TEST

START_TEST(a_task_waits_is_held_runs_or_has_ended)
{
    static const struct {
        const char *state;
        const char *reason;
        enum squeue_phase phase;
    } cases[] = {
        {"PENDING", "Resources", SQUEUE_PENDING}, {"PENDING", "BeginTime", SQUEUE_PENDING},
        {"PENDING", "JobHeldUser", SQUEUE_HELD},  {"PENDING", "JobHeldAdmin", SQUEUE_HELD},
        {"REQUEUE_HOLD", "None", SQUEUE_HELD},    {"RUNNING", "None", SQUEUE_RUNNING},
        {"COMPLETING", "None", SQUEUE_RUNNING},   {"SUSPENDED", "None", SQUEUE_RUNNING},
        {"COMPLETED", "None", SQUEUE_ENDED},      {"FAILED", "NonZeroExitCode", SQUEUE_ENDED},
        {"TIMEOUT", "TimeLimit", SQUEUE_ENDED},   {"CANCELLED", "None", SQUEUE_ENDED},
        {"NODE_FAIL", "NodeDown", SQUEUE_ENDED},  {"PREEMPTED", "None", SQUEUE_PENDING},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct squeue_task task = {0};
        snprintf(task.state, sizeof task.state, "%s", cases[i].state);
        snprintf(task.reason, sizeof task.reason, "%s", cases[i].reason);
        ck_assert_msg(squeue_phase(&task) == cases[i].phase, "%s (%s) is %s", task.state,
                      task.reason, squeue_phase_name(squeue_phase(&task)));
    }
}
END_TEST

START_TEST(a_word_says_why_it_waits_or_how_it_ended)
{
    static const struct {
        const char *state;
        const char *reason;
        const char *word;
    } cases[] = {
        {"PENDING", "Priority", "Priority"},
        {"PENDING", "None", ""},
        {"PENDING", "", ""},
        {"PREEMPTED", "None", "PREEMPTED"},
        {"REQUEUE_HOLD", "None", "REQUEUE_HOLD"},
        {"COMPLETED", "None", "COMPLETED"},
        {"FAILED", "NonZeroExitCode", "FAILED"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct squeue_task task = {0};
        snprintf(task.state, sizeof task.state, "%s", cases[i].state);
        snprintf(task.reason, sizeof task.reason, "%s", cases[i].reason);
        ck_assert_str_eq(squeue_word(&task), cases[i].word);
    }
}
END_TEST

START_TEST(the_start_that_slurm_expects_is_of_pending_tasks_only)
{
    struct squeue queue = {0};
    ck_assert_int_eq(
        squeue_read("1234                1                   PENDING             BeginTime     "
                    "                              2026-11-30T23:30:00         1           \n"
                    "1234                2                   RUNNING             None          "
                    "                              2026-11-30T23:30:00         1           \n",
                    &submission, &queue),
        0);
    ck_assert_str_eq(squeue_expected(&queue.task[0]), "2026-12-01T04:30:00Z");
    ck_assert_ptr_null(squeue_expected(&queue.task[1]));
    squeue_clear(&queue);
}
END_TEST

START_TEST(an_empty_answer_is_one)
{
    struct squeue queue = {0};
    ck_assert_int_eq(squeue_read("", &submission, &queue), 0);
    ck_assert_int_eq(queue.tasks, 0);
    squeue_clear(&queue);
}
END_TEST

int main(void)
{
    Suite *const suite = suite_create("squeue");
    setenv("TZ", "EST5", 1); /* squeue's times are local */
    tzset();
    TCase *const tests = tcase_create("squeue");
    tcase_add_test(tests, a_line_is_a_task_with_its_state_its_shard_and_its_restarts);
    tcase_add_test(tests, a_task_waits_is_held_runs_or_has_ended);
    tcase_add_test(tests, a_word_says_why_it_waits_or_how_it_ended);
    tcase_add_test(tests, the_start_that_slurm_expects_is_of_pending_tasks_only);
    tcase_add_test(tests, an_empty_answer_is_one);
    suite_add_tcase(suite, tests);
    return unit_main(suite);
}
