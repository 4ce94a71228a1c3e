/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef KERNELS_MODELS_PULSE_DISPERSION_TABLE_H
#define KERNELS_MODELS_PULSE_DISPERSION_TABLE_H

#include "kernels/base/data.h"

/*
 * Dispersion out of a table: a cubic spline through beta(omega) = n omega/c, in the frame of
 * the group velocity at the reference. Beyond the table beta goes on as the parabola with the
 * value, the slope and the curvature at its end.
 */

/* What the file may hold; choices and names of parameter dispersion.columns. */
extern const struct data_column dispersion_columns[];
extern const char *const dispersion_tables[];

struct dispersion_table;

/**
 * Make it.
 *
 * @param omega0 reference, rad/s; inside of the table
 * @return 0; ERR_ARGUMENT: fewer than 4 rows, the reference outside; ERR_MEMORY
 */
int dispersion_table_create(const struct data_set *set, double omega0,
                            struct dispersion_table **out);

/** Free; NULL is legal. */
void dispersion_table_destroy(struct dispersion_table *table);

/** beta(omega0 + Omega) - beta(omega0) - beta1 Omega, rad/m. */
double dispersion_table_phase(const struct dispersion_table *table, double Omega);

/** Second derivative there, s^2/m. */
double dispersion_table_beta2(const struct dispersion_table *table, double Omega);

/** Ends of the table, rad/s. */
void dispersion_table_range(const struct dispersion_table *table, double *low, double *high);

#endif
