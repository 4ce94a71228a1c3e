/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef RUNNER_DEVICES_H
#define RUNNER_DEVICES_H

#include <sched.h>
#include <stdbool.h>
#include <stdint.h>

#include "kernels/backend.h"
#include "kernels/model.h"
#include "scans/scan.h"

/*
 * Which device a worker computes on. What the runtime shows is what may be used, so that
 * CUDA_VISIBLE_DEVICES, HIP_VISIBLE_DEVICES, ROCR_VISIBLE_DEVICES and a batch system that sets
 * them are heeded; where Slurm names devices of a step or job and nothing hides the others,
 * those. The workers of a node tell each other what they are shown, and each finds the same
 * assignment: devices that nobody has first, of these one beside the worker's cores, of these
 * the first.
 */

#define DEVICES_MAX      64 /* of a node */
#define DEVICE_TEXT_SIZE 320

/* What a worker tells the others of its node. */
struct device_offer {
    int32_t rank;
    int32_t count;
    uint64_t key[DEVICES_MAX];  /* which one it is, the same in all processes of the node */
    uint64_t near[DEVICES_MAX]; /* which cores are beside it; 0: nobody knows */
    uint64_t beside;            /* bit i: some of them are this worker's */
};

/* The devices that a process may use. */
struct device_list {
    const char *backend; /* of backend_names; "cpu": none is used */
    int count;
    int number[DEVICES_MAX]; /* of the runtime: backend_options.device */
    struct backend_device device[DEVICES_MAX];
    cpu_set_t near[DEVICES_MAX];   /* cores beside it; empty: nobody knows */
    char passed[DEVICE_TEXT_SIZE]; /* why `auto` takes the CPU, "" */
    char note[DEVICE_TEXT_SIZE];   /* what is to be said once for all workers, "" */
};

/* What a worker has got. */
struct device_choice {
    const char *backend; /* of backend_names */
    int number;          /* backend_options.device */
    int sharers;         /* workers of its node on the same device, itself included; 0: CPU */
    uint64_t key;        /* of struct device_offer; 0: CPU */
    struct backend_device device;
};

/**
 * What can be said before a device is looked for: whether the program and the model have to do
 * with devices at all, where the scan or the backend's name asks for one.
 *
 * @return 0, or ERR_DEVICE
 */
int device_check(const char *name, const struct model_info *model,
                 const struct scan_resources *resources);

/**
 * The devices for a model by the backend that was asked for.
 *
 * @param name      auto, or of backend_names
 * @param out       for the CPU `count` is 0
 * @return 0; ERR_DEVICE, in one line, when a device was asked for, by name or by
 *         resources.worker, and there is none, or the model does not run on one
 */
int device_list_read(const char *name, const struct model_info *model,
                     const struct scan_resources *resources, struct device_list *out);

/** What a worker with these cores tells the others. */
void device_offer_make(const struct device_list *list, const cpu_set_t *cores, int rank,
                       struct device_offer *out);

/**
 * Who gets which device. Pure: each worker of a node finds the same.
 *
 * @param offer   [workers], in the order of their ranks
 * @param device  receives for each worker an index into its own offer, -1 where that is empty
 */
void device_assign(const struct device_offer *offer, int workers, int *device);

/** The choice of worker `index` out of the assignment. */
void device_choose(const struct device_list *list, const struct device_offer *offer,
                   const int *device, int workers, int index, struct device_choice *out);

/**
 * Place of worker `index` among those whose devices stand beside the same cores, and how many
 * these are: they share those cores.
 */
void device_neighbours(const struct device_offer *offer, const int *device, int workers,
                       int index, int *place, int *count);

/**
 * Those of `shown` devices that Slurm gave to this step or job: SLURM_STEP_GPUS, else
 * SLURM_JOB_GPUS; all, when neither names any, or when something else hides devices already.
 * Slurm's numbers are those of the node, whatever a process is confined to (srun(1)). So where
 * they are not among the runtime's, and no more devices are shown than they name, these are
 * taken.
 *
 * @param number receives them, [DEVICES_MAX]
 * @param count  receives how many they are
 * @param note   receives why Slurm's numbers are not heeded, "" when they are
 * @return 0, or ERR_DEVICE when more are shown than Slurm names, under other numbers
 */
int device_granted(int shown, int *number, int *count, char *note);

/** "NVIDIA H200, PCI 0000:3b:00.0"; "" for the CPU. */
void device_text(const struct device_choice *choice, char *text, size_t size);

/** Whether ranks may share a device on purpose: NVIDIA's MPS serves this process. */
bool device_is_served(void);

#endif
