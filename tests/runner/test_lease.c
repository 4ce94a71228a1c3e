/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <fcntl.h>
#include <inttypes.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kernels/base/clock.h"
#include "kernels/base/mem.h"
#include "kernels/base/status.h"
#include "runner/lease.h"
#include "tests/unit_main.h"

static char folder[] = "/tmp/scanfarm-lease-XXXXXX";
static char file[64];
static char path[80];

static void enter_folder(void)
{
    ck_assert_ptr_nonnull(mkdtemp(folder));
    snprintf(file, sizeof file, "%s/x.h5", folder);
    snprintf(path, sizeof path, "%s/x.h5.lease", folder);
    unsetenv("SLURM_JOB_ID");
    unsetenv("SLURM_RESTART_COUNT");
}

static void leave_folder(void)
{
    ck_assert_int_eq(mem_live(), 0);
    unlink(path);
    ck_assert_int_eq(rmdir(folder), 0); /* nothing else is left behind */
}

/* A process that holds the lease until it is killed; returns when it does. */
static pid_t fork_holder(const char *run)
{
    int ready[2];
    char byte = 0;
    ck_assert_int_eq(pipe(ready), 0);
    const pid_t child = fork();
    if (child == 0) {
        struct lease *lease = NULL;
        close(ready[0]);
        if (lease_take(file, run, 1, &lease) != 0 || write(ready[1], &byte, 1) != 1)
            _exit(1);
        for (;;)
            pause();
    }
    close(ready[1]);
    ck_assert_int_eq(read(ready[0], &byte, 1), 1);
    close(ready[0]);
    return child;
}

static void end_holder(pid_t child)
{
    kill(child, SIGKILL);
    ck_assert_int_eq(waitpid(child, NULL, 0), child);
}

/* A signal is only sent by kill(): until the process has stopped its threads still run. */
static void stop_holder(pid_t child)
{
    int status = 0;
    ck_assert_int_eq(kill(child, SIGSTOP), 0);
    ck_assert_int_eq(waitpid(child, &status, WUNTRACED), child);
    ck_assert(WIFSTOPPED(status));
}

static void write_lease(const char *text)
{
    const int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0644);
    ck_assert_int_eq(write(fd, text, strlen(text)), (long)strlen(text));
    close(fd);
}

static void take_and_drop(const char *run)
{
    struct lease *lease = NULL;
    ck_assert_int_eq(lease_take(file, run, 1, &lease), 0);
    lease_drop(lease);
    ck_assert_int_ne(access(path, F_OK), 0);
}

START_TEST(a_lease_names_its_holder_and_goes_with_it)
{
    struct lease *lease = NULL;
    struct lease_info info;
    ck_assert_int_eq(lease_take(file, "run-1", 1, &lease), 0);
    ck_assert_int_eq(lease_read(file, &info), 0);
    ck_assert(info.found);
    ck_assert_str_eq(info.run, "run-1");
    ck_assert_int_eq(info.processes, 1);
    ck_assert_int_eq(info.process[0].id.pid, getpid());
    ck_assert(process_is_here(&info.process[0].id));
    ck_assert(!process_is_gone(&info.process[0].id));
    ck_assert(!lease_is_lost(lease));
    ck_assert_double_lt(lease_age(lease), 1.5);
    lease_info_clear(&info);
    lease_drop(lease);
    ck_assert_int_eq(lease_read(file, &info), 0);
    ck_assert(!info.found);
    lease_info_clear(&info);
}
END_TEST

START_TEST(a_living_holder_is_named_and_left_alone)
{
    struct lease *lease = NULL;
    char text[512];
    char pid[32];
    const pid_t child = fork_holder("first");
    const double begin = clock_wall();
    status_capture(text, sizeof text);
    ck_assert_int_eq(lease_take(file, "second", 60, &lease), ERR_CONFLICT);
    status_capture(NULL, 0);
    ck_assert_double_lt(clock_wall() - begin, 30); /* its counter moved: no need to wait */
    ck_assert_ptr_null(lease);
    snprintf(pid, sizeof pid, "process %ld on", (long)child);
    ck_assert_ptr_nonnull(strstr(text, pid));
    ck_assert_int_eq(kill(child, 0), 0);
    end_holder(child);
    take_and_drop("third");
}
END_TEST

START_TEST(a_killed_holder_is_replaced_at_once)
{
    end_holder(fork_holder("killed"));
    const double begin = clock_wall();
    struct lease *lease = NULL;
    ck_assert_int_eq(lease_take(file, "next", 1000, &lease), 0);
    ck_assert_double_lt(clock_wall() - begin, 100);
    lease_drop(lease);
}
END_TEST

START_TEST(a_stopped_holder_runs_out_and_is_ended_first)
{
    const pid_t child = fork_holder("stopped");
    stop_holder(child);
    const double begin = clock_wall();
    struct lease *lease = NULL;
    ck_assert_int_eq(lease_take(file, "next", 1, &lease), 0);
    ck_assert_double_ge(clock_wall() - begin, 1);
    int status = 0;
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    lease_drop(lease);
}
END_TEST

