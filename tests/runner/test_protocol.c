/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <string.h>

#include "kernels/base/status.h"
#include "runner/protocol.h"
#include "tests/exact.h"
#include "tests/unit_main.h"

static struct report_run run_of(int64_t first, int32_t state)
{
    return (struct report_run){
        .first = first, .count = 1, .pass = PASS_MEMBER, .state = state, .seconds = 0.5};
}

START_TEST(neighbours_that_ended_alike_share_a_run)
{
    struct message_report report = {0};
    for (int64_t id = 10; id < 20; id++) {
        const struct report_run one = run_of(id, MEMBER_DONE);
        ck_assert(report_add(&report, &one));
    }
    ck_assert_int_eq(report.runs, 1);
    ck_assert_int_eq(report.run[0].first, 10);
    ck_assert_int_eq(report.run[0].count, 10);
    ck_assert_exactly(report.run[0].seconds, 5.0);
}
END_TEST

START_TEST(another_state_or_a_gap_begins_a_run)
{
    struct message_report report = {0};
    const struct report_run runs[] = {run_of(1, MEMBER_DONE), run_of(2, MEMBER_FAILED),
                                      run_of(3, MEMBER_DONE), run_of(5, MEMBER_DONE)};
    for (int i = 0; i < 4; i++)
        ck_assert(report_add(&report, &runs[i]));
    ck_assert_int_eq(report.runs, 4);
}
END_TEST

START_TEST(a_full_report_refuses_and_is_left_unchanged)
{
    struct message_report report = {0};
    for (int64_t i = 0; i < PROTOCOL_RUNS_MAX; i++) {
        const struct report_run one = run_of(2 * i, MEMBER_DONE);
        ck_assert(report_add(&report, &one));
    }
    const struct report_run more = run_of(1000, MEMBER_DONE);
    ck_assert(!report_add(&report, &more));
    ck_assert_int_eq(report.runs, PROTOCOL_RUNS_MAX);
    const struct report_run next = run_of(2 * PROTOCOL_RUNS_MAX - 1, MEMBER_DONE);
    ck_assert(report_add(&report, &next)); /* it joins the last run */
}
END_TEST

START_TEST(a_message_of_another_attempt_or_version_is_refused)
{
    char text[256];
    struct message message = message_make(MESSAGE_REPORT, 7);
    status_capture(text, sizeof text);
    ck_assert_int_eq(message_check(&message, 7), 0);
    ck_assert_int_eq(message_check(&message, 8), ERR_MPI);
    ck_assert_ptr_nonnull(strstr(text, "REPORT"));
    status_capture(text, sizeof text);
    message.version = PROTOCOL_VERSION + 1;
    ck_assert_int_eq(message_check(&message, 7), ERR_MPI);
    ck_assert_ptr_nonnull(strstr(text, "same scanfarm"));
    status_capture(NULL, 0);
}
END_TEST

START_TEST(a_message_stays_below_the_eager_limits)
{
    /* Open MPI sends up to 4 kB at once on all its transports: no handshake with a busy rank.
     */
    ck_assert_uint_lt(sizeof(struct message), 4096);
}
END_TEST

START_TEST(messages_have_names)
{
    ck_assert_str_eq(message_name(MESSAGE_GIVE), "GIVE");
    ck_assert_str_eq(message_name(MESSAGE_CONFIRM), "CONFIRM");
    ck_assert_str_eq(message_name(4711), "unknown");
}
END_TEST

static Suite *protocol_suite(void)
{
    Suite *suite = suite_create("protocol");
    TCase *tests = tcase_create("protocol");
    tcase_add_test(tests, neighbours_that_ended_alike_share_a_run);
    tcase_add_test(tests, another_state_or_a_gap_begins_a_run);
    tcase_add_test(tests, a_full_report_refuses_and_is_left_unchanged);
    tcase_add_test(tests, a_message_of_another_attempt_or_version_is_refused);
    tcase_add_test(tests, a_message_stays_below_the_eager_limits);
    tcase_add_test(tests, messages_have_names);
    suite_add_tcase(suite, tests);
    return suite;
}

int main(void)
{
    return unit_main(protocol_suite());
}
