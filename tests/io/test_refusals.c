/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a caller must not ask of the store, and stored types that no model of today has. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "io/read.h"
#include "io/store_private.h"
#include "kernels/base/status.h"
#include "tests/exact.h"
#include "tests/io/refusal.h"
#include "tests/unit_main.h"

static struct store *new_store(void)
{
    struct store *store = NULL;
    ck_assert_msg(store_define(path, &fixture.spec) == 0, "%s", message);
    ck_assert_msg(store_open(path, &store) == 0, "%s", message);
    return store;
}

static void assert_refused(int rc, int code, const char *word)
{
    ck_assert_msg(rc == code, "%d, %s", rc, message);
    ck_assert_msg(strstr(message, word) != NULL, "no '%s' in: %s", word, message);
    listen_anew();
}

START_TEST(members_and_planes_outside_the_file_are_refused)
{
    struct store *store = new_store();
    double value = 0;
    uint8_t state = 0;
    int tries = 0;
    assert_refused(fixture_write_plane(&fixture, store, 29, -1), ERR_ARGUMENT, "plane -1 of 4");
    assert_refused(fixture_write_plane(&fixture, store, 29, 4), ERR_ARGUMENT, "plane 4 of 4");
    assert_refused(fixture_end_member(store, 30, MEMBER_DONE, ""), ERR_ARGUMENT,
                   "member 30 of 30");
    assert_refused(store_reset_member(store, -1), ERR_ARGUMENT, "member -1 of 30");
    assert_refused(store_read_attempts(store, 30, &tries), ERR_ARGUMENT, "member 30");
    assert_refused(store_check_plane(store, 30, 0), ERR_ARGUMENT, "member 30");
    struct step_record steps[17];
    assert_refused(store_read_steps(store, 0, 17, steps), ERR_ARGUMENT,
                   "keeps 16 steps a member, 17 asked for");
    assert_refused(store_read_steps(store, 0, -1, steps), ERR_ARGUMENT, "-1 asked for");
    assert_refused(store_read_plane(store, "z", 0, 4, 1, &value), ERR_ARGUMENT, "plane 4 of 4");
    assert_refused(store_read_states(store, -1, 1, &state, NULL), ERR_ARGUMENT, "of 30");
    assert_refused(store_read_states(store, 0, -1, &state, NULL), ERR_ARGUMENT, "of 30");
    ck_assert_ptr_null(store_find_part(store, PART_ARRAY, 7));
    ck_assert_ptr_null(store_find_name(store, "unused"));
    ck_assert_int_eq(store_close(store), 0);
    ck_assert_int_eq(store_close(NULL), 0);
}
END_TEST

START_TEST(a_plane_without_an_array_that_is_stored_is_refused_and_not_counted)
{
    struct store *store = new_store();
    double field[2 * FIXTURE_OMEGA] = {0};
    const struct plane_buffers buffers = {.array = {field, NULL}};
    assert_refused(store_write_plane(store, 2, &fixture.layout, 0, 0.0, &buffers), ERR_ARGUMENT,
                   "array map of member 2 is stored but was not given");
    int64_t saved = 9;
    ck_assert_int_eq(store_read_states(store, 2, 1, NULL, &saved), 0);
    ck_assert_int_eq(saved, 0);
    ck_assert_int_eq(store_close(store), 0);
}
END_TEST

/* A plane of member 0 written with a layout that is not the file's. */
static int write_with(struct store *store, const struct plane_layout *layout)
{
    static double field[4 * FIXTURE_OMEGA];
    static double map[2 * FIXTURE_X * FIXTURE_OMEGA];
    const struct plane_buffers buffers = {.array = {field, map}};
    return store_write_plane(store, 0, layout, 0, 0.0, &buffers);
}

