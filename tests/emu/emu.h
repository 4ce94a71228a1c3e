/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TESTS_EMU_EMU_H
#define TESTS_EMU_EMU_H

#include "kernels/backend.h"

/** The backend of the emulated device (tests/emu/machine.h). */
int emu_backend_create(const struct backend_options *options, struct backend **out);

/** Its strict kernels. */
void emu_strict_fill(struct kernel_table *table);

#endif
