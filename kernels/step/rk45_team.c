/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The memory of the stepper's teams, and what they send to it and take over in it. */
#include <string.h>

#include "kernels/base/mem.h"
#include "kernels/base/status.h"
#include "kernels/step/rk45_row.h"

/* Doubles between two real rows beyond their length: with rows a power of two apart all streams
 * of a pass would fall into the same sets of the caches (measured: docs/performance.md). */
#define STEP_STAGGER 24

static long row_stride(long n)
{
    return backend_stride(n, sizeof(double)) + STEP_STAGGER;
}

/* Real rows of a row: parts of the slots, li and lr of each term, exponents. */
static long real_rows(int terms)
{
    return 2 * STEP_SLOTS + 2 * terms + (terms > STEP_INLINE_TERMS ? 2 : 0);
}

/* Bytes of the masks of a joint team. */
static size_t mask_bytes(long rows, long group)
{
    return (size_t)(STEP_MASKS * rows * group);
}

/* Doubles that hold the scalars of all rows and the masks. */
static long block_length(const struct stepper_setup *setup)
{
    const size_t masks = mask_bytes(setup->rows, setup->group);
    return setup->rows * STEP_SCALARS + (long)((masks + sizeof(double) - 1) / sizeof(double));
}

static void team_place(struct stepper *s, struct step_team *team)
{
    const int terms = s->setup.terms;
    const long group = s->setup.group;
    const long block = team->rows * group * s->ld; /* a real row of each state */
    double *next = s->reals + team->first * real_rows(terms) * group * s->ld;
    for (int j = 0; j < STEP_SLOTS; j++, next += 2 * block)
        team->slot[j] = next;
    for (int j = 0; j < terms; j++, next += 2 * block) {
        team->li[j] = next;
        team->lr[j] = next + block;
    }
    if (terms > STEP_INLINE_TERMS) {
        team->phase = next;
        team->loss = next + block;
    }
    team->spectrum = s->spectra + team->first * group * s->ld_spec;
    team->scalars = s->scalars + team->first * STEP_SCALARS;
    team->block = s->blocks + team->first * STEP_SCALARS;
    team->sums = s->sums + team->first * group * STEP_SPANS * STEP_SUMS;
    team->found = s->found + team->first * group * STEP_SPANS * STEP_SUMS;
    team->on = s->on + team->first;
}

/* All bins and all terms, whatever the rows have. */
static void team_join(const struct stepper *s, struct step_team *team)
{
    team->joint = true;
    team->spans = 1;
    team->span[0] = (struct step_span){0, s->setup.n};
    team->gaps = s->setup.spectrum > s->setup.n ? 1 : 0;
    team->gap[0] = (struct step_span){s->setup.n, s->setup.spectrum};
    team->terms = s->setup.terms;
    team->lossy = true;
}

static int create_memory(struct stepper *s)
{
    const struct stepper_setup *setup = &s->setup;
    struct backend *be = setup->backend;
    const long rows = setup->rows;
    const long states = rows * setup->group;
    TRY(be->ops->alloc(be, states * real_rows(setup->terms) * s->ld, sizeof(double),
                       (void **)&s->reals));
    TRY(be->ops->alloc(be, states * s->ld_spec, sizeof(cplx), (void **)&s->spectra));
    TRY(be->ops->alloc(be, states * STEP_SPANS * STEP_SUMS, sizeof(double), (void **)&s->sums));
    TRY(be->ops->alloc(be, block_length(setup), sizeof(double), (void **)&s->scalars));
    TRY(MEM_NEW(block_length(setup), &s->blocks));
    TRY(MEM_NEW(states * STEP_SPANS * STEP_SUMS, &s->found));
    TRY(MEM_NEW(rows, &s->on));
    TRY(MEM_NEW(rows, &s->place));
    TRY(MEM_NEW(rows, &s->trial));
    TRY(MEM_NEW(rows * setup->planes, &s->positions));
    TRY(MEM_NEW(rows, &s->row));
    return MEM_NEW(s->teams, &s->team);
}

static int check_setup(const struct stepper_setup *setup)
{
    if (setup->spectrum != 0 && setup->spectrum < setup->n)
        FAIL(ERR_BUG, "a stepper of %ld bins cannot have spectra of %ld", setup->n,
             setup->spectrum);
    if (setup->terms < 0 || setup->terms > STEP_TERMS)
        FAIL(ERR_BUG, "a stepper has 1 to %d terms, not %d", STEP_TERMS, setup->terms);
    if (setup->group < 0 || setup->group > STEP_GROUP)
        FAIL(ERR_BUG, "a row of a stepper has 1 to %d states, not %d", STEP_GROUP,
             setup->group);
    if (setup->terms > 1 && setup->system.path == NULL)
        FAIL(ERR_BUG, "a stepper with %d terms needs their integrals", setup->terms);
    return 0;
}

