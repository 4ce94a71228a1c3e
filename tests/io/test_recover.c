/* SPDX-License-Identifier: GPL-3.0-or-later */
/* After an end out of order: what counts is whole, what is damaged does not count any more. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <check.h>

#include "io/reduce.h"
#include "io/store_private.h"
#include "kernels/base/mem.h"
#include "kernels/base/status.h"
#include "tests/io/refusal.h"
#include "tests/unit_main.h"

/* Member 0 done, 1 failed after two planes, 2 and 3 in progress with three planes, in an
 * attempt that has no end. */
static void make(bool sync)
{
    struct store *store = NULL;
    int attempt = 0;
    const struct store_provenance provenance = {.sync_member = sync};
    ck_assert_int_eq(store_define(path, &fixture.spec), 0);
    ck_assert_int_eq(store_begin_attempt(path, &provenance, &attempt), 0);
    ck_assert_int_eq(store_open(path, &store), 0);
    ck_assert_int_eq(fixture_write_member(&fixture, store, 0), 0);
    for (long plane = 0; plane < 3; plane++) {
        ck_assert(plane == 2 || fixture_write_plane(&fixture, store, 1, plane) == 0);
        ck_assert_int_eq(fixture_write_plane(&fixture, store, 2, plane), 0);
        ck_assert_int_eq(fixture_write_plane(&fixture, store, 3, plane), 0);
    }
    ck_assert_int_eq(fixture_end_member(store, 1, MEMBER_FAILED, "diverged"), 0);
    ck_assert_int_eq(store_close(store), 0);
}

/* As after a power cut: a plane of the field that never reached the disk. */
static void lose(int64_t member, long plane)
{
    struct store *store = NULL;
    ck_assert_int_eq(store_open(path, &store), 0);
    const struct h5_dataset *const field =
        &store_find_part(store, PART_ARRAY, FIXTURE_FIELD)->data;
    const off_t at =
        (off_t)(field->offset
                + (member * FIXTURE_PLANES + plane) * FIXTURE_OMEGA * (int64_t)field->size);
    const char zeros[16] = {0};
    ck_assert_int_eq(pwrite(store->fd, zeros, sizeof zeros, at), sizeof zeros);
    ck_assert_int_eq(store_close(store), 0);
}

static int tries_of(int64_t member)
{
    struct store *store = NULL;
    int tries = -1;
    ck_assert_int_eq(store_open_read(path, &store), 0);
    ck_assert_int_eq(store_read_attempts(store, member, &tries), 0);
    ck_assert_int_eq(store_close(store), 0);
    return tries;
}

static void expect(int64_t member, int want_state, int64_t want_saved)
{
    struct store *store = NULL;
    uint8_t state = 0;
    int64_t saved = 0;
    ck_assert_int_eq(store_open_read(path, &store), 0);
    ck_assert_int_eq(store_read_states(store, member, 1, &state, &saved), 0);
    ck_assert_int_eq(state, want_state);
    ck_assert_int_eq(saved, want_saved);
    ck_assert_int_eq(store_close(store), 0);
}

START_TEST(a_run_without_an_end_has_its_unfinished_members_checked_once)
{
    struct store_recovery found;
    make(true);
    ck_assert_msg(store_recover(path, &found) == 0, "%s", message);
    ck_assert(found.unclean);
    ck_assert_int_eq(found.members, 2);
    ck_assert_int_eq(found.planes, 6);
    ck_assert_int_eq(found.lowered, 0);
    expect(2, MEMBER_PENDING, 3);
    ck_assert_int_eq(store_recover(path, &found), 0);
    ck_assert(!found.unclean);
    ck_assert_int_eq(found.planes, 0);
}
END_TEST

