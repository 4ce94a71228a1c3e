/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "runner/run.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "io/read.h"
#include "kernels/base/clock.h"
#include "kernels/base/log.h"
#include "kernels/base/mem.h"
#include "kernels/base/status.h"
#include "runner/attempt.h"
#include "runner/controller.h"
#include "runner/early.h"
#include "runner/launch.h"
#include "runner/prepare.h"
#include "runner/ranks.h"
#include "runner/run_options.h"
#include "runner/serial.h"
#include "runner/stop.h"

#define RELAUNCH_LEAST 30.0 /* s before the time limit, for which nothing is started again */

static void note_binding(void)
{
    const char *name = NULL;
    const char *value = early_binding(&name);
    if (value != NULL)
        log_info("%s=%s is not used: workers are bound to cores by scanfarm", name, value);
}

static void explain_death(const struct launch_end *launch, bool begun, struct attempt_end *end)
{
    char *text = end->text;
    const size_t size = sizeof end->text;
    end->code = status_exit_code(ERR_MPI);
    if (launch->ended && !launch->late)
        snprintf(text, size, "the ranks died or hung, and were ended");
    else if (launch->signal != 0)
        snprintf(text, size, "the starter of the ranks was killed by %s",
                 stop_signal_name(launch->signal));
    else if (launch->late)
        snprintf(text, size, "the ranks did not begin in time and were ended");
    else if (launch->exit_code == 127)
        snprintf(text, size, "the starter of the ranks could not be started");
    else if (!begun)
        snprintf(text, size,
                 "the starter of the ranks ended with code %d before the farm had begun; with "
                 "--verbose it says why",
                 launch->exit_code);
    else if (launch->exit_code > 128)
        snprintf(text, size, "a rank died of %s", stop_signal_name(launch->exit_code - 128));
    else
        snprintf(text, size, "the controller died: the ranks ended with no end of the run");
    log_error("%s; the file is whole, the same command continues", text);
}

/* Without an `end` record: what became of the ranks. */
static void explain_end(const struct prepared *p, const struct launch_end *launch,
                        struct attempt_end *end)
{
    struct journal_summary summary;
    const bool begun = journal_read_summary(p->options->file, &summary) == 0 && summary.found
                       && strcmp(summary.run, p->run) == 0;
    if (launch->stopped && !begun) {
        snprintf(end->text, sizeof end->text, "stopped on request before the farm had started");
        end->code = EXIT_STOPPED;
    } else if (launch->left >= 0) { /* rank 0 has said why, if there was anything to say */
        snprintf(end->text, sizeof end->text,
                 "the farm ended with code %d, and the journal has no record of it",
                 launch->left);
        end->code = launch->left;
    } else {
        explain_death(launch, begun, end);
    }
}

/* The number of this run's attempt, -1 when it never began. */
static int attempt_of(const struct prepared *p)
{
    struct journal_summary summary;
    if (journal_read_summary(p->options->file, &summary) != 0 || !summary.found
        || strcmp(summary.run, p->run) != 0)
        return -1;
    return (int)summary.attempt;
}

/* Whether starting the ranks again may help: they died, all or the last worker of all, or no
 * device works any more, which a new process may find in order. */
static bool is_death(const struct prepared *p, const struct launch_end *launch,
                     const struct journal_end *record)
{
    const double deadline = p->options->deadline;
    if (launch->stopped || launch->twice || launch->late)
        return false;
    if (deadline > 0 && (double)time(NULL) > deadline - RELAUNCH_LEAST)
        return false;
    return (!record->found && launch->left < 0)
           || strncmp(record->text, CONTROLLER_ALONE, strlen(CONTROLLER_ALONE)) == 0
           || strncmp(record->text, DISPATCH_OUT_OF_REACH, strlen(DISPATCH_OUT_OF_REACH)) == 0;
}

static void run_launched(struct prepared *p, const struct starter *starter,
                         struct attempt_end *end, bool *died)
{
    struct launch_end launch;
    struct journal_end record;
    if (starter->note[0] != '\0')
        log_info("%s", starter->note);
    const int rc = launch_ranks(p, starter, &launch);
    if (rc != 0) {
        end->code = status_exit_code(rc);
        return;
    }
    if (journal_read_end(p->options->file, p->run, &record) != 0)
        record.found = false;
    end->code = record.code;
    const int attempt = record.found ? (int)record.attempt : attempt_of(p);
    snprintf(end->text, sizeof end->text, "%s", record.found ? record.text : "");
    if (launch.twice) {
        end->code = EXIT_INTERRUPTED_TWICE;
        snprintf(end->text, sizeof end->text, "interrupted twice");
    } else if (!record.found) {
        explain_end(p, &launch, end);
    }
    *died = is_death(p, &launch, &record);
    if (attempt >= 0 || launch.left >= 0)
        attempt_finish(p->options, attempt, end);
    if (!record.found && journal_open(p->options->file, p->run, attempt, &p->journal) == 0)
        attempt_write_end(p, end);
}

