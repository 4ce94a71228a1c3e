/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef RUNNER_SELF_CHECK_H
#define RUNNER_SELF_CHECK_H

#include <stdbool.h>

#include "kernels/backend.h"
#include "kernels/model.h"

/*
 * Class R in the field (numerics.md §1): the same short sequence of steps by this worker's
 * kernels, on a CPU or a device, and by those for any x86-64, in one process. Bad hardware, and
 * kernels that are wrong on one machine, show as a difference beyond the rounding bound.
 */

#define SELF_CHECK_STEPS     8   /* compared at most: the ladder goes no further */
#define SELF_CHECK_EVERY     100 /* members, when --self-check says no number */
#define SELF_CHECK_TEXT_SIZE 200

/* What a check found. */
struct self_check {
    bool compared; /* false: the point makes no step that could be compared, or none without
                      growth */
    bool within;
    char text[SELF_CHECK_TEXT_SIZE]; /* the figures, one line */
};

/** Whether a model has steps to compare: it has a stepper. */
bool self_check_possible(const struct model_info *info);

/**
 * Make some steps of a point with chosen lengths by the baseline's kernels, then make exactly
 * these again, from the same input without noise, by the baseline's kernels and by a
 * backend's: rk45 both times, complex fields at the end compared element by element with
 * bound_steps of the peak (kernels/contract/bounds.h), which holds where rounding errors do not
 * grow: the lengths are divided by four until noise of one photon a mode does not, over all of
 * them, more than fourfold by the baseline's kernels. A floating-point unit that flushes
 * sub-normal numbers, which no comparison of fields sees, fails before that.
 *
 * @param point    of a model that self_check_possible says yes to
 * @param backend  the worker's own; model objects of one row are made on it and freed
 * @return 0 with the verdict in out; or a run error: memory, a backend that cannot be made
 */
int self_check_run(const struct model_ops *ops, const struct params *point,
                   struct backend *backend, struct self_check *out);

#endif
