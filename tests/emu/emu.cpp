// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/emu/words.inc"

#include "kernels/backend/gpu.inc"
