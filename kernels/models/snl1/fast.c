/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The fast kernel of SNL1 for the baseline. */
#include "kernels/models/snl1/launch.h"

#define SNL1_LANES 4
#define SNL1_NAME  snl1_fast
#include "kernels/models/snl1/fast.inc"
