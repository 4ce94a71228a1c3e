/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef RUNNER_EARLY_H
#define RUNNER_EARLY_H

#include <sched.h>
#include <stdbool.h>

/*
 * What has to be known before main(). libgomp reads its environment when the program is loaded:
 * with OMP_PROC_BIND it binds the main thread to one core, after which the set of cores that
 * this process may use cannot be read any more; with a number that it cannot read it prints a
 * line of its own. A function that runs before the libraries' constructors reads the set of
 * cores and hides those variables: workers bind themselves (docs/architecture.md, "Placement").
 */

/** The cores this process was allowed when it was started. */
const cpu_set_t *early_allowed(void);

/** Value of an OpenMP binding variable that was set and is not used, and its name; NULL: none.
 */
const char *early_binding(const char **name);

/** OMP_NUM_THREADS: 0 when it is not set. Else ERR_ARGUMENT naming it. */
int early_threads(int *threads);

#endif
