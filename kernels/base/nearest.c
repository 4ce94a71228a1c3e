/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "kernels/base/nearest.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#define WORD_MAX 63

static int lower(char c)
{
    return tolower((unsigned char)c);
}

static int least(int a, int b)
{
    return a < b ? a : b;
}

/* Distance of two words of at most WORD_MAX bytes. */
static int word_distance(const char *a, const char *b)
{
    const int rows = (int)strlen(a);
    const int columns = (int)strlen(b);
    int table[WORD_MAX + 1][WORD_MAX + 1];
    for (int i = 0; i <= rows; i++)
        table[i][0] = i;
    for (int j = 0; j <= columns; j++)
        table[0][j] = j;
    for (int i = 1; i <= rows; i++)
        for (int j = 1; j <= columns; j++) {
            const int differs = lower(a[i - 1]) != lower(b[j - 1]);
            int best = least(table[i - 1][j], table[i][j - 1]) + 1;
            best = least(best, table[i - 1][j - 1] + differs);
            if (i > 1 && j > 1 && lower(a[i - 1]) == lower(b[j - 2])
                && lower(a[i - 2]) == lower(b[j - 1]))
                best = least(best, table[i - 2][j - 2] + 1);
            table[i][j] = best;
        }
    return table[rows][columns];
}

const char *nearest_name(const char *word, const char *const *names)
{
    const size_t length = strlen(word);
    if (length > WORD_MAX)
        return NULL;
    int limit = (int)length / 3 + 1;
    const char *found = NULL;
    for (const char *const *name = names; *name != NULL; name++) {
        if (strlen(*name) > WORD_MAX)
            continue;
        const int distance = word_distance(word, *name);
        if (distance <= limit && (size_t)distance < length) {
            found = *name;
            limit = distance - 1;
        }
    }
    return found;
}

void nearest_list(const char *const *names, char *text, size_t size)
{
    size_t used = 0;
    text[0] = '\0';
    for (const char *const *name = names; *name != NULL; name++) {
        const size_t need = strlen(*name) + (used > 0 ? 2 : 0);
        if (used + need + 6 > size) {
            snprintf(text + used, size - used, ", …");
            return;
        }
        used += (size_t)snprintf(text + used, size - used, "%s%s", used > 0 ? ", " : "", *name);
    }
}
