/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef RUNNER_HISTORY_H
#define RUNNER_HISTORY_H

#include <stdbool.h>
#include <stdint.h>

#include "io/store.h"
#include "kernels/model.h"

/* The stored steps of a member (/step), as a whole. */

/**
 * All trial steps of a member.
 *
 * @param step   receives them, free with mem_free; NULL when the file has none or some are lost
 * @param count  0 then
 */
int history_read(struct store *store, int64_t member, struct step_record **step, long *count);

/**
 * Whether two members were made by the same steps: accepted ones that begin at the same places,
 * to the bit, and have the same lengths and orders. What was rejected between them leaves no
 * trace in a field.
 *
 * @param store, member  of each
 * @param same           false, too, when one of them has no step or has lost some
 */
int history_same(struct store *const store[2], const int64_t member[2], bool *same);

#endif
