/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "runner/run_options.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "kernels/base/nearest.h"
#include "kernels/base/status.h"
#include "runner/deadline.h"
#include "runner/early.h"
#include "runner/self_check.h"
#include "runner/shard.h"

#define WORKERS_MAX        65536
#define BACKENDS_MAX       8
#define CHUNK_TIME_DEFAULT 0.05

enum {
    ROW_WORKERS,
    ROW_OUTPUT,
    ROW_FRESH,
    ROW_SHARD,
    ROW_ONLY,
    ROW_RETRY,
    ROW_SELF_CHECK,
    ROW_REUSE,
    ROW_SET,
    ROW_THREADS,
    ROW_ROWS,
    ROW_BACKEND,
    ROW_ISA,
    ROW_RIGOUR,
    ROW_THRESHOLD,
    ROW_CHUNK,
    ROW_NO_REDUCE,
    ROW_NO_SPACE,
    ROW_RESERVE,
    ROW_JSON,
    ROW_QUIET,
    ROW_VERBOSE,
    ROW_TIME_LIMIT,
    ROW_RELAUNCH,
    ROW_LAUNCHER,
    ROW_RANK_OF,       /* the launcher's: this is a rank of that run */
    ROW_RANK_TERMINAL, /* … and its stderr ends in a terminal */
    ROW_RANK_DEADLINE  /* … and its time limit */
};

static const struct option_row run_rows[] = {
    [ROW_WORKERS] = {"workers", 'n', "N",
                     "start N workers by mpirun, or srun inside Slurm; "
                     "without it: one process"},
    [ROW_OUTPUT] = {"output", 'o', "FILE", "result file; default: the scan's name and .h5"},
    [ROW_FRESH] = {"fresh", 0, NULL, "move an existing result file aside and begin anew"},
    [ROW_SHARD] = {"shard", 0, "K/N",
                   "compute part K of N of the scan, into a file of its own: RESULT.h5 gives "
                   "RESULT.shard-K-of-N.h5"},
    [ROW_ONLY] = {"only", 0, "IDS",
                  "compute these members only: 3,7,10-19, or @FILE with such a list"},
    [ROW_RETRY] = {"retry-failed", 0, NULL,
                   "compute members that failed, timed out or were quarantined again"},
    [ROW_SELF_CHECK] = {"self-check", 0, "[=N]",
                        "compare a worker's arithmetic with that for any x86-64, at its start "
                        "and every N members (100)"},
    [ROW_REUSE] = {"reuse", 0, "OLD.h5",
                   "take over members that another result file has computed"},
    [ROW_SET] = {"set", 's', "KEY=VALUE", "override a fixed parameter; may be repeated"},
    [ROW_THREADS] = {"threads", 't', "T",
                     "threads of a worker: it computes T members at a "
                     "time; default: resources.worker"},
    [ROW_ROWS] = {"rows", 0, "N",
                  "members that a worker computes at a time, at most; default on a device: as "
                  "many as its memory holds"},
    [ROW_BACKEND] = {"backend", 0, "NAME",
                     "auto, cpu or, where the program has it, cuda or hip"},
    [ROW_ISA] = {"isa", 0, "NAME", "instruction set: auto, x86-64, x86-64-v3 or x86-64-v4"},
    [ROW_RIGOUR] = {"fft-rigour", 0, "R", "FFT planning: estimate, measure or patient"},
    [ROW_THRESHOLD] = {"threshold", 0, "NAME=N",
                       "another switching point than the measured one that --version shows; "
                       "may be repeated"},
    [ROW_CHUNK] = {"chunk-time", 0, "S", "seconds of work that travel in one message (0.05)"},
    [ROW_NO_REDUCE] = {"no-reduce", 0, NULL, "leave the ensemble to `scanfarm reduce`"},
    [ROW_NO_SPACE] = {"no-space-check", 0, NULL, "begin even when the disk seems too small"},
    [ROW_RESERVE] = {"reserve", 0, NULL, "take the whole file's disk space at the start"},
    [ROW_JSON] = {"json", 0, NULL, "end with one JSON object on stdout"},
    [ROW_QUIET] = {"quiet", 'q', NULL, "no progress, no summary; warnings and errors only"},
    [ROW_VERBOSE] = {"verbose", 'v', NULL, "say more"},
    [ROW_TIME_LIMIT] = {"time-limit", 0, "T",
                        "stop in order (exit code 75) before this time is over: 90 s, 2 h, "
                        "1:30:00; default inside Slurm: the job's end"},
    [ROW_RELAUNCH] = {"relaunch", 0, "N",
                      "when the farm dies, start it again, N times at most"},
    [ROW_LAUNCHER] = {"launcher", 0, "NAME",
                      "auto, srun or mpirun starts the ranks; auto: srun inside Slurm where it "
                      "can (pmix)"},
    [ROW_RANK_OF] = {"rank-of", 0, "RUN", NULL},
    [ROW_RANK_TERMINAL] = {"rank-terminal", 0, NULL, NULL},
    [ROW_RANK_DEADLINE] = {"rank-deadline", 0, "S", NULL},
    {NULL, 0, NULL, NULL}};

