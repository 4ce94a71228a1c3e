/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef IO_HASH_H
#define IO_HASH_H

#include <stddef.h>
#include <stdint.h>

/* XXH3 (xxHash): plane checksums, point keys, identities. The values are stored in files: they
 * must not change with a library version, and XXH3 does not since 0.8.0. */

/** XXH3-64 of bytes. Point key = hash_64 of scan_point_text. */
uint64_t hash_64(const void *bytes, size_t length);

/** XXH3-64 of bytes, seeded. */
uint64_t hash_64_seeded(const void *bytes, size_t length, uint64_t seed);

/** Seed of a plane's checksum: XXH3-64 of the two numbers as 16 little-endian bytes. */
uint64_t hash_plane_seed(int64_t member, int64_t plane);

/** XXH3-128 of bytes: out[0] is the high half, out[1] the low half. */
void hash_128(const void *bytes, size_t length, uint64_t out[2]);

/**
 * Identity of a member: XXH3-128 over scan_identity_text and the seed key (point key and
 * realisation, appended as 16 little-endian bytes).
 *
 * @param text  [length] without a terminating NUL
 */
void hash_identity(const char *text, size_t length, uint64_t point_key, int64_t realisation,
                   uint64_t out[2]);

/** A hash in the making; stream it in pieces. Plain data, no lifecycle. */
struct hash_stream;

/** Begin a seeded XXH3-64 over pieces. @param out free with hash_stream_destroy. ERR_MEMORY */
int hash_stream_create(struct hash_stream **out);
/** Begin anew. */
void hash_stream_reset(struct hash_stream *stream, uint64_t seed);
/** Add bytes. */
void hash_stream_add(struct hash_stream *stream, const void *bytes, size_t length);
/** Hash of all bytes added since the reset. */
uint64_t hash_stream_value(const struct hash_stream *stream);
/** Free; NULL is legal. */
void hash_stream_destroy(struct hash_stream *stream);

#endif
