/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef KERNELS_BODIES_RATE_H
#define KERNELS_BODIES_RATE_H

#include "kernels/bodies/vmath.h"
#include "kernels/kdefs.h"

/*
 * Ionisation rates as a kernel reads them, W(|E|) in 1/s: exactly 0 below the cut-off, `top`
 * above the ceiling, NaN where the field is NaN or infinite. The tables are those of
 * kernels/models/pulse/rate_table.h. No branches, so that a loop over samples becomes vector
 * code.
 */

/* A channel of a table by channel: segments first … of the next channel's first - 1. */
struct rate_channel {
    double scale; /* segments per unit of s = sqrt(k - v) */
    long first;   /* its segment at s = 0 */
};

/* How a rate is evaluated; plain data, the arrays on the backend. */
struct column_rate {
    double cutoff;  /* V/m, > 0 */
    double ceiling; /* V/m */
    double top;     /* 1/s */
    /* tables: */
    const double *cubic; /* [segments][4] ln W = c0 + t (c1 + t (c2 + t c3)) */
    /* by field: */
    double low;      /* V/m: a table by channel is read by field below */
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

/* A field within the range where there is a formula: what is below, NaN too, counts as the
 * cut-off, so that no index leaves its table. */
K_FN double rate_inside(const struct column_rate *r, double field)
{
    const double below = field <= r->ceiling ? field : r->ceiling;
    return field >= r->cutoff ? below : r->cutoff;
}

/* The rate at a field, from ln W inside the range. field - field is NaN for NaN and infinite
 * fields and 0 else. */
K_FN double rate_select(const struct column_rate *r, double field, double log_rate)
{
    const double inside = field > r->ceiling ? r->top : vmath_exp(log_rate);
    return (field < r->cutoff ? 0.0 : inside) + (field - field);
}

/* ln W at t in [0, 1) of a segment. */
K_FN double rate_cubic(const struct column_rate *r, long segment, double t)
{
    const long at = 4 * segment;
    return ((r->cubic[at + 3] * t + r->cubic[at + 2]) * t + r->cubic[at + 1]) * t
           + r->cubic[at];
}

/* A place in a table. */
struct rate_place {
    long segment;
    double t; /* in [0, 1) */
};

/* By field: the upper bits of the pattern are the segment, the others the place in it. */
K_FN struct rate_place rate_field_place(const struct column_rate *r, double at)
{
    struct rate_place p;
    unsigned long long pattern;
    __builtin_memcpy(&pattern, &at, sizeof pattern);
    const int shift = 52 - r->bits;
    p.segment = (long)((long long)(pattern >> shift) - r->first);
    /* The rest as the mantissa of a number in [1, 2): exact. */
    const unsigned long long place =
        ((pattern << r->bits) & 0x000fffffffffffffULL) | 0x3ff0000000000000ULL;
    double t;
    __builtin_memcpy(&t, &place, sizeof t);
    p.t = t - 1.0;
    return p;
}

K_FN double rate_field_value(const struct column_rate *r, double field)
{
    const struct rate_place p = rate_field_place(r, rate_inside(r, field));
    return rate_select(r, field, rate_cubic(r, p.segment, p.t));
}

/* By channel: k = ceil(v), s = sqrt(k - v); rounding may carry the ends of the table past its
 * channels and segments. Below `low` by field. */
K_FN double rate_channel_value(const struct column_rate *r, double field)
{
    const double at = rate_inside(r, field);
    const struct rate_place below = rate_field_place(r, at);
    const double v = r->photons + r->slope * at * at;
    const double k = ceil(v);
    const int found = (int)k - r->lowest;
    const int upper = found < r->channels ? found : r->channels - 1;
    const int number = found < 0 ? 0 : upper;
    const long first = r->channel[number].first;
    const long end = r->channel[number + 1].first;
    const double last = (double)(int)(end - first - 1);
    const double s = sqrt(k - v) * r->channel[number].scale;
    const double inner = found > number ? 0.0 : s;
    const double place = found < number ? last + 1.0 : inner;
    const double segment = place < last ? floor(place) : last;
    const double above = place - segment;
    const long chosen = at < r->low ? below.segment : first + (long)(int)segment;
    const double t = at < r->low ? below.t : above;
    return rate_select(r, field, rate_cubic(r, chosen, t));
}

/* ADK's formula. */
K_FN double rate_adk_value(const struct column_rate *r, double field)
{
    const double at = rate_inside(r, field);
    return rate_select(r, field, r->adk[0] + r->adk[1] * vmath_log(at) - r->adk[2] / at);
}

#endif
