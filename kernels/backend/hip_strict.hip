// SPDX-License-Identifier: GPL-3.0-or-later
// Compiled with -ffp-contract=off.
#include "kernels/backend/gpu_hip.inc"
#include "kernels/backend/gpu_strict.inc"
