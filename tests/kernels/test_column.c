/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The stress set of the plasma column (numerics.md §6): each sample within its derived budget,
 * for the passes of the backend and for the plain bodies, against the formula in long double.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/base/mem.h"
#include "kernels/contract/bounds.h"
#include "kernels/contract/compare.h"
#include "tests/exact.h"
#include "tests/kernels/column_case.h"
#include "tests/kernels/column_place.h"
#include "tests/kernels/isa.h"
#include "tests/perturb/near.h"
#include "tests/perturb/record.h"
#include "tests/unit_main.h"

/* Peaks in V/m, or minus the number of cut-offs; argon's ceiling is 8.6e10 V/m. Lengths tails
 * of every kind behind the chunks of 256 and the vectors of 2 to 8. */
static const struct column_case cases[] = {
    {"pulse", 4096, 2.5e10, 0.5, 0.05, 0.12, 0.3, 0.0, 1, false, false, 0.0},
    {"preionised, no rate", 2050, 1e8, 0.5, 0.0, 0.11, 0.7, 0.3, 1, false, false, 0.0},
    {"preionised and ionised", 1034, 3e10, 0.5, 0.1, 0.13, 0.1, 0.02, 1, false, false, 0.0},
    {"many zero crossings", 1026, 2e10, 0.5, 0.3, 1.0, 0.0, 0.0, 1, false, false, 0.0},
    {"tiny exposure", 1536, 4e9, 0.5, 0.1, 0.12, 0.2, 0.0, 1, false, false, 0.0},
    {"rates near the threshold", 1030, -1.02, 0.5, 0.1, 0.12, 0.2, 0.0, 1, false, false, 0.0},
    {"long cancelling prefix", 16390, 1e9, 0.5, 0.0, 0.1234, 0.5, 1.0, 1, false, false, 0.0},
    {"pulse at the left edge", 1100, 2.5e10, 0.0, 0.1, 0.12, 0.4, 0.0, 1, false, false, 0.0},
    {"pulse at the right edge", 1100, 2.5e10, 1.0, 0.1, 0.12, 0.4, 0.0, 1, false, false, 0.0},
    {"preionised at the left edge", 40, 1e8, 0.0, 0.5, 0.02, 0.1, 1.0, 1, false, false, 0.0},
    {"one chunk and a half vector", 516, 2e10, 0.7, 0.1, 0.2, 0.4, 0.0, 1, false, false, 0.0},
    {"a prime number of samples", 1543, 2e10, 0.6, 0.1, 0.2, 0.4, 0.0, 1, false, false, 0.0},
    {"shorter than a chunk", 302, 2e10, 0.5, 0.1, 0.2, 0.4, 0.0, 1, false, false, 0.0},
    {"saturated", 1024, 9.5e10, 0.5, 0.1, 0.12, 0.3, 0.0, 1, false, false, 0.0},
    {"two components", 1090, 2.2e10, 0.4, 0.1, 0.12, 0.3, 0.0, 2, false, false, 0.0},
    {"two components, preionised", 1090, 2.2e10, 0.4, 0.1, 0.12, 0.3, 0.1, 2, false, true, 0.0},
    {"no third harmonic", 1090, 2.2e10, 0.4, 0.1, 0.12, 0.3, 0.0, 1, true, false, 0.0},
    {"two pulses far apart", 8200, 2.5e10, 0.2, 0.01, 0.12, 0.3, 0.0, 1, false, false, 0.8},
    {"the same, preionised", 8200, 2.5e10, 0.3, 0.01, 0.12, 0.3, 0.1, 1, false, false, 0.7},
    {"the same of two components", 8200, 2.5e10, 0.2, 0.01, 0.12, 0.3, 0.0, 2, false, false,
     0.8},
    {"all that there is", 1090, 2.2e10, 0.4, 0.1, 0.12, 0.3, 0.01, 1, true, true, 0.0},
};
#define CASES (sizeof cases / sizeof cases[0])

static struct column_rates_known rates;
static struct backend *be;
static struct backend *by_rows; /* the same, where it is a device: all passes in one launch */

