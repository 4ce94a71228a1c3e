/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef RUNNER_SLOT_H
#define RUNNER_SLOT_H

#include "runner/worker.h"

/**
 * Make the model object for a structural key the current one: an existing one, or a new one in
 * place of the one that was used longest ago. No row may be running.
 *
 * @param worker  worker->params hold a point with that key
 * @param layout  of that point
 * @return 0, or an error of the model or the backend, after which none is current
 */
int slot_select(struct worker *worker, int64_t structure, const struct plane_layout *layout);

/** Make the backend when there is none. ERR_DEVICE, ERR_MEMORY */
int slot_backend(struct worker *worker);

/** Rows that may hold a member now: those of the current model object; before there is one, of
 * any. */
int slot_rows(const struct worker *worker);

/** Free all model objects and the backend. */
void slots_clear(struct worker *worker);

#endif
