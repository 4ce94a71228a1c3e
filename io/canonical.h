/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef IO_CANONICAL_H
#define IO_CANONICAL_H

#include <stddef.h>

/* Comparison of two canonical configurations, line by line; private to io. */

/**
 * Compare two texts of `key: value` lines, whatever their order.
 *
 * Keys that do not change results are skipped: scan, format, resources, limits, store, envelope
 * and what lies below them.
 *
 * @param there       the file's text
 * @param here        the scan's text
 * @param text        [size] receives "KEY is A there and B here; …", cut with a count
 * @param different   receives the number of differing keys
 * @return 0 or ERR_MEMORY
 */
int canonical_compare(const char *there, const char *here, char *text, size_t size,
                      int *different);

#endif
