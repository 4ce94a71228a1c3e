/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef RUNNER_RETRY_H
#define RUNNER_RETRY_H

#include "runner/prepare.h"

/**
 * `run --retry-failed`: members that failed, timed out or were quarantined, of --only those
 * selected, become pending again; the file is no longer complete then. Says how many, and that
 * there is none. The journal gets a record of them. Single writer, before the farm.
 */
int retry_failed(struct prepared *prepared);

#endif
