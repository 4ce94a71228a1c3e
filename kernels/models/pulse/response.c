/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "kernels/models/pulse/response.h"

#include <limits.h>
#include <math.h>
#include <string.h>

#include <omp.h>

#include "kernels/base/mem.h"
#include "kernels/base/status.h"
#include "kernels/models/pulse/atomic.h"

/* e^2/m, C^2/kg */
#define MOBILITY (PULSE_E * PULSE_E / PULSE_ME)

/* A species of a column. */
struct species_own {
    struct rate_channel *channel; /* on the backend; NULL: none */
    double *cubic;
    double share, potential;
};

/* A column's own part, beside its window. */
struct column_own {
    double dt, preionised;
    int side; /* taps a side, 0 with the trapezoid rule */
};

/* Scratch of a thread; rows point behind their pad. */
struct column_scratch {
    double *w, *integrand, *loss;
    double *part[2]; /* [components][ld] responses of species; NULL: not needed */
};

struct response {
    struct response_setup setup;
    long ld;                     /* of windows */
    long ld_pad;                 /* of scratch rows */
    long threads;                /* scratch sets */
    double *windows;             /* [columns][ld] */
    double *scratch;             /* [threads][scratch rows][ld_pad] */
    double *parts;               /* [threads][part rows][components][ld] */
    double *scalars;             /* [columns][species][COLUMN_SCALARS] */
    double *taps;                /* [columns][COLUMN_SIDE_MAX + 1] */
    double *sums;                /* [columns][species][COLUMN_SUMS] */
    struct column_rate *rates;   /* [columns][species] */
    struct column_own *own;      /* [columns] host */
    struct species_own *species; /* [columns][species] host */
    struct column_scratch *sets; /* [threads] host */
};

/* Whether the column can be one pass: no filter needs a whole row. */
static bool can_fuse(const struct response_setup *s)
{
    return s->rule == PLASMA_TRAPEZOID && s->components == 1;
}

/* Whether three passes by all threads are faster than one by one thread. */
static bool splits(const struct response_setup *s)
{
    return s->n >= s->backend->threshold[THRESHOLD_column_splits];
}

/* Whether it is one pass here and now: threads that share a row need rows for its integrals. */
static bool is_fused(const struct response_setup *s)
{
    return can_fuse(s) && !(splits(s) && backend_shares_column(s->backend, s->n));
}

static long scratch_rows(const struct response_setup *s)
{
    if (s->rule == PLASMA_NONE)
        return 0;
    const bool may_share =
        s->backend->threads > 1 && s->n >= s->backend->threshold[THRESHOLD_column_shares];
    return can_fuse(s) && !(may_share && splits(s)) ? 1 : 1 + 2 * s->components;
}

/* Responses that are kept until they are added: that of the first species, and that of the one
 * in hand. The last one's goes to its place. */
static long part_rows(const struct response_setup *s)
{
    if (s->rule == PLASMA_NONE || s->species == 1)
        return 0;
    return s->species == 2 ? 1 : 2;
}

/* Samples of all responses that a thread keeps. */
static long part_length(const struct response_setup *s)
{
    return part_rows(s) * s->components * backend_stride(s->n, sizeof(double));
}

static long padded_stride(long n)
{
    return backend_stride(n + 2 * COLUMN_PAD, sizeof(double));
}

size_t response_column_bytes(const struct response_setup *setup)
{
    const size_t species = sizeof(struct species_own) + sizeof(struct column_rate)
                           + (COLUMN_SCALARS + COLUMN_SUMS) * sizeof(double);
    return (size_t)backend_stride(setup->n, sizeof(double)) * sizeof(double)
           + sizeof(struct column_own) + (size_t)setup->species * species
           + (COLUMN_SIDE_MAX + 1) * sizeof(double);
}

size_t response_shared_bytes(const struct response_setup *setup)
{
    const long samples = scratch_rows(setup) * padded_stride(setup->n) + part_length(setup);
    const size_t set = (size_t)samples * sizeof(double);
    return sizeof(struct response)
           + (size_t)setup->backend->threads * (set + sizeof(struct column_scratch));
}

