/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef IO_JOURNAL_H
#define IO_JOURNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "io/store.h"

/*
 * The journal of a run: `<file>.journal`, JSON lines, one writer (the controller, or the
 * launcher when the controller is gone). Each record starts with a newline, is one write(2) in
 * append mode and carries run, attempt and sequence; a record is whole when it ends with its
 * closing brace, which occurs nowhere else in it. Readers skip torn lines.
 */

#define JOURNAL_TEXT_SIZE 512
#define JOURNAL_RUN_SIZE  64
#define JOURNAL_LOADS_MAX 64 /* workers of one `load` record */

struct journal;

/* Members by state; `running` exists here only. */
struct journal_counts {
    int64_t members, pending, running, done, failed, timed_out, other;
    double rate;              /* members/s */
    double eta;               /* s; NaN: unknown */
    double eta_low, eta_high; /* s, its error band; NaN or 0: unknown */
};

/* The `end` record. */
struct journal_end {
    bool found;
    int code; /* exit code of the program */
    int64_t attempt;
    char run[JOURNAL_RUN_SIZE];
    char text[JOURNAL_TEXT_SIZE];
    char time[32];
};

/* What `status` reads of a journal: its newest attempt. */
struct journal_summary {
    bool found; /* a `begin` record */
    int64_t attempt;
    int64_t workers;
    char run[JOURNAL_RUN_SIZE];
    char begin[32];               /* time of the `begin` record */
    char heartbeat[32];           /* time of the last heartbeat, "" when there is none */
    struct journal_counts counts; /* of the last heartbeat */
    struct journal_end end;       /* of this attempt */
};

/* What a worker was doing at the time of a `load` record. */
struct journal_load {
    int rank;
    int64_t held;  /* tasks */
    int64_t ended; /* members, since it became ready */
    int64_t steps; /* as its last heartbeat said */
    double silent; /* s since it was heard of */
};

/* A point whose ensemble has stopped itself. */
struct journal_stop {
    int64_t point;
    int64_t count;        /* points that stopped since the last record, this one included */
    int64_t realisations; /* that count */
    int looks;
    bool reached; /* its error is small enough */
    double value; /* what was estimated */
    double error; /* of it, as the wanted one is meant */
};

/* Kinds of records. */
enum journal_kind {
    JOURNAL_UNKNOWN,
    JOURNAL_BEGIN,
    JOURNAL_WORKER,
    JOURNAL_MEMBER,
    JOURNAL_HEARTBEAT,
    JOURNAL_LOAD,
    JOURNAL_REUSE,
    JOURNAL_END
};

/* A record as a reader sees it; only the fields of its kind are set. */
struct journal_record {
    enum journal_kind kind;
    int64_t attempt; /* -1: before the attempt was numbered */
    char time[32];
    int rank;                     /* WORKER; MEMBER: of its worker, 0: not told */
    int64_t pid;                  /* WORKER */
    char host[64];                /* WORKER */
    char word[24];                /* WORKER: event; MEMBER: state */
    int64_t first, last;          /* MEMBER */
    int64_t count;                /* MEMBER: how many of first to last; REUSE */
    int code;                     /* END */
    char text[JOURNAL_TEXT_SIZE]; /* MEMBER: reason; REUSE: file; END */
    int loads;                    /* LOAD */
    struct journal_load load[JOURNAL_LOADS_MAX];
};

struct journal_reader;

/**
 * Open the journal that belongs to a store file, for appending.
 *
 * @param store_path  path of the HDF5 file; ".journal" is appended
 * @param run         names this run (the launcher's choice, e.g. host-pid-time), "" without one
 * @param attempt     as store_begin_attempt gave it, -1 before
 * @return 0, ERR_IO with path and errno, ERR_MEMORY
 */
int journal_open(const char *store_path, const char *run, int64_t attempt,
                 struct journal **out);

/** Close; NULL is legal. Coalesced member records are written. */
int journal_close(struct journal *journal);

/** The attempt number, once store_begin_attempt gave it. */
void journal_set_attempt(struct journal *journal, int64_t attempt);

/** The run begins. */
int journal_write_begin(struct journal *journal, int64_t members, int workers,
                        const char *command);

/** A worker appeared, was parked, ended, … */
int journal_write_worker(struct journal *journal, int rank, const char *host, long pid,
                         const char *event);

/**
 * Neighbouring members changed their state alike. Those without a reason are put together into
 * ranges over several calls, written after a second, before a record of another kind or at the
 * end: a few a second, which then may tell of some members between first and last only; with a
 * reason each member has its record.
 *
 * @param state   text: "running", "done", "failed", …
 * @param reason  "" when there is none
 */
int journal_write_members(struct journal *journal, int64_t first, int64_t count,
                          const char *state, const char *reason);

/** A worker was given members: "running", with its rank; otherwise as journal_write_members. */
int journal_write_given(struct journal *journal, int rank, int64_t first, int64_t count);

/** What workers are doing. @param load [count], JOURNAL_LOADS_MAX at most */
int journal_write_load(struct journal *journal, const struct journal_load *load, int count);

/** An ensemble has stopped: record `stop`. */
int journal_write_stop(struct journal *journal, const struct journal_stop *stop);

/** Members were taken over from another file. @param damaged those that were damaged there */
int journal_write_reuse(struct journal *journal, const char *from, int64_t members,
                        int64_t damaged);

/** Alive: the counts. */
int journal_write_heartbeat(struct journal *journal, const struct journal_counts *counts);

/** The last record of a run: the exit code. Written through to the disk. */
int journal_write_end(struct journal *journal, int code, const char *text);

/**
 * The newest `end` record.
 *
 * @param run  only of this run; NULL: of any
 * @return 0 with out->found = false when there is no journal or no such record; ERR_IO
 */
int journal_read_end(const char *store_path, const char *run, struct journal_end *out);

/**
 * Read a journal record by record.
 *
 * @param newest  begin with the newest attempt where its place is known; else with the first
 * @param out     NULL when there is no journal; close with journal_reader_close
 */
int journal_reader_open(const char *store_path, bool newest, struct journal_reader **out);

/** The next whole record; false at the end. */
bool journal_reader_next(struct journal_reader *reader, struct journal_record *out);

/** Close; NULL is legal. */
void journal_reader_close(struct journal_reader *reader);

/** Newest attempt, last heartbeat and end, for `status`. Errors as journal_read_end. */
int journal_read_summary(const char *store_path, struct journal_summary *out);

#endif
