/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Threads that share a row of a plasma column are the worker's own: no pass of a column starts
 * a team within a team, which costs more than the row. Every team of this program is seen on
 * its way: the linker leads calls of gcc's library through the function below. So are the two
 * thresholds of a column: from where threads share it, and from where the trapezoid's one pass
 * by one thread becomes three by all.
 */
#include <math.h>
#include <stdio.h>

#include <omp.h>

#include "kernels/base/mem.h"
#include "kernels/contract/bounds.h"
#include "kernels/models/pulse/atomic.h"
#include "kernels/models/pulse/response.h"
#include "tests/kernels/column_case.h"
#include "tests/kernels/isa.h"
#include "tests/unit_main.h"

#define THREADS 3

/* By gcc's ABI of OpenMP; names that the linker's --wrap gives. A loop with
 * a schedule has an entry of its own, not looked at: teams that share a row are none. */
/* NOLINTBEGIN(bugprone-reserved-identifier) */
void __real_GOMP_parallel(void (*call)(void *), void *data, unsigned threads, unsigned flags);
void __wrap_GOMP_parallel(void (*call)(void *), void *data, unsigned threads, unsigned flags);
/* NOLINTEND(bugprone-reserved-identifier) */

/* Teams since the last look. */
static struct {
    int count;
    int nested; /* started inside of another one */
    unsigned threads;
} teams;

static void see(unsigned threads)
{
    const int nested = omp_get_level() > 0;
#pragma omp critical
    {
        teams.count++;
        teams.nested += nested;
        teams.threads = threads;
    }
}

void __wrap_GOMP_parallel(void (*call)(void *), void *data, unsigned threads, unsigned flags)
{
    see(threads);
    __real_GOMP_parallel(call, data, threads, flags);
}

static const struct column_case shared = {"pulse", 4096, 2.5e10, 0.5,   0.05,  0.12,
                                          0.3,     0.0,  1,      false, false, 0.0};

static void look_at(int side, struct backend *be, const struct column_rates_known *rates)
{
    struct column_run run;
    column_run_init(&run, &shared, rates, CASE_ADK, side);
    run.apart = true;
    teams.count = teams.nested = 0;
    const int passes = column_run_passes(&run, be);
    printf("%d taps: %d passes, %d teams, %d nested\n", side, passes, teams.count,
           teams.nested);
    ck_assert_int_eq(passes, 3);
    ck_assert_int_eq(teams.count, passes); /* one each */
    ck_assert_int_eq(teams.nested, 0);
    ck_assert_int_eq((int)teams.threads, THREADS);
    /* Where each thread of a worker has a row of its own, none of them shares it. */
    teams.count = teams.nested = 0;
#pragma omp parallel num_threads(2) default(none) shared(run, be)
#pragma omp single
    column_run_passes(&run, be);
    ck_assert_int_eq(teams.count, 1);
    ck_assert_int_eq(teams.nested, 0);
    column_run_clear(&run);
}

START_TEST(threads_that_share_a_row_are_one_team_of_the_worker)
{
    struct backend *be;
    struct column_rates_known rates;
    struct backend_options options = {
        .name = "cpu", .isa = isa_under_test(), .threads = THREADS, .rigour = FFT_ESTIMATE};
    options.threshold[THRESHOLD_column_shares] = 1024;
    ck_assert_int_eq(backend_create(&options, &be), 0);
    rates_init(&rates);
    look_at(0, be, &rates);
    look_at(4, be, &rates);
    rates_clear(&rates);
    backend_destroy(be);
}
END_TEST

#define SAMPLES 4096

/* One response of a pulse that ionises, by a worker of so many threads. */
struct threshold_case {
    const char *name;
    enum plasma_rule rule;
    int threads;
    long shares, splits; /* thresholds, samples */
    int passes, teams;   /* wanted */
};

static void fill(double *samples, double *window)
{
    for (long i = 0; i < SAMPLES; i++) {
        const double x = ((double)i - 0.5 * SAMPLES) / 500.0;
        samples[i] = 3e10 * exp(-x * x) * cos(0.12 * (double)i);
        window[i] = 1.0;
    }
}

