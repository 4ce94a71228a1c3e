/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef KERNELS_MODELS_PULSE_MEASURED_H
#define KERNELS_MODELS_PULSE_MEASURED_H

#include <stdbool.h>

#include "kernels/base/data.h"
#include "kernels/kdefs.h"

/*
 * Pulses out of tables: over time (A = sqrt(intensity) exp(+i phase), or real and imaginary
 * part), or over frequency or wavelength (a = sqrt(spectral_power) exp(-i phase), the sign of
 * pulse.phases, physics.md §0; or real and imaginary part). Real and imaginary part are cubic
 * splines, so the phase may be wrapped and must not turn by more than pi from row to row; an
 * intensity below 0 counts as 0, outside the table there is nothing. Amplitudes are relative.
 */

/* What the file of a pulse may hold; choices and names of parameter pulse.columns. */
extern const struct data_column measured_columns[];
extern const char *const measured_tables[];

/* The grid that a pulse is put on. */
struct measured_grid {
    long n;
    double window; /* s */
    double omega0; /* rad/s */
};

/* What a table says of its pulse, for notes and estimates. */
struct measured_figures {
    double duration; /* s; over time the full width at half maximum, else 2.355 times the rms
                        duration that spectrum and phase give */
    double outside;  /* share of the energy outside of window or band */
    double edge;     /* largest intensity in the first and last row, of the peak */
    double turn;     /* largest step of the phase between rows above 1e-3 of the peak, rad */
};

/** Whether a set is a pulse over frequency. */
bool measured_is_spectral(const struct data_set *set);

/**
 * Add to a set what measured_look would else compute each time: arrays "figures", "middle" and
 * "energy". A pulse that measured_look refuses, and a very large one, stay as they are.
 *
 * @return 0 or ERR_MEMORY
 */
int measured_prepare(struct data_set *set);

/**
 * Look at a pulse.
 *
 * @return 0; ERR_ARGUMENT: fewer than 4 rows, nothing above 0, more than half of the energy
 *         outside of the grid; ERR_MEMORY
 */
int measured_look(const struct data_set *set, const struct measured_grid *grid,
                  struct measured_figures *out);

/**
 * Put a pulse on a grid: samples A(t_j) of one over time, amplitudes a_k = fft(A)/n of one over
 * frequency, both up to a factor.
 *
 * @param out [grid.n]
 */
int measured_fill(const struct data_set *set, const struct measured_grid *grid, cplx *out);

#endif
