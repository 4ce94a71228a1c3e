/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <check.h>

#include "tests/emu/emu.h"
#include "tests/emu/machine.h"
#include "tests/kernels/column_place.h"

struct backend *column_place_create(enum column_form form)
{
    struct backend_options options = {.apart = true, .threads = 1};
    struct backend *out;
    options.threshold[THRESHOLD_device_column_rows] = form == COLUMN_ROWS ? 1 : 1000;
    ck_assert_int_eq(emu_backend_create(&options, &out), 0);
    emu_shuffle(6);
    return out;
}

void column_place_run(struct column_run *run, struct backend *be)
{
    run->once = be->threshold[THRESHOLD_device_column_rows] == 1;
    column_run_there(run, be);
}

bool column_place_has_threads(void)
{
    return false;
}
