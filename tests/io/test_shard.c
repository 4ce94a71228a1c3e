/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A file that holds a part of its scan: shard 2/3 with members 8 to 19 of 30. */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include <hdf5.h>

#include "io/read.h"
#include "io/reduce.h"
#include "io/resume.h"
#include "io/reuse.h"
#include "io/store.h"
#include "kernels/base/mem.h"
#include "kernels/base/status.h"
#include "tests/exact.h"
#include "tests/io/fixture.h"
#include "tests/unit_main.h"

enum { FIRST = 8, COUNT = 12, LAST = FIRST + COUNT - 1, ALL = 30 };

static char folder[256];
static char path[512];
static char whole[512];
static char message[1200];
static struct fixture fixture;
static struct fixture of_all;

static void setup(void)
{
    fixture_folder(folder);
    fixture_path(folder, "out.shard-2-of-3.h5", path);
    fixture_path(folder, "out.h5", whole);
    fixture_two_grids(&fixture);
    fixture_two_grids(&of_all);
    fixture.spec.window = (struct store_window){FIRST, COUNT, 2, 3};
    fixture.spec.ensemble = false;
    status_capture(message, sizeof message);
}

static void teardown(void)
{
    status_capture(NULL, 0);
    fixture_folder_remove(folder);
    ck_assert_int_eq(mem_live(), 0);
}

static void assert_said(const char *word)
{
    ck_assert_msg(strstr(message, word) != NULL, "no '%s' in: %s", word, message);
}

static struct store *open_new(const char *file, const struct fixture *of)
{
    struct store *store = NULL;
    ck_assert_msg(store_define(file, &of->spec) == 0, "%s", message);
    ck_assert_msg(store_open(file, &store) == 0, "%s", message);
    return store;
}

static struct store *open_again(const char *file)
{
    struct store *store = NULL;
    ck_assert_msg(store_open_read(file, &store) == 0, "%s", message);
    return store;
}

/* A file with all members of its window done. */
static void fill(const char *file, const struct fixture *of)
{
    struct store *const store = open_new(file, of);
    for (int64_t m = store_first(store); m < store_first(store) + store_members(store); m++)
        ck_assert_msg(fixture_write_member(of, store, m) == 0, "%s", message);
    ck_assert_int_eq(store_close(store), 0);
}

START_TEST(the_file_says_which_members_of_the_scan_it_holds)
{
    ck_assert_int_eq(store_close(open_new(path, &fixture)), 0);
    struct store *const store = open_again(path);
    const struct store_window window = store_window(store);
    ck_assert_int_eq(store_members(store), COUNT);
    ck_assert_int_eq(store_first(store), FIRST);
    ck_assert_int_eq(store_scan_members(store), ALL);
    ck_assert_int_eq(store_points(store), 6);
    ck_assert_int_eq(window.shard, 2);
    ck_assert_int_eq(window.shards, 3);
    char text[64];
    ck_assert_int_eq(read_attribute(store, "/", "shard", text, sizeof text), 0);
    ck_assert_str_eq(text, "2/3");
    double id[COUNT];
    ck_assert_int_eq(read_rows(store, "member_id", 0, COUNT, COUNT, id), 0);
    for (int i = 0; i < COUNT; i++)
        ck_assert(exactly(id[i], FIRST + i));
    ck_assert(!read_exists(store, "point_id"));
    ck_assert_int_eq(store_close(store), 0);
}
END_TEST

