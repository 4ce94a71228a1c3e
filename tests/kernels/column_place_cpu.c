/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <check.h>

#include "tests/kernels/column_place.h"
#include "tests/kernels/isa.h"
#include "tests/kernels/lane.h"

struct backend *column_place_create(void)
{
    const struct backend_options options = {.name = "cpu",
                                            .isa = isa_under_test(),
                                            .threads = lane_threads(1),
                                            .rigour = FFT_ESTIMATE};
    struct backend *out;
    ck_assert_int_eq(backend_create(&options, &out), 0);
    return out;
}

void column_place_run(struct column_run *run, struct backend *be)
{
    column_run_passes(run, be);
}

bool column_place_has_threads(void)
{
    return true;
}
