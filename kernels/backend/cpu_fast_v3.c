/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The launches of cpu_fast.c for x86-64-v3 (AVX2, FMA). */
#define CPU_SUFFIX _v3
#include "kernels/backend/cpu_fast.c" /* NOLINT(bugprone-suspicious-include): its purpose */
