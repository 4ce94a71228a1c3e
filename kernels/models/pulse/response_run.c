/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a response computes: its numbers on the way to a backend and back, and its launches. */
#include <math.h>
#include <string.h>

#include <omp.h>

#include "kernels/base/status.h"
#include "kernels/models/pulse/atomic.h"
#include "kernels/models/pulse/response_parts.h"

/* e^2/m, C^2/kg */
#define MOBILITY (PULSE_E * PULSE_E / PULSE_ME)

/* What the kernels read without plasma. */
static void keep_kerr(struct response *r, int position, long column,
                      const struct response_factors *factors)
{
    const struct response_setup *const s = &r->setup;
    const int group = response_scalar_group(s, position, 0);
    /* Of an envelope half of (3/4) |2 E|^2 2 E. */
    *row_numbers_host(&r->scalars, group + KERR_SCALE, column) = factors->scale;
    *row_numbers_host(&r->scalars, group + KERR_KERR, column) =
        s->envelope ? 3.0 * factors->kerr : factors->kerr;
}

void response_factors(struct response *response, int position, long column,
                      const struct response_factors *factors)
{
    const struct response_setup *const s = &response->setup;
    const struct column_own *const own = &response->own[column];
    if (s->rule == PLASMA_NONE) {
        keep_kerr(response, position, column, factors);
        return;
    }
    for (int i = 0; i < s->species; i++) {
        const struct species_own *const species = &response->species[column * s->species + i];
        /* Kerr goes with the last one. */
        const double values[COLUMN_SCALARS] = {
            [COLUMN_SCALE] = factors->scale,
            [COLUMN_KERR] = i == s->species - 1 ? factors->kerr : 0.0,
            [COLUMN_DENSITY] = species->share * factors->density,
            [COLUMN_PREIONISED] = own->preionised,
            [COLUMN_DT] = own->dt,
            [COLUMN_MOBILITY] = MOBILITY,
            [COLUMN_POTENTIAL] = species->potential};
        memcpy(
            row_numbers_host(&response->scalars, response_scalar_group(s, position, i), column),
            values, sizeof values);
    }
}

double *response_scalars(struct response *response, int position, int group, long column)
{
    const int own = response_scalar_count(&response->setup);
    return row_numbers_host(&response->scalars,
                            response_scalar_group(&response->setup, position, own + group),
                            column);
}

const double *response_scalars_there(const struct response *response, int position, int group,
                                     long column)
{
    const int own = response_scalar_count(&response->setup);
    return row_numbers_there(&response->scalars,
                             response_scalar_group(&response->setup, position, own + group),
                             column);
}

double *response_sums_there(const struct response *response, int group, long column)
{
    return row_numbers_there(&response->sums, response->setup.species + group, column);
}

const double *response_sums(const struct response *response, int group, long column)
{
    return row_numbers_host(&response->sums, response->setup.species + group, column);
}

int response_upload(struct response *response, int positions, long column, long columns)
{
    return row_numbers_put(&response->scalars, 0,
                           response_scalar_group(&response->setup, positions, 0), column,
                           columns);
}

int response_gather(struct response *response, long column, long columns)
{
    return row_numbers_get(&response->sums, 0, response->sums.groups, column, columns);
}

/* Columns that are launched together, and where their numbers stand. */
struct response_call {
    int position;
    long column, columns;
    const struct response_rows *rows;
};

static long extra_stride(const struct response *r, const struct response_rows *rows)
{
    return rows->ld_extra > 0 ? rows->ld_extra : r->ld;
}

/* Complex samples, real factors; the Kerr factor holds what half the analytic signals need. */
static int apply_envelope(struct response *r, const struct response_call *call,
                          const double *scale, const double *kerr)
{
    const struct response_rows *const rows = call->rows;
    const struct response_envelope_args args = {
        .field = rows->envelope,
        .extra = rows->extra,
        .window = r->windows + call->column * r->ld,
        .scale = scale,
        .kerr = kerr,
        .out = rows->envelope_out != NULL ? rows->envelope_out : rows->envelope,
        .ld = rows->ld,
        .ld_real = r->ld,
        .ld_extra = extra_stride(r, rows),
        .active = rows->active};
    struct backend *be = r->setup.backend;
    return be->kernels->response_envelope[r->setup.extra ? 1 : 0](be, &args, 0, call->columns,
                                                                  r->setup.n);
}

static double *out_of(const struct response_rows *rows)
{
    return rows->out != NULL ? rows->out : rows->samples;
}

