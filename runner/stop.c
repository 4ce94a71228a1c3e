/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "runner/stop.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "kernels/base/status.h"

/* Atomic, not sig_atomic_t: the thread for messages reads what the first thread's handler
 * writes. */
static atomic_int caught; /* the first signal that asked for a stop */
static atomic_bool second_interrupt_ends;
static _Atomic(atomic_int *) attached;

static void catch_signal(int signal)
{
    int none = 0;
    const bool first = atomic_compare_exchange_strong(&caught, &none, signal);
    if (!first && signal == SIGINT && atomic_load(&second_interrupt_ends))
        _exit(EXIT_INTERRUPTED_TWICE);
    atomic_int *flag = atomic_load(&attached);
    if (flag != NULL)
        atomic_store(flag, 1);
}

void stop_catch(bool second_ends)
{
    atomic_store(&second_interrupt_ends, second_ends);
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = catch_signal;
    action.sa_flags = SA_RESTART; /* no write or read of a library is cut short */
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGUSR1, &action, NULL);
    if (stop_hears_hangup())
        sigaction(SIGHUP, &action, NULL);
    signal(SIGPIPE, SIG_IGN);
}

bool stop_hears_hangup(void)
{
    struct sigaction now;
    return sigaction(SIGHUP, NULL, &now) != 0 || now.sa_handler != SIG_IGN;
}

int stop_signal(void)
{
    return atomic_load(&caught);
}

void stop_attach(atomic_int *flag)
{
    atomic_store(&attached, flag);
    if (flag != NULL && atomic_load(&caught) != 0)
        atomic_store(flag, 1);
}

const char *stop_signal_name(int signal)
{
    static _Thread_local char text[32];
    const char *name = sigabbrev_np(signal);
    if (name != NULL)
        snprintf(text, sizeof text, "SIG%s", name);
    else
        snprintf(text, sizeof text, "signal %d", signal);
    return text;
}
