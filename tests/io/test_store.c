/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <check.h>

#include "io/read.h"
#include "io/store.h"
#include "kernels/base/clock.h"
#include "kernels/base/mem.h"
#include "kernels/base/status.h"
#include "tests/exact.h"
#include "tests/io/fixture.h"
#include "tests/perturb/near.h"
#include "tests/unit_main.h"

static char folder[256];
static char path[512];
static char message[600];

static void setup(void)
{
    fixture_folder(folder);
    fixture_path(folder, "out.h5", path);
    status_capture(message, sizeof message);
    message[0] = '\0';
}

static void teardown(void)
{
    status_capture(NULL, 0);
    fixture_folder_remove(folder);
    ck_assert_int_eq(mem_live(), 0);
}

static void define(struct fixture *fixture)
{
    ck_assert_msg(store_define(path, &fixture->spec) == 0, "%s", message);
}

static struct store *open_writer(void)
{
    struct store *store = NULL;
    ck_assert_msg(store_open(path, &store) == 0, "%s", message);
    return store;
}

START_TEST(a_new_file_has_nothing_saved_and_every_member_pending)
{
    struct fixture fixture;
    fixture_init(&fixture);
    define(&fixture);
    struct store *store = NULL;
    ck_assert_int_eq(store_open_read(path, &store), 0);
    ck_assert_int_eq(store_members(store), 30);
    ck_assert_int_eq(store_points(store), 6);
    ck_assert_int_eq(store_realisations(store), 5);
    uint8_t state[30];
    int64_t saved[30];
    ck_assert_int_eq(store_read_states(store, 0, 30, state, saved), 0);
    for (int m = 0; m < 30; m++) {
        ck_assert_int_eq(state[m], MEMBER_PENDING);
        ck_assert_int_eq(saved[m], 0);
    }
    ck_assert_int_eq(store_read_states(store, 29, 2, state, saved), ERR_ARGUMENT);
    ck_assert_int_eq(store_close(store), 0);
}
END_TEST

START_TEST(what_was_written_is_read_back_bit_for_bit)
{
    struct fixture fixture;
    fixture_init(&fixture);
    define(&fixture);
    struct store *store = open_writer();
    ck_assert_msg(fixture_write_member(&fixture, store, 7) == 0, "%s", message);
    double field[2 * FIXTURE_OMEGA];
    ck_assert_int_eq(store_read_plane(store, "field", 7, 2, FIXTURE_OMEGA, field), 0);
    for (long k = 0; k < FIXTURE_OMEGA; k++) {
        ck_assert(exactly(field[2 * k], fixture_field(7, 2, k, 0)));
        ck_assert(exactly(field[2 * k + 1], fixture_field(7, 2, k, 1)));
    }
    double energy = 0;
    double z = 0;
    ck_assert_int_eq(store_read_plane(store, "energy", 7, 3, 1, &energy), 0);
    ck_assert_int_eq(store_read_plane(store, "z", 7, 3, 1, &z), 0);
    ck_assert(exactly(energy, 703.0));
    ck_assert(exactly(z, 1.5));
    ck_assert_int_eq(store_read_plane(store, "unused", 7, 3, 1, &energy), ERR_ARGUMENT);
    ck_assert_int_eq(store_close(store), 0);
}
END_TEST

START_TEST(planes_are_counted_one_by_one_and_the_state_comes_at_the_end)
{
    struct fixture fixture;
    fixture_init(&fixture);
    define(&fixture);
    struct store *store = open_writer();
    uint8_t state = 9;
    int64_t saved = 9;
    for (long plane = 0; plane < FIXTURE_PLANES; plane++) {
        ck_assert_int_eq(fixture_write_plane(&fixture, store, 4, plane), 0);
        ck_assert_int_eq(store_read_states(store, 4, 1, &state, &saved), 0);
        ck_assert_int_eq(saved, plane + 1);
        ck_assert_int_eq(state, MEMBER_PENDING);
    }
    ck_assert_int_eq(fixture_end_member(store, 4, MEMBER_FAILED, "NaN at z = 1 m"), 0);
    ck_assert_int_eq(store_read_states(store, 4, 1, &state, NULL), 0);
    ck_assert_int_eq(state, MEMBER_FAILED);
    char reason[STORE_REASON_SIZE + 1];
    ck_assert_int_eq(read_text_row(store, "member/reason", 4, reason, sizeof reason), 0);
    ck_assert_str_eq(reason, "NaN at z = 1 m");
    ck_assert_int_eq(store_reset_member(store, 4), 0);
    ck_assert_int_eq(store_read_states(store, 4, 1, &state, &saved), 0);
    ck_assert_int_eq(saved, 0);
    ck_assert_int_eq(state, MEMBER_PENDING);
    ck_assert_int_eq(store_close(store), 0);
}
END_TEST

