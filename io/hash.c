/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "io/hash.h"

#include <stdbool.h>
#include <string.h>

/* The header's own code instead of the library's: half the time, and the size of a state. */
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "io/hash_avx2.h"
#include "kernels/base/mem.h"
#include "kernels/base/status.h"

struct hash_stream {
    XXH3_state_t state;
    bool avx2; /* this machine has it, and this program */
};

uint64_t hash_64(const void *bytes, size_t length)
{
    return XXH3_64bits(bytes, length);
}

uint64_t hash_64_seeded(const void *bytes, size_t length, uint64_t seed)
{
    return XXH3_64bits_withSeed(bytes, length, seed);
}

/* Two numbers as 16 bytes, little-endian whatever the machine. */
static void pack_pair(uint64_t a, uint64_t b, unsigned char bytes[16])
{
    for (int i = 0; i < 8; i++) {
        bytes[i] = (unsigned char)(a >> (8 * i));
        bytes[8 + i] = (unsigned char)(b >> (8 * i));
    }
}

uint64_t hash_plane_seed(int64_t member, int64_t plane)
{
    unsigned char bytes[16];
    pack_pair((uint64_t)member, (uint64_t)plane, bytes);
    return XXH3_64bits(bytes, sizeof bytes);
}

void hash_128(const void *bytes, size_t length, uint64_t out[2])
{
    const XXH128_hash_t hash = XXH3_128bits(bytes, length);
    out[0] = hash.high64;
    out[1] = hash.low64;
}

void hash_identity(const char *text, size_t length, uint64_t point_key, int64_t realisation,
                   uint64_t out[2])
{
    unsigned char key[16];
    pack_pair(point_key, (uint64_t)realisation, key);
    /* The state is aligned to 64 bytes, which the stack honours. */
    XXH3_state_t state;
    XXH3_128bits_reset(&state);
    XXH3_128bits_update(&state, text, length);
    XXH3_128bits_update(&state, key, sizeof key);
    const XXH128_hash_t hash = XXH3_128bits_digest(&state);
    out[0] = hash.high64;
    out[1] = hash.low64;
}

int hash_stream_create(struct hash_stream **out)
{
    TRY(MEM_NEW(1, out));
#if HASH_AVX2
    (*out)->avx2 = __builtin_cpu_supports("avx2") != 0;
#endif
    return 0;
}

void hash_stream_reset(struct hash_stream *stream, uint64_t seed)
{
    XXH3_64bits_reset_withSeed(&stream->state, seed);
}

void hash_stream_add(struct hash_stream *stream, const void *bytes, size_t length)
{
#if HASH_AVX2
    if (stream->avx2) {
        hash_avx2_add(&stream->state, bytes, length);
        return;
    }
#endif
    XXH3_64bits_update(&stream->state, bytes, length);
}

uint64_t hash_stream_value(const struct hash_stream *stream)
{
    return XXH3_64bits_digest(&stream->state);
}

void hash_stream_destroy(struct hash_stream *stream)
{
    mem_free(stream);
}