/* A CPU whose threads share rows from `threshold` samples on. */
static struct backend *backend_of(int threads, long threshold)
{
    struct backend_options options = {
        .name = "cpu", .isa = isa_under_test(), .threads = threads, .rigour = FFT_ESTIMATE};
    struct backend *out;
    options.threshold[THRESHOLD_column_shares] = threshold;
    ck_assert_int_eq(backend_create(&options, &out), 0);
    return out;
}

static void backend_init(void)
{
    be = column_place_create(COLUMN_TILES);
    by_rows = be->ops->device != NULL ? column_place_create(COLUMN_ROWS) : NULL;
    rates_init(&rates);
}

static void backend_clear(void)
{
    rates_clear(&rates);
    backend_destroy(be);
    backend_destroy(by_rows);
    ck_assert_int_eq(mem_live(), 0);
}

/* Largest error over budget, and over the peak. */
struct margins {
    double budget, peak;
    bool nothing; /* the formula gives zeros */
};

/* Samples where the formula gives zeros only, which the comparator refuses as a reference. */
static double margin_of_zeros(const double *out, const double *budget, long n)
{
    double margin = 0.0;
    for (long i = 0; i < n; i++) {
        if (!isfinite(out[i]))
            ck_abort_msg("sample %ld is not finite", i);
        margin = fmax(margin, fabs(out[i]) / budget[i]);
    }
    return margin;
}

static struct margins margins_of(const struct column_run *run, const struct column_truth *truth)
{
    struct margins m = {0.0, 0.0, true};
    double top = 0.0;
    for (int k = 0; k < run->c->components; k++) {
        const long n = run->c->n;
        const double *const want = truth->out + k * n;
        const struct comparison_input in = {.value = run->out + k * run->ld,
                                            .reference = want,
                                            .n = n,
                                            .bounds = truth->budget + k * n};
        double size = 0.0;
        for (long i = 0; i < n; i++)
            size = fmax(size, fabs(want[i]));
        if (is_zero(size)) {
            m.budget = fmax(m.budget, margin_of_zeros(in.value, in.bounds, n));
            continue;
        }
        struct comparison out;
        struct error_distribution errors;
        ck_assert_int_eq(comparison_run(&in, &out), 0);
        ck_assert_int_eq(comparison_distribution(&in, &errors), 0);
        ck_assert_int_eq(out.not_finite, 0);
        m.nothing = false;
        m.budget = fmax(m.budget, out.margin);
        m.peak = fmax(m.peak, errors.largest);
        top = fmax(top, size);
    }
    m.peak = m.nothing ? 0.0 : m.peak / top;
    return m;
}

static void check_sums(const struct column_run *run, const struct column_truth *truth)
{
    const double electrons = run->sums[COLUMN_ELECTRONS];
    ck_assert_near(electrons, truth->electrons, truth->electrons_budget,
                   electrons + 3.0 * truth->electrons_budget, "three budgets of the sum");
    ck_assert_double_ge(run->sums[COLUMN_MOST], electrons);
    ck_assert_double_le(run->sums[COLUMN_SATURATED], (double)truth->saturated);
    ck_assert_double_ge(run->sums[COLUMN_SATURATED], (double)truth->saturated);
    ck_assert_double_le(fabs(run->sums[COLUMN_WORK] - truth->work),
                        bound(BOUND_observable) * truth->work);
}

/* The rows of a run that were written: all of the response, and its sums. */
static void keep(const struct column_run *run, double *out, double *sums)
{
    memcpy(out, run->out, (size_t)(run->c->components * run->ld) * sizeof(double));
    memcpy(sums, run->sums, sizeof run->sums);
}

static bool same_bits(const struct column_run *run, const double *out, const double *sums)
{
    for (int k = 0; k < run->c->components; k++)
        if (!equal_bits(out + k * run->ld, run->out + k * run->ld,
                        (size_t)run->c->n * sizeof(double)))
            return false;
    return equal_bits(sums, run->sums, sizeof run->sums);
}

