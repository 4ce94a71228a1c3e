/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The launches of cpu_fast.c for x86-64-v4 (AVX-512). */
#define CPU_SUFFIX _v4
#include "kernels/backend/cpu_fast.c" /* NOLINT(bugprone-suspicious-include): its purpose */
