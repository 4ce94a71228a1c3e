/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef KERNELS_MODELS_PULSE_EARLIER_H
#define KERNELS_MODELS_PULSE_EARLIER_H

#include "kernels/base/data.h"
#include "kernels/kdefs.h"
#include "kernels/models/pulse/measured.h"
#include "kernels/models/pulse/real_grid.h"

/* A stored plane of an earlier run as the input of another: spectral amplitudes "field" [n][2]
 * over "omega" [n], absolute; of an envelope in FFT order, of a real field from 0 on. */

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

/**
 * Whether a plane of a real field can be put on a grid. An equal window (to 1e-9) has the same
 * bins. Another one must hold a whole even number of the plane's coarse samples: these are then
 * kept as they are, with zeros around them or without those that the window has no room for,
 * the middle of both windows at the same place. Bins outside of the active ones are cut off.
 *
 * @param cut  receives the share of the energy that is cut off, in time and frequency
 * @return 0; ERR_ARGUMENT with both windows and one that would do, or when more than 1e-3 of
 *         the energy is cut off; ERR_MEMORY
 */
int earlier_real_check(const struct data_set *set, const struct real_grid *grid, double *cut);

/** Energy of a plane of a real field, J, and 2.355 times its rms duration, s; whole. */
void earlier_real_look(const struct data_set *set, double *energy, double *duration);

/**
 * The amplitudes of a real field: with an equal window the bits that are stored.
 *
 * @param out  [real_grid_bins] zero outside of the active bins
 * @return 0 or ERR_MEMORY
 */
int earlier_real_fill(const struct data_set *set, const struct real_grid *grid, cplx *out);

#endif
