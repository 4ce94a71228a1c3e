/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Checkpoints in the run file: what counts, what does not, where the next one goes. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <check.h>

#include "io/resume.h"
#include "io/store_private.h"
#include "kernels/base/mem.h"
#include "kernels/base/status.h"
#include "tests/exact.h"
#include "tests/io/fixture.h"
#include "tests/unit_main.h"

#define STATE 1000 /* bytes of a state here */

static char folder[256];
static char path[512];
static char message[1000];
static struct fixture fixture;
static struct store *store;
static char state[STATE];
static char back[STATE + 64];

static void define(int64_t rows)
{
    unlink(path);
    fixture_init(&fixture);
    fixture.spec.resume_state = STATE;
    fixture.spec.resume_rows = rows;
    ck_assert_msg(store_define(path, &fixture.spec) == 0, "%s", message);
    ck_assert_msg(store_open(path, &store) == 0, "%s", message);
}

static void setup(void)
{
    fixture_folder(folder);
    fixture_path(folder, "out.h5", path);
    status_capture(message, sizeof message);
    for (int i = 0; i < STATE; i++)
        state[i] = (char)(i * 7);
    define(3);
}

static void teardown(void)
{
    store_close(store);
    store = NULL;
    status_capture(NULL, 0);
    fixture_folder_remove(folder);
    ck_assert_int_eq(mem_live(), 0);
}

static struct resume_head head_of(int64_t member, uint64_t seq, int64_t planes)
{
    return (struct resume_head){.member = member,
                                .seq = seq,
                                .planes = planes,
                                .tries = 1,
                                .wall = 12.5,
                                .cpu = 11.5,
                                .steps = 100,
                                .rejected = 3,
                                .rhs_calls = 619,
                                .transforms = 2476,
                                .length = STATE};
}

static void put(int64_t slot, int half, int64_t member, uint64_t seq, int64_t planes)
{
    const struct resume_head head = head_of(member, seq, planes);
    ck_assert_msg(resume_write(store, slot, half, &head, state) == 0, "%s", message);
}

static void save_planes(int64_t member, long planes)
{
    for (long plane = 0; plane < planes; plane++)
        ck_assert_int_eq(fixture_write_plane(&fixture, store, member, plane), 0);
}

/* Sequence of the checkpoint that counts, 0: none; both ways of asking must agree. */
static uint64_t counted(int64_t member)
{
    struct resume_table table;
    struct resume_place one = {0};
    bool found = false;
    ck_assert_msg(resume_survey(store, &table) == 0, "%s", message);
    const struct resume_place *const place = resume_table_find(&table, member);
    const uint64_t seq = place == NULL ? 0 : place->seq;
    ck_assert_int_eq(resume_find(store, member, &one, &found), 0);
    ck_assert_int_eq(found, place != NULL);
    if (found) {
        ck_assert_int_eq(one.slot, place->slot);
        ck_assert_int_eq(one.half, place->half);
    }
    resume_table_clear(&table);
    return seq;
}

START_TEST(a_checkpoint_comes_back_as_it_was_written)
{
    struct resume_place place;
    struct resume_head head;
    bool found = false;
    save_planes(7, 2);
    put(4, 1, 7, 33, 2);
    ck_assert_int_eq(store_close(store), 0);
    ck_assert_int_eq(store_open_read(path, &store), 0);
    ck_assert_uint_ge(resume_room(store), STATE);
    ck_assert_uint_le(resume_room(store), sizeof back);
    ck_assert_int_eq(resume_find(store, 7, &place, &found), 0);
    ck_assert(found && place.slot == 4 && place.half == 1 && place.planes == 2);
    ck_assert_int_eq(resume_read(store, &place, &head, back, &found), 0);
    ck_assert(found);
    const struct resume_head want = head_of(7, 33, 2);
    ck_assert(equal_bits(&head, &want, sizeof head));
    ck_assert(equal_bits(back, state, STATE));
}
END_TEST

START_TEST(the_newest_checkpoint_counts_wherever_it_lies)
{
    save_planes(3, 3);
    save_planes(5, 1);
    put(0, 0, 3, 10, 1);
    put(0, 1, 3, 11, 2);
    put(9, 0, 3, 4, 1);
    put(2, 0, 5, 1, 1);
    ck_assert_uint_eq(counted(3), 11);
    ck_assert_uint_eq(counted(5), 1);
    ck_assert_uint_eq(counted(4), 0);
    put(9, 1, 3, 12, 3);
    ck_assert_uint_eq(counted(3), 12);
}
END_TEST

