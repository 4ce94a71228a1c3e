/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "runner/devices.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <hwloc.h>
#include <hwloc/glibc-sched.h>

#include "io/hash.h"
#include "kernels/base/mem.h"
#include "kernels/base/status.h"

/* Any of them, when set, has been heeded by the runtime, or by its library, already. */
static const char *const hiding[] = {"CUDA_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES",
                                     "ROCR_VISIBLE_DEVICES", "GPU_DEVICE_ORDINAL"};

/* The devices of a batch job by number, the narrowest first. */
static const char *const granting[] = {"SLURM_STEP_GPUS", "SLURM_JOB_GPUS"};

static bool is_hidden(void)
{
    for (size_t i = 0; i < sizeof hiding / sizeof hiding[0]; i++)
        if (getenv(hiding[i]) != NULL)
            return true;
    return false;
}

/* "0,2" or "0-2": those of the numbers that are shown. `named` receives how many there are; 0:
 * the text is anything else. */
static int read_numbers(const char *text, int shown, int *number, int *named)
{
    int count = 0;
    int all = 0;
    *named = 0;
    while (*text != '\0') {
        char *end = NULL;
        const long first = strtol(text, &end, 10);
        long last = first;
        if (end == text)
            return 0;
        if (*end == '-') {
            text = end + 1;
            last = strtol(text, &end, 10);
        }
        if (end == text || first < 0 || last < first || last - first >= DEVICES_MAX
            || (*end != '\0' && *end != ','))
            return 0;
        for (long i = first; i <= last; i++, all++)
            if (i < shown && count < DEVICES_MAX)
                number[count++] = (int)i;
        text = end + (*end == ',');
    }
    *named = all;
    return count;
}

/* What Slurm says, when nobody has acted on it; NULL: nothing. */
static const char *granted_text(const char **name)
{
    for (size_t i = 0; i < sizeof granting / sizeof granting[0] && !is_hidden(); i++) {
        const char *const text = getenv(granting[i]);
        *name = granting[i];
        if (text != NULL && text[0] != '\0')
            return text;
    }
    return NULL;
}

int device_granted(int shown, int *number, int *count, char *note)
{
    const char *name = NULL;
    const char *const text = granted_text(&name);
    int named = 0;
    note[0] = '\0';
    shown = shown < DEVICES_MAX ? shown : DEVICES_MAX;
    *count = text != NULL ? read_numbers(text, shown, number, &named) : 0;
    if (named > 0 && *count == named)
        return 0;
    if (named > 0 && named < shown)
        FAIL(ERR_DEVICE,
             "%s is '%.60s', and the %d devices that are shown here have other numbers: which "
             "of them are meant nobody can tell; name them in CUDA_VISIBLE_DEVICES or its like",
             name, text, shown);
    if (named > 0)
        snprintf(note, DEVICE_TEXT_SIZE,
                 "%s is '%.60s', by the numbers of the node; this process is shown %d under "
                 "numbers of its own: all of them are taken",
                 name, text, shown);
    else if (text != NULL)
        snprintf(note, DEVICE_TEXT_SIZE,
                 "%s is '%.60s', which is no list of numbers: all %d devices are taken", name,
                 text, shown);
    *count = shown;
    for (int i = 0; i < shown; i++)
        number[i] = i;
    return 0;
}

/* The cores beside a device; none when the topology does not know it. */
static void find_near(hwloc_topology_t topology, const char *bus, cpu_set_t *near)
{
    CPU_ZERO(near);
    const hwloc_obj_t pci = hwloc_get_pcidev_by_busidstring(topology, bus);
    const hwloc_obj_t beside =
        pci != NULL ? hwloc_get_non_io_ancestor_obj(topology, pci) : NULL;
    if (beside != NULL && beside->cpuset != NULL)
        hwloc_cpuset_to_glibc_sched_affinity(topology, beside->cpuset, near, sizeof *near);
}

static void find_all_near(struct device_list *list)
{
    hwloc_topology_t topology;
    if (hwloc_topology_init(&topology) != 0)
        return;
    if (hwloc_topology_set_io_types_filter(topology, HWLOC_TYPE_FILTER_KEEP_IMPORTANT) == 0
        && hwloc_topology_load(topology) == 0)
        for (int i = 0; i < list->count; i++)
            find_near(topology, list->device[i].bus, &list->near[i]);
    hwloc_topology_destroy(topology);
}

static int read_all(struct device_list *list)
{
    int shown = 0;
    TRY(backend_devices(list->backend, &shown));
    TRY(device_granted(shown, list->number, &list->count, list->note));
    for (int i = 0; i < list->count; i++)
        TRY(backend_describe_device(list->backend, list->number[i], &list->device[i]));
    find_all_near(list);
    return 0;
}

/* What `auto` takes, and why it is the CPU. */
static void choose_any(const struct model_info *model, struct device_list *list)
{
    list->backend = backend_auto(list->passed, sizeof list->passed);
    if (strcmp(list->backend, "cpu") == 0 || model->on_devices)
        return;
    snprintf(list->passed, sizeof list->passed,
             "auto passes %s over: model %s does not run on a device", list->backend,
             model->name);
    list->backend = "cpu";
}

