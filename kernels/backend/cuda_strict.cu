// SPDX-License-Identifier: GPL-3.0-or-later
// Compiled with --fmad=false.
#include "kernels/backend/gpu_cuda.inc"
#include "kernels/backend/gpu_strict.inc"
