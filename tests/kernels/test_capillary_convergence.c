/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How the field of model capillary converges with tolerance and grid. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/models/pulse/atomic.h"
#include "kernels/models/pulse/ionisation.h"
#include "kernels/models/pulse/ppt_sum.h"
#include "kernels/numeric/taps.h"
#include "tests/kernels/capillary_case.h"
#include "tests/kernels/isa.h"
#include "tests/perturb/near.h"
#include "tests/unit_main.h"

/* Argon with plasma by ADK, whose rate has no cusps. */
static void plasma_case(struct capillary_case *c, const char *rule, long fine)
{
    capillary_case_init(c);
    capillary_case_set(c, "pressure.constant", 1e4);
    capillary_case_set(c, "length", 0.2);
    capillary_case_set(c, "pulse.energy", 150e-6);
    capillary_case_choose(c, "kerr.response", "chi3");
    capillary_case_choose(c, "plasma.rate", "adk");
    capillary_case_choose(c, "plasma.rule", rule);
    capillary_case_list(c, "grid.wavelengths", (const double[]){200e-9, 3e-6}, 2);
    capillary_case_set(c, "grid.window", 200e-15);
    capillary_case_set(c, "grid.fine", (double)fine);
    capillary_case_set(c, "grid.coarse", 1024.0);
}

static cplx *end_of(const struct capillary_case *c, long *bins)
{
    struct capillary_planes p = capillary_case_run(c);
    ck_assert_msg(p.row.outcome == ROW_DONE, "%s", p.row.reason);
    *bins = p.bins;
    cplx *const end = malloc((size_t)p.bins * sizeof *end);
    memcpy(end, p.field + p.bins, (size_t)p.bins * sizeof *end);
    capillary_planes_free(&p);
    return end;
}

static double distance_to(const struct capillary_case *c, const cplx *reference)
{
    long bins = 0;
    cplx *const end = end_of(c, &bins);
    const double distance = capillary_distance(end, reference, bins);
    free(end);
    return distance;
}

START_TEST(the_error_falls_with_the_tolerance_to_its_floor)
{
    struct capillary_case c;
    long bins = 0;
    plasma_case(&c, "band", 2048);
    capillary_case_set(&c, "stepper.rtol", 1e-11);
    cplx *const reference = end_of(&c, &bins);
    double before = 1.0;
    for (int k = 4; k <= 10; k++) {
        capillary_case_set(&c, "stepper.rtol", pow(10.0, -k));
        const double error = distance_to(&c, reference);
        printf("rtol 1e-%d: %.3g\n", k, error);
        /* Order 5 in the step, so about 10^(-5/5) a decade; the floor is rounding. */
        ck_assert_norm(error, fmax(0.5 * before, 1e-10));
        ck_assert_norm(error, 200.0 * pow(10.0, -k) + 1e-10);
        before = error;
    }
    free(reference);
    capillary_case_clear(&c);
}
END_TEST

START_TEST(the_band_rule_is_as_good_as_many_more_samples_of_the_trapezoid)
{
    struct capillary_case c;
    long bins = 0;
    plasma_case(&c, "band", 16384);
    capillary_case_set(&c, "stepper.rtol", 1e-9);
    cplx *const reference = end_of(&c, &bins);
    capillary_case_clear(&c);
    /* What the plasma does, times what the filter may be off by in each of three integrals
     * (exposure, current, polarisation) of either run: the taps of the model, whose edge is at
     * least this. */
    struct taps taps;
    ck_assert_int_eq(taps_band(4, 0.35 * PULSE_PI, &taps), 0);
    plasma_case(&c, "band", 16384);
    capillary_case_set(&c, "stepper.rtol", 1e-9);
    capillary_case_choose(&c, "plasma.rate", "none");
    const double certified = 6.0 * taps.certificate * distance_to(&c, reference);
    capillary_case_clear(&c);
    printf("certified: %.3g\n", certified);
    double trapezoid[3];
    double band[3];
    for (int i = 0; i < 3; i++) {
        const long fine = 2048L << i;
        plasma_case(&c, "trapezoid", fine);
        capillary_case_set(&c, "stepper.rtol", 1e-9);
        trapezoid[i] = distance_to(&c, reference);
        capillary_case_choose(&c, "plasma.rule", "band");
        band[i] = distance_to(&c, reference);
        capillary_case_clear(&c);
        printf("%ld samples: trapezoid %.3g, band %.3g\n", fine, trapezoid[i], band[i]);
        ck_assert_double_lt(band[i], 0.1 * trapezoid[i]);
        ck_assert_double_lt(band[i], i > 0 ? band[i - 1] : certified);
        /* Second order: a quarter each time. */
        if (i > 0)
            ck_assert_near(trapezoid[i - 1] / trapezoid[i], 4.0, 0.4, 3.0, "an order of 1.6");
    }
    free(reference);
}
END_TEST

