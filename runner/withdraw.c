/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "runner/withdraw.h"

#include "io/reduce.h"
#include "io/resume.h"
#include "kernels/base/status.h"

int withdraw_members(struct store *store, struct dispatch *dispatch, int64_t *count)
{
    int64_t member = 0;
    *count = 0;
    while (dispatch_next_withdrawn(dispatch, &member)) {
        if (dispatch->left != NULL)
            TRY(reduce_forget(store, member / scan_realisations(dispatch->scan)));
        /* The checkpoint first: a killed process must leave nothing to go on from. */
        TRY(resume_drop_member(store, member));
        TRY(store_reset_member(store, member));
        ++*count;
    }
    return 0;
}
