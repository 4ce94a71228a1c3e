/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The fast kernel of SNL1 for x86-64-v3 (AVX2, FMA). */
#include "kernels/models/snl1/launch.h"

#define SNL1_LANES 8
#define SNL1_NAME  snl1_fast_v3
#include "kernels/models/snl1/fast.inc"
