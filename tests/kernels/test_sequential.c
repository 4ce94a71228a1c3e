/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>

#include "kernels/base/rng.h"
#include "kernels/base/status.h"
#include "kernels/contract/contract.h"
#include "kernels/contract/ensemble.h"
#include "kernels/contract/sequential.h"
#include "tests/exact.h"
#include "tests/perturb/near.h"
#include "tests/unit_main.h"

enum { ENSEMBLES = 2000, MAX = 1200 };

#define Z 1.959963984540054 /* normal, 97.5 %: any table */

static const struct sequential_rule usual = {.error = 0.02, .min = 20, .max = MAX};

START_TEST(looks_double_and_end_at_the_largest_number)
{
    static const int64_t counts[] = {20, 40, 80, 160, 320, 640, 1200};
    ck_assert_int_eq(sequential_looks(&usual), 7);
    for (int k = 0; k < 7; k++)
        ck_assert_int_eq(sequential_count(&usual, k), counts[k]);
    const struct sequential_rule exact = {.error = 1, .min = 10, .max = 40};
    ck_assert_int_eq(sequential_looks(&exact), 3);
    const struct sequential_rule one = {.error = 1, .min = 10, .max = 10};
    ck_assert_int_eq(sequential_looks(&one), 1);
    ck_assert_int_eq(sequential_count(&one, 5), 10);
    const struct sequential_rule huge = {.error = 1, .min = 8, .max = INT64_MAX};
    ck_assert_int_eq(sequential_count(&huge, 63), INT64_MAX);
}
END_TEST

static int refused(double error, int64_t min, int64_t max)
{
    const struct sequential_rule rule = {.error = error, .min = min, .max = max};
    char text[200];
    status_capture(text, sizeof text);
    const int rc = sequential_check(&rule);
    status_capture(NULL, 0);
    return rc;
}

START_TEST(rules_that_nothing_could_follow_are_refused)
{
    ck_assert_int_eq(refused(0.02, 20, MAX), 0);
    ck_assert_int_eq(refused(0.0, 20, MAX), ERR_ARGUMENT);
    ck_assert_int_eq(refused((double)NAN, 20, MAX), ERR_ARGUMENT);
    ck_assert_int_eq(refused((double)INFINITY, 20, MAX), ERR_ARGUMENT);
    ck_assert_int_eq(refused(0.02, SEQUENTIAL_LEAST - 1, MAX), ERR_ARGUMENT);
    ck_assert_int_eq(refused(0.02, 20, 19), ERR_ARGUMENT);
}
END_TEST

/*
 * Student's t, two-sided: 2.262 for 9 degrees of freedom at 95 %, 3.250 at 99 %, 2.861 for 19
 * at 99 %; 1.960 for the normal distribution (any table of the quantiles, e.g. Abramowitz and
 * Stegun, table 26.10). Five looks at 5 % are 1 % each.
 */
START_TEST(errors_are_widened_by_students_quantile_of_one_looks_share)
{
    const struct sequential_rule one = {.error = 1, .min = 10, .max = 10};
    const struct sequential_rule five = {.error = 1, .min = 10, .max = 160};
    ck_assert_int_eq(sequential_looks(&five), 5);
    ck_assert_near(sequential_widening(&one, 10) * Z, 2.262, 5e-4,
                   sequential_widening(&one, 11) * Z, "eleven members");
    ck_assert_near(sequential_widening(&five, 10) * Z, 3.250, 5e-4, 3.249,
                   "the last digit one less");
    ck_assert_near(sequential_widening(&five, 20) * Z, 2.861, 5e-4, 2.860,
                   "the last digit one less");
    ck_assert(isinf(sequential_widening(&five, 1)));
}
END_TEST

START_TEST(it_stops_at_a_small_error_and_at_the_last_look)
{
    ck_assert(sequential_stops(&usual, 0, 0.02));
    ck_assert(!sequential_stops(&usual, 0, 0.0201));
    ck_assert(!sequential_stops(&usual, 5, (double)NAN));
    ck_assert(sequential_stops(&usual, 6, (double)NAN));
    ck_assert(sequential_stops(&usual, 6, 5.0));
}
END_TEST

/* Part: coverage. */

/* Distributions with a known mean, as noise-seeded observables have them. */
enum kind { NORMAL, EXPONENTIAL, LOGNORMAL, TWO_PULSES, KINDS };

static const struct {
    const char *name;
    double mean;
    double error; /* wanted, relative: some fifty realisations and more */
} truth[KINDS] = {
    [NORMAL] = {"normal, 30 % scatter", 1.0, 0.04},
    [EXPONENTIAL] = {"exponential: a bin without coherence", 1.0, 0.1},
    [LOGNORMAL] = {"log-normal, sigma 0.5", 1.1331484530668263, 0.06}, /* exp(1/8) */
    [TWO_PULSES] = {"half without and half with a second pulse", 1.5, 0.03},
};

