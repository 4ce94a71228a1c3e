/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SLURM_BLOCK_H
#define SLURM_BLOCK_H

#include "slurm/choice.h"

/*
 * The marked block of a job script, for modules and environment. It comes from the `setup`
 * lines of a profile; what somebody has changed in an existing script is kept.
 */
#define BLOCK_BEGIN "# >>> site"
#define BLOCK_END   "# <<< site"

/**
 * The lines that go into the block.
 *
 * @param script  the script that may exist already
 * @param text    receives the lines, each with its newline; free with mem_free
 * @param kept    receives whether they are an existing script's, and differ from the profile's
 * @return 0, ERR_MEMORY
 */
int block_choose(const char *script, const struct choice *choice, char **text, bool *kept);

#endif
