/* SPDX-License-Identifier: GPL-3.0-or-later */
#define POINTS_TABLE vmath_points_v3
#define POINTS_ISA   "x86-64-v3"
#include "tests/kernels/vmath_points.c"
