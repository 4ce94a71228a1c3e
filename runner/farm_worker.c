/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "runner/farm_worker.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "kernels/base/clock.h"
#include "kernels/base/fault.h"
#include "kernels/base/log.h"
#include "kernels/base/status.h"
#include "runner/batch.h"
#include "runner/early.h"
#include "runner/worker.h"

/* A worker that has something to do looks for messages this often (s): more chunks are not
 * urgent to it, and a look costs as much as a very short member. */
#define LOOK_PERIOD 500e-6

/* The worker's end of the line. */
struct line {
    const struct comm *comm;
    struct comm_thread thread;
    struct backoff backoff;
    double next_look;
    bool at_once; /* QUIT asked to leave by _exit */
};

static int take(struct line *line, struct worker *worker, const struct message *message)
{
    if (message->kind == MESSAGE_GIVE)
        return worker_give(worker, &message->give);
    if (message->kind == MESSAGE_CHECK) {
        worker->check.asked = true;
        return 0;
    }
    if (message->kind != MESSAGE_QUIT)
        FAIL(ERR_BUG, "the controller sent a %s message to a worker",
             message_name(message->kind));
    worker->quit = true;
    line->at_once = message->quit.at_once != 0;
    return 0;
}

static int poll_line(void *context, struct worker *worker, bool idle)
{
    struct line *line = context;
    struct message message;
    int from = 0;
    bool any = false;
    const double now = clock_wall();
    if (!idle && now < line->next_look)
        return 0;
    line->next_look = now + LOOK_PERIOD;
    for (int vain = 0; vain < (idle ? COMM_LOOKS : 1) && !worker->quit;) {
        bool arrived = false;
        TRY(comm_receive(line->comm, line->comm->tasks, &message, &from, &arrived));
        if (arrived)
            TRY(take(line, worker, &message));
        any = any || arrived;
        vain += !arrived;
    }
    const int failed = atomic_load(&line->thread.failed);
    if (failed != 0)
        FAIL(failed, "the second thread has lost the controller");
    if (any)
        backoff_reset(&line->backoff);
    else if (idle)
        backoff_wait(&line->backoff);
    return 0;
}

static int check_line(void *context)
{
    struct line *line = context;
    return comm_check_contact(&line->thread);
}

static int report_line(void *context, const struct message_report *report)
{
    struct line *line = context;
    struct message message = message_make(MESSAGE_REPORT, line->comm->attempt);
    if (atomic_load(&line->thread.failed) != 0) /* it may wake up, and must not read it twice */
        FAIL(ERR_MPI, "the controller is lost: it gets no report");
    message.report = *report;
    backoff_reset(&line->backoff);
    return comm_send(line->comm->tasks, 0, &message, &line->thread.failed);
}

/* What it computes on. */
static void fill_device(const struct farm_place *place, struct message_ready *ready)
{
    const struct device_choice *const device = place->device;
    const int threads = place->placement->threads;
    if (device->sharers == 0) {
        snprintf(ready->device, sizeof ready->device, "cpu, %d thread%s", threads,
                 threads == 1 ? "" : "s");
        return;
    }
    device_text(device, ready->device, sizeof ready->device);
    snprintf(ready->bus, sizeof ready->bus, "%s", device->device.bus);
    ready->key = device->key;
    ready->served = device_is_served();
}

static int say_ready(const struct farm_place *place, const struct worker *worker,
                     const char *batch)
{
    struct message message = message_make(MESSAGE_READY, place->comm->attempt);
    struct message_ready *ready = &message.ready;
    ready->pid = getpid();
    ready->capacity = worker->placement.capacity;
    ready->threads = place->placement->threads;
    ready->cores = CPU_COUNT(&place->placement->mask);
    ready->allowed = CPU_COUNT(early_allowed());
    placement_pack(&place->placement->mask, ready->mask);
    placement_text(&place->placement->mask, ready->cpus, sizeof ready->cpus);
    snprintf(ready->host, sizeof ready->host, "%s", place->host);
    snprintf(ready->batch, sizeof ready->batch, "%s", batch);
    fill_device(place, ready);
    return comm_send(place->comm->tasks, 0, &message, NULL);
}

static int say_ack(const struct farm_place *place, struct worker *worker)
{
    struct message message = message_make(MESSAGE_ACK, place->comm->attempt);
    message.ack.timing = stopwatch_read(&worker->watch);
    message.ack.members = worker->members;
    return comm_send(place->comm->tasks, 0, &message, NULL);
}

/* An error outside the work itself: opening or closing the file. */
static int say_error(const struct farm_place *place, int error, const char *text)
{
    struct message message = message_make(MESSAGE_REPORT, place->comm->attempt);
    message.report.error = error;
    snprintf(message.report.text, sizeof message.report.text, "%s", text);
    return comm_send(place->comm->tasks, 0, &message, NULL);
}

static void fill(const struct farm_place *place, struct line *line, struct worker *worker)
{
    worker->scan = place->scan;
    worker->options = place->options;
    worker->link = (struct worker_link){
        .poll = poll_line,
        .report = report_line,
        .may_write = check_line,
        .context = line,
        .messages = true,
    };
    worker->draining = &line->thread.draining;
    worker->rank = place->comm->rank;
    worker->attempt = place->attempt;
    worker->placement = *place->placement;
    worker->device = *place->device;
    worker->open = place->open;
    worker->touched = place->touched;
    worker->checkpoints.table = place->resume;
    worker->checkpoints.workers = place->comm->size - 1;
    snprintf(worker->host, sizeof worker->host, "%s", place->host);
    wisdom_init(&worker->wisdom, place->options->file, place->host, place->wisdom);
}

/* A worker that cannot open the file waits to be let go. */
static int wait_for_quit(struct worker *worker)
{
    atomic_store(&worker->control.stop, 1);
    return worker_run(worker);
}

int farm_worker_run(const struct farm_place *place, bool *at_once)
{
    struct line line = {.comm = place->comm};
    struct worker worker;
    char text[STORE_REASON_SIZE] = "";
    char batch[BATCH_TEXT_SIZE] = "";
    memset(&worker, 0, sizeof worker);
    TRY(comm_thread_start(&line.thread, place->comm, &worker.control));
    fill(place, &line, &worker);
    fault_point("ready", -1, -1);
    status_capture(text, sizeof text);
    int opened = batch_open(&worker, batch);
    status_capture(NULL, 0);
    int rc = fault_mute("ready") ? 0 : say_ready(place, &worker, batch);
    if (rc == 0) {
        if (opened == 0) {
            status_capture(text, sizeof text);
            opened = worker_open(&worker);
            status_capture(NULL, 0);
        }
        if (opened != 0)
            rc = say_error(place, opened, text);
        if (rc == 0)
            rc = opened != 0 ? wait_for_quit(&worker) : worker_run(&worker);
    }
    status_capture(text, sizeof text);
    const int closed = worker_close(&worker); /* with signs of life: it may take a while */
    status_capture(NULL, 0);
    stopwatch_switch(&worker.watch, PART_MPI);
    comm_thread_end(&line.thread);
    *at_once = line.at_once;
    if (rc == 0 && closed != 0)
        rc = say_error(place, closed, text);
    return rc == 0 ? say_ack(place, &worker) : rc;
}
