/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <stdbool.h>

#include "tests/kernels/column_case.h"

/* Where test_column runs the passes: on the backend of SCANFARM_TEST_BACKEND, else the CPU
 * (column_place_named.c), or on the emulated device (column_place_emu.c). */

/* In tiles where it is a device; by rows, all passes in one launch. */
enum column_form { COLUMN_TILES, COLUMN_ROWS, COLUMN_FORMS };

/** Its backend. */
struct backend *column_place_create(enum column_form form);

/** Run the passes of a column there. */
void column_place_run(struct column_run *run, struct backend *be);

/** Whether threads of a backend share rows. */
bool column_place_has_threads(void);
