/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef RUNNER_RUN_H
#define RUNNER_RUN_H

#include <stdbool.h>

#include "kernels/backend.h"
#include "runner/options.h"
#include "scans/scan.h"

#define RUN_PATH_SIZE 4096

/* How this process was started (docs/architecture.md, "Farm"). */
enum run_mode {
    RUN_SERIAL,  /* one process, no MPI */
    RUN_LAUNCH,  /* -n N: starts mpirun or srun and watches it */
    RUN_RANK,    /* a rank that our launcher started */
    RUN_BY_HAND, /* a rank of somebody's own mpirun or srun */
};

/* What starts the ranks. */
enum run_launcher { RUN_LAUNCHER_AUTO, RUN_LAUNCHER_SRUN, RUN_LAUNCHER_MPIRUN };

/* The command line of `scanfarm run`. */
struct run_options {
    enum run_mode mode;
    const char *scan_path;
    const char *rank_of;      /* RUN_RANK: the name of the launcher's run, else NULL */
    char file[RUN_PATH_SIZE]; /* the result file, the shard's own; "" until known */
    int workers;              /* -n, 0: not given */
    enum run_launcher launcher;
    long shard, shards; /* --shard K/N, 0: not given */
    const char *only;   /* --only, NULL: all members */
    bool retry_failed;
    long self_check;   /* --self-check: members between two, 0: none */
    const char *reuse; /* --reuse, NULL: none */
    bool fresh;
    bool space_check;
    bool reserve; /* take the whole file's space now */
    bool reduce;  /* ensemble reductions as tasks of the run */
    bool json;
    bool quiet;
    bool verbose;
    bool terminal;     /* progress goes to a terminal */
    double chunk_time; /* s of work in one message */
    long rows;       /* --rows: members that a worker computes at once, at most; 0: no limit */
    double deadline; /* when the run must have ended, s of the Unix epoch; 0: never */
    int relaunch;    /* how often ranks that died are started again */
    struct backend_options backend;
    int overrides;
    struct scan_override override[OPTIONS_OVERRIDES_MAX];
};

/**
 * The command `scanfarm run`.
 *
 * @param argv argv[0] is "run"
 * @return exit code of the program (docs/commands.md): 0, 1, 2, 3, 4, 70, 75 or 130
 */
int run_command(int argc, char **argv);

#endif
