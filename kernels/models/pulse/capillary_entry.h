/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef KERNELS_MODELS_PULSE_CAPILLARY_ENTRY_H
#define KERNELS_MODELS_PULSE_CAPILLARY_ENTRY_H

#include "kernels/models/pulse/capillary_params.h"

/* What is known of the pulses at the entrance before the run: their phases counted in, in
 * closed form where there is one. */

/** Power below which the peak of a field at the entrance is certainly not: that of a pulse by
 * its peak power, of a shape, of a Gaussian with gdd, less all that the others may take from
 * it. 0 where nothing is certain. W */
double capillary_certain_peak(const struct capillary_point *point);

/** Power above which it is not: all pulses at once, as short as their spectra allow. Of a table
 * an estimate. W */
double capillary_possible_peak(const struct capillary_point *point);

/** Share of the energy of a pulse's shape that the band with its window leaves out; 0 of a
 * table, which knows by itself. */
double capillary_band_cut(const struct capillary_point *point, int pulse);

/** The farthest from the middle of the window that a pulse reaches, delay and a stretched
 * duration, s. Of a table the phases of the scan alone stretch, as a Gaussian. */
double capillary_reach(const struct capillary_point *point, int pulse);

/** Half of the window's flat part, s. */
double capillary_flat(const struct capillary_point *point);

/**
 * Refuse a shape of which more than half lies outside of the band, and a pulse that reaches
 * beyond the end of the window.
 *
 * @return 0, or ERR_ARGUMENT with a line that names the parameter
 */
int capillary_entry_check(const struct capillary_point *point);

#endif