static const struct command run_row = {
    .name = "run",
    .arguments = "SCAN.yaml",
    .doc = "Run what is not done yet; the same command resumes.",
    .details =
        "Ctrl-C, SIGTERM, SIGHUP and SIGUSR1 stop in order (exit code 75): run the same "
        "command to go "
        "on.\n"
        "Exit codes: 0 all members done; 1 some failed; 2 usage or scan file; 3 environment;\n"
        "4 the file is in use or holds another configuration; 75 stopped; 130 interrupted "
        "twice.\n",
    .options = run_rows,
};

static int set_output(struct run_options *run, const char *value)
{
    if (value[0] == '\0' || strlen(value) >= sizeof run->file)
        FAIL(ERR_ARGUMENT, "-o needs a file name of 1 to %d bytes", RUN_PATH_SIZE - 1);
    snprintf(run->file, sizeof run->file, "%s", value);
    return 0;
}

static int set_only(struct run_options *run, const char *value)
{
    if (run->only != NULL)
        FAIL(ERR_ARGUMENT, "--only is given twice: join the lists, as in --only %.60s,%.60s",
             run->only, value);
    if (strlen(value) >= RUN_PATH_SIZE)
        FAIL(
            ERR_ARGUMENT,
            "--only: a list of %zu bytes is too long: put it into a file and give --only @FILE",
            strlen(value));
    run->only = value;
    return 0;
}

static int set_reuse(struct run_options *run, const char *value)
{
    if (run->reuse != NULL)
        FAIL(ERR_ARGUMENT,
             "--reuse is given twice: members are taken over from one file a run");
    run->reuse = value;
    return 0;
}

static int set_self_check(const struct options *o, struct run_options *run)
{
    run->self_check = SELF_CHECK_EVERY;
    return o->value == NULL ? 0
                            : options_integer(o, "self-check", 1, 1000000, &run->self_check);
}

static int add_override(struct run_options *run, const char *value)
{
    if (run->overrides == OPTIONS_OVERRIDES_MAX)
        FAIL(ERR_ARGUMENT, "more than %d --set", OPTIONS_OVERRIDES_MAX);
    run->override[run->overrides++].text = value;
    return 0;
}

