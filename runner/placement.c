/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "runner/placement.h"

#include <errno.h>
#include <fenv.h>
#include <float.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <hwloc.h>
#include <hwloc/glibc-sched.h>

#include "kernels/base/mem.h"
#include "kernels/base/status.h"

static int package_of(hwloc_topology_t topology, hwloc_obj_t core)
{
    const hwloc_obj_t package =
        hwloc_get_ancestor_obj_by_type(topology, HWLOC_OBJ_PACKAGE, core);
    return package != NULL ? (int)package->logical_index : 0;
}

/* One entry for each core that has an allowed hardware thread. */
static void list_cores(hwloc_topology_t topology, const cpu_set_t *allowed,
                       struct core_list *out)
{
    const int cores = hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_CORE);
    for (int i = 0; i < cores && out->count < PLACEMENT_CORES_MAX; i++) {
        const hwloc_obj_t core = hwloc_get_obj_by_type(topology, HWLOC_OBJ_CORE, (unsigned)i);
        if (core == NULL)
            continue;
        cpu_set_t *mask = &out->mask[out->count];
        hwloc_cpuset_to_glibc_sched_affinity(topology, core->cpuset, mask, sizeof *mask);
        CPU_AND(mask, mask, allowed);
        if (CPU_COUNT(mask) == 0)
            continue;
        out->package[out->count++] = package_of(topology, core);
    }
}

/* A machine whose topology cannot be read: each hardware thread is a core. */
static void list_threads(const cpu_set_t *allowed, struct core_list *out)
{
    for (size_t cpu = 0; cpu < CPU_SETSIZE && out->count < PLACEMENT_CORES_MAX; cpu++) {
        if (!CPU_ISSET(cpu, allowed))
            continue;
        CPU_ZERO(&out->mask[out->count]);
        CPU_SET(cpu, &out->mask[out->count]);
        out->package[out->count++] = 0;
    }
}

int core_list_read(const cpu_set_t *allowed, struct core_list *out)
{
    memset(out, 0, sizeof *out);
    TRY(MEM_NEW(PLACEMENT_CORES_MAX, &out->mask));
    hwloc_topology_t topology;
    if (hwloc_topology_init(&topology) == 0) {
        if (hwloc_topology_load(topology) == 0)
            list_cores(topology, allowed, out);
        hwloc_topology_destroy(topology);
    }
    if (out->count == 0)
        list_threads(allowed, out);
    return 0;
}

void core_list_clear(struct core_list *cores)
{
    mem_free(cores->mask);
    memset(cores, 0, sizeof *cores);
}

static int package_count(const struct core_list *cores)
{
    int last = -1;
    for (int i = 0; i < cores->count; i++)
        last = cores->package[i] > last ? cores->package[i] : last;
    return last + 1;
}

static void take_cores(const struct core_list *cores, int first, int count,
                       struct placement *out)
{
    for (int i = 0; i < count; i++)
        CPU_OR(&out->mask, &out->mask, &cores->mask[(first + i) % cores->count]);
    out->threads = count;
}

static int take_package(const struct core_list *cores, int index, struct placement *out)
{
    const int packages = package_count(cores);
    /* Package numbers may have gaps when the allowed set leaves packages out. */
    for (int step = 0; step < packages; step++) {
        const int package = (index + step) % packages;
        for (int i = 0; i < cores->count; i++) {
            if (cores->package[i] != package)
                continue;
            CPU_OR(&out->mask, &out->mask, &cores->mask[i]);
            out->threads++;
        }
        if (out->threads > 0)
            return packages;
    }
    return packages;
}

int placement_choose(const struct core_list *cores, const struct scan_resources *resources,
                     int index, int workers, struct placement *out)
{
    memset(out, 0, sizeof *out);
    CPU_ZERO(&out->mask);
    if (resources->worker == WORKER_GPU)
        FAIL(ERR_BUG, "a worker on a device is placed beside it");
    if (cores->count < 1)
        FAIL(ERR_BUG, "a worker is placed on no core");
    if (resources->worker == WORKER_SOCKET) {
        out->shared_core = workers > take_package(cores, index, out);
    } else {
        const int threads = resources->worker == WORKER_THREADS ? resources->threads : 1;
        if (threads > cores->count)
            FAIL(ERR_ARGUMENT,
                 "resources.worker: {threads: %d} exceeds the %d cores that this process may "
                 "use on its node",
                 threads, cores->count);
        /* int64: workers * threads may exceed int */
        const int64_t first = (int64_t)index * threads;
        take_cores(cores, (int)(first % cores->count), threads, out);
        out->shared_core = (int64_t)workers * threads > cores->count;
    }
    out->capacity = out->threads;
    return 0;
}