/* Kerr and extra alone, of one component. */
static int apply_single(struct response *r, const struct response_call *call,
                        const double *scale, const double *kerr)
{
    struct backend *be = r->setup.backend;
    const struct kernel_table *run = be->kernels;
    const struct response_rows *const rows = call->rows;
    const struct response_kerr_args args = {.field = rows->samples,
                                            .quadrature = rows->quadrature,
                                            .extra = rows->extra,
                                            .window = r->windows + call->column * r->ld,
                                            .scale = scale,
                                            .kerr = kerr,
                                            .out = out_of(rows),
                                            .ld = rows->ld,
                                            .ld_extra = extra_stride(r, rows),
                                            .active = rows->active};
    const int s = r->setup.third_harmonic ? 0 : 1;
    return (r->setup.extra ? run->response_kerr_extra[s]
                           : run->response_kerr[s])(be, &args, 0, call->columns, r->setup.n);
}

static int apply_pair(struct response *r, const struct response_call *call, const double *scale,
                      const double *kerr)
{
    struct backend *be = r->setup.backend;
    const struct kernel_table *run = be->kernels;
    const struct response_rows *const rows = call->rows;
    const struct response_pair_args args = {.field = rows->samples,
                                            .extra = rows->extra,
                                            .window = r->windows + call->column * r->ld,
                                            .scale = scale,
                                            .kerr = kerr,
                                            .out = rows->samples,
                                            .ld = rows->ld,
                                            .ld_extra = extra_stride(r, rows),
                                            .active = rows->active};
    return (r->setup.extra ? run->response_kerr_pair_extra
                           : run->response_kerr_pair)(be, &args, 0, call->columns, r->setup.n);
}

/* Kerr and extra alone. */
static int apply_kerr(struct response *r, const struct response_call *call)
{
    const int group = response_scalar_group(&r->setup, call->position, 0);
    const double *const scale =
        row_numbers_there(&r->scalars, group + KERR_SCALE, call->column);
    const double *const kerr = row_numbers_there(&r->scalars, group + KERR_KERR, call->column);
    if (r->setup.envelope)
        return apply_envelope(r, call, scale, kerr);
    return r->setup.components == 2 ? apply_pair(r, call, scale, kerr)
                                    : apply_single(r, call, scale, kerr);
}

static int apply_plasma(struct response *r, enum rate_evaluation rate, long columns,
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
    static const enum column_kind kinds[] = {[RESPONSE_RATE_FIELD] = COLUMN_BY_FIELD,
                                             [RESPONSE_RATE_CHANNEL] = COLUMN_BY_CHANNEL,
                                             [RESPONSE_RATE_ADK] = COLUMN_BY_ADK};
    const long n = r->setup.n;
    if (be->ops->device != NULL)
        return be->ops->device->column(be, kinds[rate], args, 0, columns, n);
    if (response_is_fused(&r->setup))
        return trapezoids[rate](be, args, 0, columns, n);
    TRY(exposures[rate](be, args, 0, columns, n));
    TRY(run->column_current(be, args, 0, columns, n));
    return run->column_polarise(be, args, 0, columns, n);
}

/* The scratch of a call: that of the thread, or of the columns. */
static struct column_scratch scratch_of(const struct response *r,
                                        const struct response_call *call)
{
    const long components = r->setup.components;
    if (!r->setup.backend->apart)
        return r->sets[omp_get_thread_num()];
    struct column_scratch set = r->sets[0];
    set.w += call->column * r->ld_pad;
    set.integrand += call->column * components * r->ld_pad;
    set.loss += call->column * components * r->ld_pad;
    for (long k = 0; k < response_part_rows(&r->setup); k++)
        set.part[k] += call->column * components * r->ld;
    return set;
}

/* Taps a side of the longest filter; shorter ones have zeros behind. */
static int longest_side(const struct response *r, const struct response_call *call)
{
    int side = 0;
    for (long c = call->column; c < call->column + call->columns; c++)
        side = r->own[c].side > side ? r->own[c].side : side;
    return side;
}

/* The plasma of a species; of the last one with Kerr and extra beside it.
 * NOLINTNEXTLINE(readability-non-const-parameter): the kernel writes out */
static int apply_species(struct response *r, int i, double *out,
                         const struct response_call *call, int *passes)
{
    const struct response_setup *setup = &r->setup;
    const struct response_rows *const rows = call->rows;
    const bool last = i == setup->species - 1;
    const struct column_scratch set = scratch_of(r, call);
    const struct column_args args = {
        .field = rows->samples,
        .quadrature = last && !setup->third_harmonic ? rows->quadrature : NULL,
        .extra = last && setup->extra ? rows->extra : NULL,
        .window = r->windows + call->column * r->ld,
        .rate = r->rates + i * setup->columns + call->column,
        .scalars = row_numbers_there(
            &r->scalars, response_scalar_group(setup, call->position, i), call->column),
        .taps = r->taps + call->column * (COLUMN_SIDE_MAX + 1),
        .w = set.w,
        .integrand = set.integrand,
        .loss = set.loss,
        .out = out,
        .sums = row_numbers_there(&r->sums, i, call->column),
        .components = setup->components,
        .side = longest_side(r, call),
        .ld = rows->ld,
        .ld_extra = extra_stride(r, rows),
        .ld_pad = r->ld_pad,
        .active = rows->active};
    *passes += response_is_fused(setup) ? RESPONSE_PASSES_TRAPEZOID : RESPONSE_PASSES_BAND;
    return apply_plasma(r, setup->rate[i], call->columns, &args);
}

