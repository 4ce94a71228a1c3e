/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Each call of the store that can fail does so once, at every place: the error is named,
 * nothing is left behind, and nothing counts that was not written. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "io/store.h"
#include "kernels/base/mem.h"
#include "kernels/base/status.h"
#include "tests/io/inject.h"
#include "tests/io/refusal.h"
#include "tests/unit_main.h"

#define TRIES_MAX 400

static void begin(void)
{
    setup();
    fixture.spec.history = 4;
}

static void define(void)
{
    ck_assert_msg(store_define(path, &fixture.spec) == 0, "%s", message);
}

static struct store *open_writer(void)
{
    struct store *store = NULL;
    ck_assert_msg(store_open(path, &store) == 0, "%s", message);
    return store;
}

static void assert_said(const char *word)
{
    ck_assert_msg(strstr(message, word) != NULL, "no '%s' in: %s", word, message);
}

static int define_once(void)
{
    return store_define(path, &fixture.spec);
}

static int open_and_close(void)
{
    struct store *store = NULL;
    const int rc = store_open(path, &store);
    ck_assert((rc == 0) == (store != NULL));
    const int closed = store_close(store);
    return rc != 0 ? rc : closed;
}

static int compare_once(void)
{
    return store_compare(path, &fixture.spec);
}

static int read_short_plane(void)
{
    struct store *store = NULL;
    double map[2 * 5];
    TRY(store_open_read(path, &store));
    const int rc = store_read_plane(store, "map", 20, 0, 10, map);
    const int closed = store_close(store);
    return rc != 0 ? rc : closed;
}

/* With the first, second, … allocation refused until there is none left to refuse. */
static void refuse_each_allocation(int (*work)(void), bool makes_file)
{
    long nth = 0;
    int rc = ERR_MEMORY;
    while (rc != 0) {
        ck_assert_int_lt(++nth, TRIES_MAX);
        listen_anew();
        inject_at(INJECT_ALLOC, nth, 0);
        rc = work();
        inject_at(INJECT_ALLOC, 0, 0);
        ck_assert_msg(rc == 0 || rc == ERR_MEMORY, "allocation %ld: %d, %s", nth, rc, message);
        ck_assert_msg(rc == 0 || strstr(message, "out of memory") != NULL, "%s", message);
        ck_assert_int_eq(mem_live(), 0);
        ck_assert(!makes_file || store_exists(path) == (rc == 0));
    }
    ck_assert_int_gt(nth, 1);
}

START_TEST(a_definition_without_memory_says_so_and_leaves_no_file)
{
    refuse_each_allocation(define_once, true);
}
END_TEST

START_TEST(opening_comparing_and_reading_without_memory_say_so)
{
    fixture_two_grids(&fixture);
    define();
    struct store *store = open_writer();
    ck_assert_int_eq(fixture_write_plane(&fixture, store, 20, 0), 0);
    ck_assert_int_eq(store_close(store), 0);
    refuse_each_allocation(open_and_close, false);
    refuse_each_allocation(compare_once, false);
    refuse_each_allocation(read_short_plane, false);
}
END_TEST

START_TEST(a_file_that_can_be_read_but_not_opened_for_writing_is_named_with_the_reason)
{
    define();
    struct store *store = NULL;
    inject_at(INJECT_OPEN, 2, EROFS); /* the first one looks at the signature */
    ck_assert_int_eq(store_open(path, &store), ERR_IO);
    ck_assert_ptr_null(store);
    assert_said(path);
    assert_said("Read-only file system");
}
END_TEST

START_TEST(a_file_that_may_not_be_read_is_named_with_the_reason)
{
    define();
    struct store *store = NULL;
    inject_at(INJECT_OPEN, 1, EACCES);
    ck_assert_int_eq(store_open_read(path, &store), ERR_IO);
    assert_said("cannot read");
    assert_said("Permission denied");
}
END_TEST

/* All writes that a member has, with what comes around them. */
static int write_all(struct store *store)
{
    TRY(store_reset_member(store, 3));
    TRY(fixture_write_member(&fixture, store, 3));
    const struct store_timing timing = {.total = 1};
    return store_write_timing(store, 0, 1, &timing);
}

