/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The controller's part in self-checks: it asks for the last ones, and takes results back. */
#include <inttypes.h>

#include "kernels/base/log.h"
#include "kernels/base/status.h"
#include "runner/peer.h"
#include "runner/withdraw.h"

static int take_back(struct controller *c, int64_t *count)
{
    struct store *store = NULL;
    TRY(store_open(c->prepared->options->file, &store));
    const int rc = withdraw_members(store, c->dispatch, count);
    const int closed = store_close(store);
    return rc != 0 ? rc : closed;
}

/* Before anything else is read or given: others must not find what is taken back. */
static void settle(struct controller *c, int from, const char *figures)
{
    int64_t count = 0;
    char text[STORE_REASON_SIZE];
    const struct status_saved saved = status_capture_save();
    status_capture(text, sizeof text);
    const int rc = take_back(c, &count);
    status_capture_restore(saved);
    if (rc != 0) { /* the next start finds in the journal what is left to do */
        dispatch_fail(c->dispatch, rc, text);
        return;
    }
    progress_wipe(&c->dispatch->progress);
    log_warn(
        "rank %d on %s fails its self-check and is parked; what it computed since its last "
        "good one, or has begun, is computed again (%" PRId64 " member%s): %s",
        from, peer_host(c, from), count, count == 1 ? "" : "s", figures);
    dispatch_note_worker(c->dispatch, from, peer_host(c, from),
                         (long)c->names[from].process.pid, WITHDRAW_DONE);
}

void peer_note_check(struct controller *c, int from, const struct message_report *report)
{
    struct peer *const peer = &c->peer[from];
    if (report->check == CHECK_NONE)
        return;
    peer->asked = false;
    if (report->check == CHECK_FAILED) {
        settle(c, from, report->check_text);
    } else if (report->check == CHECK_VOID) {
        log_warn("rank %d on %s: no self-check was possible: its points make no steps", from,
                 peer_host(c, from));
    } else if (!peer->checked) {
        peer->checked = true;
        progress_wipe(&c->dispatch->progress);
        log_info("rank %d on %s passes its self-check: %s", from, peer_host(c, from),
                 report->check_text);
        dispatch_note_worker(c->dispatch, from, peer_host(c, from),
                             (long)c->names[from].process.pid, "checked");
    }
}

int peer_ask_checks(struct controller *c)
{
    const struct message message = message_make(MESSAGE_CHECK, c->comm->attempt);
    for (int r = 1; r < c->comm->size && c->dispatch->checks.unchecked > 0; r++) {
        struct peer *const peer = &c->peer[r];
        if (peer->phase != WORKER_READY || peer->asked || !outbox_has_room(&peer->tasks)
            || !dispatch_wants_check(c->dispatch, &peer->held))
            continue;
        TRY(outbox_send(&peer->tasks, c->comm->tasks, r, &message));
        peer->asked = true;
    }
    return 0;
}
