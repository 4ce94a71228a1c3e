/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The supercontinuum case to the end of what its reference can tell. */
#include "kernels/contract/bounds.h"
#include "tests/kernels/dudley.h"
#include "tests/kernels/isa.h"
#include "tests/perturb/bounded.h"
#include "tests/unit_main.h"

START_TEST(supercontinuum_reaches_the_reference_at_rtol_1e_9)
{
    const struct dudley_error e8 = dudley_run(1e-8);
    const struct dudley_error e9 = dudley_run(1e-9);
    ck_assert_double_lt(e9.field, e8.field);
    ck_assert_bounded(e9.field, BOUND_dudley_converged);
}
END_TEST

int main(void)
{
    if (isa_check() != 0)
        return ISA_SKIPPED;
    Suite *const suite = suite_create("gnlse, long");
    TCase *const tests = tcase_create("long");
    tcase_set_timeout(tests, 580);
    tcase_add_test(tests, supercontinuum_reaches_the_reference_at_rtol_1e_9);
    suite_add_tcase(suite, tests);
    return unit_main(suite);
}
