/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The response of a real field as a model calls it: counters, closed forms, rates, NaN. */
#include <math.h>
#include <string.h>

#include "kernels/base/mem.h"
#include "kernels/base/status.h"
#include "kernels/contract/bounds.h"
#include "kernels/contract/compare.h"
#include "kernels/models/pulse/atomic.h"
#include "kernels/models/pulse/response.h"
#include "tests/exact.h"
#include "tests/kernels/column_case.h"
#include "tests/kernels/isa.h"
#include "tests/kernels/lane.h"
#include "tests/perturb/near.h"
#include "tests/unit_main.h"

#define PI 3.14159265358979323846
#define DT 5e-17 /* s */

struct response_run {
    struct response_setup setup;
    struct response *response;
    struct response_column column;
    struct response_factors factors;
    struct row_status st;
    long ld;
    double *samples; /* [2][ld] */
    double *window, *extra;
};

/* Made once for all tests: channels of PPT take a while. */
static struct column_rates_known known;
static long live;

static void known_init(void)
{
    rates_init(&known);
    live = mem_live();
}

static void known_clear(void)
{
    rates_clear(&known);
}

static struct response_species argon(enum rate_evaluation rate)
{
    return (struct response_species){.share = 1.0,
                                     .potential = known.ppt.potential * PULSE_HARTREE,
                                     .table = known.table[rate == RESPONSE_RATE_CHANNEL],
                                     .adk = &known.adk};
}

static void run_open(struct response_run *run, long n, enum plasma_rule rule,
                     enum rate_evaluation rate)
{
    *run = (struct response_run){0};
    struct backend *be;
    const struct backend_options options = {.name = "cpu",
                                            .isa = isa_under_test(),
                                            .threads = lane_threads(1),
                                            .rigour = FFT_ESTIMATE};
    ck_assert_int_eq(backend_create(&options, &be), 0);
    run->setup = (struct response_setup){.backend = be,
                                         .n = n,
                                         .columns = 2,
                                         .components = 1,
                                         .rule = rule,
                                         .species = 1,
                                         .rate = {rate},
                                         .third_harmonic = true};
    run->ld = backend_stride(n, sizeof(double));
    ck_assert_int_eq(MEM_NEW(2 * run->ld, &run->samples), 0);
    ck_assert_int_eq(MEM_NEW(run->ld, &run->window), 0);
    ck_assert_int_eq(MEM_NEW(run->ld, &run->extra), 0);
    for (long i = 0; i < n; i++)
        run->window[i] = 1.0;
    run->column =
        (struct response_column){.window = run->window, .dt = DT, .species = {argon(rate)}};
    ck_assert_int_eq(taps_band(4, 0.35 * PI, &run->column.taps), 0);
    run->factors = (struct response_factors){.scale = 2.0, .kerr = 0.0, .density = 1e25};
}

/* The second column, so that offsets count. */
static void run_apply(struct response_run *run)
{
    const struct response_rows rows = {.samples = run->samples,
                                       .ld = run->ld,
                                       .quadrature =
                                           run->setup.third_harmonic ? NULL : run->extra,
                                       .extra = run->setup.extra ? run->extra : NULL};
    if (run->response == NULL) {
        ck_assert_int_eq(response_create(&run->setup, &run->response), 0);
        for (long c = 0; c < 2; c++)
            ck_assert_int_eq(response_load(run->response, c, &run->column), 0);
    }
    ck_assert_int_eq(response_apply(run->response, 1, &run->factors, &rows, &run->st), 0);
}

static void run_close(struct response_run *run)
{
    response_destroy(run->response);
    mem_free(run->samples);
    mem_free(run->window);
    mem_free(run->extra);
    backend_destroy(run->setup.backend);
    ck_assert_int_eq(mem_live(), live);
}

/* A Gaussian pulse of a peak in V/m, centred on sample `centre`. */
static void set_pulse(struct response_run *run, double peak, double centre, double width,
                      double theta)
{
    for (long i = 0; i < run->setup.n; i++) {
        const double x = (double)i - centre;
        run->samples[i] =
            peak / run->factors.scale * exp(-(x / width) * (x / width)) * cos(theta * x);
    }
}

