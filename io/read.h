/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef IO_READ_H
#define IO_READ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "io/store.h"

/*
 * Reading a store: status, plot, reduce. Paths are relative to the root: "plane/energy",
 * "ensemble/g12", "omega". Numbers are converted to double; complex ones are pairs {r, i}. Rows
 * of "member/", "plane/" and "step/" are called by the members' ids in the scan.
 */

#define READ_NAME_SIZE 96
#define READ_DIMS_MAX  5

/* A dataset as a reader sees it. */
struct read_dataset {
    char name[READ_NAME_SIZE]; /* within its group */
    char unit[64];
    char long_name[256];
    char as_written[256]; /* of an axis scale, else "" */
    int dims;
    int64_t length[READ_DIMS_MAX];
    char dim_name[READ_DIMS_MAX][READ_NAME_SIZE]; /* "member_id", "plane_index", "omega", … */
    enum element type;                            /* ELEMENT_I64 for every integer */
    bool text;                                    /* strings: type is meaningless */
};

/** Whether a group or dataset exists. */
bool read_exists(struct store *store, const char *path);

/**
 * The datasets of a group in the order of their names.
 *
 * @param group  "/", "plane", "ensemble", "member/param", …
 * @param list   receives the array, free with mem_free
 * @return 0, ERR_ARGUMENT when there is no such group, ERR_IO, ERR_MEMORY
 */
int read_list(struct store *store, const char *group, struct read_dataset **list, int *count);

/** One dataset's description. ERR_ARGUMENT when there is none. */
int read_describe(struct store *store, const char *path, struct read_dataset *out);

/**
 * Values of a 1-D scale or of one grid's row of a [grid][n] scale.
 *
 * @param name    "omega", "pulse_peak_power_values", …
 * @param grid    grid id; ignored for 1-D
 * @param values  receives the array, free with mem_free
 */
int read_scale(struct store *store, const char *name, int64_t grid, double **values,
               long *count);

/**
 * A block of rows of a dataset of numbers: [first, first + count) of its first dimension, whole
 * in the others.
 *
 * @param elements  count times the elements of a row; checked
 * @param values    [elements], complex: [2 * elements]
 */
int read_rows(struct store *store, const char *path, int64_t first, int64_t count,
              long elements, double *values);

/**
 * A block of any shape.
 *
 * @param start   [dims of the dataset]
 * @param count   [dims of the dataset]
 * @param values  [product of count], complex: twice that
 */
int read_block(struct store *store, const char *path, const int64_t *start,
               const int64_t *count, double *values);

/**
 * A text attribute of a group or dataset ("/" for the root); "" when there is none. Numbers are
 * printed.
 */
int read_attribute(struct store *store, const char *path, const char *name, char *text,
                   size_t size);

/** A dataset that is one text ("config", "config_canonical"). @param text free with mem_free */
int read_text(struct store *store, const char *path, char **text);

/**
 * One text of a column of texts ("member/reason", row = member).
 *
 * @param text [size] NUL-terminated
 */
int read_text_row(struct store *store, const char *path, int64_t row, char *text, size_t size);

#endif
