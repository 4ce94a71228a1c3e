/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The chunks of a plasma column leave no trace: filters and scans of a row in chunks have the
 * bits of those of the row as a whole, by one thread (numerics.md §6). The windows of the sums
 * are carried over from chunk to chunk, so that this is so for every sample, as long as a chunk
 * is computed the same way. Two choices are made by the chunk: which polynomial of expm1 is
 * taken, by the largest exposure in it; and whether it has a rate at all: one without has a
 * loop of its own, that puts its constant factors together first. There the samples differ by
 * rounding, and the bound is the budget that test_column derives for each of them.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/base/mem.h"
#include "tests/exact.h"
#include "tests/kernels/column_case.h"
#include "tests/kernels/column_whole.h"
#include "tests/kernels/isa.h"
#include "tests/perturb/near.h"
#include "tests/unit_main.h"

/* A rate in every chunk, as there is no envelope, or a wide one, and exposures below 0.02.
 * Tails behind chunks and vectors. */
static const struct column_case alike[] = {
    {"no envelope", 4096, 1.2e10, 0.5, 0.0, 0.12, 0.3, 0.0, 1, false, false, 0.0},
    {"no envelope, a tail", 16391, 1.2e10, 0.5, 0.0, 0.12, 0.3, 0.0, 1, false, false, 0.0},
    {"a wide pulse", 1543, 1.4e10, 0.5, 0.8, 0.13, 0.1, 0.0, 1, false, false, 0.0},
    {"preionised", 2050, 1.2e10, 0.5, 0.0, 0.11, 0.7, 0.3, 1, false, false, 0.0},
    {"two components", 1090, 1.2e10, 0.5, 0.0, 0.12, 0.3, 0.1, 2, false, false, 0.0},
    {"all that there is", 2090, 1.2e10, 0.5, 0.0, 0.12, 0.3, 0.01, 1, true, true, 0.0},
};

/* Chunks without a rate, or exposures on both sides of 0.02. */
static const struct column_case unlike[] = {
    {"a short pulse", 4096, 2.5e10, 0.5, 0.05, 0.12, 0.3, 0.0, 1, false, false, 0.0},
    {"strong, a tail", 4103, 3e10, 0.5, 0.0, 0.12, 0.3, 0.0, 1, false, false, 0.0},
    {"preionised", 2050, 2.5e10, 0.3, 0.05, 0.12, 0.3, 0.1, 1, false, false, 0.7},
    {"two components", 2090, 2.2e10, 0.4, 0.1, 0.12, 0.3, 0.0, 2, false, false, 0.0},
};
#define COUNT(list) (sizeof(list) / sizeof((list)[0]))

#ifdef TEST_HAS_V3
#    define WHOLE_V3 column_whole_v3
#else
#    define WHOLE_V3 column_whole
#endif
#ifdef TEST_HAS_V4
#    define WHOLE_V4 column_whole_v4
#else
#    define WHOLE_V4 column_whole
#endif

static struct column_rates_known rates;
static struct backend *be;
static struct kernel_table whole_table;
static struct backend whole; /* of `be`, with passes without chunks */

static void backend_init(void)
{
    const struct backend_options options = {
        .name = "cpu", .isa = isa_under_test(), .threads = 1, .rigour = FFT_ESTIMATE};
    ck_assert_int_eq(backend_create(&options, &be), 0);
    whole_table = *be->kernels;
    if (strcmp(be->isa, "x86-64-v4") == 0)
        WHOLE_V4(&whole_table);
    else if (strcmp(be->isa, "x86-64-v3") == 0)
        WHOLE_V3(&whole_table);
    else
        column_whole(&whole_table);
    whole = *be;
    whole.kernels = &whole_table;
    rates_init(&rates);
}

static void backend_clear(void)
{
    rates_clear(&rates);
    backend_destroy(be);
    ck_assert_int_eq(mem_live(), 0);
}

