/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef KERNELS_BODIES_RATE_H
#define KERNELS_BODIES_RATE_H

#include "kernels/bodies/vmath.h"
#include "kernels/kdefs.h"

/*
 * Ionisation rates as a kernel reads them, W(|E|) in 1/s: exactly 0 below the cut-off, `top`
 * above the ceiling. The tables are those of kernels/models/pulse/rate_table.h.
 */

/* A channel of a table by channel: segments first … of the next channel's first - 1. */
struct rate_channel {
    double scale; /* segments per unit of s = sqrt(k - v) */
    long first;   /* its segment at s = 0 */
};

/* How a rate is evaluated; plain data, the arrays on the backend. */
struct column_rate {
    double cutoff;  /* V/m */
    double ceiling; /* V/m */
    double top;     /* 1/s */
    /* tables: */
    const double (*cubic)[4]; /* ln W = c0 + t (c1 + t (c2 + t c3)) */
    /* by field: */
    int bits;        /* 2^bits segments a binade */
    long long first; /* (bit pattern of E >> (52 - bits)) of segment 0 */
    /* by channel: */
    double photons; /* v at no field */
    double slope;   /* of v in E^2, m^2/V^2 */
    int lowest;     /* k of channel 0 */
    int channels;
    const struct rate_channel *channel; /* [channels + 1] */
    /* ADK: ln W = adk[0] + adk[1] ln E - adk[2]/E */
    double adk[3];
};

#endif
