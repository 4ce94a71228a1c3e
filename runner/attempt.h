/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef RUNNER_ATTEMPT_H
#define RUNNER_ATTEMPT_H

#include "runner/prepare.h"

/*
 * One attempt at a scan: its row in the file, its records in the journal, and the step that
 * ends it when all writers are gone.
 */

/**
 * Begin an attempt: single writer, before workers open the file. Opens prepared->journal.
 *
 * @param layout  ranks, hosts and cores, one a line, for /provenance
 * @param workers number of workers
 * @param attempt receives its number
 */
int attempt_begin(struct prepared *prepared, const char *layout, int workers, int *attempt);

/* How a run ended: exit code and one sentence. */
struct attempt_end {
    int code;
    bool idle; /* nothing was to be done */
    char text[JOURNAL_TEXT_SIZE];
};

/**
 * Write the `end` record, the last of this run. When that fails, an end that was no error
 * becomes one, which is logged.
 *
 * @return 0 when the record is written
 */
int attempt_write_end(struct prepared *prepared, struct attempt_end *end);

/**
 * When all writers are gone: store the node's wisdom, end the attempt in the file. A failure
 * worsens the end as in attempt_write_end.
 */
void attempt_finish(const struct run_options *options, int attempt, struct attempt_end *end);

/**
 * Both, of one process that does all: the journal first, since a full disk refuses it before
 * the file's row, which is there already. When the file worsens the end the journal gets it
 * anew.
 *
 * @param attempt -1: none was begun
 */
void attempt_close(struct prepared *prepared, int attempt, struct attempt_end *end);

/**
 * Say how the run ended, from the file: counts, failed members with their reasons, time, what
 * the tolerance means; one line when nothing was to be done; of a quiet run the failed members
 * only. As text on stderr, and with --json as one object on stdout.
 *
 * @param wall seconds since the command was given
 */
int attempt_summary(const struct prepared *prepared, double wall,
                    const struct attempt_end *end);

#endif
