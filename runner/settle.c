/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "runner/settle.h"

#include <stdio.h>
#include <string.h>

#include <mpi.h>

#include "io/hash.h"
#include "kernels/base/log.h"
#include "kernels/base/mem.h"
#include "kernels/base/status.h"
#include "runner/early.h"

/* What the workers of a node say of their devices. */
struct node {
    int index; /* of this worker */
    int workers;
    struct device_offer *offer; /* [workers] */
    int *device;                /* [workers] what each gets of its offer */
};

/* The workers of this node, by rank. */
static int find_node(const struct comm *comm, MPI_Comm *out)
{
    MPI_Comm node = MPI_COMM_NULL;
    const int colour = comm->rank == 0 ? MPI_UNDEFINED : 0;
    *out = MPI_COMM_NULL;
    TRY(comm_check(MPI_Comm_split_type(comm->tasks, MPI_COMM_TYPE_SHARED, comm->rank,
                                       MPI_INFO_NULL, &node),
                   "finding the ranks of this node"));
    TRY(comm_check(MPI_Comm_split(node, colour, comm->rank, out),
                   "finding the ranks of this node"));
    MPI_Comm_free(&node);
    return 0;
}

/* Place among the workers of this node that inherited the same cores. */
static int count_alike(MPI_Comm node, int *index, int *workers)
{
    MPI_Comm alike = MPI_COMM_NULL;
    const uint64_t hash = hash_64(early_allowed(), sizeof *early_allowed());
    int rank = 0;
    MPI_Comm_rank(node, &rank);
    TRY(comm_check(MPI_Comm_split(node, (int)(hash & 0x3fffffff), rank, &alike),
                   "finding the ranks of this node"));
    MPI_Comm_rank(alike, index);
    MPI_Comm_size(alike, workers);
    MPI_Comm_free(&alike);
    return 0;
}

static struct scan_resources resources_of(const struct run_options *options,
                                          const struct scan *scan)
{
    struct scan_resources resources = *scan_get_resources(scan);
    if (options->backend.threads > 0) {
        resources.worker = WORKER_THREADS;
        resources.threads = options->backend.threads;
    }
    return resources;
}

/* Each worker tells the others of its node what it is shown; all find the same assignment. */
static int share_offers(MPI_Comm comm, const struct device_offer *mine, struct node *node)
{
    MPI_Comm_rank(comm, &node->index);
    MPI_Comm_size(comm, &node->workers);
    TRY(MEM_NEW(node->workers, &node->offer));
    TRY(MEM_NEW(node->workers, &node->device));
    TRY(comm_check(MPI_Allgather(mine, (int)sizeof *mine, MPI_BYTE, node->offer,
                                 (int)sizeof *mine, MPI_BYTE, comm),
                   "sharing the devices of a node"));
    device_assign(node->offer, node->workers, node->device);
    return 0;
}

static void node_clear(struct node *node)
{
    mem_free(node->offer);
    mem_free(node->device);
}

/* Cores of a worker that has its device already: its share of those beside it. */
static int place_beside(const struct core_list *cores, const struct device_list *list,
                        const struct node *node, struct placement *out)
{
    int place = 0;
    int count = 0;
    const int mine = node->device[node->index];
    device_neighbours(node->offer, node->device, node->workers, node->index, &place, &count);
    return placement_beside(cores, &list->near[mine], place, count, out);
}

/* What this rank finds out before it asks the others. */
struct look {
    struct scan_resources resources;
    struct core_list cores;
    struct device_list *list;
    int index, workers; /* among those with the same cores */
};

/* By cores first, then the device beside them; worker: gpu goes the other way. */
static int choose_cores(const struct look *look, const struct node *node, struct settled *out)
{
    if (look->resources.worker != WORKER_GPU)
        return placement_choose(&look->cores, &look->resources, look->index, look->workers,
                                &out->placement);
    return place_beside(&look->cores, look->list, node, &out->placement);
}

