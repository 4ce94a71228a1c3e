/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Workers that die, that are out of reach, or in which everything fails. */
#include <stdio.h>
#include <string.h>

#include "kernels/base/clock.h"
#include "kernels/base/mem.h"
#include "kernels/base/status.h"
#include "runner/dispatch.h"
#include "tests/runner/dispatch_case.h"
#include "tests/unit_main.h"

enum { MEMBERS = 100, WORKERS = 4 };

struct farm {
    struct scan *scan;
    struct dispatch d;
    struct dispatch_worker w[WORKERS];
    struct message_give give[WORKERS]; /* the last one */
};

static void make_farm(struct farm *f, int capacity, const char *limits)
{
    char text[300];
    memset(f, 0, sizeof *f);
    snprintf(text, sizeof text,
             "scan: lost\nmodel: probe\naxes: [a: {from: 0, to: 99, points: 100}]\n%s\n",
             limits);
    dispatch_case_make(text, WORKERS, capacity, &f->scan, &f->d, f->w);
    ck_assert_int_eq(f->d.counts.total, MEMBERS);
    dispatch_case_long_members(&f->d);
}

static void drop_farm(struct farm *f)
{
    dispatch_case_clear(WORKERS, f->scan, &f->d, f->w);
    ck_assert_int_eq(mem_live(), 0);
}

static bool take(struct farm *f, int w)
{
    return dispatch_take(&f->d, &f->w[w], &f->give[w]);
}

static void report_run(struct farm *f, int w, int64_t first, int64_t count, int state,
                       double seconds)
{
    struct message_report report = {.runs = 1, .text = "why"};
    report.run[0] = (struct report_run){
        .first = first, .count = count, .state = state, .seconds = seconds * (double)count};
    ck_assert_int_eq(dispatch_report(&f->d, &f->w[w], &report), 0);
}

/* All tasks of the last GIVE ended alike. */
static void report(struct farm *f, int w, int state, double seconds)
{
    for (int64_t i = 0; i < give_count(&f->give[w]); i++)
        report_run(f, w, give_id(&f->give[w], i), 1, state, seconds);
}

/* Everything that is left is done by one worker. */
static void finish_with(struct farm *f, int w)
{
    while (take(f, w))
        report(f, w, MEMBER_DONE, 60);
}

START_TEST(tasks_of_a_dead_worker_are_computed_by_the_others)
{
    struct farm f;
    make_farm(&f, 2, "");
    ck_assert(take(&f, 0));
    ck_assert_int_eq(f.give[0].again, 0);
    dispatch_lost(&f.d, &f.w[0], "rank 1: killed");
    ck_assert_int_eq(f.d.out, 0);
    ck_assert_int_eq(f.d.counts.running, 0);
    ck_assert_int_eq(dispatch_pending(&f.d), MEMBERS);
    ck_assert(!take(&f, 0));
    ck_assert(take(&f, 1));
    ck_assert_int_ne(f.give[1].again, 0);
    report(&f, 1, MEMBER_DONE, 60);
    finish_with(&f, 1);
    ck_assert(dispatch_ended(&f.d));
    ck_assert_int_eq(f.d.counts.done, MEMBERS);
    drop_farm(&f);
}
END_TEST

START_TEST(suspects_are_given_alone_to_a_worker_that_holds_nothing)
{
    struct farm f;
    make_farm(&f, 2, "");
    f.d.workers = 2;
    ck_assert(take(&f, 0));
    ck_assert_int_eq(give_count(&f.give[0]), 2);
    ck_assert(take(&f, 1));
    const int64_t first = f.give[1].first;
    dispatch_lost(&f.d, &f.w[0], "rank 1: killed");
    report_run(&f, 1, first, 1, MEMBER_DONE, 60);
    ck_assert(!take(&f, 1)); /* it has to become empty first */
    report_run(&f, 1, first + 1, 1, MEMBER_DONE, 60);
    for (int i = 0; i < 2; i++) {
        ck_assert(take(&f, 1));
        ck_assert_int_eq(give_count(&f.give[1]), 1);
        ck_assert_int_lt(give_id(&f.give[1], 0), 2);
        struct message_give more;
        ck_assert(!dispatch_take(&f.d, &f.w[1], &more));
        report(&f, 1, MEMBER_DONE, 60);
    }
    ck_assert(take(&f, 1));
    ck_assert_int_eq(give_count(&f.give[1]), 2);
    report(&f, 1, MEMBER_DONE, 60);
    finish_with(&f, 1);
    ck_assert_int_eq(f.d.counts.done, MEMBERS);
    drop_farm(&f);
}
END_TEST

