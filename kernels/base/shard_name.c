/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "kernels/base/shard_name.h"

#include <stdio.h>
#include <string.h>

#include "kernels/base/status.h"

static int digits(long number)
{
    int count = 1;
    while (number >= 10) {
        number /= 10;
        count++;
    }
    return count;
}

/* Bytes of a result's path without its ending. */
static size_t stem(const char *result)
{
    static const char ending[] = ".h5";
    const size_t length = strlen(result);
    const size_t tail = sizeof ending - 1;
    return length > tail && strcmp(result + length - tail, ending) == 0 ? length - tail
                                                                        : length;
}

int shard_file_name(const char *result, long shard, long shards, char *out, size_t size)
{
    if (shards < 1 || shards > SHARDS_MAX || shard < 1 || shard > shards)
        FAIL(ERR_ARGUMENT, "shard %ld/%ld: 1/1 to %d/%d are legal", shard, shards, SHARDS_MAX,
             SHARDS_MAX);
    const size_t length = strlen(result);
    if (length == 0 || result[length - 1] == '/')
        FAIL(ERR_ARGUMENT, "\"%s\" names no result file", result);
    const int written =
        shards == 1 ? snprintf(out, size, "%s", result)
                    : snprintf(out, size, "%.*s.shard-%0*ld-of-%ld.h5", (int)stem(result),
                               result, digits(shards), shard, shards);
    if (written < 0 || (size_t)written >= size)
        FAIL(ERR_ARGUMENT,
             "the name of shard %ld/%ld of %.60s... is too long: %d bytes, %zu fit", shard,
             shards, result, written, size - 1);
    return 0;
}