int device_check(const char *name, const struct model_info *model,
                 const struct scan_resources *resources)
{
    const bool any = strcmp(name, "auto") == 0;
    const bool cpu = strcmp(name, "cpu") == 0;
    const bool gpu = resources->worker == WORKER_GPU;
    if (gpu && (cpu || (any && backend_names()[1] == NULL)))
        FAIL(ERR_DEVICE,
             "resources.worker: gpu needs a device, and %s: use core, socket or {threads: N}",
             cpu ? "--backend cpu forbids it" : "this program has a backend for the CPU alone");
    if (!model->on_devices && (gpu || !(any || cpu)))
        FAIL(ERR_DEVICE, "%s%s: model %s does not run on a device; accepted: %s",
             gpu ? "resources.worker: gpu" : "--backend ", gpu ? "" : name, model->name,
             gpu ? "core, socket or {threads: N}" : "auto or cpu");
    return 0;
}

int device_list_read(const char *name, const struct model_info *model,
                     const struct scan_resources *resources, struct device_list *out)
{
    memset(out, 0, sizeof *out);
    out->backend = name;
    if (strcmp(name, "auto") == 0)
        choose_any(model, out);
    if (strcmp(out->backend, "cpu") != 0)
        return read_all(out);
    if (out->passed[0] != '\0')
        snprintf(out->note, sizeof out->note, "backend auto takes the CPU: %.280s",
                 out->passed);
    if (resources->worker == WORKER_GPU)
        FAIL(ERR_DEVICE,
             "resources.worker: gpu needs a device, and the backend is the CPU%s%s: use core, "
             "socket or {threads: N}",
             out->passed[0] != '\0' ? "; " : "", out->passed);
    return 0;
}

static uint64_t key_of(const struct backend_device *device)
{
    const char *const text = device->uuid[0] != '\0' ? device->uuid : device->bus;
    const uint64_t hash = hash_64(text, strlen(text));
    return hash != 0 ? hash : 1;
}

void device_offer_make(const struct device_list *list, const cpu_set_t *cores, int rank,
                       struct device_offer *out)
{
    memset(out, 0, sizeof *out);
    out->rank = rank;
    out->count = list->count;
    for (int i = 0; i < list->count; i++) {
        cpu_set_t common;
        const cpu_set_t *const near = &list->near[i];
        out->key[i] = key_of(&list->device[i]);
        out->near[i] = CPU_COUNT(near) > 0 ? hash_64(near, sizeof *near) : 0;
        CPU_AND(&common, near, cores);
        if (CPU_COUNT(&common) > 0)
            out->beside |= UINT64_C(1) << i;
    }
}

/* Workers before `workers` that have a device. */
static int users(const struct device_offer *offer, const int *device, int workers, uint64_t key)
{
    int count = 0;
    for (int w = 0; w < workers; w++)
        count += device[w] >= 0 && offer[w].key[device[w]] == key;
    return count;
}

/* One more device for each worker without, where one has fewer users than `most`. Returns how
 * many are left without. */
static int assign_round(const struct device_offer *offer, int workers, int most, bool beside,
                        int *device)
{
    int left = 0;
    for (int w = 0; w < workers; w++) {
        for (int i = 0; i < offer[w].count && device[w] < 0; i++)
            if ((!beside || (offer[w].beside >> i & 1) != 0)
                && users(offer, device, workers, offer[w].key[i]) < most)
                device[w] = i;
        left += device[w] < 0 && offer[w].count > 0;
    }
    return left;
}

void device_assign(const struct device_offer *offer, int workers, int *device)
{
    for (int w = 0; w < workers; w++)
        device[w] = -1;
    int left = workers;
    for (int most = 1; left > 0 && most <= workers; most++) {
        assign_round(offer, workers, most, true, device);
        left = assign_round(offer, workers, most, false, device);
    }
}

void device_choose(const struct device_list *list, const struct device_offer *offer,
                   const int *device, int workers, int index, struct device_choice *out)
{
    const int mine = device[index];
    memset(out, 0, sizeof *out);
    out->backend = list->backend;
    if (mine < 0)
        return;
    out->number = list->number[mine];
    out->key = offer[index].key[mine];
    out->device = list->device[mine];
    out->sharers = users(offer, device, workers, out->key);
}

void device_neighbours(const struct device_offer *offer, const int *device, int workers,
                       int index, int *place, int *count)
{
    *place = *count = 0;
    for (int w = 0; w < workers; w++) {
        if (device[w] < 0 || device[index] < 0
            || offer[w].near[device[w]] != offer[index].near[device[index]])
            continue;
        *place += w < index;
        (*count)++;
    }
}

void device_text(const struct device_choice *choice, char *text, size_t size)
{
    text[0] = '\0';
    if (choice->key != 0)
        snprintf(text, size, "%.55s, PCI %.31s", choice->device.name, choice->device.bus);
}

bool device_is_served(void)
{
    const char *const pipe = getenv("CUDA_MPS_PIPE_DIRECTORY");
    return pipe != NULL && pipe[0] != '\0';
}
