/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "io/store_private.h"
#include "io/verdict.h"
#include "kernels/base/status.h"

int store_read_tries(struct store *store, int64_t first, int64_t count, int32_t *tries)
{
    TRY(store_check_members(store, first, count));
    return h5_read_rows(&store->column[COLUMN_ATTEMPTS], first, count, tries);
}

int store_retry_member(struct store *store, int64_t member)
{
    static const char reason[STORE_REASON_SIZE];
    const int64_t none = 0;
    const uint8_t pending = MEMBER_PENDING;
    TRY(store_check_member(store, member));
    /* The state last: its try is counted already, that of a pending member with planes is not.
     */
    TRY(store_put_row(store, &store->column[COLUMN_N_SAVED], member, &none));
    TRY(store_put_row(store, &store->column[COLUMN_REASON], member, reason));
    TRY(verdict_forget(store, member));
    return store_put_row(store, &store->column[COLUMN_STATE], member, &pending);
}
