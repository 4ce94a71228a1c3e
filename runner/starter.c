/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "runner/starter.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "kernels/base/command.h"
#include "kernels/base/status.h"

#define LIST_LIMIT 20.0 /* s that `srun --mpi=list` may take */

static bool has_allocation(void)
{
    return getenv("SLURM_JOB_ID") != NULL;
}

static long count_nodes(void)
{
    const char *text = getenv("SLURM_JOB_NUM_NODES");
    return text != NULL ? strtol(text, NULL, 10) : 0;
}

static int check_mpirun(void)
{
    if (!command_exists("mpirun"))
        FAIL(ERR_MPI, "mpirun is not on the PATH: install Open MPI (Debian: openmpi-bin), or "
                      "leave out -n to run in one process");
    if (geteuid() == 0
        && (getenv("OMPI_ALLOW_RUN_AS_ROOT") == NULL
            || getenv("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM") == NULL))
        FAIL(ERR_MPI, "Open MPI does not run as root unless OMPI_ALLOW_RUN_AS_ROOT=1 and "
                      "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 are set: set both, or use an ordinary "
                      "account");
    return 0;
}

/* Open MPI's ranks need PMIx from whatever starts them. */
static int ask_pmix(bool *has, char *why, size_t size)
{
    static const char *const words[] = {"srun", "--mpi=list", NULL};
    struct command_result result;
    TRY(command_run(words, LIST_LIMIT, &result));
    *has = command_succeeded(&result)
           && (strstr(result.output, "pmix") != NULL || strstr(result.errors, "pmix") != NULL);
    if (command_succeeded(&result))
        snprintf(why, size, "srun has no pmix");
    else
        command_explain(&result, "srun", LIST_LIMIT, why, size);
    command_clear(&result);
    return 0;
}

static int choose_in_allocation(enum run_launcher wanted, struct starter *out)
{
    char why[120] = "";
    bool pmix = false;
    if (wanted != RUN_LAUNCHER_MPIRUN)
        TRY(ask_pmix(&pmix, why, sizeof why));
    if (wanted == RUN_LAUNCHER_SRUN && !pmix)
        FAIL(ERR_MPI,
             "--launcher srun: %s, so that it cannot start Open MPI's ranks; "
             "--launcher mpirun may",
             why);
    out->srun = pmix;
    out->nodes = count_nodes();
    if (out->srun)
        snprintf(out->note, sizeof out->note, "srun starts the ranks (pmix)");
    else
        snprintf(out->note, sizeof out->note, "mpirun starts the ranks%s%s",
                 wanted == RUN_LAUNCHER_AUTO ? ": " : "", why);
    return out->srun ? 0 : check_mpirun();
}

int starter_choose(enum run_launcher wanted, struct starter *out)
{
    memset(out, 0, sizeof *out);
    if (has_allocation())
        return choose_in_allocation(wanted, out);
    if (wanted == RUN_LAUNCHER_SRUN)
        FAIL(ERR_ARGUMENT, "--launcher srun: this is no Slurm allocation (SLURM_JOB_ID is not "
                           "set); `scanfarm submit` makes one");
    return check_mpirun();
}

void starter_add(const struct starter *starter, struct arguments *arguments, int ranks,
                 bool verbose)
{
    static const char *const srun[] = {
        "--mpi=pmix", "--overcommit", "--cpu-bind=none",       "--kill-on-bad-exit=0",
        "--no-kill",  "--wait=0",     "--distribution=cyclic", NULL};
    static const char *const mpirun[] = {"--enable-recovery", "--bind-to", "none",
                                         "--oversubscribe", NULL};
    arguments_add(arguments, "%s", starter->srun ? "srun" : "mpirun");
    if (!verbose)
        arguments_add(arguments, "--quiet"); /* we say ourselves how it ended, in one line */
    for (const char *const *word = starter->srun ? srun : mpirun; *word != NULL; word++)
        arguments_add(arguments, "%s", *word);
    if (starter->srun && starter->nodes > 0)
        arguments_add(arguments, "--nodes=%ld",
                      starter->nodes < ranks ? starter->nodes : (long)ranks);
    arguments_add(arguments, "-n");
    arguments_add(arguments, "%d", ranks);
}

void starter_clean(const struct starter *starter)
{
    static const char *const disturbing[] = {"SLURM_NTASKS",
                                             "SLURM_NPROCS",
                                             "SLURM_NTASKS_PER_NODE",
                                             "SLURM_NTASKS_PER_CORE",
                                             "SLURM_NTASKS_PER_GPU",
                                             "SLURM_NTASKS_PER_SOCKET",
                                             "SLURM_CPUS_PER_TASK",
                                             "SRUN_CPUS_PER_TASK",
                                             "SLURM_TRES_PER_TASK",
                                             "SLURM_GPUS_PER_TASK",
                                             "SLURM_DISTRIBUTION",
                                             "SLURM_EXACT",
                                             "SLURM_HINT",
                                             "SLURM_CPU_BIND",
                                             "SLURM_GPU_BIND",
                                             "SLURM_MEM_BIND",
                                             "SLURM_THREADS_PER_CORE"};
    if (!starter->srun)
        return;
    for (size_t i = 0; i < sizeof disturbing / sizeof *disturbing; i++)
        unsetenv(disturbing[i]);
    /* a step that Slurm has not given up yet, whatever has become of it, holds the cores; as a
     * variable, since versions before 20.11 have no such option */
    setenv("SLURM_OVERLAP", "1", 1);
}