int placement_beside(const struct core_list *cores, const cpu_set_t *near, int index,
                     int workers, struct placement *out)
{
    struct core_list beside = {0};
    memset(out, 0, sizeof *out);
    CPU_ZERO(&out->mask);
    TRY(MEM_NEW(PLACEMENT_CORES_MAX, &beside.mask));
    for (int all = 0; all < 2 && beside.count == 0; all++)
        for (int i = 0; i < cores->count; i++) {
            cpu_set_t common;
            CPU_AND(&common, &cores->mask[i], near);
            if (all > 0 || CPU_COUNT(&common) > 0)
                beside.mask[beside.count++] = cores->mask[i];
        }
    if (beside.count < 1) {
        mem_free(beside.mask);
        FAIL(ERR_BUG, "a worker is placed on no core");
    }
    const int first = (int)((int64_t)index * beside.count / workers);
    const int end = (int)(((int64_t)index + 1) * beside.count / workers);
    take_cores(&beside, first, end > first ? end - first : 1, out);
    out->shared_core = workers > beside.count;
    out->capacity = 1;
    mem_free(beside.mask);
    return 0;
}

bool placement_is_unconfined(int cores)
{
    const char *const cpus = getenv("SLURM_CPUS_ON_NODE");
    const long granted = cpus != NULL ? strtol(cpus, NULL, 10) : 0;
    return granted > 0 && granted < cores;
}

int placement_bind(const cpu_set_t *mask)
{
    if (sched_setaffinity(0, sizeof *mask, mask) != 0) {
        char text[128];
        placement_text(mask, text, sizeof text);
        FAIL(ERR_DEVICE, "cannot bind this worker to cores %s: %s", text,
             strerrordesc_np(errno));
    }
    return 0;
}

void placement_text(const cpu_set_t *mask, char *text, size_t size)
{
    size_t used = 0;
    text[0] = '\0';
    for (size_t cpu = 0; cpu < CPU_SETSIZE; cpu++) {
        if (!CPU_ISSET(cpu, mask))
            continue;
        const size_t first = cpu;
        while (cpu + 1 < CPU_SETSIZE && CPU_ISSET(cpu + 1, mask))
            cpu++;
        char piece[32];
        const char *comma = used > 0 ? "," : "";
        if (cpu > first)
            snprintf(piece, sizeof piece, "%s%zu-%zu", comma, first, cpu);
        else
            snprintf(piece, sizeof piece, "%s%zu", comma, first);
        const size_t length = strlen(piece);
        if (used + length + 1 > size)
            return;
        memcpy(text + used, piece, length + 1);
        used += length;
    }
}

void placement_pack(const cpu_set_t *mask, uint8_t packed[PROTOCOL_MASK_SIZE])
{
    memset(packed, 0, PROTOCOL_MASK_SIZE);
    for (size_t cpu = 0; cpu < CPU_SETSIZE && cpu < 8 * PROTOCOL_MASK_SIZE; cpu++)
        if (CPU_ISSET(cpu, mask))
            packed[cpu / 8] |= (uint8_t)(1U << (cpu % 8));
}

bool placement_overlap(const uint8_t *a, const uint8_t *b)
{
    for (int i = 0; i < PROTOCOL_MASK_SIZE; i++)
        if ((a[i] & b[i]) != 0)
            return true;
    return false;
}

int placement_check_rounding(void)
{
    if (fegetround() != FE_TONEAREST)
        FAIL(ERR_DEVICE, "the floating-point unit does not round to nearest: a library or "
                         "wrapper changed it before scanfarm started");
    volatile double smallest = DBL_MIN;
    const volatile double half = smallest / 2;
    volatile double twice = half;
    twice = twice * 2;
    if (half <= 0 || twice < smallest)
        FAIL(ERR_DEVICE, "denormal numbers are flushed to zero: a library built with "
                         "-ffast-math is loaded (LD_PRELOAD?)");
    return 0;
}
