/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Many small shards of one scan for bench/collect, one member with 4 KiB of data each. The
 * first is made by the store; the others are its bytes with the numbers of another member and,
 * by HDF5, the attributes of another shard. A run of each would take days.
 *
 *   bench_collect_files FOLDER SHARDS
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <hdf5.h>

#include "io/h5.h"
#include "io/hash.h"
#include "io/store.h"
#include "io/twin.h"
#include "kernels/base/mem.h"
#include "kernels/base/shard_name.h"
#include "kernels/base/status.h"
#include "runner/spec.h"
#include "scans/scan.h"

#define PLANES 8
#define SIZE   64  /* doubles of a plane */
#define EACH   100 /* values of the fast axis */
#define BLOCK  4096

/* Places in the file that differ from shard to shard. */
enum place {
    MEMBER_ID,
    IDENTITY,
    SEED,
    POINT,
    SLOW,
    FAST,
    PROGRESS,
    DATA,
    CODE,
    CHECKSUM,
    PLACES
};

struct bench {
    const char *folder;
    long shards;
    struct scan *scan;
    struct spec *spec;
    char *image; /* the first shard's file */
    size_t size;
    int64_t place[PLACES];
};

static int read_scan(struct bench *b)
{
    char text[512];
    snprintf(
        text, sizeof text,
        "scan: collected\nmodel: probe\nparameters: {size: %d}\n"
        "axes:\n  - b: {from: 0, to: %ld, points: %ld}\n  - c: {from: 0, to: %d, points: %d}\n"
        "save: {planes: %d, field: true, observables: all}\nstore: {history: 0}\n",
        SIZE, b->shards / EACH - 1, b->shards / EACH, EACH - 1, EACH, PLANES);
    TRY(scan_parse(text, strlen(text), "bench", NULL, 0, &b->scan));
    return spec_create(b->scan, &b->spec);
}

static int name_shard(const struct bench *b, long shard, char *path, size_t size)
{
    char result[512];
    snprintf(result, sizeof result, "%s/collected.h5", b->folder);
    return shard_file_name(result, shard, b->shards, path, size);
}

static double value_of(int64_t member, long plane, long i)
{
    return (double)(1000 * member + 100 * plane + i);
}

static int write_first(struct bench *b, const char *path)
{
    struct store *store = NULL;
    double data[SIZE];
    struct plane_buffers buffers = {.observable = {0}};
    const struct row_status row = {0};
    const struct store_member_end end = {.state = MEMBER_DONE,
                                         .reason = "",
                                         .attempts = 1,
                                         .host = "bench",
                                         .device = "bench",
                                         .kernel_id = "bench",
                                         .row = &row};
    b->spec->store.window = (struct store_window){0, 1, 1, b->shards};
    b->spec->store.check_space = false;
    b->spec->store.resume_state = 0;
    TRY(store_define(path, &b->spec->store));
    TRY(store_open(path, &store));
    buffers.array[0] = data;
    for (long plane = 0; plane < PLANES; plane++) {
        for (long i = 0; i < SIZE; i++)
            data[i] = value_of(0, plane, i);
        TRY(store_write_plane(store, 0, b->spec->store.layout, plane, (double)plane, &buffers));
    }
    TRY(store_end_member(store, 0, &end));
    return store_close(store);
}

static int find_place(struct bench *b, const struct source *source, enum place place,
                      const char *name)
{
    struct h5_dataset dataset;
    TRY(h5_dataset_open(source->store->file, source->store->path, name, &dataset));
    b->place[place] = dataset.offset;
    h5_dataset_close(&dataset);
    return 0;
}

static int find_places(struct bench *b, const char *path)
{
    static const char *const names[PLACES] = {
        "member_id",      "member/identity", "member/seed", "member/point", "member/param/b",
        "member/param/c", "plane/x",         "plane/data",  "plane/code",   "plane/checksum"};
    struct source source;
    TRY(source_open(path, &source));
    int rc = 0;
    for (int i = 0; rc == 0 && i < PLACES; i++)
        rc = find_place(b, &source, (enum place)i, names[i]);
    source_close(&source);
    return rc;
}

static int read_image(struct bench *b, const char *path)
{
    struct stat info;
    const int fd = open(path, O_RDONLY);
    if (fd < 0 || fstat(fd, &info) != 0)
        FAIL(ERR_IO, "cannot read %s: %s", path, strerror(errno));
    b->size = (size_t)info.st_size;
    TRY(MEM_NEW((long)b->size, &b->image));
    if (read(fd, b->image, b->size) != (ssize_t)b->size)
        FAIL(ERR_IO, "cannot read %s: %s", path, strerror(errno));
    close(fd);
    return 0;
}

static void put(struct bench *b, enum place place, size_t offset, const void *bytes,
                size_t size)
{
    memcpy(b->image + b->place[place] + offset, bytes, size);
}

