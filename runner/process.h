/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef RUNNER_PROCESS_H
#define RUNNER_PROCESS_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Processes that other processes must be sure about. A number alone says little: it is used
 * again, and means another process in another container or on another host. With the time of
 * its start and the machine it names one process.
 */
struct process_id {
    int64_t pid;
    int64_t start;    /* clock ticks after boot; 0: unknown */
    uint64_t machine; /* which boot of which host, and which process namespace */
};

/** This process. */
struct process_id process_self(void);

/** Whether a process is of this machine and namespace: only then can the others tell. */
bool process_is_here(const struct process_id *process);

/** Whether a process of this machine has ended. One that waits for its parent's notice (zombie)
 *  has: it does nothing any more. */
bool process_is_gone(const struct process_id *process);

/** SIGKILL to a process of this machine unless it is gone; does not wait. */
void process_kill(const struct process_id *process);

/** The same, and wait until it is gone. @param limit s @return whether it is */
bool process_end(const struct process_id *process, double limit);

#endif
