/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef RUNNER_LEASE_PRIVATE_H
#define RUNNER_LEASE_PRIVATE_H

#include <stdbool.h>
#include <stddef.h>

#include "runner/lease.h"
#include "runner/run.h"

/* Inside of the lease: what its text and its life share. */

/* The first lines, of which two are written over in place: no room is needed on a full disk. */
#define LEASE_HEAD      "scanfarm lease 1\ncounter: "
#define LEASE_DIGITS    20
#define LEASE_END       "\nend: "
#define LEASE_END_SIZE  3
#define LEASE_PROCESS   "process: "
#define LEASE_PATH_SIZE (RUN_PATH_SIZE + 160)

/** The line of one process. @return its length, as snprintf */
int lease_text_add(const struct lease_process *process, char *text, size_t size);

/** Read such a line; false for what is none. */
bool lease_text_process(const char *line, struct lease_process *out);

/** The text of a new lease. @return its length, as snprintf */
int lease_text_make(const struct lease_process *self, const char *run, char *text, size_t size);

#endif