START_TEST(passes_are_those_of_the_design)
{
    static const struct {
        enum plasma_rule rule;
        int components, passes;
    } cases[] = {{PLASMA_NONE, 1, RESPONSE_PASSES_KERR},
                 {PLASMA_NONE, 2, RESPONSE_PASSES_KERR},
                 {PLASMA_TRAPEZOID, 1, RESPONSE_PASSES_TRAPEZOID},
                 {PLASMA_TRAPEZOID, 2, RESPONSE_PASSES_BAND},
                 {PLASMA_BAND, 1, RESPONSE_PASSES_BAND},
                 {PLASMA_BAND, 2, RESPONSE_PASSES_BAND}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct response_run run;
        run_open(&run, 600, cases[i].rule, RESPONSE_RATE_FIELD);
        run.setup.components = cases[i].components;
        set_pulse(&run, 2e10, 300.0, 40.0, 0.12);
        run_apply(&run);
        run_apply(&run);
        ck_assert_int_eq(run.st.passes, 2 * cases[i].passes);
        ck_assert_int_eq(run.st.transforms, 0);
        run_close(&run);
    }
}
END_TEST

/* sum_i x_i exp(-i k i), one frequency */
static cplx transform_at(const double *x, long n, double theta)
{
    long double real = 0.0L;
    long double imaginary = 0.0L;
    for (long i = 0; i < n; i++) {
        real += x[i] * cosl((long double)theta * i);
        imaginary -= x[i] * sinl((long double)theta * i);
    }
    return cplx_make((double)real, (double)imaginary);
}

START_TEST(both_kerr_responses_do_the_same_to_the_fundamental)
{
    /* physics.md §9: E^3 and (3/4) |E_an|^2 E near the carrier, of a pulse of eight periods. */
    struct response_run run;
    double harmonic[2048];
    const long n = 2048;
    const double theta = 0.3;
    const double width = 80.0;
    for (int third = 1; third >= 0; third--) {
        run_open(&run, n, PLASMA_NONE, RESPONSE_RATE_FIELD);
        run.setup.third_harmonic = third == 1;
        run.factors.kerr = 3e-27;
        set_pulse(&run, 1e10, 1024.0, width, theta);
        for (long i = 0; i < n; i++) {
            const double x = (double)i - 1024.0;
            run.extra[i] = 0.5e10 * exp(-(x / width) * (x / width)) * sin(theta * x);
        }
        run_apply(&run);
        if (third == 1)
            memcpy(harmonic, run.samples, sizeof harmonic);
        else
            for (double share = 0.9; share <= 1.1; share += 0.02) {
                const cplx a = transform_at(harmonic, n, share * theta);
                const cplx b = transform_at(run.samples, n, share * theta);
                const cplx top = transform_at(harmonic, n, theta);
                ck_assert_norm(sqrt(cplx_abs2(cplx_sub(a, b)) / cplx_abs2(top)), 1e-15);
            }
        /* Only one has a third harmonic: a third of the fundamental's. */
        const cplx up = transform_at(run.samples, n, 3.0 * theta);
        const cplx top = transform_at(harmonic, n, theta);
        ck_assert_rounding_of(sqrt(cplx_abs2(up) / cplx_abs2(top)), third / 3.0, 1.0, 1e-14);
        run_close(&run);
    }
}
END_TEST

/* P over -(rho e^2/(m omega^2)) E at a frequency, for a preionised column under a narrow-band
 * pulse. */
static double drude_ratio(struct response_run *run, double theta)
{
    const long n = run->setup.n;
    set_pulse(run, 1e7, 0.5 * (double)n, 0.06 * (double)n, theta);
    const cplx e = transform_at(run->samples, n, theta);
    run_apply(run);
    const cplx p = transform_at(run->samples, n, theta);
    const double omega = theta / DT;
    const double want = -run->factors.density * PULSE_E * PULSE_E / PULSE_ME / (omega * omega)
                        * run->factors.scale;
    /* P and E are in phase: the part across is below. */
    const cplx ratio = cplx_scale(1.0 / (want * cplx_abs2(e)), cplx_mul_conj(p, e));
    ck_assert_near(ratio.i, 0.0, 1e-9, 1e-8, "a phase of 1e-8 between the two");
    return ratio.r;
}

