/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * One run of the farm from inside: the runner's own controller, workers and protocol, with
 * latencies and CPU shares taken in each rank. bench/farm starts it:
 *
 *   mpirun -n N+1 bench_farm_ranks SCAN.yaml [-o FILE] [--chunk-time S]
 *
 * Without -o nothing is stored. Rank 0 prints one JSON object.
 */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <mpi.h>

#include "bench/farm_null.h"
#include "bench/farm_watch.h"
#include "kernels/base/clock.h"
#include "kernels/base/log.h"
#include "kernels/base/mem.h"
#include "kernels/base/status.h"
#include "runner/attempt.h"
#include "runner/controller.h"
#include "runner/early.h"
#include "runner/farm_worker.h"
#include "runner/prepare.h"
#include "runner/stop.h"

/* What a rank has to say at the end. */
struct numbers {
    double wall;
    double cpu;   /* of the process, both threads */
    double begin; /* controller: the first task was given … */
    double end;   /* … and the last came back */
    double rss;   /* bytes, the most so far */
};

struct bench {
    struct run_options options;
    struct comm comm;
    struct prepared prepared;
    struct placement placement;
    struct rank_name *names;
    char host[CONTROLLER_HOST_SIZE];
    int attempt;
    bool stores;
};

static int read_options(int argc, char **argv, struct bench *b)
{
    static const struct option known[] = {{"output", required_argument, NULL, 'o'},
                                          {"chunk-time", required_argument, NULL, 'c'},
                                          {NULL, 0, NULL, 0}};
    b->options = (struct run_options){
        .mode = RUN_BY_HAND,
        .space_check = true,
        .quiet = true,
        .chunk_time = 0.05,
        .backend = {.name = "auto", .isa = "auto", .rigour = FFT_ESTIMATE}};
    for (int c = 0; (c = getopt_long(argc, argv, "o:", known, NULL)) != -1;) {
        if (c == 'o') {
            snprintf(b->options.file, sizeof b->options.file, "%s", optarg);
            b->stores = true;
        } else if (c == 'c') {
            b->options.chunk_time = strtod(optarg, NULL);
        } else {
            return ERR_ARGUMENT;
        }
    }
    if (argc - optind != 1)
        FAIL(ERR_ARGUMENT, "usage: bench_farm_ranks SCAN.yaml [-o FILE] [--chunk-time S]");
    b->options.scan_path = argv[optind];
    if (!b->stores) {
        null_store_use();
        snprintf(b->options.file, sizeof b->options.file, "%s", argv[optind]);
    }
    return 0;
}

static int begin_mpi(struct bench *b)
{
    int provided = 0;
    TRY(comm_check(MPI_Init_thread(NULL, NULL, MPI_THREAD_MULTIPLE, &provided), "MPI_Init"));
    MPI_Comm_rank(MPI_COMM_WORLD, &b->comm.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &b->comm.size);
    TRY(comm_check(MPI_Comm_dup(MPI_COMM_WORLD, &b->comm.tasks), "MPI_Comm_dup"));
    TRY(comm_check(MPI_Comm_dup(MPI_COMM_WORLD, &b->comm.side), "MPI_Comm_dup"));
    gethostname(b->host, sizeof b->host - 1);
    b->comm.attempt = 1;
    b->options.workers = b->comm.size - 1;
    if (provided < MPI_THREAD_MULTIPLE || b->comm.size < 2)
        FAIL(ERR_ARGUMENT, "bench_farm_ranks needs MPI_THREAD_MULTIPLE and 2 ranks or more");
    return 0;
}

/* Rank 0: scan, file and journal, as `scanfarm run` makes them. */
static int prepare_controller(struct bench *b)
{
    struct prepared *p = &b->prepared;
    TRY(MEM_NEW(b->comm.size, &b->names));
    for (int r = 0; r < b->comm.size; r++)
        memcpy(b->names[r].host, b->host, sizeof b->host);
    TRY(prepare_scan(&b->options, p));
    if (b->stores) {
        TRY(prepare_file(p));
        TRY(prepare_dispatch(p));
        return attempt_begin(p, "bench", b->options.workers, &b->attempt);
    }
    null_store_members(scan_members(p->scan));
    TRY(spec_create(p->scan, &p->spec));
    TRY(dispatch_open(p->scan, b->options.file, false, b->options.chunk_time,
                      b->options.workers, NULL, &p->dispatch));
    TRY(journal_open(b->options.file, "bench", 0, &p->journal));
    p->dispatch.journal = p->journal;
    return 0;
}