/* to += from, all components.
 * NOLINTNEXTLINE(readability-non-const-parameter): the kernel writes to */
static int add_part(struct response *r, const double *from, double *to,
                    const struct response_call *call, int *passes)
{
    struct backend *be = r->setup.backend;
    const struct response_add_args args = {
        .first = to,
        .second = from,
        .out = to,
        .ld = call->rows->ld,
        .active = r->setup.components == 1 ? call->rows->active : NULL};
    *passes += RESPONSE_PASSES_ADD;
    return be->kernels->response_add(be, &args, 0, call->columns * r->setup.components,
                                     r->setup.n);
}

/* Species one after the other, as their scratch is the same; the field is kept until the last
 * one, which takes its place. */
static int apply_all(struct response *r, const struct response_call *call, int *passes)
{
    const int last = r->setup.species - 1;
    const struct column_scratch set = scratch_of(r, call);
    for (int i = 0; i < last; i++) {
        TRY(apply_species(r, i, set.part[i > 0], call, passes));
        if (i > 0)
            TRY(add_part(r, set.part[1], set.part[0], call, passes));
    }
    TRY(apply_species(r, last, out_of(call->rows), call, passes));
    return last > 0 ? add_part(r, set.part[0], out_of(call->rows), call, passes) : 0;
}

static int apply_call(struct response *r, const struct response_call *call, int *passes)
{
    *passes = r->setup.rule == PLASMA_NONE ? RESPONSE_PASSES_KERR : 0;
    return r->setup.rule == PLASMA_NONE ? apply_kerr(r, call) : apply_all(r, call, passes);
}

/* Rows of the columns from the i-th on. */
static struct response_rows rows_from(const struct response *r,
                                      const struct response_rows *rows, long i)
{
    struct response_rows from = *rows;
    from.samples =
        rows->samples != NULL ? rows->samples + i * r->setup.components * rows->ld : NULL;
    from.out = rows->out != NULL ? rows->out + i * rows->ld : NULL;
    from.quadrature = k_row_real(rows->quadrature, i * rows->ld);
    from.extra = k_row_real(rows->extra, i * extra_stride(r, rows));
    from.envelope = rows->envelope != NULL ? rows->envelope + i * rows->ld : NULL;
    from.envelope_out = rows->envelope_out != NULL ? rows->envelope_out + i * rows->ld : NULL;
    from.active = rows->active != NULL ? rows->active + i : NULL;
    return from;
}

int response_run(struct response *response, int position, long column, long columns,
                 const struct response_rows *rows, int *passes)
{
    const struct response_setup *setup = &response->setup;
    *passes = 0;
    if (rows->out != NULL && (setup->components > 1 || setup->envelope))
        FAIL(ERR_BUG, "a response of several components with an output of its own");
    if (!setup->envelope && (setup->species > 1 || columns > 1) && rows->ld != response->ld)
        FAIL(ERR_BUG, "a response of several species or columns on rows of %ld, not %ld",
             rows->ld, response->ld);
    const long together = setup->backend->apart ? columns : 1;
    for (long i = 0; i < columns; i += together) {
        const struct response_rows from = rows_from(response, rows, i);
        const struct response_call call = {position, column + i, together, &from};
        TRY(apply_call(response, &call, passes));
    }
    return 0;
}

int response_apply(struct response *response, long column,
                   const struct response_factors *factors, const struct response_rows *rows,
                   struct row_status *st)
{
    int passes;
    response_factors(response, 0, column, factors);
    TRY(response_upload(response, 1, column, 1));
    TRY(response_run(response, 0, column, 1, rows, &passes));
    st->passes += passes;
    return 0;
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

const double *response_species_there(const struct response *response, int species, long column)
{
    return row_numbers_there(&response->sums, species, column);
}

void response_seen_in(const struct response *response, long column, const double *const *sums,
                      struct response_report *out)
{
    const int species = response->setup.species;
    *out = (struct response_report){0};
    for (int i = 0; i < species; i++)
        report_species(sums[i], response->species[column * species + i].share, out);
    out->finite = isfinite(out->electrons) && isfinite(out->work);
}

void response_seen(const struct response *response, long column, struct response_report *out)
{
    const double *sums[RESPONSE_SPECIES] = {NULL};
    for (int i = 0; i < response->setup.species; i++)
        sums[i] = row_numbers_host(&response->sums, i, column);
    response_seen_in(response, column, sums, out);
}

int response_report(struct response *response, long column, struct response_report *out)
{
    TRY(response_gather(response, column, 1));
    response_seen(response, column, out);
    return 0;
}
