/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "kernels/backend.h"
#include "kernels/step/rk45.h"

/* What tests that compute on the host need where the backend's memory is out of its reach. */

/**
 * step_call_each for a system that computes N on the host: each spectrum of a row [group][ld]
 * is brought here, evaluated and brought back.
 */
int apart_each(struct backend *be, const struct step_call *call, void *model,
               int (*evaluate)(void *model, long row, struct step_place place, cplx *spectrum,
                               struct row_status *st));

/** State of a row between steps. @param out [group][n] on the host */
void apart_state(struct backend *be, struct stepper *stepper, long row, long group, long ld,
                 long n, cplx *out);