START_TEST(an_ordinary_file_is_shard_1_of_1_and_has_no_attributes_of_one)
{
    ck_assert_int_eq(store_close(open_new(whole, &of_all)), 0);
    struct store *const store = open_again(whole);
    const struct store_window window = store_window(store);
    ck_assert_int_eq(window.first, 0);
    ck_assert_int_eq(window.count, ALL);
    ck_assert_int_eq(window.shard, 1);
    ck_assert_int_eq(window.shards, 1);
    ck_assert_int_eq(store_first(store), 0);
    ck_assert_int_eq(store_scan_members(store), ALL);
    static const char *const names[] = {"shard", "first_member", "members_of_scan"};
    for (int i = 0; i < 3; i++) {
        char text[64] = "x";
        ck_assert_int_eq(read_attribute(store, "/", names[i], text, sizeof text), 0);
        ck_assert_str_eq(text, "");
    }
    ck_assert_int_eq(store_close(store), 0);
}
END_TEST

/* Elements of a row of a dataset. */
static long row_elements(const struct read_dataset *info)
{
    long elements = 1;
    for (int d = 1; d < info->dims; d++)
        elements *= (long)info->length[d];
    return elements;
}

static void assert_equal_rows(struct store *part, struct store *all, const char *name)
{
    struct read_dataset info;
    ck_assert_int_eq(read_describe(part, name, &info), 0);
    ck_assert_int_eq(info.length[0], COUNT);
    const long pairs = info.type == ELEMENT_C128 ? 2 : 1;
    const long elements = COUNT * row_elements(&info);
    double *values[2] = {NULL, NULL};
    ck_assert_int_eq(MEM_NEW(pairs * elements, &values[0]), 0);
    ck_assert_int_eq(MEM_NEW(pairs * elements, &values[1]), 0);
    ck_assert_msg(read_rows(part, name, FIRST, COUNT, elements, values[0]) == 0, "%s", message);
    ck_assert_msg(read_rows(all, name, FIRST, COUNT, elements, values[1]) == 0, "%s", message);
    ck_assert_msg(equal_bits(values[0], values[1], (size_t)(pairs * elements) * sizeof(double)),
                  "%s differs", name);
    mem_free(values[0]);
    mem_free(values[1]);
}

START_TEST(its_rows_are_those_of_the_whole_scans_file_checksums_too)
{
    fill(path, &fixture);
    fill(whole, &of_all);
    struct store *const part = open_again(path);
    struct store *const all = open_again(whole);
    static const char *const names[] = {
        "member/point",    "member/param/a", "member/param/pulse_b",
        "member/identity", "member/seed",    "member/grid",
        "member/n_omega",  "member/n_saved", "member/state",
        "member/steps",    "plane/z",        "plane/energy",
        "plane/field",     "plane/map",      "plane/checksum",
        "step/n_steps",
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        assert_equal_rows(part, all, names[i]);
    for (int64_t m = FIRST; m <= LAST; m++) {
        char host[2][65];
        ck_assert_int_eq(read_text_row(part, "member/host", m, host[0], sizeof host[0]), 0);
        ck_assert_int_eq(read_text_row(all, "member/host", m, host[1], sizeof host[1]), 0);
        ck_assert_str_eq(host[0], host[1]);
        for (long plane = 0; plane < FIXTURE_PLANES; plane++)
            ck_assert_msg(store_check_plane(part, m, plane) == 0, "%s", message);
        struct step_record record[3];
        ck_assert_int_eq(store_read_steps(part, m, 3, record), 0);
        ck_assert(exactly(record[2].error, 0.92));
    }
    double field[2 * FIXTURE_OMEGA];
    const long n = fixture_layout(&fixture, LAST)->axis[0].length;
    ck_assert_msg(store_read_plane(part, "field", LAST, 1, n, field) == 0, "%s", message);
    ck_assert(exactly(field[2], fixture_field(LAST, 1, 1, 0)));
    ck_assert_int_eq(store_close(part), 0);
    ck_assert_int_eq(store_close(all), 0);
}
END_TEST

START_TEST(members_of_other_shards_are_refused_with_what_it_holds)
{
    static const int64_t others[] = {-1, 0, FIRST - 1, LAST + 1, ALL - 1, ALL};
    struct store *const store = open_new(path, &fixture);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        const int64_t m = others[i];
        const struct plane_layout *const layout = fixture_layout(&fixture, FIRST);
        uint8_t state = 0;
        int tries = 0;
        double value = 0;
        int32_t several[2];
        struct store_past past;
        ck_assert_int_eq(store_write_plane(store, m, layout, 0, 0, NULL), ERR_ARGUMENT);
        ck_assert_int_eq(store_read_states(store, m, 1, &state, NULL), ERR_ARGUMENT);
        ck_assert_int_eq(store_read_attempts(store, m, &tries), ERR_ARGUMENT);
        ck_assert_int_eq(store_read_tries(store, m, 1, several), ERR_ARGUMENT);
        ck_assert_int_eq(store_read_past(store, m, &past), ERR_ARGUMENT);
        ck_assert_int_eq(store_reset_member(store, m), ERR_ARGUMENT);
        ck_assert_int_eq(store_retry_member(store, m), ERR_ARGUMENT);
        ck_assert_int_eq(store_check_plane(store, m, 0), ERR_ARGUMENT);
        ck_assert_int_eq(read_rows(store, "member/steps", m, 1, 1, &value), ERR_ARGUMENT);
        ck_assert_int_eq(fixture_end_member(store, m, MEMBER_DONE, ""), ERR_ARGUMENT);
    }
    ck_assert_int_eq(store_close(store), 0);
    assert_said("member -1: shard 2/3 holds 8 to 19 of 30");
}
END_TEST

