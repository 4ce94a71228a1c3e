/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef IO_SPACE_H
#define IO_SPACE_H

#include <stdbool.h>

/* Room on the file system for a new file; private to io. */

/** Whether the folder of a path exists and can take a new file. ERR_IO with the reason. */
int space_check_folder(const char *path);

/**
 * Whether `bytes` more fit: free blocks, a free inode, the process's file size limit. ERR_IO
 * with path, need and free bytes.
 */
int space_check(const char *path, double bytes);

/** Whether the process may have a file of that size (`ulimit -f`). ERR_IO */
int space_check_limit(const char *path, double bytes);

/** Write a new file through to the disk; with reserve, allocate all its bytes first. ERR_IO */
int space_settle(const char *path, bool reserve);

#endif
