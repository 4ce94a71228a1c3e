/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef RUNNER_ARGUMENTS_H
#define RUNNER_ARGUMENTS_H

#include "runner/run.h"

#define ARGUMENTS_MAX (2 * OPTIONS_OVERRIDES_MAX + 64)

/* The command line of a rank, in the making. */
struct arguments {
    char *word[ARGUMENTS_MAX + 1]; /* NULL-terminated, owned */
    int count;
    int error; /* enum status_code of the first failure */
};

/** Add one word, by printf. Failures are kept in arguments->error. */
void arguments_add(struct arguments *arguments, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/**
 * Add this program and the words that make it a rank of a run.
 *
 * @param run name of the run: the journal's records carry it
 * @return 0, or the first failure of all adds: ERR_MEMORY, ERR_UNSUPPORTED (too many), ERR_IO
 */
int arguments_add_run(struct arguments *arguments, const struct run_options *options,
                      const char *run);

/** Free the words. */
void arguments_clear(struct arguments *arguments);

#endif