START_TEST(a_member_that_kills_its_second_worker_is_quarantined)
{
    struct farm f;
    struct dispatch_quarantined found = {.member = -1};
    char text[200];
    make_farm(&f, 1, "");
    ck_assert(take(&f, 0));
    ck_assert(!dispatch_next_quarantined(&f.d, &found));
    dispatch_lost(&f.d, &f.w[0], "rank 1: killed by signal 11");
    ck_assert(!dispatch_next_quarantined(&f.d, &found));
    ck_assert(take(&f, 1));
    ck_assert_int_eq(give_id(&f.give[1], 0), 0);
    dispatch_lost(&f.d, &f.w[1], "rank 2: killed by signal 11");
    finish_with(&f, 2);
    ck_assert_int_eq(f.d.counts.done, MEMBERS - 1);
    ck_assert(!dispatch_ended(&f.d)); /* its state has to be written */
    ck_assert(dispatch_next_quarantined(&f.d, &found));
    ck_assert_int_eq(found.member, 0);
    ck_assert_int_eq(found.pass, PASS_MEMBER);
    ck_assert_str_eq(found.reason, "ended 2 workers, the last: rank 2: killed by signal 11");
    ck_assert(!dispatch_next_quarantined(&f.d, &found));
    ck_assert(dispatch_ended(&f.d));
    ck_assert_int_eq(dispatch_code(&f.d, text, sizeof text), EXIT_MEMBERS_FAILED);
    drop_farm(&f);
}
END_TEST

START_TEST(limits_attempts_says_how_many_workers_a_member_may_cost)
{
    struct farm f;
    struct dispatch_quarantined found = {.member = -1};
    make_farm(&f, 1, "limits: {attempts: 3}");
    for (int w = 0; w < 3; w++) {
        ck_assert(!dispatch_next_quarantined(&f.d, &found));
        ck_assert(take(&f, w));
        ck_assert_int_eq(give_id(&f.give[w], 0), 0);
        dispatch_lost(&f.d, &f.w[w], "killed");
    }
    ck_assert(dispatch_next_quarantined(&f.d, &found));
    drop_farm(&f);
}
END_TEST

START_TEST(tasks_that_were_not_begun_are_not_suspected)
{
    struct farm f;
    make_farm(&f, 1, "");
    f.d.recent_seconds = 0.01; /* short members: chunks of 5, and one in reserve */
    ck_assert(take(&f, 0));
    const int64_t chunk = give_count(&f.give[0]);
    ck_assert_int_eq(chunk, 5);
    ck_assert(take(&f, 0));
    report_run(&f, 0, 0, 2, MEMBER_DONE, 0.01);
    dispatch_lost(&f.d, &f.w[0], "killed");
    ck_assert_int_eq(f.d.losses.suspects, chunk - 2);
    ck_assert_int_eq(dispatch_pending(&f.d), MEMBERS - 2);
    ck_assert_int_eq(f.d.counts.running, 0);
    drop_farm(&f);
}
END_TEST

START_TEST(with_one_attempt_the_innocent_of_a_chunk_get_another)
{
    struct farm f;
    struct dispatch_quarantined found = {.member = -1};
    make_farm(&f, 1, "limits: {attempts: 1}");
    f.d.recent_seconds = 0.01;
    ck_assert(take(&f, 0));
    dispatch_lost(&f.d, &f.w[0], "killed");
    ck_assert(!dispatch_next_quarantined(&f.d, &found));
    ck_assert(take(&f, 1));
    ck_assert_int_eq(give_count(&f.give[1]), 1);
    dispatch_lost(&f.d, &f.w[1], "killed");
    ck_assert(dispatch_next_quarantined(&f.d, &found));
    ck_assert_str_eq(found.reason, "ended 1 worker, the last: killed");
    drop_farm(&f);
}
END_TEST