/* What another process finds of a member; the writer has not closed its file. */
static int64_t planes_seen(int64_t member)
{
    struct store *reader = NULL;
    int64_t saved = -1;
    ck_assert_int_eq(store_open_read(path, &reader), 0);
    ck_assert_int_eq(store_read_states(reader, member, 1, NULL, &saved), 0);
    ck_assert_int_eq(store_close(reader), 0);
    return saved;
}

/* Three planes at once: the first is committed, two wait. */
static void write_three(struct fixture *fixture, struct store *store, int64_t member)
{
    ck_assert_int_ge(FIXTURE_PLANES, 3);
    ck_assert_int_eq(store_set_planes_span(store, 3600.0), 0);
    for (long plane = 0; plane < 3; plane++)
        ck_assert_int_eq(fixture_write_plane(fixture, store, member, plane), 0);
}

START_TEST(planes_in_quick_succession_wait_until_something_else_is_written)
{
    struct fixture fixture;
    fixture_init(&fixture);
    define(&fixture);
    struct store *store = open_writer();
    write_three(&fixture, store, 4);
    ck_assert_int_eq(planes_seen(4), 1);
    ck_assert_int_eq(fixture_write_plane(&fixture, store, 5, 0), 0);
    ck_assert_int_eq(planes_seen(4), 3);
    ck_assert_int_eq(fixture_end_member(store, 5, MEMBER_DONE, ""), 0);
    ck_assert_int_eq(planes_seen(5), 1);
    write_three(&fixture, store, 6);
    ck_assert_int_eq(store_end_chunk(store), 0);
    ck_assert_int_eq(planes_seen(6), 3);
    write_three(&fixture, store, 7);
    ck_assert_int_eq(store_set_planes_span(store, 0.0), 0);
    ck_assert_int_eq(planes_seen(7), 3);
    write_three(&fixture, store, 8);
    ck_assert_int_eq(store_close(store), 0);
    ck_assert_int_eq(planes_seen(8), 3);
}
END_TEST

START_TEST(members_of_one_plane_wait_together_when_they_are_neighbours)
{
    static const int64_t members[] = {3, 4, 5, 7, 8};
    struct fixture fixture;
    fixture_init(&fixture);
    for (int g = 0; g < 2; g++)
        fixture.grid_layout[g].planes = 1;
    fixture.layout.planes = 1;
    define(&fixture);
    struct store *store = open_writer();
    ck_assert_int_eq(store_set_planes_span(store, 3600.0), 0);
    store_begin_chunk(store);
    for (int i = 0; i < 5; i++) {
        ck_assert_int_eq(fixture_write_plane(&fixture, store, members[i], 0), 0);
        ck_assert_int_eq(fixture_end_member(store, members[i], MEMBER_DONE, ""), 0);
    }
    ck_assert_int_eq(planes_seen(7), 0);
    ck_assert_int_eq(store_end_chunk(store), 0);
    for (int64_t member = 2; member < 10; member++) {
        const bool written =
            member == 3 || member == 4 || member == 5 || member == 7 || member == 8;
        ck_assert_int_eq(planes_seen(member), written ? 1 : 0);
        if (written)
            ck_assert_int_eq(store_check_plane(store, member, 0), 0);
    }
    ck_assert_int_eq(store_close(store), 0);
}
END_TEST

START_TEST(planes_that_waited_are_the_bytes_of_planes_that_did_not)
{
    struct fixture fixture;
    fixture_init(&fixture);
    define(&fixture);
    struct store *store = open_writer();
    write_three(&fixture, store, 4);
    ck_assert_int_eq(store_close(store), 0);
    ck_assert_int_eq(store_open_read(path, &store), 0);
    for (long plane = 0; plane < 3; plane++)
        ck_assert_int_eq(store_check_plane(store, 4, plane), 0);
    ck_assert_int_eq(store_close(store), 0);
}
END_TEST

