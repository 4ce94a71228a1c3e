/* SPDX-License-Identifier: GPL-3.0-or-later */
/* CPU launches of the kernels of strict.def: whole rows in program order, no contraction, no
 * reassociation. */
#include "kernels/backend/cpu.h"
#include "kernels/backend/cpu_launch.h"

#define KERNEL_ROW(name, outputs, args)                                                        \
    static int cpu_##name(struct backend *be, const struct args##_args *a, long row,           \
                          long rows, long n)                                                   \
    {                                                                                          \
        (void)be;                                                                              \
        for (long r = row; r < row + rows; r++) {                                              \
            if (!cpu_row_active(a->active, r))                                                 \
                continue;                                                                      \
            const struct args##_row at = args##_row(a, r);                                     \
            name##_body(n, &at, a->out + r * (outputs));                                       \
        }                                                                                      \
        return 0;                                                                              \
    }
#define KERNEL_LINE(name, args)                                                                \
    static int cpu_##name(struct backend *be, const struct args##_args *a, long row,           \
                          long rows, long n)                                                   \
    {                                                                                          \
        (void)be;                                                                              \
        for (long r = row; r < row + rows; r++) {                                              \
            if (!cpu_row_active(a->active, r))                                                 \
                continue;                                                                      \
            const struct args##_row at = args##_row(a, r);                                     \
            name##_body(n, &at);                                                               \
        }                                                                                      \
        return 0;                                                                              \
    }
#include "kernels/strict.def"
#undef KERNEL_ROW
#undef KERNEL_LINE

#define KERNEL_ROW(name, outputs, args) table->name = cpu_##name;
#define KERNEL_LINE(name, args)         table->name = cpu_##name;

void cpu_strict_fill(struct kernel_table *table)
{
#include "kernels/strict.def"
}
