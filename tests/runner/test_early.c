/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What OpenMP's variables do to a worker. They act when a program is loaded, so each test runs
 * this program again as a child with them set; the child prints what it sees.
 */
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <omp.h>

#include "kernels/base/status.h"
#include "runner/early.h"
#include "runner/placement.h"
#include "tests/unit_main.h"

#define CHILD "SCANFARM_TEST_CHILD"

/* Cores on which each thread of a team may run, after a worker's binding. Where they do run at
 * one moment depends on the machine's other work. */
static int count_cores(int threads)
{
    cpu_set_t used = *early_allowed();
    placement_bind(early_allowed());
#pragma omp parallel num_threads(threads) default(none) shared(used)
    {
        cpu_set_t mine;
        CPU_ZERO(&mine);
        sched_getaffinity(0, sizeof mine, &mine);
#pragma omp critical
        CPU_AND(&used, &used, &mine);
    }
    return CPU_COUNT(&used);
}

/* "allowed used threads-code" */
static int child_main(void)
{
    char text[256];
    int threads = 0;
    status_capture(text, sizeof text);
    const int rc = early_threads(&threads);
    const int allowed = CPU_COUNT(early_allowed());
    printf("%d %d %d %d\n", allowed, count_cores(allowed), rc, threads);
    return 0;
}

struct seen {
    int allowed;
    int used;
    int rc;
    int threads;
    char rest[200]; /* anything else that was printed, also to stderr */
};

static void run_child(const char *name, const char *value, struct seen *seen)
{
    int ends[2];
    char output[512] = "";
    size_t length = 0;
    ck_assert_int_eq(pipe(ends), 0);
    const pid_t child = fork();
    if (child == 0) {
        setenv(CHILD, "1", 1);
        setenv(name, value, 1);
        dup2(ends[1], STDOUT_FILENO);
        dup2(ends[1], STDERR_FILENO);
        execl("/proc/self/exe", "child", (char *)NULL);
        _exit(127);
    }
    close(ends[1]);
    for (ssize_t got; (got = read(ends[0], output + length, sizeof output - 1 - length)) > 0;)
        length += (size_t)got;
    close(ends[0]);
    waitpid(child, NULL, 0);
    memset(seen, 0, sizeof *seen);
    ck_assert_int_ge(sscanf(output, "%d %d %d %d %199[^\n]", &seen->allowed, &seen->used,
                            &seen->rc, &seen->threads, seen->rest),
                     4);
}

static const char *const bindings[] = {"true", "close", "spread", "master"};

START_TEST(a_bound_team_runs_on_all_its_cores)
{
    struct seen seen;
    run_child("OMP_PROC_BIND", bindings[_i], &seen);
    ck_assert_int_eq(seen.allowed, CPU_COUNT(early_allowed()));
    ck_assert_int_eq(seen.used, seen.allowed);
}
END_TEST

START_TEST(places_leave_the_allowed_set_as_it_was)
{
    struct seen seen;
    run_child("OMP_PLACES", "{0}", &seen);
    ck_assert_int_eq(seen.allowed, CPU_COUNT(early_allowed()));
    ck_assert_int_eq(seen.used, seen.allowed);
}
END_TEST

static const char *const bad_threads[] = {
    "abc", "0", "-1", "", "2x", "1.5", "99999999999999999999"};

START_TEST(a_bad_thread_number_is_refused_and_libgomp_is_silent)
{
    struct seen seen;
    run_child("OMP_NUM_THREADS", bad_threads[_i], &seen);
    ck_assert_int_eq(seen.rc, ERR_ARGUMENT);
    ck_assert_str_eq(seen.rest, "");
}
END_TEST

START_TEST(a_list_of_thread_numbers_is_accepted)
{
    struct seen seen;
    run_child("OMP_NUM_THREADS", "3, 2", &seen);
    ck_assert_int_eq(seen.rc, 0);
    ck_assert_int_eq(seen.threads, 3);
}
END_TEST

static Suite *early_suite(void)
{
    Suite *suite = suite_create("early");
    TCase *tests = tcase_create("early");
    tcase_set_timeout(tests, 20);
    tcase_add_loop_test(tests, a_bound_team_runs_on_all_its_cores, 0, 4);
    tcase_add_test(tests, places_leave_the_allowed_set_as_it_was);
    tcase_add_loop_test(tests, a_bad_thread_number_is_refused_and_libgomp_is_silent, 0, 7);
    tcase_add_test(tests, a_list_of_thread_numbers_is_accepted);
    suite_add_tcase(suite, tests);
    return suite;
}

int main(void)
{
    return getenv(CHILD) != NULL ? child_main() : unit_main(early_suite());
}
