/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Threads that share a row of a plasma column are the worker's own: no pass of a column starts
 * a team within a team, which costs more than the row. Every team of this program is seen on
 * its way: the linker leads calls of gcc's library through the function below.
 */
#include <stdio.h>

#include <omp.h>

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

int main(void)
{
    if (isa_check() != 0)
        return ISA_SKIPPED;
    Suite *const suite = suite_create("teams of a plasma column");
    TCase *const tests = tcase_create("teams");
    tcase_set_timeout(tests, 60);
    tcase_add_test(tests, threads_that_share_a_row_are_one_team_of_the_worker);
    suite_add_tcase(suite, tests);
    return unit_main(suite);
}