START_TEST(a_preionised_column_is_a_drude_gas)
{
    static const double thetas[] = {0.1, 0.3, 0.7, 1.0};
    for (int i = 0; i < 4; i++) {
        struct response_run run;
        const double theta = thetas[i];
        run_open(&run, 4096, PLASMA_BAND, RESPONSE_RATE_FIELD);
        run.column.preionised = 1.0;
        /* Both integrals are off by the certificate at most. */
        const double certificate = run.column.taps.certificate;
        ck_assert_near(drude_ratio(&run, theta), 1.0, 2.01 * certificate + 1e-9,
                       1.0 + 5.0 * certificate + 5e-9,
                       "integrals off by five certificates in all");
        run_close(&run);
        run_open(&run, 4096, PLASMA_TRAPEZOID, RESPONSE_RATE_FIELD);
        run.column.preionised = 1.0;
        const double multiplier = 0.5 * theta / tan(0.5 * theta);
        ck_assert_ratio(drude_ratio(&run, theta), multiplier * multiplier, 1e-9,
                        multiplier * multiplier * (1.0 + 1e-8), "a density larger by 1e-8");
        run_close(&run);
    }
}
END_TEST

/* The kernel's reading of a rate against the model's own. */
START_TEST(rates_are_those_of_the_tables_and_of_the_formula)
{
    for (int kind = 0; kind < CASE_RATES; kind++) {
        const struct column_rate view = rates_view(&known, (enum case_rate)kind);
        for (int i = 0; i <= 4000; i++) {
            const double field = 1e8 * pow(1e4, i / 4000.0);
            const double want = kind == CASE_ADK
                                    ? ionisation_rate(&known.adk, field, NULL)
                                    : rate_table_read(known.table[kind], field, NULL);
            const double got = kind == CASE_ADK        ? rate_adk_value(&view, field)
                               : kind == CASE_BY_FIELD ? rate_field_value(&view, field)
                                                       : rate_channel_value(&view, field);
            /* Exponents up to 700 in double precision, and roots of differences. */
            ck_assert_near(got, want, 1e-8 * want, want * (1.0 + 1e-7),
                           "a rate larger by 1e-7");
            if (kind != CASE_ADK || i % 2 == 0)
                ck_assert((exactly(got, 0.0)) == (exactly(want, 0.0)));
        }
    }
}
END_TEST

START_TEST(a_rate_that_is_nan_or_a_field_that_is_infinite_ends_in_nan)
{
    static const double bad[] = {(double)NAN, (double)INFINITY, -(double)INFINITY};
    for (int rate = RESPONSE_RATE_FIELD; rate <= RESPONSE_RATE_ADK; rate++)
        for (int rule = PLASMA_TRAPEZOID; rule <= PLASMA_BAND; rule++)
            for (int b = 0; b < 3; b++) {
                struct response_run run;
                struct response_report report;
                run_open(&run, 1600, (enum plasma_rule)rule, (enum rate_evaluation)rate);
                set_pulse(&run, 1e10, 800.0, 100.0, 0.1);
                run_apply(&run);
                ck_assert_int_eq(response_report(run.response, 1, &report), 0);
                ck_assert(report.finite && report.electrons > 0.0);
                set_pulse(&run, 1e10, 800.0, 100.0, 0.1);
                run.samples[100] = bad[b]; /* long before there is a rate */
                run_apply(&run);
                for (long i = 110; i < 1600; i++)
                    ck_assert(isnan(run.samples[i]));
                ck_assert_int_eq(response_report(run.response, 1, &report), 0);
                ck_assert(!report.finite && isnan(report.electrons));
                run_close(&run);
            }
}
END_TEST

/* Samples before the pulse are skipped where they are zero: chunks of them more or less change
 * no bit. With something preionised nothing is skipped, and the formula is still the same. */
START_TEST(skipping_what_is_zero_changes_no_bit)
{
    enum { SHORT = 2048, SHIFT = 1024, LONG = SHORT + SHIFT };
    for (int rule = PLASMA_TRAPEZOID; rule <= PLASMA_BAND; rule++) {
        struct response_run near;
        struct response_run far;
        run_open(&near, SHORT, (enum plasma_rule)rule, RESPONSE_RATE_CHANNEL);
        set_pulse(&near, 2.5e10, 700.0, 60.0, 0.12);
        double kept[SHORT];
        memcpy(kept, near.samples, sizeof kept);
        run_apply(&near);
        double result[SHORT];
        memcpy(result, near.samples, sizeof result);
        run_close(&near);
        run_open(&far, LONG, (enum plasma_rule)rule, RESPONSE_RATE_CHANNEL);
        memset(far.samples, 0, SHIFT * sizeof(double));
        memcpy(far.samples + SHIFT, kept, sizeof kept);
        run_apply(&far);
        ck_assert_int_eq(comparison_bits(far.samples + SHIFT, result, sizeof(double), SHORT),
                         -1);
        for (long i = 0; i < SHIFT; i++)
            ck_assert_exactly(far.samples[i], 0.0);
        ck_assert_double_gt(fabs(result[1500]), 0.0);
        run_close(&far);
    }
}
END_TEST