static int create_teams(struct stepper *s)
{
    const struct stepper_setup *setup = &s->setup;
    const bool joint = setup->backend->apart;
    const long each = joint ? setup->rows : 1;
    s->teams = joint ? 1 : setup->rows;
    TRY(create_memory(s));
    if (joint)
        TRY(MEM_NEW(setup->n, &s->zeros));
    for (long t = 0; t < s->teams; t++) {
        struct step_team *team = &s->team[t];
        *team = (struct step_team){.first = t * each, .rows = each};
        team_place(s, team);
        if (joint)
            team_join(s, team);
    }
    for (long r = 0; r < setup->rows; r++) {
        s->row[r].team = &s->team[r / each];
        s->row[r].positions = s->positions + r * setup->planes;
    }
    return 0;
}

int stepper_create(const struct stepper_setup *setup, struct stepper **out)
{
    *out = NULL;
    struct stepper *s;
    TRY(check_setup(setup));
    TRY(MEM_NEW(1, &s));
    s->setup = *setup;
    if (setup->spectrum == 0)
        s->setup.spectrum = setup->n;
    if (setup->terms == 0)
        s->setup.terms = 1;
    if (setup->group == 0)
        s->setup.group = 1;
    s->ld = row_stride(setup->n);
    s->ld_spec = stepper_spectrum_stride(s->setup.spectrum);
    const int rc = create_teams(s);
    if (rc != 0) {
        stepper_destroy(s);
        return rc;
    }
    *out = s;
    return 0;
}

/* No memory goes away below a trial under way: its sums come last. */
static void team_drain(struct stepper *s, struct step_team *team)
{
    struct backend *be = s->setup.backend;
    if (team->under_way)
        (void)be->ops->download(be, team->found, team->sums, sizeof(double));
    team->under_way = false;
}

void stepper_destroy(struct stepper *stepper)
{
    if (stepper == NULL)
        return;
    struct backend *be = stepper->setup.backend;
    for (long t = 0; stepper->team != NULL && t < stepper->teams; t++)
        team_drain(stepper, &stepper->team[t]);
    be->ops->release(be, stepper->reals);
    be->ops->release(be, stepper->spectra);
    be->ops->release(be, stepper->sums);
    be->ops->release(be, stepper->scalars);
    mem_free(stepper->blocks);
    mem_free(stepper->found);
    mem_free(stepper->on);
    mem_free(stepper->place);
    mem_free(stepper->trial);
    mem_free(stepper->positions);
    mem_free(stepper->zeros);
    mem_free(stepper->row);
    mem_free(stepper->team);
    mem_free(stepper);
}

long stepper_spectrum_stride(long spectrum)
{
    return backend_stride(spectrum, sizeof(cplx));
}

long stepper_split_stride(long n)
{
    return row_stride(n);
}

size_t stepper_row_bytes(long n, long spectrum, int terms)
{
    const long bins = spectrum > 0 ? spectrum : n;
    const size_t sums = (STEP_SPANS * STEP_SUMS) * sizeof(double);
    const size_t block = STEP_SCALARS * sizeof(double) + mask_bytes(1, 1);
    return (size_t)(row_stride(n) * real_rows(terms > 0 ? terms : 1)) * sizeof(double)
           + (size_t)stepper_spectrum_stride(bins) * sizeof(cplx) + 2 * (sums + block)
           + sizeof(bool) + sizeof(struct step_place) + sizeof(struct row_trial)
           + sizeof(struct step_row) + sizeof(struct step_team);
}

long step_bins(const struct stepper *s)
{
    return s->setup.group * s->setup.n;
}

/* States of a row's team before its own. */
static long states_before(const struct stepper *s, long r)
{
    return (r - s->row[r].team->first) * s->setup.group;
}

double *step_slot_of(const struct stepper *s, long r, enum step_slot slot)
{
    return s->row[r].team->slot[slot] + 2 * states_before(s, r) * s->ld;
}

double *step_real_of(const struct stepper *s, long r, double *rows)
{
    return rows + states_before(s, r) * s->ld;
}

cplx *step_spectrum_of(const struct stepper *s, long r)
{
    return s->row[r].team->spectrum + states_before(s, r) * s->ld_spec;
}

/* The masks behind a block of scalars. */
static unsigned char *mask_in(const struct stepper *s, const struct step_team *team,
                              double *block, enum step_mask mask)
{
    return (unsigned char *)(block + team->rows * STEP_SCALARS)
           + (long)mask * team->rows * s->setup.group;
}

