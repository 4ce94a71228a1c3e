/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef IO_HISTOGRAM_H
#define IO_HISTOGRAM_H

#include <stdint.h>

/* Histograms with linear bins from the smallest to the largest value; private to io. */
struct histogram {
    long bins;
    int32_t *count; /* [bins] */
    double *edge;   /* [bins + 1] */
};

/** Memory for `bins` >= 1 bins; free with histogram_clear. ERR_MEMORY */
int histogram_init(struct histogram *out, long bins);

/** Free; legal on a zeroed one. */
void histogram_clear(struct histogram *histogram);

/**
 * Count values: edge[i] <= value < edge[i + 1], the last bin with its upper edge. Values that
 * are not finite are left out. Equal values give bins around them of 1e-3 of the value (1 for
 * 0). Without a value the edges are NaN.
 */
void histogram_fill(struct histogram *histogram, const double *values, long count);

#endif
