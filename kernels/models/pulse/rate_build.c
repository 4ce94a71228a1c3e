/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "kernels/models/pulse/rate_build.h"

#include <math.h>

#include "kernels/base/mem.h"
#include "kernels/base/status.h"
#include "kernels/numeric/quadrature.h"

#define MOMENT_POINTS 8

/* Positions in a segment that no fit has used. */
#define CHECKS 6
static const double checks[CHECKS] = {0.04, 0.15, 0.37, 0.5, 0.68, 0.93};

/* Segments of a channel: from, up to; channels and segments of a table. */
#define CHANNEL_MIN    4
#define CHANNEL_MAX    65536
#define CHANNEL_LIMIT  65536
#define SEGMENTS_LIMIT 1048576

static int table_create(const struct rate_source *source, enum rate_layout layout,
                        struct rate_table **out)
{
    struct rate_table *table = NULL;
    TRY(MEM_NEW(1, &table));
    *table =
        (struct rate_table){.layout = layout,
                            .cutoff = source->cutoff,
                            .ceiling = source->ceiling,
                            .top = exp(source->log_rate(source->context, source->ceiling))};
    *out = table;
    return 0;
}

static int no_table(const struct rate_source *source, const struct rate_table *table)
{
    FAIL(ERR_ARGUMENT,
         "plasma.rate: a table of ln W is off by %g at %g V/m with %ld segments, %g is asked "
         "for",
         table->error, table->error_field, table->count, source->tolerance);
}

static double cubic_value(const double *c, double t)
{
    return ((c[3] * t + c[2]) * t + c[1]) * t + c[0];
}

/* Cubic with the values y0, y1 at the ends of [0, 1] and the given mean and first moment (with
 * 2t - 1) of what it departs from their line by: t (1 - t) (6 mean + 30 moment (2t - 1)). */
static void set_cubic(double *c, double y0, double y1, double mean, double moment)
{
    const double p = 6.0 * mean;
    const double q = 30.0 * moment;
    c[0] = y0;
    c[1] = y1 - y0 + p - q;
    c[2] = 3.0 * q - p;
    c[3] = -2.0 * q;
}

/* Remember the worst error. */
static void note_error(struct rate_table *table, double got, double want, double field)
{
    const double error = fabs(got - want);
    if (error > table->error) {
        table->error = error;
        table->error_field = field;
    }
}

/* Segment i over fields from e0 to e1, on which t is linear. */
static void fit_field(const struct rate_source *source, struct rate_table *table, long i,
                      double e0, double e1)
{
    struct quadrature q;
    quadrature_legendre(&q, MOMENT_POINTS);
    const double y0 = source->log_rate(source->context, e0);
    const double y1 = source->log_rate(source->context, e1);
    double mean = 0.0;
    double moment = 0.0;
    for (int k = 0; k < q.n; k++) {
        const double t = q.node[k];
        const double y = source->log_rate(source->context, e0 + t * (e1 - e0));
        const double departs = y - (y0 + t * (y1 - y0));
        mean += q.weight[k] * departs;
        moment += q.weight[k] * (2.0 * t - 1.0) * departs;
    }
    set_cubic(table->cubic[i], y0, y1, mean, moment);
    for (int k = 0; k < CHECKS; k++) {
        const double field = e0 + checks[k] * (e1 - e0);
        if (field < source->cutoff || field > source->ceiling)
            continue;
        note_error(table, cubic_value(table->cubic[i], checks[k]),
                   source->log_rate(source->context, field), field);
    }
}

static int fill_by_field(const struct rate_source *source, struct rate_table *table, int bits)
{
    const int shift = 52 - bits;
    mem_free(table->cubic);
    table->cubic = NULL;
    table->bits = bits;
    table->error = 0.0;
    table->first = rate_pattern(source->cutoff) >> shift;
    table->count = (long)((rate_pattern(source->ceiling) >> shift) - table->first + 1);
    TRY(MEM_NEW(table->count, &table->cubic));
    for (long i = 0; i < table->count; i++)
        fit_field(source, table, i, rate_unpattern((table->first + i) << shift),
                  rate_unpattern((table->first + i + 1) << shift));
    return 0;
}

