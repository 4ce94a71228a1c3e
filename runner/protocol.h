/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef RUNNER_PROTOCOL_H
#define RUNNER_PROTOCOL_H

#include <stdbool.h>
#include <stdint.h>

#include "io/store.h"
#include "runner/process.h"

/*
 * Every message of the farm (docs/architecture.md, "Farm protocol"). Only indices travel; any
 * rank computes any point from its index. Point to point only, non-blocking towards workers;
 * no collective call after start-up. All messages are one `struct message`, bytes of fixed
 * size, with protocol version and attempt id inside: a message of another version or attempt
 * is refused.
 *
 * Two communicators: `tasks` between the controller and the workers' main threads, `side`
 * between the controller and the workers' second threads.
 *
 * States of a worker as the controller sees them:
 *   SILENT -READY-> IDLE -GIVE-> BUSY -REPORT (nothing outstanding)-> IDLE -QUIT-> LEAVING
 * -ACK-> GONE; from any of them, when its process has ended or is given up: DEAD
 *
 *  message        from        to          on     legal in           answer
 */
#define PROTOCOL_LIST(X)                                                                       \
    X(READY, worker, controller, tasks, "SILENT", "GIVE or QUIT")                              \
    X(HEARTBEAT, worker, controller, side, "any but GONE", "the same HEARTBEAT back")          \
    X(REPORT, worker, controller, tasks, "BUSY", "GIVE, QUIT, or none while tasks are out")    \
    X(GIVE, controller, worker, tasks, "IDLE, BUSY", "REPORTs that cover every task of it")    \
    X(DRAIN, controller, worker, side, "IDLE, BUSY; reserved", "REPORT at the next plane")     \
    X(STOP, controller, worker, side, "IDLE, BUSY", "REPORT after the current trial step")     \
    X(STOP_REQUEST, worker, controller, side, "any but GONE", "STOP to all")                   \
    X(QUIT, controller, worker, tasks, "IDLE", "ACK")                                          \
    X(ACK, worker, controller, tasks, "LEAVING", "none; the worker has closed the file")       \
    X(REVOKE, controller, worker, side, "BUSY; reserved", "REPORT of the unstarted tasks")     \
    X(CHECK, controller, worker, tasks, "IDLE", "REPORT with the verdict of a self-check")     \
    X(KILL, controller, worker, side, "IDLE, BUSY", "CONFIRM")                                 \
    X(CONFIRM, worker, controller, side, "IDLE, BUSY", "none")

#define PROTOCOL_VERSION   6
#define PROTOCOL_IDS_MAX   64 /* ids of one GIVE that is no range */
#define PROTOCOL_RUNS_MAX  16 /* runs of equal outcome of one REPORT */
#define PROTOCOL_MASK_SIZE 128
#define REPORT_CHECK_SIZE  200
#define READY_BATCH_SIZE   280

/* The rows of PROTOCOL_LIST. */
enum message_kind {
    MESSAGE_NONE = 0,
#define PROTOCOL_ENUM(kind, from, to, on, state, answer) MESSAGE_##kind,
    PROTOCOL_LIST(PROTOCOL_ENUM)
#undef PROTOCOL_ENUM
};

/* What is done with an id: compute a member, judge it, reduce a point. */
enum task_pass { PASS_MEMBER = 0, PASS_JUDGE = 1, PASS_REDUCE = 2 };

/* How a judgment ends: as a member does, and MEMBER_DONE is the verdict "within". */
enum { JUDGED_OUTSIDE = 32 };

/* A worker's first word: what it is and where it runs. */
struct message_ready {
    int64_t pid;
    int32_t capacity;                 /* members it computes at the same time */
    int32_t threads;                  /* that do so */
    int32_t cores;                    /* hardware threads it is bound to */
    int32_t allowed;                  /* hardware threads that it inherited */
    uint8_t mask[PROTOCOL_MASK_SIZE]; /* those cores, bit i of byte i / 8 */
    char cpus[128];                   /* the same as text: "0-3,8" */
    char host[64];
    char device[96];
    char bus[32];   /* PCI bus id of its device, "" on the CPU */
    uint64_t key;   /* the device, the same for all workers of a host; 0: the CPU */
    int32_t served; /* not 0: NVIDIA's MPS serves it, so that sharing is meant */
    char batch[READY_BATCH_SIZE]; /* where the memory of its rows comes from, "" on the CPU */
};