static int check_setup(const struct response_setup *s)
{
    if (s->components < 1 || s->components > 2)
        FAIL(ERR_BUG, "a field has 1 or 2 components, not %d", s->components);
    if (s->components == 2 && !s->third_harmonic)
        FAIL(ERR_UNSUPPORTED,
             "the Kerr response of two components is known with the third harmonic only");
    if (s->envelope && (s->rule != PLASMA_NONE || s->components == 2 || s->third_harmonic))
        FAIL(ERR_UNSUPPORTED, "an envelope has neither plasma, two components nor a third "
                              "harmonic");
    if (s->n <= 2 * COLUMN_PAD || s->columns < 1)
        FAIL(ERR_BUG, "a response of %ld samples and %ld columns", s->n, s->columns);
    if (s->species < 1 || s->species > RESPONSE_SPECIES)
        FAIL(ERR_BUG, "a response of %d species; 1 to %d are accepted", s->species,
             RESPONSE_SPECIES);
    return 0;
}

static void place_scratch(struct response *r)
{
    const int components = r->setup.components;
    double *next = r->scratch + COLUMN_PAD;
    for (long t = 0; t < r->threads && r->scratch != NULL; t++) {
        struct column_scratch *set = &r->sets[t];
        set->w = next;
        const long rows = scratch_rows(&r->setup);
        set->integrand = rows == 1 ? next : next + r->ld_pad;
        set->loss = rows == 1 ? next : next + (1 + components) * r->ld_pad;
        next += rows * r->ld_pad;
    }
    for (long t = 0; t < r->threads && r->parts != NULL; t++)
        for (long k = 0; k < part_rows(&r->setup); k++)
            r->sets[t].part[k] = r->parts + t * part_length(&r->setup) + k * components * r->ld;
}

static int create_memory(struct response *r)
{
    struct backend *be = r->setup.backend;
    const struct backend_ops *ops = be->ops;
    const long columns = r->setup.columns;
    const long all = columns * r->setup.species;
    const long kept = r->threads * part_length(&r->setup);
    TRY(ops->alloc(be, columns * r->ld, sizeof(double), (void **)&r->windows));
    TRY(ops->alloc(be, all * COLUMN_SCALARS, sizeof(double), (void **)&r->scalars));
    TRY(ops->alloc(be, columns * (COLUMN_SIDE_MAX + 1), sizeof(double), (void **)&r->taps));
    TRY(ops->alloc(be, all * COLUMN_SUMS, sizeof(double), (void **)&r->sums));
    TRY(ops->alloc(be, all, sizeof(struct column_rate), (void **)&r->rates));
    TRY(MEM_NEW(columns, &r->own));
    TRY(MEM_NEW(all, &r->species));
    TRY(MEM_NEW(r->threads, &r->sets));
    const long rows = scratch_rows(&r->setup);
    if (rows > 0)
        TRY(ops->alloc(be, r->threads * rows * r->ld_pad, sizeof(double),
                       (void **)&r->scratch));
    if (kept > 0)
        TRY(ops->alloc(be, kept, sizeof(double), (void **)&r->parts));
    place_scratch(r);
    return 0;
}

int response_create(const struct response_setup *setup, struct response **out)
{
    struct response *r = NULL;
    *out = NULL;
    TRY(check_setup(setup));
    TRY(MEM_NEW(1, &r));
    r->setup = *setup;
    r->ld = backend_stride(setup->n, sizeof(double));
    r->ld_pad = padded_stride(setup->n);
    r->threads = setup->backend->threads;
    const int rc = create_memory(r);
    if (rc != 0)
        response_destroy(r);
    else
        *out = r;
    return rc;
}

void response_destroy(struct response *response)
{
    if (response == NULL)
        return;
    struct backend *be = response->setup.backend;
    const long all = response->setup.columns * response->setup.species;
    for (long i = 0; response->species != NULL && i < all; i++) {
        be->ops->release(be, response->species[i].channel);
        be->ops->release(be, response->species[i].cubic);
    }
    void *const memory[] = {response->windows, response->scratch, response->scalars,
                            response->taps,    response->sums,    response->rates,
                            response->parts};
    for (size_t i = 0; i < sizeof memory / sizeof memory[0]; i++)
        be->ops->release(be, memory[i]);
    mem_free(response->own);
    mem_free(response->species);
    mem_free(response->sets);
    mem_free(response);
}