START_TEST(a_suspect_that_comes_back_unstarted_stays_a_suspect)
{
    struct farm f;
    make_farm(&f, 1, "");
    ck_assert(take(&f, 0));
    dispatch_lost(&f.d, &f.w[0], "killed");
    ck_assert(take(&f, 1));
    report(&f, 1, MEMBER_PENDING, 0);
    ck_assert_int_eq(f.d.losses.suspects, 1);
    ck_assert_int_eq(dispatch_pending(&f.d), MEMBERS);
    ck_assert_int_eq(f.d.out, 0);
    drop_farm(&f);
}
END_TEST

START_TEST(interrupted_members_come_first_and_one_at_a_time)
{
    struct farm f;
    const int64_t begun[] = {40, 7, 99, 500};
    make_farm(&f, 2, "");
    queue_set(&f.d.members, 99, 1, false); /* it has ended */
    ck_assert_int_eq(dispatch_begin_with(&f.d, begun, 4), 0);
    ck_assert_int_eq(dispatch_pending(&f.d), MEMBERS - 1);
    ck_assert(take(&f, 0));
    ck_assert_int_eq(give_count(&f.give[0]), 1);
    const int64_t first = give_id(&f.give[0], 0);
    ck_assert(take(&f, 0));
    const int64_t second = give_id(&f.give[0], 0);
    ck_assert(first == 40 && second == 7);
    ck_assert(take(&f, 1));
    ck_assert_int_eq(give_id(&f.give[1], 0), 0);
    drop_farm(&f);
}
END_TEST

START_TEST(tasks_of_a_worker_out_of_reach_are_given_to_nobody)
{
    struct farm f;
    char text[200];
    make_farm(&f, 2, "");
    ck_assert(take(&f, 0));
    dispatch_forget(&f.d, &f.w[0]);
    finish_with(&f, 1);
    ck_assert(dispatch_ended(&f.d));
    ck_assert_int_eq(f.d.counts.done, MEMBERS - 2);
    ck_assert_int_eq(dispatch_code(&f.d, text, sizeof text), EXIT_STOPPED);
    ck_assert_ptr_nonnull(strstr(text, "2 of 100 members left"));
    drop_farm(&f);
}
END_TEST

START_TEST(what_a_worker_out_of_reach_still_reports_counts)
{
    struct farm f;
    char text[200];
    make_farm(&f, 2, "");
    ck_assert(take(&f, 0));
    dispatch_forget(&f.d, &f.w[0]);
    report_run(&f, 0, 1, 1, MEMBER_DONE, 60);
    ck_assert_int_eq(f.d.losses.abandoned, 1);
    dispatch_lost(&f.d, &f.w[0], "confirmed after all");
    ck_assert_int_eq(f.d.losses.abandoned, 0);
    report_run(&f, 0, 0, 1, MEMBER_DONE, 60); /* too late: it is given again */
    finish_with(&f, 1);
    ck_assert_int_eq(f.d.counts.done, MEMBERS);
    ck_assert_int_eq(dispatch_code(&f.d, text, sizeof text), 0);
    drop_farm(&f);
}
END_TEST

START_TEST(nothing_begins_that_would_not_reach_a_plane_before_the_deadline)
{
    struct farm f;
    char text[200];
    make_farm(&f, 1, "");
    f.d.deadline = clock_wall() + 3600;
    ck_assert(take(&f, 0)); /* a minute fits */
    f.d.deadline = clock_wall() + 30;
    ck_assert(!take(&f, 1));
    ck_assert(!dispatch_ended(&f.d));
    report(&f, 0, MEMBER_DONE, 60);
    ck_assert(!take(&f, 0));
    ck_assert(dispatch_ended(&f.d));
    ck_assert_int_eq(dispatch_code(&f.d, text, sizeof text), EXIT_STOPPED);
    ck_assert_str_eq(text, "stopped before the time limit with 99 of 100 members left");
    drop_farm(&f);
}
END_TEST

/* A median is known, and one worker fails three times. */
static void fail_thrice(struct farm *f, double seconds)
{
    for (int i = 0; i < 6; i++) {
        ck_assert(take(f, 1));
        report(f, 1, MEMBER_DONE, 60);
    }
    ck_assert(take(f, 1)); /* others are at work meanwhile */
    for (int i = 0; i < 3; i++) {
        ck_assert(take(f, 0));
        report(f, 0, MEMBER_FAILED, seconds);
    }
}

