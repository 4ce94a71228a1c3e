/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TESTS_PERTURB_BOUNDED_H
#define TESTS_PERTURB_BOUNDED_H

#include <check.h>

#include "kernels/contract/bounds.h"
#include "tests/perturb/record.h"

/** Assert that an error, >= 0, is within a row of bounds.def; the family has the row's name. */
#define ck_assert_bounded(error, id)                                                           \
    do {                                                                                       \
        const double bounded_error = (error);                                                  \
        const double bounded_limit = bound(id);                                                \
        ck_assert_msg(bounded_error <= bounded_limit, "%s is %g, more than %s, %g %s", #error, \
                      bounded_error, bound_entry(id)->name, bounded_limit,                     \
                      bound_entry(id)->unit);                                                  \
        perturb_record_norm(bound_entry(id)->name, bounded_error, bounded_limit);              \
    } while (0)

#endif