START_TEST(it_is_read_and_finished_as_a_run_file)
{
    struct store_recovery found;
    struct store *store = open_new(path, &fixture);
    for (int64_t m = FIRST; m <= LAST; m++)
        ck_assert_int_eq(fixture_write_member(&fixture, store, m), 0);
    ck_assert_int_eq(store_retry_member(store, LAST), 0);
    ck_assert_int_eq(store_close(store), 0);
    ck_assert_int_eq(store_finish(path, -1, 0, ""), 0);
    double complete = 9;
    const int64_t none = 0;
    store = open_again(path);
    ck_assert_int_eq(read_block(store, "complete", &none, &none, &complete), 0);
    ck_assert_int_eq(store_close(store), 0);
    ck_assert(exactly(complete, 0.0));
    const struct store_provenance provenance = {"", "", "", "", "", NULL, 0, false};
    int attempt = -1;
    ck_assert_int_eq(store_begin_attempt(path, &provenance, &attempt), 0);
    ck_assert_int_eq(store_recover(path, &found), 0); /* that attempt has no end */
    ck_assert(found.unclean);
    ck_assert_int_eq(found.members, COUNT - 1);
    ck_assert_int_eq(found.lowered, 0);
}
END_TEST

START_TEST(a_checkpoint_belongs_to_a_member_of_the_scan)
{
    static const char state[40] = "a state";
    const struct resume_head head = {.member = LAST, .seq = 1, .tries = 1, .length = 40};
    const struct resume_head foreign = {.member = LAST + 1, .seq = 1, .tries = 1, .length = 40};
    struct resume_table table;
    struct store *const store = open_new(path, &fixture);
    ck_assert_int_eq(resume_write(store, 0, 0, &head, state), 0);
    ck_assert_int_eq(resume_write(store, 1, 0, &foreign, state), 0);
    ck_assert_msg(resume_survey(store, &table) == 0, "%s", message);
    ck_assert_int_eq(table.count, 1);
    ck_assert_int_eq(table.place[0].member, LAST);
    resume_table_clear(&table);
    ck_assert_int_eq(store_close(store), 0);
}
END_TEST