static void run_serial(struct prepared *p, struct attempt_end *end)
{
    int attempt = -1;
    serial_run(p, &attempt);
    end->code = dispatch_code(&p->dispatch, end->text, sizeof end->text);
    if (p->dispatch.error != 0 && end->text[0] != '\0')
        log_error("%s", end->text);
    attempt_close(p, attempt, end);
}

static void run_pending(struct prepared *p, const struct starter *starter,
                        struct attempt_end *end, bool *died)
{
    if (p->options->mode == RUN_LAUNCH)
        run_launched(p, starter, end, died);
    else
        run_serial(p, end);
}

/* What a file with all its members done may lack: the word that all is done, any attempt. */
struct lacks {
    bool end;
    bool attempt;
};

static int find_lacks(const char *file, struct lacks *out)
{
    struct store *store = NULL;
    const int64_t none = 0;
    double complete = 0;
    char *build = NULL;
    TRY(store_open_read(file, &store));
    int rc = read_block(store, "complete", &none, &none, &complete);
    if (rc == 0)
        rc = read_text(store, "provenance/build", &build);
    out->end = rc == 0 && complete == 0;
    out->attempt = rc == 0 && build[0] == '\0';
    mem_free(build);
    const int closed = store_close(store);
    return rc != 0 ? rc : closed;
}

/*
 * Nothing is left to compute. A run that was killed after its last member has left the last
 * word to this one. Where all members were taken over this is an attempt: the file tells its
 * program.
 */
static int finish_idle(struct prepared *p, struct attempt_end *end)
{
    struct lacks lacks;
    int attempt = -1;
    end->code = dispatch_code(&p->dispatch, end->text, sizeof end->text);
    end->idle = true;
    TRY(find_lacks(p->options->file, &lacks));
    if (lacks.attempt) {
        TRY(attempt_begin(p, "members taken over, no worker", 0, &attempt));
        attempt_close(p, attempt, end);
    } else if (lacks.end) {
        return store_finish(p->options->file, -1, 0, "");
    }
    return 0;
}

/* Everything before and after one farm. Returns its exit code. */
static int run_once(struct run_options *options, double begin, bool *died)
{
    struct prepared p = {0};
    struct attempt_end end = {0};
    struct starter starter = {0};
    int rc = prepare_scan(options, &p);
    if (rc == 0 && options->mode == RUN_LAUNCH)
        rc = starter_choose(options->launcher, &starter);
    if (rc == 0)
        rc = prepare_file(&p);
    end.code = status_exit_code(rc);
    if (rc == 0) {
        if (dispatch_pending(&p.dispatch) == 0) {
            rc = finish_idle(&p, &end);
            if (rc != 0)
                end.code = status_exit_code(rc);
        } else {
            prepare_warn(&p);
            run_pending(&p, &starter, &end, died);
        }
        rc = attempt_summary(&p, clock_wall() - begin, &end);
        if (rc != 0 && (end.code == 0 || end.code == EXIT_MEMBERS_FAILED))
            end.code = status_exit_code(rc);
    }
    prepare_clear(&p);
    return end.code;
}

/* The process that the user started. */
static int run_front(struct run_options *options, double begin)
{
    stop_catch(true);
    for (int again = 1;; again++) {
        bool died = false;
        const int code = run_once(options, begin, &died);
        if (!died || again > options->relaunch || stop_signal() != 0)
            return code;
        log_warn("starting the farm again, %d of %d", again, options->relaunch);
        options->fresh = false;
        options->retry_failed = false;
    }
}

int run_command(int argc, char **argv)
{
    const double begin = clock_wall();
    struct run_options options;
    bool help = false;
    char text[RUN_PATH_SIZE];
    const bool told = run_options_are_told();
    if (told)
        status_capture(text, sizeof text);
    const int rc = run_options_read(argc, argv, &options, &help);
    status_capture(NULL, 0);
    if (rc != 0 && told)
        return 0; /* with a code mpirun would end rank 0 before it has spoken */
    if (rc != 0 || help)
        return options_exit(rc);
    log_set_level(options.verbose ? LOG_DEBUG : options.quiet ? LOG_WARN : LOG_INFO);
    if (options.mode == RUN_RANK || options.mode == RUN_BY_HAND) {
        stop_catch(false);
        return ranks_run(&options, begin);
    }
    note_binding();
    return run_front(&options, begin);
}
