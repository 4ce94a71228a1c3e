/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef KERNELS_MODELS_PULSE_BAND_TABLE_H
#define KERNELS_MODELS_PULSE_BAND_TABLE_H

#include "kernels/base/data.h"
#include "kernels/numeric/taylor.h"

/*
 * Tables over the frequency, out of files: the effective index of a guide at up to four
 * positions, its loss. Cubic splines over omega (spline.h), never read beyond their ends.
 */

#define BAND_TABLE_COLUMNS 4

struct spline;

/* A table. */
struct band_table {
    int columns; /* 0: none */
    struct spline *column[BAND_TABLE_COLUMNS];
    double low, high; /* ends, rad/s */
};

/* What files may hold, and the choices of columns: omega, frequency or wavelength, and index,
 * index2 … or loss. */
extern const struct data_column band_table_index_columns[];
extern const struct data_column band_table_loss_columns[];
extern const char *const band_table_indices[];
extern const char *const band_table_losses[];

/**
 * Make a table; free with band_table_clear.
 *
 * @param set   axis and columns, read
 * @param name  parameter, for messages
 * @param shift taken from each value: 1 for an index keeps n - 1 free of its rounding
 * @return 0; ERR_ARGUMENT: fewer than 4 rows, an axis or a value below 0; ERR_MEMORY
 */
int band_table_create(const struct data_set *set, const char *name, double shift,
                      struct band_table *out);

/** Free; legal on a zeroed or cleared object. */
void band_table_clear(struct band_table *table);

/**
 * Refuse frequencies outside of a table.
 *
 * @param low, high rad/s
 * @return 0, or ERR_ARGUMENT with the range of the table and what is needed, as wavelengths
 */
int band_table_check(const struct band_table *table, const char *name, double low, double high);

/**
 * Estimate what the spline between the rows is off by, from the splines through every second
 * and every fourth row: of a smooth table 1/15 of the first difference, of a rough or rounded
 * one up to that difference itself. Of 6 to 9 rows it is the difference; INFINITY of fewer.
 *
 * @param set       axis and columns, read
 * @param low, high band, rad/s, inside of the table
 * @param power     0: largest error; 1: largest error times omega
 * @return 0, or ERR_MEMORY
 */
int band_table_error(const struct data_set *set, double low, double high, int power,
                     double *out);

/** A column, less the shift, with its derivatives with respect to omega. */
struct taylor band_table_read(const struct band_table *table, int column, double omega,
                              int order);

#endif
