/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef RUNNER_STOP_H
#define RUNNER_STOP_H

#include <stdatomic.h>
#include <stdbool.h>

/*
 * SIGINT, SIGTERM, SIGHUP and SIGUSR1 ask for a stop in order (exit code 75). The handler sets
 * a flag and nothing else; in one process a second SIGINT ends the program at once (130). A
 * reader of our output that went away (SIGPIPE) stops nothing.
 */

/**
 * Catch the signals from now on; they are no longer deadly. SIGHUP stays ignored where it was
 * (nohup).
 *
 * @param second_ends  a second SIGINT ends the process with code 130
 */
void stop_catch(bool second_ends);

/** Whether SIGHUP is one of them: not where it was ignored (nohup). */
bool stop_hears_hangup(void);

/** Which signal asked for a stop, 0 when none did. */
int stop_signal(void);

/** Also set this flag when a signal arrives (run_control.stop of one-process mode); NULL: none.
 */
void stop_attach(atomic_int *flag);

/** Name of a signal: "SIGKILL"; "signal 64" when it has none. Valid until the next call of the
 *  same thread. */
const char *stop_signal_name(int signal);

#endif
