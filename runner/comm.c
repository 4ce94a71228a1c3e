/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "runner/comm.h"

#include <sched.h>
#include <signal.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "kernels/base/clock.h"
#include "kernels/base/fault.h"
#include "kernels/base/status.h"
#include "runner/early.h"
#include "runner/lease.h"
#include "runner/stop.h"

#define PAUSE_LEAST      20e-6
#define PAUSE_MOST       2e-3
#define HEARTBEAT_PERIOD 1.0
#define THREAD_PERIOD    0.02 /* s between two looks of the second thread */
#define CONTACT_WAIT     5.0  /* s that a worker waits for a new word of the controller */

static void pause_for(double seconds)
{
    const struct timespec span = {.tv_sec = (time_t)seconds,
                                  .tv_nsec = (long)(1e9 * (seconds - (double)(time_t)seconds))};
    nanosleep(&span, NULL); /* a signal may cut it short: that is an event */
}

void backoff_reset(struct backoff *backoff)
{
    backoff->pause = 0;
}

void backoff_wait(struct backoff *backoff)
{
    double pause = backoff->pause > 0 ? 2 * backoff->pause : PAUSE_LEAST;
    pause = pause < PAUSE_MOST ? pause : PAUSE_MOST;
    backoff->pause = pause;
    pause_for(pause);
}

int comm_check(int code, const char *what)
{
    if (code == MPI_SUCCESS)
        return 0;
    char text[MPI_MAX_ERROR_STRING] = "";
    int length = 0;
    MPI_Error_string(code, text, &length);
    FAIL(ERR_MPI, "%s: %s", what, text);
}

int comm_send(MPI_Comm on, int to, const struct message *message, const atomic_int *lost)
{
    MPI_Request request = MPI_REQUEST_NULL;
    struct backoff backoff = {0};
    TRY(comm_check(MPI_Isend(message, (int)sizeof *message, MPI_BYTE, to, 0, on, &request),
                   "sending a message"));
    const double limit = clock_wall() + COMM_SEND_LIMIT;
    for (;;) {
        int done = 0;
        TRY(comm_check(MPI_Test(&request, &done, MPI_STATUS_IGNORE), "sending a message"));
        if (done)
            return 0;
        if (lost != NULL && atomic_load(lost) != 0)
            FAIL(ERR_MPI, "rank %d is lost: it has not taken a %s message", to,
                 message_name(message->kind));
        if (clock_wall() > limit)
            FAIL(ERR_MPI, "rank %d has not taken a %s message for %.0f s", to,
                 message_name(message->kind), COMM_SEND_LIMIT);
        backoff_wait(&backoff);
    }
}

int comm_receive(const struct comm *comm, MPI_Comm on, struct message *message, int *from,
                 bool *arrived)
{
    MPI_Message handle = MPI_MESSAGE_NULL;
    MPI_Status status;
    int there = 0;
    *arrived = false;
    TRY(comm_check(MPI_Improbe(MPI_ANY_SOURCE, 0, on, &there, &handle, &status),
                   "looking for a message"));
    if (!there)
        return 0;
    int size = 0;
    MPI_Get_count(&status, MPI_BYTE, &size);
    TRY(comm_check(MPI_Mrecv(message, (int)sizeof *message, MPI_BYTE, &handle, &status),
                   "receiving a message"));
    if (size != (int)sizeof *message)
        FAIL(ERR_MPI,
             "a message of rank %d has %d bytes, not %zu: all ranks must run the same scanfarm",
             status.MPI_SOURCE, size, sizeof *message);
    TRY(message_check(message, comm->attempt));
    *from = status.MPI_SOURCE;
    *arrived = true;
    return 0;
}

static void take_order(struct comm_thread *t, const struct message *message)
{
    switch (message->kind) {
    case MESSAGE_STOP:
        atomic_store(&t->control->stop, 1);
        break;
    case MESSAGE_DRAIN:
        atomic_store(&t->draining, 1);
        break;
    case MESSAGE_HEARTBEAT: /* how old it is, not when it is read, counts */
        if (message->heartbeat.sent > atomic_load(&t->contact))
            atomic_store(&t->contact, message->heartbeat.sent);
        break;
    case MESSAGE_KILL:
        fault_point("fence", -1, -1);
        t->order = (struct comm_order){.open = true, .kill = message->kill};
        if (message->kill.force)
            process_kill(&message->kill.process);
        break;
    default:
        break;
    }
}

static int read_orders(struct comm_thread *t)
{
    struct message message;
    int from = 0;
    bool arrived = true;
    while (arrived) {
        TRY(comm_receive(t->comm, t->comm->side, &message, &from, &arrived));
        if (arrived)
            take_order(t, &message);
    }
    return 0;
}

/* A process that was told to end is confirmed when it is gone; one that was asked about, now.
 */
