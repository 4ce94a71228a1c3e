/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef RUNNER_WISDOM_TEXT_H
#define RUNNER_WISDOM_TEXT_H

#include <stdbool.h>

/* Small text files that several processes read and write: always whole. */

/**
 * Read a whole file of at most 16 MB.
 *
 * @param text receives memory to mem_free; NULL, with errno, for a file that cannot be read
 * @return 0 or ERR_MEMORY
 */
int wisdom_text_read(const char *path, char **text);

/**
 * Write a file so that readers see the old text or the new one.
 *
 * @param replace false: a file that is there stays, which counts as success
 * @return whether it worked; errno says why not
 */
bool wisdom_text_write(const char *path, const char *text, bool replace);

#endif
