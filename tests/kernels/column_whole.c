/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The passes of a plasma column with one chunk for the whole row, built once for each
 * instruction set with the flags of the launch files: column_whole_v3.c includes this file. */
#include "tests/kernels/column_whole.h"

#include "kernels/backend/cpu.h"
#include "kernels/backend/cpu_launch.h"

#ifndef WHOLE_SUFFIX
#    define WHOLE_SUFFIX
#endif
#define CPU_JOIN2(a, b) a##b
#define CPU_JOIN(a, b)  CPU_JOIN2(a, b)
#define CPU_NAME(name)  CPU_JOIN(whole_##name, WHOLE_SUFFIX)

#define COLUMN_CHUNK WHOLE_SAMPLES
#include "kernels/backend/cpu_column.inc"

#define KERNEL_COLUMN(name, args)                                                              \
    static int launch_##name(struct backend *be, const struct args##_args *a, long row,        \
                             long rows, long n)                                                \
    {                                                                                          \
        (void)be;                                                                              \
        for (long r = row; r < row + rows; r++) {                                              \
            const struct args##_row at = args##_row(a, r);                                     \
            CPU_NAME(name)(n, &at, 1);                                                         \
        }                                                                                      \
        return 0;                                                                              \
    }
#include "kernels/column.def"
#undef KERNEL_COLUMN

#define KERNEL_COLUMN(name, args) table->name = launch_##name;

void CPU_JOIN(column_whole, WHOLE_SUFFIX)(struct kernel_table *table)
{
#include "kernels/column.def"
}