/* Sum over the orbits, physics.md §4: f_lm = 2 l + 1; q = 2 F0/(F sqrt(1 + g^2)). */
static double orbits(const struct ionisation *i, double q, const double *sums)
{
    return (2.0 * i->l + 1.0) * (sums[0] + (i->l > 0 ? 2.0 * sums[1] / q : 0.0));
}

/* PPT with the mean over a unit of the photon number in place of each channel sum: the integral
 * of its terms, S_0 = sqrt(pi b/a)/(2 (a + b)), S_1 = b S_0/(a + b). No channel closes. */
static double rate_without_closings(const struct ionisation *i, double field)
{
    const double f = field / PULSE_AU_FIELD;
    const double ip = i->potential + i->shift * f * f;
    const double g = i->omega * sqrt(2.0 * ip) / f;
    const double h = sqrt(1.0 + g * g);
    const double a = 2.0 * (asinh(g) - g / h);
    const double b = 2.0 * g / h;
    const double q = 2.0 * pow(2.0 * ip, 1.5) / (f * h);
    const double zeroth = 0.5 * sqrt(b * PULSE_PI / a) / (a + b);
    const double mean[PPT_SUMS] = {zeroth, b * zeroth / (a + b)};
    double sums[PPT_SUMS];
    ppt_sum(a, b, ionisation_photons(i, field), sums);
    return ionisation_rate(i, field, NULL) * orbits(i, q, mean) / orbits(i, q, sums);
}

#define RATE_ROWS 600

static struct data_set table_without_closings(void)
{
    const struct rate_request request = {.kind = RATE_PPT,
                                         .gas = GAS_AR,
                                         .occupancy = 2.0,
                                         .wavelength = 800e-9,
                                         .stark = true,
                                         .dipole = true};
    struct ionisation i;
    struct data_set set = {.hash = "mean"};
    const long rows = RATE_ROWS;
    double *field;
    double *rate;
    ck_assert_int_eq(ionisation_init(&i, &request), 0);
    ck_assert_int_eq(data_add_real(&set, "field", "V m^-1", 1, &rows, &field), 0);
    ck_assert_int_eq(data_add_real(&set, "rate", "s^-1", 1, &rows, &rate), 0);
    for (long k = 0; k < rows; k++) {
        field[k] = i.ceiling * pow(3e9 / i.ceiling, 1.0 - (double)k / (RATE_ROWS - 1));
        rate[k] = rate_without_closings(&i, field[k]);
    }
    return set;
}

/* Evaluations at rtol 1e-6, rejected steps and electrons behind. */
struct effort {
    long long calls, rejected;
    double electrons;
};

static struct effort effort_of(const char *rate, const struct data_set *table)
{
    struct capillary_case c;
    plasma_case(&c, "band", 2048);
    capillary_case_choose(&c, "plasma.rate", rate);
    if (table != NULL)
        capillary_case_data(&c, "plasma.table", table);
    struct capillary_planes p = capillary_case_run(&c);
    ck_assert_msg(p.row.outcome == ROW_DONE, "%s", p.row.reason);
    const struct effort e = {p.row.rhs_calls, p.row.rejected,
                             p.observable[1][CAPILLARY_ELECTRON_DENSITY]};
    printf("%s: %lld evaluations, %lld rejected, %.4g electrons\n", rate, e.calls, e.rejected,
           e.electrons);
    capillary_planes_free(&p);
    capillary_case_clear(&c);
    return e;
}

START_TEST(closings_of_channels_are_what_ppt_costs_more_than_adk)
{
    struct data_set set = table_without_closings();
    const struct effort adk = effort_of("adk", NULL);
    const struct effort ppt = effort_of("ppt", NULL);
    const struct effort mean = effort_of("table", &set);
    /* As many electrons, so the same plasma; the closings alone are gone, and with them the
     * rejected steps. */
    ck_assert_ratio(mean.electrons, ppt.electrons, 0.15, 1.2 * ppt.electrons,
                    "a fifth more electrons");
    ck_assert_double_gt(mean.electrons, 5.0 * adk.electrons);
    ck_assert_int_gt(ppt.calls, 2 * adk.calls);
    ck_assert_int_gt(ppt.rejected, 10);
    ck_assert_int_le(mean.calls, adk.calls + adk.calls / 10);
    ck_assert_int_le(mean.rejected, adk.rejected + 1);
    data_clear(&set);
}
END_TEST

int main(void)
{
    if (isa_check() != 0)
        return ISA_SKIPPED;
    Suite *const suite = suite_create("capillary convergence");
    TCase *const tests = tcase_create("convergence");
    tcase_set_timeout(tests, 120);
    tcase_add_test(tests, the_error_falls_with_the_tolerance_to_its_floor);
    tcase_add_test(tests, the_band_rule_is_as_good_as_many_more_samples_of_the_trapezoid);
    tcase_add_test(tests, closings_of_channels_are_what_ppt_costs_more_than_adk);
    suite_add_tcase(suite, tests);
    return unit_main(suite);
}