START_TEST(a_write_that_fails_anywhere_is_told_and_what_is_missing_does_not_count)
{
    define();
    long nth = 0;
    int rc = ERR_IO;
    while (rc != 0) {
        ck_assert_int_lt(++nth, TRIES_MAX);
        struct store *store = open_writer();
        ck_assert_int_eq(store_reset_member(store, 3), 0);
        listen_anew();
        inject_at(INJECT_PWRITE, nth, EDQUOT);
        rc = write_all(store);
        const bool all_there = inject_seen(INJECT_PWRITE) > nth;
        inject_at(INJECT_PWRITE, 0, 0);
        uint8_t state = 9;
        int64_t saved = 9;
        ck_assert_int_eq(store_read_states(store, 3, 1, &state, &saved), 0);
        if (rc != 0) {
            ck_assert_int_eq(rc, ERR_IO);
            assert_said(path);
            assert_said("Disk quota exceeded");
            ck_assert(!all_there);
        }
        /* done only with all its planes, and those are right */
        ck_assert(state == MEMBER_PENDING || (state == MEMBER_DONE && saved == FIXTURE_PLANES));
        for (long plane = 0; plane < saved; plane++)
            ck_assert_msg(store_check_plane(store, 3, plane) == 0, "%s", message);
        ck_assert_int_eq(store_close(store), 0);
    }
    ck_assert_int_gt(nth, 30);
}
END_TEST

START_TEST(a_write_that_is_interrupted_goes_on)
{
    define();
    struct store *store = open_writer();
    inject_at(INJECT_PWRITE, 2, EINTR);
    ck_assert_msg(fixture_write_plane(&fixture, store, 0, 0) == 0, "%s", message);
    ck_assert_int_eq(store_check_plane(store, 0, 0), 0);
    ck_assert_int_eq(store_close(store), 0);
}
END_TEST

START_TEST(a_write_of_nothing_is_a_full_disk)
{
    define();
    struct store *store = open_writer();
    inject_at(INJECT_PWRITE, 1, 0);
    ck_assert_int_eq(fixture_write_plane(&fixture, store, 0, 0), ERR_IO);
    assert_said("No space left on device");
    ck_assert_int_eq(store_close(store), 0);
}
END_TEST

START_TEST(a_read_that_is_interrupted_goes_on_and_one_that_fails_is_named)
{
    define();
    struct store *store = open_writer();
    uint8_t state = 9;
    inject_at(INJECT_PREAD, 1, EINTR);
    ck_assert_msg(store_read_states(store, 3, 1, &state, NULL) == 0, "%s", message);
    ck_assert_int_ge(inject_seen(INJECT_PREAD), 2);
    ck_assert_int_eq(state, MEMBER_PENDING);
    inject_at(INJECT_PREAD, 1, EIO);
    ck_assert_int_eq(store_read_states(store, 3, 1, &state, NULL), ERR_IO);
    assert_said(path);
    assert_said("Input/output error");
    listen_anew();
    inject_at(INJECT_PREAD, 1, 0);
    ck_assert_int_eq(store_read_states(store, 3, 1, &state, NULL), ERR_IO);
    assert_said("the file is too short");
    ck_assert_int_eq(store_close(store), 0);
}
END_TEST

/* Planes of 1 MiB, so that space for those of a member is asked for. */
static void write_large_member(struct store *store, int64_t member)
{
    struct plane_buffers buffers = {.observable = {1, 2}};
    const long n = fixture.layout.axis[0].length;
    ck_assert_int_eq(mem_alloc(n, 16, &buffers.array[FIXTURE_FIELD]), 0);
    ck_assert_int_eq(mem_alloc(n, 8L * FIXTURE_X, &buffers.array[FIXTURE_MAP]), 0);
    for (long plane = 0; plane < FIXTURE_PLANES; plane++)
        ck_assert_msg(store_write_plane(store, member, &fixture.layout, plane, 0, &buffers)
                          == 0,
                      "%s", message);
    mem_free(buffers.array[FIXTURE_FIELD]);
    mem_free(buffers.array[FIXTURE_MAP]);
    for (long plane = 0; plane < FIXTURE_PLANES; plane++)
        ck_assert_int_eq(store_check_plane(store, member, plane), 0);
}

START_TEST(space_that_is_not_given_beforehand_stops_no_member)
{
    for (int a = 0; a < 2; a++)
        fixture.layout.axis[a].length = fixture.grid_layout[0].axis[a].length = 65536;
    define();
    struct store *store = open_writer();
    inject_at(INJECT_FALLOCATE, 1, ENOSPC); /* another time there may be some */
    write_large_member(store, 0);
    ck_assert_int_eq(inject_seen(INJECT_FALLOCATE), 2); /* one for each of two arrays */
    inject_at(INJECT_FALLOCATE, 1, EOPNOTSUPP);         /* never on this file system */
    write_large_member(store, 1);
    write_large_member(store, 2);
    ck_assert_int_eq(inject_seen(INJECT_FALLOCATE), 1);
    ck_assert_int_eq(store_close(store), 0);
}
END_TEST

