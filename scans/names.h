/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SCANS_NAMES_H
#define SCANS_NAMES_H

#include <stddef.h>

#define NAMES_MAX       127
#define NAMES_PART_SIZE 48

/* A set of names for messages, in the order of adding. Zeroed: empty. */
struct names {
    const char *name[NAMES_MAX + 1]; /* NULL-terminated */
    int count;
    int parts;
    char part[NAMES_MAX][NAMES_PART_SIZE];
};

/** Add a name unless it is in; borrowed. What exceeds NAMES_MAX is left out. */
void names_add(struct names *names, const char *name);

/** Add the first bytes of a text as a name, copied. */
void names_add_part(struct names *names, const char *text, size_t length);

#endif
