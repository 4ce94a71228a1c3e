/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef RUNNER_RUN_OPTIONS_H
#define RUNNER_RUN_OPTIONS_H

#include "runner/run.h"

/**
 * Read the command line of `run` and find out how this process was started.
 *
 * @param run  receives the options; its texts are those of argv
 * @param help receives whether --help was asked for (it has been printed)
 * @return 0, or ERR_ARGUMENT, ERR_UNSUPPORTED for an option of a later version
 */
int run_options_read(int argc, char **argv, struct run_options *run, bool *help);

/** Whether this is another than the first rank of somebody's mpirun or srun: all have the same
 * command line, and the first says what is wrong with it. */
bool run_options_are_told(void);

#endif