static void put_plane(struct bench *b, int64_t member, long plane)
{
    double bytes[SIZE + 2];
    bytes[0] = (double)plane;
    for (long i = 0; i < SIZE; i++)
        bytes[1 + i] = value_of(member, plane, i);
    const int64_t slow = member / EACH;
    bytes[SIZE + 1] = (double)(100 * slow + member % EACH);
    const uint64_t sum = hash_64_seeded(bytes, sizeof bytes, hash_plane_seed(member, plane));
    const size_t at = (size_t)plane;
    put(b, PROGRESS, at * sizeof *bytes, bytes, sizeof *bytes);
    put(b, DATA, at * SIZE * sizeof *bytes, bytes + 1, SIZE * sizeof *bytes);
    put(b, CODE, at * sizeof *bytes, bytes + SIZE + 1, sizeof *bytes);
    put(b, CHECKSUM, at * sizeof sum, &sum, sizeof sum);
}

/* The image of the shard of one member. */
static int turn_image(struct bench *b, int64_t member)
{
    struct store_member_row row;
    const int32_t point[2] = {(int32_t)(member / EACH), (int32_t)(member % EACH)};
    const double slow = point[0];
    const double fast = point[1];
    TRY(b->spec->store.member_rows(b->spec, member, 1, &row));
    const uint64_t seed[2] = {row.point_key, (uint64_t)row.realisation};
    put(b, MEMBER_ID, 0, &member, sizeof member);
    put(b, IDENTITY, 0, row.identity, sizeof row.identity);
    put(b, SEED, 0, seed, sizeof seed);
    put(b, POINT, 0, point, sizeof point);
    put(b, SLOW, 0, &slow, sizeof slow);
    put(b, FAST, 0, &fast, sizeof fast);
    for (long plane = 0; plane < PLANES; plane++)
        put_plane(b, member, plane);
    return 0;
}

/* Blocks of zeros are left out, as in a file that the store has made. */
static int write_image(const struct bench *b, const char *path)
{
    static const char zeros[BLOCK];
    const int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0644);
    if (fd < 0 || ftruncate(fd, (off_t)b->size) != 0)
        FAIL(ERR_IO, "cannot make %s: %s", path, strerror(errno));
    for (size_t at = 0; at < b->size; at += BLOCK) {
        const size_t count = b->size - at < BLOCK ? b->size - at : BLOCK;
        if (memcmp(b->image + at, zeros, count) == 0)
            continue;
        if (pwrite(fd, b->image + at, count, (off_t)at) != (ssize_t)count)
            FAIL(ERR_IO, "cannot write %s: %s", path, strerror(errno));
    }
    close(fd);
    return 0;
}

static int put_attributes(const struct bench *b, const char *path, long shard)
{
    char text[48];
    const char *const pointer = text;
    const int64_t first = shard - 1;
    const hid_t file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT);
    snprintf(text, sizeof text, "%ld/%ld", shard, b->shards);
    const hid_t name = H5Aopen(file, "shard", H5P_DEFAULT);
    const hid_t number = H5Aopen(file, "first_member", H5P_DEFAULT);
    const hid_t type = H5Aget_type(name);
    const herr_t rc =
        H5Awrite(name, type, &pointer) < 0 || H5Awrite(number, H5T_NATIVE_INT64, &first) < 0
            ? -1
            : 0;
    H5Tclose(type);
    H5Aclose(number);
    H5Aclose(name);
    if (H5Fclose(file) < 0 || rc < 0)
        FAIL(ERR_IO, "cannot write the attributes of %s", path);
    return 0;
}

static int make_all(struct bench *b)
{
    char path[600];
    TRY(name_shard(b, 1, path, sizeof path));
    TRY(write_first(b, path));
    TRY(find_places(b, path));
    TRY(read_image(b, path));
    for (long shard = 2; shard <= b->shards; shard++) {
        TRY(name_shard(b, shard, path, sizeof path));
        TRY(turn_image(b, shard - 1));
        TRY(write_image(b, path));
        TRY(put_attributes(b, path, shard));
    }
    return 0;
}

static int bench_run(struct bench *b, int argc, char **argv)
{
    if (argc != 3)
        FAIL(ERR_ARGUMENT, "usage: bench_collect_files FOLDER SHARDS");
    b->folder = argv[1];
    b->shards = strtol(argv[2], NULL, 10);
    if (b->shards < EACH || b->shards % EACH != 0)
        FAIL(ERR_ARGUMENT, "%s shards: a multiple of %d is wanted", argv[2], EACH);
    TRY(read_scan(b));
    return make_all(b);
}

int main(int argc, char **argv)
{
    struct bench b = {.folder = ""};
    const int rc = bench_run(&b, argc, argv);
    spec_destroy(b.spec);
    scan_destroy(b.scan);
    mem_free(b.image);
    return status_exit_code(rc);
}
