/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef RUNNER_TOLERANCE_H
#define RUNNER_TOLERANCE_H

#include <stddef.h>

#include "scans/scan.h"

/**
 * What the tolerance of a scan means, in one or two sentences: for `plan` and the end of a run.
 * "" for a model without stepper.
 */
void tolerance_text(const struct scan *scan, char *text, size_t size);

/** Least and largest stepper.rtol of a scan; both NaN for a model without stepper. */
void tolerance_range(const struct scan *scan, double range[2]);

#endif