/* One of thresholds.def, in place of its measured value. */
static int set_threshold(struct run_options *run, const char *value)
{
    const struct threshold_row *const row = backend_thresholds();
    const size_t length = strcspn(value, "=");
    char *end = NULL;
    int i = 0;
    while (i < THRESHOLDS
           && (strlen(row[i].name) != length || strncmp(value, row[i].name, length) != 0))
        i++;
    if (i == THRESHOLDS)
        FAIL(ERR_ARGUMENT,
             "--threshold %.60s: NAME=N with a NAME that --version shows is "
             "accepted, like %s=%ld",
             value, row[0].name, row[0].value);
    errno = 0;
    const char *const number = value + length + (value[length] == '=');
    const long n = strtol(number, &end, 10);
    if (errno != 0 || end == number || *end != '\0' || n < 1)
        FAIL(ERR_ARGUMENT, "--threshold %.60s: a whole number from 1 on is accepted", value);
    run->backend.threshold[i] = n;
    return 0;
}

/* Known of, and not in every program: refused by name, never replaced silently. */
static const char *const later_backends[] = {"gpu", "cuda", "hip", NULL};

static bool has_backend(const char *const *names, const char *name)
{
    while (*names != NULL && strcmp(*names, name) != 0)
        names++;
    return *names != NULL;
}

static int set_backend(const struct options *o, struct run_options *run)
{
    const char *names[BACKENDS_MAX + 2] = {"auto"};
    int count = 1;
    int word = 0;
    for (const char *const *name = backend_names(); *name != NULL && count <= BACKENDS_MAX;)
        names[count++] = *name++;
    for (int i = 0; later_backends[i] != NULL; i++)
        if (strcmp(o->value, later_backends[i]) == 0 && !has_backend(names, o->value)) {
            char list[64];
            nearest_list(names + 1, list, sizeof list);
            if (strcmp(o->value, "gpu") != 0)
                FAIL(ERR_DEVICE,
                     "--backend %s: this program was built without it (SCANFARM_CUDA, "
                     "SCANFARM_HIP); it has: %s",
                     o->value, list);
            FAIL(ERR_UNSUPPORTED, "--backend %s is not in this version; it has: %s", o->value,
                 list);
        }
    TRY(options_word(o, "backend", names, &word));
    run->backend.name = names[word];
    return 0;
}

/* Options that take a number or a word of a list. */
static int set_value(const struct options *o, int row, struct run_options *run)
{
    static const char *const isas[] = {"auto", "x86-64", "x86-64-v3", "x86-64-v4", NULL};
    static const char *const rigours[] = {"estimate", "measure", "patient", NULL};
    long number = 0;
    static const char *const launchers[] = {"auto", "srun", "mpirun", NULL};
    int word = 0;
    switch (row) {
    case ROW_LAUNCHER:
        TRY(options_word(o, "launcher", launchers, &word));
        run->launcher = (enum run_launcher)word;
        return 0;
    case ROW_WORKERS:
        TRY(options_integer(o, "workers", 1, WORKERS_MAX, &number));
        run->workers = (int)number;
        return 0;
    case ROW_THREADS:
        TRY(options_integer(o, "threads", 1, 4096, &number));
        run->backend.threads = (int)number;
        return 0;
    case ROW_ROWS:
        return options_integer(o, "rows", 1, 65536, &run->rows);
    case ROW_RELAUNCH:
        TRY(options_integer(o, "relaunch", 0, 1000, &number));
        run->relaunch = (int)number;
        return 0;
    case ROW_TIME_LIMIT:
        TRY(deadline_read("--time-limit", o->value, &run->deadline));
        run->deadline += (double)time(NULL);
        return 0;
    case ROW_RANK_DEADLINE:
        return options_real(o, "rank-deadline", 0, 1e15, &run->deadline);
    case ROW_CHUNK:
        return options_real(o, "chunk-time", 0, 3600, &run->chunk_time);
    case ROW_ISA:
        TRY(options_word(o, "isa", isas, &word));
        run->backend.isa = isas[word];
        return 0;
    case ROW_RIGOUR:
        TRY(options_word(o, "fft-rigour", rigours, &word));
        run->backend.rigour = (enum fft_rigour)word;
        return 0;
    default:
        return set_backend(o, run);
    }
}

