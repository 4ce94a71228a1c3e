/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef RUNNER_COMM_H
#define RUNNER_COMM_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include <mpi.h>

#include "kernels/model.h"
#include "runner/protocol.h"

/*
 * Messages between ranks. No wait here is without a limit, and none burns a core: an idle rank
 * sleeps for longer and longer, 2 ms at most.
 */

#define COMM_SEND_LIMIT 60.0 /* s until a message that nobody takes is an error */

/* The two communicators of this run, duplicates of MPI_COMM_WORLD. */
struct comm {
    MPI_Comm tasks;
    MPI_Comm side;
    uint64_t attempt;
    int rank;
    int size;
    struct process_id controller; /* the process of rank 0 */
};

/* Pauses that grow while nothing happens. */
struct backoff {
    double pause; /* s */
};

/** Something happened: the next pause is short again. */
void backoff_reset(struct backoff *backoff);

/** Sleep for 20 us, then twice as long each time, up to 2 ms. */
void backoff_wait(struct backoff *backoff);

/** Turn a code of MPI into 0 or ERR_MPI with MPI's text. @param what what was being done */
int comm_check(int code, const char *what);

/**
 * Send one message; waits until it is on its way, COMM_SEND_LIMIT at most.
 *
 * @param lost  ends the wait when it is not 0; NULL: nothing does
 * @return 0, or ERR_MPI: it may still arrive
 */
int comm_send(MPI_Comm on, int to, const struct message *message, const atomic_int *lost);

/* Open MPI looks for a message first and fetches what has arrived afterwards: who is about to
 * pause looks so many times in vain. Where there are more ranks than cores each vain look also
 * gives the core away, so nobody looks more often. */
#define COMM_LOOKS 2

/**
 * Receive a message if one is there; never waits. A message that has just arrived may be found
 * by the next look only (COMM_LOOKS).
 *
 * @param arrived receives whether there was one
 * @param from    receives the sender's rank
 * @return 0, or ERR_MPI, also for a message of another attempt or version
 */
int comm_receive(const struct comm *comm, MPI_Comm on, struct message *message, int *from,
                 bool *arrived);

/* A process that the controller has asked this worker about. */
struct comm_order {
    bool open; /* not answered yet */
    struct message_kill kill;
};

/* The second thread of a worker: speaks with the controller while the main thread computes. */
struct comm_thread {
    const struct comm *comm;
    struct run_control *control; /* stop is set by it, steps_done read */
    atomic_int draining;         /* DRAIN arrived: load nothing, end at the next plane */
    atomic_int leave;
    atomic_int failed;      /* enum status_code: the controller is lost */
    _Atomic double contact; /* clock_wall of what the controller has answered last */
    struct message beat;    /* the heartbeat on its way … */
    MPI_Request beating;    /* … which nobody waits for */
    struct comm_order order;
    bool near; /* the controller is a process of this machine */
    pthread_t thread;
    bool started;
};

/**
 * Start the second thread: a HEARTBEAT a second and its answer into `contact`, STOP and DRAIN
 * into run_control, a signal of this rank into STOP_REQUEST, KILL into the end of another
 * process. It stops the worker when the controller has ended, or has not answered for
 * LEASE_COMMIT_LIMIT seconds; ends the process when that takes longer than COMM_SEND_LIMIT.
 *
 * @return 0 or ERR_MPI
 */
int comm_thread_start(struct comm_thread *thread, const struct comm *comm,
                      struct run_control *control);

/**
 * Whether the controller can still count on this worker: its last answer is not older than
 * LEASE_COMMIT_LIMIT. A worker that was stopped and woken waits some seconds for a new one.
 *
 * @return 0, or ERR_MPI: nothing may be written any more
 */
int comm_check_contact(struct comm_thread *thread);

/** End it and wait for it (0.1 s at most). Legal when it was never started. */
void comm_thread_end(struct comm_thread *thread);

#endif
