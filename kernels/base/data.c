/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "kernels/base/data.h"

#include <stdio.h>
#include <string.h>

#include "kernels/base/mem.h"
#include "kernels/base/status.h"

/* The next array of a set, without values. */
static int add_array(struct data_set *set, const char *name, const char *unit, int dims,
                     const long *length)
{
    if (set->arrays == DATA_ARRAYS_MAX || dims < 1 || dims > DATA_DIMS_MAX)
        FAIL(ERR_BUG, "array %s with %d dimensions does not fit into a set", name, dims);
    struct data_array *array = &set->array[set->arrays];
    *array = (struct data_array){.dims = dims};
    snprintf(array->name, sizeof array->name, "%s", name);
    snprintf(array->unit, sizeof array->unit, "%s", unit);
    long room = DATA_BYTES_MAX - (long)data_bytes(set);
    for (int d = 0; d < dims; d++) {
        array->length[d] = length[d];
        room = length[d] > 0 ? room / length[d] : room;
    }
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

long data_count(const struct data_array *array)
{
    long count = 1;
    for (int d = 0; d < array->dims; d++)
        count *= array->length[d];
    return count;
}

size_t data_bytes(const struct data_set *set)
{
    size_t bytes = 0;
    for (int i = 0; i < set->arrays; i++)
        bytes += (size_t)data_count(&set->array[i]) * sizeof(double);
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

/* Bytes: the object itself, whose pointers mean nothing, then the values of each array. */

size_t data_packed_size(const struct data_set *set)
{
    return sizeof *set + data_bytes(set);
}

void data_pack(const struct data_set *set, char *bytes)
{
    memcpy(bytes, set, sizeof *set);
    bytes += sizeof *set;
    for (int i = 0; i < set->arrays; i++) {
        const struct data_array *array = &set->array[i];
        const size_t size = (size_t)data_count(array) * sizeof(double);
        if (array->real != NULL)
            memcpy(bytes, array->real, size);
        else
            memcpy(bytes, array->whole, size);
        bytes += size;
    }
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
        const size_t size = (size_t)data_count(array) * sizeof(double);
        double *real = NULL;
        int64_t *whole = NULL;
        if (array->real != NULL) {
            TRY(data_add_real(out, array->name, array->unit, array->dims, array->length,
                              &real));
            memcpy(real, bytes + *used, size);
        } else {
            TRY(data_add_whole(out, array->name, array->unit, array->dims, array->length,
                               &whole));
            memcpy(whole, bytes + *used, size);
        }
        *used += size;
    }
    return 0;
}