START_TEST(another_shard_and_the_whole_scan_are_refused_with_both)
{
    struct fixture other = fixture;
    other.spec.context = &other;
    other.spec.window = (struct store_window){LAST + 1, ALL - LAST - 1, 3, 3};
    ck_assert_int_eq(store_close(open_new(path, &fixture)), 0);
    ck_assert_msg(store_compare(path, &fixture.spec) == 0, "%s", message);
    ck_assert_int_eq(store_compare(path, &other.spec), ERR_CONFLICT);
    assert_said("shard 2/3 (members 8 to 19)");
    assert_said("shard 3/3 (members 20 to 29)");
    message[0] = '\0';
    ck_assert_int_eq(store_compare(path, &of_all.spec), ERR_CONFLICT);
    assert_said("the whole scan (members 0 to 29)");
    message[0] = '\0';
    ck_assert_int_eq(store_close(open_new(whole, &of_all)), 0);
    ck_assert_int_eq(store_compare(whole, &fixture.spec), ERR_CONFLICT);
    assert_said("the whole scan (members 0 to 29)");
}
END_TEST

START_TEST(a_shard_of_one_is_the_whole_scan)
{
    of_all.spec.window = (struct store_window){0, ALL, 1, 1};
    ck_assert_int_eq(store_close(open_new(whole, &of_all)), 0);
    of_all.spec.window = (struct store_window){0};
    ck_assert_msg(store_compare(whole, &of_all.spec) == 0, "%s", message);
}
END_TEST

START_TEST(points_of_a_shard_are_not_reduced)
{
    struct reduce_result result;
    struct store *const store = open_new(path, &fixture);
    ck_assert_int_eq(reduce_point(store, 2, &result), ERR_UNSUPPORTED);
    assert_said("shard 2/3");
    assert_said("collect");
    ck_assert_int_eq(store_refuse_shard(store, "…"), ERR_UNSUPPORTED);
    ck_assert_int_eq(store_close(store), 0);
}
END_TEST

START_TEST(members_are_taken_over_from_a_shard_and_into_one)
{
    struct reuse *reuse = NULL;
    enum reuse_outcome outcome = REUSE_ABSENT;
    fill(path, &fixture);
    ck_assert_msg(reuse_open(path, &of_all.spec, &reuse) == 0, "%s", message);
    ck_assert_int_eq(store_define(whole, &of_all.spec), 0);
    ck_assert_int_eq(reuse_begin(reuse, whole), 0);
    for (int64_t m = 0; m < ALL; m++) {
        ck_assert_msg(reuse_member(reuse, m, &outcome) == 0, "%s", message);
        ck_assert_int_eq(outcome, m >= FIRST && m <= LAST ? REUSE_TAKEN : REUSE_ABSENT);
    }
    ck_assert_int_eq(reuse_close(reuse), 0);
    char third[512];
    struct fixture next = fixture;
    next.spec.context = &next;
    next.spec.window = (struct store_window){15, 10, 3, 4};
    fixture_path(folder, "out.shard-3-of-4.h5", third);
    ck_assert_int_eq(reuse_open(whole, &next.spec, &reuse), 0);
    ck_assert_int_eq(store_define(third, &next.spec), 0);
    ck_assert_int_eq(reuse_begin(reuse, third), 0);
    for (int64_t m = 15; m < 25; m++) {
        ck_assert_msg(reuse_member(reuse, m, &outcome) == 0, "%s", message);
        ck_assert_int_eq(outcome, m <= LAST ? REUSE_TAKEN : REUSE_ABSENT);
    }
    ck_assert_int_eq(reuse_close(reuse), 0);
    struct store *const store = open_again(third);
    for (long plane = 0; plane < FIXTURE_PLANES; plane++)
        ck_assert_msg(store_check_plane(store, LAST, plane) == 0, "%s", message);
    ck_assert_int_eq(store_close(store), 0);
}
END_TEST

