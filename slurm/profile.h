/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SLURM_PROFILE_H
#define SLURM_PROFILE_H

#include "slurm/choice.h"

/*
 * A site's defaults, in a file of lines `key = value`: the keys are the long options of submit,
 * and `setup`, a shell line for the marked block of the scripts. Lines that begin with # are
 * comments; what stands twice is given twice.
 *
 *   partition = standard
 *   time = 12:00:00
 *   setup = module load openmpi hdf5
 */

/**
 * Read a profile into the choice that the command line then changes.
 *
 * @return 0; ERR_ARGUMENT with file and line for what is not understood (with the nearest key),
 *         or when there is no such file; ERR_MEMORY
 */
int profile_read(const char *path, struct choice *choice);

#endif