/* Not collective. On an error the offer is empty. */
static int look_around(const struct run_options *options, const struct scan *scan, int rank,
                       struct look *look, struct device_offer *offer)
{
    struct placement placement = {0};
    const cpu_set_t *cores = early_allowed();
    look->resources = resources_of(options, scan);
    TRY(placement_check_rounding());
    TRY(core_list_read(early_allowed(), &look->cores));
    TRY(MEM_NEW(1, &look->list));
    TRY(device_list_read(options->backend.name, scan_model(scan)->info, &look->resources,
                         look->list));
    if (look->resources.worker != WORKER_GPU) {
        TRY(placement_choose(&look->cores, &look->resources, look->index, look->workers,
                             &placement));
        cores = &placement.mask;
    }
    device_offer_make(look->list, cores, rank, offer);
    return 0;
}

static int bind(const struct look *look, struct settled *out)
{
    if (placement_is_unconfined(look->cores.count))
        out->placement.mask = *early_allowed();
    return placement_bind(&out->placement.mask);
}

/* With the communicator of the node's workers. */
static int settle_in(MPI_Comm comm, const struct run_options *options, const struct scan *scan,
                     int rank, struct look *look, struct node *node, struct settled *out)
{
    struct device_offer offer = {.rank = rank};
    TRY(count_alike(comm, &look->index, &look->workers));
    const int found = look_around(options, scan, rank, look, &offer);
    TRY(share_offers(comm, &offer, node));
    TRY(found);
    out->first = look->index == 0;
    TRY(choose_cores(look, node, out));
    device_choose(look->list, node->offer, node->device, node->workers, node->index,
                  &out->device);
    snprintf(out->note, sizeof out->note, "%s", look->list->note);
    return bind(look, out);
}

static void limit_rows(const struct run_options *options, struct placement *placement)
{
    if (options->rows > 0 && options->rows < placement->capacity)
        placement->capacity = (int)options->rows;
}

int settle_rank(const struct comm *comm, const struct run_options *options,
                const struct scan *scan, struct settled *out)
{
    MPI_Comm workers = MPI_COMM_NULL;
    struct look look = {0};
    struct node node = {0};
    memset(out, 0, sizeof *out);
    TRY(find_node(comm, &workers));
    if (workers == MPI_COMM_NULL)
        return 0;
    const int rc = settle_in(workers, options, scan, comm->rank, &look, &node, out);
    limit_rows(options, &out->placement);
    node_clear(&node);
    core_list_clear(&look.cores);
    mem_free(look.list);
    MPI_Comm_free(&workers);
    return rc;
}

/* One process has all the threads that were asked for. */
static int count_threads(const struct scan_resources *resources)
{
    if (resources->worker == WORKER_THREADS)
        return resources->threads;
    return resources->worker == WORKER_CORE ? 1 : CPU_COUNT(early_allowed());
}

/* The first device. */
static int take_first(const struct run_options *options, const struct device_list *list,
                      struct settled *out)
{
    struct device_offer *offer = NULL;
    int device = -1;
    TRY(MEM_NEW(1, &offer));
    device_offer_make(list, early_allowed(), 0, offer);
    device_assign(offer, 1, &device);
    device_choose(list, offer, &device, 1, 0, &out->device);
    mem_free(offer);
    if (list->count > 1 && !options->quiet)
        log_info("one process computes on one device: `run -n %d` uses all %d", list->count,
                 list->count);
    return 0;
}

int settle_alone(const struct run_options *options, const struct scan *scan,
                 struct settled *out)
{
    const struct scan_resources resources = resources_of(options, scan);
    struct device_list *list = NULL;
    memset(out, 0, sizeof *out);
    TRY(placement_check_rounding());
    TRY(MEM_NEW(1, &list));
    int rc = device_list_read(options->backend.name, scan_model(scan)->info, &resources, list);
    if (rc == 0)
        rc = take_first(options, list, out);
    snprintf(out->note, sizeof out->note, "%s", list->note);
    mem_free(list);
    out->placement.mask = *early_allowed();
    out->placement.threads = count_threads(&resources);
    out->placement.capacity = out->placement.threads;
    limit_rows(options, &out->placement);
    return rc;
}
