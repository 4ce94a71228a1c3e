/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef RUNNER_LEASE_H
#define RUNNER_LEASE_H

#include <stdbool.h>
#include <stdint.h>

#include "runner/process.h"

/*
 * Who may write a result file: `<file>.lease`, made by one run at a time. It names the run, its
 * processes and its batch job, and has a counter that the holder moves every second. Another
 * run is refused while the holder lives, and takes over at once, when all its processes are of
 * this machine and gone; what is left of its ranks when launcher and controller are gone is
 * killed first; at once, when it is the same Slurm job, started again; after LEASE_EXPIRY
 * seconds in which the counter, watched by the taker's own clock, stood still; the processes of
 * this machine are killed first.
 */

#define LEASE_EXPIRY        120.0 /* s */
#define LEASE_COMMIT_LIMIT  30.0  /* s since the last sign of the right to write */
#define LEASE_TEXT_SIZE     64
#define LEASE_PROCESSES_MAX 4096 /* more ranks are not listed */

struct lease;

/* One process of the holder. */
struct lease_process {
    struct process_id id;
    char host[LEASE_TEXT_SIZE];
};

/* What a lease says. */
struct lease_info {
    bool found;
    char run[LEASE_TEXT_SIZE];
    char job[LEASE_TEXT_SIZE]; /* "" outside a batch job */
    long restart;
    uint64_t counter;
    int end;                       /* exit code that no journal could take, -1: none */
    int processes;                 /* 0: the text is not whole */
    struct lease_process *process; /* [processes]; the launcher's first, then the ranks' */
};

/**
 * Become the only writer of a result file; waits LEASE_EXPIRY at most, and not at all for a
 * holder that is seen to live.
 *
 * @param run    names this run
 * @param expiry LEASE_EXPIRY; less in tests
 * @param out    give back with lease_drop
 * @return 0; ERR_CONFLICT with whose it is; ERR_IO
 */
int lease_take(const char *file, const char *run, double expiry, struct lease **out);

/** Keep the lease of the launcher moving, as rank 0. ERR_CONFLICT when it is another run's. */
int lease_join(const char *file, const char *run, struct lease **out);

/** Add processes to those it names. ERR_IO. */
int lease_add(struct lease *lease, const struct lease_process *process, int count);

/** Leave the run's exit code for the launcher, where the journal takes nothing. ERR_IO. */
int lease_write_end(struct lease *lease, int code);

/** Seconds since the lease was last seen to be ours. */
double lease_age(const struct lease *lease);

/** Whether it was seen to be another's, or to be gone. */
bool lease_is_lost(const struct lease *lease);

/**
 * Whether its holder may write now: it was ours LEASE_COMMIT_LIMIT seconds ago or later. A
 * process that was stopped and woken waits some seconds for a new look.
 *
 * @return 0 or ERR_CONFLICT
 */
int lease_check(const struct lease *lease);

/** Stop moving it; who took it removes it. NULL is legal. */
void lease_drop(struct lease *lease);

/** Read the lease of a file. @param out free with lease_info_clear; found = false without one
 */
int lease_read(const char *file, struct lease_info *out);

/** Free; legal on a zeroed object. */
void lease_info_clear(struct lease_info *info);

#endif