int rate_build_by_field(const struct rate_source *source, struct rate_table **out)
{
    struct rate_table *table = NULL;
    int rc = 0;
    *out = NULL;
    TRY(table_create(source, RATE_BY_FIELD, &table));
    TRY_OR(rc, done, fill_by_field(source, table, RATE_BITS));
    /* A cubic gains at least 8 from halving where the rate is smooth; at a cusp it gains 1.4.
     */
    for (double before = (double)INFINITY; table->error > source->tolerance
                                           && table->error < 0.5 * before
                                           && table->bits < RATE_BITS_MAX;) {
        before = table->error;
        TRY_OR(rc, done, fill_by_field(source, table, table->bits + 1));
    }
    if (table->error > source->tolerance)
        TRY_OR(rc, done, no_table(source, table));
    *out = table;
    table = NULL;
done:
    rate_table_destroy(table);
    return rc;
}

/* A table by channel that grows. */
struct growing {
    const struct rate_source *source;
    const struct ionisation *rate;
    struct rate_table *table;
    long room;  /* segments allocated */
    long start; /* segments that the next channel begins with: what the last one needed */
};

/* Field at a distance s^2 below channel closing k. */
static double field_at(const struct growing *g, double k, double s)
{
    return ionisation_field(g->rate, k - s * s);
}

/* ln W there. */
static double log_rate_at(const struct growing *g, double k, double s)
{
    return ionisation_log_rate_at(g->rate, k - s * s);
}

static int make_room(struct growing *g, long count)
{
    if (count <= g->room)
        return 0;
    if (count > SEGMENTS_LIMIT)
        FAIL(ERR_UNSUPPORTED,
             "plasma.rate: ppt at %g m needs more than %d segments by channel; tabulate it by "
             "field",
             g->rate->request.wavelength, SEGMENTS_LIMIT);
    double(*grown)[4] = NULL;
    const long room = 2 * count;
    TRY(MEM_NEW(room, &grown));
    for (long i = 0; i < g->table->count; i++)
        for (int k = 0; k < 4; k++)
            grown[i][k] = g->table->cubic[i][k];
    mem_free(g->table->cubic);
    g->table->cubic = grown;
    g->room = room;
    return 0;
}

/* Cubic through the ends and the quarters of [0, 1]. */
static void interpolate(double *c, const double *y)
{
    const double line = y[3] - y[0];
    const double a = (y[1] - (y[0] + 0.25 * line)) * (16.0 / 3.0); /* over t (1 - t) */
    const double b = (y[2] - (y[0] + 0.75 * line)) * (16.0 / 3.0);
    /* a and b at t = 1/4 and 3/4 lie on p + q (2t - 1) */
    const double p = 0.5 * (a + b);
    const double q = b - a;
    c[0] = y[0];
    c[1] = line + p - q;
    c[2] = 3.0 * q - p;
    c[3] = -2.0 * q;
}

/* Fit channel k with n segments over s in [0, reach]; the worst error goes to worst. */
static void fit_channel(struct growing *g, double k, double reach, long n,
                        struct rate_table *worst)
{
    static const double nodes[4] = {0.0, 0.25, 0.75, 1.0};
    const double h = reach / (double)n;
    double y[4] = {log_rate_at(g, k, 0.0)};
    for (long i = 0; i < n; i++) {
        double *const c = g->table->cubic[g->table->count + i];
        for (int j = 1; j < 4; j++)
            y[j] = log_rate_at(g, k, h * ((double)i + nodes[j]));
        interpolate(c, y);
        y[0] = y[3];
        for (int j = 0; j < CHECKS; j++) {
            const double s = h * ((double)i + checks[j]);
            const double field = field_at(g, k, s);
            if (field >= g->source->cutoff && field <= g->source->ceiling)
                note_error(worst, cubic_value(c, checks[j]), log_rate_at(g, k, s), field);
        }
    }
}

