/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/emu/emu_case.h"

#include <check.h>

#include "kernels/base/mem.h"
#include "tests/emu/emu.h"
#include "tests/emu/machine.h"

const struct column_case emu_case_column = {.name = "three tiles",
                                            .n = 2600,
                                            .peak = 2.2e10,
                                            .centre = 0.4,
                                            .width = 0.1,
                                            .theta = 0.12,
                                            .phase = 0.3,
                                            .preionised = 0.1,
                                            .components = 2};

struct backend *emu_case_open(long column_rows, long block)
{
    struct backend_options options = {.apart = true, .threads = 1};
    struct backend *out;
    options.threshold[THRESHOLD_device_column_rows] = column_rows;
    options.threshold[THRESHOLD_device_block] = block;
    ck_assert_int_eq(emu_backend_create(&options, &out), 0);
    return out;
}

void emu_case_close(struct backend *be)
{
    backend_destroy(be);
    ck_assert_int_eq(emu_live(), 0);
    ck_assert_int_eq(mem_live(), 0);
}

void *emu_case_array(struct backend *be, long count, size_t size)
{
    void *out;
    ck_assert_int_eq(be->ops->alloc(be, count, size, &out), 0);
    return out;
}

void *emu_case_copy(struct backend *be, const void *from, size_t bytes)
{
    void *const out = emu_case_array(be, (long)bytes, 1);
    ck_assert_int_eq(be->ops->upload(be, out, from, bytes), 0);
    return out;
}
