/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bench/farm_watch.h"

#include <stdint.h>

#include "kernels/base/clock.h"
#include "kernels/base/mem.h"
#include "runner/comm.h"
#include "runner/dispatch.h"
#include "runner/outbox.h"
#include "runner/worker.h"
#include "scans/scan.h"

/* A chunk that a worker holds. */
struct held_chunk {
    int64_t first; /* id of its first member */
    double arrived;
};

/* The calls carry no context, so the stamps have one place in the process. */
static struct {
    bool on;
    struct watch_samples kind[WATCH_KINDS];
    double *reported; /* [ranks] controller: when the REPORT that waits was taken in; 0: none */
    double last_report;
    struct held_chunk chunk[WORKER_GIVES_MAX];
    int chunks;
    double ended; /* worker: when the last member ended; 0: none yet */
} watch;

static void keep(enum watch_kind kind, double seconds)
{
    struct watch_samples *const samples = &watch.kind[kind];
    samples->seconds[samples->seen % WATCH_SAMPLES_MAX] = seconds;
    samples->seen++;
}

void watch_begin(bool controller, int ranks)
{
    watch.on = !controller || MEM_NEW(ranks, &watch.reported) == 0;
}

void watch_end(void)
{
    watch.on = false;
    mem_free(watch.reported);
    watch.reported = NULL;
}

const struct watch_samples *watch_samples(enum watch_kind kind)
{
    return &watch.kind[kind];
}

double watch_last_report(void)
{
    return watch.last_report;
}

/* Part: the linker's names. __real_X is the product's function, __wrap_X is called instead. */

int __real_comm_receive(const struct comm *comm, MPI_Comm on, struct message *message,
                        int *from, bool *arrived);
int __wrap_comm_receive(const struct comm *comm, MPI_Comm on, struct message *message,
                        int *from, bool *arrived);
int __real_outbox_send(struct outbox *outbox, MPI_Comm on, int to,
                       const struct message *message);
int __wrap_outbox_send(struct outbox *outbox, MPI_Comm on, int to,
                       const struct message *message);
int __real_worker_give(struct worker *worker, const struct message_give *give);
int __wrap_worker_give(struct worker *worker, const struct message_give *give);
bool __real_report_add(struct message_report *report, const struct report_run *one);
bool __wrap_report_add(struct message_report *report, const struct report_run *one);
void __real_scan_point(const struct scan *scan, int64_t point, struct params *params);
void __wrap_scan_point(const struct scan *scan, int64_t point, struct params *params);

int __wrap_comm_receive(const struct comm *comm, MPI_Comm on, struct message *message,
                        int *from, bool *arrived)
{
    const int rc = __real_comm_receive(comm, on, message, from, arrived);
    if (rc == 0 && *arrived && watch.on && message->kind == MESSAGE_REPORT) {
        watch.last_report = clock_wall();
        watch.reported[*from] = watch.last_report;
    }
    return rc;
}

int __wrap_outbox_send(struct outbox *outbox, MPI_Comm on, int to,
                       const struct message *message)
{
    const int rc = __real_outbox_send(outbox, on, to, message);
    if (watch.on && message->kind == MESSAGE_GIVE && watch.reported[to] > 0) {
        keep(WATCH_ANSWER, clock_wall() - watch.reported[to]);
        watch.reported[to] = 0;
    }
    return rc;
}

int __wrap_worker_give(struct worker *worker, const struct message_give *give)
{
    if (watch.on && watch.chunks < WORKER_GIVES_MAX)
        watch.chunk[watch.chunks++] =
            (struct held_chunk){.first = give_id(give, 0), .arrived = clock_wall()};
    return __real_worker_give(worker, give);
}

bool __wrap_report_add(struct message_report *report, const struct report_run *one)
{
    if (watch.on && one->state != MEMBER_PENDING)
        watch.ended = clock_wall();
    return __real_report_add(report, one);
}

/* Each member begins with its parameters. */
void __wrap_scan_point(const struct scan *scan, int64_t point, struct params *params)
{
    __real_scan_point(scan, point, params);
    int i = 0;
    while (i < watch.chunks && watch.chunk[i].first / scan_realisations(scan) != point)
        i++;
    if (!watch.on || i == watch.chunks)
        return;
    if (watch.ended > 0)
        keep(watch.chunk[i].arrived < watch.ended ? WATCH_RESERVE : WATCH_ROUND,
             clock_wall() - watch.ended);
    /* Chunks before it were given back before they began. */
    watch.chunks -= i + 1;
    for (int k = 0; k < watch.chunks; k++)
        watch.chunk[k] = watch.chunk[k + i + 1];
}
