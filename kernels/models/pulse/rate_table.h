/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef KERNELS_MODELS_PULSE_RATE_TABLE_H
#define KERNELS_MODELS_PULSE_RATE_TABLE_H

#include <stdbool.h>
#include <stdint.h>

#include "kernels/bodies/rate.h"
#include "kernels/models/pulse/ionisation.h"

/*
 * Tabulated ionisation rate: cubics of ln W, W in 1/s. Every array is plain data that a kernel
 * may read; rate_table_read shows how.
 *
 * By field: 2^bits segments a binade, found from the exponent and the upper mantissa bits of
 * |E|, no logarithm; the rest of the mantissa is the position in the segment. Each cubic meets
 * its neighbours at the ends and keeps the mean and the first moment of ln W over the segment.
 *
 * By channel, PPT alone: the rate has a square-root cusp wherever the photon number v(E) =
 * photons + slope E^2 passes a whole number k, which no polynomial in E follows. With s =
 * sqrt(k - v), k = ceil(v), it is smooth on [0, 1]; each channel has segments of equal width in
 * s. Towards no field the rate is a power of E, to which s is blind: below `low`, halfway to
 * the first closing, such a table is read by field.
 */

/* How a segment is found. */
enum rate_layout { RATE_BY_FIELD, RATE_BY_CHANNEL };

#define RATE_BITS     7  /* segments a binade: 128 */
#define RATE_BITS_MAX 11 /* what a table that must be refined may use */

/* A table. */
struct rate_table {
    enum rate_layout layout;
    double cutoff;      /* V/m: the rate is exactly 0 below */
    double ceiling;     /* V/m: above it the rate is `top` and the sample counts as saturated */
    double top;         /* 1/s */
    long count;         /* segments */
    double (*cubic)[4]; /* [count] ln W = c0 + t (c1 + t (c2 + t c3)), t in [0, 1) */
    double error;       /* largest |ln W - exact| seen between nodes */
    double error_field; /* where, V/m */
    /* by field: */
    double low; /* V/m: a table by channel is read by field below; 0: nowhere */
    int bits;
    int64_t first; /* (bit pattern of E >> (52 - bits)) of segment 0 */
    /* by channel: */
    double photons; /* v at no field */
    double slope;   /* of v in E^2, m^2/V^2 */
    long lowest;    /* k of channel 0 */
    long channels;
    struct rate_channel *channel; /* [channels + 1], the last one closes the list */
};

/* What a table is asked to hold. */
struct rate_limits {
    double least;     /* 1/s: lower rates are cut off; > 0 */
    double tolerance; /* on ln W; INFINITY: take what 128 segments a binade give */
};

/**
 * Tabulate a formula.
 *
 * By field a table with a finite tolerance is refined up to 2^RATE_BITS_MAX segments a binade;
 * the cusps of PPT are beyond that, and there the tolerance has to be INFINITY (table.error
 * says what was seen).
 *
 * @return 0, ERR_ARGUMENT (the tolerance is not met: the line has field and error; no rate
 * above `least`), ERR_UNSUPPORTED (by channel for ADK; more channels than a table may have), or
 *         ERR_MEMORY
 */
int rate_table_create(const struct ionisation *rate, enum rate_layout layout,
                      const struct rate_limits *limits, struct rate_table **out);

/**
 * Tabulate a user's rate by field: a cubic spline of ln W over ln E through the points, zero
 * below the first and saturated above the last one.
 *
 * @param field [n] V/m, ascending, > 0
 * @param rate  [n] 1/s, > 0
 * @param n     >= 4
 * @return as rate_table_create; ERR_ARGUMENT names the offending point
 */
int rate_table_from_points(const double *field, const double *rate, long n, double tolerance,
                           struct rate_table **out);

/** Free; NULL is legal. */
void rate_table_destroy(struct rate_table *table);

/**
 * Rate at a field amplitude, 1/s.
 *
 * @param field     |E|, V/m, >= 0
 * @param saturated receives whether it lies above the ceiling; NULL: not wanted
 */
double rate_table_read(const struct rate_table *table, double field, bool *saturated);

#endif
