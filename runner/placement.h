/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef RUNNER_PLACEMENT_H
#define RUNNER_PLACEMENT_H

#include <sched.h>
#include <stdbool.h>
#include <stdint.h>

#include "runner/protocol.h"
#include "scans/scan.h"

/*
 * Where workers run. A worker binds itself: the share of the node's cores that its place among
 * the workers of the node gives, within the set of cores it inherited (cgroup, batch system,
 * mpirun). Cores, not hardware threads, are dealt out; their threads come along.
 */

#define PLACEMENT_CORES_MAX 1024

/* The cores a process may use, sorted by package: one mask of hardware threads each. */
struct core_list {
    int count;
    int package[PLACEMENT_CORES_MAX];
    cpu_set_t *mask; /* [count], owned */
};

/* What one worker gets. */
struct placement {
    int threads;      /* of its backend */
    int capacity;     /* rows of its batch */
    cpu_set_t mask;   /* hardware threads it is bound to */
    bool shared_core; /* another worker of this node was given one of its cores too */
};

/**
 * The cores of this machine that lie within a set of hardware threads, by hwloc.
 *
 * @param out free with core_list_clear
 * @return 0, ERR_MEMORY, ERR_UNSUPPORTED above PLACEMENT_CORES_MAX cores
 */
int core_list_read(const cpu_set_t *allowed, struct core_list *out);

/** Free; legal on a zeroed object. */
void core_list_clear(struct core_list *cores);

/**
 * Share of worker `index` of `workers` that have the same cores. Pure.
 *
 * core: one core each, in order, again from the first when there are more workers than cores.
 * threads: T: T cores in order, likewise. socket: the cores of one package. Capacity is the
 * number of threads: one member a thread.
 *
 * @return 0, or ERR_BUG for gpu, which is placed by its device; ERR_ARGUMENT when T exceeds the
 *         cores
 */
int placement_choose(const struct core_list *cores, const struct scan_resources *resources,
                     int index, int workers, struct placement *out);

/**
 * Share of worker `index` of `workers` that compute on devices beside the same cores: an equal
 * part of these, one at least. Pure. Its capacity is 1 until its batch is known.
 *
 * @param near  hardware threads beside them; when no core is among them, all cores are taken
 * for such
 */
int placement_beside(const struct core_list *cores, const cpu_set_t *near, int index,
                     int workers, struct placement *out);

/**
 * Whether the batch job has fewer CPUs of this node than its processes may use: the site
 * confines no job to its cores, and workers that bound themselves would sit on the first cores
 * in every job of the node.
 *
 * @param cores that this process may use
 */
bool placement_is_unconfined(int cores);

/** Bind the calling thread, and the threads it will make, to a set of hardware threads. */
int placement_bind(const cpu_set_t *mask);

/** A set as text: "0-3,8". Cut at size. */
void placement_text(const cpu_set_t *mask, char *text, size_t size);

/** A set as the bytes of a READY message; threads beyond its size are left out. */
void placement_pack(const cpu_set_t *mask, uint8_t packed[PROTOCOL_MASK_SIZE]);

/** Whether two sets of READY messages have a hardware thread in common. */
bool placement_overlap(const uint8_t *a, const uint8_t *b);

/** CPUs that the control groups allow in time (cpu.max, cfs_quota): INFINITY without a limit.
 */
double placement_quota(void);

/** Bytes of memory that this process may use: the least of RAM and control group limits. */
double placement_memory(void);

/**
 * Whether the floating-point unit rounds to nearest and keeps denormal numbers, as every result
 * of ours assumes (a library built with -ffast-math switches the latter off when it is loaded).
 *
 * @return 0, or ERR_DEVICE
 */
int placement_check_rounding(void);

#endif
