/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef BENCH_FARM_NULL_H
#define BENCH_FARM_NULL_H

#include <stdint.h>

/*
 * A store that keeps nothing, for the time of the farm alone. The linker leads the runner's
 * calls of the store through here (--wrap); they go on to the real one unless told otherwise.
 */

/** From now on nothing is written, every member is pending, and opening gives no object. */
void null_store_use(void);

/** How many members such a store holds. */
void null_store_members(int64_t members);

#endif