START_TEST(a_damaged_plane_and_those_after_it_count_no_more)
{
    struct store_recovery found;
    make(true);
    lose(2, 1);
    lose(3, 0);
    ck_assert_msg(store_recover(path, &found) == 0, "%s", message);
    ck_assert_int_eq(found.lowered, 2);
    ck_assert_int_eq(found.reopened, 0);
    ck_assert_int_eq(found.first, 2);
    ck_assert_int_eq(found.first_saved, 1);
    expect(2, MEMBER_PENDING, 1);
    expect(3, MEMBER_PENDING, 0);
    ck_assert_int_eq(tries_of(2), 0); /* counted when it goes on from its plane */
    ck_assert_int_eq(tries_of(3), 1);
    expect(0, MEMBER_DONE, FIXTURE_PLANES);
}
END_TEST

START_TEST(without_sync_members_that_ended_are_checked_too)
{
    struct store_recovery found;
    struct reduce_result result;
    struct store *store = NULL;
    uint8_t reduced = 0;
    int64_t n = 0;
    make(false);
    ck_assert_int_eq(store_open(path, &store), 0);
    ck_assert_msg(reduce_point(store, 0, &result) == 0, "%s", message);
    ck_assert_int_eq(store_close(store), 0);
    lose(0, 2);
    lose(1, 1);
    ck_assert_msg(store_recover(path, &found) == 0, "%s", message);
    ck_assert_int_eq(found.members, 4);
    ck_assert_int_eq(found.lowered, 2);
    ck_assert_int_eq(found.reopened, 1);
    expect(0, MEMBER_PENDING, 2);
    ck_assert_int_eq(tries_of(0), 0);
    expect(1, MEMBER_FAILED, 1);
    expect(2, MEMBER_PENDING, 3);
    /* what was made of it is made again */
    ck_assert_int_eq(store_open_read(path, &store), 0);
    ck_assert_int_eq(reduce_read_rows(store, 0, 1, &reduced, &n), 0);
    ck_assert_int_eq(reduced, 0);
    ck_assert_int_eq(store_close(store), 0);
}
END_TEST

START_TEST(a_file_without_reductions_has_none_to_forget)
{
    struct store_recovery found;
    fixture.spec.ensemble = false;
    make(false);
    lose(0, 2);
    ck_assert_msg(store_recover(path, &found) == 0, "%s", message);
    ck_assert_int_eq(found.reopened, 1);
    expect(0, MEMBER_PENDING, 2);
}
END_TEST

START_TEST(with_sync_members_that_ended_are_trusted)
{
    struct store_recovery found;
    make(true);
    lose(0, 2);
    ck_assert_int_eq(store_recover(path, &found), 0);
    ck_assert_int_eq(found.lowered, 0);
    expect(0, MEMBER_DONE, FIXTURE_PLANES);
}
END_TEST

START_TEST(only_ends_in_order_spare_the_check)
{
    static const struct {
        int code;
        bool unclean;
    } ends[] = {{0, false}, {1, false}, {75, false}, {3, true}, {70, true}, {130, true}};
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        struct store_recovery found;
        unlink(path);
        make(true);
        ck_assert_int_eq(store_finish(path, 0, ends[i].code, "said"), 0);
        ck_assert_int_eq(store_recover(path, &found), 0);
        ck_assert_msg(found.unclean == ends[i].unclean, "exit code %d", ends[i].code);
        ck_assert_int_eq(found.planes, ends[i].unclean ? 6 : 0);
    }
}
END_TEST

static Suite *recover_suite(void)
{
    Suite *suite = suite_create("recover");
    TCase *tcase = tcase_create("walk back");
    tcase_set_timeout(tcase, 60);
    tcase_add_checked_fixture(tcase, setup, teardown);
    tcase_add_test(tcase, a_run_without_an_end_has_its_unfinished_members_checked_once);
    tcase_add_test(tcase, a_damaged_plane_and_those_after_it_count_no_more);
    tcase_add_test(tcase, without_sync_members_that_ended_are_checked_too);
    tcase_add_test(tcase, a_file_without_reductions_has_none_to_forget);
    tcase_add_test(tcase, with_sync_members_that_ended_are_trusted);
    tcase_add_test(tcase, only_ends_in_order_spare_the_check);
    suite_add_tcase(suite, tcase);
    return suite;
}

int main(void)
{
    return unit_main(recover_suite());
}
