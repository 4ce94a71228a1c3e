/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "runner/ranks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <mpi.h>

#include "io/hash.h"
#include "kernels/base/clock.h"
#include "kernels/base/fault.h"
#include "kernels/base/log.h"
#include "kernels/base/mem.h"
#include "kernels/base/status.h"
#include "runner/attempt.h"
#include "runner/comm.h"
#include "runner/controller.h"
#include "runner/early.h"
#include "runner/farm_worker.h"
#include "runner/inputs.h"
#include "runner/lease.h"
#include "runner/placement.h"
#include "runner/prepare.h"
#include "runner/settle.h"
#include "runner/wisdom.h"

#define LINE_SIZE 320

/* s of what is collective: where one rank dies in it the others would wait for ever, and
 * SIGALRM ends them. */
#define START_LIMIT 180
#define END_LIMIT   60

/* What rank 0 tells all ranks at start-up. */
struct start {
    int code; /* enum status_code: nothing will be run */
    int touched;
    long canonical; /* bytes of the two texts that follow, with their NUL */
    long wisdom;
    long resume;  /* bytes of the table of checkpoints after them */
    long inputs;  /* bytes of the data that the scan names, sent apart */
    int64_t open; /* tasks that take a row */
    uint64_t attempt_id;
    struct process_id controller;
    char file[RUN_PATH_SIZE];
};

/* One rank's things. */
struct rank {
    struct run_options *options;
    const char *run;
    struct comm comm;
    struct start start;
    struct prepared prepared; /* of ranks above 0: the scan and the wisdom only */
    struct settled settled;
    char host[CONTROLLER_HOST_SIZE];
    struct rank_name *names; /* rank 0 */
    char *layout;            /* rank 0: text for /provenance */
    int attempt;
    bool unrecorded;              /* rank 0: the journal did not take the end of the run */
    char text[JOURNAL_TEXT_SIZE]; /* rank 0: what failed */
};