/* A table's arrays on the backend. */
static int load_table(struct backend *be, const struct rate_table *table,
                      struct species_own *own, struct column_rate *out)
{
    const bool channels = table->layout == RATE_BY_CHANNEL;
    if (channels && (table->lowest < INT_MIN || table->lowest + table->channels > INT_MAX))
        FAIL(ERR_UNSUPPORTED, "plasma.rate: channels %ld to %ld", table->lowest,
             table->lowest + table->channels);
    TRY(be->ops->alloc(be, 4 * table->count, sizeof(double), (void **)&own->cubic));
    TRY(be->ops->upload(be, own->cubic, table->cubic,
                        (size_t)table->count * sizeof table->cubic[0]));
    *out = (struct column_rate){.cutoff = table->cutoff,
                                .ceiling = table->ceiling,
                                .top = table->top,
                                .cubic = own->cubic,
                                .low = table->low,
                                .bits = table->bits,
                                .first = table->first};
    if (!channels)
        return 0;
    const long count = table->channels + 1;
    TRY(be->ops->alloc(be, count, sizeof *own->channel, (void **)&own->channel));
    TRY(be->ops->upload(be, own->channel, table->channel,
                        (size_t)count * sizeof *own->channel));
    out->photons = table->photons;
    out->slope = table->slope;
    out->lowest = (int)table->lowest;
    out->channels = (int)table->channels;
    out->channel = own->channel;
    return 0;
}

static int load_rate(struct response *r, struct species_own *own, enum rate_evaluation rate,
                     const struct response_species *in, struct column_rate *out)
{
    struct backend *be = r->setup.backend;
    be->ops->release(be, own->channel);
    be->ops->release(be, own->cubic);
    own->channel = NULL;
    own->cubic = NULL;
    if (rate == RESPONSE_RATE_ADK) {
        *out = (struct column_rate){.cutoff = nextafter(in->adk->threshold, (double)INFINITY),
                                    .ceiling = in->adk->ceiling,
                                    .top = ionisation_rate(in->adk, in->adk->ceiling, NULL)};
        return ionisation_adk(in->adk, out->adk);
    }
    const enum rate_layout want = rate == RESPONSE_RATE_FIELD ? RATE_BY_FIELD : RATE_BY_CHANNEL;
    if (in->table->layout != want)
        FAIL(ERR_BUG, "a table of another layout was given to a response");
    return load_table(be, in->table, own, out);
}

static int load_species(struct response *r, long column, int i,
                        const struct response_species *in)
{
    struct backend *be = r->setup.backend;
    const long at = column * r->setup.species + i;
    struct species_own *own = &r->species[at];
    struct column_rate rate;
    own->share = in->share;
    own->potential = in->potential;
    TRY(load_rate(r, own, r->setup.rate[i], in, &rate));
    return be->ops->upload(be, r->rates + at, &rate, sizeof rate);
}

int response_load(struct response *response, long column, const struct response_column *in)
{
    struct backend *be = response->setup.backend;
    const struct backend_ops *ops = be->ops;
    struct column_own *own = &response->own[column];
    TRY(ops->upload(be, response->windows + column * response->ld, in->window,
                    (size_t)response->setup.n * sizeof(double)));
    const double nothing[RESPONSE_SPECIES * COLUMN_SUMS] = {0.0};
    const int species = response->setup.species;
    TRY(ops->upload(be, response->sums + column * species * COLUMN_SUMS, nothing,
                    (size_t)species * COLUMN_SUMS * sizeof(double)));
    own->dt = in->dt;
    own->preionised = in->preionised;
    if (response->setup.rule == PLASMA_NONE)
        return 0;
    struct taps taps;
    taps_none(&taps);
    if (response->setup.rule == PLASMA_BAND)
        taps = in->taps;
    own->side = taps.side;
    double *at = response->taps + column * (COLUMN_SIDE_MAX + 1);
    TRY(ops->upload(be, at, taps.tap, sizeof taps.tap));
    for (int i = 0; i < species; i++)
        TRY(load_species(response, column, i, &in->species[i]));
    return 0;
}

/* Complex samples, real factors; COLUMN_KERR holds what half the analytic signals need. */
static int apply_envelope(struct response *r, const double *window, const double *scalars,
                          const struct response_rows *rows)
{
    const struct response_envelope_args args = {.field = rows->envelope,
                                                .extra = rows->extra,
                                                .window = window,
                                                .scale = scalars + COLUMN_SCALE,
                                                .kerr = scalars + COLUMN_KERR,
                                                .out = rows->envelope,
                                                .ld = rows->ld,
                                                .ld_real = r->ld};
    struct backend *be = r->setup.backend;
    return be->kernels->response_envelope[r->setup.extra ? 1 : 0](be, &args, 0, 1, r->setup.n);
}

