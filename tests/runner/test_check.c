/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Members that wait for a self-check of their worker, and those that are taken back. */
#include <stdio.h>
#include <string.h>

#include "kernels/base/mem.h"
#include "kernels/base/status.h"
#include "runner/dispatch.h"
#include "tests/runner/dispatch_case.h"
#include "tests/unit_main.h"

enum { MEMBERS = 6, WORKERS = 2 };

struct farm {
    struct scan *scan;
    struct dispatch d;
    struct dispatch_worker w[WORKERS];
    struct message_give give;
};

static void make_farm(struct farm *f)
{
    memset(f, 0, sizeof *f);
    dispatch_case_make("scan: check\nmodel: probe\naxes: [a: [0, 1, 2, 3, 4, 5]]\n", WORKERS, 1,
                       &f->scan, &f->d, f->w);
    ck_assert_int_eq(f->d.counts.total, MEMBERS);
    dispatch_case_long_members(&f->d);
    f->d.checks.on = true;
}

static void drop_farm(struct farm *f)
{
    dispatch_case_clear(WORKERS, f->scan, &f->d, f->w);
    ck_assert_int_eq(mem_live(), 0);
}

/* The next member of a worker, -1: it gets none. */
static int64_t take(struct farm *f, int w)
{
    return dispatch_take(&f->d, &f->w[w], &f->give) ? give_id(&f->give, 0) : -1;
}

static void end(struct farm *f, int w, int64_t member, int state)
{
    struct message_report report = {.runs = 1};
    report.run[0] =
        (struct report_run){.first = member, .count = 1, .state = state, .seconds = 60};
    ck_assert_int_eq(dispatch_report(&f->d, &f->w[w], &report), 0);
}

/* A worker computes so many members. @return the last */
static int64_t compute(struct farm *f, int w, int count)
{
    int64_t member = -1;
    for (int i = 0; i < count; i++) {
        member = take(f, w);
        ck_assert_int_ge(member, 0);
        end(f, w, member, MEMBER_DONE);
    }
    return member;
}

static void verdict(struct farm *f, int w, enum check_verdict found)
{
    const struct message_report report = {.check = (int32_t)found, .check_text = "0.5 of 0.1"};
    ck_assert_int_eq(dispatch_report(&f->d, &f->w[w], &report), 0);
}

/* Bits of the members that are to be taken back. */
static unsigned taken_back(struct farm *f)
{
    unsigned bits = 0;
    int64_t member = 0;
    enum task_pass pass = PASS_JUDGE;
    while (dispatch_next_withdrawn(&f->d, &member, &pass))
        bits |= 1U << member;
    return bits;
}

START_TEST(a_run_ends_when_its_last_members_are_confirmed)
{
    struct farm f;
    make_farm(&f);
    compute(&f, 0, 2);
    ck_assert(!dispatch_wants_check(&f.d, &f.w[0])); /* it will have more */
    compute(&f, 0, 1);
    compute(&f, 1, 3);
    ck_assert(!dispatch_ended(&f.d));
    for (int w = 0; w < WORKERS; w++) {
        ck_assert(dispatch_wants_check(&f.d, &f.w[w]));
        verdict(&f, w, w == 0 ? CHECK_PASSED : CHECK_VOID);
        ck_assert(!dispatch_wants_check(&f.d, &f.w[w]));
    }
    ck_assert(dispatch_ended(&f.d));
    ck_assert_int_eq(f.d.counts.done, MEMBERS);
    drop_farm(&f);
}
END_TEST