/* A sign of life from a worker. It comes back unchanged: `sent` tells a worker how old its last
 * word of the controller is, whenever it reads it. */
struct message_heartbeat {
    int64_t steps_done; /* trial steps since the start */
    double sent;        /* clock_wall() of the worker */
};

/* End a process of your machine that is taken for dead, or find out whether it lives. */
struct message_kill {
    struct process_id process;
    int32_t rank;  /* its rank */
    int32_t force; /* 0: do not end it */
};

/* What became of it. */
struct message_confirm {
    int32_t rank;
    int32_t gone; /* not 0: the process has ended */
};

/* There is nothing more to do. */
struct message_quit {
    int32_t at_once; /* a rank has died: leave by _exit, MPI_Finalize may hang */
};

/* Tasks of one pass and one structural key. */
struct message_give {
    int32_t pass;
    int32_t count;  /* of id; 0: the range [first, first + length) */
    int32_t again;  /* not 0: members may have been begun, or ended, by a worker that died */
    double timeout; /* s that one member may take; 0: no limit */
    int64_t first;
    int64_t length;
    int64_t id[PROTOCOL_IDS_MAX];
};

/* Consecutive ids that ended alike. */
struct report_run {
    int64_t first;
    int64_t count;
    int32_t pass;
    int32_t state;   /* enum member_state, JUDGED_OUTSIDE; MEMBER_PENDING: given back */
    double seconds;  /* of work, summed over them */
    double value[2]; /* PASS_REDUCE: overall coherence, or what an ensemble that stops itself
                        estimates, and its error */
    /* PASS_REDUCE of such an ensemble: */
    int32_t stopped;      /* enum until_stop */
    int32_t looks;        /* that were taken */
    int64_t realisations; /* of the last one */
};

/* Verdict of a worker's self-check, on all members that it has reported so far. */
enum check_verdict {
    CHECK_NONE, /* none was made */
    CHECK_PASSED,
    CHECK_FAILED, /* it computes nothing any more */
    CHECK_VOID    /* asked for by CHECK, and there was nothing to compare */
};

/* What became of the tasks since the last report. With a device that has failed: no runs. */
struct message_report {
    int32_t runs;
    int32_t rows;                       /* that it has now; 0: as it said before */
    int32_t check;                      /* enum check_verdict */
    char check_text[REPORT_CHECK_SIZE]; /* its figures */
    int32_t error;                      /* enum status_code: the worker cannot go on */
    int32_t device_failed; /* not 0: its device; all that it holds is others' from here on, and
                              nothing of it reaches the file any more */
    char text[STORE_REASON_SIZE]; /* what failed; or the reason of the first failed member */
    struct report_run run[PROTOCOL_RUNS_MAX];
};

/* A worker's last word: the sums of its run. */
struct message_ack {
    struct store_timing timing;
    int64_t members; /* computed */
};

/* A message as it is sent; kind says which part of the union counts. */
struct message {
    uint32_t kind; /* enum message_kind */
    uint32_t version;
    uint64_t attempt;
    union {
        struct message_ready ready;
        struct message_heartbeat heartbeat;
        struct message_give give;
        struct message_report report;
        struct message_ack ack;
        struct message_kill kill;
        struct message_confirm confirm;
        struct message_quit quit;
    };
};

/** Name of a message kind for log lines: "GIVE"; "unknown" otherwise. */
const char *message_name(uint32_t kind);

/** An empty message of this version. */
struct message message_make(enum message_kind kind, uint64_t attempt);

/**
 * Whether a received message belongs to this attempt and version.
 *
 * @return 0, or ERR_MPI with what arrived and what was expected
 */
int message_check(const struct message *message, uint64_t attempt);

/** Number of tasks in a GIVE. */
int64_t give_count(const struct message_give *give);

/** Id of its i-th task. */
int64_t give_id(const struct message_give *give, int64_t i);

/**
 * Add the outcome of one task to a report: it joins the last run when it follows it with the
 * same pass and state and is no reduction.
 *
 * @return false when the report is full (send it, clear it, add again)
 */
bool report_add(struct message_report *report, const struct report_run *one);

#endif
