/* SPDX-License-Identifier: GPL-3.0-or-later */
/* When a worker checks its own kernels, and what follows (runner/self_check.h). */
#include <stdio.h>

#include "kernels/base/fault.h"
#include "kernels/base/log.h"
#include "kernels/base/status.h"
#include "runner/self_check.h"
#include "runner/slot.h"
#include "runner/worker_parts.h"

bool worker_check_due(const struct worker *w)
{
    const long every = w->options->self_check;
    return every > 0 && (!w->check.made || w->check.members >= every);
}

/* A point that no kernels could make steps of leaves the matter open. */
static int run_check(struct worker *w, struct self_check *out)
{
    char text[STORE_REASON_SIZE];
    *out = (struct self_check){.within = true};
    scan_point(w->scan, w->check.point, &w->params);
    const struct status_saved saved = status_capture_save();
    status_capture(text, sizeof text);
    int rc = slot_backend(w);
    if (rc == 0)
        rc = self_check_run(w->ops, &w->params, w->backend, out);
    if (rc == 0)
        rc = wisdom_share(&w->wisdom, w->backend);
    status_capture_restore(saved);
    if (rc == ERR_ARGUMENT || rc == ERR_UNSUPPORTED) {
        log_debug("self-check of point %lld: %s", (long long)w->check.point, text);
        return 0;
    }
    if (rc != 0)
        FAIL(rc, "%s", text);
    return 0;
}

int worker_check(struct worker *w, bool asked)
{
    struct self_check found;
    const enum work_part before = stopwatch_switch(&w->watch, PART_ADVANCE);
    TRY(run_check(w, &found));
    stopwatch_switch(&w->watch, before);
    w->check.asked = false;
    if (!found.compared && !asked)
        return 0; /* the next point may do */
    w->check.made = w->check.made || found.compared;
    w->check.members = 0;
    w->check.failed = !found.within;
    w->report.check = !found.compared ? CHECK_VOID : found.within ? CHECK_PASSED : CHECK_FAILED;
    snprintf(w->report.check_text, sizeof w->report.check_text, "%s", found.text);
    return worker_flush(w);
}
