// SPDX-License-Identifier: GPL-3.0-or-later
#include "kernels/backend/gpu_hip.inc"
#include "kernels/backend/gpu.inc"