START_TEST(a_worker_that_fails_at_once_is_parked_when_others_succeed)
{
    struct farm f;
    make_farm(&f, 1, "");
    fail_thrice(&f, 0.1);
    ck_assert(!take(&f, 0)); /* it waits for the others */
    ck_assert(!dispatch_parked(&f.d, &f.w[0]));
    report(&f, 1, MEMBER_DONE, 60);
    ck_assert(take(&f, 2)); /* begun after the failures */
    report(&f, 2, MEMBER_DONE, 60);
    ck_assert(take(&f, 1));
    ck_assert(!take(&f, 0));
    ck_assert(dispatch_parked(&f.d, &f.w[0]));
    drop_farm(&f);
}
END_TEST

START_TEST(members_that_fail_everywhere_park_nobody)
{
    struct farm f;
    make_farm(&f, 1, "");
    fail_thrice(&f, 0.1);
    ck_assert(!take(&f, 0));
    ck_assert(take(&f, 2));
    report(&f, 2, MEMBER_FAILED, 0.1);
    ck_assert(take(&f, 0));
    report(&f, 1, MEMBER_DONE, 60);
    ck_assert(!dispatch_parked(&f.d, &f.w[0]));
    drop_farm(&f);
}
END_TEST

START_TEST(slow_failures_park_nobody)
{
    struct farm f;
    make_farm(&f, 1, "");
    fail_thrice(&f, 50);
    ck_assert(take(&f, 0));
    drop_farm(&f);
}
END_TEST

START_TEST(a_parked_worker_goes_on_when_no_other_is_left)
{
    struct farm f;
    make_farm(&f, 1, "");
    fail_thrice(&f, 0.1);
    report(&f, 1, MEMBER_DONE, 60);
    ck_assert(take(&f, 1));
    report(&f, 1, MEMBER_DONE, 60);
    ck_assert(take(&f, 1));
    ck_assert(!take(&f, 0));
    for (int w = 1; w < WORKERS; w++)
        dispatch_lost(&f.d, &f.w[w], "killed");
    ck_assert(!dispatch_parked(&f.d, &f.w[0]));
    ck_assert(take(&f, 0));
    drop_farm(&f);
}
END_TEST

START_TEST(one_worker_alone_is_never_parked)
{
    struct farm f;
    make_farm(&f, 1, "");
    f.d.workers = 1;
    while (take(&f, 0))
        report(&f, 0, MEMBER_FAILED, 0.1);
    ck_assert_int_eq(f.d.counts.failed, MEMBERS);
    ck_assert(dispatch_ended(&f.d));
    drop_farm(&f);
}
END_TEST

static Suite *loss_suite(void)
{
    Suite *suite = suite_create("loss");
    TCase *tests = tcase_create("loss");
    tcase_add_test(tests, tasks_of_a_dead_worker_are_computed_by_the_others);
    tcase_add_test(tests, suspects_are_given_alone_to_a_worker_that_holds_nothing);
    tcase_add_test(tests, a_member_that_kills_its_second_worker_is_quarantined);
    tcase_add_test(tests, limits_attempts_says_how_many_workers_a_member_may_cost);
    tcase_add_test(tests, tasks_that_were_not_begun_are_not_suspected);
    tcase_add_test(tests, with_one_attempt_the_innocent_of_a_chunk_get_another);
    tcase_add_test(tests, a_suspect_that_comes_back_unstarted_stays_a_suspect);
    tcase_add_test(tests, interrupted_members_come_first_and_one_at_a_time);
    tcase_add_test(tests, tasks_of_a_worker_out_of_reach_are_given_to_nobody);
    tcase_add_test(tests, what_a_worker_out_of_reach_still_reports_counts);
    tcase_add_test(tests, nothing_begins_that_would_not_reach_a_plane_before_the_deadline);
    tcase_add_test(tests, a_worker_that_fails_at_once_is_parked_when_others_succeed);
    tcase_add_test(tests, members_that_fail_everywhere_park_nobody);
    tcase_add_test(tests, slow_failures_park_nobody);
    tcase_add_test(tests, a_parked_worker_goes_on_when_no_other_is_left);
    tcase_add_test(tests, one_worker_alone_is_never_parked);
    suite_add_tcase(suite, tests);
    return suite;
}

int main(void)
{
    return unit_main(loss_suite());
}
