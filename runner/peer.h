/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef RUNNER_PEER_H
#define RUNNER_PEER_H

#include "runner/comm.h"
#include "runner/controller.h"
#include "runner/notes.h"
#include "runner/outbox.h"

/* Inside of the controller: what controller.c and fence.c share. */

/* How far a worker is on its way (runner/protocol.h). */
enum worker_phase { WORKER_SILENT, WORKER_READY, WORKER_LEAVING, WORKER_GONE, WORKER_DEAD };

/* How far the controller is with a worker that may be dead. */
struct fence {
    bool condemned; /* it is to be ended, whatever it says */
    bool gone;      /* its process had ended at the last look */
    double begin;   /* when its end was first asked for; 0: not yet */
    double asked;   /* when another worker was asked last; 0: never */
    int by;         /* that worker */
};

/* What the controller knows of one worker. */
struct peer {
    enum worker_phase phase;
    struct dispatch_worker held;
    struct message_ready ready;
    struct outbox tasks;
    struct outbox side;
    double heard;       /* time of its last sign of life */
    int64_t steps;      /* as its last heartbeat says */
    int64_t ended;      /* members */
    bool named;         /* its silence has been reported */
    bool unready;       /* … that it has not become ready */
    bool shared;        /* that it shares a core has been reported */
    bool shared_device; /* likewise a device */
    bool parked;        /* likewise */
    bool checked;       /* that it passes its self-check has been reported */
    bool asked;         /* for a self-check, and has not answered */
    struct fence fence;
    struct store_timing timing;
};

/* Rank 0. */
struct controller {
    const struct comm *comm;
    const struct rank_name *names;
    struct prepared *prepared;
    struct dispatch *dispatch;
    struct peer *peer; /* [size]; 0 is unused */
    int attempt;
    int ready;
    int gone;      /* workers that left or died */
    int dead;      /* of those */
    int parked;    /* workers of which that has been reported */
    bool stopped;  /* STOP went to all */
    bool returned; /* tasks of the dead wait for those that are idle */
    struct notes_load notes;
    double next_side; /* when the side communicator is looked at again */
    double next_look; /* when processes are looked at again */
    double begin;
    double stop_begin;  /* since when the run stops; 0: it does not */
    double leave_begin; /* when the first QUIT went out; 0: not yet */
};

/** What a report says of a self-check: said, and members of a worker that fails are taken back.
 */
void peer_note_check(struct controller *c, int from, const struct message_report *report);

/** Ask workers that get nothing more to check themselves. */
int peer_ask_checks(struct controller *c);

/** Host of a rank. */
const char *peer_host(const struct controller *c, int rank);

#endif
