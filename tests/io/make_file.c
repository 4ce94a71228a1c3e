/* SPDX-License-Identifier: GPL-3.0-or-later */

/*
 * Result files for check_file: io_make_file PATH one|two|float32 makes a whole one, members 4
 * and 17 failed; `forever` is an MPI program that writes until it is killed and says so on
 * stdout: its pid once, then a dot for each plane.
 */

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <mpi.h>

#include "io/reduce.h"
#include "io/store.h"
#include "kernels/base/status.h"
#include "tests/io/fixture.h"

static int make_whole(const char *path, const char *kind)
{
    struct fixture fixture;
    fixture_init(&fixture);
    if (strcmp(kind, "two") == 0)
        fixture_two_grids(&fixture);
    fixture.spec.field_float32 = strcmp(kind, "float32") == 0;
    TRY(store_define(path, &fixture.spec));
    const struct store_provenance provenance = {.libraries = "libraries",
                                                .build = "build",
                                                .layout = "rank 0",
                                                .wisdom = "(fftw-3.3.10 wisdom)",
                                                .thresholds = "column_shares = 7\n"};
    int attempt = 0;
    TRY(store_begin_attempt(path, &provenance, &attempt));
    struct store *store = NULL;
    TRY(store_open(path, &store));
    for (int64_t m = 0; m < store_members(store); m++) {
        if (m == 4 || m == 17) {
            TRY(fixture_write_plane(&fixture, store, m, 0));
            TRY(fixture_end_member(store, m, MEMBER_FAILED, "diverged at 1 \xc2\xb5m"));
        } else {
            TRY(fixture_write_member(&fixture, store, m));
        }
    }
    struct reduce_result result;
    for (int64_t p = 0; p < store_points(store); p++)
        TRY(reduce_point(store, p, &result));
    TRY(store_close(store));
    return store_finish(path, attempt, 1, "2 members failed");
}

/* Rank 0 defines; then every rank writes its own members over and over. */
static int write_for_ever(const char *path)
{
    int rank = 0;
    int size = 1;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    struct fixture fixture;
    fixture_init(&fixture);
    if (rank == 0)
        TRY(store_define(path, &fixture.spec));
    MPI_Barrier(MPI_COMM_WORLD);
    struct store *store = NULL;
    TRY(store_open(path, &store));
    dprintf(STDOUT_FILENO, "%ld\n", (long)getpid());
    for (int64_t m = rank;; m = m + size < store_members(store) ? m + size : rank) {
        TRY(store_reset_member(store, m));
        for (long plane = 0; plane < FIXTURE_PLANES; plane++) {
            TRY(fixture_write_plane(&fixture, store, m, plane));
            dprintf(STDOUT_FILENO, ".\n");
        }
    }
}

int main(int argc, char **argv)
{
    if (argc != 3)
        return 2;
    if (strcmp(argv[2], "forever") != 0)
        return status_exit_code(make_whole(argv[1], argv[2]));
    MPI_Init(&argc, &argv);
    return status_exit_code(write_for_ever(argv[1]));
}
