/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "runner/reuse.h"

#include <inttypes.h>
#include <sys/stat.h>

#include "kernels/base/clock.h"
#include "kernels/base/log.h"
#include "kernels/base/status.h"
#include "runner/stop.h"

#define SAY_PERIOD 10.0 /* s between two words on how far it is */

/* What is being taken over. */
struct transfer {
    const struct prepared *prepared;
    struct reuse *reuse;
    struct journal *journal;
    const struct selection *selection; /* NULL: all */
    int64_t taken, damaged, left;
    double said;
};

static bool is_same_file(const char *a, const char *b)
{
    struct stat x;
    struct stat y;
    return stat(a, &x) == 0 && stat(b, &y) == 0 && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

int reuse_find(const struct prepared *p, struct reuse **out)
{
    const struct run_options *options = p->options;
    *out = NULL;
    if (options->reuse == NULL)
        return 0;
    TRY(options_check_file(options->reuse));
    if (!options->fresh && is_same_file(options->reuse, options->file))
        FAIL(ERR_ARGUMENT,
             "--reuse: %s is the result file itself: give another one by -o, or --fresh, which "
             "moves it aside and takes over what it has",
             options->reuse);
    return reuse_open(options->reuse, &p->spec->store, out);
}

static int transfer_member(struct transfer *t, int64_t member)
{
    enum reuse_outcome outcome = REUSE_ABSENT;
    TRY(reuse_member(t->reuse, member, &outcome));
    t->left += outcome == REUSE_ABSENT || outcome == REUSE_DAMAGED;
    t->damaged += outcome == REUSE_DAMAGED;
    if (outcome != REUSE_TAKEN)
        return 0;
    t->taken++;
    const double now = clock_wall();
    if (now - t->said > SAY_PERIOD) {
        t->said = now;
        log_info("--reuse: %" PRId64 " members taken over so far", t->taken);
    }
    return journal_write_members(t->journal, member, 1, "reused", "");
}

static int transfer_all(struct transfer *t)
{
    const struct store_window *const part = &t->prepared->spec->store.window;
    const int64_t end = part->first + part->count;
    for (int64_t member = part->first; member < end && stop_signal() == 0; member++)
        if (selection_has(t->selection, member))
            TRY(transfer_member(t, member));
    return 0;
}

static void say_end(const struct transfer *t)
{
    const char *const from = t->prepared->options->reuse;
    if (stop_signal() != 0)
        log_info("--reuse: stopped after %" PRId64 " members of %s", t->taken, from);
    else
        log_info("--reuse: %" PRId64 " member%s taken over from %s, %" PRId64
                 " left to compute",
                 t->taken, t->taken == 1 ? "" : "s", from, t->left);
    if (t->damaged > 0)
        log_warn("%s: %" PRId64 " member%s damaged there and not taken over", from, t->damaged,
                 t->damaged == 1 ? " is" : "s are");
}

int reuse_members(const struct prepared *p, struct reuse *reuse)
{
    const char *const file = p->options->file;
    struct transfer t = {.prepared = p,
                         .reuse = reuse,
                         .selection = p->options->only != NULL ? &p->selection : NULL,
                         .said = clock_wall()};
    if (reuse == NULL)
        return 0;
    int rc = reuse_begin(reuse, file);
    if (rc == 0)
        rc = journal_open(file, p->run, -1, &t.journal);
    if (rc == 0)
        rc = transfer_all(&t);
    const int closed = reuse_close(reuse);
    rc = rc != 0 ? rc : closed;
    if (rc == 0)
        rc = journal_write_reuse(t.journal, p->options->reuse, t.taken, t.damaged);
    const int written = journal_close(t.journal);
    rc = rc != 0 ? rc : written;
    if (rc == 0 && t.taken > 0)
        rc = store_finish(file, -1, 0, ""); /* it may be complete */
    if (rc == 0)
        say_end(&t);
    return rc;
}