START_TEST(ranks_without_launcher_and_controller_are_ended_at_once)
{
    const pid_t rank = fork();
    if (rank == 0)
        for (;;)
            pause();
    struct process_id id = process_self();
    char text[1024];
    struct lease *lease = NULL;
    snprintf(text, sizeof text,
             "scanfarm lease 1\ncounter: 00000000000000000000\nrun: x\njob: \nrestart: 0\n"
             "process: 999999991 5 %016" PRIx64 " here\nprocess: 999999992 5 %016" PRIx64
             " here\nprocess: %ld 0 %016" PRIx64 " here\n",
             id.machine, id.machine, (long)rank, id.machine);
    write_lease(text);
    ck_assert_int_eq(lease_take(file, "next", 1000, &lease), 0);
    ck_assert_int_eq(waitpid(rank, NULL, 0), rank);
    lease_drop(lease);
}
END_TEST

/* Nobody here can see its processes: only the counter tells. */
START_TEST(a_holder_on_another_machine_is_waited_for)
{
    struct lease *lease = NULL;
    write_lease("scanfarm lease 1\ncounter: 00000000000000000007\nrun: x\njob: \nrestart: 0\n"
                "process: 1 5 0123456789abcdef far\n");
    const double begin = clock_wall();
    ck_assert_int_eq(lease_take(file, "next", 1, &lease), 0);
    ck_assert_double_ge(clock_wall() - begin, 1);
    lease_drop(lease);
}
END_TEST

START_TEST(the_same_job_started_again_takes_over_at_once)
{
    struct lease *lease = NULL;
    write_lease("scanfarm lease 1\ncounter: 00000000000000000007\nrun: x\njob: 17\nrestart: 1\n"
                "process: 1 5 0123456789abcdef far\n");
    setenv("SLURM_JOB_ID", "17", 1);
    setenv("SLURM_RESTART_COUNT", "2", 1);
    const double begin = clock_wall();
    ck_assert_int_eq(lease_take(file, "next", 1000, &lease), 0);
    ck_assert_double_lt(clock_wall() - begin, 100);
    lease_drop(lease);
}
END_TEST

START_TEST(a_text_that_is_not_whole_belongs_to_somebody)
{
    struct lease *lease = NULL;
    write_lease("scanfarm lease 1\ncounter: 000");
    const double begin = clock_wall();
    ck_assert_int_eq(lease_take(file, "next", 1, &lease), 0);
    ck_assert_double_ge(clock_wall() - begin, 1);
    lease_drop(lease);
}
END_TEST

/* Until a lease of this process has moved its counter twice, or was lost. */
static void await_moves(const struct lease *lease)
{
    struct lease_info info = {0};
    uint64_t begin = 0;
    do {
        lease_info_clear(&info);
        sched_yield();
        if (lease_read(file, &info) != 0)
            _exit(3);
        begin = begin == 0 ? info.counter + 1 : begin; /* plus one: a counter may be zero */
    } while (!lease_is_lost(lease) && info.counter < begin + 1);
    lease_info_clear(&info);
}

START_TEST(of_many_takers_one_holds_it)
{
    enum { TAKERS = 8 };
    int held[2];
    pid_t child[TAKERS];
    char bytes[TAKERS + 1];
    end_holder(fork_holder("old"));
    ck_assert_int_eq(pipe(held), 0);
    for (int i = 0; i < TAKERS; i++) {
        child[i] = fork();
        if (child[i] == 0) {
            struct lease *lease = NULL;
            char run[24];
            snprintf(run, sizeof run, "taker-%d", i);
            if (lease_take(file, run, 30, &lease) != 0)
                _exit(0);
            await_moves(lease);
            const bool lost = lease_is_lost(lease);
            if (lost || write(held[1], "x", 1) != 1)
                _exit(2);
            lease_drop(lease);
            _exit(0);
        }
    }
    close(held[1]);
    for (int i = 0; i < TAKERS; i++) {
        int status = 0;
        ck_assert_int_eq(waitpid(child[i], &status, 0), child[i]);
        ck_assert_int_eq(status, 0);
    }
    /* one at least; a second only after the first had dropped it, and none lost it */
    ck_assert_int_ge(read(held[0], bytes, sizeof bytes), 1);
    close(held[0]);
}
END_TEST

/* A taker that was killed while it removed the old lease. */
START_TEST(a_mark_that_a_killed_taker_left_stops_nobody)
{
    char mark[96];
    char text[160];
    struct lease *lease = NULL;
    snprintf(mark, sizeof mark, "%s.taking", path);
    snprintf(text, sizeof text, "process: 999999993 5 %016" PRIx64 " here\n",
             process_self().machine);
    end_holder(fork_holder("old"));
    const int fd = open(mark, O_WRONLY | O_CREAT, 0644);
    ck_assert_int_eq(write(fd, text, strlen(text)), (long)strlen(text));
    close(fd);
    ck_assert_int_eq(lease_take(file, "next", 5, &lease), 0);
    ck_assert_int_ne(access(mark, F_OK), 0);
    lease_drop(lease);
}
END_TEST