static bool set_flag(int row, struct run_options *run)
{
    bool *const flags[] = {[ROW_FRESH] = &run->fresh,           [ROW_RESERVE] = &run->reserve,
                           [ROW_RETRY] = &run->retry_failed,    [ROW_JSON] = &run->json,
                           [ROW_QUIET] = &run->quiet,           [ROW_VERBOSE] = &run->verbose,
                           [ROW_RANK_TERMINAL] = &run->terminal};
    if (row == ROW_NO_REDUCE)
        run->reduce = false;
    else if (row == ROW_NO_SPACE)
        run->space_check = false;
    else if (row < (int)(sizeof flags / sizeof flags[0]) && flags[row] != NULL)
        *flags[row] = true;
    else
        return false;
    return true;
}

static int set_option(const struct options *o, int row, struct run_options *run)
{
    if (set_flag(row, run))
        return 0;
    if (row == ROW_OUTPUT)
        return set_output(run, o->value);
    if (row == ROW_REUSE)
        return set_reuse(run, o->value);
    if (row == ROW_ONLY)
        return set_only(run, o->value);
    if (row == ROW_SHARD)
        return shard_read("--shard", o->value, &run->shard, &run->shards);
    if (row == ROW_SET)
        return add_override(run, o->value);
    if (row == ROW_SELF_CHECK)
        return set_self_check(o, run);
    if (row == ROW_THRESHOLD)
        return set_threshold(run, o->value);
    if (row == ROW_RANK_OF) {
        run->rank_of = o->value;
        return 0;
    }
    return set_value(o, row, run);
}

/* Ranks of an mpirun or srun that somebody else started. */
static bool is_rank(void)
{
    const char *size = getenv("OMPI_COMM_WORLD_SIZE");
    if (size == NULL && getenv("PMIX_RANK") != NULL)
        size = getenv("SLURM_STEP_NUM_TASKS");
    return size != NULL && strtol(size, NULL, 10) > 1;
}

bool run_options_are_told(void)
{
    const char *rank = getenv("OMPI_COMM_WORLD_RANK");
    if (rank == NULL)
        rank = getenv("PMIX_RANK");
    return is_rank() && rank != NULL && strtol(rank, NULL, 10) > 0;
}

static int choose_mode(struct run_options *run)
{
    const bool rank = is_rank();
    if (run->rank_of != NULL && !rank)
        FAIL(ERR_ARGUMENT, "--rank-of is what `run -n` gives to its ranks; use -n");
    if (run->rank_of != NULL)
        run->mode = RUN_RANK;
    else if (rank && run->workers > 0)
        FAIL(ERR_ARGUMENT, "-n starts mpirun, and this process is a rank of one already: leave "
                           "out -n, or leave out mpirun");
    else
        run->mode = rank ? RUN_BY_HAND : run->workers > 0 ? RUN_LAUNCH : RUN_SERIAL;
    if (run->mode != RUN_RANK)
        run->terminal = isatty(STDERR_FILENO) != 0 && !run->verbose;
    return 0;
}

int run_options_read(int argc, char **argv, struct run_options *run, bool *help)
{
    struct options o;
    int row = 0;
    int threads = 0;
    *run =
        (struct run_options){.space_check = true,
                             .reduce = true,
                             .chunk_time = CHUNK_TIME_DEFAULT,
                             .backend = {.name = "auto", .isa = "auto", .rigour = FFT_MEASURE}};
    options_begin(&o, &run_row, argc, argv);
    *help = false;
    TRY(options_next(&o, &row));
    while (row != OPTIONS_END) {
        *help = row == OPTIONS_HELP;
        if (*help)
            return 0;
        TRY(set_option(&o, row, run));
        TRY(options_next(&o, &row));
    }
    TRY(options_require(&o, 1, 1));
    run->scan_path = o.argument[0];
    TRY(early_threads(&threads));
    TRY(choose_mode(run));
    if (run->deadline <= 0 && run->mode != RUN_RANK)
        run->deadline = deadline_of_job();
    return 0;
}
