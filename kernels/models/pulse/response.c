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

/* A column's own part, beside its window. */
struct column_own {
    struct rate_channel *channel; /* on the backend; NULL: none */
    double *cubic;
    double dt, preionised, potential;
    int side; /* taps a side, 0 with the trapezoid rule */
};

/* Scratch of a thread; rows point behind their pad. */
struct column_scratch {
    double *w, *integrand, *loss;
};

struct response {
    struct response_setup setup;
    long ld;                     /* of windows */
    long ld_pad;                 /* of scratch rows */
    long threads;                /* scratch sets */
    double *windows;             /* [columns][ld] */
    double *scratch;             /* [threads][scratch rows][ld_pad] */
    double *scalars;             /* [columns][COLUMN_SCALARS] */
    double *taps;                /* [columns][COLUMN_SIDE_MAX + 1] */
    double *sums;                /* [columns][COLUMN_SUMS] */
    struct column_rate *rates;   /* [columns] */
    struct column_own *own;      /* [columns] host */
    struct column_scratch *sets; /* [threads] host */
};

/* Whether the column can be one pass: no filter needs a whole row. */
static bool can_fuse(const struct response_setup *s)
{
    return s->rule == PLASMA_TRAPEZOID && s->components == 1;
}

/* Whether it is one pass here and now: threads that share a row need rows for its integrals. */
static bool is_fused(const struct response_setup *s)
{
    return can_fuse(s) && !backend_shares_column(s->backend, s->n);
}

static long scratch_rows(const struct response_setup *s)
{
    if (s->rule == PLASMA_NONE)
        return 0;
    const bool may_share =
        s->backend->threads > 1 && s->n >= s->backend->threshold[THRESHOLD_column_shares];
    return can_fuse(s) && !may_share ? 1 : 1 + 2 * s->components;
}

static long padded_stride(long n)
{
    return backend_stride(n + 2 * COLUMN_PAD, sizeof(double));
}

size_t response_column_bytes(const struct response_setup *setup)
{
    return (size_t)backend_stride(setup->n, sizeof(double)) * sizeof(double)
           + sizeof(struct column_own) + sizeof(struct column_rate)
           + (COLUMN_SCALARS + COLUMN_SIDE_MAX + 1 + COLUMN_SUMS) * sizeof(double);
}

size_t response_shared_bytes(const struct response_setup *setup)
{
    const size_t set = (size_t)(scratch_rows(setup) * padded_stride(setup->n)) * sizeof(double);
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
    if (s->n <= 2 * COLUMN_PAD || s->columns < 1)
        FAIL(ERR_BUG, "a response of %ld samples and %ld columns", s->n, s->columns);
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
}

static int create_memory(struct response *r)
{
    struct backend *be = r->setup.backend;
    const struct backend_ops *ops = be->ops;
    const long columns = r->setup.columns;
    TRY(ops->alloc(be, columns * r->ld, sizeof(double), (void **)&r->windows));
    TRY(ops->alloc(be, columns * COLUMN_SCALARS, sizeof(double), (void **)&r->scalars));
    TRY(ops->alloc(be, columns * (COLUMN_SIDE_MAX + 1), sizeof(double), (void **)&r->taps));
    TRY(ops->alloc(be, columns * COLUMN_SUMS, sizeof(double), (void **)&r->sums));
    TRY(ops->alloc(be, columns, sizeof(struct column_rate), (void **)&r->rates));
    TRY(MEM_NEW(columns, &r->own));
    TRY(MEM_NEW(r->threads, &r->sets));
    const long rows = scratch_rows(&r->setup);
    if (rows > 0)
        TRY(ops->alloc(be, r->threads * rows * r->ld_pad, sizeof(double),
                       (void **)&r->scratch));
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
    for (long c = 0; response->own != NULL && c < response->setup.columns; c++) {
        be->ops->release(be, response->own[c].channel);
        be->ops->release(be, response->own[c].cubic);
    }
    void *const memory[] = {response->windows, response->scratch, response->scalars,
                            response->taps,    response->sums,    response->rates};
    for (size_t i = 0; i < sizeof memory / sizeof memory[0]; i++)
        be->ops->release(be, memory[i]);
    mem_free(response->own);
    mem_free(response->sets);
    mem_free(response);
}

/* A table's arrays on the backend. */
static int load_table(struct backend *be, const struct rate_table *table,
                      struct column_own *own, struct column_rate *out)
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

static int load_rate(struct response *r, struct column_own *own,
                     const struct response_column *in, struct column_rate *out)
{
    struct backend *be = r->setup.backend;
    be->ops->release(be, own->channel);
    be->ops->release(be, own->cubic);
    own->channel = NULL;
    own->cubic = NULL;
    if (r->setup.rate == RESPONSE_RATE_ADK) {
        *out = (struct column_rate){.cutoff = nextafter(in->adk->threshold, (double)INFINITY),
                                    .ceiling = in->adk->ceiling,
                                    .top = ionisation_rate(in->adk, in->adk->ceiling, NULL)};
        return ionisation_adk(in->adk, out->adk);
    }
    const enum rate_layout want =
        r->setup.rate == RESPONSE_RATE_FIELD ? RATE_BY_FIELD : RATE_BY_CHANNEL;
    if (in->table->layout != want)
        FAIL(ERR_BUG, "a table of another layout was given to a response");
    return load_table(be, in->table, own, out);
}

