/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <limits.h>
#include <math.h>
#include <string.h>

#include "kernels/base/mem.h"
#include "kernels/base/status.h"
#include "kernels/models/pulse/response_parts.h"

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

bool response_is_fused(const struct response_setup *s)
{
    return can_fuse(s) && !(splits(s) && backend_shares_column(s->backend, s->n));
}

static long scratch_rows(const struct response_setup *s)
{
    if (s->rule == PLASMA_NONE)
        return 0;
    const bool may_share =
        s->backend->threads > 1 && s->n >= s->backend->threshold[THRESHOLD_column_shares];
    const bool one = can_fuse(s) && !s->backend->apart && !(may_share && splits(s));
    return one ? 1 : 1 + 2 * s->components;
}

/* Columns that a set of scratch rows is for. */
static long set_columns(const struct response_setup *s)
{
    return s->backend->apart ? s->columns : 1;
}

static long set_count(const struct response_setup *s)
{
    return s->backend->apart ? 1 : s->backend->threads;
}

long response_part_rows(const struct response_setup *s)
{
    if (s->rule == PLASMA_NONE || s->species == 1)
        return 0;
    return s->species == 2 ? 1 : 2;
}

/* Samples of one of the responses that a set keeps. */
static long part_length(const struct response_setup *s)
{
    return set_columns(s) * s->components * backend_stride(s->n, sizeof(double));
}

static int positions_of(const struct response_setup *s)
{
    return s->positions > 0 ? s->positions : 1;
}

int response_scalar_count(const struct response_setup *s)
{
    return s->rule == PLASMA_NONE ? (int)KERR_GROUPS : s->species;
}

int response_scalar_group(const struct response_setup *s, int position, int group)
{
    return position * (response_scalar_count(s) + s->scalars.groups) + group;
}

static long padded_stride(long n)
{
    return backend_stride(n + 2 * COLUMN_PAD, sizeof(double));
}

size_t response_column_bytes(const struct response_setup *setup)
{
    const long positions = positions_of(setup);
    long numbers = setup->species * (positions * COLUMN_SCALARS + COLUMN_SUMS);
    for (int g = 0; g < setup->scalars.groups; g++)
        numbers += positions * setup->scalars.width[g];
    for (int g = 0; g < setup->sums.groups; g++)
        numbers += setup->sums.width[g];
    const size_t species = sizeof(struct species_own) + sizeof(struct column_rate);
    return (size_t)backend_stride(setup->n, sizeof(double)) * sizeof(double)
           + sizeof(struct column_own) + (size_t)setup->species * species
           + (COLUMN_SIDE_MAX + 1 + 2 * (size_t)numbers) * sizeof(double);
}

size_t response_scratch_bytes(const struct response_setup *setup)
{
    const long part = setup->components * backend_stride(setup->n, sizeof(double));
    const long samples =
        scratch_rows(setup) * padded_stride(setup->n) + response_part_rows(setup) * part;
    return (size_t)samples * sizeof(double);
}

size_t response_shared_bytes(const struct response_setup *setup)
{
    return sizeof(struct response)
           + (size_t)setup->backend->threads * sizeof(struct column_scratch);
}

static int check_numbers(const struct response_setup *s)
{
    if (positions_of(s) > RESPONSE_POSITIONS || s->scalars.groups > RESPONSE_OWN
        || s->sums.groups > RESPONSE_OWN)
        FAIL(ERR_BUG, "a response of %d positions with %d and %d groups of others' numbers",
             s->positions, s->scalars.groups, s->sums.groups);
    return 0;
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
    return check_numbers(s);
}

static void place_scratch(struct response *r)
{
    const int components = r->setup.components;
    const long columns = set_columns(&r->setup);
    const long pad = columns * r->ld_pad;
    double *next = r->scratch + COLUMN_PAD;
    for (long t = 0; t < r->threads && r->scratch != NULL; t++) {
        struct column_scratch *set = &r->sets[t];
        set->w = next;
        const long rows = scratch_rows(&r->setup);
        set->integrand = rows == 1 ? next : next + pad;
        set->loss = rows == 1 ? next : next + (1 + components) * pad;
        next += rows * pad;
    }
    const long kept = response_part_rows(&r->setup);
    for (long t = 0; t < r->threads && r->parts != NULL; t++)
        for (long k = 0; k < kept; k++)
            r->sets[t].part[k] = r->parts + (t * kept + k) * part_length(&r->setup);
}

