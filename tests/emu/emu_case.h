/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TESTS_EMU_EMU_CASE_H
#define TESTS_EMU_EMU_CASE_H

#include "tests/kernels/column_case.h"

/* What programs about the emulated device begin and end with. Each asserts that it worked. */

/** An emulated device. @param column_rows, block  its thresholds, 0: as they are */
struct backend *emu_case_open(long column_rows, long block);

/** Destroy it: nothing of it may be left, there or here. */
void emu_case_close(struct backend *be);

/** Zeroed elements on it. */
void *emu_case_array(struct backend *be, long count, size_t size);

/** A copy of an array on it. */
void *emu_case_copy(struct backend *be, const void *from, size_t bytes);

/* A pulse in a column of three tiles. */
extern const struct column_case emu_case_column;

#endif
