/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Files of ours in which something is missing or impossible, made so with HDF5's own calls. */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <hdf5.h>

#include "io/read.h"
#include "io/store.h"
#include "kernels/base/status.h"
#include "tests/exact.h"
#include "tests/io/refusal.h"
#include "tests/unit_main.h"

/* A new good file, open for harm. */
static hid_t good_file(void)
{
    unlink(path);
    ck_assert_msg(store_define(path, &fixture.spec) == 0, "%s", message);
    const hid_t file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT);
    ck_assert_int_ge(file, 0);
    return file;
}

static void take_away(const char *name)
{
    const hid_t file = good_file();
    ck_assert_int_ge(H5Ldelete(file, name, H5P_DEFAULT), 0);
    H5Fclose(file);
}

static void take_attribute_away(const char *object, const char *name)
{
    const hid_t file = good_file();
    ck_assert_int_ge(H5Adelete_by_name(file, object, name, H5P_DEFAULT), 0);
    H5Fclose(file);
}

static void set_attribute(const char *name, int64_t value)
{
    const hid_t file = good_file();
    const hid_t attribute = H5Aopen(file, name, H5P_DEFAULT);
    ck_assert_int_ge(H5Awrite(attribute, H5T_NATIVE_INT64, &value), 0);
    H5Aclose(attribute);
    H5Fclose(file);
}

/* Another dataset of that name, of one dimension. */
static void put_another(const char *name, hid_t type, hsize_t rows)
{
    const hid_t file = good_file();
    ck_assert_int_ge(H5Ldelete(file, name, H5P_DEFAULT), 0);
    const hid_t space = H5Screate_simple(1, &rows, NULL);
    const hid_t dataset =
        H5Dcreate2(file, name, type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    ck_assert_int_ge(dataset, 0);
    H5Dclose(dataset);
    H5Sclose(space);
    H5Fclose(file);
}

/* One number of a column of whole numbers. */
static void set_row(const char *name, hsize_t row, int64_t value)
{
    const hid_t file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT);
    const hid_t dataset = H5Dopen2(file, name, H5P_DEFAULT);
    const hid_t there = H5Dget_space(dataset);
    const hsize_t one = 1;
    const hid_t here = H5Screate_simple(1, &one, NULL);
    H5Sselect_hyperslab(there, H5S_SELECT_SET, &row, NULL, &one, NULL);
    ck_assert_int_ge(H5Dwrite(dataset, H5T_NATIVE_INT64, here, there, H5P_DEFAULT, &value), 0);
    H5Sclose(here);
    H5Sclose(there);
    H5Dclose(dataset);
    H5Fclose(file);
}

static void assert_said(const char *word)
{
    ck_assert_msg(strstr(message, word) != NULL, "no '%s' in: %s", word, message);
    ck_assert_msg(strstr(message, path) != NULL, "no path in: %s", message);
    listen_anew();
}

static void assert_damaged(const char *word)
{
    struct store *store = NULL;
    const int rc = store_open_read(path, &store);
    ck_assert_msg(rc == ERR_CONFLICT, "%s: %d, %s", word, rc, message);
    ck_assert_ptr_null(store);
    ck_assert_msg(strstr(message, "is damaged: ") != NULL, "%s", message);
    assert_said(word);
}