START_TEST(states_of_a_chunk_are_kept_back_until_its_end)
{
    struct fixture fixture;
    fixture_init(&fixture);
    define(&fixture);
    struct store *store = open_writer();
    store_set_sync(store, true);
    store_begin_chunk(store);
    uint8_t before[3] = {9, 9, 9};
    uint8_t after[3] = {9, 9, 9};
    for (int64_t m = 0; m < 3; m++)
        ck_assert_int_eq(fixture_write_member(&fixture, store, m), 0);
    ck_assert_int_eq(store_read_states(store, 0, 3, before, NULL), 0);
    ck_assert_int_eq(store_end_chunk(store), 0);
    ck_assert_int_eq(store_read_states(store, 0, 3, after, NULL), 0);
    for (int m = 0; m < 3; m++) {
        ck_assert_int_eq(before[m], MEMBER_PENDING);
        ck_assert_int_eq(after[m], MEMBER_DONE);
    }
    ck_assert_int_eq(store_close(store), 0);
}
END_TEST

START_TEST(a_reason_is_cut_between_characters)
{
    struct fixture fixture;
    fixture_init(&fixture);
    define(&fixture);
    struct store *store = open_writer();
    char reason[300];
    memset(reason, 'x', sizeof reason);
    /* 239 bytes of x, then a character of two bytes across the limit of 240 */
    memcpy(reason + 239, "\xc2\xb5 and more", 12);
    ck_assert_int_eq(fixture_end_member(store, 0, MEMBER_FAILED, reason), 0);
    char found[STORE_REASON_SIZE + 1];
    ck_assert_int_eq(read_text_row(store, "member/reason", 0, found, sizeof found), 0);
    ck_assert_uint_eq(strlen(found), 239);
    ck_assert_int_eq(store_close(store), 0);
}
END_TEST

START_TEST(the_step_history_is_kept_up_to_its_length)
{
    struct fixture fixture;
    fixture_init(&fixture);
    define(&fixture);
    struct store *store = open_writer();
    ck_assert_int_eq(fixture_write_member(&fixture, store, 1), 0); /* 20 steps, 16 kept */
    ck_assert_int_eq(fixture_write_member(&fixture, store, 2), 0); /* 3 steps */
    double n[2];
    double truncated[2];
    double accepted[16];
    double error[16];
    ck_assert_int_eq(read_rows(store, "step/n_steps", 1, 2, 2, n), 0);
    ck_assert_int_eq(read_rows(store, "member/history_truncated", 1, 2, 2, truncated), 0);
    ck_assert_int_eq(read_rows(store, "step/accepted", 1, 1, 16, accepted), 0);
    ck_assert_int_eq(read_rows(store, "step/error", 1, 1, 16, error), 0);
    ck_assert(exactly(n[0], 16) && exactly(n[1], 3));
    ck_assert(exactly(truncated[0], 1) && exactly(truncated[1], 0));
    ck_assert(exactly(accepted[3], 0) && exactly(accepted[15], 1));
    ck_assert(exactly(error[15], 0.9 + 0.01 * 15));
    ck_assert_int_eq(store_close(store), 0);
}
END_TEST

START_TEST(short_grids_are_padded_with_nan_and_read_in_their_own_shape)
{
    struct fixture fixture;
    fixture_two_grids(&fixture);
    define(&fixture);
    struct store *store = open_writer();
    const int64_t m = 20; /* second value of a: 5 omega, 2 x */
    ck_assert_msg(fixture_write_member(&fixture, store, m) == 0, "%s", message);
    double map[2 * 5];
    ck_assert_msg(store_read_plane(store, "map", m, 1, 10, map) == 0, "%s", message);
    for (long x = 0; x < 2; x++)
        for (long k = 0; k < 5; k++)
            ck_assert(exactly(map[5 * x + k], fixture_map(m, 1, x, k)));
    ck_assert_int_eq(store_check_plane(store, m, 1), 0);
    double whole[FIXTURE_PLANES * FIXTURE_X * FIXTURE_OMEGA];
    ck_assert_int_eq(read_rows(store, "plane/map", m, 1, FIXTURE_PLANES * 24, whole), 0);
    const double *const plane = whole + 24;
    for (long x = 0; x < FIXTURE_X; x++)
        for (long k = 0; k < FIXTURE_OMEGA; k++)
            ck_assert(isnan(plane[8 * x + k]) == (x >= 2 || k >= 5));
    double *omega = NULL;
    long n = 0;
    ck_assert_int_eq(read_scale(store, "omega", 1, &omega, &n), 0);
    ck_assert_int_eq(n, 8);
    ck_assert(exactly(omega[4], 1104) && isnan(omega[5]));
    mem_free(omega);
    ck_assert_int_eq(store_read_plane(store, "map", m, 1, 24, whole), ERR_ARGUMENT);
    ck_assert_int_eq(store_close(store), 0);
}
END_TEST