/* Channel number i of the table: as many segments as the tolerance asks for. */
static int add_channel(struct growing *g, long i)
{
    struct rate_table *const table = g->table;
    const double k = (double)(table->lowest + i);
    const double from = fmax(g->source->cutoff, table->low);
    const double reach = sqrt(fmin(1.0, k - ionisation_photons(g->rate, from)));
    struct rate_table worst = {.count = g->start};
    TRY(make_room(g, table->count + worst.count));
    fit_channel(g, k, reach, worst.count, &worst);
    while (worst.error > g->source->tolerance) {
        if (worst.count >= CHANNEL_MAX)
            return no_table(g->source, &worst);
        /* A cubic's error falls with the fourth power. */
        const double more = 1.1 * pow(worst.error / g->source->tolerance, 0.25);
        const double count = ceil((double)worst.count * fmin(more, 16.0));
        worst = (struct rate_table){.count = (long)fmin(count, CHANNEL_MAX)};
        TRY(make_room(g, table->count + worst.count));
        fit_channel(g, k, reach, worst.count, &worst);
    }
    const double enough =
        ceil(1.05 * (double)worst.count * pow(worst.error / g->source->tolerance, 0.25));
    g->start = (long)fmax(fmin(enough, (double)worst.count), CHANNEL_MIN);
    if (worst.error > table->error) {
        table->error = worst.error;
        table->error_field = worst.error_field;
    }
    table->channel[i] = (struct rate_channel){(double)worst.count / reach, table->count};
    table->count += worst.count;
    table->channel[i + 1].first = table->count;
    return 0;
}

/* Segments by field from the cut-off to halfway between no field and the first closing. */
static int fill_low(struct growing *g)
{
    struct rate_table *const table = g->table;
    const double photons = ionisation_photons(g->rate, 0.0);
    const double middle = 0.5 * (photons + ceil(photons));
    struct rate_source below = *g->source;
    struct rate_table *plain = NULL;
    below.ceiling = fmin(ionisation_field(g->rate, middle), g->source->ceiling);
    if (!(below.ceiling > below.cutoff))
        return 0;
    TRY(rate_build_by_field(&below, &plain));
    const int rc = make_room(g, plain->count);
    for (long i = 0; rc == 0 && i < plain->count; i++)
        for (int k = 0; k < 4; k++)
            table->cubic[i][k] = plain->cubic[i][k];
    table->count = plain->count;
    table->low = below.ceiling;
    table->bits = plain->bits;
    table->first = plain->first;
    table->error = plain->error;
    table->error_field = plain->error_field;
    rate_table_destroy(plain);
    return rc;
}

static int fill_channels(struct growing *g)
{
    struct rate_table *const table = g->table;
    const double least = ceil(ionisation_photons(g->rate, fmax(g->source->cutoff, table->low)));
    const double most = ceil(ionisation_photons(g->rate, g->source->ceiling));
    if (most - least >= CHANNEL_LIMIT)
        FAIL(ERR_UNSUPPORTED,
             "plasma.rate: ppt at %g m closes %g channels, at most %d can be tabulated; "
             "tabulate it by field",
             g->rate->request.wavelength, most - least, CHANNEL_LIMIT);
    table->photons = ionisation_photons(g->rate, 0.0);
    table->slope = (ionisation_photons(g->rate, g->source->ceiling) - table->photons)
                   / (g->source->ceiling * g->source->ceiling);
    table->lowest = (long)least;
    table->channels = (long)(most - least) + 1;
    TRY(MEM_NEW(table->channels + 1, &table->channel));
    for (long i = 0; i < table->channels; i++)
        TRY(add_channel(g, i));
    return 0;
}

int rate_build_by_channel(const struct rate_source *source, const struct ionisation *rate,
                          struct rate_table **out)
{
    struct growing g = {.source = source, .rate = rate, .start = CHANNEL_MIN};
    int rc = 0;
    *out = NULL;
    TRY(table_create(source, RATE_BY_CHANNEL, &g.table));
    TRY_OR(rc, done, fill_low(&g));
    TRY_OR(rc, done, fill_channels(&g));
    *out = g.table;
    g.table = NULL;
done:
    rate_table_destroy(g.table);
    return rc;
}
