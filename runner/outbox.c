/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "runner/outbox.h"

#include "kernels/base/status.h"
#include "runner/comm.h"

static int free_place(const struct outbox *outbox)
{
    for (int i = 0; i < OUTBOX_SIZE; i++)
        if (!outbox->busy[i])
            return i;
    return -1;
}

bool outbox_has_room(const struct outbox *outbox)
{
    return free_place(outbox) >= 0;
}

int outbox_send(struct outbox *outbox, MPI_Comm on, int to, const struct message *message)
{
    const int i = free_place(outbox);
    if (i < 0)
        FAIL(ERR_BUG, "rank %d has not taken %d messages; there is no room for a %s", to,
             OUTBOX_SIZE, message_name(message->kind));
    outbox->message[i] = *message;
    outbox->busy[i] = true;
    return comm_check(MPI_Isend(&outbox->message[i], (int)sizeof outbox->message[i], MPI_BYTE,
                                to, 0, on, &outbox->request[i]),
                      "sending a message to a worker");
}

int outbox_progress(struct outbox *outbox)
{
    for (int i = 0; i < OUTBOX_SIZE; i++) {
        int done = 0;
        if (!outbox->busy[i])
            continue;
        TRY(comm_check(MPI_Test(&outbox->request[i], &done, MPI_STATUS_IGNORE),
                       "sending a message to a worker"));
        outbox->busy[i] = !done;
    }
    return 0;
}
