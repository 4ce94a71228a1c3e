/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The store against raw MPI-IO, in one process and in turns: planes of 4 KiB, 64 KiB and 1 MiB
 * committed by store_write_plane, and the same bytes by MPI_File_write_at alone; each worker
 * into its own part of a file that all share. Then the time to make a file of many members.
 * bench/store starts it:
 *
 *   mpirun -n WORKERS bench_store_planes FOLDER [--rounds N] [--bytes B] [--create MEMBERS]
 *
 * B: bytes that one worker writes in one round. Rank 0 prints one JSON object.
 */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <mpi.h>

#include "io/store.h"
#include "kernels/base/clock.h"
#include "kernels/base/log.h"
#include "kernels/base/mem.h"
#include "kernels/base/status.h"
#include "runner/comm.h"
#include "runner/spec.h"
#include "scans/scan.h"

#define ROUNDS_MAX 100
#define TEXT_MAX   1024
#define SPAN       10e-3

struct bench {
    int rank, size;
    const char *folder;
    long rounds;
    long bytes;
    long create; /* members of the file that is only made; 0: none */
    char path[512];
    char raw_path[512];
};

/* A scan with planes of a certain size, its file and the raw one beside it. */
struct trial {
    long size; /* bytes of a plane */
    long planes;
    struct scan *scan;
    struct store *store;
    MPI_File raw;
    struct plane_layout layout;
    struct plane_buffers buffers;
    double raw_s[ROUNDS_MAX]; /* a plane, mean of the workers */
    double store_s[ROUNDS_MAX];
};

static int read_options(int argc, char **argv, struct bench *b)
{
    static const struct option known[] = {{"rounds", required_argument, NULL, 'r'},
                                          {"bytes", required_argument, NULL, 'b'},
                                          {"create", required_argument, NULL, 'c'},
                                          {NULL, 0, NULL, 0}};
    b->rounds = 25;
    b->bytes = 16L << 20;
    b->create = 100000;
    for (int c = 0; (c = getopt_long(argc, argv, "", known, NULL)) != -1;) {
        if (c == '?')
            return ERR_ARGUMENT;
        long *const value = c == 'r' ? &b->rounds : c == 'b' ? &b->bytes : &b->create;
        *value = strtol(optarg, NULL, 10);
    }
    if (argc - optind != 1 || b->rounds < 1 || b->rounds > ROUNDS_MAX || b->bytes < 1)
        FAIL(ERR_ARGUMENT,
             "usage: bench_store_planes FOLDER [--rounds 1..%d] [--bytes B] [--create MEMBERS]",
             ROUNDS_MAX);
    b->folder = argv[optind];
    snprintf(b->path, sizeof b->path, "%s/bench_store.h5", b->folder);
    snprintf(b->raw_path, sizeof b->raw_path, "%s/bench_store.raw", b->folder);
    return 0;
}

/* Rank 0 makes a scan's file. @param seconds receives the time of store_define alone */
static int make_file(const struct bench *b, const struct scan *scan, double *seconds)
{
    struct spec *spec = NULL;
    unlink(b->path);
    TRY(spec_create(scan, &spec));
    spec->store.check_space = false;
    const double begin = clock_wall();
    const int rc = store_define(b->path, &spec->store);
    *seconds = clock_wall() - begin;
    spec_destroy(spec);
    return rc;
}

static int make_raw(const struct bench *b, const struct trial *t)
{
    FILE *const file = fopen(b->raw_path, "w");
    const long length = b->rounds * b->size * t->planes * t->size;
    if (file == NULL || ftruncate(fileno(file), length) != 0)
        FAIL(ERR_IO, "%s: %s", b->raw_path, strerror(errno));
    fclose(file);
    return 0;
}

static int parse(const char *text, struct scan **out)
{
    return scan_parse(text, strlen(text), "bench", NULL, 0, out);
}

static int open_trial(const struct bench *b, struct trial *t)
{
    char text[TEXT_MAX];
    struct params params = {0};
    t->planes = b->bytes / t->size > 1 ? b->bytes / t->size : 2;
    snprintf(text, sizeof text,
             "scan: bench\nmodel: probe\nparameters: {size: %ld}\n"
             "axes: [{a: {from: 0, to: %ld, points: %ld}}]\n"
             "save: {planes: %ld, field: true, observables: all}\nstore: {history: 0}\n",
             t->size / 8, b->rounds * b->size, b->rounds * b->size, t->planes);
    TRY(parse(text, &t->scan));
    double seconds = 0;
    int rc = 0;
    if (b->rank == 0)
        rc = make_file(b, t->scan, &seconds);
    if (b->rank == 0 && rc == 0)
        rc = make_raw(b, t);
    MPI_Bcast(&rc, 1, MPI_INT, 0, MPI_COMM_WORLD);
    TRY(rc);
    TRY(scan_params_init(t->scan, &params));
    scan_point(t->scan, 0, &params);
    rc = scan_model(t->scan)->layout(&params, &t->layout);
    params_clear(&params);
    TRY(rc);
    TRY(mem_alloc(t->size, 1, &t->buffers.array[0]));
    for (long i = 0; i < t->size / 8; i++)
        ((double *)t->buffers.array[0])[i] = (double)(i * (b->rank + 1));
    TRY(store_open(b->path, &t->store));
    TRY(store_set_planes_span(t->store, SPAN)); /* as workers do */
    return comm_check(
        MPI_File_open(MPI_COMM_SELF, b->raw_path, MPI_MODE_WRONLY, MPI_INFO_NULL, &t->raw),
        "opening the raw file");
}

