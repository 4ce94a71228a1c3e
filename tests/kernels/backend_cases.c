/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The table of kernels under test, made from the .def lists. */
#include <math.h>

#include "tests/kernels/backend_suite.h"

/* Adapters from the typed functions to one signature. */
#define ADAPT(name, args, entry)                                                               \
    static int launch_##name(struct backend *be, const void *a, int s, long row, long rows,    \
                             long n)                                                           \
    {                                                                                          \
        (void)s;                                                                               \
        return be->kernels->entry(be, (const struct args##_args *)a, row, rows, n);            \
    }                                                                                          \
    static void refer_##name(const void *a, int s, long row, long n, struct answer *answers)   \
    {                                                                                          \
        reference_##name((const struct args##_args *)a, s, row, n, answers);                   \
    }
#define KERNEL(name, args)              ADAPT(name, args, name)
#define KERNEL_N(name, last, args)      ADAPT(name, args, name[s])
#define KERNEL_SUM(name, outputs, args) ADAPT(name, args, name)
#define KERNEL_NORM(name, args)         ADAPT(name, args, name)
#define KERNEL_ROW(name, outputs, args) ADAPT(name, args, name)
#define KERNEL_LINE(name, args)         ADAPT(name, args, name)
#include "kernels/fast.def"
#include "kernels/strict.def"
#undef KERNEL
#undef KERNEL_N
#undef KERNEL_SUM
#undef KERNEL_NORM
#undef KERNEL_ROW
#undef KERNEL_LINE

#define CASE(name, last, args)                                                                 \
    {#name,                                                                                    \
     (last),                                                                                   \
     sizeof(struct args##_args),                                                               \
     offsetof(struct args##_args, ld),                                                         \
     offsetof(struct args##_args, active),                                                     \
     fields_##name,                                                                            \
     refer_##name,                                                                             \
     launch_##name},
#define KERNEL(name, args)              CASE(name, 0, args)
#define KERNEL_N(name, last, args)      CASE(name, last, args)
#define KERNEL_SUM(name, outputs, args) CASE(name, 0, args)
#define KERNEL_NORM(name, args)         CASE(name, 0, args)
#define KERNEL_ROW(name, outputs, args) CASE(name, 0, args)
#define KERNEL_LINE(name, args)         CASE(name, 0, args)

static const struct kernel_case cases[] = {
#include "kernels/fast.def"
#include "kernels/strict.def"
};

const struct kernel_case *kernel_cases(int *count)
{
    *count = (int)(sizeof cases / sizeof cases[0]);
    return cases;
}
