/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef KERNELS_MODELS_PULSE_GNLSE_PULSES_H
#define KERNELS_MODELS_PULSE_GNLSE_PULSES_H

#include "kernels/models/pulse/gnlse_params.h"

/**
 * Read what the input of a point is: up to three pulses, or a plane of an earlier run.
 *
 * @param out  its grid, reference and `earlier` are set
 * @return 0, or ERR_ARGUMENT with a line that names the parameter
 */
int gnlse_pulses_read(const struct params *params, struct gnlse_point *out);

#endif
