/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef KERNELS_BASE_REPLACE_H
#define KERNELS_BASE_REPLACE_H

#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>

/*
 * A small file that is whole at its place, or as it was before: written beside it, then
 * renamed.
 */

#define REPLACE_PATH_SIZE 4200

/* A file in the making. */
struct replacement {
    FILE *file;       /* to be written to */
    const char *path; /* borrowed */
    char temporary[REPLACE_PATH_SIZE];
};

/** Begin. @param path borrowed until replace_end @return 0 or ERR_IO; then there is no end */
int replace_begin(const char *path, struct replacement *out);

/**
 * Put the file at its place, or take it away when that fails.
 *
 * @param mode  permissions, 0: as the umask leaves them
 * @param sync  through to the disk first
 * @return 0 or ERR_IO with path and errno
 */
int replace_end(struct replacement *replacement, mode_t mode, bool sync);

#endif
