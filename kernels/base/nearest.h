/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef KERNELS_BASE_NEAREST_H
#define KERNELS_BASE_NEAREST_H

#include <stddef.h>

/**
 * The name that a misspelt word probably meant, for "did you mean" in a message.
 *
 * Distance: insertions, deletions, replacements and swaps of neighbours, letter case ignored
 * (Damerau 1964, restricted form). Words longer than 63 bytes are nobody's misspelling.
 *
 * @param word  what was written
 * @param names NULL-terminated candidates
 * @return one of names, or NULL when none is within a third of the word's length
 */
const char *nearest_name(const char *word, const char *const *names);

/**
 * Write names as "a, b, c", cut with "…" when size does not suffice.
 *
 * @param names NULL-terminated
 * @param text  [size]
 */
void nearest_list(const char *const *names, char *text, size_t size);

#endif
