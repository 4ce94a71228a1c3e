/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TESTS_KERNELS_COLUMN_WHOLE_H
#define TESTS_KERNELS_COLUMN_WHOLE_H

#include "kernels/backend.h"

/* Samples of the one chunk: more than any row under test has. */
#define WHOLE_SAMPLES 16896

/** Set the entries of column.def to passes without chunks, one thread. */
void column_whole(struct kernel_table *table);

/** The same for x86-64-v3. */
void column_whole_v3(struct kernel_table *table);

/** The same for x86-64-v4. */
void column_whole_v4(struct kernel_table *table);

#endif
