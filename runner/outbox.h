/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef RUNNER_OUTBOX_H
#define RUNNER_OUTBOX_H

#include <stdbool.h>

#include <mpi.h>

#include "runner/protocol.h"

#define OUTBOX_SIZE 6

/* Messages on their way to one rank: sends that nobody waits for. */
struct outbox {
    struct message message[OUTBOX_SIZE];
    MPI_Request request[OUTBOX_SIZE];
    bool busy[OUTBOX_SIZE];
};

/** Whether one more message can be sent now. */
bool outbox_has_room(const struct outbox *outbox);

/** Send without waiting. ERR_BUG without room, ERR_MPI. */
int outbox_send(struct outbox *outbox, MPI_Comm on, int to, const struct message *message);

/** Find out which messages have gone. ERR_MPI. */
int outbox_progress(struct outbox *outbox);

#endif