static int begin_mpi(struct rank *r)
{
    int provided = 0;
    TRY(comm_check(MPI_Init_thread(NULL, NULL, MPI_THREAD_MULTIPLE, &provided), "MPI_Init"));
    MPI_Comm_rank(MPI_COMM_WORLD, &r->comm.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &r->comm.size);
    gethostname(r->host, sizeof r->host - 1);
    log_set_writer(r->comm.rank, r->host);
    if (r->comm.rank > 0 && !r->options->verbose)
        log_set_level(LOG_WARN);
    fault_set_rank(r->comm.rank);
    if (provided < MPI_THREAD_MULTIPLE)
        FAIL(ERR_MPI,
             "this MPI does not allow several threads (MPI_THREAD_MULTIPLE, it gives "
             "level %d): a worker needs two",
             provided);
    TRY(comm_check(MPI_Comm_dup(MPI_COMM_WORLD, &r->comm.tasks), "MPI_Comm_dup"));
    TRY(comm_check(MPI_Comm_dup(MPI_COMM_WORLD, &r->comm.side), "MPI_Comm_dup"));
    MPI_Comm_set_errhandler(r->comm.tasks, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(r->comm.side, MPI_ERRORS_RETURN);
    r->options->workers = r->comm.size - 1;
    return 0;
}

/* Rank 0: the scan and the file, by a launcher already made or made here. */
static int prepare(struct rank *r)
{
    struct prepared *p = &r->prepared;
    TRY(prepare_scan(r->options, p));
    if (r->run == NULL)
        return prepare_file(p);
    snprintf(p->run, sizeof p->run, "%s", r->run);
    TRY(lease_join(r->options->file, p->run, &p->lease));
    TRY(spec_create(p->scan, &p->spec));
    return prepare_dispatch(p);
}

static void fill_start(struct rank *r)
{
    const struct prepared *p = &r->prepared;
    r->start.touched = p->dispatch.touched;
    r->start.open = dispatch_pending_rows(&p->dispatch);
    r->start.canonical = (long)strlen(scan_canonical(p->scan)) + 1;
    r->start.wisdom = (long)strlen(p->wisdom) + 1;
    r->start.resume = (long)p->resume.count * (long)sizeof *p->resume.place;
    r->start.inputs = (long)inputs_packed_size(p->scan);
    r->start.attempt_id = hash_64(p->run, strlen(p->run));
    r->start.controller = process_self();
    snprintf(r->start.file, sizeof r->start.file, "%s", r->options->file);
}

/* The table of checkpoints out of the shared bytes. */
static int take_resume(struct rank *r, const char *bytes)
{
    struct resume_table *table = &r->prepared.resume;
    table->count = (int)(r->start.resume / (long)sizeof *table->place);
    TRY(MEM_NEW(table->count, &table->place));
    if (table->count > 0)
        memcpy(table->place, bytes, (size_t)r->start.resume);
    return 0;
}

/* Ranks above 0: what rank 0 has read. */
static int take_texts(struct rank *r, const char *text)
{
    struct prepared *p = &r->prepared;
    const char *const wisdom = text + r->start.canonical;
    p->options = r->options;
    TRY(scan_parse_canonical(text, (size_t)r->start.canonical - 1, &p->scan));
    TRY(mem_copy_text(wisdom, &p->wisdom));
    return take_resume(r, wisdom + r->start.wisdom);
}

/* The canonical text, the wisdom and the table of checkpoints go to all ranks. */
static int share_texts(struct rank *r)
{
    struct prepared *p = &r->prepared;
    char *text = NULL;
    const long size = r->start.canonical + r->start.wisdom + r->start.resume;
    TRY(MEM_NEW(size, &text));
    if (r->comm.rank == 0) {
        char *const wisdom = text + r->start.canonical;
        memcpy(text, scan_canonical(p->scan), (size_t)r->start.canonical);
        memcpy(wisdom, p->wisdom, (size_t)r->start.wisdom);
        if (r->start.resume > 0)
            memcpy(wisdom + r->start.wisdom, p->resume.place, (size_t)r->start.resume);
    }
    int rc =
        comm_check(MPI_Bcast(text, (int)size, MPI_CHAR, 0, r->comm.tasks), "sharing the scan");
    if (rc == 0 && r->comm.rank > 0)
        rc = take_texts(r, text);
    mem_free(text);
    return rc;
}

/* What the scan's data parameters hold. */
static int share_inputs(struct rank *r)
{
    char *bytes = NULL;
    if (r->start.inputs == 0)
        return 0;
    TRY(MEM_NEW(r->start.inputs, &bytes));
    if (r->comm.rank == 0)
        inputs_pack(r->prepared.scan, bytes);
    int rc = comm_check(MPI_Bcast(bytes, (int)r->start.inputs, MPI_BYTE, 0, r->comm.tasks),
                        "sharing the data");
    if (rc == 0 && r->comm.rank > 0)
        rc = inputs_unpack(r->prepared.scan, bytes, (size_t)r->start.inputs);
    mem_free(bytes);
    return rc;
}

/* The worst code of all ranks, so that all end together. */
static int agree(const struct rank *r, int code)
{
    int worst = 0;
    TRY(comm_check(MPI_Allreduce(&code, &worst, 1, MPI_INT, MPI_MAX, r->comm.tasks),
                   "starting up"));
    return worst;
}

static int share_start(struct rank *r)
{
    if (r->comm.rank == 0) {
        r->start.code = prepare(r);
        if (r->start.code == 0)
            fill_start(r);
    }
    TRY(comm_check(MPI_Bcast(&r->start, (int)sizeof r->start, MPI_BYTE, 0, r->comm.tasks),
                   "sharing the scan"));
    if (r->start.code != 0)
        return r->start.code;
    r->comm.attempt = r->start.attempt_id;
    r->comm.controller = r->start.controller;
    snprintf(r->options->file, sizeof r->options->file, "%s", r->start.file);
    TRY(agree(r, share_texts(r)));
    return agree(r, share_inputs(r));
}

/* The error of whichever rank has one, told by rank 0 alone: many ranks say the same. */
static int agree_told(struct rank *r, int code, const char *text)
{
    struct told {
        int code;
        int alike; /* ranks that fail */
        char text[JOURNAL_TEXT_SIZE];
    } told = {.code = code};
    const int mine = code != 0 ? r->comm.rank : r->comm.size;
    const int one = code != 0;
    int first = 0;
    TRY(comm_check(MPI_Allreduce(&mine, &first, 1, MPI_INT, MPI_MIN, r->comm.tasks),
                   "starting up"));
    if (first == r->comm.size)
        return 0;
    TRY(comm_check(MPI_Allreduce(&one, &told.alike, 1, MPI_INT, MPI_SUM, r->comm.tasks),
                   "starting up"));
    const int alike = told.alike;
    snprintf(told.text, sizeof told.text, "%s", text);
    TRY(comm_check(MPI_Bcast(&told, (int)sizeof told, MPI_BYTE, first, r->comm.tasks),
                   "starting up"));
    if (r->comm.rank > 0)
        return told.code;
    if (alike > 1)
        FAIL(told.code, "rank %d and %d more: %.900s", first, alike - 1, told.text);
    FAIL(told.code, "rank %d: %.900s", first, told.text);
}

static int place(struct rank *r)
{
    char text[JOURNAL_TEXT_SIZE] = "";
    const struct status_saved saved = status_capture_save();
    status_capture(text, sizeof text);
    const int rc = settle_rank(&r->comm, r->options, r->prepared.scan, &r->settled);
    status_capture_restore(saved);
    if (rc == 0 && r->settled.first) {
        struct wisdom wisdom;
        wisdom_init(&wisdom, r->options->file, r->host, "");
        wisdom_unclaim(&wisdom);
    }
    return agree_told(r, rc, text);
}

/* What is to be said of the workers' devices: each text once. */
static int tell_notes(const struct rank *r)
{
    char *all = NULL;
    if (r->comm.rank == 0)
        TRY(MEM_NEW((long)r->comm.size * DEVICE_TEXT_SIZE, &all));
    TRY(comm_check(MPI_Gather(r->settled.note, DEVICE_TEXT_SIZE, MPI_CHAR, all,
                              DEVICE_TEXT_SIZE, MPI_CHAR, 0, r->comm.tasks),
                   "starting up"));
    for (int i = 1; r->comm.rank == 0 && i < r->comm.size; i++) {
        const char *const text = all + (size_t)i * DEVICE_TEXT_SIZE;
        int before = 1;
        while (strcmp(text, all + (size_t)before * DEVICE_TEXT_SIZE) != 0)
            before++;
        if (text[0] != '\0' && before == i)
            log_info("%s", text);
    }
    mem_free(all);
    return 0;
}

/* Rank 0 gets everybody's host and process, and a line of text for the file. */
static int gather_names(struct rank *r)
{
    struct rank_name name = {.process = process_self()};
    char line[LINE_SIZE] = "";
    char cores[96] = "not bound";
    char device[96] = "";
    char *lines = NULL;
    memcpy(name.host, r->host, sizeof name.host);
    if (r->comm.rank > 0)
        placement_text(&r->settled.placement.mask, cores, sizeof cores);
    device_text(&r->settled.device, device, sizeof device);
    snprintf(line, sizeof line, "rank %d: %s, cores %s, %s%s%s", r->comm.rank, r->host, cores,
             r->comm.rank == 0 ? "controller" : "worker", device[0] != '\0' ? ", " : "",
             device);
    if (r->comm.rank == 0) {
        TRY(MEM_NEW(r->comm.size, &r->names));
        TRY(MEM_NEW((long)r->comm.size * LINE_SIZE, &lines));
        TRY(MEM_NEW((long)r->comm.size * LINE_SIZE, &r->layout));
    }
    TRY(comm_check(MPI_Gather(&name, (int)sizeof name, MPI_BYTE, r->names, (int)sizeof name,
                              MPI_BYTE, 0, r->comm.tasks),
                   "starting up"));
    TRY(comm_check(
        MPI_Gather(line, LINE_SIZE, MPI_CHAR, lines, LINE_SIZE, MPI_CHAR, 0, r->comm.tasks),
        "starting up"));
    for (int i = 0; r->comm.rank == 0 && i < r->comm.size; i++) {
        const size_t used = strlen(r->layout);
        snprintf(r->layout + used, (size_t)r->comm.size * LINE_SIZE - used, "%s%s",
                 i > 0 ? "\n" : "", lines + (size_t)i * LINE_SIZE);
    }
    mem_free(lines);
    return 0;
}

/* The lease names all processes that may write; from here on nothing is collective. */
static int list_ranks(struct rank *r)
{
    struct lease_process *list = NULL;
    if (r->comm.rank > 0)
        return 0;
    TRY(MEM_NEW(r->comm.size, &list));
    for (int i = 0; i < r->comm.size; i++) {
        list[i].id = r->names[i].process;
        memcpy(list[i].host, r->names[i].host, sizeof list[i].host);
    }
    const int rc = lease_add(r->prepared.lease, list, r->comm.size);
    mem_free(list);
    return rc;
}

static void tell_binding(void)
{
    struct core_list cores = {0};
    if (core_list_read(early_allowed(), &cores) == 0 && placement_is_unconfined(cores.count))
        log_info("Slurm gives this job %s CPUs of a node and confines it to none of the %d "
                 "cores: workers are not bound",
                 getenv("SLURM_CPUS_ON_NODE"), cores.count);
    core_list_clear(&cores);
}

static void warn_start(const struct rank *r)
{
    const struct prepared *p = &r->prepared;
    const double quota = placement_quota();
    if (r->run == NULL)
        log_warn("started by hand: without mpirun's --enable-recovery the death of a rank ends "
                 "all, nobody starts them again, a second Ctrl-C is not waited for, and mpirun "
                 "may end all ranks 1 s after the first; `scanfarm run -n %d` starts the ranks "
                 "itself",
                 r->options->workers);
    prepare_warn(p);
    tell_binding();
    const int64_t pending = dispatch_pending(&p->dispatch);
    if (r->options->workers > pending)
        log_info("%d workers, %lld member%s to compute: some workers stay idle",
                 r->options->workers, (long long)pending, pending == 1 ? "" : "s");
    if (quota < r->options->workers)
        log_warn("the control group grants %.1f CPUs to %d workers", quota,
                 r->options->workers);
}

/* The file's attempt begins before any worker opens the file. */
static int begin_attempt(struct rank *r)
{
    int rc = 0;
    if (r->comm.rank == 0) {
        rc = attempt_begin(&r->prepared, r->layout, r->options->workers, &r->attempt);
        if (rc == 0)
            warn_start(r);
    }
    TRY(comm_check(MPI_Bcast(&r->attempt, 1, MPI_INT, 0, r->comm.tasks), "starting up"));
    return agree(r, rc);
}

/* Everything collective. All ranks return the same, but for what rank 0 does last. */
static int start_up(struct rank *r)
{
    TRY(share_start(r));
    TRY(place(r));
    TRY(tell_notes(r));
    TRY(gather_names(r));
    TRY(begin_attempt(r));
    return list_ranks(r) == 0 ? 0 : ERR_MPI; /* of rank 0 alone: the others see it end */
}

/* All workers are gone and the journal takes no record: rank 0's exit code must say it. */
static void end_unrecorded(struct rank *r, struct attempt_end *end)
{
    r->unrecorded = true;
    attempt_finish(r->options, r->attempt, end);
}

/* Rank 0 has a code for the run: the journal's `end`, and by hand also the file's end. */
static int end_run(struct rank *r, int rc, double begin)
{
    struct attempt_end end = {0};
    struct prepared *p = &r->prepared;
    const bool by_hand = r->run == NULL && rc == 0;
    if (rc != 0)
        dispatch_fail(&p->dispatch, rc, r->text);
    end.code = dispatch_code(&p->dispatch, end.text, sizeof end.text);
    if (by_hand)
        attempt_close(p, r->attempt, &end);
    else if (attempt_write_end(p, &end) != 0 && rc == 0)
        end_unrecorded(r, &end);
    if (by_hand && attempt_summary(p, clock_wall() - begin, &end) != 0
        && end.code <= EXIT_MEMBERS_FAILED)
        end.code = status_exit_code(ERR_IO);
    return end.code;
}

/* The launcher's record, also before the attempt has opened the journal. */
static void open_journal(struct rank *r)
{
    struct prepared *p = &r->prepared;
    char text[JOURNAL_TEXT_SIZE];
    status_capture(text, sizeof text);
    if (r->run != NULL && p->journal == NULL
        && journal_open(r->options->file, r->run, r->attempt, &p->journal) != 0) {
        p->journal = NULL;
        r->unrecorded = true;
    }
    status_capture(NULL, 0);
}

/* Start-up failed: the launcher still wants its code. */
static int end_early(struct rank *r, int rc)
{
    struct attempt_end end = {.code = status_exit_code(rc)};
    snprintf(end.text, sizeof end.text, "%s",
             r->text[0] != '\0' ? r->text : "the farm could not start");
    if (r->comm.rank > 0)
        return end.code;
    open_journal(r);
    if (attempt_write_end(&r->prepared, &end) != 0)
        r->unrecorded = r->run != NULL;
    if (r->attempt >= 0)
        attempt_finish(r->options, r->attempt, &end);
    return end.code;
}

static int run_worker(struct rank *r, bool *at_once)
{
    const struct farm_place place = {
        .comm = &r->comm,
        .scan = r->prepared.scan,
        .options = r->options,
        .placement = &r->settled.placement,
        .device = &r->settled.device,
        .host = r->host,
        .wisdom = r->prepared.wisdom,
        .attempt = r->attempt,
        .open = r->start.open,
        .touched = r->start.touched != 0,
        .resume = &r->prepared.resume,
    };
    return farm_worker_run(&place, at_once);
}

static void clear(struct rank *r)
{
    prepare_clear(&r->prepared);
    mem_free(r->names);
    mem_free(r->layout);
}

/* What fails on rank 0 is said once and kept for the journal. */
static void say_captured(struct rank *r)
{
    if (r->comm.rank != 0)
        return;
    status_capture(NULL, 0);
    if (r->text[0] != '\0')
        log_error("%s", r->text);
}

static int run_rank(struct rank *r, double begin, int *code, bool *at_once)
{
    int rc = 0;
    int died = 0;
    if (r->comm.rank > 0) {
        rc = run_worker(r, at_once);
        *code = status_exit_code(rc);
        return rc;
    }
    status_capture(r->text, sizeof r->text);
    rc = controller_run(&r->comm, r->names, &r->prepared, r->attempt, &died);
    say_captured(r);
    *code = end_run(r, rc, begin);
    *at_once = died > 0;
    return rc;
}

/* Without MPI_Finalize. By hand mpirun's strict way ends the others at once; the ranks of our
 * launcher see the controller gone. */
static void end_at_once(const struct rank *r, bool in_order, int code)
{
    fflush(NULL);
    if (r->run == NULL && !in_order)
        MPI_Abort(MPI_COMM_WORLD, code != 0 ? code : status_exit_code(ERR_MPI));
    _exit(code);
}

/* Whether the other ranks know of the error and end as this one does. */
static bool is_shared(int rc)
{
    return rc != ERR_MPI && rc != ERR_MEMORY && rc != ERR_BUG;
}

int ranks_run(struct run_options *options, double begin)
{
    struct rank r = {.options = options, .run = options->rank_of, .attempt = -1};
    int code = 0;
    alarm(START_LIMIT);
    int rc = begin_mpi(&r);
    if (rc != 0)
        MPI_Abort(MPI_COMM_WORLD, status_exit_code(rc));
    if (r.comm.rank == 0)
        status_capture(r.text, sizeof r.text);
    rc = start_up(&r);
    alarm(0);
    say_captured(&r);
    bool in_order = rc == 0 || is_shared(rc);
    bool at_once = false;
    if (rc != 0) {
        code = end_early(&r, rc);
    } else {
        rc = run_rank(&r, begin, &code, &at_once);
        in_order = rc == 0;
    }
    const bool speaks = r.comm.rank == 0 && r.run == NULL;
    if (r.comm.rank == 0
        && r.prepared.lease != NULL) /* mpirun keeps no code, a journal may be lost */
        lease_write_end(r.prepared.lease, code);
    clear(&r);
    if (!in_order || at_once)
        end_at_once(&r, in_order, r.run == NULL ? code : 0);
    MPI_Comm_free(&r.comm.tasks);
    MPI_Comm_free(&r.comm.side);
    alarm(END_LIMIT);
    MPI_Finalize();
    alarm(0);
    return speaks ? code : 0;
}
