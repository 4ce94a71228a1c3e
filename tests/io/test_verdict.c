/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Room for judgments in a file, and what becomes of them. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "io/read.h"
#include "io/verdict.h"
#include "kernels/base/status.h"
#include "tests/exact.h"
#include "tests/io/fixture.h"
#include "tests/unit_main.h"

#define JUDGED 7

static char folder[256];
static char path[512];
static struct fixture fixture;

/* A file of which all members are done. */
static struct store *make_file(bool judged)
{
    struct store *store = NULL;
    fixture_folder(folder);
    fixture_path(folder, "scan.h5", path);
    fixture_init(&fixture);
    fixture.spec.judged = judged;
    ck_assert_int_eq(store_define(path, &fixture.spec), 0);
    ck_assert_int_eq(store_open(path, &store), 0);
    for (int64_t m = 0; m < store_members(store); m++)
        ck_assert_int_eq(fixture_write_member(&fixture, store, m), 0);
    return store;
}

static void drop_file(struct store *store)
{
    ck_assert_int_eq(store_close(store), 0);
    fixture_folder_remove(folder);
}

static struct verdict_state state_of(struct store *store, int64_t member)
{
    struct verdict_state state;
    ck_assert_int_eq(verdict_read(store, member, 1, &state), 0);
    return state;
}

static double number_of(struct store *store, const char *name, int64_t member)
{
    char full[96];
    double value = 0;
    snprintf(full, sizeof full, "member/contract/%s", name);
    ck_assert_int_eq(read_rows(store, full, member, 1, 1, &value), 0);
    return value;
}

static void choose(struct store *store, int64_t member)
{
    const uint8_t yes = 1;
    ck_assert_int_eq(verdict_choose(store, member, 1, &yes), 0);
}

static void judge(struct store *store, int64_t member, enum verdict verdict)
{
    const double error[FIXTURE_PLANES] = {0, 1e-3, (double)NAN, 2e-3};
    const struct verdict_end end = {.reason = verdict == VERDICT_OUTSIDE ? "too much" : "",
                                    .verdict = verdict,
                                    .norm = "field_l2",
                                    .reference = "tighter",
                                    .window = "whole run",
                                    .bound = 4e-3,
                                    .observed = 2e-3,
                                    .margin = 0.5,
                                    .envelope = 99,
                                    .wall = 1.5,
                                    .rhs_calls = 66,
                                    .error = error};
    const struct verdict_word word = {member, MEMBER_DONE};
    ck_assert_int_eq(verdict_begin(store, member), 0);
    ck_assert_int_eq(verdict_put(store, member, &end), 0);
    ck_assert_int_eq(state_of(store, member).outcome, MEMBER_PENDING);
    ck_assert_int_eq(verdict_commit(store, &word, 1), 0);
}

START_TEST(a_judgment_counts_once_it_is_committed)
{
    struct store *store = make_file(true);
    double error[FIXTURE_PLANES];
    char text[STORE_REASON_SIZE + 1];
    choose(store, JUDGED);
    judge(store, JUDGED, VERDICT_OUTSIDE);
    const struct verdict_state found = state_of(store, JUDGED);
    ck_assert(found.chosen == 1 && found.outcome == MEMBER_DONE);
    ck_assert(found.verdict == VERDICT_OUTSIDE && found.envelope == 99);
    ck_assert_int_eq(state_of(store, JUDGED + 1).outcome, MEMBER_PENDING);
    ck_assert_exactly(number_of(store, "bound", JUDGED), 4e-3);
    ck_assert_exactly(number_of(store, "margin", JUDGED), 0.5);
    ck_assert_exactly(number_of(store, "attempts", JUDGED), 1);
    ck_assert_exactly(number_of(store, "class", JUDGED), CONTRACT_T);
    ck_assert_int_eq(
        read_rows(store, "member/contract/error", JUDGED, 1, FIXTURE_PLANES, error), 0);
    ck_assert_exactly(error[1], 1e-3);
    ck_assert(isnan(error[2]));
    ck_assert_exactly(error[3], 2e-3);
    ck_assert_int_eq(read_text_row(store, "member/contract/reason", JUDGED, text, sizeof text),
                     0);
    ck_assert_str_eq(text, "too much");
    drop_file(store);
}
END_TEST

START_TEST(a_file_is_complete_when_the_chosen_are_judged)
{
    struct store *store = make_file(true);
    const int64_t none = 0;
    double complete = -1;
    choose(store, JUDGED);
    for (int round = 0; round < 2; round++) {
        ck_assert_int_eq(store_close(store), 0);
        ck_assert_int_eq(store_finish(path, -1, 0, ""), 0);
        ck_assert_int_eq(store_open(path, &store), 0);
        ck_assert_int_eq(read_block(store, "complete", &none, &none, &complete), 0);
        ck_assert_exactly(complete, round);
        if (round == 0)
            judge(store, JUDGED, VERDICT_WITHIN);
    }
    drop_file(store);
}
END_TEST