START_TEST(float32_fields_are_narrowed_to_the_nearest_float)
{
    struct fixture fixture;
    fixture_init(&fixture);
    fixture.spec.field_float32 = true;
    define(&fixture);
    struct store *store = open_writer();
    ck_assert_int_eq(fixture_write_member(&fixture, store, 3), 0);
    double field[2 * FIXTURE_OMEGA];
    ck_assert_int_eq(store_read_plane(store, "field", 3, 0, FIXTURE_OMEGA, field), 0);
    for (long k = 0; k < FIXTURE_OMEGA; k++) {
        const double exact = fixture_field(3, 0, k, 1);
        ck_assert(!exactly(field[2 * k + 1], exact));
        ck_assert_near(field[2 * k + 1], exact, ldexp(fabs(exact), -24), exact * (1 + 0x1p-23),
                       "one bit of binary32 less");
    }
    double map[24];
    ck_assert_int_eq(store_read_plane(store, "map", 3, 0, 24, map), 0);
    ck_assert(exactly(map[9], fixture_map(3, 0, 1, 1))); /* no field: not narrowed */
    ck_assert_int_eq(store_check_plane(store, 3, 0), 0);
    struct read_dataset info;
    ck_assert_int_eq(read_describe(store, "plane/field", &info), 0);
    ck_assert_int_eq(info.type, ELEMENT_C64);
    ck_assert_int_eq(store_close(store), 0);
}
END_TEST

START_TEST(a_scan_without_fields_or_history_stores_observables_only)
{
    struct fixture fixture;
    fixture_init(&fixture);
    fixture.spec.field = false;
    fixture.spec.history = 0;
    define(&fixture);
    struct store *store = open_writer();
    ck_assert_int_eq(fixture_write_member(&fixture, store, 0), 0);
    ck_assert(!read_exists(store, "plane/field"));
    ck_assert(read_exists(store, "plane/map"));
    ck_assert(!read_exists(store, "step"));
    ck_assert(!read_exists(store, "step/h"));
    ck_assert(!read_exists(store, "ensemble/g12"));
    ck_assert(read_exists(store, "ensemble/n"));
    ck_assert_int_eq(store_close(store), 0);
}
END_TEST

START_TEST(a_dataset_tells_its_dimensions_and_units)
{
    struct fixture fixture;
    fixture_init(&fixture);
    define(&fixture);
    struct store *store = NULL;
    ck_assert_int_eq(store_open_read(path, &store), 0);
    struct read_dataset info;
    ck_assert_int_eq(read_describe(store, "plane/map", &info), 0);
    ck_assert_int_eq(info.dims, 4);
    ck_assert_str_eq(info.name, "map");
    ck_assert_str_eq(info.unit, "K");
    ck_assert_str_eq(info.dim_name[0], "member_id");
    ck_assert_str_eq(info.dim_name[1], "plane_index");
    ck_assert_str_eq(info.dim_name[2], "x");
    ck_assert_str_eq(info.dim_name[3], "omega");
    struct read_dataset *list = NULL;
    int count = 0;
    ck_assert_int_eq(read_list(store, "plane", &list, &count), 0);
    ck_assert_int_eq(count, 6); /* checksum energy field map peak_power z */
    ck_assert_str_eq(list[5].name, "z");
    mem_free(list);
    char text[64];
    ck_assert_int_eq(read_attribute(store, "pulse_b_values", "as_written", text, 64), 0);
    ck_assert_str_eq(text, "[10 fs, 20 fs, 30 fs]");
    ck_assert_int_eq(read_attribute(store, "/", "scan", text, 64), 0);
    ck_assert_str_eq(text, "made-up");
    char *config = NULL;
    ck_assert_int_eq(read_text(store, "config", &config), 0);
    ck_assert_str_eq(config, fixture.spec.config);
    mem_free(config);
    double b[30];
    ck_assert_int_eq(read_rows(store, "member/param/pulse_b", 0, 30, 30, b), 0);
    ck_assert(exactly(b[4], 1e-14) && exactly(b[5], 2e-14) && exactly(b[29], 3e-14));
    ck_assert_int_eq(store_close(store), 0);
}
END_TEST

