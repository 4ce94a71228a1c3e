/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "bench/stage_case.h"
#include "bench/timed.h"
#include "kernels/model.h"

/* What one process measured; microseconds are CPU time of a right-hand side. */
struct stage_result {
    struct row_status row;
    double total; /* us, without timers */
    double floor; /* us, transforms alone */
    double ratio; /* total / floor */
    double part[TIMED_PARTS];
    double timed_total; /* us, in the slices with timers: the parts and the rest of them */
    double passes;      /* of a trial step */
    double transforms;  /* of a right-hand side */
    double photon_drift;
    double error; /* of the spectrum at the end; NaN without a reference */
};

/**
 * Run the case to its end on a backend, in turns with the floor.
 *
 * @param reference  file that the spectrum is compared with (stage_error.h)
 */
int stage_run(const struct stage_case *c, struct backend *be, const char *reference,
              struct stage_result *out);
