/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef RUNNER_SELECTION_H
#define RUNNER_SELECTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Members [first, last]. */
struct selection_range {
    int64_t first, last;
};

/* A set of members as ranges: in ascending order, apart from each other, not neighbours. */
struct selection {
    struct selection_range *range; /* [ranges] */
    long ranges;
};

/**
 * Read a set of members.
 *
 * @param option   that it was given by, for messages
 * @param text     ids and ranges, separated by commas or blanks: "3,7,10-19"; "@FILE" reads
 *                 them from a file, separated by line ends too, in which '#' begins a comment
 * @param members  ids are 0 to members - 1
 * @param out      free with selection_clear
 * @return 0; ERR_ARGUMENT naming the word and what would be accepted; ERR_MEMORY
 */
int selection_read(const char *option, const char *text, int64_t members,
                   struct selection *out);

/** Free; legal on a zeroed object. */
void selection_clear(struct selection *selection);

/** Whether a member is in the set. NULL is the set of all. */
bool selection_has(const struct selection *selection, int64_t member);

/** Number of members of [first, first + count) that are in the set. NULL is the set of all. */
int64_t selection_count(const struct selection *selection, int64_t first, int64_t count);

#endif