START_TEST(an_existing_file_is_not_overwritten)
{
    struct fixture fixture;
    fixture_init(&fixture);
    define(&fixture);
    ck_assert_int_eq(store_define(path, &fixture.spec), ERR_CONFLICT);
    ck_assert_ptr_nonnull(strstr(message, "exists already"));
}
END_TEST

START_TEST(a_missing_folder_is_named)
{
    struct fixture fixture;
    fixture_init(&fixture);
    fixture_path(folder, "nowhere/out.h5", path);
    ck_assert_int_eq(store_define(path, &fixture.spec), ERR_IO);
    ck_assert_ptr_nonnull(strstr(message, "nowhere"));
    ck_assert_ptr_nonnull(strstr(message, "No such file or directory"));
}
END_TEST

START_TEST(a_read_only_folder_is_refused)
{
    struct fixture fixture;
    fixture_init(&fixture);
    chmod(folder, 0555);
    /* root may write everywhere: only /proc, which takes no files, refuses it */
    if (access(folder, W_OK) == 0)
        snprintf(path, sizeof path, "/proc/out.h5");
    ck_assert_int_eq(store_define(path, &fixture.spec), ERR_IO);
    ck_assert_ptr_nonnull(strstr(message, "out.h5"));
    chmod(folder, 0755);
}
END_TEST

START_TEST(a_file_that_cannot_fit_is_refused_with_need_and_free_space)
{
    struct fixture fixture;
    fixture_init(&fixture);
    fixture.spec.realisations = INT64_C(1) << 44;
    ck_assert_int_eq(store_define(path, &fixture.spec), ERR_IO);
    ck_assert_ptr_nonnull(strstr(message, path));
    ck_assert_ptr_nonnull(strstr(message, "free"));
    ck_assert(!store_exists(path));
}
END_TEST

START_TEST(the_size_estimate_is_the_size_of_the_file_within_a_tenth)
{
    struct fixture fixture;
    fixture_init(&fixture);
    fixture.spec.realisations = 5000;
    double apparent = 0;
    double data = 0;
    ck_assert_int_eq(store_bytes(&fixture.spec, &apparent, &data), 0);
    define(&fixture);
    struct stat info;
    ck_assert_int_eq(stat(path, &info), 0);
    ck_assert_ratio((double)info.st_size, apparent, 0.1, (double)info.st_size + 0.2 * data,
                    "a fifth of the data stored twice");
    ck_assert_double_lt(data, apparent);
    /* sparse: the disk holds the scales, the member rows and the zeroed commits */
    ck_assert_double_lt(512.0 * (double)info.st_blocks, 0.3 * apparent);
}
END_TEST

/* Bytes that the file has on the disk, and its length. */
static double bytes_on_disk(off_t *length)
{
    struct stat info;
    ck_assert_int_eq(stat(path, &info), 0);
    *length = info.st_size;
    return 512.0 * (double)info.st_blocks;
}

/* Whether this file system takes space for a file on demand. */
static bool takes_space(void)
{
    char other[512];
    fixture_path(folder, "other", other);
    const int fd = open(other, O_CREAT | O_RDWR, 0600);
    ck_assert_int_ge(fd, 0);
    const bool taken = fallocate(fd, FALLOC_FL_KEEP_SIZE, 0, 1 << 20) == 0;
    close(fd);
    unlink(other);
    return taken;
}

