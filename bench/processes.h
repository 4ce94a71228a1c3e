/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <stdbool.h>

/**
 * Run this program `count` times in fresh processes, one after the other, with its own
 * arguments, `--json` and `--processes 1`, and print the median of each number that they tell,
 * of the ratio its range too: as a line of JSON, or as text behind the first process's line.
 */
int processes_report(char **argv, int count, bool json);
