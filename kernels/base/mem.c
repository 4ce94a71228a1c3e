/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "kernels/base/mem.h"

#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/base/status.h"

static atomic_long live_count;
static atomic_long total_count;

int mem_alloc(long count, size_t size, void **out)
{
    *out = NULL;
    if (count < 0 || size == 0 || (size_t)count > (SIZE_MAX - MEM_ALIGNMENT) / size)
        FAIL(ERR_ARGUMENT, "cannot allocate %ld elements of %zu bytes", count, size);
    const size_t wanted = (size_t)count * size;
    const size_t bytes = (wanted / MEM_ALIGNMENT + 1) * MEM_ALIGNMENT;
    void *memory = aligned_alloc(MEM_ALIGNMENT, bytes);
    if (memory == NULL)
        FAIL(ERR_MEMORY, "out of memory: %zu bytes wanted", bytes);
    memset(memory, 0, bytes);
    atomic_fetch_add(&live_count, 1);
    atomic_fetch_add(&total_count, 1);
    *out = memory;
    return 0;
}

int mem_copy_text(const char *text, char **out)
{
    const size_t size = strlen(text) + 1;
    TRY(mem_alloc((long)size, 1, (void **)out));
    memcpy(*out, text, size);
    return 0;
}

void mem_free(void *pointer)
{
    if (pointer == NULL)
        return;
    atomic_fetch_sub(&live_count, 1);
    free(pointer);
}

long mem_live(void)
{
    return atomic_load(&live_count);
}

long mem_total(void)
{
    return atomic_load(&total_count);
}
