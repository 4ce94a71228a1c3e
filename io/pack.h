/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef IO_PACK_H
#define IO_PACK_H

#include "io/store.h"

/**
 * Copy a whole result file into another that was defined for the same scan: compressed or not,
 * in either direction. Planes beyond n_saved become NaN; checkpoints are left out. A block of
 * an array is in memory at a time. Single writer; the new file is on the disk in the end.
 *
 * @param spec  of the new file; its `compress` is the level
 * @return 0; ERR_CONFLICT, ERR_IO, ERR_MEMORY
 */
int pack_store(const char *from, const char *to, const struct store_spec *spec);

#endif
