/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The supercontinuum case against an independent converged result (tests/data). */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/contract/bounds.h"
#include "tests/kernels/dudley.h"
#include "tests/kernels/isa.h"
#include "tests/perturb/bounded.h"
#include "tests/unit_main.h"

/* A local error of rtol a step and steps as rtol^(1/5) give a global error as rtol^(4/5); the
 * case amplifies differences, so the rate holds over decades and not from one to the next. */
START_TEST(field_error_falls_with_the_tolerance_at_the_rate_of_the_method)
{
    static const double rtol[] = {1e-4, 1e-5, 1e-6, 1e-7};
    struct dudley_error e[4];
    for (int i = 0; i < 4; i++) {
        e[i] = dudley_run(rtol[i]);
        if (i > 0)
            ck_assert_double_lt(e[i].field, e[i - 1].field / 2.0);
    }
    const double rate = log10(e[0].field / e[3].field) / 3.0;
    /* An error that does not fall with the tolerance has the rate 0. */
    ck_assert_double_ge(rate, bound(BOUND_dudley_rate));
    perturb_record("dudley_rate", rate - bound(BOUND_dudley_rate),
                   bound(BOUND_dudley_rate) / rate);
    ck_assert_bounded(fabs((double)e[2].rhs / 17611.0 - 1.0), BOUND_dudley_rhs);
    ck_assert_bounded(e[2].spectrum, BOUND_dudley_spectrum);
    ck_assert_bounded(e[2].photons, BOUND_photon_number);
}
END_TEST

START_TEST(default_tolerance_keeps_the_spectral_error_below_one_percent)
{
    const struct param_info *info = model_find("gnlse")->info->params;
    int i = 0;
    while (strcmp(info[i].name, "stepper.rtol") != 0)
        i++;
    const double rtol = strtod(info[i].fallback, NULL);
    ck_assert_double_gt(rtol, 0.0);
    ck_assert_bounded(dudley_run(rtol).spectrum, BOUND_dudley_default);
}
END_TEST

int main(void)
{
    if (isa_check() != 0)
        return ISA_SKIPPED;
    Suite *const suite = suite_create("gnlse supercontinuum");
    TCase *const tests = tcase_create("dudley");
    tcase_set_timeout(tests, 280);
    tcase_add_test(tests, field_error_falls_with_the_tolerance_at_the_rate_of_the_method);
    tcase_add_test(tests, default_tolerance_keeps_the_spectral_error_below_one_percent);
    suite_add_tcase(suite, tests);
    return unit_main(suite);
}
