/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <check.h>
#include <hdf5.h>

#include "io/store.h"
#include "kernels/base/mem.h"
#include "kernels/base/status.h"
#include "tests/exact.h"
#include "tests/io/refusal.h"
#include "tests/unit_main.h"

/* A writer that tells each plane through a pipe and never ends by itself. */
static void write_for_ever(int pipe_end)
{
    struct store *store = NULL;
    if (store_open(path, &store) != 0)
        _exit(1);
    for (int64_t member = 0;; member = (member + 1) % store_members(store)) {
        if (store_reset_member(store, member) != 0)
            _exit(2);
        for (long plane = 0; plane < FIXTURE_PLANES; plane++) {
            if (fixture_write_plane(&fixture, store, member, plane) != 0
                || write(pipe_end, "p", 1) != 1)
                _exit(3);
        }
    }
}

/* Every counted plane of the file must be right. Returns how many there are. */
static int check_counted(void)
{
    struct store *store = NULL;
    ck_assert_msg(store_open_read(path, &store) == 0, "%s", message);
    int planes = 0;
    for (int64_t m = 0; m < store_members(store); m++) {
        int64_t saved = 0;
        ck_assert_int_eq(store_read_states(store, m, 1, NULL, &saved), 0);
        for (long plane = 0; plane < saved; plane++, planes++) {
            ck_assert_msg(store_check_plane(store, m, plane) == 0, "%s", message);
            double field[2 * FIXTURE_OMEGA];
            ck_assert_int_eq(store_read_plane(store, "field", m, plane, FIXTURE_OMEGA, field),
                             0);
            ck_assert(exactly(field[5], fixture_field(m, plane, 2, 1)));
        }
    }
    ck_assert_int_eq(store_close(store), 0);
    return planes;
}

START_TEST(a_killed_writer_leaves_a_file_whose_counted_planes_are_right)
{
    ck_assert_int_eq(store_define(path, &fixture.spec), 0);
    int ends[2];
    ck_assert_int_eq(pipe(ends), 0);
    const pid_t child = fork();
    if (child == 0) {
        close(ends[0]);
        write_for_ever(ends[1]);
    }
    close(ends[1]);
    /* A different moment each time: the writer goes on while we decide. */
    const int planes = 5 + 7 * _i;
    char byte;
    for (int i = 0; i < planes; i++)
        ck_assert_int_eq(read(ends[0], &byte, 1), 1);
    ck_assert_int_eq(kill(child, SIGKILL), 0);
    int status = 0;
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    close(ends[0]);
    ck_assert(WIFSIGNALED(status));
    ck_assert_int_ge(check_counted(), 1);
    /* … and the next attempt can go on with it. */
    ck_assert_msg(store_compare(path, &fixture.spec) == 0, "%s", message);
    struct store *store = NULL;
    ck_assert_int_eq(store_open(path, &store), 0);
    ck_assert_int_eq(fixture_write_member(&fixture, store, 0), 0);
    ck_assert_int_eq(store_close(store), 0);
    ck_assert_int_ge(check_counted(), FIXTURE_PLANES);
}
END_TEST

START_TEST(a_reader_may_look_while_a_writer_writes)
{
    ck_assert_int_eq(store_define(path, &fixture.spec), 0);
    struct store *store = NULL;
    ck_assert_int_eq(store_open(path, &store), 0);
    for (int64_t m = 0; m < 3; m++)
        ck_assert_int_eq(fixture_write_member(&fixture, store, m), 0);
    /* Another process: HDF5 shares a file that the same process has open. */
    const pid_t child = fork();
    if (child == 0) {
        struct store *reader = NULL;
        uint8_t state[4];
        if (store_open_read(path, &reader) != 0
            || store_read_states(reader, 0, 4, state, NULL) != 0)
            _exit(1);
        _exit(state[2] == MEMBER_DONE && state[3] == MEMBER_PENDING
                      && store_check_plane(reader, 2, 3) == 0
                  ? 0
                  : 2);
    }
    int status = -1;
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_int_eq(status, 0);
    ck_assert_int_eq(store_close(store), 0);
}
END_TEST

