/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "kernels/base/data.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "kernels/base/mem.h"
#include "kernels/base/status.h"

/* The next array of a set, without values, whatever their number. */
static int begin_array(struct data_set *set, const char *name, const char *unit, int dims,
                       const long *length)
{
    if (set->arrays == DATA_ARRAYS_MAX || dims < 1 || dims > DATA_DIMS_MAX)
        FAIL(ERR_BUG, "array %s with %d dimensions does not fit into a set", name, dims);
    struct data_array *array = &set->array[set->arrays];
    *array = (struct data_array){.dims = dims};
    snprintf(array->name, sizeof array->name, "%s", name);
    snprintf(array->unit, sizeof array->unit, "%s", unit);
    for (int d = 0; d < dims; d++)
        array->length[d] = length[d];
    return 0;
}

/* The same of an array that memory must hold. */
static int add_array(struct data_set *set, const char *name, const char *unit, int dims,
                     const long *length)
{
    TRY(begin_array(set, name, unit, dims, length));
    long room = DATA_BYTES_MAX - (long)data_bytes(set);
    for (int d = 0; d < dims; d++)
        room = length[d] > 0 ? room / length[d] : room;
    if (room < 8)
        FAIL(ERR_UNSUPPORTED, "array %s makes the data larger than %ld MB, the limit of a set",
             name, DATA_BYTES_MAX >> 20);
    return 0;
}

int data_add_real(struct data_set *set, const char *name, const char *unit, int dims,
                  const long *length, double **values)
{
    TRY(add_array(set, name, unit, dims, length));
    struct data_array *array = &set->array[set->arrays];
    TRY(MEM_NEW(data_count(array), &array->real));
    *values = array->real;
    set->arrays++;
    return 0;
}

int data_add_whole(struct data_set *set, const char *name, const char *unit, int dims,
                   const long *length, int64_t **values)
{
    TRY(add_array(set, name, unit, dims, length));
    struct data_array *array = &set->array[set->arrays];
    TRY(MEM_NEW(data_count(array), &array->whole));
    *values = array->whole;
    set->arrays++;
    return 0;
}

static int look_at(int file, const char *path, struct data_place *out)
{
    struct stat status;
    if (fstat(file, &status) != 0)
        FAIL(ERR_IO, "%s: %s", path, strerror(errno));
    out->size = (int64_t)status.st_size;
    out->modified =
        (int64_t)status.st_mtim.tv_sec * 1000000000 + (int64_t)status.st_mtim.tv_nsec;
    return 0;
}

static int open_file(const char *path, int *file)
{
    *file = open(path, O_RDONLY | O_CLOEXEC);
    if (*file < 0)
        FAIL(ERR_IO, "%s: %s", path, strerror(errno));
    return 0;
}

/* The file's path from the root, in memory of ours. */
static int whole_path(const char *path, char **out)
{
    char *const real = realpath(path, NULL);
    if (real == NULL)
        FAIL(ERR_IO, "%s: %s", path, strerror(errno));
    const int rc = mem_copy_text(real, out);
    free(real);
    return rc;
}

int data_add_place(struct data_set *set, const char *name, const char *unit, int dims,
                   const long *length, const char *path, int64_t offset)
{
    int file = -1;
    TRY(begin_array(set, name, unit, dims, length));
    struct data_place *const place = &set->array[set->arrays].place;
    TRY(open_file(path, &file));
    const int rc = look_at(file, path, place);
    close(file);
    TRY(rc);
    TRY(whole_path(path, &place->path));
    place->offset = offset;
    set->arrays++;
    return 0;
}

/* Bytes out of a file that is still the one that was hashed. */
static int read_place(int file, const struct data_place *place, int64_t at, size_t bytes,
                      char *out)
{
    struct data_place now = {0};
    TRY(look_at(file, place->path, &now));
    if (now.size != place->size || now.modified != place->modified)
        FAIL(ERR_CONFLICT, "%s: has changed since it was read first", place->path);
    while (bytes > 0) {
        const ssize_t got = pread(file, out, bytes, (off_t)at);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            FAIL(ERR_IO, "%s: %zu bytes at %lld: %s", place->path, bytes, (long long)at,
                 got < 0 ? strerror(errno) : "the file ends before them");
        bytes -= (size_t)got;
        out += got;
        at += got;
    }
    return 0;
}

void data_add_fill(struct data_array *array, double fill)
{
    array->fill[array->fills++] = fill;
    for (long i = 0; array->real != NULL && i < data_count(array); i++)
        if (array->real[i] == fill)
            array->real[i] = (double)NAN;
}

static void fill_out(const struct data_array *array, long count, float *values)
{
    for (int k = 0; k < array->fills; k++) {
        const float fill = (float)array->fill[k];
        for (long i = 0; i < count; i++)
            if (values[i] == fill)
                values[i] = NAN;
    }
}