const unsigned char *step_mask_of(const struct stepper *s, const struct step_team *team,
                                  enum step_mask mask)
{
    return team->joint ? mask_in(s, team, team->scalars, mask) : NULL;
}

static void mask_fill(const struct stepper *s, const struct step_team *team)
{
    unsigned char *const mask = mask_in(s, team, team->block, MASK_ACTIVE);
    const size_t group = (size_t)s->setup.group;
    for (long i = 0; i < team->rows; i++)
        memset(mask + (size_t)i * group, team->on[i] ? 1 : 0, group);
}

static int mask_send(struct stepper *s, const struct step_team *team, enum step_mask mask)
{
    struct backend *be = s->setup.backend;
    return be->ops->upload(be, mask_in(s, team, team->scalars, mask),
                           mask_in(s, team, team->block, mask),
                           (size_t)(team->rows * s->setup.group));
}

int step_send_trial(struct stepper *s, struct step_team *team)
{
    struct backend *be = s->setup.backend;
    size_t bytes = (size_t)(team->rows * STEP_SCALARS) * sizeof(double);
    if (team->joint) {
        mask_fill(s, team);
        bytes += mask_bytes(team->rows, s->setup.group);
    }
    return be->ops->upload(be, team->scalars, team->block, bytes);
}

int step_send_mask(struct stepper *s, struct step_team *team)
{
    if (!team->joint)
        return 0;
    mask_fill(s, team);
    return mask_send(s, team, MASK_ACTIVE);
}

static void slots_swap(struct step_team *team, enum step_slot a, enum step_slot b)
{
    double *const kept = team->slot[a];
    team->slot[a] = team->slot[b];
    team->slot[b] = kept;
}

/* Slots change places where that concerns one row alone; nothing is copied then. */
void step_accept(struct stepper *s, long r)
{
    struct step_team *team = s->row[r].team;
    if (team->joint) {
        unsigned char *const mask = mask_in(s, team, team->block, MASK_TAKEN);
        memset(mask + states_before(s, r), 1, (size_t)s->setup.group);
        team->taking = true;
        return;
    }
    slots_swap(team, STATE, K3);
    slots_swap(team, K1, K4);
}

int step_take(struct stepper *s, struct step_team *team, bool sent)
{
    if (!team->taking)
        return 0;
    struct backend *be = s->setup.backend;
    const long states = team->rows * s->setup.group;
    if (!sent)
        TRY(mask_send(s, team, MASK_TAKEN));
    const struct step_take_args args = {.next = team->slot[K3],
                                        .slope = team->slot[K4],
                                        .y = team->slot[STATE],
                                        .k = team->slot[K1],
                                        .ld = s->ld,
                                        .active = step_mask_of(s, team, MASK_TAKEN)};
    TRY(be->kernels->step_take(be, &args, 0, states, s->setup.n));
    memset(mask_in(s, team, team->block, MASK_TAKEN), 0, (size_t)states);
    team->taking = false;
    return 0;
}

void step_forget(struct stepper *s, long r)
{
    struct step_team *team = s->row[r].team;
    if (team->under_way)
        team->on[r - team->first] = false;
}

int step_upload(struct stepper *s, long r, const cplx *from)
{
    struct backend *be = s->setup.backend;
    const long n = s->setup.n;
    for (long g = 0; g < s->setup.group; g++)
        TRY(be->ops->upload(be, step_spectrum_of(s, r) + g * s->ld_spec, from + g * n,
                            (size_t)n * sizeof(cplx)));
    return 0;
}

int step_download(struct stepper *s, long r, cplx *to)
{
    struct backend *be = s->setup.backend;
    const long n = s->setup.n;
    for (long g = 0; g < s->setup.group; g++)
        TRY(be->ops->download(be, to + g * n, step_spectrum_of(s, r) + g * s->ld_spec,
                              (size_t)n * sizeof(cplx)));
    return 0;
}

int step_join(struct stepper *s, long r, enum step_slot slot)
{
    struct backend *be = s->setup.backend;
    const struct spectral_join_args args = {.in = step_slot_of(s, r, slot),
                                            .out = step_spectrum_of(s, r),
                                            .zeros = {0, s->setup.spectrum - s->setup.n},
                                            .ld = s->ld,
                                            .ld_spec = s->ld_spec};
    return be->kernels->spectral_join(be, &args, 0, s->setup.group, s->setup.n);
}

int step_split(struct stepper *s, long r, enum step_slot slot)
{
    struct backend *be = s->setup.backend;
    const struct spectral_split_args args = {step_spectrum_of(s, r), step_slot_of(s, r, slot),
                                             s->ld, s->ld_spec, NULL};
    return be->kernels->spectral_split(be, &args, 0, s->setup.group, s->setup.n);
}
