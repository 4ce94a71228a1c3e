/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include <check.h>
#include <mpi.h>

#include "io/reduce.h"
#include "io/store.h"
#include "kernels/base/mem.h"
#include "kernels/base/status.h"
#include "tests/io/fixture.h"
#include "tests/mpi_main.h"

static int rank;
static int size;
static char folder[256];
static char path[512];
static struct fixture fixture;

/* One file for all ranks, defined by rank 0. Returns the definition's code on every rank. */
static int define_together(void)
{
    int rc = 0;
    fixture_init(&fixture);
    if (rank == 0)
        fixture_folder(folder);
    MPI_Bcast(folder, sizeof folder, MPI_CHAR, 0, MPI_COMM_WORLD);
    fixture_path(folder, "out.h5", path);
    if (rank == 0)
        rc = store_define(path, &fixture.spec);
    MPI_Bcast(&rc, 1, MPI_INT, 0, MPI_COMM_WORLD);
    return rc;
}

static void remove_together(void)
{
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        fixture_folder_remove(folder);
}

START_TEST(ranks_write_their_own_rows_at_the_same_time_without_a_collective_call)
{
    const int defined = define_together();
    struct store *store = NULL;
    int opened = store_open(path, &store);
    int written = 0;
    for (int64_t m = rank; opened == 0 && written == 0 && m < 30; m += size)
        written = fixture_write_member(&fixture, store, m);
    /* A rank that is through may reduce and close while the others still write. */
    const int closed = store_close(store);
    MPI_Barrier(MPI_COMM_WORLD);
    int checked = store_open(path, &store);
    int done = 0;
    for (int64_t m = 0; checked == 0 && m < 30; m++) {
        uint8_t state = 0;
        int64_t saved = 0;
        checked = store_read_states(store, m, 1, &state, &saved);
        done += state == MEMBER_DONE && saved == FIXTURE_PLANES;
        for (long plane = 0; checked == 0 && plane < saved; plane++)
            checked = store_check_plane(store, m, plane);
    }
    struct reduce_result result = {0};
    int reduced = 0;
    for (int64_t p = rank; reduced == 0 && p < 6; p += size)
        reduced = reduce_point(store, p, &result);
    store_close(store);
    remove_together();
    ck_assert_int_eq(defined, 0);
    ck_assert_int_eq(opened, 0);
    ck_assert_int_eq(written, 0);
    ck_assert_int_eq(closed, 0);
    ck_assert_int_eq(checked, 0);
    ck_assert_int_eq(done, 30);
    ck_assert_int_eq(reduced, 0);
    ck_assert_int_eq(result.n, rank < 6 ? 5 : 0);
    ck_assert_int_eq(mem_live(), 0);
}
END_TEST

START_TEST(a_failed_write_through_mpi_io_names_path_and_errno)
{
    const int defined = define_together();
    struct store *store = NULL;
    const int opened = store_open(path, &store);
    const int before = fixture_write_plane(&fixture, store, rank, 0);
    struct rlimit old;
    getrlimit(RLIMIT_FSIZE, &old);
    const struct rlimit limit = {4096, old.rlim_max};
    signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &limit);
    char message[1000] = "";
    status_capture(message, sizeof message);
    const int failed = fixture_write_plane(&fixture, store, rank, 1);
    status_capture(NULL, 0);
    setrlimit(RLIMIT_FSIZE, &old);
    int64_t saved = 0;
    const int read = store_read_states(store, rank, 1, NULL, &saved);
    store_close(store);
    remove_together();
    char number[32];
    snprintf(number, sizeof number, "errno %d", EFBIG);
    ck_assert_int_eq(defined, 0);
    ck_assert_int_eq(opened, 0);
    ck_assert_int_eq(before, 0);
    ck_assert_int_eq(failed, ERR_IO);
    ck_assert_msg(strstr(message, path) != NULL && strstr(message, number) != NULL, "%s",
                  message);
    ck_assert_int_eq(read, 0);
    ck_assert_int_eq(saved, 1);
}
END_TEST

static Suite *store_suite(void)
{
    Suite *const suite = suite_create("store_mpi");
    TCase *const tests = tcase_create("store_mpi");
    tcase_add_test(tests,
                   ranks_write_their_own_rows_at_the_same_time_without_a_collective_call);
    tcase_add_test(tests, a_failed_write_through_mpi_io_names_path_and_errno);
    suite_add_tcase(suite, tests);
    return suite;
}

int main(int argc, char **argv)
{
    int provided = 0;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    const int rc = mpi_main(store_suite());
    MPI_Finalize();
    return rc;
}