START_TEST(a_layout_that_is_not_the_one_of_the_file_is_a_bug_named_by_its_array)
{
    struct store *store = new_store();
    struct plane_layout other = fixture.layout;
    other.arrays = 1;
    assert_refused(write_with(store, &other), ERR_BUG,
                   "array map is not in the member's layout");
    other = fixture.layout;
    other.array[0].name = "another";
    assert_refused(write_with(store, &other), ERR_BUG, "array field is not in the member's");
    other = fixture.layout;
    other.array[1].dims = 1;
    assert_refused(write_with(store, &other), ERR_BUG, "map has 1 dimensions, 2 in the file");
    other = fixture.layout;
    other.axis[0].length = FIXTURE_OMEGA + 1;
    assert_refused(write_with(store, &other), ERR_BUG, "9 values along a dimension, 8 in the");
    other = fixture.layout;
    other.array[1].type = ELEMENT_F32;
    assert_refused(write_with(store, &other), ERR_BUG, "array map is stored as another type");
    ck_assert_int_eq(store_close(store), 0);
}
END_TEST

START_TEST(blocks_that_are_no_range_of_the_file_are_refused)
{
    struct store *store = new_store();
    const double values[2 * FIXTURE_X * FIXTURE_OMEGA] = {0};
    struct h5_dataset map = store_find_name(store, "map")->data;
    const int64_t start[] = {0, 0, 0, 0};
    const int64_t whole[] = {1, 1, FIXTURE_X, FIXTURE_OMEGA};
    const int64_t split[] = {2, 1, FIXTURE_X, FIXTURE_OMEGA};
    const int64_t beyond[] = {0, FIXTURE_PLANES, 0, 0};
    const int64_t before[] = {-1, 0, 0, 0};
    ck_assert_int_eq(store_put(store, &map, start, whole, values), 0);
    assert_refused(store_put(store, &map, start, split, values), ERR_BUG, "are no block of it");
    assert_refused(store_put(store, &map, beyond, whole, values), ERR_BUG, "of dimension 1");
    assert_refused(store_put(store, &map, before, whole, values), ERR_BUG, "of dimension 0");
    map.offset = -1;
    assert_refused(store_put(store, &map, start, whole, values), ERR_IO, "is not contiguous");
    store_find_name(store, "peak_power")->data.size = 4;
    assert_refused(fixture_write_plane(&fixture, store, 0, 0), ERR_BUG,
                   "peak_power has 4 bytes");
    store_find_name(store, "peak_power")->data.size = 8;
    store_find_name(store, "energy")->part = PART_NONE;
    assert_refused(fixture_write_plane(&fixture, store, 0, 0), ERR_BUG, "energy is of no kind");
    ck_assert_int_eq(store_close(store), 0);
    ck_assert_int_eq(store_open_read(path, &store), 0);
    assert_refused(fixture_write_plane(&fixture, store, 0, 0), ERR_BUG, "for reading only");
    ck_assert_int_eq(store_close(store), 0);
}
END_TEST

/* Values 1, 2, … of each type, as a model would give them. */
static void fill_values(enum element type, long count, void *values)
{
    double *const wide = values;
    float *const narrow = values;
    uint16_t *const halves = values;
    int64_t *const integers = values;
    const bool is_double = type == ELEMENT_F64 || type == ELEMENT_C128;
    for (long i = 0; i < count; i++) {
        if (is_double)
            wide[i] = (double)(i + 1);
        else if (type == ELEMENT_I64)
            integers[i] = i + 1;
        else if (type == ELEMENT_BF16)
            halves[i] = (uint16_t)(0x3f80 + i); /* 1, 1 + 1/128, … */
        else
            narrow[i] = (float)(i + 1);
    }
}

static double expected(enum element type, long i)
{
    return type == ELEMENT_BF16 ? 1.0 + (double)i / 128 : (double)(i + 1);
}

