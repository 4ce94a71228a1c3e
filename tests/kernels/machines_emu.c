/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/emu/emu.h"
#include "tests/emu/machine.h"
#include "tests/kernels/machines.h"
#include "tests/unit_main.h"

void machines_init(struct machines *all)
{
    const struct backend_options options = {.apart = true, .threads = 1};
    *all = (struct machines){.count = 1, .step = 1};
    ck_assert_int_eq(emu_backend_create(&options, &all->backend[0]), 0);
    emu_shuffle(20); /* blocks and threads in an order that no kernel may rely on */
}
