/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The controller's decisions about judgments, with simulated workers and without a file. */
#include <math.h>
#include <string.h>

#include "kernels/base/clock.h"
#include "kernels/base/status.h"
#include "runner/dispatch.h"
#include "tests/exact.h"
#include "tests/perturb/near.h"
#include "tests/runner/dispatch_case.h"
#include "tests/unit_main.h"

#define MEMBERS 6
#define WORKERS 2
#define STRETCH 2.0

/* A controller of six members of which all but the last are to be judged. */
struct farm {
    struct scan *scan;
    struct dispatch d;
    struct dispatch_worker w[WORKERS];
    struct message_give give;
};

static void make_farm(struct farm *f)
{
    memset(f, 0, sizeof *f);
    dispatch_case_make("scan: simulated\nmodel: probe\naxes: [a: [0, 1, 2, 3, 4, 5]]\n"
                       "limits: {timeout: 10 s}\n",
                       WORKERS, 1, &f->scan, &f->d, f->w);
    struct dispatch *d = &f->d;
    ck_assert_int_eq(d->counts.total, MEMBERS);
    d->part = (struct store_window){.count = MEMBERS};
    d->judging = (struct dispatch_judging){
        .on = true, .stretch = STRETCH, .total = MEMBERS - 1, .to_come = MEMBERS - 1};
    ck_assert_int_eq(queue_init(&d->judging.chosen, MEMBERS, false), 0);
    queue_set(&d->judging.chosen, 0, MEMBERS - 1, true);
}

static void drop_farm(struct farm *f)
{
    dispatch_case_clear(WORKERS, f->scan, &f->d, f->w);
}

static bool take(struct farm *f, int w)
{
    return dispatch_take(&f->d, &f->w[w], &f->give);
}

static void report(struct farm *f, int w, int64_t id, int32_t pass, int32_t state,
                   double seconds)
{
    struct message_report message = {.text = "why"};
    const struct report_run run = {
        .first = id, .count = 1, .pass = pass, .state = state, .seconds = seconds};
    report_add(&message, &run);
    ck_assert_int_eq(dispatch_report(&f->d, &f->w[w], &message), 0);
}

/* Members 0 … 5 one by one in worker 0; member m takes 1, 2, 3, 2, 1, 1 s. */
static void compute_members(struct farm *f)
{
    static const double seconds[MEMBERS] = {1, 2, 3, 2, 1, 1};
    for (int m = 0; m < MEMBERS; m++) {
        ck_assert(take(f, 0));
        ck_assert_int_eq(f->give.pass, PASS_MEMBER);
        ck_assert_exactly(f->give.timeout, 10);
        const int64_t id = give_id(&f->give, 0);
        ck_assert_int_eq(give_count(&f->give), 1);
        report(f, 0, id, PASS_MEMBER, MEMBER_DONE, seconds[id]);
    }
}

START_TEST(judgments_follow_the_members_the_longest_first)
{
    static const int64_t order[] = {2, 1, 3, 0, 4};
    struct farm f;
    char text[200];
    make_farm(&f);
    compute_members(&f);
    ck_assert_int_eq(f.d.judging.to_come, 0);
    ck_assert_int_eq(f.d.judging.count, 5);
    ck_assert_rounding(f.d.judging.seconds, STRETCH * 9, 1e-12);
    for (int i = 0; i < 5; i++) {
        ck_assert(!dispatch_ended(&f.d));
        ck_assert(take(&f, i % WORKERS));
        ck_assert_int_eq(f.give.pass, PASS_JUDGE);
        ck_assert_int_eq(give_count(&f.give), 1);
        ck_assert_int_eq(give_id(&f.give, 0), order[i]);
        ck_assert_exactly(f.give.timeout, STRETCH * 10); /* more work, and more time for it */
        report(&f, i % WORKERS, order[i], PASS_JUDGE, MEMBER_DONE, 1);
    }
    ck_assert(!take(&f, 0));
    ck_assert(dispatch_ended(&f.d));
    ck_assert_int_eq(dispatch_code(&f.d, text, sizeof text), 0);
    ck_assert_str_eq(text, "all 6 members done, 5 judged and within the envelope");
    drop_farm(&f);
}
END_TEST

START_TEST(short_judgments_travel_together)
{
    struct farm f;
    make_farm(&f);
    int64_t judged = 0;
    int gives = 0;
    while (take(&f, 0)) {
        const bool judges = f.give.pass == PASS_JUDGE;
        const struct message_give give = f.give;
        for (int64_t i = 0; i < give_count(&give); i++)
            report(&f, 0, give_id(&give, i), give.pass, MEMBER_DONE, 1e-4);
        judged += judges ? give_count(&give) : 0;
        gives += judges;
    }
    ck_assert_int_eq(judged, 5);
    ck_assert_int_lt(gives, 5);
    drop_farm(&f);
}
END_TEST

START_TEST(verdicts_decide_about_the_exit_code)
{
    struct farm f;
    char text[200];
    make_farm(&f);
    compute_members(&f);
    for (int i = 0; i < 5; i++) {
        ck_assert(take(&f, 0));
        const int32_t state = i == 0 ? JUDGED_OUTSIDE : i == 1 ? MEMBER_FAILED : MEMBER_DONE;
        report(&f, 0, give_id(&f.give, 0), PASS_JUDGE, state, 1);
    }
    ck_assert_int_eq(dispatch_code(&f.d, text, sizeof text), EXIT_MEMBERS_FAILED);
    ck_assert_str_eq(text, "1 outside the envelope, 1 without a verdict");
    ck_assert_int_eq(f.d.counts.failed, 0);
    drop_farm(&f);
}
END_TEST