/* Samples of the response whose bits differ. */
static long different(const struct column_run *run, const double *kept)
{
    long count = 0;
    for (int k = 0; k < run->c->components; k++)
        for (long i = 0; i < run->c->n; i++)
            count += !exactly(run->out[k * run->ld + i], kept[k * run->ld + i]);
    return count;
}

/* A row in chunks and as a whole. */
static long compare(const struct column_case *c, enum case_rate kind, int side, bool apart)
{
    struct column_run run;
    column_run_init(&run, c, &rates, kind, side);
    run.apart = apart;
    const size_t bytes = (size_t)(c->components * run.ld) * sizeof(double);
    double *const kept = malloc(bytes);
    ck_assert_ptr_nonnull(kept);
    column_run_passes(&run, be);
    memcpy(kept, run.out, bytes);
    const double first = run.sums[COLUMN_FIRST];
    ck_assert_double_gt(run.sums[COLUMN_LAST], 0.0); /* there is a rate */
    column_run_passes(&run, &whole);
    ck_assert_exactly(run.sums[COLUMN_FIRST], first);
    const long count = different(&run, kept);
    free(kept);
    column_run_clear(&run);
    return count;
}

START_TEST(a_row_in_chunks_has_the_bits_of_the_row_as_a_whole)
{
    backend_init();
    for (size_t i = 0; i < COUNT(alike); i++)
        for (int kind = 0; kind < CASE_RATES; kind++)
            for (int side = 0; side <= 4; side += 4)
                for (int apart = 0; apart < 2; apart++) {
                    const long count =
                        compare(&alike[i], (enum case_rate)kind, side, apart != 0);
                    ck_assert_msg(count == 0,
                                  "%s, rate %d, %d taps, apart %d, %s: %ld samples differ",
                                  alike[i].name, kind, side, apart, be->isa, count);
                }
    backend_clear();
}
END_TEST

/* The row as a whole against the formula in long double. */
static void check_budget(const struct column_case *c, enum case_rate kind, int side)
{
    struct column_run run;
    struct column_truth truth;
    double worst = 0.0;
    column_run_init(&run, c, &rates, kind, side);
    column_truth_init(&truth, &run, FAULT_NONE, ARITHMETIC_LANES);
    column_run_passes(&run, &whole);
    for (int k = 0; k < c->components; k++)
        for (long i = 0; i < c->n; i++) {
            const double error = fabs(run.out[k * run.ld + i] - truth.out[k * c->n + i]);
            const double budget = truth.budget[k * c->n + i];
            ck_assert_norm(error, budget);
            worst = budget > 0.0 ? fmax(worst, error / budget) : worst;
        }
    ck_assert_double_gt(worst, 0.0);
    column_truth_clear(&truth);
    column_run_clear(&run);
}

START_TEST(where_a_chunk_chooses_otherwise_each_sample_keeps_its_budget)
{
    long differ = 0;
    backend_init();
    for (size_t i = 0; i < COUNT(unlike); i++)
        for (int kind = 0; kind < CASE_RATES; kind++)
            for (int side = 0; side <= 4; side += 4) {
                check_budget(&unlike[i], (enum case_rate)kind, side);
                differ += compare(&unlike[i], (enum case_rate)kind, side, false);
            }
    printf("%ld samples of them differ\n", differ);
    ck_assert_int_gt(differ, 0); /* the comparison sees what differs */
    backend_clear();
}
END_TEST

int main(void)
{
    if (isa_check() != 0)
        return ISA_SKIPPED;
    Suite *const suite = suite_create("chunks of a plasma column");
    TCase *const tests = tcase_create("chunks");
    tcase_set_timeout(tests, 60);
    tcase_add_test(tests, a_row_in_chunks_has_the_bits_of_the_row_as_a_whole);
    tcase_add_test(tests, where_a_chunk_chooses_otherwise_each_sample_keeps_its_budget);
    suite_add_tcase(suite, tests);
    return unit_main(suite);
}