int data_read(const struct data_array *array, long first, long count, float *out)
{
    const struct data_place *const place = &array->place;
    int file = -1;
    if (place->path == NULL) {
        for (long i = 0; i < count; i++)
            out[i] = (float)array->real[first + i];
        return 0;
    }
    TRY(open_file(place->path, &file));
    const int rc = read_place(file, place, place->offset + first * (int64_t)sizeof *out,
                              (size_t)count * sizeof *out, (char *)out);
    close(file);
    TRY(rc);
    fill_out(array, count, out);
    return 0;
}

long data_count(const struct data_array *array)
{
    long count = 1;
    for (int d = 0; d < array->dims; d++)
        count *= array->length[d];
    return count;
}

static size_t memory_of(const struct data_array *array)
{
    return array->place.path != NULL ? 0 : (size_t)data_count(array) * sizeof(double);
}

size_t data_bytes(const struct data_set *set)
{
    size_t bytes = 0;
    for (int i = 0; i < set->arrays; i++)
        bytes += memory_of(&set->array[i]);
    return bytes;
}

const struct data_array *data_find(const struct data_set *set, const char *name)
{
    for (int i = 0; set != NULL && i < set->arrays; i++)
        if (strcmp(set->array[i].name, name) == 0)
            return &set->array[i];
    return NULL;
}

void data_clear(struct data_set *set)
{
    for (int i = 0; i < set->arrays; i++) {
        mem_free(set->array[i].real);
        mem_free(set->array[i].whole);
        mem_free(set->array[i].place.path);
    }
    *set = (struct data_set){0};
}

void data_table_clear(struct data_table *table)
{
    mem_free(table->name);
    mem_free(table->unit);
    mem_free(table->values);
    mem_free(table->line);
    *table = (struct data_table){0};
}

/* Bytes: the object itself, whose pointers mean nothing, then the values of each array, or the
 * path of its file. */

size_t data_packed_size(const struct data_set *set)
{
    size_t size = sizeof *set + data_bytes(set);
    for (int i = 0; i < set->arrays; i++)
        if (set->array[i].place.path != NULL)
            size += strlen(set->array[i].place.path) + 1;
    return size;
}

void data_pack(const struct data_set *set, char *bytes)
{
    memcpy(bytes, set, sizeof *set);
    bytes += sizeof *set;
    for (int i = 0; i < set->arrays; i++) {
        const struct data_array *array = &set->array[i];
        size_t size = memory_of(array);
        if (array->place.path != NULL) {
            size = strlen(array->place.path) + 1;
            memcpy(bytes, array->place.path, size);
        } else if (array->real != NULL)
            memcpy(bytes, array->real, size);
        else
            memcpy(bytes, array->whole, size);
        bytes += size;
    }
}

static int unpack_values(struct data_set *out, const struct data_array *array,
                         const char *bytes, size_t *used)
{
    const size_t size = (size_t)data_count(array) * sizeof(double);
    double *real = NULL;
    int64_t *whole = NULL;
    if (array->real != NULL) {
        TRY(data_add_real(out, array->name, array->unit, array->dims, array->length, &real));
        memcpy(real, bytes, size);
    } else {
        TRY(data_add_whole(out, array->name, array->unit, array->dims, array->length, &whole));
        memcpy(whole, bytes, size);
    }
    *used += size;
    return 0;
}

/* Another process reads the same file: it must be the one that was hashed, so size and time
 * are those that came along. */
static int unpack_place(struct data_set *out, const struct data_array *array, const char *path,
                        size_t *used)
{
    TRY(begin_array(out, array->name, array->unit, array->dims, array->length));
    struct data_place *const place = &out->array[out->arrays].place;
    struct data_array *const to = &out->array[out->arrays];
    *place = array->place;
    to->fills = array->fills;
    memcpy(to->fill, array->fill, sizeof to->fill);
    TRY(mem_copy_text(path, &place->path));
    out->arrays++;
    *used += strlen(path) + 1;
    return 0;
}

int data_unpack(struct data_set *out, const char *bytes, size_t *used)
{
    struct data_set there;
    memcpy(&there, bytes, sizeof there);
    *used = sizeof there;
    *out = (struct data_set){0};
    memcpy(out->hash, there.hash, sizeof out->hash);
    memcpy(out->label, there.label, sizeof out->label);
    for (int i = 0; i < there.arrays; i++) {
        const struct data_array *array = &there.array[i];
        if (array->place.path != NULL)
            TRY(unpack_place(out, array, bytes + *used, used));
        else
            TRY(unpack_values(out, array, bytes + *used, used));
    }
    return 0;
}
