/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef IO_H5_H
#define IO_H5_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * HDF5 as io uses it; private to io. Handles are int64_t, which hid_t is since HDF5 1.10, so
 * that headers need not include hdf5.h. HDF5's own error output is off; a failure becomes one
 * line "cannot ACTION PATH: DATASET: reason".
 */

#define H5_DIMS_MAX 5
#define H5_PATH_MAX 160

/* One HDF5 call inside a function that returns a status code. */
#define TRY_H5(call, path, object)                                                             \
    do {                                                                                       \
        if ((call) < 0)                                                                        \
            return h5_fail((path), (object));                                                  \
    } while (0)

/* The same with a clean-up label. */
#define TRY_H5_OR(rc, label, call, path, object)                                               \
    do {                                                                                       \
        if ((call) < 0) {                                                                      \
            (rc) = h5_fail((path), (object));                                                  \
            goto label;                                                                        \
        }                                                                                      \
    } while (0)

/* Stored types; the first six are enum element in its order. */
enum h5_kind {
    H5_F64,
    H5_C128, /* compound {r, i} of doubles */
    H5_F32,
    H5_C64,  /* compound {r, i} of floats */
    H5_BF16, /* the upper half of a float, stored as uint16 */
    H5_I64,
    H5_U64,
    H5_I32,
    H5_U8,
    H5_TEXT /* UTF-8, NUL-padded to a fixed size */
};

/* How a file is opened. */
enum h5_access {
    H5_READ,  /* serial driver */
    H5_WRITE, /* serial driver, single writer */
    H5_WORKER /* one of several writers: mpio on MPI_COMM_SELF where MPI runs, else serial */
};

/* A contiguous dataset with what repeated writes and reads need. */
struct h5_dataset {
    int64_t id;      /* 0: not open */
    int64_t space;   /* file space; its selection changes with each call */
    int64_t type;    /* memory type equal to the stored one */
    int64_t scratch; /* memory space, its extent changes with each call */
    enum h5_kind kind;
    size_t size;    /* bytes of an element */
    int64_t offset; /* of the first element in the file; -1: it has no place yet */
    int64_t origin; /* what its first row is called: start[0] and `first` are counted so */
    int dims;
    int64_t length[H5_DIMS_MAX];
    const char *path;       /* of the file; borrowed */
    char name[H5_PATH_MAX]; /* of the dataset */
};

/** Report HDF5's innermost reason for what failed just now. Returns ERR_IO. */
int h5_fail(const char *path, const char *object);

/** HDF5's innermost reason, as text. @param text [size] */
void h5_reason(char *text, size_t size);

/** Bytes of an element. @param text size of an H5_TEXT, else ignored */
size_t h5_kind_size(enum h5_kind kind, size_t text);

/** A new datatype handle, to be closed; negative when HDF5 fails. */
int64_t h5_type_create(enum h5_kind kind, size_t text);

/** Kind of a stored type; -1 for a type that is none of ours. @param size bytes of an element
 */
int h5_type_kind(int64_t type, size_t *size);

/** Create a file for single-writer definition: 64 KiB alignment, refuses an existing one. */
int h5_file_create(const char *path, int64_t *file);

/** Open a file without a word: the handle, or negative with the reason. @param reason [size] */
int64_t h5_file_try(const char *path, enum h5_access access, char *reason, size_t size);

/** Open a file. ERR_IO. */
int h5_file_open(const char *path, enum h5_access access, int64_t *file);

/** Close a file with all that is open in it. @param path for the message */
int h5_file_close(int64_t file, const char *path);

/** Close a file of h5_file_create that is given up: nothing more is written to it. */
void h5_file_abandon(int64_t file);

/** Write a text attribute (variable length, UTF-8) of an object of a file. */
int h5_put_text(int64_t object, const char *path, const char *name, const char *text);

/** Write an integer attribute. */
int h5_put_integer(int64_t object, const char *path, const char *name, int64_t value);

/** Read an attribute as text; numbers are printed; "" when there is none. */
int h5_get_text(int64_t object, const char *path, const char *name, char *text, size_t size);

/** Read an attribute that is one number. @param found false when there is none or it is no such
 * number, @param there whether there is one by this name */
int h5_get_real(int64_t object, const char *path, const char *name, double *value, bool *found,
                bool *there);

/** Read an integer attribute. @param found false when there is none or it is no integer */
int h5_get_integer(int64_t object, const char *path, const char *name, int64_t *value,
                   bool *found);

/** Name of a dimension of a dataset ("" without one); negative when HDF5 fails. */
int h5_get_label(int64_t dataset, int dim, char *text, size_t size);

/** Open a dataset. ERR_IO. */
int h5_dataset_open(int64_t file, const char *path, const char *name, struct h5_dataset *out);

/** Close a dataset; legal on a zeroed or closed one. */
void h5_dataset_close(struct h5_dataset *dataset);

/**
 * Write a block that is one contiguous byte range (leading counts 1, trailing ones whole), in
 * pieces of at most 1 GiB. Values are in the stored type.
 *
 * @param start  [dims]
 * @param count  [dims]
 */
int h5_write(const struct h5_dataset *dataset, const int64_t *start, const int64_t *count,
             const void *values);

/** Read a block in the stored type; otherwise as h5_write. */
int h5_read(const struct h5_dataset *dataset, const int64_t *start, const int64_t *count,
            void *values);

/** Read a block of numbers as doubles (complex: pairs). ERR_ARGUMENT for text. */
int h5_read_double(const struct h5_dataset *dataset, const int64_t *start, const int64_t *count,
                   double *values);

/** Write rows [first, first + count) of the first dimension. */
int h5_write_rows(const struct h5_dataset *dataset, int64_t first, int64_t count,
                  const void *values);

/** Read rows in the stored type. */
int h5_read_rows(const struct h5_dataset *dataset, int64_t first, int64_t count, void *values);

#endif