START_TEST(the_report_counts_what_is_saturated_and_what_undershoots)
{
    struct response_run run;
    struct response_report report;
    run_open(&run, 1600, PLASMA_BAND, RESPONSE_RATE_FIELD);
    const double ceiling = known.table[0]->ceiling;
    set_pulse(&run, 1.2 * ceiling, 800.0, 100.0, 0.1);
    long above = 0;
    for (long i = 0; i < 1600; i++)
        above += fabs(run.factors.scale * run.samples[i]) > ceiling;
    run_apply(&run);
    ck_assert_int_eq(response_report(run.response, 1, &report), 0);
    ck_assert_int_gt(above, 0);
    ck_assert_int_eq(report.saturated, above);
    ck_assert_double_gt(report.most, 0.99);
    /* A filter of alternating taps around a sudden start dips below zero. */
    ck_assert_int_gt(report.undershoot, 0);
    /* A column that was not asked for says nothing. */
    ck_assert_int_eq(response_report(run.response, 0, &report), 0);
    ck_assert_exactly(report.electrons, 0.0);
    run_close(&run);
}
END_TEST

/* I_p times the freed electrons is what the loss current takes from the field. */
START_TEST(the_work_is_the_potential_times_the_electrons)
{
    for (int rule = PLASMA_TRAPEZOID; rule <= PLASMA_BAND; rule++) {
        struct response_run run;
        struct response_report report;
        run_open(&run, 4096, (enum plasma_rule)rule, RESPONSE_RATE_CHANNEL);
        set_pulse(&run, 2.5e10, 2048.0, 200.0, 0.05);
        run_apply(&run);
        ck_assert_int_eq(response_report(run.response, 1, &report), 0);
        ck_assert_double_gt(report.electrons, 1e-6);
        /* Two rules for one integral of a function that dt resolves to about 1e-4. */
        ck_assert_ratio(report.work, run.column.species[0].potential * report.electrons, 1e-2,
                        0.95 * report.work, "a bound electron in twenty");
        run_close(&run);
    }
}
END_TEST

/* Argon as three species: by each way to evaluate its rate, with potentials of their own. */
#define MIXED 3
static const double mixed_share[MIXED] = {0.2, 0.3, 0.5};
static const double mixed_potential[MIXED] = {1.0, 1.3, 0.8};

struct mixed {
    const struct column_case *c;
    int species, side;
    struct column_run run[MIXED]; /* each species by itself: Kerr and extra with the last */
    struct column_truth truth[MIXED];
};

static void mixed_init(struct mixed *m, const struct column_case *c, int species, int side)
{
    *m = (struct mixed){.c = c, .species = species, .side = side};
    for (int i = 0; i < species; i++) {
        struct column_run *const run = &m->run[i];
        column_run_init(run, c, &known, (enum case_rate)i, side);
        run->scalars[COLUMN_POTENTIAL] *= mixed_potential[i];
        run->scalars[COLUMN_DENSITY] *= mixed_share[i];
        if (i + 1 < species) {
            run->scalars[COLUMN_KERR] = 0.0;
            memset(run->extra, 0, (size_t)c->n * sizeof(double));
        }
        column_truth_init(&m->truth[i], run, FAULT_NONE, false);
    }
}

static void mixed_clear(struct mixed *m)
{
    for (int i = 0; i < m->species; i++) {
        column_truth_clear(&m->truth[i]);
        column_run_clear(&m->run[i]);
    }
}