/* The others: the scan, and a core as `scanfarm run` gives it. */
static int prepare_worker(struct bench *b)
{
    struct core_list cores;
    b->prepared.options = &b->options;
    TRY(scan_read(b->options.scan_path, NULL, 0, &b->prepared.scan));
    TRY(core_list_read(early_allowed(), &cores));
    int rc = placement_choose(&cores, scan_get_resources(b->prepared.scan), b->comm.rank - 1,
                              b->options.workers, &b->placement);
    core_list_clear(&cores);
    return rc != 0 ? rc : placement_bind(&b->placement.mask);
}

/* The controller looks at the workers' processes, the workers at the controller's. */
static int share_processes(struct bench *b)
{
    const int size = (int)sizeof(struct process_id);
    const struct process_id self = process_self();
    struct process_id *all = NULL;
    b->comm.controller = self;
    TRY(MEM_NEW(b->comm.size, &all));
    int rc =
        comm_check(MPI_Allgather(&self, size, MPI_BYTE, all, size, MPI_BYTE, MPI_COMM_WORLD),
                   "starting up");
    for (int r = 0; rc == 0 && b->names != NULL && r < b->comm.size; r++)
        b->names[r].process = all[r];
    if (rc == 0)
        b->comm.controller = all[0];
    mem_free(all);
    return rc;
}

static int prepare(struct bench *b)
{
    int worst = 0;
    const int rc = b->comm.rank == 0 ? prepare_controller(b) : prepare_worker(b);
    TRY(comm_check(MPI_Allreduce(&rc, &worst, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD),
                   "starting up"));
    return worst != 0 ? worst : share_processes(b);
}

static int run_worker(struct bench *b)
{
    const struct device_choice none = {.sharers = 0}; /* the CPU */
    const struct farm_place place = {.comm = &b->comm,
                                     .scan = b->prepared.scan,
                                     .options = &b->options,
                                     .placement = &b->placement,
                                     .device = &none,
                                     .host = b->host,
                                     .wisdom = "",
                                     .resume = &b->prepared.resume};
    bool at_once = false; /* nobody dies here */
    return farm_worker_run(&place, &at_once);
}

/* Most memory that this process had at a time, in bytes. */
static double resident_bytes(void)
{
    char line[256];
    double kilobytes = 0;
    FILE *const file = fopen("/proc/self/status", "r");
    while (file != NULL && fgets(line, sizeof line, file) != NULL)
        if (strncmp(line, "VmHWM:", 6) == 0)
            kilobytes = strtod(line + 6, NULL);
    if (file != NULL)
        fclose(file);
    return 1024 * kilobytes;
}

static int run(struct bench *b, struct numbers *numbers)
{
    const bool controller = b->comm.rank == 0;
    watch_begin(controller, b->comm.size);
    MPI_Barrier(MPI_COMM_WORLD);
    const double wall = clock_wall();
    const double cpu = clock_cpu_process();
    int died = 0;
    const int rc = controller
                       ? controller_run(&b->comm, b->names, &b->prepared, b->attempt, &died)
                       : run_worker(b);
    numbers->cpu = clock_cpu_process() - cpu;
    numbers->wall = clock_wall() - wall;
    numbers->begin = b->prepared.dispatch.begin;
    numbers->end = watch_last_report();
    numbers->rss = resident_bytes();
    return rc;
}

static int compare_doubles(const void *a, const void *b)
{
    const double x = *(const double *)a;
    const double y = *(const double *)b;
    return (x > y) - (x < y);
}

