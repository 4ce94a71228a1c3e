/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef IO_CANONICAL_H
#define IO_CANONICAL_H

#include <stddef.h>

/* Canonical configurations, as `config_canonical` holds them: `key: value` lines. Keys that do
 * not change results are skipped: scan, format, resources, limits, store, envelope, inputs
 * (names of files, whose hashes stand at the parameters) and what lies below them. */

#define CANONICAL_HASH_SIZE 17 /* 16 digits */

/**
 * Compare two texts, whatever the order of their lines.
 *
 * @param there       the file's text
 * @param here        the scan's text
 * @param text        [size] receives "KEY is A there and B here; …", cut with a count
 * @param different   receives the number of differing keys
 * @return 0 or ERR_MEMORY
 */
int canonical_compare(const char *there, const char *here, char *text, size_t size,
                      int *different);

/**
 * A hash that is the same for texts without differing keys: XXH3-64 of the lines that count, in
 * the order of their keys, each seeded with the hash of those before it.
 *
 * @param hash  receives it in hexadecimal digits
 * @return 0 or ERR_MEMORY
 */
int canonical_hash(const char *text, char hash[CANONICAL_HASH_SIZE]);

#endif
