/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef RUNNER_RERUN_H
#define RUNNER_RERUN_H

#include "kernels/model.h"
#include "scans/scan.h"

/* Members computed once more in this process, one after the other, without a file. */

struct rerun;

/* Whoever looks at the planes. */
struct rerun_look {
    /* A member stands on a plane. @param buffers all arrays and observables of it */
    int (*plane)(void *context, const struct plane_layout *layout,
                 const struct row_status *status, const struct plane_buffers *buffers);
    void *context;
};

/**
 * Make ready to compute members of a scan.
 *
 * @param scan    borrowed; with the contents of its inputs
 * @param wisdom  FFTW wisdom of the run that is repeated, "" without; borrowed
 * @param out     free with rerun_destroy
 * @return 0, ERR_MEMORY, ERR_DEVICE
 */
int rerun_create(const struct scan *scan, const char *wisdom, struct rerun **out);

/** How the last member was computed, as /member/kernel_id has it. Borrowed. */
const char *rerun_kernel_id(const struct rerun *rerun);

/**
 * Compute a member from its start, and show each of its planes.
 *
 * @param status  receives how it ended, with counters; a member that fails is a result
 * @return 0, what look->plane returned, ERR_MEMORY, ERR_DEVICE
 */
int rerun_member(struct rerun *rerun, int64_t member, const struct rerun_look *look,
                 struct row_status *status);

/**
 * Make the accepted steps of a member once more, as a replay does, in place of its own.
 *
 * @param step   [count] its trial steps, of which the accepted ones are made
 * @param error  receives the largest error that one of them has here, in tolerances
 * @return as rerun_member; ERR_ARGUMENT for steps that are none of this member
 */
int rerun_replay(struct rerun *rerun, int64_t member, const struct step_record *step,
                 long count, const struct rerun_look *look, struct row_status *status,
                 double *error);

/** Free; NULL is legal. */
void rerun_destroy(struct rerun *rerun);

#endif
