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
                                         .rate = rate,
                                         .third_harmonic = true};
    run->ld = backend_stride(n, sizeof(double));
    ck_assert_int_eq(MEM_NEW(2 * run->ld, &run->samples), 0);
    ck_assert_int_eq(MEM_NEW(run->ld, &run->window), 0);
    ck_assert_int_eq(MEM_NEW(run->ld, &run->extra), 0);
    for (long i = 0; i < n; i++)
        run->window[i] = 1.0;
    run->column = (struct response_column){.window = run->window,
                                           .dt = DT,
                                           .potential = known.ppt.potential * PULSE_HARTREE,
                                           .table = known.table[rate == RESPONSE_RATE_CHANNEL],
                                           .adk = &known.adk};
    ck_assert_int_eq(taps_band(4, 0.35 * PI, &run->column.taps), 0);
    run->factors = (struct response_factors){.scale = 2.0, .kerr = 0.0, .density = 1e25};
}

/* The second column, so that offsets count. */
static void run_apply(struct response_run *run)
{
    const struct response_rows rows = {run->samples, run->ld,
                                       run->setup.third_harmonic ? NULL : run->extra,
                                       run->setup.extra ? run->extra : NULL};
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
    ck_assert_double_le(fabs(ratio.i), 1e-9);
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
        ck_assert_double_le(fabs(drude_ratio(&run, theta) - 1.0), 2.01 * certificate + 1e-9);
        run_close(&run);
        run_open(&run, 4096, PLASMA_TRAPEZOID, RESPONSE_RATE_FIELD);
        run.column.preionised = 1.0;
        const double multiplier = 0.5 * theta / tan(0.5 * theta);
        ck_assert_double_le(fabs(drude_ratio(&run, theta) / (multiplier * multiplier) - 1.0),
                            1e-9);
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
            ck_assert_msg(fabs(got - want) <= 1e-8 * want, "rate %d at %g V/m: %g, not %g",
                          kind, field, got, want);
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
        ck_assert_double_le(fabs(report.work / (run.column.potential * report.electrons) - 1.0),
                            1e-2);
        run_close(&run);
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
    struct response_setup setup = {.n = 600, .columns = 1, .components = 3};
    check_refused(&setup, ERR_BUG);
    setup.components = 2; /* without the third harmonic */
    check_refused(&setup, ERR_UNSUPPORTED);
    setup.components = 1;
    setup.n = 8;
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
    tcase_add_test(tests, a_preionised_column_is_a_drude_gas);
    tcase_add_test(tests, rates_are_those_of_the_tables_and_of_the_formula);
    tcase_add_test(tests, a_rate_that_is_nan_or_a_field_that_is_infinite_ends_in_nan);
    tcase_add_test(tests, skipping_what_is_zero_changes_no_bit);
    tcase_add_test(tests, the_report_counts_what_is_saturated_and_what_undershoots);
    tcase_add_test(tests, the_work_is_the_potential_times_the_electrons);
    tcase_add_test(tests, impossible_setups_are_refused);
    suite_add_tcase(suite, tests);
    return unit_main(suite);
}
