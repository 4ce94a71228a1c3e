/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How the field of model capillary converges with tolerance and grid. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/kernels/capillary_case.h"
#include "tests/kernels/isa.h"
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
        ck_assert_double_le(error, fmax(0.5 * before, 1e-10));
        ck_assert_double_le(error, 200.0 * pow(10.0, -k) + 1e-10);
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
        /* Second order: a quarter each time. */
        if (i > 0)
            ck_assert_double_le(fabs(trapezoid[i - 1] / trapezoid[i] - 4.0), 0.4);
    }
    free(reference);
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
    suite_add_tcase(suite, tests);
    return unit_main(suite);
}
