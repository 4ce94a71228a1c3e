/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TESTS_UNIT_MAIN_H
#define TESTS_UNIT_MAIN_H

#include <stdlib.h>

#include <check.h>

#include "tests/perturb/record.h"

/**
 * Run a serial test program: `int main(void) { return unit_main(my_suite()); }`.
 *
 * Each test runs in its own process (Check's default), so that a crash fails one test only.
 *
 * @param suite  the program's only suite; freed here
 * @return the exit code of the program
 */
static inline int unit_main(Suite *suite)
{
    perturb_begin();
    SRunner *const runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    const int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

#endif
