/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef KERNELS_BASE_MEM_H
#define KERNELS_BASE_MEM_H

#include <stddef.h>

#define MEM_ALIGNMENT 64

/**
 * Allocate a zeroed array, aligned to 64 bytes.
 *
 * @param count  number of elements, >= 0; 0 gives a valid pointer
 * @param size   bytes of one element
 * @param out    receives the array; free it with mem_free
 * @return 0, ERR_ARGUMENT (negative count, overflow) or ERR_MEMORY, with *out = NULL
 */
int mem_alloc(long count, size_t size, void **out);

/** Copy a string into memory of its own; free it with mem_free. Returns as mem_alloc. */
int mem_copy_text(const char *text, char **out);

/** Free what mem_alloc gave; NULL is legal. */
void mem_free(void *pointer);

/** Number of live allocations: 0 at the end of each test program. */
long mem_live(void);

/** Number of allocations made since the start: constant while a model advances. */
long mem_total(void);

/* Typed form: TRY(MEM_NEW(n, &array)). */
#define MEM_NEW(count, out) mem_alloc((count), sizeof **(out), (void **)(out))

#endif
