/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef RUNNER_VERIFY_AGAIN_H
#define RUNNER_VERIFY_AGAIN_H

#include "runner/verifying.h"

/* A member computed once more beside its stored planes. Private to runner/verify*.c. */

/* What is compared with what, and the worst so far. */
struct again {
    struct verifying *v;
    const struct scan *scan; /* whose envelope counts */
    int64_t member;
    bool *judged;    /* [planes] by the envelope */
    bool windowless; /* class N, and no plane is known to be worth it */
    double
        bound; /* of two runs in the norm: safety times twice the tolerance; 0: none stated */
    double *plane[2]; /* [room] stored, computed */
    long room;
    bool compared;                     /* something was */
    struct verify_offender rounding;   /* class R */
    struct verify_offender difference; /* class T */
};

/** Free the room. */
void again_clear(struct again *again);

/** Compare a plane that the member stands on: look->plane of rerun.h. @param context again */
int again_plane(void *context, const struct plane_layout *layout,
                const struct row_status *status, const struct plane_buffers *buffers);

#endif