START_TEST(a_member_that_does_not_reach_the_disk_is_not_done)
{
    define();
    struct store *store = open_writer();
    store_set_sync(store, true);
    inject_at(INJECT_FDATASYNC, 1, EIO);
    ck_assert_int_eq(fixture_write_member(&fixture, store, 5), ERR_IO);
    assert_said(path);
    assert_said("through to the disk");
    assert_said("Input/output error");
    uint8_t state = 9;
    ck_assert_int_eq(store_read_states(store, 5, 1, &state, NULL), 0);
    ck_assert_int_eq(state, MEMBER_PENDING);
    ck_assert_int_eq(store_close(store), 0);
}
END_TEST

START_TEST(closing_with_members_held_back_tells_that_they_are_lost)
{
    define();
    struct store *store = open_writer();
    store_set_sync(store, true);
    store_begin_chunk(store);
    ck_assert_int_eq(fixture_write_member(&fixture, store, 5), 0);
    inject_at(INJECT_FDATASYNC, 1, EIO);
    ck_assert_int_eq(store_close(store), ERR_IO);
    assert_said("through to the disk");
}
END_TEST

START_TEST(a_file_system_without_exclusive_rename_takes_the_plain_one)
{
    static const int errors[] = {EINVAL, ENOSYS};
    for (size_t i = 0; i < sizeof errors / sizeof *errors; i++) {
        inject_at(INJECT_RENAMEAT2, 1, errors[i]);
        define();
        ck_assert_msg(store_compare(path, &fixture.spec) == 0, "%s", message);
        ck_assert_int_eq(unlink(path), 0);
    }
}
END_TEST

/* Nothing but what the test made may be in the folder. */
static void assert_empty(void)
{
    ck_assert_int_eq(rmdir(folder), 0);
    ck_assert(!store_exists(folder));
}

START_TEST(a_file_that_cannot_get_its_name_is_taken_away)
{
    inject_at(INJECT_RENAMEAT2, 1, EIO);
    ck_assert_int_eq(store_define(path, &fixture.spec), ERR_IO);
    assert_said("cannot rename");
    assert_said("Input/output error");
    listen_anew();
    inject_at(INJECT_RENAMEAT2, 1, ENOSYS);
    inject_at(INJECT_RENAME, 1, EACCES);
    ck_assert_int_eq(store_define(path, &fixture.spec), ERR_IO);
    assert_said("Permission denied");
    listen_anew();
    inject_at(INJECT_RENAMEAT2, 1, EEXIST); /* made by another process meanwhile */
    ck_assert_int_eq(store_define(path, &fixture.spec), ERR_CONFLICT);
    assert_said("exists already");
    assert_empty();
}
END_TEST

static Suite *injected_suite(void)
{
    Suite *const suite = suite_create("injected");
    TCase *const tests = tcase_create("injected");
    tcase_add_checked_fixture(tests, begin, teardown);
    tcase_set_timeout(tests, 100);
    tcase_add_test(tests, a_definition_without_memory_says_so_and_leaves_no_file);
    tcase_add_test(tests, opening_comparing_and_reading_without_memory_say_so);
    tcase_add_test(tests,
                   a_file_that_can_be_read_but_not_opened_for_writing_is_named_with_the_reason);
    tcase_add_test(tests, a_file_that_may_not_be_read_is_named_with_the_reason);
    tcase_add_test(tests,
                   a_write_that_fails_anywhere_is_told_and_what_is_missing_does_not_count);
    tcase_add_test(tests, a_write_that_is_interrupted_goes_on);
    tcase_add_test(tests, a_write_of_nothing_is_a_full_disk);
    tcase_add_test(tests, a_read_that_is_interrupted_goes_on_and_one_that_fails_is_named);
    tcase_add_test(tests, space_that_is_not_given_beforehand_stops_no_member);
    tcase_add_test(tests, a_member_that_does_not_reach_the_disk_is_not_done);
    tcase_add_test(tests, closing_with_members_held_back_tells_that_they_are_lost);
    tcase_add_test(tests, a_file_system_without_exclusive_rename_takes_the_plain_one);
    tcase_add_test(tests, a_file_that_cannot_get_its_name_is_taken_away);
    suite_add_tcase(suite, tests);
    return suite;
}

int main(void)
{
    return unit_main(injected_suite());
}
