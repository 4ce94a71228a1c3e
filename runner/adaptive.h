/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef RUNNER_ADAPTIVE_H
#define RUNNER_ADAPTIVE_H

#include <stdbool.h>

#include "runner/prepare.h"
#include "scans/scan.h"

/*
 * What `ensemble.until` of a scan asks for before the farm: whether the model's planes have it,
 * whether this run can give it, and what an earlier run of the file left (io/until.h).
 */

/** Whether the ensembles of a scan stop themselves. */
bool adaptive_is_on(const struct scan *scan);

/** Number of looks at a point, and realisations of one. @param count  of look `look`, from 0 */
int adaptive_looks(const struct scan *scan, int look, int64_t *count);

/** Whether the model's planes have what is estimated, and each grid frequencies in the band:
 * ERR_PARSE, with the place in the scan file. */
int adaptive_check_layout(const struct scan *scan, const struct plane_layout *layout);

/** Refuse what a run, or a plan of so many shards, cannot do with such ensembles:
 * ERR_UNSUPPORTED. @param shards  0 or 1: none */
int adaptive_check_shards(const struct scan *scan, long shards);

/** The same of all options of `run`. */
int adaptive_check_options(const struct scan *scan, const struct run_options *options);

/** Members that were not needed and are, since members before them are to be computed again,
 * become pending. Single writer, before the farm; the file is made or compared. */
int adaptive_prepare(const struct prepared *prepared);

#endif
