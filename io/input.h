/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef IO_INPUT_H
#define IO_INPUT_H

#include <stdbool.h>
#include <stdint.h>

#include "kernels/base/data.h"
#include "kernels/model.h"

/* Reading what a scan names as input: tables in HDF5 files, planes of earlier runs. */

/** Whether a file begins as an HDF5 file does; false for one that cannot be read. */
bool input_is_hdf5(const char *path);

/**
 * Read the one-dimensional datasets of an HDF5 file's root that a parameter accepts, with their
 * attribute `units`.
 *
 * @param columns  ends with a NULL name
 * @param out      free with data_table_clear, also after an error
 * @return 0; ERR_PARSE: shapes or types that do not fit; ERR_IO: HDF5 cannot read the file
 */
int input_read_table(const char *path, const struct data_column *columns,
                     struct data_table *out);

/* Array of a plane that carries noise, its own run's or an earlier one's: one number, 1. */
#define INPUT_NOISE "noise"

/**
 * Read the arrays of an HDF5 or NetCDF-4 file's root that a parameter accepts. Each array's
 * unit is the file's attribute `units`, "" without one; the caller converts. A large
 * array of plain binary32 stays in the file (data_place).
 *
 * @param fields  ends with a NULL name
 * @param out     free with data_clear, also after an error
 * @return 0; ERR_PARSE: missing arrays, shapes or types that do not fit; ERR_UNSUPPORTED: too
 *         large, classic NetCDF; ERR_ARGUMENT: no HDF5 file; ERR_IO: HDF5 cannot read the file
 */
int input_read_fields(const char *path, const struct data_field *fields, struct data_set *out);

/* Which plane of which run. */
struct input_plane {
    const char *array;              /* under /plane: "field" */
    int64_t member;                 /* id in the run's scan */
    int64_t plane;                  /* -1: the last one of a member that is done */
    const struct model_info *model; /* the run must be of this model and its convention */
};

/**
 * Read a plane of a member of an earlier run: the array by its name, complex numbers as a last
 * dimension of 2, the scales of its dimensions, and INPUT_NOISE where the run's noise, or that
 * of the plane it began with, is in it. The checksum is checked.
 *
 * @param out  free with data_clear, also after an error
 * @return 0; ERR_ARGUMENT: no such array, member or plane, another model; ERR_CONFLICT: not a
 *         result file; ERR_IO: damaged; ERR_UNSUPPORTED: too large
 */
int input_read_plane(const char *path, const struct input_plane *wanted, struct data_set *out);

/**
 * Append where each accepted step begins and how long it is: arrays "z" and "h", m, of no
 * length where none was accepted.
 *
 * @param record  [count] trial steps
 * @param out     free with data_clear, also after an error
 */
int input_add_steps(const struct step_record *record, long count, struct data_set *out);

/**
 * Read the accepted steps of a member of an earlier run: arrays "z" and "h", m, where each
 * begins and how long it is. None for a member without steps.
 *
 * @param path    the run's file
 * @param member  id in the run's scan
 * @param model   the run must be of this model and its convention
 * @param out     free with data_clear, also after an error
 * @return 0; ERR_ARGUMENT: no such member, one that is not done, a file without step history or
 *         a member whose history is not whole; else as input_read_plane
 */
int input_read_steps(const char *path, int64_t member, const struct model_info *model,
                     struct data_set *out);

/** Fill in the hash of a set: XXH3-128 over names, units, shapes and values. ERR_MEMORY */
int input_hash(struct data_set *set);

#endif
