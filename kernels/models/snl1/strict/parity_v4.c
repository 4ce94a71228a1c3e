/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The parity kernel of SNL1 for x86-64-v4 (AVX-512). */
#include "kernels/models/snl1/launch.h"

#define SNL1_LANES 16
#define SNL1_NAME  snl1_parity_v4
#include "kernels/models/snl1/parity.inc"
