/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/kernels/column_case.h"

#include <math.h>
#include <string.h>

#include <check.h>

#include "kernels/base/mem.h"
#include "kernels/models/pulse/atomic.h"

#define PI 3.14159265358979323846

void rates_init(struct column_rates_known *rates)
{
    const struct rate_request ppt = {
        .kind = RATE_PPT, .gas = GAS_AR, .occupancy = 2.0, .wavelength = 800e-9};
    const struct rate_request adk = {.kind = RATE_ADK, .gas = GAS_AR, .occupancy = 1.0};
    const struct rate_limits loose = {.least = 1e-6, .tolerance = (double)INFINITY};
    const struct rate_limits tight = {.least = 1e-6, .tolerance = 1e-6};
    *rates = (struct column_rates_known){0};
    ck_assert_int_eq(ionisation_init(&rates->ppt, &ppt), 0);
    ck_assert_int_eq(ionisation_init(&rates->adk, &adk), 0);
    ck_assert_int_eq(rate_table_create(&rates->ppt, RATE_BY_FIELD, &loose, &rates->table[0]),
                     0);
    ck_assert_int_eq(rate_table_create(&rates->ppt, RATE_BY_CHANNEL, &tight, &rates->table[1]),
                     0);
}

void rates_clear(struct column_rates_known *rates)
{
    rate_table_destroy(rates->table[0]);
    rate_table_destroy(rates->table[1]);
}

struct column_rate rates_view(const struct column_rates_known *rates, enum case_rate kind)
{
    if (kind == CASE_ADK) {
        struct column_rate adk = {.cutoff = nextafter(rates->adk.threshold, (double)INFINITY),
                                  .ceiling = rates->adk.ceiling,
                                  .top =
                                      ionisation_rate(&rates->adk, rates->adk.ceiling, NULL)};
        ck_assert_int_eq(ionisation_adk(&rates->adk, adk.adk), 0);
        return adk;
    }
    const struct rate_table *t = rates->table[kind == CASE_BY_CHANNEL];
    return (struct column_rate){.cutoff = t->cutoff,
                                .ceiling = t->ceiling,
                                .top = t->top,
                                .cubic = t->cubic[0],
                                .low = t->low,
                                .bits = t->bits,
                                .first = t->first,
                                .photons = t->photons,
                                .slope = t->slope,
                                .lowest = (int)t->lowest,
                                .channels = (int)t->channels,
                                .channel = t->channel};
}

/* The pulse around a centre, of peak 1. */
static double pulse_at(const struct column_case *c, double centre, double turn, long i)
{
    const double x = (double)i - centre * (double)c->n;
    const double w = c->width * (double)c->n;
    const double envelope = c->width > 0.0 ? exp(-(x / w) * (x / w)) : 1.0;
    return envelope * cos(c->theta * x + c->phase - turn);
}

/* E at sample i, V/m; c = 1 is the second component. */
static double field_at(const struct column_run *run, int component, long i)
{
    const struct column_case *c = run->c;
    const double peak = c->peak < 0.0 ? -c->peak * run->rate.cutoff : c->peak;
    const double turn = component == 0 ? 0.0 : 0.5 * PI;
    const double twin = c->twin > 0.0 ? pulse_at(c, c->twin, turn, i) : 0.0;
    return (component == 0 ? 1.0 : 0.6) * peak * (pulse_at(c, c->centre, turn, i) + twin);
}

static void fill(struct column_run *run)
{
    const struct column_case *c = run->c;
    for (long i = 0; i < c->n; i++) {
        for (int k = 0; k < c->components; k++)
            run->field[k * run->ld + i] = field_at(run, k, i) / run->scalars[COLUMN_SCALE];
        run->quadrature[i] = 0.7 * field_at(run, 1, i) / run->scalars[COLUMN_SCALE];
        run->extra[i] = 1e-16 * sin(0.01 * (double)i);
        /* Flat, with edges of a twentieth. */
        const double edge = 0.05 * (double)c->n;
        const double near = fmin((double)i + 1.0, (double)(c->n - i)) / edge;
        run->window[i] = near >= 1.0 ? 1.0 : sin(0.5 * PI * near) * sin(0.5 * PI * near);
    }
}

static void set_args(struct column_run *run)
{
    const struct column_case *c = run->c;
    double *row = run->scratch + COLUMN_PAD;
    run->args = (struct column_args){.field = run->field,
                                     .quadrature = c->quadrature ? run->quadrature : NULL,
                                     .extra = c->extra ? run->extra : NULL,
                                     .window = run->window,
                                     .rate = &run->rate,
                                     .scalars = run->scalars,
                                     .taps = run->taps.tap,
                                     .w = row,
                                     .integrand = row + run->ld_pad,
                                     .loss = row + 3 * run->ld_pad,
                                     .out = run->out,
                                     .sums = run->sums,
                                     .components = c->components,
                                     .side = run->taps.side,
                                     .ld = run->ld,
                                     .ld_pad = run->ld_pad};
}

