/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "kernels/backend.h"

#define MACHINES_MAX 16

/* What a conformance program runs on: every step-th differs in more than the number of threads.
 */
struct machines {
    int count;
    int step;
    struct backend *backend[MACHINES_MAX];
};

/** Every backend of one kind that runs here: of the CPU with each instruction set and number of
 * threads (machines_cpu.c), or the emulated device (machines_emu.c). */
void machines_init(struct machines *all);
