/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "scans/names.h"

#include <stdio.h>
#include <string.h>

void names_add(struct names *names, const char *name)
{
    for (int i = 0; i < names->count; i++)
        if (strcmp(names->name[i], name) == 0)
            return;
    if (names->count < NAMES_MAX)
        names->name[names->count++] = name;
}

void names_add_part(struct names *names, const char *text, size_t length)
{
    if (names->parts == NAMES_MAX || length >= NAMES_PART_SIZE)
        return;
    char *part = names->part[names->parts];
    memcpy(part, text, length);
    part[length] = '\0';
    const int before = names->count;
    names_add(names, part);
    names->parts += names->count - before;
}