static double draw(enum kind kind, int ensemble, int i)
{
    const struct rng_stream stream = {
        .seed = 11, .point_key = (uint64_t)ensemble, .realisation = (uint64_t)kind};
    double x[2];
    if (kind == EXPONENTIAL || kind == TWO_PULSES)
        rng_uniform2(&stream, (uint64_t)i, x);
    else
        rng_normal2(&stream, (uint64_t)i, x);
    switch (kind) {
    case NORMAL:
        return 1.0 + 0.3 * x[0];
    case EXPONENTIAL:
        return -log(x[0]);
    case LOGNORMAL:
        return exp(0.5 * x[0]);
    default:
        return x[0] < 0.5 ? 1.0 : 2.0;
    }
}

/* Where an ensemble stopped. */
struct stop {
    bool covers; /* estimate +- z error holds the true mean */
    bool wide;   /* it stopped with an error above the wanted one before the last look */
    int64_t count;
};

static struct stop judge(enum kind kind, double mean, double error, int64_t count)
{
    return (struct stop){.covers = fabs(mean - truth[kind].mean) <= Z * error,
                         .wide = !(error <= truth[kind].error * fabs(mean)) && count < MAX,
                         .count = count};
}

static struct stop run_looks(enum kind kind, const double *value)
{
    const struct sequential_rule rule = {.error = truth[kind].error, .min = 20, .max = MAX};
    double mean = 0;
    double error = 0;
    int look = 0;
    for (;; look++) {
        const int64_t count = sequential_count(&rule, look);
        ck_assert_int_eq(ensemble_mean_error(value, (long)count, 1, &mean, &error), 0);
        error *= sequential_widening(&rule, count);
        if (sequential_stops(&rule, look, error / fabs(mean)))
            return judge(kind, mean, error, count);
    }
}

/* A look after each realisation at the plain standard error: what the ladder is against. */
static struct stop run_peeking(enum kind kind, const double *value)
{
    double mean = 0;
    double squares = 0;
    double error = (double)INFINITY;
    int64_t count = 0;
    while (count < MAX && !(error <= truth[kind].error * fabs(mean))) {
        const double off = value[count++] - mean;
        mean += off / (double)count;
        squares += off * (value[count - 1] - mean);
        if (count >= 3)
            error = sqrt(squares / (double)(count - 1) / (double)count);
    }
    return judge(kind, mean, error, count);
}

static double coverage(enum kind kind, struct stop (*run)(enum kind, const double *),
                       double *count)
{
    static double value[MAX];
    int covered = 0;
    *count = 0;
    for (int e = 0; e < ENSEMBLES; e++) {
        for (int i = 0; i < MAX; i++)
            value[i] = draw(kind, e, i);
        const struct stop stop = run(kind, value);
        ck_assert(!stop.wide);
        covered += stop.covers;
        *count += (double)stop.count / ENSEMBLES;
    }
    return (double)covered / ENSEMBLES;
}

START_TEST(intervals_at_the_stop_cover_the_truth)
{
    double count = 0;
    const double share = coverage((enum kind)_i, run_looks, &count);
    printf("%s: %.2f %% covered, %.0f realisations\n", truth[_i].name, 100 * share, count);
    ck_assert_msg(share >= bound(BOUND_sequential_coverage), "%s: %.4f", truth[_i].name, share);
    ck_assert(count > 2.0 * 20 && count < MAX); /* it stopped somewhere between */
}
END_TEST

START_TEST(peeking_after_each_realisation_does_not_cover)
{
    double count = 0;
    const double share = coverage((enum kind)_i, run_peeking, &count);
    printf("peeking, %s: %.2f %%, %.0f realisations\n", truth[_i].name, 100 * share, count);
    ck_assert_msg(share < bound(BOUND_sequential_coverage), "%s: %.4f", truth[_i].name, share);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("sequential");
    TCase *tests = tcase_create("sequential");
    tcase_add_test(tests, looks_double_and_end_at_the_largest_number);
    tcase_add_test(tests, rules_that_nothing_could_follow_are_refused);
    tcase_add_test(tests, errors_are_widened_by_students_quantile_of_one_looks_share);
    tcase_add_test(tests, it_stops_at_a_small_error_and_at_the_last_look);
    tcase_add_loop_test(tests, intervals_at_the_stop_cover_the_truth, 0, KINDS);
    tcase_add_loop_test(tests, peeking_after_each_realisation_does_not_cover, 0, KINDS);
    suite_add_tcase(suite, tests);
    return unit_main(suite);
}