static int create_numbers(struct response *r)
{
    const struct response_setup *const s = &r->setup;
    int width[ROW_NUMBERS_MAX];
    int groups = 0;
    _Static_assert(RESPONSE_POSITIONS * (RESPONSE_SPECIES + RESPONSE_OWN) <= ROW_NUMBERS_MAX,
                   "all positions of all species");
    for (int p = 0; p < positions_of(s); p++) {
        for (int i = 0; i < response_scalar_count(s); i++)
            width[groups++] = s->rule == PLASMA_NONE ? 1 : (int)COLUMN_SCALARS;
        for (int i = 0; i < s->scalars.groups; i++)
            width[groups++] = s->scalars.width[i];
    }
    TRY(row_numbers_create(s->backend, s->columns, width, groups, &r->scalars));
    groups = 0;
    for (int i = 0; i < s->species; i++)
        width[groups++] = COLUMN_SUMS;
    for (int i = 0; i < s->sums.groups; i++)
        width[groups++] = s->sums.width[i];
    return row_numbers_create(s->backend, s->columns, width, groups, &r->sums);
}

static int create_memory(struct response *r)
{
    struct backend *be = r->setup.backend;
    const struct backend_ops *ops = be->ops;
    const long columns = r->setup.columns;
    const long all = columns * r->setup.species;
    const long rows = r->threads * scratch_rows(&r->setup) * set_columns(&r->setup);
    const long kept = r->threads * response_part_rows(&r->setup) * part_length(&r->setup);
    TRY(ops->alloc(be, columns * r->ld, sizeof(double), (void **)&r->windows));
    TRY(ops->alloc(be, columns * (COLUMN_SIDE_MAX + 1), sizeof(double), (void **)&r->taps));
    TRY(ops->alloc(be, all, sizeof(struct column_rate), (void **)&r->rates));
    TRY(create_numbers(r));
    TRY(MEM_NEW(columns, &r->own));
    TRY(MEM_NEW(all, &r->species));
    TRY(MEM_NEW(r->threads, &r->sets));
    if (rows > 0)
        TRY(ops->alloc(be, rows * r->ld_pad, sizeof(double), (void **)&r->scratch));
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
    r->threads = set_count(setup);
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
    void *const memory[] = {response->windows, response->scratch, response->taps,
                            response->rates, response->parts};
    for (size_t i = 0; i < sizeof memory / sizeof memory[0]; i++)
        be->ops->release(be, memory[i]);
    row_numbers_clear(&response->scalars);
    row_numbers_clear(&response->sums);
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
    struct species_own *own = &r->species[column * r->setup.species + i];
    struct column_rate rate;
    own->share = in->share;
    own->potential = in->potential;
    TRY(load_rate(r, own, r->setup.rate[i], in, &rate));
    return be->ops->upload(be, r->rates + i * r->setup.columns + column, &rate, sizeof rate);
}

int response_load(struct response *response, long column, const struct response_column *in)
{
    struct backend *be = response->setup.backend;
    const struct backend_ops *ops = be->ops;
    struct column_own *own = &response->own[column];
    TRY(ops->upload(be, response->windows + column * response->ld, in->window,
                    (size_t)response->setup.n * sizeof(double)));
    const int species = response->setup.species;
    for (int i = 0; i < species; i++)
        memset(row_numbers_host(&response->sums, i, column), 0, COLUMN_SUMS * sizeof(double));
    TRY(row_numbers_put(&response->sums, 0, species, column, 1));
    own->dt = in->dt;
    own->preionised = in->preionised;
    if (response->setup.rule == PLASMA_NONE)
        return 0;
    struct taps taps;
    taps_none(&taps);
    if (response->setup.rule == PLASMA_BAND)
        taps = in->taps;
    own->side = taps.side;
    /* A longer filter of another column reads these too. */
    for (int k = taps.side + 1; k <= COLUMN_SIDE_MAX; k++)
        taps.tap[k] = 0.0;
    double *at = response->taps + column * (COLUMN_SIDE_MAX + 1);
    TRY(ops->upload(be, at, taps.tap, sizeof taps.tap));
    for (int i = 0; i < species; i++)
        TRY(load_species(response, column, i, &in->species[i]));
    return 0;
}
