/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "slurm/block.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/base/mem.h"
#include "kernels/base/status.h"

/* Lines between the marks of a file; NULL: it is not there, or has no two marks. Freed by free.
 */
static char *read_block(const char *script)
{
    char *line = NULL;
    char *text = NULL;
    size_t room = 0;
    size_t size = 0;
    bool inside = false;
    bool whole = false;
    FILE *const file = fopen(script, "re");
    FILE *const block = file != NULL ? open_memstream(&text, &size) : NULL;
    while (block != NULL && !whole && getline(&line, &room, file) > 0) {
        whole = inside && strncmp(line, BLOCK_END, strlen(BLOCK_END)) == 0;
        if (inside && !whole)
            fputs(line, block);
        inside = inside || strncmp(line, BLOCK_BEGIN, strlen(BLOCK_BEGIN)) == 0;
    }
    free(line);
    if (file != NULL)
        fclose(file);
    if (block != NULL)
        fclose(block);
    if (whole)
        return text;
    free(text);
    return NULL;
}

int block_choose(const char *script, const struct choice *choice, char **text, bool *kept)
{
    size_t size = 1;
    size_t used = 0;
    char *const old = read_block(script);
    for (int i = 0; i < choice->setup.count; i++)
        size += strlen(choice->setup.word[i]) + 1;
    int rc = MEM_NEW((long)size, text);
    for (int i = 0; rc == 0 && i < choice->setup.count; i++)
        used += (size_t)snprintf(*text + used, size - used, "%s\n", choice->setup.word[i]);
    *kept = rc == 0 && old != NULL && strcmp(old, *text) != 0;
    if (*kept) {
        mem_free(*text);
        rc = mem_copy_text(old, text);
    }
    free(old);
    return rc;
}
