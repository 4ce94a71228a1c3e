/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TESTS_EMU_EMU_H
#define TESTS_EMU_EMU_H

#include "kernels/backend/gpu.h"

/** The strict kernels of the emulated device (tests/emu/machine.h). */
void emu_strict_fill(struct kernel_table *table);

#endif