START_TEST(a_member_that_is_computed_anew_loses_its_verdict)
{
    struct store *store = make_file(true);
    choose(store, JUDGED);
    judge(store, JUDGED, VERDICT_WITHIN);
    ck_assert_int_eq(store_reset_member(store, JUDGED), 0);
    const struct verdict_state found = state_of(store, JUDGED);
    ck_assert(found.chosen == 1 && found.outcome == 0 && found.verdict == 0);
    ck_assert(found.envelope == 0);
    judge(store, JUDGED, VERDICT_WITHIN);
    ck_assert_exactly(number_of(store, "attempts", JUDGED), 2);
    drop_file(store);
}
END_TEST

START_TEST(a_window_is_stored_where_gains_are_measured)
{
    const double gain[FIXTURE_PLANES] = {1, 40, 200, (double)NAN};
    double back[FIXTURE_PLANES];
    struct verdict_window window = {.gain = back};
    const struct verdict_end end = {.reason = "",
                                    .verdict = VERDICT_WITHIN,
                                    .norm = "field_l2",
                                    .reference = "tighter",
                                    .window = "z 0 to 1 of 3 m",
                                    .bound = 1,
                                    .gain = gain,
                                    .reach = 1.5,
                                    .beyond = 2};
    const struct verdict_word word = {JUDGED, MEMBER_DONE};
    bool known = true;
    struct store *store = make_file(true);
    ck_assert(verdict_has_room(store) && !verdict_has_gains(store));
    judge(store, JUDGED, VERDICT_WITHIN);
    ck_assert_int_eq(verdict_read_window(store, JUDGED, &window, &known), 0);
    ck_assert(!known && !read_exists(store, "member/contract/gain"));
    ck_assert_int_eq(store_close(store), 0);
    char text[400];
    const struct status_saved saved = status_capture_save();
    fixture.spec.gains = true;
    status_capture(text, sizeof text);
    ck_assert_int_eq(store_compare(path, &fixture.spec), ERR_CONFLICT);
    status_capture_restore(saved);
    ck_assert_ptr_nonnull(strstr(text, "has no room for gains"));
    ck_assert_int_eq(remove(path), 0);
    ck_assert_int_eq(store_define(path, &fixture.spec), 0);
    ck_assert_int_eq(store_open(path, &store), 0);
    ck_assert(verdict_has_gains(store));
    ck_assert_int_eq(verdict_put(store, JUDGED, &end), 0);
    ck_assert_int_eq(verdict_read_window(store, JUDGED, &window, &known), 0);
    ck_assert(!known); /* it does not count yet */
    ck_assert_int_eq(verdict_commit(store, &word, 1), 0);
    ck_assert_int_eq(verdict_read_window(store, JUDGED, &window, &known), 0);
    ck_assert(known && window.beyond == 2 && exactly(window.reach, 1.5));
    ck_assert(exactly(back[2], 200.0) && isnan(back[3]));
    ck_assert_exactly(number_of(store, "class", JUDGED), CONTRACT_N);
    judge(store, JUDGED + 1, VERDICT_WITHIN); /* by its whole length */
    ck_assert_int_eq(verdict_read_window(store, JUDGED + 1, &window, &known), 0);
    ck_assert(!known);
    drop_file(store);
    fixture.spec.gains = false;
}
END_TEST

START_TEST(a_file_without_an_envelope_has_no_judgments)
{
    struct store *store = make_file(false);
    const struct verdict_state found = state_of(store, JUDGED);
    ck_assert(!verdict_has_room(store));
    ck_assert(found.chosen == 0 && found.outcome == 0 && found.verdict == 0);
    ck_assert_int_eq(verdict_forget(store, JUDGED), 0);
    ck_assert(!read_exists(store, "member/contract/chosen"));
    ck_assert(read_exists(store, "member/contract/verdict")); /* as ever in format 1 */
    ck_assert_int_eq(store_close(store), 0);
    /* It cannot take in judgments, and is as good without. */
    ck_assert_int_eq(store_compare(path, &fixture.spec), 0);
    fixture.spec.judged = true;
    char text[400];
    const struct status_saved saved = status_capture_save();
    status_capture(text, sizeof text);
    ck_assert_int_eq(store_compare(path, &fixture.spec), ERR_CONFLICT);
    status_capture_restore(saved);
    ck_assert_ptr_nonnull(strstr(text, "has no room for verdicts"));
    fixture_folder_remove(folder);
}
END_TEST

static Suite *verdict_suite(void)
{
    Suite *suite = suite_create("verdict");
    TCase *tests = tcase_create("verdict");
    tcase_add_test(tests, a_judgment_counts_once_it_is_committed);
    tcase_add_test(tests, a_file_is_complete_when_the_chosen_are_judged);
    tcase_add_test(tests, a_window_is_stored_where_gains_are_measured);
    tcase_add_test(tests, a_member_that_is_computed_anew_loses_its_verdict);
    tcase_add_test(tests, a_file_without_an_envelope_has_no_judgments);
    suite_add_tcase(suite, tests);
    return suite;
}

int main(void)
{
    return unit_main(verdict_suite());
}
