/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef KERNELS_MODELS_PULSE_RATE_BUILD_H
#define KERNELS_MODELS_PULSE_RATE_BUILD_H

#include "kernels/models/pulse/rate_table.h"

/* Building of rate tables; private to rate_table.c and rate_build.c. */

/* What is tabulated. */
struct rate_source {
    double (*log_rate)(const void *context, double field); /* ln of 1/s */
    const void *context;
    double cutoff;  /* V/m */
    double ceiling; /* V/m */
    double tolerance;
};

/** Bit pattern of a positive number: rises with it. */
int64_t rate_pattern(double field);

/** The number of a bit pattern. */
double rate_unpattern(int64_t bits);

/** Table with the index from the bits of the field; see rate_table_create. */
int rate_build_by_field(const struct rate_source *source, struct rate_table **out);

/** Table over the square root of the distance from the next channel closing. */
int rate_build_by_channel(const struct rate_source *source, const struct ionisation *rate,
                          struct rate_table **out);

#endif