START_TEST(space_for_all_planes_of_a_large_member_is_taken_with_its_first)
{
    enum { N = 32768 };
    struct fixture fixture;
    fixture_init(&fixture);
    const double plane = (16.0 + 8.0 * FIXTURE_X) * N;
    for (int a = 0; a < 2; a++)
        fixture.layout.axis[a].length = fixture.grid_layout[0].axis[a].length = N;
    define(&fixture);
    struct store *const store = open_writer();
    struct plane_buffers buffers = {.observable = {1, 2}};
    ck_assert_int_eq(mem_alloc(N, 16, &buffers.array[FIXTURE_FIELD]), 0);
    ck_assert_int_eq(mem_alloc(N, 8L * FIXTURE_X, &buffers.array[FIXTURE_MAP]), 0);
    off_t length = 0;
    off_t later = 0;
    const double before = bytes_on_disk(&length);
    ck_assert_int_eq(store_write_plane(store, 7, &fixture.layout, 0, 0, &buffers), 0);
    const double grown = bytes_on_disk(&later) - before;
    ck_assert_int_eq(later, length);
    const double expected = takes_space() ? FIXTURE_PLANES * plane : plane;
    /* no less, and nothing of the members beside it */
    ck_assert_double_ge(grown, 0.99 * expected);
    ck_assert_double_lt(grown, 1.1 * expected);
    for (long p = 1; p < FIXTURE_PLANES; p++)
        ck_assert_int_eq(store_write_plane(store, 7, &fixture.layout, p, 0, &buffers), 0);
    ck_assert_double_lt(bytes_on_disk(&later) - before, 1.1 * FIXTURE_PLANES * plane);
    ck_assert_int_eq(store_close(store), 0);
    mem_free(buffers.array[FIXTURE_FIELD]);
    mem_free(buffers.array[FIXTURE_MAP]);
}
END_TEST

START_TEST(a_hundred_thousand_members_are_defined_in_seconds)
{
    struct fixture fixture;
    fixture_init(&fixture);
    fixture.spec.realisations = 20000; /* 120 000 members */
    const double start = clock_wall();
    define(&fixture);
    ck_assert_double_lt(clock_wall() - start, 10.0);
}
END_TEST

START_TEST(attempts_are_numbered_and_a_dead_one_is_closed_by_the_next)
{
    struct fixture fixture;
    fixture_init(&fixture);
    define(&fixture);
    const struct store_provenance provenance = {
        .libraries = "a library", .build = "-O3", .layout = "rank 0", .job = "123"};
    int attempt = -1;
    ck_assert_msg(store_begin_attempt(path, &provenance, &attempt) == 0, "%s", message);
    ck_assert_int_eq(attempt, 0);
    ck_assert_msg(store_begin_attempt(path, &provenance, &attempt) == 0, "%s", message);
    ck_assert_int_eq(attempt, 1);
    ck_assert_int_eq(store_finish(path, 1, 75, "stopped on request"), 0);
    ck_assert_int_eq(store_finish(path, 1, 0, "again"), 0); /* changes nothing */
    struct store *store = NULL;
    ck_assert_int_eq(store_open_read(path, &store), 0);
    char text[2][STORE_REASON_SIZE + 1];
    double code[2];
    for (int64_t i = 0; i < 2; i++)
        ck_assert_int_eq(read_text_row(store, "provenance/attempt/reason", i, text[i], 241), 0);
    ck_assert_int_eq(read_rows(store, "provenance/attempt/exit_code", 0, 2, 2, code), 0);
    ck_assert_str_eq(text[0], "ended without a record");
    ck_assert_str_eq(text[1], "stopped on request");
    ck_assert(exactly(code[0], -1) && exactly(code[1], 75));
    char *libraries = NULL;
    ck_assert_int_eq(read_text(store, "provenance/libraries", &libraries), 0);
    ck_assert_str_eq(libraries, "a library");
    mem_free(libraries);
    ck_assert_int_eq(store_close(store), 0);
}
END_TEST

START_TEST(attempts_beyond_the_table_take_the_oldest_rows)
{
    struct fixture fixture;
    fixture_init(&fixture);
    define(&fixture);
    const struct store_provenance provenance = {.libraries = ""};
    int attempt = -1;
    for (int i = 0; i <= STORE_ATTEMPT_ROWS; i++) {
        ck_assert_int_eq(store_begin_attempt(path, &provenance, &attempt), 0);
        ck_assert_int_eq(attempt, i);
        ck_assert_int_eq(store_finish(path, attempt, 0, ""), 0);
    }
}
END_TEST

