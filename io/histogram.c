/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "io/histogram.h"

#include <math.h>
#include <string.h>

#include "kernels/base/mem.h"
#include "kernels/base/status.h"

int histogram_init(struct histogram *out, long bins)
{
    *out = (struct histogram){.bins = bins};
    TRY(MEM_NEW(bins, &out->count));
    return MEM_NEW(bins + 1, &out->edge);
}

void histogram_clear(struct histogram *histogram)
{
    mem_free(histogram->count);
    mem_free(histogram->edge);
    *histogram = (struct histogram){0};
}

static void range_find(const double *values, long count, double *low, double *high)
{
    *low = (double)NAN;
    *high = (double)NAN;
    for (long i = 0; i < count; i++) {
        if (!isfinite(values[i]))
            continue;
        *low = isnan(*low) || values[i] < *low ? values[i] : *low;
        *high = isnan(*high) || values[i] > *high ? values[i] : *high;
    }
    if (*low == *high) {
        const double half = *low == 0 ? 0.5 : 0.5e-3 * fabs(*low);
        *low -= half;
        *high += half;
    }
}

/* The stored edges decide, not the quotient, which may round across one. */
static long bin_find(const struct histogram *histogram, double value)
{
    const double *const edge = histogram->edge;
    const double width = (edge[histogram->bins] - edge[0]) / (double)histogram->bins;
    long bin = (long)((value - edge[0]) / width);
    bin = bin < 0 ? 0 : bin;
    bin = bin >= histogram->bins ? histogram->bins - 1 : bin;
    while (bin > 0 && value < edge[bin])
        bin--;
    while (bin < histogram->bins - 1 && value >= edge[bin + 1])
        bin++;
    return bin;
}

void histogram_fill(struct histogram *histogram, const double *values, long count)
{
    double low = (double)NAN;
    double high = (double)NAN;
    range_find(values, count, &low, &high);
    memset(histogram->count, 0, (size_t)histogram->bins * sizeof *histogram->count);
    for (long b = 0; b <= histogram->bins; b++)
        histogram->edge[b] = low + (high - low) * ((double)b / (double)histogram->bins);
    histogram->edge[histogram->bins] = high;
    for (long i = 0; i < count; i++)
        if (isfinite(values[i]))
            histogram->count[bin_find(histogram, values[i])]++;
}
