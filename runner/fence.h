/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef RUNNER_FENCE_H
#define RUNNER_FENCE_H

#include "runner/peer.h"

/*
 * Workers that die or fall silent (design: silence is no proof of death). A worker's tasks go
 * to others only when its process is known to be gone: seen by the controller on its own
 * machine, confirmed by another worker on any other. Nobody there to ask: they stay with it
 * until the next run.
 */

#define FENCE_SILENCE 20.0 /* s without a sign of life until a process is ended */

/** Look for processes that have ended, end those that are silent or condemned, ask others to do
 *  so; twice a second. */
int fence_look(struct controller *c);

/** The answer of a worker that was asked. */
int fence_confirm(struct controller *c, const struct message_confirm *confirm);

#endif