static int answer_order(struct comm_thread *t)
{
    const struct message_kill *kill = &t->order.kill;
    if (!t->order.open)
        return 0;
    const bool gone = process_is_gone(&kill->process);
    if (!gone && kill->force)
        return 0;
    t->order.open = false;
    struct message m = message_make(MESSAGE_CONFIRM, t->comm->attempt);
    m.confirm.rank = kill->rank;
    m.confirm.gone = gone;
    return comm_send(t->comm->side, 0, &m, NULL);
}

/* One at a time: a controller that takes none must not keep this thread from seeing it. */
static int send_heartbeat(struct comm_thread *t)
{
    int done = 1;
    fault_point("heartbeat", -1, -1);
    if (fault_mute("heartbeat"))
        return 0;
    TRY(comm_check(MPI_Test(&t->beating, &done, MPI_STATUS_IGNORE), "sending a heartbeat"));
    if (!done)
        return 0;
    t->beat = message_make(MESSAGE_HEARTBEAT, t->comm->attempt);
    t->beat.heartbeat.steps_done = atomic_load(&t->control->steps_done);
    t->beat.heartbeat.sent = clock_wall();
    return comm_check(
        MPI_Isend(&t->beat, (int)sizeof t->beat, MPI_BYTE, 0, 0, t->comm->side, &t->beating),
        "sending a heartbeat");
}

static double contact_age(const struct comm_thread *t)
{
    return clock_wall() - atomic_load(&t->contact);
}

static int check_controller(const struct comm_thread *t)
{
    if (t->near && process_is_gone(&t->comm->controller))
        FAIL(ERR_MPI, "the controller has ended");
    if (contact_age(t) > LEASE_COMMIT_LIMIT + CONTACT_WAIT)
        FAIL(ERR_MPI, "the controller has not answered for %.0f s", contact_age(t));
    return 0;
}

static int talk(struct comm_thread *t)
{
    double next = 0;
    bool asked = false;
    while (!atomic_load(&t->leave)) {
        TRY(read_orders(t));
        TRY(answer_order(t));
        if (!asked && stop_signal() != 0) {
            asked = true;
            const struct message m = message_make(MESSAGE_STOP_REQUEST, t->comm->attempt);
            TRY(comm_send(t->comm->side, 0, &m, NULL));
        }
        if (clock_wall() >= next) {
            next = clock_wall() + HEARTBEAT_PERIOD;
            TRY(send_heartbeat(t));
            TRY(check_controller(t));
        }
        pause_for(THREAD_PERIOD);
    }
    return 0;
}

/* Whoever waits in a library for something that does not come must not stay for ever. */
static void await_end(const struct comm_thread *t)
{
    const double limit = clock_wall() + COMM_SEND_LIMIT;
    while (!atomic_load(&t->leave)) {
        if (clock_wall() > limit)
            _exit(status_exit_code(ERR_MPI));
        pause_for(THREAD_PERIOD);
    }
}

static void *thread_main(void *argument)
{
    struct comm_thread *t = argument;
    /* The main thread's core is for the main thread. Failure only costs some speed. */
    sched_setaffinity(0, sizeof *early_allowed(), early_allowed());
    const int rc = talk(t);
    if (rc != 0) {
        atomic_store(&t->failed, rc);
        atomic_store(&t->control->stop, 1);
        await_end(t);
    }
    return NULL;
}

int comm_check_contact(struct comm_thread *thread)
{
    const double limit = clock_wall() + CONTACT_WAIT;
    while (contact_age(thread) > LEASE_COMMIT_LIMIT) {
        if (clock_wall() > limit)
            FAIL(ERR_MPI, "no word of the controller for %.0f s: nothing is written any more",
                 contact_age(thread));
        pause_for(THREAD_PERIOD);
    }
    return 0;
}

int comm_thread_start(struct comm_thread *thread, const struct comm *comm,
                      struct run_control *control)
{
    memset(thread, 0, sizeof *thread);
    thread->comm = comm;
    thread->control = control;
    thread->beating = MPI_REQUEST_NULL;
    thread->near = process_is_here(&comm->controller);
    atomic_store(&thread->contact, clock_wall());
    /* Signals go to the main thread: its sleeps are cut short by them. */
    sigset_t all;
    sigset_t old;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &old);
    const int rc = pthread_create(&thread->thread, NULL, thread_main, thread);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    if (rc != 0)
        FAIL(ERR_MPI, "cannot start the second thread of a worker: %s", strerrordesc_np(rc));
    thread->started = true;
    return 0;
}

/* The last heartbeat leaves, if it still does. */
static void comm_drain(MPI_Request *request)
{
    const double limit = clock_wall() + CONTACT_WAIT;
    int done = 0;
    while (MPI_Test(request, &done, MPI_STATUS_IGNORE) == MPI_SUCCESS && !done
           && clock_wall() < limit)
        pause_for(PAUSE_MOST);
}

void comm_thread_end(struct comm_thread *thread)
{
    if (!thread->started)
        return;
    atomic_store(&thread->leave, 1);
    pthread_join(thread->thread, NULL);
    thread->started = false;
    if (thread->beating != MPI_REQUEST_NULL && atomic_load(&thread->failed) == 0)
        comm_drain(&thread->beating);
}