/* What stands behind the end of a short grid: not a number, zero for integers. */
static void assert_padding(struct store *store, enum element type, int64_t member)
{
    const int64_t start[] = {member, 1, 0, 0};
    const int64_t count[] = {1, 1, FIXTURE_X, FIXTURE_OMEGA};
    double whole[2 * FIXTURE_X * FIXTURE_OMEGA];
    const int parts = type == ELEMENT_C128 || type == ELEMENT_C64 ? 2 : 1;
    ck_assert_int_eq(h5_read_double(&store_find_name(store, "map")->data, start, count, whole),
                     0);
    for (long x = 0; x < FIXTURE_X; x++)
        for (long k = 0; k < FIXTURE_OMEGA; k++)
            for (int part = 0; part < parts; part++) {
                const double value = whole[parts * (FIXTURE_OMEGA * x + k) + part];
                const bool short_of = x >= 2 || k >= 5;
                if (type == ELEMENT_I64)
                    ck_assert((exactly(value, 0.0)) == short_of);
                else
                    ck_assert((isnan(value) != 0) == short_of);
            }
}

START_TEST(arrays_of_every_type_are_stored_padded_and_read_back)
{
    const enum element type = (enum element)_i;
    const int parts = type == ELEMENT_C128 || type == ELEMENT_C64 ? 2 : 1;
    const int64_t member = 20; /* on the short grid: 2 x, 5 omega */
    fixture_two_grids(&fixture);
    fixture.layout.array[1].type = type;
    fixture.grid_layout[1].array[1].type = type;
    struct store *store = new_store();
    double field[2 * FIXTURE_OMEGA] = {0};
    double values[2 * 10];
    double back[2 * 10];
    fill_values(type, 10 * parts, values);
    const struct plane_buffers buffers = {.array = {field, values}};
    ck_assert_msg(store_write_plane(store, member, &fixture.grid_layout[1], 1, 0.5, &buffers)
                      == 0,
                  "%s", message);
    ck_assert_msg(store_check_plane(store, member, 1) == 0, "%s", message);
    ck_assert_msg(store_read_plane(store, "map", member, 1, 10, back) == 0, "%s", message);
    for (long i = 0; i < 10 * parts; i++)
        ck_assert_msg(exactly(back[i], expected(type, i)), "number %ld is %g", i, back[i]);
    assert_padding(store, type, member);
    ck_assert_int_eq(store_close(store), 0);
}
END_TEST

START_TEST(a_real_field_is_narrowed_to_float_too)
{
    fixture.spec.field_float32 = true;
    fixture.layout.array[0].type = ELEMENT_F64;
    struct store *store = new_store();
    double field[FIXTURE_OMEGA];
    double map[FIXTURE_X * FIXTURE_OMEGA] = {0};
    double back[FIXTURE_OMEGA];
    for (int k = 0; k < FIXTURE_OMEGA; k++)
        field[k] = 1.0 / (3.0 + 2.0 * k);
    const struct plane_buffers buffers = {.array = {field, map}};
    ck_assert_int_eq(store_write_plane(store, 4, &fixture.layout, 0, 0.0, &buffers), 0);
    ck_assert_int_eq(store_read_plane(store, "field", 4, 0, FIXTURE_OMEGA, back), 0);
    for (int k = 0; k < FIXTURE_OMEGA; k++) {
        ck_assert(exactly(back[k], (double)(float)field[k]));
        ck_assert(!exactly(back[k], field[k]));
    }
    ck_assert_int_eq(store_close(store), 0);
}
END_TEST

