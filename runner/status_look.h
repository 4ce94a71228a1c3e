/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef RUNNER_STATUS_LOOK_H
#define RUNNER_STATUS_LOOK_H

#include <stdbool.h>

/**
 * Look once at everything that a command line names and write it to stdout: result files, files
 * of shards (of several of one scan a summary), submissions. One that cannot be read is said
 * and does not hide the others.
 *
 * @param path   [paths]
 * @param alive  receives whether somebody writes one of the files, or jobs are in the queue
 * @return 0, or the code of the first that could not be read
 */
int status_look(char *const *path, int paths, bool json, bool *alive);

#endif