void column_run_init(struct column_run *run, const struct column_case *c,
                     const struct column_rates_known *rates, enum case_rate kind, int side)
{
    *run = (struct column_run){.c = c, .kind = kind};
    run->rate = rates_view(rates, kind);
    run->segments = kind == CASE_ADK ? 0 : rates->table[kind == CASE_BY_CHANNEL]->count;
    taps_none(&run->taps);
    if (side > 0)
        ck_assert_int_eq(taps_band(side, 0.35 * PI, &run->taps), 0);
    run->scalars[COLUMN_SCALE] = 3.7e5;
    /* Where it is looked at: elsewhere it would hide the plasma. */
    run->scalars[COLUMN_KERR] = c->quadrature || c->extra ? 1e-36 : 0.0;
    run->scalars[COLUMN_DENSITY] = 2.4e25;
    run->scalars[COLUMN_PREIONISED] = c->preionised;
    run->scalars[COLUMN_DT] = CASE_DT;
    run->scalars[COLUMN_MOBILITY] = PULSE_E * PULSE_E / PULSE_ME;
    run->scalars[COLUMN_POTENTIAL] = rates->ppt.potential * PULSE_HARTREE;
    run->ld = backend_stride(c->n, sizeof(double));
    run->ld_pad = backend_stride(c->n + 2 * COLUMN_PAD, sizeof(double));
    ck_assert_int_eq(MEM_NEW(2 * run->ld, &run->field), 0);
    ck_assert_int_eq(MEM_NEW(run->ld, &run->quadrature), 0);
    ck_assert_int_eq(MEM_NEW(run->ld, &run->extra), 0);
    ck_assert_int_eq(MEM_NEW(run->ld, &run->window), 0);
    ck_assert_int_eq(MEM_NEW(5 * run->ld_pad, &run->scratch), 0);
    ck_assert_int_eq(MEM_NEW(2 * run->ld, &run->out), 0);
    fill(run);
    set_args(run);
}

void column_run_clear(struct column_run *run)
{
    double *const memory[] = {run->field,  run->quadrature, run->extra,
                              run->window, run->scratch,    run->out};
    for (size_t i = 0; i < sizeof memory / sizeof memory[0]; i++)
        mem_free(memory[i]);
}

typedef void body(long n, const struct column_row *r);
typedef int launch(struct backend *be, const struct column_args *a, long row, long rows,
                   long n);

static int run_bodies(struct column_run *run)
{
    static body *const trapezoids[] = {
        column_trapezoid_field_body, column_trapezoid_channel_body, column_trapezoid_adk_body};
    static body *const exposures[] = {column_exposure_field_body, column_exposure_channel_body,
                                      column_exposure_adk_body};
    const struct column_row row = column_row(&run->args, 0);
    if (run->taps.side == 0 && run->c->components == 1) {
        trapezoids[run->kind](run->c->n, &row);
        return 1;
    }
    exposures[run->kind](run->c->n, &row);
    column_current_body(run->c->n, &row);
    column_polarise_body(run->c->n, &row);
    return 3;
}

int column_run_passes(struct column_run *run, struct backend *be)
{
    /* What was here before must not matter. */
    for (long i = 0; i < 5 * run->ld_pad; i++)
        run->scratch[i] = (double)NAN;
    if (be == NULL)
        return run_bodies(run);
    const struct kernel_table *k = be->kernels;
    const struct column_args *a = &run->args;
    const long n = run->c->n;
    launch *const trapezoids[] = {k->column_trapezoid_field, k->column_trapezoid_channel,
                                  k->column_trapezoid_adk};
    launch *const exposures[] = {k->column_exposure_field, k->column_exposure_channel,
                                 k->column_exposure_adk};
    if (run->once) {
        static const enum column_kind kinds[] = {COLUMN_BY_FIELD, COLUMN_BY_CHANNEL,
                                                 COLUMN_BY_ADK};
        ck_assert_int_eq(be->ops->device->column(be, kinds[run->kind], a, 0, 1, n), 0);
        return 3;
    }
    if (run->taps.side == 0 && run->c->components == 1 && !run->apart) {
        ck_assert_int_eq(trapezoids[run->kind](be, a, 0, 1, n), 0);
        return 1;
    }
    ck_assert_int_eq(exposures[run->kind](be, a, 0, 1, n), 0);
    ck_assert_int_eq(k->column_current(be, a, 0, 1, n), 0);
    ck_assert_int_eq(k->column_polarise(be, a, 0, 1, n), 0);
    return 3;
}