START_TEST(the_file_is_as_large_as_its_members_not_as_the_scan)
{
    struct stat info;
    double apparent[2];
    double data = 0;
    fixture.spec.realisations = of_all.spec.realisations = 500000; /* 3 000 000 members */
    fixture.spec.window = (struct store_window){1234567, 3, 41, 100};
    ck_assert_int_eq(store_bytes(&fixture.spec, &apparent[0], &data), 0);
    ck_assert_int_eq(store_bytes(&of_all.spec, &apparent[1], &data), 0);
    ck_assert(apparent[0] < apparent[1] / 1000);
    ck_assert_int_eq(store_close(open_new(path, &fixture)), 0);
    ck_assert_int_eq(stat(path, &info), 0);
    ck_assert_int_lt(info.st_size, 32 << 20);
}
END_TEST

START_TEST(a_window_that_does_not_fit_is_refused)
{
    static const struct store_window wrong[] = {
        {-1, 5, 1, 3}, {0, 0, 1, 3}, {20, 11, 3, 3}, {0, 5, 4, 3}, {0, 5, 0, 3}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        fixture.spec.window = wrong[i];
        ck_assert_int_eq(store_define(path, &fixture.spec), ERR_BUG);
        ck_assert(!store_exists(path));
    }
}
END_TEST

/* An attribute of the root, with another value; as text or as a number. */
static void change(const char *name, const char *text, int64_t number)
{
    const hid_t file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT);
    const hid_t attribute = H5Aopen(file, name, H5P_DEFAULT);
    const hid_t type = H5Aget_type(attribute);
    ck_assert_int_ge(type, 0);
    ck_assert_int_ge(text != NULL ? H5Awrite(attribute, type, &text)
                                  : H5Awrite(attribute, H5T_NATIVE_INT64, &number),
                     0);
    H5Tclose(type);
    H5Aclose(attribute);
    H5Fclose(file);
}

START_TEST(attributes_that_do_not_fit_are_damage)
{
    static const char *const fractions[] = {"x", "4/3", "2", "2/3/4", "0/3"};
    struct store *store = NULL;
    ck_assert_int_eq(store_close(open_new(path, &fixture)), 0);
    for (size_t i = 0; i < sizeof fractions / sizeof *fractions; i++) {
        message[0] = '\0';
        change("shard", fractions[i], 0);
        ck_assert_int_eq(store_open_read(path, &store), ERR_CONFLICT);
        assert_said("do not fit");
    }
    change("shard", "2/3", 0);
    change("first_member", NULL, ALL - COUNT + 1);
    ck_assert_int_eq(store_open_read(path, &store), ERR_CONFLICT);
    change("first_member", NULL, FIRST);
    ck_assert_int_eq(store_close(open_again(path)), 0);
}
END_TEST

int main(void)
{
    Suite *const suite = suite_create("shard");
    TCase *const tests = tcase_create("shard");
    tcase_set_timeout(tests, 120);
    tcase_add_checked_fixture(tests, setup, teardown);
    tcase_add_test(tests, the_file_says_which_members_of_the_scan_it_holds);
    tcase_add_test(tests, an_ordinary_file_is_shard_1_of_1_and_has_no_attributes_of_one);
    tcase_add_test(tests, its_rows_are_those_of_the_whole_scans_file_checksums_too);
    tcase_add_test(tests, members_of_other_shards_are_refused_with_what_it_holds);
    tcase_add_test(tests, it_is_read_and_finished_as_a_run_file);
    tcase_add_test(tests, a_checkpoint_belongs_to_a_member_of_the_scan);
    tcase_add_test(tests, another_shard_and_the_whole_scan_are_refused_with_both);
    tcase_add_test(tests, a_shard_of_one_is_the_whole_scan);
    tcase_add_test(tests, points_of_a_shard_are_not_reduced);
    tcase_add_test(tests, members_are_taken_over_from_a_shard_and_into_one);
    tcase_add_test(tests, the_file_is_as_large_as_its_members_not_as_the_scan);
    tcase_add_test(tests, a_window_that_does_not_fit_is_refused);
    tcase_add_test(tests, attributes_that_do_not_fit_are_damage);
    suite_add_tcase(suite, tests);
    return unit_main(suite);
}