static double *out_of(const struct response_rows *rows)
{
    return rows->out != NULL ? rows->out : rows->samples;
}

/* Kerr and extra alone. */
static int apply_kerr(struct response *r, const double *window, const double *scalars,
                      const struct response_rows *rows)
{
    struct backend *be = r->setup.backend;
    const struct kernel_table *run = be->kernels;
    const long n = r->setup.n;
    if (r->setup.envelope)
        return apply_envelope(r, window, scalars, rows);
    if (r->setup.components == 2) {
        const struct response_pair_args args = {.field = rows->samples,
                                                .extra = rows->extra,
                                                .window = window,
                                                .scale = scalars + COLUMN_SCALE,
                                                .kerr = scalars + COLUMN_KERR,
                                                .out = rows->samples,
                                                .ld = rows->ld};
        return (r->setup.extra ? run->response_kerr_pair_extra
                               : run->response_kerr_pair)(be, &args, 0, 1, n);
    }
    const struct response_kerr_args args = {.field = rows->samples,
                                            .quadrature = rows->quadrature,
                                            .extra = rows->extra,
                                            .window = window,
                                            .scale = scalars + COLUMN_SCALE,
                                            .kerr = scalars + COLUMN_KERR,
                                            .out = out_of(rows),
                                            .ld = rows->ld};
    const int s = r->setup.third_harmonic ? 0 : 1;
    return (r->setup.extra ? run->response_kerr_extra[s] : run->response_kerr[s])(be, &args, 0,
                                                                                  1, n);
}

static int apply_plasma(struct response *r, enum rate_evaluation rate,
                        const struct column_args *args)
{
    typedef int launch(struct backend * be, const struct column_args *a, long row, long rows,
                       long n);
    struct backend *be = r->setup.backend;
    const struct kernel_table *run = be->kernels;
    launch *const trapezoids[] = {[RESPONSE_RATE_FIELD] = run->column_trapezoid_field,
                                  [RESPONSE_RATE_CHANNEL] = run->column_trapezoid_channel,
                                  [RESPONSE_RATE_ADK] = run->column_trapezoid_adk};
    launch *const exposures[] = {[RESPONSE_RATE_FIELD] = run->column_exposure_field,
                                 [RESPONSE_RATE_CHANNEL] = run->column_exposure_channel,
                                 [RESPONSE_RATE_ADK] = run->column_exposure_adk};
    const long n = r->setup.n;
    if (is_fused(&r->setup))
        return trapezoids[rate](be, args, 0, 1, n);
    TRY(exposures[rate](be, args, 0, 1, n));
    TRY(run->column_current(be, args, 0, 1, n));
    return run->column_polarise(be, args, 0, 1, n);
}

/* What the kernels read for a species; Kerr goes with the last one. */
static int upload_scalars(struct response *r, long column, int i,
                          const struct response_factors *factors)
{
    struct backend *be = r->setup.backend;
    const struct column_own *own = &r->own[column];
    const long at = column * r->setup.species + i;
    const bool last = i == r->setup.species - 1;
    const bool plasma = r->setup.rule != PLASMA_NONE;
    /* Of an envelope half of (3/4) |2 E|^2 2 E. */
    const double kerr = r->setup.envelope ? 3.0 * factors->kerr : factors->kerr;
    const double share = plasma ? r->species[at].share : 0.0;
    const double values[COLUMN_SCALARS] = {[COLUMN_SCALE] = factors->scale,
                                           [COLUMN_KERR] = last ? kerr : 0.0,
                                           [COLUMN_DENSITY] = share * factors->density,
                                           [COLUMN_PREIONISED] = own->preionised,
                                           [COLUMN_DT] = own->dt,
                                           [COLUMN_MOBILITY] = MOBILITY,
                                           [COLUMN_POTENTIAL] = r->species[at].potential};
    return be->ops->upload(be, r->scalars + at * COLUMN_SCALARS, values, sizeof values);
}

/* The plasma of a species; of the last one with Kerr and extra beside it.
 * NOLINTNEXTLINE(readability-non-const-parameter): the kernel writes out */