START_TEST(what_is_missing_is_named)
{
    static const struct {
        const char *name;
        const char *said;
    } cases[] = {{"plane/z", "plane has no progress"},
                 {"plane/checksum", "plane has no checksum"},
                 {"member/identity", "it has no member/identity"},
                 {"provenance/attempt/end", "it has no provenance/attempt/end"},
                 {"ensemble/n", "it has no ensemble/n"},
                 {"step/h", "step/h"},
                 {"member/state", "member/state"},
                 {"plane", "plane"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        take_away(cases[i].name);
        assert_damaged(cases[i].said);
    }
    fixture.spec.history = 0; /* without steps nobody else asks for the progress */
    take_away("plane/z");
    assert_damaged("plane has no progress");
}
END_TEST

START_TEST(attributes_that_are_missing_or_impossible_are_named)
{
    take_attribute_away("plane/energy", "kind");
    assert_damaged("plane/energy is not a dataset of format 1");
    take_attribute_away("plane/field", "index");
    assert_damaged("plane/field is not a dataset of format 1");
    take_attribute_away("/", "points");
    assert_damaged("no attribute points");
    static const char *const names[] = {"members", "points", "realisations", "grids", "planes"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        set_attribute(names[i], -3);
        assert_damaged("do not fit");
    }
    set_attribute("points", INT64_MAX); /* times realisations is no number of 64 bits */
    assert_damaged("do not fit");
    set_attribute("planes", 5);
    assert_damaged("has not one row for each");
}
END_TEST

START_TEST(columns_of_another_length_or_type_are_named)
{
    static const struct {
        const char *name;
        hsize_t rows;
        const char *said;
    } cases[] = {{"member/n_saved", 29, "member/n_saved has not one row for each of 30"},
                 {"member/n_saved", 30, "member/n_saved is of another type"},
                 {"member/attempts", 30, "member/attempts is of another type"},
                 {"member/reason", 30, "member/reason is of another type"},
                 {"member/seed", 3, "member/seed has not one row for each of 30"},
                 {"step/n_steps", 7, "step/n_steps has not one row for each of 30"},
                 {"step/error", 30, "step/error has not one row for each of 30"},
                 {"resume/slot", 30, "resume/slot has not two halves"},
                 {"provenance/attempt/end", STORE_ATTEMPT_ROWS, "end is of another type"},
                 {"ensemble/n", 5, "ensemble/n has not one row for each of 6"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        put_another(cases[i].name, H5T_IEEE_F64LE, cases[i].rows);
        assert_damaged(cases[i].said);
    }
}
END_TEST

/* A reader does not mind, but rows of the wrong size would overwrite their neighbours. */
START_TEST(a_column_of_another_size_is_refused_to_a_writer)
{
    static const char *const names[] = {"member/wall_s", "member/steps", "member/host"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct store *store = NULL;
        put_another(names[i], H5T_IEEE_F32LE, 30);
        ck_assert_int_eq(store_open_read(path, &store), 0);
        ck_assert_int_eq(store_close(store), 0);
        ck_assert_int_eq(store_open(path, &store), ERR_CONFLICT);
        ck_assert_ptr_null(store);
        assert_said(names[i]);
    }
}
END_TEST

START_TEST(states_and_counts_that_cannot_be_are_named_by_member)
{
    struct store *store = NULL;
    uint8_t state[30];
    int64_t saved[30];
    H5Fclose(good_file());
    set_row("member/state", 4, 8);
    set_row("member/n_saved", 7, FIXTURE_PLANES + 1);
    ck_assert_int_eq(store_open_read(path, &store), 0);
    ck_assert_int_eq(store_read_states(store, 0, 30, state, NULL), ERR_CONFLICT);
    assert_said("member/state of member 4 is 8");
    ck_assert_int_eq(store_read_states(store, 5, 25, state, saved), ERR_CONFLICT);
    assert_said("member/n_saved of member 7 is 5 of 4 planes");
    ck_assert_int_eq(store_read_states(store, 8, 22, state, saved), 0);
    ck_assert_int_eq(store_close(store), 0);
}
END_TEST

START_TEST(a_shape_larger_than_the_file_has_room_for_is_refused)
{
    struct store *store = NULL;
    double map[FIXTURE_X * FIXTURE_OMEGA];
    fixture_two_grids(&fixture);
    H5Fclose(good_file());
    set_row("member/n_omega", 20, FIXTURE_OMEGA + 1);
    set_row("member/n_omega", 21, -1);
    ck_assert_int_eq(store_open_read(path, &store), 0);
    ck_assert_int_eq(store_read_plane(store, "map", 20, 0, 18, map), ERR_IO);
    assert_said("member/n_omega of member 20 is 9");
    ck_assert_int_eq(store_check_plane(store, 21, 0), ERR_IO);
    assert_said("member/n_omega of member 21 is -1");
    ck_assert_int_eq(store_close(store), 0);
}
END_TEST

START_TEST(a_file_without_a_number_of_its_format_is_refused)
{
    struct store *store = NULL;
    set_attribute("format_version", 0);
    ck_assert_int_eq(store_open_read(path, &store), ERR_CONFLICT);
    assert_said("no valid format_version");
    take_attribute_away("/", "format_version");
    ck_assert_int_eq(store_open_read(path, &store), ERR_CONFLICT);
    assert_said("no valid format_version");
}
END_TEST

START_TEST(a_pipe_is_refused_without_waiting_for_its_other_end)
{
    struct store *store = NULL;
    ck_assert_int_eq(mkfifo(path, 0600), 0);
    ck_assert_int_eq(store_open_read(path, &store), ERR_CONFLICT);
    assert_said("is not a regular file");
}
END_TEST

static void assert_not_the_same(const char *word)
{
    ck_assert_int_eq(store_compare(path, &fixture.spec), ERR_CONFLICT);
    assert_said(word);
}

START_TEST(a_file_of_another_layout_or_model_is_no_file_to_go_on_with)
{
    take_away("member/param/a");
    assert_not_the_same("another layout: member/param/a is absent there");
    put_another("member/param/a", H5T_IEEE_F32LE, 30);
    assert_not_the_same("member/param/a is [30] there and [30] here, of another type");
    put_another("complete", H5T_STD_U8LE, 3);
    assert_not_the_same("complete is [3] there and one value here");
    take_away("config_canonical");
    assert_not_the_same("is damaged: config_canonical");
    H5Fclose(good_file());
    fixture.spec.model_name = "another";
    assert_not_the_same("model is fixture there and another here");
}
END_TEST

START_TEST(a_file_older_than_a_column_of_times_is_gone_on_with)
{
    struct store *store = NULL;
    const struct store_timing timing = {.load = 1, .advance = 2, .total = 3};
    double advance = 0;
    take_away("timing/host");
    ck_assert_msg(store_compare(path, &fixture.spec) == 0, "%s", message);
    ck_assert_int_eq(store_open(path, &store), 0);
    ck_assert_msg(store_write_timing(store, 0, 3, &timing) == 0, "%s", message);
    ck_assert_int_eq(store_write_timing(store, 0, -1, &timing), 0); /* no row: nothing */
    ck_assert_int_eq(read_rows(store, "timing/advance", 3, 1, 1, &advance), 0);
    ck_assert(exactly(advance, 2));
    ck_assert(!read_exists(store, "timing/host"));
    ck_assert_int_eq(store_close(store), 0);
}
END_TEST

static Suite *damage_suite(void)
{
    Suite *const suite = suite_create("damage");
    TCase *const tests = tcase_create("damage");
    tcase_add_checked_fixture(tests, setup, teardown);
    tcase_set_timeout(tests, 100);
    tcase_add_test(tests, what_is_missing_is_named);
    tcase_add_test(tests, attributes_that_are_missing_or_impossible_are_named);
    tcase_add_test(tests, columns_of_another_length_or_type_are_named);
    tcase_add_test(tests, a_column_of_another_size_is_refused_to_a_writer);
    tcase_add_test(tests, states_and_counts_that_cannot_be_are_named_by_member);
    tcase_add_test(tests, a_shape_larger_than_the_file_has_room_for_is_refused);
    tcase_add_test(tests, a_file_without_a_number_of_its_format_is_refused);
    tcase_add_test(tests, a_pipe_is_refused_without_waiting_for_its_other_end);
    tcase_add_test(tests, a_file_of_another_layout_or_model_is_no_file_to_go_on_with);
    tcase_add_test(tests, a_file_older_than_a_column_of_times_is_gone_on_with);
    suite_add_tcase(suite, tests);
    return suite;
}

int main(void)
{
    return unit_main(damage_suite());
}