/* Byte offset of a dataset, by HDF5's own word. */
static off_t offset_of(const char *name)
{
    const hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
    const hid_t dataset = H5Dopen2(file, name, H5P_DEFAULT);
    const haddr_t offset = H5Dget_offset(dataset);
    H5Dclose(dataset);
    H5Fclose(file);
    ck_assert(offset != HADDR_UNDEF);
    return (off_t)offset;
}

START_TEST(one_flipped_bit_breaks_the_checksum_of_its_plane_only)
{
    static const char *const names[] = {"plane/field", "plane/map", "plane/energy", "plane/z",
                                        "plane/checksum"};
    static const long sizes[] = {16 * FIXTURE_OMEGA, 8 * FIXTURE_X * FIXTURE_OMEGA, 8, 8, 8};
    ck_assert_int_eq(store_define(path, &fixture.spec), 0);
    struct store *store = NULL;
    ck_assert_int_eq(store_open(path, &store), 0);
    ck_assert_int_eq(fixture_write_member(&fixture, store, 3), 0);
    ck_assert_int_eq(store_close(store), 0);
    const int fd = open(path, O_RDWR);
    const off_t at =
        offset_of(names[_i]) + (3 * FIXTURE_PLANES + 2) * sizes[_i] + sizes[_i] - 1;
    unsigned char byte = 0;
    ck_assert_int_eq(pread(fd, &byte, 1, at), 1);
    byte ^= 1;
    ck_assert_int_eq(pwrite(fd, &byte, 1, at), 1);
    close(fd);
    ck_assert_int_eq(store_open_read(path, &store), 0);
    ck_assert_int_eq(store_check_plane(store, 3, 1), 0);
    ck_assert_int_eq(store_check_plane(store, 3, 3), 0);
    ck_assert_int_eq(store_check_plane(store, 3, 2), ERR_IO);
    ck_assert_ptr_nonnull(strstr(message, "plane 2 of member 3"));
    ck_assert_int_eq(store_close(store), 0);
}
END_TEST

START_TEST(the_checksum_depends_on_member_and_plane)
{
    ck_assert_int_eq(store_define(path, &fixture.spec), 0);
    struct store *store = NULL;
    ck_assert_int_eq(store_open(path, &store), 0);
    const struct plane_layout *const layout = fixture_layout(&fixture, 0);
    double field[2 * FIXTURE_OMEGA] = {0};
    double map[FIXTURE_X * FIXTURE_OMEGA] = {0};
    const struct plane_buffers same = {.array = {field, map}};
    ck_assert_int_eq(store_write_plane(store, 0, layout, 0, 0, &same), 0);
    ck_assert_int_eq(store_write_plane(store, 0, layout, 1, 0, &same), 0);
    ck_assert_int_eq(store_write_plane(store, 1, layout, 0, 0, &same), 0);
    double sum[3];
    ck_assert_int_eq(store_read_plane(store, "checksum", 0, 0, 1, &sum[0]), 0);
    ck_assert_int_eq(store_read_plane(store, "checksum", 0, 1, 1, &sum[1]), 0);
    ck_assert_int_eq(store_read_plane(store, "checksum", 1, 0, 1, &sum[2]), 0);
    ck_assert(!exactly(sum[0], sum[1]) && !exactly(sum[0], sum[2]) && !exactly(sum[1], sum[2]));
    ck_assert_int_eq(store_close(store), 0);
}
END_TEST

START_TEST(a_write_beyond_the_file_size_limit_names_path_and_errno)
{
    ck_assert_int_eq(store_define(path, &fixture.spec), 0);
    struct store *store = NULL;
    ck_assert_int_eq(store_open(path, &store), 0);
    ck_assert_int_eq(fixture_write_plane(&fixture, store, 0, 0), 0);
    signal(SIGXFSZ, SIG_IGN);
    const struct rlimit limit = {4096, RLIM_INFINITY};
    ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
    message[0] = '\0';
    status_capture(message, sizeof message);
    ck_assert_int_eq(fixture_write_plane(&fixture, store, 0, 1), ERR_IO);
    char number[32];
    snprintf(number, sizeof number, "errno %d", EFBIG);
    ck_assert_msg(strstr(message, path) != NULL && strstr(message, number) != NULL, "%s",
                  message);
    int64_t saved = 0;
    ck_assert_int_eq(store_read_states(store, 0, 1, NULL, &saved), 0);
    ck_assert_int_eq(saved, 1); /* not counted */
    store_close(store);
}
END_TEST