static void print_sample(const char *name, double *values, long count)
{
    qsort(values, (size_t)count, sizeof *values, compare_doubles);
    printf(", \"%s\": {\"samples\": %ld", name, count);
    if (count > 0)
        printf(", \"median_s\": %.9g, \"p99_s\": %.9g, \"max_s\": %.9g", values[count / 2],
               values[(count * 99 + 99) / 100 - 1], values[count - 1]);
    printf("}");
}

/* Samples of one kind of all ranks, sorted and printed by rank 0. */
static int gather_sample(const struct bench *b, enum watch_kind kind, const char *name)
{
    const struct watch_samples *const mine = watch_samples(kind);
    const int count =
        (int)(mine->seen < WATCH_SAMPLES_MAX ? mine->seen : (long)WATCH_SAMPLES_MAX);
    const int size = b->comm.size;
    int *counts = NULL;
    int *places = NULL;
    double *all = NULL;
    long total = 0;
    int rc = 0;
    TRY_OR(rc, done, MEM_NEW(size, &counts));
    TRY_OR(rc, done, MEM_NEW(size, &places));
    MPI_Gather(&count, 1, MPI_INT, counts, 1, MPI_INT, 0, MPI_COMM_WORLD);
    for (int r = 0; r < size; r++) {
        places[r] = (int)total;
        total += counts[r];
    }
    TRY_OR(rc, done, MEM_NEW(total + 1, &all));
    MPI_Gatherv(mine->seconds, count, MPI_DOUBLE, all, counts, places, MPI_DOUBLE, 0,
                MPI_COMM_WORLD);
    if (b->comm.rank == 0)
        print_sample(name, all, total);
done:
    mem_free(counts);
    mem_free(places);
    mem_free(all);
    return rc;
}

static void print_shares(const struct numbers *all, int size)
{
    double sum = 0;
    double most = 0;
    for (int r = 1; r < size; r++) {
        const double share = all[r].cpu / all[r].wall;
        sum += share;
        most = share > most ? share : most;
    }
    printf(", \"worker_cpu_share\": {\"mean\": %.6g, \"max\": %.6g}", sum / (size - 1), most);
}

static int report(const struct bench *b, const struct numbers *numbers)
{
    static const char *const names[] = {[WATCH_ANSWER] = "answer",
                                        [WATCH_RESERVE] = "wait_with_reserve",
                                        [WATCH_ROUND] = "wait_without_reserve"};
    struct numbers *all = NULL;
    TRY(MEM_NEW(b->comm.size, &all));
    MPI_Gather(numbers, (int)sizeof *numbers, MPI_BYTE, all, (int)sizeof *all, MPI_BYTE, 0,
               MPI_COMM_WORLD);
    const struct progress_counts *const c = &b->prepared.dispatch.counts;
    const double span = numbers->end - numbers->begin;
    if (b->comm.rank == 0) {
        printf("{\"workers\": %d, \"stores\": %s, \"members\": %lld, \"seconds\": %.9g, "
               "\"members_per_s\": %.9g, \"controller_cpu_share\": %.6g, "
               "\"controller_rss_bytes\": %.0f",
               b->options.workers, b->stores ? "true" : "false", (long long)c->done, span,
               (double)c->done / span, numbers->cpu / numbers->wall, numbers->rss);
        print_shares(all, b->comm.size);
    }
    int rc = 0;
    for (int k = 0; rc == 0 && k < WATCH_KINDS; k++)
        rc = gather_sample(b, (enum watch_kind)k, names[k]);
    if (b->comm.rank == 0)
        printf("}\n");
    mem_free(all);
    return rc;
}

int main(int argc, char **argv)
{
    static struct bench b;
    struct numbers numbers = {0};
    log_set_level(LOG_ERROR);
    int rc = read_options(argc, argv, &b);
    if (rc != 0)
        return status_exit_code(rc);
    stop_catch(false);
    rc = begin_mpi(&b);
    if (rc == 0)
        rc = prepare(&b);
    if (rc == 0)
        rc = run(&b, &numbers);
    if (rc == 0)
        rc = report(&b, &numbers);
    if (rc != 0)
        MPI_Abort(MPI_COMM_WORLD, status_exit_code(rc));
    watch_end();
    mem_free(b.names);
    prepare_clear(&b.prepared);
    MPI_Finalize();
    return 0;
}
