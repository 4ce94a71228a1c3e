/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef RUNNER_LOG_FILE_H
#define RUNNER_LOG_FILE_H

#include <stdint.h>

#include "io/store.h"

/* Counts of a member, in the order of log_count_name. */
enum log_count {
    LOG_ATTEMPTS,
    LOG_RANK,
    LOG_STEPS,
    LOG_REJECTED,
    LOG_RHS_CALLS,
    LOG_TRANSFORMS,
    LOG_TRUNCATED,
    LOG_COUNTS
};

/* What the file says of one member. */
struct log_member {
    int64_t member, point, realisation;
    int state; /* enum member_state */
    int64_t saved, planes;
    int64_t count[LOG_COUNTS];
    double wall, cpu; /* s */
    char reason[STORE_REASON_SIZE + 1];
    char host[128];
    char device[128];
    char kernel[160];
};

/** Column of /member: "attempts", "rank", "steps", … */
const char *log_count_name(enum log_count count);

/** Read a member's row of a file. ERR_ARGUMENT for a member that it has not. */
int log_member_read(const char *path, int64_t member, struct log_member *out);

#endif