START_TEST(a_chunk_longer_than_what_is_held_is_written_on_the_way)
{
    fixture.spec.realisations = 500; /* 3000 members, 2048 are held */
    struct store *store = new_store();
    static uint8_t state[3000];
    const struct store_member_end end = {.state = MEMBER_DONE}; /* no row, no texts */
    store_begin_chunk(store);
    for (int64_t m = 0; m < 3000; m++)
        ck_assert_int_eq(store_end_member(store, m, &end), 0);
    ck_assert_int_eq(store_read_states(store, 0, 3000, state, NULL), 0);
    for (int m = 0; m < 3000; m++)
        ck_assert_int_eq(state[m], m < STORE_HELD_MAX ? MEMBER_DONE : MEMBER_PENDING);
    ck_assert_int_eq(store_close(store), 0); /* writes the rest */
    ck_assert_int_eq(store_open_read(path, &store), 0);
    ck_assert_int_eq(store_read_states(store, 0, 3000, state, NULL), 0);
    for (int m = 0; m < 3000; m++)
        ck_assert_int_eq(state[m], MEMBER_DONE);
    double steps = 9;
    ck_assert_int_eq(read_rows(store, "member/steps", 5, 1, 1, &steps), 0);
    ck_assert(exactly(steps, 0));
    ck_assert_int_eq(store_close(store), 0);
}
END_TEST

START_TEST(a_chunk_of_nothing_writes_nothing_and_an_ensemble_is_not_needed)
{
    fixture.spec.ensemble = false;
    struct store *store = new_store();
    ck_assert(!read_exists(store, "ensemble"));
    store_begin_chunk(store);
    ck_assert_int_eq(store_end_chunk(store), 0);
    uint8_t state[30];
    ck_assert_int_eq(store_read_states(store, 0, 30, state, NULL), 0);
    for (int m = 0; m < 30; m++)
        ck_assert_int_eq(state[m], MEMBER_PENDING);
    ck_assert_int_eq(store_close(store), 0);
}
END_TEST

START_TEST(a_row_of_several_numbers_is_written_whole)
{
    struct store *store = new_store();
    const double row[FIXTURE_PLANES] = {1, 2, 3, 4};
    double rows[3 * FIXTURE_PLANES];
    ck_assert_int_eq(fixture_write_member(&fixture, store, 6), 0);
    ck_assert_int_eq(fixture_write_member(&fixture, store, 8), 0);
    ck_assert_int_eq(store_put_row(store, &store_find_name(store, "energy")->data, 7, row), 0);
    ck_assert_int_eq(read_rows(store, "plane/energy", 6, 3, 3 * FIXTURE_PLANES, rows), 0);
    for (int p = 0; p < FIXTURE_PLANES; p++) {
        ck_assert(exactly(rows[p], 600.0 + p));
        ck_assert(exactly(rows[FIXTURE_PLANES + p], row[p]));
        ck_assert(exactly(rows[2 * FIXTURE_PLANES + p], 800.0 + p));
    }
    ck_assert_int_eq(store_close(store), 0);
}
END_TEST

START_TEST(a_member_tried_again_is_pending_without_planes_or_reason_and_keeps_its_tries)
{
    struct store *store = new_store();
    char reason[STORE_REASON_SIZE + 1] = "?";
    uint8_t state = 9;
    int64_t saved = 9;
    int32_t tries[2] = {9, 9};
    ck_assert_int_eq(fixture_write_plane(&fixture, store, 3, 0), 0);
    ck_assert_int_eq(fixture_end_member(store, 3, MEMBER_FAILED, "NaN at z = 1 m"), 0);
    ck_assert_int_eq(store_retry_member(store, 3), 0);
    ck_assert_int_eq(store_read_states(store, 3, 1, &state, &saved), 0);
    ck_assert_int_eq(store_read_tries(store, 3, 2, tries), 0);
    ck_assert_int_eq(read_text_row(store, "member/reason", 3, reason, sizeof reason), 0);
    ck_assert_int_eq(state, MEMBER_PENDING);
    ck_assert_int_eq(saved, 0);
    ck_assert_int_eq(tries[0], 1);
    ck_assert_str_eq(reason, "");
    assert_refused(store_retry_member(store, 30), ERR_ARGUMENT, "member 30 of 30");
    ck_assert_int_eq(store_close(store), 0);
}
END_TEST