START_TEST(planes_that_the_file_does_not_count_make_a_checkpoint_worthless)
{
    save_planes(3, 2);
    put(0, 0, 3, 10, 2);
    put(0, 1, 3, 11, 3);
    ck_assert_uint_eq(counted(3), 10);
    ck_assert_int_eq(store_reset_member(store, 3), 0);
    ck_assert_uint_eq(counted(3), 0);
}
END_TEST

START_TEST(a_try_that_is_over_has_no_checkpoint)
{
    put(0, 0, 3, 10, 0);
    put(0, 1, 4, 11, 0);
    ck_assert_uint_eq(counted(3), 10);
    ck_assert_int_eq(fixture_end_member(store, 3, MEMBER_FAILED, "diverged"), 0);
    ck_assert_int_eq(store_end_chunk(store), 0);
    ck_assert_uint_eq(counted(3), 0);
    /* another try is no continuation of it */
    ck_assert_int_eq(resume_drop_ended(store), 0);
    ck_assert_int_eq(store_retry_member(store, 3), 0);
    ck_assert_uint_eq(counted(3), 0);
    ck_assert_uint_eq(counted(4), 11);
    /* nor of one of which the file knows that another came after it */
    ck_assert_int_eq(store_count_try(store, 4), 0);
    ck_assert_uint_eq(counted(4), 11);
    ck_assert_int_eq(store_count_try(store, 4), 0);
    ck_assert_uint_eq(counted(4), 0);
}
END_TEST

/* Overwrite a byte of a half, behind HDF5's back. */
static void damage(int64_t slot, int half, int64_t byte)
{
    const struct h5_dataset *const slots = &store->resume;
    const off_t at = (off_t)(slots->offset + (slot * 2 + half) * slots->length[2] + byte);
    const int fd = open(path, O_RDWR | O_CLOEXEC);
    unsigned char value = 0;
    ck_assert_int_eq(pread(fd, &value, 1, at), 1);
    value ^= 0x10;
    ck_assert_int_eq(pwrite(fd, &value, 1, at), 1);
    close(fd);
}

START_TEST(a_damaged_checkpoint_gives_way_to_the_one_before_it)
{
    /* magic, member, planes, counters, checksum, state's first and last byte */
    static const int64_t bytes[] = {0, 8, 24, 56, 128, 140, 1100};
    for (size_t i = 0; i < sizeof bytes / sizeof *bytes; i++) {
        store_close(store);
        define(3);
        save_planes(3, 2);
        put(1, 0, 3, 10, 2);
        put(1, 1, 3, 11, 2);
        ck_assert_uint_eq(counted(3), 11);
        damage(1, 1, bytes[i]);
        ck_assert_msg(counted(3) == 10, "byte %d", (int)bytes[i]);
        damage(1, 0, bytes[i]);
        ck_assert_msg(counted(3) == 0, "byte %d", (int)bytes[i]);
    }
}
END_TEST

START_TEST(slots_that_hold_nothing_worth_keeping_are_free)
{
    struct resume_table table;
    ck_assert_int_eq(resume_slots(store), RESUME_SLOTS_MIN);
    save_planes(3, 1);
    put(0, 0, 3, 1, 1);
    put(5, 0, 3, 2, 1); /* the older one in slot 0 is superseded */
    put(2, 0, 4, 1, 1); /* its plane is not counted */
    put(15, 1, 8, 1, 0);
    ck_assert_int_eq(resume_survey(store, &table), 0);
    ck_assert_int_eq(table.count, 2);
    int64_t last = -1;
    for (int64_t i = 0; i < 14; i++) {
        const int64_t slot = resume_free_slot(&table, resume_slots(store), i);
        ck_assert_int_gt(slot, last);
        ck_assert(slot != 5 && slot != 15 && slot < 16);
        last = slot;
    }
    ck_assert_int_eq(resume_free_slot(&table, resume_slots(store), 14), -1);
    resume_table_clear(&table);
}
END_TEST

