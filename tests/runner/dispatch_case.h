/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TESTS_RUNNER_DISPATCH_CASE_H
#define TESTS_RUNNER_DISPATCH_CASE_H

#include "runner/dispatch.h"

/* A controller of a scan with simulated workers, without MPI and without a file. */

/** Make a controller of the scan in `text`, [workers] of them with `capacity` rows each. */
void dispatch_case_make(const char *text, int workers, int capacity, struct scan **scan,
                        struct dispatch *d, struct dispatch_worker *w);

/** Long members: no chunks, no reserve. */
void dispatch_case_long_members(struct dispatch *d);

/** Free all of it. */
void dispatch_case_clear(int workers, struct scan *scan, struct dispatch *d,
                         struct dispatch_worker *w);

#endif