START_TEST(a_long_history_is_kept_whole_and_none_counts_as_none)
{
    enum { STEPS = 1300 };
    static struct step_record record[STEPS];
    static double h[STEPS];
    fixture.spec.history = STEPS;
    struct store *store = new_store();
    for (int i = 0; i < STEPS; i++)
        record[i] = (struct step_record){.length = 0.5 + i, .order = 5, .accepted = true};
    struct row_status row = {.history = record, .history_count = STEPS, .steps = STEPS};
    const struct store_member_end end = {.state = MEMBER_DONE, .row = &row};
    ck_assert_int_eq(store_end_member(store, 1, &end), 0);
    row.history = NULL;
    ck_assert_int_eq(store_end_member(store, 2, &end), 0);
    double n[2];
    ck_assert_int_eq(read_rows(store, "step/h", 1, 1, STEPS, h), 0);
    ck_assert_int_eq(read_rows(store, "step/n_steps", 1, 2, 2, n), 0);
    ck_assert(exactly(n[0], STEPS) && exactly(n[1], 0));
    for (int i = 0; i < STEPS; i++)
        ck_assert(exactly(h[i], 0.5 + i));
    ck_assert_int_eq(store_close(store), 0);
}
END_TEST

static int no_rows(void *context, int64_t first, int64_t count, struct store_member_row *rows)
{
    (void)context;
    (void)rows;
    return status_fail(ERR_BUG, "rows %lld to %lld are made up", (long long)first,
                       (long long)(first + count));
}

START_TEST(a_definition_without_member_rows_passes_the_reason_on_and_leaves_no_file)
{
    fixture.spec.member_rows = no_rows;
    assert_refused(store_define(path, &fixture.spec), ERR_BUG, "rows 0 to 30 are made up");
    ck_assert(!store_exists(path));
}
END_TEST

START_TEST(a_path_with_no_room_for_the_draft_is_refused)
{
    static char longest[4300];
    snprintf(longest, sizeof longest, "%s", folder);
    for (size_t n = strlen(longest); n < 4000; n += 2)
        memcpy(longest + n, "/.", 3);
    const size_t at = strlen(longest);
    longest[at] = '/';
    memset(longest + at + 1, 'x', 200);
    assert_refused(store_define(longest, &fixture.spec), ERR_IO, "is too long");
}
END_TEST

static Suite *refusals_suite(void)
{
    Suite *const suite = suite_create("refusals");
    TCase *const tests = tcase_create("refusals");
    tcase_add_checked_fixture(tests, setup, teardown);
    tcase_set_timeout(tests, 100);
    tcase_add_test(tests, members_and_planes_outside_the_file_are_refused);
    tcase_add_test(tests, a_plane_without_an_array_that_is_stored_is_refused_and_not_counted);
    tcase_add_test(tests, a_layout_that_is_not_the_one_of_the_file_is_a_bug_named_by_its_array);
    tcase_add_test(tests, blocks_that_are_no_range_of_the_file_are_refused);
    tcase_add_loop_test(tests, arrays_of_every_type_are_stored_padded_and_read_back,
                        ELEMENT_F64, ELEMENT_I64 + 1);
    tcase_add_test(tests, a_real_field_is_narrowed_to_float_too);
    tcase_add_test(tests, a_chunk_longer_than_what_is_held_is_written_on_the_way);
    tcase_add_test(tests, a_chunk_of_nothing_writes_nothing_and_an_ensemble_is_not_needed);
    tcase_add_test(tests, a_row_of_several_numbers_is_written_whole);
    tcase_add_test(
        tests, a_member_tried_again_is_pending_without_planes_or_reason_and_keeps_its_tries);
    tcase_add_test(tests, a_long_history_is_kept_whole_and_none_counts_as_none);
    tcase_add_test(tests,
                   a_definition_without_member_rows_passes_the_reason_on_and_leaves_no_file);
    tcase_add_test(tests, a_path_with_no_room_for_the_draft_is_refused);
    suite_add_tcase(suite, tests);
    return suite;
}

int main(void)
{
    return unit_main(refusals_suite());
}