START_TEST(room_follows_the_workers_and_is_refused_beyond)
{
    store_close(store);
    define(40);
    ck_assert_int_eq(resume_slots(store), 80);
    struct resume_head head = head_of(1, 1, 0);
    ck_assert_int_eq(resume_write(store, 80, 0, &head, state), ERR_ARGUMENT);
    ck_assert_int_eq(resume_write(store, 79, 2, &head, state), ERR_ARGUMENT);
    head.length = resume_room(store) + 1;
    ck_assert_int_eq(resume_write(store, 79, 0, &head, state), ERR_ARGUMENT);
    /* another number of workers, or no room at all, is no other configuration */
    fixture.spec.resume_rows = 1;
    ck_assert_msg(store_compare(path, &fixture.spec) == 0, "%s", message);
    fixture.spec.resume_state = 0;
    ck_assert_msg(store_compare(path, &fixture.spec) == 0, "%s", message);
}
END_TEST

START_TEST(a_file_without_room_has_no_checkpoints_and_is_as_good)
{
    struct resume_table table;
    store_close(store);
    unlink(path);
    fixture.spec.resume_state = 0;
    ck_assert_int_eq(store_define(path, &fixture.spec), 0);
    ck_assert_int_eq(store_open(path, &store), 0);
    ck_assert_int_eq(resume_slots(store), 0);
    ck_assert_uint_eq(resume_room(store), 0);
    ck_assert_int_eq(resume_survey(store, &table), 0);
    ck_assert_int_eq(table.count, 0);
    ck_assert_uint_eq(counted(1), 0);
    fixture.spec.resume_state = STATE;
    ck_assert_msg(store_compare(path, &fixture.spec) == 0, "%s", message);
}
END_TEST

START_TEST(checkpoints_take_apparent_bytes_only)
{
    double apparent[2] = {0};
    double data[2] = {0};
    fixture.spec.resume_state = 0;
    ck_assert_int_eq(store_bytes(&fixture.spec, &apparent[0], &data[0]), 0);
    fixture.spec.resume_state = 1 << 20;
    ck_assert_int_eq(store_bytes(&fixture.spec, &apparent[1], &data[1]), 0);
    ck_assert(exactly(data[0], data[1]));
    ck_assert_double_gt(apparent[1] - apparent[0], 2.0 * 16 * (1 << 20));
}
END_TEST

START_TEST(a_history_so_far_comes_back_and_goes_on)
{
    struct step_record steps[40];
    struct step_record read[16];
    for (int i = 0; i < 40; i++)
        steps[i] = (struct step_record){0.1 * i, 0.1 + i, 0.9 + 0.01 * i, i % 7, i != 3};
    struct row_status row = {.history = steps, .history_capacity = 40, .history_count = 5};
    ck_assert_int_eq(store_put_steps(store, 9, &row, 0), 0);
    ck_assert_int_eq(store_read_steps(store, 9, 5, read), 0);
    ck_assert(equal_bits(read, steps, 5 * sizeof *read));
    row.history_count = 40; /* more than the file keeps */
    ck_assert_int_eq(store_put_steps(store, 9, &row, 5), 0);
    ck_assert_int_eq(store_read_steps(store, 9, 16, read), 0);
    ck_assert(equal_bits(read, steps, sizeof read));
    ck_assert_uint_eq(resume_hash_steps(read, 16), resume_hash_steps(steps, 16));
    ck_assert_uint_ne(resume_hash_steps(read, 15), resume_hash_steps(steps, 16));
    ck_assert_int_eq(store_read_steps(store, 9, 17, read), ERR_ARGUMENT);
}
END_TEST

static Suite *resume_suite(void)
{
    Suite *suite = suite_create("resume");
    TCase *tcase = tcase_create("checkpoints");
    tcase_set_timeout(tcase, 60);
    tcase_add_checked_fixture(tcase, setup, teardown);
    tcase_add_test(tcase, a_checkpoint_comes_back_as_it_was_written);
    tcase_add_test(tcase, the_newest_checkpoint_counts_wherever_it_lies);
    tcase_add_test(tcase, planes_that_the_file_does_not_count_make_a_checkpoint_worthless);
    tcase_add_test(tcase, a_try_that_is_over_has_no_checkpoint);
    tcase_add_test(tcase, a_damaged_checkpoint_gives_way_to_the_one_before_it);
    tcase_add_test(tcase, slots_that_hold_nothing_worth_keeping_are_free);
    tcase_add_test(tcase, room_follows_the_workers_and_is_refused_beyond);
    tcase_add_test(tcase, a_file_without_room_has_no_checkpoints_and_is_as_good);
    tcase_add_test(tcase, checkpoints_take_apparent_bytes_only);
    tcase_add_test(tcase, a_history_so_far_comes_back_and_goes_on);
    suite_add_tcase(suite, tcase);
    return suite;
}

int main(void)
{
    return unit_main(resume_suite());
}
