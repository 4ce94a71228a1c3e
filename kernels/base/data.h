/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef KERNELS_BASE_DATA_H
#define KERNELS_BASE_DATA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Parameters that are arrays: measured pulses, dispersion tables, planes of earlier runs. A set
 * is read once, by the process that reads the scan file, and is then read-only.
 */

#define DATA_ARRAYS_MAX 8
#define DATA_DIMS_MAX   3
#define DATA_FILLS_MAX  2
#define DATA_NAME_SIZE  48
#define DATA_LABEL_SIZE 300
#define DATA_HASH_SIZE  33 /* 32 hexadecimal digits of 128 bits, NUL */
#define DATA_BYTES_MAX  (64L << 20)
#define DATA_PLACE_MIN                                                                         \
    (8L << 20) /* bytes of values above which an array may stay in its file */

/* Where values lie that stay in their file: binary32, little-endian, one after the other. */
struct data_place {
    char *path;       /* absolute; NULL: the values are in memory */
    int64_t offset;   /* of the first value */
    int64_t size;     /* of the file when it was hashed, */
    int64_t modified; /* and its time of change, ns */
};

/* One array of a set. Exactly one of real, whole and place.path is set. */
struct data_array {
    char name[DATA_NAME_SIZE];
    char unit[DATA_NAME_SIZE]; /* udunits text; values are in SI */
    int dims;
    long length[DATA_DIMS_MAX];
    double *real;
    int64_t *whole;
    struct data_place place;
    int fills; /* numbers of a file that say that there is no number; data_read gives NaN */
    double fill[DATA_FILLS_MAX];
};

/*
 * A named set of arrays. Without arrays (`arrays` is 0) the set is known by its hash alone: a
 * stored configuration is read without the files it names.
 */
struct data_set {
    char hash[DATA_HASH_SIZE];   /* of names, units, shapes and values */
    char label[DATA_LABEL_SIZE]; /* "measured.txt: time [1024] s, intensity [1024] 1" */
    int arrays;
    struct data_array array[DATA_ARRAYS_MAX];
};

/* A column that a table may have. */
struct data_column {
    const char *name;
    const char *unit; /* udunits text of the value in the set, "1" for none */
    const char *doc;
    bool is_axis; /* strictly monotone; the set has it ascending */
};

/* An array of several dimensions that a file may have. */
struct data_field {
    const char *name;
    const char *unit; /* udunits text of the value in the set, "1" for none */
    const char *doc;
    int dims;
    bool optional;
};

/* What a parameter of kind PARAM_DATA accepts, and the parameters that say more of it. */
struct data_info {
    const struct data_column *columns; /* ends with a NULL name; NULL: no tables */
    const char *const *tables;   /* NULL-terminated "time/intensity/phase": columns that go
                                    together, axis first; of several that fit the longest */
    const char *columns_param;   /* PARAM_CHOICE among `tables`, or NULL */
    const char *plane_array;     /* array of an earlier run's plane ("field"), or NULL */
    bool steps;                  /* the accepted steps of an earlier run's member */
    const char *member_param;    /* PARAM_INT of an earlier run, or NULL */
    const char *plane_param;     /* PARAM_INT, not set: the last plane, or NULL */
    const char *const *replaces; /* NULL-terminated parameters that the file stands in place of
                                    and that no scan may state beside it, or NULL */
    const char *const *serves;   /* NULL-terminated parameters that mean nothing without the
                                    file, besides those above, or NULL */
    int (*prepare)(struct data_set *set); /* NULL, or adds arrays that the model derives from
                                             those read, once; the hash does not know them */
    /* Arrays of an HDF5 or NetCDF-4 file, by these names; ends with a NULL name; NULL: none.
     * Values may be NaN. */
    const struct data_field *fields;
};

/* A table as it was read: numbers in the units of the file. */
struct data_table {
    const char *file; /* for messages; borrowed */
    long rows;
    int columns;
    char (*name)[DATA_NAME_SIZE]; /* [columns] */
    char (*unit)[DATA_NAME_SIZE]; /* [columns] "" : none given */
    double *values;               /* [columns][room] */
    long room;
    int *line; /* [rows] of a text, NULL: rows count */
};

/**
 * Add an array to a set; the values are zeros.
 *
 * @param length [dims] each >= 0
 * @return 0, ERR_UNSUPPORTED above DATA_BYTES_MAX in all, ERR_MEMORY
 */
int data_add_real(struct data_set *set, const char *name, const char *unit, int dims,
                  const long *length, double **values);

/** Add an array of whole numbers; otherwise as data_add_real. */
int data_add_whole(struct data_set *set, const char *name, const char *unit, int dims,
                   const long *length, int64_t **values);

/**
 * Add an array whose values stay in a file, in any number.
 *
 * @param path   of the file
 * @param offset of the first value, bytes
 * @return 0, ERR_IO, ERR_MEMORY
 */
int data_add_place(struct data_set *set, const char *name, const char *unit, int dims,
                   const long *length, const char *path, int64_t offset);

/**
 * Say that numbers of an array equal to this one stand for none. Those in memory become NaN
 * now, those in a file when they are read. One of DATA_FILLS_MAX.
 */
void data_add_fill(struct data_array *array, double fill);

/**
 * Values [first, first + count) as binary32, out of memory or out of the file.
 *
 * @param out [count]
 * @return 0, ERR_IO, ERR_CONFLICT: the file has changed since its hash was made
 */
int data_read(const struct data_array *array, long first, long count, float *out);

/** Elements of an array. */
long data_count(const struct data_array *array);

/** Bytes of all values in memory. */
size_t data_bytes(const struct data_set *set);

/** An array by name, NULL when the set has none. Legal for NULL. */
const struct data_array *data_find(const struct data_set *set, const char *name);

/** Free the values. Legal on a zeroed object. */
void data_clear(struct data_set *set);

/** Free a table. Legal on a zeroed object. */
void data_table_clear(struct data_table *table);

/** Bytes that data_pack writes. */
size_t data_packed_size(const struct data_set *set);

/** Write a set as bytes for another process of this program. */
void data_pack(const struct data_set *set, char *bytes);

/**
 * Read a set out of bytes.
 *
 * @param out    cleared before
 * @param bytes  [data_packed_size of the set]
 * @param used   receives that size
 */
int data_unpack(struct data_set *out, const char *bytes, size_t *used);

#endif