/* Judges what a backend made of a column; NULL: the plain bodies. */
static void judge_case(const struct column_run *run, const struct column_truth *truth,
                       const struct backend *on)
{
    const struct margins m = margins_of(run, truth);
    const char *const name = run->c->name;
    const int side = run->taps.side;
    const char *const place = on == NULL ? "plain" : on == by_rows ? "by rows" : on->isa;
    printf("%-28s rate %d, %d taps, %s: %.3g of its budget, %.2g of the peak\n", name,
           (int)run->kind, side, place, m.budget, m.peak);
    /* ADK's cut-off is where the rate underflows. */
    ck_assert(!m.nothing || run->kind == CASE_ADK);
    ck_assert_msg(m.budget <= 1.0, "%s, rate %d, %d taps: %g times its budget", name,
                  (int)run->kind, side, m.budget);
    ck_assert_msg(m.peak <= bound(BOUND_column_guard), "%s, rate %d, %d taps: %g of the peak",
                  name, (int)run->kind, side, m.peak);
    if (!m.nothing)
        perturb_record_norm(bound_entry(BOUND_column_guard)->name, m.peak,
                            bound(BOUND_column_guard));
    check_sums(run, truth);
}

/* By rows too; on the emulated device, whose compiler is known, with the same bits. */
static void check_by_rows(struct column_run *run, const struct column_truth *truth)
{
    static double out[2 * 16400];
    double sums[COLUMN_SUMS];
    ck_assert_uint_le((size_t)(2 * run->ld), sizeof out / sizeof out[0]);
    keep(run, out, sums);
    column_place_run(run, by_rows);
    judge_case(run, truth, by_rows);
    if (strcmp(by_rows->ops->name, "emu") == 0)
        ck_assert_msg(same_bits(run, out, sums), "%s: other bits by rows", run->c->name);
}

static void check_case(const struct column_case *c, enum case_rate kind, int side, bool plain)
{
    struct column_run run;
    struct column_truth truth;
    column_run_init(&run, c, &rates, kind, side);
    column_truth_init(&truth, &run, FAULT_NONE, plain ? ARITHMETIC_PLAIN : ARITHMETIC_LANES);
    if (plain)
        column_run_passes(&run, NULL);
    else
        column_place_run(&run, be);
    judge_case(&run, &truth, plain ? NULL : be);
    if (!plain && by_rows != NULL)
        check_by_rows(&run, &truth);
    column_truth_clear(&truth);
    column_run_clear(&run);
}

static void check_all(bool plain)
{
    backend_init();
    for (size_t i = 0; i < CASES; i++)
        for (int kind = 0; kind < CASE_RATES; kind++) {
            check_case(&cases[i], (enum case_rate)kind, 0, plain);
            check_case(&cases[i], (enum case_rate)kind, 4, plain);
        }
    for (int side = 1; side <= COLUMN_SIDE_MAX; side++)
        check_case(&cases[2], CASE_BY_CHANNEL, side, plain);
    backend_clear();
}

START_TEST(every_sample_of_the_backend_s_passes_is_within_its_budget)
{
    check_all(false);
}
END_TEST

START_TEST(every_sample_of_the_plain_bodies_is_within_its_budget)
{
    check_all(true);
}
END_TEST

/* A density that is 1e-12 off, a window that is a sample late or taken twice. */
START_TEST(a_small_error_of_the_density_and_a_wrong_window_are_seen)
{
    static const enum column_fault faults[] = {FAULT_DENSITY, FAULT_WINDOW_SHIFTED,
                                               FAULT_WINDOW_SQUARED};
    backend_init();
    for (int side = 0; side <= 4; side += 4)
        for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++) {
            struct column_run run;
            struct column_truth truth;
            column_run_init(&run, &cases[9], &rates, CASE_ADK, side);
            column_truth_init(&truth, &run, faults[i], ARITHMETIC_LANES);
            column_place_run(&run, be);
            const struct margins m = margins_of(&run, &truth);
            printf("fault %zu, %d taps: %.3g times the budget\n", i, side, m.budget);
            ck_assert_double_gt(m.budget, 1.0);
            if (faults[i] == FAULT_DENSITY)
                perturb_record("plasma column", 1e-12, 0.0);
            column_truth_clear(&truth);
            column_run_clear(&run);
        }
    backend_clear();
}
END_TEST

#define MOST_THREADS 8

