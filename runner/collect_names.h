/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef RUNNER_COLLECT_NAMES_H
#define RUNNER_COLLECT_NAMES_H

#include <stdbool.h>
#include <stddef.h>

#include "kernels/base/submission.h"

/*
 * The files that are to be collected, one name at a time: those of the command line, of a list,
 * the `*.h5` of a folder (in the order in which the system gives them) and the shards of a
 * submission. They can be gone through more than once.
 */

struct collect_names;

/**
 * @param argument  [arguments] files, folders and submissions; borrowed
 * @param list      a file with a name a line, "-": stdin, which is kept in a temporary file;
 *                  NULL: none
 * @param out       close with collect_names_close
 * @return 0, ERR_ARGUMENT for a list that does not exist, ERR_IO, ERR_MEMORY
 */
int collect_names_open(char **argument, int arguments, const char *list,
                       struct collect_names **out);

/**
 * Where the first submission among the arguments wants its result.
 *
 * @param out            [size] "" without a submission
 * @param configuration  of its scan; "" when it does not tell
 */
int collect_names_result(const struct collect_names *names, char *out, size_t size,
                         char configuration[SUBMISSION_HASH_SIZE]);

/** Begin again. ERR_IO */
int collect_names_rewind(struct collect_names *names);

/**
 * The next name.
 *
 * @param name  [size]
 * @param more  false at the end
 * @return 0; ERR_ARGUMENT for one that is too long, or for a submission that is not understood;
 *         ERR_IO
 */
int collect_names_next(struct collect_names *names, char *name, size_t size, bool *more);

/** Close; NULL is legal. */
void collect_names_close(struct collect_names *names);

#endif