static int apply_species(struct response *r, long column, int i,
                         const struct response_rows *rows, double *out, struct row_status *st)
{
    const struct response_setup *setup = &r->setup;
    const long at = column * setup->species + i;
    const bool last = i == setup->species - 1;
    const struct column_scratch *set = &r->sets[omp_get_thread_num()];
    const struct column_args args = {
        .field = rows->samples,
        .quadrature = last && !setup->third_harmonic ? rows->quadrature : NULL,
        .extra = last && setup->extra ? rows->extra : NULL,
        .window = r->windows + column * r->ld,
        .rate = r->rates + at,
        .scalars = r->scalars + at * COLUMN_SCALARS,
        .taps = r->taps + column * (COLUMN_SIDE_MAX + 1),
        .w = set->w,
        .integrand = set->integrand,
        .loss = set->loss,
        .out = out,
        .sums = r->sums + at * COLUMN_SUMS,
        .components = setup->components,
        .side = r->own[column].side,
        .ld = rows->ld,
        .ld_pad = r->ld_pad};
    st->passes += is_fused(setup) ? RESPONSE_PASSES_TRAPEZOID : RESPONSE_PASSES_BAND;
    return apply_plasma(r, setup->rate[i], &args);
}

/* to += from, all components.
 * NOLINTNEXTLINE(readability-non-const-parameter): the kernel writes to */
static int add_part(struct response *r, const double *from, double *to, long ld,
                    struct row_status *st)
{
    struct backend *be = r->setup.backend;
    const struct response_add_args args = {.first = to, .second = from, .out = to, .ld = ld};
    st->passes += RESPONSE_PASSES_ADD;
    return be->kernels->response_add(be, &args, 0, r->setup.components, r->setup.n);
}

/* Species one after the other, as their scratch is the same; the field is kept until the last
 * one, which takes its place. */
static int apply_all(struct response *r, long column, const struct response_rows *rows,
                     struct row_status *st)
{
    const int last = r->setup.species - 1;
    double *const *part = r->sets[omp_get_thread_num()].part;
    for (int i = 0; i < last; i++) {
        TRY(apply_species(r, column, i, rows, part[i > 0], st));
        if (i > 0)
            TRY(add_part(r, part[1], part[0], rows->ld, st));
    }
    TRY(apply_species(r, column, last, rows, out_of(rows), st));
    return last > 0 ? add_part(r, part[0], out_of(rows), rows->ld, st) : 0;
}

int response_apply(struct response *response, long column,
                   const struct response_factors *factors, const struct response_rows *rows,
                   struct row_status *st)
{
    const struct response_setup *setup = &response->setup;
    const int species = setup->species;
    const long last = column * species + species - 1;
    if (rows->out != NULL && (setup->components > 1 || setup->envelope))
        FAIL(ERR_BUG, "a response of several components with an output of its own");
    if (species > 1 && rows->ld != response->ld)
        FAIL(ERR_BUG, "a response of several species on rows of %ld, not %ld", rows->ld,
             response->ld);
    for (int i = 0; i < species; i++)
        TRY(upload_scalars(response, column, i, factors));
    if (setup->rule == PLASMA_NONE) {
        const double *window = response->windows + column * response->ld;
        const double *scalars = response->scalars + last * COLUMN_SCALARS;
        st->passes += RESPONSE_PASSES_KERR;
        return apply_kerr(response, window, scalars, rows);
    }
    return apply_all(response, column, rows, st);
}

/* Adds what a species saw. */
static void report_species(const double *sums, double share, struct response_report *out)
{
    const long long saturated = (long long)sums[COLUMN_SATURATED];
    out->electrons += share * sums[COLUMN_ELECTRONS];
    out->most += share * sums[COLUMN_MOST];
    out->work += share * sums[COLUMN_WORK];
    out->undershoot += (long long)sums[COLUMN_UNDERSHOOT];
    /* A field above one ceiling is above all lower ones. */
    out->saturated = saturated > out->saturated ? saturated : out->saturated;
}

int response_report(struct response *response, long column, struct response_report *out)
{
    struct backend *be = response->setup.backend;
    const int species = response->setup.species;
    double sums[RESPONSE_SPECIES * COLUMN_SUMS];
    TRY(be->ops->download(be, sums, response->sums + column * species * COLUMN_SUMS,
                          (size_t)species * COLUMN_SUMS * sizeof(double)));
    *out = (struct response_report){0};
    for (int i = 0; i < species; i++)
        report_species(sums + i * COLUMN_SUMS, response->species[column * species + i].share,
                       out);
    out->finite = isfinite(out->electrons) && isfinite(out->work);
    return 0;
}