static int close_trial(const struct bench *b, struct trial *t)
{
    const int rc = store_close(t->store);
    MPI_File_close(&t->raw);
    mem_free(t->buffers.array[0]);
    scan_destroy(t->scan);
    MPI_Barrier(MPI_COMM_WORLD);
    if (b->rank == 0) {
        unlink(b->path);
        unlink(b->raw_path);
    }
    return rc;
}

static int write_raw(struct trial *t, int64_t member)
{
    for (long p = 0; p < t->planes; p++)
        TRY(comm_check(MPI_File_write_at(t->raw, (member * t->planes + p) * t->size,
                                         t->buffers.array[0], (int)t->size, MPI_BYTE,
                                         MPI_STATUS_IGNORE),
                       "writing raw"));
    return 0;
}

static int write_store(struct trial *t, int64_t member)
{
    for (long p = 0; p < t->planes; p++)
        TRY(store_write_plane(t->store, member, &t->layout, p, (double)p, &t->buffers));
    return 0;
}

/* Seconds a plane that one way of writing takes, mean of the workers. */
static int time_one(const struct bench *b, struct trial *t, int64_t member, bool raw,
                    double *seconds)
{
    MPI_Barrier(MPI_COMM_WORLD);
    const double begin = clock_wall();
    TRY(raw ? write_raw(t, member) : write_store(t, member));
    const double mine = (clock_wall() - begin) / (double)t->planes;
    double sum = 0;
    MPI_Allreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    *seconds = sum / b->size;
    return 0;
}

/* In turns; who begins alternates. */
static int run_trial(const struct bench *b, struct trial *t)
{
    for (long r = 0; r < b->rounds; r++) {
        const int64_t member = r * b->size + b->rank;
        const bool first = r % 2 == 0;
        TRY(time_one(b, t, member, first, first ? &t->raw_s[r] : &t->store_s[r]));
        TRY(time_one(b, t, member, !first, first ? &t->store_s[r] : &t->raw_s[r]));
    }
    return 0;
}

static void print_list(const char *name, const double *values, long count)
{
    printf(", \"%s\": [", name);
    for (long i = 0; i < count; i++)
        printf("%s%.6g", i > 0 ? ", " : "", values[i]);
    printf("]");
}

static int bench_size(const struct bench *b, long size)
{
    struct trial t = {.size = size};
    TRY(open_trial(b, &t));
    TRY(run_trial(b, &t));
    if (b->rank == 0) {
        printf("%s{\"plane_bytes\": %ld, \"planes\": %ld", size > 4096 ? ", " : "", size,
               t.planes);
        print_list("raw_s", t.raw_s, b->rounds);
        print_list("store_s", t.store_s, b->rounds);
        printf("}");
    }
    return close_trial(b, &t);
}

/* Time to make a file, on rank 0. */
static int bench_create(const struct bench *b, const char *name, const char *format)
{
    char text[TEXT_MAX];
    struct scan *scan = NULL;
    double seconds = 0;
    snprintf(text, sizeof text, format, b->create - 1, b->create);
    TRY(parse(text, &scan));
    const int rc = make_file(b, scan, &seconds);
    const int64_t members = scan_members(scan);
    scan_destroy(scan);
    unlink(b->path);
    printf("%s{\"model\": \"%s\", \"members\": %" PRId64 ", \"seconds\": %.6g}",
           strcmp(name, "probe") != 0 ? ", " : "", name, members, seconds);
    return rc;
}

static int bench_all(const struct bench *b)
{
    static const long sizes[] = {4096, 65536, 1048576};
    if (b->rank == 0)
        printf("{\"workers\": %d, \"planes\": [", b->size);
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
        TRY(bench_size(b, sizes[i]));
    if (b->rank > 0)
        return 0;
    printf("], \"create\": [");
    if (b->create > 0) {
        TRY(bench_create(b, "probe",
                         "scan: bench\nmodel: probe\naxes: [{a: {from: 0, to: %ld, points: "
                         "%ld}}]\n"));
        TRY(bench_create(b, "gnlse",
                         "scan: bench\nmodel: gnlse\nparameters: {length: 15 cm, wavelength: "
                         "835 nm, betas: [-11.83 ps^2/km], gamma: 0.11 W^-1 m^-1, pulse: "
                         "{duration: 50 fs, peak_power: 10 kW}, grid: {points: 8192, window: "
                         "12.5 ps}}\n"
                         "ensemble: {seed: %ld, realisations: %ld, noise: one_photon}\n"));
    }
    printf("]}\n");
    return 0;
}

int main(int argc, char **argv)
{
    struct bench b = {0};
    int provided = 0;
    log_set_level(LOG_ERROR);
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &b.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &b.size);
    int rc = read_options(argc, argv, &b);
    if (rc == 0)
        rc = bench_all(&b);
    if (rc != 0)
        MPI_Abort(MPI_COMM_WORLD, status_exit_code(rc));
    MPI_Finalize();
    return 0;
}
