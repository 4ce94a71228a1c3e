/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef RUNNER_REUSE_H
#define RUNNER_REUSE_H

#include "io/reuse.h"
#include "runner/prepare.h"

/**
 * `run --reuse OLD`: open the old file, before the result file is moved aside or made.
 *
 * @param out  NULL without the option; close with reuse_close
 * @return 0; ERR_ARGUMENT when it does not exist or is the result file itself, which is allowed
 *         with --fresh only; errors of reuse_open
 */
int reuse_find(const struct prepared *prepared, struct reuse **out);

/**
 * Take over what is pending in the result file and done in the old one, of --only those
 * selected; say how many; tell the journal. A stop that is asked for ends it early. Single
 * writer, before the farm.
 *
 * @param reuse  of reuse_find; closed here in any case; NULL: nothing is done
 */
int reuse_members(const struct prepared *prepared, struct reuse *reuse);

#endif