static void load_column(struct response *response, double *window)
{
    const struct rate_request request = {
        .kind = RATE_ADK, .gas = GAS_AR, .occupancy = 1.0, .wavelength = 800e-9};
    struct ionisation adk;
    ck_assert_int_eq(ionisation_init(&adk, &request), 0);
    struct response_column column = {.window = window, .dt = 5e-17};
    column.species[0] = (struct response_species){
        .share = 1.0, .potential = adk.potential * PULSE_HARTREE, .adk = &adk};
    ck_assert_int_eq(taps_band(4, 0.35 * acos(-1.0), &column.taps), 0);
    ck_assert_int_eq(response_load(response, 0, &column), 0);
}

/* The polarisation into `out`, [SAMPLES]. */
static void respond(const struct threshold_case *c, double *out)
{
    struct backend_options options = {
        .name = "cpu", .isa = isa_under_test(), .threads = c->threads, .rigour = FFT_ESTIMATE};
    options.threshold[THRESHOLD_column_shares] = c->shares;
    options.threshold[THRESHOLD_column_splits] = c->splits;
    struct backend *be;
    struct response *response;
    double *window;
    ck_assert_int_eq(backend_create(&options, &be), 0);
    const struct response_setup setup = {.backend = be,
                                         .n = SAMPLES,
                                         .columns = 1,
                                         .components = 1,
                                         .rule = c->rule,
                                         .species = 1,
                                         .rate = {RESPONSE_RATE_ADK},
                                         .third_harmonic = true};
    ck_assert_int_eq(response_create(&setup, &response), 0);
    ck_assert_int_eq(MEM_NEW(SAMPLES, &window), 0);
    fill(out, window);
    load_column(response, window);
    const struct response_factors factors = {.scale = 1.0, .density = 1e25};
    const struct response_rows rows = {.samples = out, .ld = SAMPLES};
    struct row_status st = {0};
    teams.count = teams.nested = 0;
    ck_assert_int_eq(response_apply(response, 0, &factors, &rows, &st), 0);
    ck_assert_msg(st.passes == c->passes && teams.count == c->teams && teams.nested == 0,
                  "%s: %lld passes and %d teams; %d and %d are wanted", c->name,
                  (long long)st.passes, teams.count, c->passes, c->teams);
    response_destroy(response);
    mem_free(window);
    backend_destroy(be);
}

START_TEST(thresholds_choose_between_whole_and_shared_columns)
{
    static const struct threshold_case cases[] = {
        {"one thread", PLASMA_TRAPEZOID, 1, 1, 1, RESPONSE_PASSES_TRAPEZOID, 0},
        {"below both", PLASMA_TRAPEZOID, THREADS, SAMPLES + 1, SAMPLES + 1, 1, 0},
        {"not split yet", PLASMA_TRAPEZOID, THREADS, SAMPLES, SAMPLES + 1, 1, 0},
        {"split, but not shared", PLASMA_TRAPEZOID, THREADS, SAMPLES + 1, SAMPLES, 1, 0},
        {"split and shared", PLASMA_TRAPEZOID, THREADS, SAMPLES, SAMPLES, 3, 3},
        {"band, not shared", PLASMA_BAND, THREADS, SAMPLES + 1, 1, RESPONSE_PASSES_BAND, 0},
        {"band, shared", PLASMA_BAND, THREADS, SAMPLES, SAMPLES + 1, RESPONSE_PASSES_BAND, 3}};
    static double whole[SAMPLES] __attribute__((aligned(64)));
    static double other[SAMPLES] __attribute__((aligned(64)));
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const bool first = i == 0 || cases[i].rule != cases[i - 1].rule;
        respond(&cases[i], first ? whole : other);
        double peak = 0.0;
        for (long j = 0; j < SAMPLES; j++)
            peak = fmax(peak, fabs(whole[j]));
        ck_assert_double_gt(peak, 0.0);
        for (long j = 0; j < SAMPLES && !first; j++)
            ck_assert_double_le(fabs(other[j] - whole[j]) / peak, bound(BOUND_column_guard));
    }
}
END_TEST

int main(void)
{
    if (isa_check() != 0)
        return ISA_SKIPPED;
    Suite *const suite = suite_create("teams of a plasma column");
    TCase *const tests = tcase_create("teams");
    tcase_set_timeout(tests, 60);
    tcase_add_test(tests, threads_that_share_a_row_are_one_team_of_the_worker);
    tcase_add_test(tests, thresholds_choose_between_whole_and_shared_columns);
    suite_add_tcase(suite, tests);
    return unit_main(suite);
}
