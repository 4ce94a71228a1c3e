/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <check.h>

#include "tests/kernels/column_place.h"
#include "tests/kernels/lane.h"

struct backend *column_place_create(enum column_form form)
{
    struct backend_options options = lane_options(1);
    struct backend *out;
    options.threshold[THRESHOLD_device_column_rows] = form == COLUMN_ROWS ? 1 : 1000;
    ck_assert_int_eq(backend_create(&options, &out), 0);
    return out;
}

void column_place_run(struct column_run *run, struct backend *be)
{
    run->once = be->ops->device != NULL && be->threshold[THRESHOLD_device_column_rows] == 1;
    if (be->apart)
        column_run_there(run, be);
    else
        column_run_passes(run, be);
}

bool column_place_has_threads(void)
{
    return strcmp(lane_backend(), "cpu") == 0;
}
