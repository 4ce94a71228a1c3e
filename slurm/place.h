/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SLURM_PLACE_H
#define SLURM_PLACE_H

#define PLACE_SIZE 4096
#define STEM_SIZE  4000 /* bytes of a path that endings are put behind */

/**
 * A program of ours by its absolute path: in the folder of this program, else on the PATH.
 *
 * @return 0, or ERR_IO when it is nowhere
 */
int place_program(const char *name, char path[PLACE_SIZE]);

/**
 * The absolute path of a file that need not exist, in a folder that must.
 *
 * @return 0, or ERR_ARGUMENT: no such folder, a path that is too long or has control characters
 */
int place_absolute(const char *file, char path[PLACE_SIZE]);

#endif
