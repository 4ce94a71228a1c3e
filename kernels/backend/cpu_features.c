/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "kernels/backend/cpu_features.h"

int cpu_supports_v3(void)
{
#ifdef __x86_64__
    __builtin_cpu_init();
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")
           && __builtin_cpu_supports("bmi2");
#else
    return 0;
#endif
}

int cpu_supports_v4(void)
{
#ifdef __x86_64__
    __builtin_cpu_init();
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw")
           && __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq")
           && __builtin_cpu_supports("avx512vl");
#else
    return 0;
#endif
}