START_TEST(a_mark_of_another_machine_is_named)
{
    char mark[96];
    char text[512];
    struct lease *lease = NULL;
    snprintf(mark, sizeof mark, "%s.taking", path);
    end_holder(fork_holder("old"));
    const int fd = open(mark, O_WRONLY | O_CREAT, 0644);
    ck_assert_int_eq(write(fd, "process: 1 5 0123456789abcdef far\n", 34), 34);
    close(fd);
    status_capture(text, sizeof text);
    ck_assert_int_eq(lease_take(file, "next", 0.2, &lease), ERR_CONFLICT);
    status_capture(NULL, 0);
    ck_assert_ptr_nonnull(strstr(text, mark));
    ck_assert_int_eq(unlink(mark), 0);
}
END_TEST

START_TEST(a_holder_learns_that_it_was_replaced)
{
    struct lease *lease = NULL;
    struct lease_info info;
    ck_assert_int_eq(lease_take(file, "first", 1, &lease), 0);
    ck_assert_int_eq(unlink(path), 0);
    write_lease("scanfarm lease 1\n");
    const double limit = clock_wall() + 60;
    while (!lease_is_lost(lease) && clock_wall() < limit)
        sched_yield();
    ck_assert(lease_is_lost(lease));
    lease_drop(lease); /* not ours to remove */
    ck_assert_int_eq(lease_read(file, &info), 0);
    ck_assert(info.found);
    lease_info_clear(&info);
}
END_TEST

START_TEST(ranks_join_and_are_listed)
{
    struct lease *lease = NULL;
    struct lease *rank = NULL;
    struct lease_info info;
    const struct lease_process ranks[] = {{.id = {11, 1, 1}, .host = "a"},
                                          {.id = {12, 1, 2}, .host = "b"}};
    ck_assert_int_eq(lease_take(file, "run", 1, &lease), 0);
    ck_assert_int_eq(lease_join(file, "run", &rank), 0);
    ck_assert_int_eq(lease_add(rank, ranks, 2), 0);
    ck_assert_int_eq(lease_read(file, &info), 0);
    ck_assert_int_eq(info.end, -1);
    lease_info_clear(&info);
    ck_assert_int_eq(lease_write_end(rank, 75), 0);
    ck_assert_int_eq(lease_read(file, &info), 0);
    ck_assert_int_eq(info.end, 75);
    ck_assert_str_eq(info.run, "run");
    ck_assert_int_eq(info.processes, 3);
    ck_assert_str_eq(info.process[2].host, "b");
    lease_info_clear(&info);
    lease_drop(rank);
    ck_assert_int_eq(access(path, F_OK), 0);
    lease_drop(lease);
    char text[512];
    status_capture(text, sizeof text);
    ck_assert_int_eq(lease_join(file, "run", &rank), ERR_CONFLICT);
    status_capture(NULL, 0);
}
END_TEST

START_TEST(a_number_used_again_is_another_process)
{
    struct process_id self = process_self();
    ck_assert(!process_is_gone(&self));
    self.start++;
    ck_assert(process_is_gone(&self));
    ck_assert(process_end(&self, 1)); /* and is not killed */
}
END_TEST

START_TEST(a_zombie_is_gone)
{
    const pid_t child = fork();
    if (child == 0)
        _exit(0);
    const struct process_id id = {.pid = child};
    const double limit = clock_wall() + 60;
    while (!process_is_gone(&id) && clock_wall() < limit)
        sched_yield();
    ck_assert(process_is_gone(&id));
    ck_assert_int_eq(waitpid(child, NULL, 0), child);
}
END_TEST

static Suite *lease_suite(void)
{
    Suite *suite = suite_create("lease");
    TCase *tests = tcase_create("lease");
    tcase_set_timeout(tests, 120);
    tcase_add_checked_fixture(tests, enter_folder, leave_folder);
    tcase_add_test(tests, a_lease_names_its_holder_and_goes_with_it);
    tcase_add_test(tests, a_living_holder_is_named_and_left_alone);
    tcase_add_test(tests, a_killed_holder_is_replaced_at_once);
    tcase_add_test(tests, a_stopped_holder_runs_out_and_is_ended_first);
    tcase_add_test(tests, ranks_without_launcher_and_controller_are_ended_at_once);
    tcase_add_test(tests, a_holder_on_another_machine_is_waited_for);
    tcase_add_test(tests, the_same_job_started_again_takes_over_at_once);
    tcase_add_test(tests, a_text_that_is_not_whole_belongs_to_somebody);
    tcase_add_test(tests, of_many_takers_one_holds_it);
    tcase_add_test(tests, a_mark_that_a_killed_taker_left_stops_nobody);
    tcase_add_test(tests, a_mark_of_another_machine_is_named);
    tcase_add_test(tests, a_holder_learns_that_it_was_replaced);
    tcase_add_test(tests, ranks_join_and_are_listed);
    tcase_add_test(tests, a_number_used_again_is_another_process);
    tcase_add_test(tests, a_zombie_is_gone);
    suite_add_tcase(suite, tests);
    return suite;
}

int main(void)
{
    return unit_main(lease_suite());
}