/* The response to the same field, all species at once, in place. */
static void mixed_apply(const struct mixed *m, double *samples, struct response_report *report,
                        struct row_status *st)
{
    const struct column_run *const last = &m->run[m->species - 1];
    struct backend *be;
    struct response *response;
    const struct backend_options options = {.name = "cpu",
                                            .isa = isa_under_test(),
                                            .threads = lane_threads(1),
                                            .rigour = FFT_ESTIMATE};
    ck_assert_int_eq(backend_create(&options, &be), 0);
    struct response_setup setup = {.backend = be,
                                   .n = m->c->n,
                                   .columns = 2,
                                   .components = m->c->components,
                                   .rule = m->side > 0 ? PLASMA_BAND : PLASMA_TRAPEZOID,
                                   .species = m->species,
                                   .third_harmonic = !m->c->quadrature,
                                   .extra = m->c->extra};
    struct response_column column = {.window = last->window,
                                     .dt = CASE_DT,
                                     .preionised = m->c->preionised,
                                     .taps = last->taps};
    for (int i = 0; i < m->species; i++) {
        setup.rate[i] = (enum rate_evaluation)i;
        column.species[i] = argon(setup.rate[i]);
        column.species[i].share = mixed_share[i];
        column.species[i].potential *= mixed_potential[i];
    }
    const struct response_factors factors = {last->scalars[COLUMN_SCALE],
                                             last->scalars[COLUMN_KERR], 2.4e25};
    const struct response_rows rows = {.samples = samples,
                                       .ld = last->ld,
                                       .quadrature = last->quadrature,
                                       .extra = last->extra};
    ck_assert_int_eq(response_create(&setup, &response), 0);
    ck_assert_int_eq(response_load(response, 0, &column), 0);
    ck_assert_int_eq(response_load(response, 1, &column), 0);
    ck_assert_int_eq(response_apply(response, 1, &factors, &rows, st), 0);
    ck_assert_int_eq(response_report(response, 1, report), 0);
    response_destroy(response);
    backend_destroy(be);
}

static void mixed_check_report(const struct mixed *m, const struct response_report *report)
{
    double electrons = 0.0;
    double budget = 0.0;
    double work = 0.0;
    long saturated = 0;
    for (int i = 0; i < m->species; i++) {
        electrons += mixed_share[i] * m->truth[i].electrons;
        budget += mixed_share[i] * m->truth[i].electrons_budget;
        work += mixed_share[i] * m->truth[i].work;
        if (m->truth[i].saturated > saturated)
            saturated = m->truth[i].saturated;
    }
    ck_assert_near(report->electrons, electrons, budget + 4e-16 * electrons,
                   electrons + 3.0 * (budget + 4e-16 * electrons), "three budgets");
    ck_assert_double_le(fabs(report->work - work), bound(BOUND_observable) * work);
    ck_assert_int_eq(report->saturated, saturated);
    ck_assert(report->finite);
}

static void check_mixed(const struct column_case *c, int species, int side)
{
    struct mixed m;
    struct response_report report;
    struct row_status st = {0};
    mixed_init(&m, c, species, side);
    double *const samples = m.run[0].out;
    memcpy(samples, m.run[0].field, (size_t)(2 * m.run[0].ld) * sizeof *samples);
    mixed_apply(&m, samples, &report, &st);
    for (int k = 0; k < c->components; k++)
        for (long i = 0; i < c->n; i++) {
            double want = 0.0;
            double budget = 0.0;
            double size = 0.0;
            for (int s = 0; s < species; s++) {
                want += m.truth[s].out[k * c->n + i];
                size += fabs(m.truth[s].out[k * c->n + i]);
                budget += m.truth[s].budget[k * c->n + i];
            }
            const double error = fabs(samples[k * m.run[0].ld + i] - want);
            if (!(error <= budget + species * 0x1p-53 * size))
                ck_abort_msg("%s, %d species: %g in sample %ld, %g are allowed", c->name,
                             species, error, i, budget);
        }
    const bool fused = side == 0 && c->components == 1;
    ck_assert_int_eq(st.passes,
                     species * (fused ? RESPONSE_PASSES_TRAPEZOID : 3) + species - 1);
    mixed_check_report(&m, &report);
    mixed_clear(&m);
    ck_assert_int_eq(mem_live(), live);
}

