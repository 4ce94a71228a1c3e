/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The backend and the model objects of a worker: made at the first task that needs them. */
#include "runner/slot.h"

#include <string.h>

#include "kernels/base/log.h"
#include "kernels/base/mem.h"
#include "kernels/base/status.h"
#include "runner/batch.h"
#include "runner/text.h"

static void slot_clear(struct worker *w, struct worker_slot *slot)
{
    if (slot->model != NULL)
        w->ops->destroy(slot->model);
    mem_free(slot->status);
    for (int a = 0; a < LAYOUT_ARRAYS_MAX; a++)
        mem_free(slot->buffers.array[a]);
    memset(slot, 0, sizeof *slot);
}

void slots_clear(struct worker *worker)
{
    for (int s = 0; s < WORKER_SLOTS; s++)
        slot_clear(worker, &worker->slot[s]);
    if (worker->backend != NULL)
        wisdom_share_last(&worker->wisdom, worker->backend); /* its failure costs time only */
    backend_destroy(worker->backend);
    worker->backend = NULL;
    wisdom_clear(&worker->wisdom);
}

int slot_backend(struct worker *w)
{
    if (w->backend != NULL)
        return 0;
    struct backend_options options = w->options->backend;
    options.apart = w->ops->info->on_devices;
    options.threads = w->placement.threads;
    if (w->device.backend != NULL)
        options.name = w->device.backend;
    options.device = w->device.number;
    options.source = wisdom_source(&w->wisdom);
    const int rc = backend_create(&options, &w->backend);
    if (rc != 0) /* not this member's fault, whatever the code */
        return rc == ERR_MEMORY ? rc : ERR_DEVICE;
    kernel_id_write(w->backend, w->ops, NULL, w->kernel_id);
    return 0;
}

/* Room for one plane of each saved array. */
static int grow_buffers(struct worker *w, struct worker_slot *slot,
                        const struct plane_layout *layout)
{
    const bool fields = scan_get_save(w->scan)->field != SAVE_FIELD_NO;
    for (int a = 0; a < layout->arrays; a++) {
        if (layout->array[a].is_field && !fields)
            continue;
        const long count = layout_array_count(layout, a);
        const size_t size = (size_t)count * element_size(layout->array[a].type);
        if (size <= slot->buffer_size[a] && slot->buffers.array[a] != NULL)
            continue;
        mem_free(slot->buffers.array[a]);
        slot->buffers.array[a] = NULL;
        TRY(mem_alloc(count, element_size(layout->array[a].type), &slot->buffers.array[a]));
        slot->buffer_size[a] = size;
    }
    return 0;
}

/* What a batch was counted to take, and what its device has less since. */
static int tell_taken(const struct worker *w, const struct batch_ledger *ledger, int rows,
                      size_t before)
{
    char counted[TEXT_SIZE];
    char taken[TEXT_SIZE];
    size_t now = 0;
    TRY(backend_memory_left(w->backend, &now));
    text_bytes(batch_bytes(ledger, rows), counted);
    text_bytes(before > now ? (double)(before - now) : 0, taken);
    log_debug("a batch of %d row%s on %s took %s, of %s that were counted", rows,
              rows == 1 ? "" : "s", w->backend->device, taken, counted);
    return 0;
}

/* A device that has less memory than its runtime and the model's figures said is asked for half
 * the rows, once. No member is to blame for what comes of it. */
static int create_on_device(struct worker *w, struct worker_slot *slot,
                            const struct plane_layout *layout)
{
    char text[STORE_REASON_SIZE];
    char wanted[TEXT_SIZE];
    struct batch_ledger ledger;
    int rc = ERR_MEMORY;
    size_t before = 0;
    TRY(batch_rows(w, layout, &ledger));
    TRY(backend_memory_left(w->backend, &before));
    const int first = (int)ledger.rows;
    int rows = first;
    for (int tries = 0; rc == ERR_MEMORY && tries < 2; tries++) {
        rows = tries == 0 ? first : first / 2;
        if (rows < 1)
            break;
        const struct status_saved saved = status_capture_save();
        status_capture(text, sizeof text);
        rc = w->ops->create(&w->params, w->backend, rows, &slot->model);
        status_capture_restore(saved);
        if (rc == ERR_MEMORY && tries == 0 && rows > 1)
            log_warn("a batch of %d rows does not go into the memory of %s (%s): trying half",
                     rows, w->backend->device, text);
    }
    slot->capacity = rows;
    if (rc == 0)
        return tell_taken(w, &ledger, rows, before);
    if (rc != ERR_MEMORY)
        FAIL(rc, "%s", text);
    const int last = rows > 0 ? rows : first;
    text_bytes(batch_bytes(&ledger, last), wanted);
    FAIL(ERR_DEVICE, "%s has no room for a batch of %d row%s (%s): %s", w->backend->device,
         last, last == 1 ? "" : "s", wanted, text);
}

static int slot_fill(struct worker *w, struct worker_slot *slot, int64_t structure,
                     const struct plane_layout *layout)
{
    TRY(slot_backend(w));
    slot->used = true;
    slot->structure = structure;
    TRY(MEM_NEW(w->placement.capacity, &slot->status));
    if (w->backend->apart) /* whose transforms have no wisdom */
        return create_on_device(w, slot, layout);
    slot->capacity = w->placement.capacity;
    TRY(w->ops->create(&w->params, w->backend, slot->capacity, &slot->model));
    return layout->transforms > 0 ? wisdom_share(&w->wisdom, w->backend) : 0;
}

int slot_rows(const struct worker *worker)
{
    return worker->current >= 0 ? worker->slot[worker->current].capacity
                                : worker->placement.capacity;
}

static void choose(struct worker *w, int s)
{
    w->current = s;
    kernel_id_write(w->backend, w->ops, w->slot[s].model, w->kernel_id);
}

int slot_select(struct worker *worker, int64_t structure, const struct plane_layout *layout)
{
    int oldest = 0;
    worker->clock++;
    for (int s = 0; s < WORKER_SLOTS; s++) {
        struct worker_slot *slot = &worker->slot[s];
        if (slot->used && slot->structure == structure) {
            slot->age = worker->clock;
            choose(worker, s);
            return grow_buffers(worker, slot, layout);
        }
        if (slot->age < worker->slot[oldest].age)
            oldest = s;
    }
    struct worker_slot *slot = &worker->slot[oldest];
    slot_clear(worker, slot);
    worker->current = -1;
    int rc = slot_fill(worker, slot, structure, layout);
    if (rc == 0)
        rc = grow_buffers(worker, slot, layout);
    if (rc != 0) {
        slot_clear(worker, slot);
        wisdom_clear(&worker->wisdom);
        return rc;
    }
    slot->age = worker->clock;
    choose(worker, oldest);
    return 0;
}