/* A case by some of 2 to 8 threads; the chunks leave tails of every kind, shares are empty. */
static void check_shared(const struct column_case *c, enum case_rate kind, int side,
                         int threads)
{
    struct column_run run;
    struct column_truth truth;
    double one[COLUMN_SUMS];
    double worst = 0.0;
    column_run_init(&run, c, &rates, kind, side);
    run.apart = true;
    column_truth_init(&truth, &run, FAULT_NONE, ARITHMETIC_SHARED);
    column_run_passes(&run, be);
    memcpy(one, run.sums, sizeof one);
    for (; threads <= MOST_THREADS; threads += 4) {
        struct backend *const several = backend_of(threads, 1);
        column_run_passes(&run, several);
        const struct margins m = margins_of(&run, &truth);
        worst = fmax(worst, m.budget);
        ck_assert_msg(m.budget <= 1.0, "%s, %d threads: %g times its budget", c->name, threads,
                      m.budget);
        ck_assert_msg(m.peak <= bound(BOUND_column_guard), "%s, %d threads: %g of the peak",
                      c->name, threads, m.peak);
        check_sums(&run, &truth);
        ck_assert_exactly(run.sums[COLUMN_FIRST], one[COLUMN_FIRST]);
        ck_assert_exactly(run.sums[COLUMN_LAST], one[COLUMN_LAST]);
        backend_destroy(several);
    }
    printf("%-28s rate %d, %d taps, threads: %.3g of its budget\n", c->name, (int)kind, side,
           worst);
    column_truth_clear(&truth);
    column_run_clear(&run);
}

START_TEST(threads_that_share_a_row_keep_every_sample_within_its_budget)
{
    backend_init();
    for (size_t i = 0; i < CASES; i++) {
        check_shared(&cases[i], (enum case_rate)(i % CASE_RATES), 0, 2 + (int)(i % 4));
        check_shared(&cases[i], (enum case_rate)((i + 1) % CASE_RATES), 4,
                     2 + (int)((i + 1) % 4));
    }
    backend_clear();
}
END_TEST

/* Below the threshold, and where each thread has rows of its own. */
START_TEST(a_row_that_is_not_shared_has_the_bits_of_one_thread)
{
    backend_init();
    struct backend *const single = backend_of(1, 1);
    struct backend *const below = backend_of(4, 100000);
    struct backend *const above = backend_of(4, 1);
    double out[2 * 1100 + 16];
    double sums[COLUMN_SUMS];
    for (int side = 0; side <= 4; side += 4) {
        struct column_run run;
        column_run_init(&run, &cases[15], &rates, CASE_ADK, side);
        column_run_passes(&run, single);
        keep(&run, out, sums);
        column_run_passes(&run, below);
        ck_assert(same_bits(&run, out, sums));
#pragma omp parallel num_threads(2) default(none) shared(run, above)
#pragma omp single
        column_run_passes(&run, above);
        ck_assert(same_bits(&run, out, sums));
        column_run_passes(&run, above);
        ck_assert(!same_bits(&run, out, sums)); /* else nothing was shared */
        column_run_clear(&run);
    }
    backend_destroy(single);
    backend_destroy(below);
    backend_destroy(above);
    backend_clear();
}
END_TEST

static void add_tests_of_threads(TCase *tests)
{
    tcase_add_test(tests, threads_that_share_a_row_keep_every_sample_within_its_budget);
    tcase_add_test(tests, a_row_that_is_not_shared_has_the_bits_of_one_thread);
}

int main(void)
{
    if (isa_check() != 0)
        return ISA_SKIPPED;
    Suite *const suite = suite_create("plasma column");
    TCase *const tests = tcase_create("column");
    tcase_set_timeout(tests, 60);
    tcase_add_test(tests, every_sample_of_the_backend_s_passes_is_within_its_budget);
    tcase_add_test(tests, every_sample_of_the_plain_bodies_is_within_its_budget);
    tcase_add_test(tests, a_small_error_of_the_density_and_a_wrong_window_are_seen);
    if (column_place_has_threads())
        add_tests_of_threads(tests);
    suite_add_tcase(suite, tests);
    return unit_main(suite);
}
