/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "kernels/models/pulse/rate_table.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

#include "kernels/base/mem.h"
#include "kernels/base/status.h"
#include "kernels/models/pulse/rate_build.h"
#include "kernels/numeric/spline.h"

int64_t rate_pattern(double field)
{
    int64_t bits = 0;
    memcpy(&bits, &field, sizeof bits);
    return bits;
}

double rate_unpattern(int64_t bits)
{
    double field = 0.0;
    memcpy(&field, &bits, sizeof field);
    return field;
}

void rate_table_destroy(struct rate_table *table)
{
    if (table == NULL)
        return;
    mem_free(table->cubic);
    mem_free(table->channel);
    mem_free(table);
}

/* Segment of a field and the position in it. */
static long find_by_field(const struct rate_table *table, double field, double *t)
{
    const int shift = 52 - table->bits;
    const int64_t bits = rate_pattern(field);
    *t = (double)(bits & (((int64_t)1 << shift) - 1)) * ldexp(1.0, -shift);
    return (long)((bits >> shift) - table->first);
}

static long find_by_channel(const struct rate_table *table, double field, double *t)
{
    const double v = table->photons + table->slope * field * field;
    const double k = ceil(v);
    /* Rounding may carry the ends of the table past its channels and segments. */
    const long found = (long)k - table->lowest;
    const long number = found < 0 ? 0 : found < table->channels ? found : table->channels - 1;
    const struct rate_channel *const c = &table->channel[number];
    const long last = c[1].first - c->first - 1;
    const double at = found > number ? 0.0 : sqrt(k - v) * c->scale;
    const long segment = found < number || at >= (double)last ? last : (long)at;
    *t = found < number ? 1.0 : at - (double)segment;
    return c->first + segment;
}

double rate_table_read(const struct rate_table *table, double field, bool *saturated)
{
    const bool above = field > table->ceiling;
    if (saturated != NULL)
        *saturated = above;
    if (above)
        return table->top;
    if (!(field >= table->cutoff))
        return 0.0;
    double t = 0.0;
    const bool plain = table->layout == RATE_BY_FIELD || field < table->low;
    const long i = plain ? find_by_field(table, field, &t) : find_by_channel(table, field, &t);
    const double *const c = table->cubic[i];
    return exp(((c[3] * t + c[2]) * t + c[1]) * t + c[0]);
}

/* A user's points as a spline. */
struct user_rate {
    struct spline *spline;
};

static double user_log_rate(const void *context, double field)
{
    const struct user_rate *const u = context;
    return spline_value(u->spline, log(field));
}

static int load_points(const double *field, const double *rate, long n, struct user_rate *u)
{
    double *x = NULL;
    double *y = NULL;
    int rc = 0;
    for (long i = 0; i < n; i++)
        if (!(field[i] > 0.0 && rate[i] > 0.0 && isfinite(field[i]) && isfinite(rate[i])
              && (i == 0 || field[i] > field[i - 1])))
            FAIL(ERR_ARGUMENT,
                 "plasma.rate: point %ld of the table is %g V/m, %g 1/s; positive fields, "
                 "ascending, and positive rates are needed",
                 i, field[i], rate[i]);
    TRY_OR(rc, done, MEM_NEW(n, &x));
    TRY_OR(rc, done, MEM_NEW(n, &y));
    for (long i = 0; i < n; i++) {
        x[i] = log(field[i]);
        y[i] = log(rate[i]);
    }
    TRY_OR(rc, done, spline_create(x, y, n, &u->spline));
done:
    mem_free(x);
    mem_free(y);
    return rc;
}

int rate_table_from_points(const double *field, const double *rate, long n, double tolerance,
                           struct rate_table **out)
{
    struct user_rate u = {NULL};
    *out = NULL;
    if (n < 4)
        FAIL(ERR_ARGUMENT, "plasma.rate: a table of %ld points; at least 4 are needed", n);
    TRY(load_points(field, rate, n, &u));
    const struct rate_source source = {user_log_rate, &u, field[0], field[n - 1], tolerance};
    const int rc = rate_build_by_field(&source, out);
    spline_destroy(u.spline);
    return rc;
}

static double formula_log_rate(const void *context, double field)
{
    return ionisation_log_rate(context, field);
}

/* Lowest field whose rate is `least`, between the threshold and the ceiling. */
static int find_cutoff(const struct ionisation *rate, double least, double *cutoff)
{
    double low = fmax(rate->threshold, rate->ceiling * 1e-6);
    double high = rate->ceiling;
    const double want = log(least);
    if (!(ionisation_log_rate(rate, high) > want))
        FAIL(ERR_ARGUMENT, "plasma.rate: the rate stays below %g 1/s up to %g V/m", least,
             high);
    if (ionisation_log_rate(rate, low) >= want) {
        *cutoff = low;
        return 0;
    }
    for (int i = 0; i < 60; i++) {
        const double middle = 0.5 * (low + high);
        *(ionisation_log_rate(rate, middle) < want ? &low : &high) = middle;
    }
    *cutoff = high;
    return 0;
}

int rate_table_create(const struct ionisation *rate, enum rate_layout layout,
                      const struct rate_limits *limits, struct rate_table **out)
{
    *out = NULL;
    struct rate_source source = {formula_log_rate, rate, 0.0, rate->ceiling, limits->tolerance};
    if (!(limits->least > 0.0))
        FAIL(ERR_ARGUMENT, "plasma.rate: cut-off at %g 1/s; it must be positive",
             limits->least);
    TRY(find_cutoff(rate, limits->least, &source.cutoff));
    if (layout == RATE_BY_FIELD)
        return rate_build_by_field(&source, out);
    if (rate->request.kind != RATE_PPT)
        FAIL(ERR_UNSUPPORTED, "plasma.rate: only ppt has channels");
    return rate_build_by_channel(&source, rate, out);
}
