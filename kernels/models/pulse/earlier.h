/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef KERNELS_MODELS_PULSE_EARLIER_H
#define KERNELS_MODELS_PULSE_EARLIER_H

#include "kernels/base/data.h"
#include "kernels/kdefs.h"
#include "kernels/models/pulse/measured.h"

/* A stored plane of an earlier run as the input of another: spectral amplitudes "field" [n][2]
 * over "omega" [n], absolute, FFT order. */

/**
 * Whether a plane can be put on a grid: equal window and reference (to 1e-9). Bins are then the
 * same; more points give a wider band with nothing in it, fewer cut bins off.
 *
 * @param cut  receives the share of the energy in the bins that are cut off
 * @return 0; ERR_ARGUMENT with both grids, or when more than 1e-3 of the energy is cut off
 */
int earlier_check(const struct data_set *set, const struct measured_grid *grid, double *cut);

/** Energy of a plane, J, and 2.355 times its rms duration, s. */
void earlier_look(const struct data_set *set, const struct measured_grid *grid, double *energy,
                  double *duration);

/** The amplitudes. @param out [grid.n] */
void earlier_fill(const struct data_set *set, const struct measured_grid *grid, cplx *out);

#endif
