/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <stdbool.h>

#include "kernels/backend/cpu.h"

/* Exit code that CTest counts as skipped. */
#define ISA_SKIPPED 77

/** The row of cpu_isa_list with this name, NULL when the program has no such instruction set.
 */
const struct cpu_isa *isa_named(const char *name);

/** Whether this machine executes it; if not, the reason is printed once. */
bool isa_runs(const struct cpu_isa *isa);

/** What a suite asks its backends for: SCANFARM_TEST_ISA of the environment, else auto. */
const char *isa_under_test(void);

/** 0, or ISA_SKIPPED with the reason printed when this machine lacks isa_under_test, or this
 * program the backend of SCANFARM_TEST_BACKEND. */
int isa_check(void);
