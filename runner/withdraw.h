/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef RUNNER_WITHDRAW_H
#define RUNNER_WITHDRAW_H

#include "io/store.h"
#include "runner/dispatch.h"
#include "runner/prepare.h"

/*
 * Taking back what a worker with wrong arithmetic has computed. The journal says first which
 * members ("withdrawn"), then the file is changed, then the journal says that it was
 * (WITHDRAW_DONE of the worker): what is killed in between is made up for at the next start.
 */

/**
 * Make all members that a failed self-check has withdrawn pending in the file: their
 * checkpoints, planes and states are forgotten, and so is the reduction of their points.
 *
 * @param store  opened by store_open; nobody else writes these members now
 * @param count  receives how many
 * @return 0 or ERR_IO, ERR_MEMORY: the rest is left as it is
 */
int withdraw_members(struct store *store, struct dispatch *dispatch, int64_t *count);

/**
 * Take back what an earlier run of this file had begun to and was killed over. Single writer,
 * before the members are looked at. ERR_IO, ERR_MEMORY
 */
int withdraw_left(const struct prepared *prepared);

#endif