/* The sum over the species of the formula in long double, within the sum of its budgets. */
START_TEST(a_mixture_is_the_sum_of_its_species)
{
    static const struct column_case cases[] = {
        {"plain", 1900, 2.5e10, 0.4, 0.05, 0.12, 0.3, 0.0, 1, false, false, 0.0},
        {"weak", 1900, 1.2e10, 0.6, 0.05, 0.12, 0.3, 0.0, 1, false, false, 0.0},
        {"saturated", 1600, 1.1e11, 0.5, 0.06, 0.1, 0.0, 0.0, 1, false, true, 0.0},
        {"preionised", 1600, 2.5e10, 0.5, 0.06, 0.1, 0.0, 1e-3, 1, true, true, 0.0},
        {"two components", 1600, 2.5e10, 0.5, 0.06, 0.1, 0.0, 0.0, 2, false, true, 0.0}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        for (int species = 2; species <= MIXED; species++)
            for (int side = 0; side <= 4; side += 4)
                check_mixed(&cases[i], species, side);
}
END_TEST

/* Halves of a number are exact: without Kerr two halves of a gas are that gas, bit for bit;
 * with it their sum is rounded once more. */
START_TEST(two_halves_of_a_gas_are_that_gas)
{
    enum { N = 1900 };
    for (int rule = PLASMA_TRAPEZOID; rule <= PLASMA_BAND; rule++)
        for (int kerr = 0; kerr < 2; kerr++) {
            struct response_report report[2];
            double result[2][N];
            double input[N];
            for (int halves = 0; halves < 2; halves++) {
                struct response_run run;
                run_open(&run, N, (enum plasma_rule)rule, RESPONSE_RATE_CHANNEL);
                run.factors.kerr = kerr * 3e-26;
                if (halves == 1) {
                    run.setup.species = 2;
                    run.setup.rate[1] = RESPONSE_RATE_CHANNEL;
                    run.column.species[0].share = 0.5;
                    run.column.species[1] = run.column.species[0];
                }
                set_pulse(&run, 2.5e10, 900.0, 80.0, 0.12);
                memcpy(input, run.samples, sizeof input);
                run_apply(&run);
                memcpy(result[halves], run.samples, sizeof input);
                ck_assert_int_eq(response_report(run.response, 1, &report[halves]), 0);
                run_close(&run);
            }
            for (long i = 0; i < N; i++) {
                const double e = 2.0 * input[i];
                const double size = fabs(kerr * 3e-26 * e * e * e);
                ck_assert_norm(fabs(result[1][i] - result[0][i]),
                               8.0 * 0x1p-53 * (size + kerr * fabs(result[0][i])));
            }
            ck_assert_exactly(report[1].electrons, report[0].electrons);
            ck_assert_exactly(report[1].work, report[0].work);
            ck_assert_int_eq(report[1].saturated, report[0].saturated);
            ck_assert_int_eq(report[1].undershoot, 2 * report[0].undershoot);
        }
}
END_TEST

static void check_refused(struct response_setup *setup, int code)
{
    struct response *response;
    char text[200] = "";
    status_capture(text, sizeof text);
    ck_assert_int_eq(response_create(setup, &response), code);
    status_capture(NULL, 0);
    ck_assert_str_ne(text, "");
}

START_TEST(impossible_setups_are_refused)
{
    struct response_setup setup = {.n = 600, .columns = 1, .components = 3, .species = 1};
    check_refused(&setup, ERR_BUG);
    setup.components = 2; /* without the third harmonic */
    check_refused(&setup, ERR_UNSUPPORTED);
    setup.components = 1;
    setup.envelope = true;
    setup.rule = PLASMA_BAND;
    check_refused(&setup, ERR_UNSUPPORTED);
    setup.envelope = false;
    setup.rule = PLASMA_NONE;
    setup.n = 8;
    check_refused(&setup, ERR_BUG);
    setup.n = 600;
    setup.species = 0;
    check_refused(&setup, ERR_BUG);
    setup.species = RESPONSE_SPECIES + 1;
    check_refused(&setup, ERR_BUG);
}
END_TEST

int main(void)
{
    if (isa_check() != 0)
        return ISA_SKIPPED;
    Suite *const suite = suite_create("response of a real field");
    TCase *const tests = tcase_create("response");
    tcase_set_timeout(tests, 60);
    tcase_add_unchecked_fixture(tests, known_init, known_clear);
    tcase_add_test(tests, passes_are_those_of_the_design);
    tcase_add_test(tests, both_kerr_responses_do_the_same_to_the_fundamental);
    tcase_add_test(tests, a_preionised_column_is_a_drude_gas);
    tcase_add_test(tests, rates_are_those_of_the_tables_and_of_the_formula);
    tcase_add_test(tests, a_rate_that_is_nan_or_a_field_that_is_infinite_ends_in_nan);
    tcase_add_test(tests, skipping_what_is_zero_changes_no_bit);
    tcase_add_test(tests, the_report_counts_what_is_saturated_and_what_undershoots);
    tcase_add_test(tests, the_work_is_the_potential_times_the_electrons);
    tcase_add_test(tests, a_mixture_is_the_sum_of_its_species);
    tcase_add_test(tests, two_halves_of_a_gas_are_that_gas);
    tcase_add_test(tests, impossible_setups_are_refused);
    suite_add_tcase(suite, tests);
    return unit_main(suite);
}