START_TEST(a_file_size_limit_below_the_file_is_refused_beforehand)
{
    signal(SIGXFSZ, SIG_IGN);
    const struct rlimit limit = {300000, RLIM_INFINITY};
    ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
    fixture.spec.check_space = false;
    ck_assert_int_eq(store_define(path, &fixture.spec), ERR_IO);
    ck_assert_ptr_nonnull(strstr(message, "the file size limit (ulimit -f) is 300 kB"));
    ck_assert(!store_exists(path));
}
END_TEST

/* A file system of a few blocks in a mount namespace of this process: needs root. */
static bool small_disk(const char *size)
{
    char options[64];
    snprintf(options, sizeof options, "size=%s", size);
    return geteuid() == 0 && unshare(CLONE_NEWNS) == 0
           && mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0
           && mount("tmpfs", folder, "tmpfs", 0, options) == 0;
}

START_TEST(a_disk_that_fills_up_names_path_and_errno_and_keeps_what_was_counted)
{
    if (!small_disk("1m"))
        return; /* not root: the file size limit above stands in */
    fixture.spec.realisations = 5000;
    fixture.spec.history = 0;
    ck_assert_int_eq(store_define(path, &fixture.spec), ERR_IO); /* refused beforehand … */
    ck_assert_ptr_nonnull(strstr(message, "free"));
    fixture.spec.check_space = false; /* … unless told */
    fixture.spec.realisations = 100;
    status_capture(message, sizeof message);
    ck_assert_msg(store_define(path, &fixture.spec) == 0, "%s", message);
    struct store *store = NULL;
    ck_assert_int_eq(store_open(path, &store), 0);
    int rc = 0;
    int64_t member = 0;
    while (rc == 0 && member < store_members(store))
        rc = fixture_write_member(&fixture, store, member++);
    char number[32];
    snprintf(number, sizeof number, "errno %d", ENOSPC);
    ck_assert_int_eq(rc, ERR_IO);
    ck_assert_msg(strstr(message, path) != NULL && strstr(message, number) != NULL, "%s",
                  message);
    store_close(store);
    ck_assert_int_ge(check_counted(), 1);
}
END_TEST

START_TEST(a_definition_that_fails_leaves_no_file)
{
    /* The disk is full at another call each time; HDF5 must not crash at exit either. */
    static const char *const sizes[] = {"4k", "64k", "96k", "128k", "148k", "160k"};
    if (!small_disk(sizes[_i]))
        return;
    fixture.spec.check_space = false;
    ck_assert_int_eq(store_define(path, &fixture.spec), ERR_IO);
    ck_assert_msg(strstr(message, path) != NULL && strstr(message, "No space left") != NULL,
                  "%s", message);
    ck_assert(!store_exists(path));
}
END_TEST

static Suite *faults_suite(void)
{
    Suite *const suite = suite_create("faults");
    TCase *const tests = tcase_create("faults");
    tcase_add_checked_fixture(tests, setup, teardown);
    tcase_set_timeout(tests, 100);
    tcase_add_loop_test(tests, a_killed_writer_leaves_a_file_whose_counted_planes_are_right, 0,
                        12);
    tcase_add_test(tests, a_reader_may_look_while_a_writer_writes);
    tcase_add_loop_test(tests, one_flipped_bit_breaks_the_checksum_of_its_plane_only, 0, 5);
    tcase_add_test(tests, the_checksum_depends_on_member_and_plane);
    tcase_add_test(tests, a_write_beyond_the_file_size_limit_names_path_and_errno);
    tcase_add_test(tests, a_file_size_limit_below_the_file_is_refused_beforehand);
    tcase_add_test(tests, a_disk_that_fills_up_names_path_and_errno_and_keeps_what_was_counted);
    tcase_add_loop_test(tests, a_definition_that_fails_leaves_no_file, 0, 6);
    suite_add_tcase(suite, tests);
    return suite;
}

int main(void)
{
    return unit_main(faults_suite());
}