START_TEST(complete_is_set_when_nothing_is_pending)
{
    struct fixture fixture;
    fixture_init(&fixture);
    define(&fixture);
    double complete[2] = {9, 9};
    for (int round = 0; round < 2; round++) {
        struct store *store = open_writer();
        for (int64_t m = round; m < 30; m += 2)
            ck_assert_int_eq(fixture_end_member(store, m, MEMBER_DONE, ""), 0);
        ck_assert_int_eq(store_close(store), 0);
        ck_assert_int_eq(store_finish(path, -1, 0, ""), 0);
        ck_assert_int_eq(store_open_read(path, &store), 0);
        ck_assert_int_eq(read_rows(store, "complete", 0, 1, 1, &complete[round]), 0);
        ck_assert_int_eq(store_close(store), 0);
    }
    ck_assert(exactly(complete[0], 0) && exactly(complete[1], 1));
}
END_TEST

START_TEST(timings_of_workers_are_kept_by_rank)
{
    struct fixture fixture;
    fixture_init(&fixture);
    define(&fixture);
    struct store *store = open_writer();
    const struct store_timing timing = {
        .load = 1, .advance = 20, .host = 0.5, .output = 3, .mpi = 2, .idle = 4, .total = 30.5};
    ck_assert_int_eq(store_write_timing(store, 0, 5, &timing), 0);
    ck_assert_int_eq(store_write_timing(store, 0, STORE_TIMING_ROWS, &timing), 0);
    double advance = 0;
    double attempt = 0;
    ck_assert_int_eq(read_rows(store, "timing/advance", 5, 1, 1, &advance), 0);
    ck_assert_int_eq(read_rows(store, "timing/attempt", 5, 1, 1, &attempt), 0);
    ck_assert(exactly(advance, 20) && exactly(attempt, 1));
    ck_assert_int_eq(store_close(store), 0);
}
END_TEST

static Suite *store_suite(void)
{
    Suite *const suite = suite_create("store");
    TCase *const tests = tcase_create("store");
    tcase_add_checked_fixture(tests, setup, teardown);
    tcase_set_timeout(tests, 100);
    tcase_add_test(tests, a_new_file_has_nothing_saved_and_every_member_pending);
    tcase_add_test(tests, what_was_written_is_read_back_bit_for_bit);
    tcase_add_test(tests, planes_are_counted_one_by_one_and_the_state_comes_at_the_end);
    tcase_add_test(tests, planes_in_quick_succession_wait_until_something_else_is_written);
    tcase_add_test(tests, members_of_one_plane_wait_together_when_they_are_neighbours);
    tcase_add_test(tests, planes_that_waited_are_the_bytes_of_planes_that_did_not);
    tcase_add_test(tests, states_of_a_chunk_are_kept_back_until_its_end);
    tcase_add_test(tests, a_reason_is_cut_between_characters);
    tcase_add_test(tests, the_step_history_is_kept_up_to_its_length);
    tcase_add_test(tests, short_grids_are_padded_with_nan_and_read_in_their_own_shape);
    tcase_add_test(tests, float32_fields_are_narrowed_to_the_nearest_float);
    tcase_add_test(tests, a_scan_without_fields_or_history_stores_observables_only);
    tcase_add_test(tests, a_dataset_tells_its_dimensions_and_units);
    tcase_add_test(tests, an_existing_file_is_not_overwritten);
    tcase_add_test(tests, a_missing_folder_is_named);
    tcase_add_test(tests, a_read_only_folder_is_refused);
    tcase_add_test(tests, a_file_that_cannot_fit_is_refused_with_need_and_free_space);
    tcase_add_test(tests, the_size_estimate_is_the_size_of_the_file_within_a_tenth);
    tcase_add_test(tests, space_for_all_planes_of_a_large_member_is_taken_with_its_first);
    tcase_add_test(tests, a_hundred_thousand_members_are_defined_in_seconds);
    tcase_add_test(tests, attempts_are_numbered_and_a_dead_one_is_closed_by_the_next);
    tcase_add_test(tests, attempts_beyond_the_table_take_the_oldest_rows);
    tcase_add_test(tests, complete_is_set_when_nothing_is_pending);
    tcase_add_test(tests, timings_of_workers_are_kept_by_rank);
    suite_add_tcase(suite, tests);
    return suite;
}

int main(void)
{
    return unit_main(store_suite());
}
