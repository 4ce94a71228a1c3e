/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef RUNNER_COMMANDS_H
#define RUNNER_COMMANDS_H

#include "runner/options.h"

/* The commands of the program, each in the file of its name; main's table lists them. */
extern const struct command plan_command;
extern const struct command models_command;
extern const struct command describe_command;
extern const struct command init_command;
extern const struct command status_command;
extern const struct command log_command;
extern const struct command collect_command;
extern const struct command reduce_command;
extern const struct command verify_command;
extern const struct command diff_command;
extern const struct command plot_command;
extern const struct command tune_command;

#endif
