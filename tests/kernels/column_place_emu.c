/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <string.h>

#include <check.h>

#include "tests/emu/emu.h"
#include "tests/emu/machine.h"
#include "tests/exact.h"
#include "tests/kernels/column_place.h"

#define MOST (2 * 16400) /* samples of a response */

/* A device that makes columns in tiles up to a number of rows. */
static struct backend *device(long rows)
{
    struct backend_options options = {.apart = true, .threads = 1};
    struct backend *out;
    options.threshold[THRESHOLD_device_column_rows] = rows;
    ck_assert_int_eq(emu_backend_create(&options, &out), 0);
    return out;
}

struct backend *column_place_create(void)
{
    emu_shuffle(6);
    return device(1000);
}

/* In tiles, each pass by itself; then by rows, all passes in one launch: with the same bits. */
void column_place_run(struct column_run *run, struct backend *be)
{
    static double out[MOST];
    double sums[COLUMN_SUMS];
    const size_t bytes = (size_t)(2 * run->ld) * sizeof(double);
    ck_assert_uint_le(bytes, sizeof out);
    column_run_there(run, be);
    memcpy(out, run->out, bytes);
    memcpy(sums, run->sums, sizeof sums);
    struct backend *const by_rows = device(1);
    run->once = true;
    column_run_there(run, by_rows);
    run->once = false;
    ck_assert_msg(equal_bits(out, run->out, bytes), "%s: other bits by rows", run->c->name);
    ck_assert_msg(equal_bits(sums, run->sums, sizeof sums), "%s: other sums by rows",
                  run->c->name);
    backend_destroy(by_rows);
}

bool column_place_has_threads(void)
{
    return false;
}