START_TEST(a_failure_takes_back_what_came_after_the_last_good_check)
{
    struct farm f;
    make_farm(&f);
    compute(&f, 0, 2); /* 0, 1 */
    verdict(&f, 0, CHECK_PASSED);
    compute(&f, 0, 1);                      /* 2 */
    compute(&f, 1, 1);                      /* 3, of the other */
    end(&f, 0, take(&f, 0), MEMBER_FAILED); /* 4 */
    ck_assert_int_eq(take(&f, 0), 5);
    verdict(&f, 0, CHECK_FAILED);
    ck_assert_int_eq(f.d.counts.done, 3);
    ck_assert_int_eq(f.d.counts.failed, 0);
    ck_assert_uint_eq(taken_back(&f), 1U << 2 | 1U << 4 | 1U << 5);
    end(&f, 0, 5, MEMBER_PENDING); /* it is given back */
    ck_assert_int_eq(take(&f, 0), -1);
    ck_assert_int_eq(dispatch_pending(&f.d), 3);
    compute(&f, 1, 3);
    ck_assert(dispatch_wants_check(&f.d, &f.w[1]));
    verdict(&f, 1, CHECK_PASSED);
    ck_assert(dispatch_ended(&f.d));
    char text[200];
    ck_assert_int_eq(dispatch_code(&f.d, text, sizeof text), 0);
    drop_farm(&f);
}
END_TEST

START_TEST(nobody_is_left_when_all_fail)
{
    struct farm f;
    char text[300];
    make_farm(&f);
    compute(&f, 0, 1);
    verdict(&f, 0, CHECK_FAILED);
    ck_assert_int_eq(f.d.error, 0);
    compute(&f, 1, 1);
    verdict(&f, 1, CHECK_FAILED);
    ck_assert_uint_eq(taken_back(&f), 3U);
    ck_assert(dispatch_ended(&f.d));
    ck_assert_int_eq(dispatch_code(&f.d, text, sizeof text), 3);
    ck_assert_str_eq(text, "the self-check fails in every worker, in the last: 0.5 of 0.1");
    drop_farm(&f);
}
END_TEST

START_TEST(a_death_leaves_the_failed_alone)
{
    struct farm f;
    char text[300];
    make_farm(&f);
    compute(&f, 0, 1);
    compute(&f, 1, 1);
    verdict(&f, 1, CHECK_FAILED);
    dispatch_lost(&f.d, &f.w[0], "gone");
    ck_assert_int_eq(f.d.checks.unchecked, 0); /* nobody would confirm them */
    ck_assert_int_eq(dispatch_code(&f.d, text, sizeof text), 3);
    drop_farm(&f);
}
END_TEST

START_TEST(a_death_keeps_no_run_from_its_end)
{
    struct farm f;
    make_farm(&f);
    compute(&f, 0, 3);
    compute(&f, 1, 3);
    verdict(&f, 1, CHECK_PASSED);
    ck_assert(!dispatch_ended(&f.d));
    dispatch_lost(&f.d, &f.w[0], "gone");
    ck_assert(dispatch_ended(&f.d));
    drop_farm(&f);
}
END_TEST

START_TEST(a_stop_waits_for_checks_and_an_error_does_not)
{
    struct farm f;
    make_farm(&f);
    compute(&f, 0, 1);
    dispatch_stop(&f.d);
    ck_assert(!dispatch_ended(&f.d));
    ck_assert(dispatch_wants_check(&f.d, &f.w[0]));
    dispatch_fail(&f.d, ERR_IO, "disk full");
    ck_assert(!dispatch_wants_check(&f.d, &f.w[0]));
    ck_assert(dispatch_ended(&f.d));
    drop_farm(&f);
}
END_TEST

START_TEST(without_checks_nothing_waits)
{
    struct farm f;
    make_farm(&f);
    f.d.checks.on = false;
    compute(&f, 0, MEMBERS);
    ck_assert(!dispatch_wants_check(&f.d, &f.w[0]));
    ck_assert(dispatch_ended(&f.d));
    drop_farm(&f);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("check");
    TCase *tc = tcase_create("self-checks");
    tcase_add_test(tc, a_run_ends_when_its_last_members_are_confirmed);
    tcase_add_test(tc, a_failure_takes_back_what_came_after_the_last_good_check);
    tcase_add_test(tc, nobody_is_left_when_all_fail);
    tcase_add_test(tc, a_death_leaves_the_failed_alone);
    tcase_add_test(tc, a_death_keeps_no_run_from_its_end);
    tcase_add_test(tc, a_stop_waits_for_checks_and_an_error_does_not);
    tcase_add_test(tc, without_checks_nothing_waits);
    suite_add_tcase(suite, tc);
    return unit_main(suite);
}