START_TEST(members_that_fail_are_not_judged)
{
    struct farm f;
    char text[200];
    make_farm(&f);
    for (int m = 0; m < MEMBERS; m++) {
        ck_assert(take(&f, 0));
        const int64_t id = give_id(&f.give, 0);
        report(&f, 0, id, PASS_MEMBER, id == 1 ? MEMBER_FAILED : MEMBER_DONE, 1);
    }
    ck_assert_int_eq(f.d.judging.count, 4);
    ck_assert_int_eq(f.d.judging.total, 4);
    for (int i = 0; i < 4; i++) {
        ck_assert(take(&f, 0));
        report(&f, 0, give_id(&f.give, 0), PASS_JUDGE, JUDGED_OUTSIDE, 1);
    }
    ck_assert_int_eq(dispatch_code(&f.d, text, sizeof text), EXIT_MEMBERS_FAILED);
    ck_assert_str_eq(text, "1 failed of 6 members, 4 outside the envelope");
    drop_farm(&f);
}
END_TEST

START_TEST(a_judgment_that_comes_back_waits_with_its_time)
{
    struct farm f;
    char text[200];
    make_farm(&f);
    compute_members(&f);
    ck_assert(take(&f, 0));
    ck_assert_rounding(f.d.judging.seconds, STRETCH * 6, 1e-12);
    report(&f, 0, 2, PASS_JUDGE, MEMBER_PENDING, 0);
    ck_assert_rounding(f.d.judging.seconds, STRETCH * 9, 1e-12);
    dispatch_stop(&f.d);
    ck_assert(!take(&f, 0));
    ck_assert(dispatch_ended(&f.d));
    ck_assert_int_eq(dispatch_code(&f.d, text, sizeof text), EXIT_STOPPED);
    ck_assert_str_eq(text, "stopped on request with 0 of 6 members left, 5 judgments too");
    drop_farm(&f);
}
END_TEST

START_TEST(only_judgments_that_end_before_the_deadline_are_begun)
{
    struct farm f;
    make_farm(&f);
    compute_members(&f);
    f.d.deadline = clock_wall() + 3; /* those of 6 and 4 s are too long, those of 2 s are not */
    for (int i = 0; i < 2; i++) {
        ck_assert(take(&f, 0));
        ck_assert(give_id(&f.give, 0) == 0 || give_id(&f.give, 0) == 4);
        report(&f, 0, give_id(&f.give, 0), PASS_JUDGE, MEMBER_DONE, 1e-3);
    }
    ck_assert(!dispatch_ended(&f.d));
    ck_assert(!take(&f, 0));
    ck_assert(dispatch_ended(&f.d));
    ck_assert_int_eq(f.d.judging.count, 3);
    drop_farm(&f);
}
END_TEST

START_TEST(a_judgment_that_ends_two_workers_is_quarantined)
{
    struct farm f;
    struct dispatch_quarantined found;
    make_farm(&f);
    compute_members(&f);
    for (int w = 0; w < WORKERS; w++) {
        ck_assert(!dispatch_next_quarantined(&f.d, &found));
        ck_assert(take(&f, w));
        ck_assert_int_eq(f.give.pass, PASS_JUDGE);
        ck_assert_int_eq(give_id(&f.give, 0), 2);
        dispatch_lost(&f.d, &f.w[w], "killed");
    }
    ck_assert(!dispatch_ended(&f.d));
    ck_assert(dispatch_next_quarantined(&f.d, &found));
    ck_assert_int_eq(found.pass, PASS_JUDGE);
    ck_assert_int_eq(found.member, 2);
    ck_assert_int_eq(f.d.judging.none, 1);
    ck_assert_int_eq(f.d.counts.failed, 0); /* the member itself is done */
    drop_farm(&f);
}
END_TEST

START_TEST(the_time_left_counts_judgments_that_are_to_come)
{
    struct farm f;
    make_farm(&f);
    compute_members(&f);
    f.d.rows = WORKERS;
    dispatch_tick(&f.d);
    ck_assert_int_eq(f.d.counts.judges, 5);
    ck_assert_int_eq(f.d.counts.judged, 0);
    ck_assert(progress_eta(&f.d.counts) > 0); /* all members have ended, and the run has not */
    drop_farm(&f);
}
END_TEST

static Suite *judging_suite(void)
{
    Suite *suite = suite_create("judging");
    TCase *tests = tcase_create("judging");
    tcase_add_test(tests, judgments_follow_the_members_the_longest_first);
    tcase_add_test(tests, short_judgments_travel_together);
    tcase_add_test(tests, verdicts_decide_about_the_exit_code);
    tcase_add_test(tests, members_that_fail_are_not_judged);
    tcase_add_test(tests, a_judgment_that_comes_back_waits_with_its_time);
    tcase_add_test(tests, only_judgments_that_end_before_the_deadline_are_begun);
    tcase_add_test(tests, a_judgment_that_ends_two_workers_is_quarantined);
    tcase_add_test(tests, the_time_left_counts_judgments_that_are_to_come);
    suite_add_tcase(suite, tests);
    return suite;
}

int main(void)
{
    return unit_main(judging_suite());
}
