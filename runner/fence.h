/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef RUNNER_FENCE_H
#define RUNNER_FENCE_H

#include "runner/peer.h"

/*
 * Workers that die, fall silent or lose their device (design: silence is no proof of death). A
 * worker's tasks go to others only when its process is known to be gone: seen by the controller
 * on its own machine, confirmed by another worker on any other. Nobody there to ask: they stay
 * with it until the next run.
 */

#define FENCE_SILENCE 20.0 /* s without a sign of life until a process is ended */

/** Look for processes that have ended, end those that are silent or condemned, ask others to do
 *  so; twice a second. */
int fence_look(struct controller *c);

/**
 * The device of a worker has failed. To the farm that is a death, but that its process is there
 * and has committed what it will: its tasks go to others, it gets nothing any more and leaves
 * with them.
 *
 * @param text  "NVIDIA H200, PCI 0000:3b:00.0 has failed: …"
 */
void fence_device(struct controller *c, int rank, const char *text);

/** The answer of a worker that was asked. */
int fence_confirm(struct controller *c, const struct message_confirm *confirm);

#endif
