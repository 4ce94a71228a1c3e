/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Compiled with -mavx2 (io/CMakeLists.txt). */
#include "io/hash_avx2.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

void hash_avx2_add(void *state, const void *bytes, size_t length)
{
    XXH3_64bits_update(state, bytes, length);
}