int response_load(struct response *response, long column, const struct response_column *in)
{
    struct backend *be = response->setup.backend;
    const struct backend_ops *ops = be->ops;
    struct column_own *own = &response->own[column];
    TRY(ops->upload(be, response->windows + column * response->ld, in->window,
                    (size_t)response->setup.n * sizeof(double)));
    const double nothing[COLUMN_SUMS] = {0.0};
    TRY(ops->upload(be, response->sums + column * COLUMN_SUMS, nothing, sizeof nothing));
    own->dt = in->dt;
    own->preionised = in->preionised;
    own->potential = in->potential;
    if (response->setup.rule == PLASMA_NONE)
        return 0;
    struct taps taps;
    taps_none(&taps);
    if (response->setup.rule == PLASMA_BAND)
        taps = in->taps;
    own->side = taps.side;
    double *at = response->taps + column * (COLUMN_SIDE_MAX + 1);
    TRY(ops->upload(be, at, taps.tap, sizeof taps.tap));
    struct column_rate rate;
    TRY(load_rate(response, own, in, &rate));
    return ops->upload(be, response->rates + column, &rate, sizeof rate);
}

/* Kerr and extra alone. */
static int apply_kerr(struct response *r, const double *window, const double *scalars,
                      const struct response_rows *rows)
{
    struct backend *be = r->setup.backend;
    const struct kernel_table *run = be->kernels;
    const long n = r->setup.n;
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
                                            .out = rows->samples,
                                            .ld = rows->ld};
    const int s = r->setup.third_harmonic ? 0 : 1;
    return (r->setup.extra ? run->response_kerr_extra[s] : run->response_kerr[s])(be, &args, 0,
                                                                                  1, n);
}

static int apply_plasma(struct response *r, const struct column_args *args)
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
        return trapezoids[r->setup.rate](be, args, 0, 1, n);
    TRY(exposures[r->setup.rate](be, args, 0, 1, n));
    TRY(run->column_current(be, args, 0, 1, n));
    return run->column_polarise(be, args, 0, 1, n);
}

int response_apply(struct response *response, long column,
                   const struct response_factors *factors, const struct response_rows *rows,
                   struct row_status *st)
{
    struct backend *be = response->setup.backend;
    const struct response_setup *setup = &response->setup;
    const struct column_own *own = &response->own[column];
    double *scalars = response->scalars + column * COLUMN_SCALARS;
    const double values[COLUMN_SCALARS] = {[COLUMN_SCALE] = factors->scale,
                                           [COLUMN_KERR] = factors->kerr,
                                           [COLUMN_DENSITY] = factors->density,
                                           [COLUMN_PREIONISED] = own->preionised,
                                           [COLUMN_DT] = own->dt,
                                           [COLUMN_MOBILITY] = MOBILITY,
                                           [COLUMN_POTENTIAL] = own->potential};
    TRY(be->ops->upload(be, scalars, values, sizeof values));
    const double *window = response->windows + column * response->ld;
    if (setup->rule == PLASMA_NONE) {
        st->passes += RESPONSE_PASSES_KERR;
        return apply_kerr(response, window, scalars, rows);
    }
    const struct column_scratch *set = &response->sets[omp_get_thread_num()];
    const struct column_args args = {.field = rows->samples,
                                     .quadrature =
                                         setup->third_harmonic ? NULL : rows->quadrature,
                                     .extra = setup->extra ? rows->extra : NULL,
                                     .window = window,
                                     .rate = response->rates + column,
                                     .scalars = scalars,
                                     .taps = response->taps + column * (COLUMN_SIDE_MAX + 1),
                                     .w = set->w,
                                     .integrand = set->integrand,
                                     .loss = set->loss,
                                     .out = rows->samples,
                                     .sums = response->sums + column * COLUMN_SUMS,
                                     .components = setup->components,
                                     .side = own->side,
                                     .ld = rows->ld,
                                     .ld_pad = response->ld_pad};
    st->passes += is_fused(setup) ? RESPONSE_PASSES_TRAPEZOID : RESPONSE_PASSES_BAND;
    return apply_plasma(response, &args);
}

int response_report(struct response *response, long column, struct response_report *out)
{
    struct backend *be = response->setup.backend;
    double sums[COLUMN_SUMS];
    TRY(be->ops->download(be, sums, response->sums + column * COLUMN_SUMS, sizeof sums));
    *out = (struct response_report){.electrons = sums[COLUMN_ELECTRONS],
                                    .most = sums[COLUMN_MOST],
                                    .work = sums[COLUMN_WORK],
                                    .undershoot = (long long)sums[COLUMN_UNDERSHOOT],
                                    .saturated = (long long)sums[COLUMN_SATURATED]};
    out->finite = isfinite(out->electrons) && isfinite(out->work);
    return 0;
}
