/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/kernels/isa.h"
#include "tests/kernels/lane.h"
#include "tests/kernels/machines.h"
#include "tests/unit_main.h"

#define THREADS_MAX 4

void machines_init(struct machines *all)
{
    *all = (struct machines){.step = THREADS_MAX};
    if (strcmp(lane_backend(), "cpu") != 0) { /* a device has one of each */
        const struct backend_options options = lane_options(1);
        *all = (struct machines){.count = 1, .step = 1};
        ck_assert_int_eq(backend_create(&options, &all->backend[0]), 0);
        return;
    }
    for (const struct cpu_isa *isa = cpu_isa_list(); isa->name != NULL; isa++) {
        for (int threads = 1; isa_runs(isa) && threads <= THREADS_MAX; threads++) {
            const struct backend_options options = {
                .name = "cpu", .isa = isa->name, .threads = threads, .rigour = FFT_ESTIMATE};
            ck_assert_int_lt(all->count, MACHINES_MAX);
            ck_assert_int_eq(backend_create(&options, &all->backend[all->count]), 0);
            all->count++;
        }
    }
    ck_assert_int_ge(all->count, THREADS_MAX);
}
