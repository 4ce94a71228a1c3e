/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The parity kernel of SNL1 for x86-64-v3 (AVX2). */
#include "kernels/models/snl1/launch.h"

#define SNL1_LANES 8
#define SNL1_NAME  snl1_parity_v3
#include "kernels/models/snl1/parity.inc"
