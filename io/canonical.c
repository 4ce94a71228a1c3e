/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "io/canonical.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/hash.h"
#include "kernels/base/mem.h"
#include "kernels/base/status.h"

#define SHOWN_MAX  6
#define SHOWN_CHAR 60 /* of a value */

struct line {
    const char *key;
    int key_length;
    const char *value;
    int value_length;
};

static bool is_skipped(const char *key, int length)
{
    static const char *const names[] = {"scan",  "format",   "resources", "limits",
                                        "store", "envelope", "inputs"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const int n = (int)strlen(names[i]);
        if (length >= n && strncmp(key, names[i], (size_t)n) == 0
            && (length == n || key[n] == '.'))
            return true;
    }
    return false;
}

static int line_order(const struct line *a, const struct line *b)
{
    const int shorter = a->key_length < b->key_length ? a->key_length : b->key_length;
    const int order = strncmp(a->key, b->key, (size_t)shorter);
    return order != 0 ? order : a->key_length - b->key_length;
}

static int line_compare(const void *a, const void *b)
{
    return line_order(a, b);
}

static struct line line_parse(const char *text, int length)
{
    struct line line = {text, length, "", 0};
    for (int i = 0; i + 1 < length; i++)
        if (text[i] == ':' && text[i + 1] == ' ') {
            line.key_length = i;
            line.value = text + i + 2;
            line.value_length = length - i - 2;
            break;
        }
    if (line.value_length == 0 && line.key_length > 0 && text[line.key_length - 1] == ':')
        line.key_length--;
    return line;
}

static int lines_create(const char *text, struct line **out, int *count)
{
    long capacity = 1;
    for (const char *c = text; *c != '\0'; c++)
        capacity += *c == '\n';
    TRY(MEM_NEW(capacity, out));
    *count = 0;
    while (*text != '\0') {
        const int length = (int)strcspn(text, "\n");
        const struct line line = line_parse(text, length);
        if (line.key_length > 0 && text[0] != '#' && !is_skipped(line.key, line.key_length))
            (*out)[(*count)++] = line;
        text += length + (text[length] == '\n');
    }
    qsort(*out, (size_t)*count, sizeof **out, line_compare);
    return 0;
}

static void value_show(const struct line *line, char text[SHOWN_CHAR + 8])
{
    if (line == NULL)
        snprintf(text, SHOWN_CHAR + 8, "absent");
    else if (line->value_length > SHOWN_CHAR)
        snprintf(text, SHOWN_CHAR + 8, "%.*s...", SHOWN_CHAR, line->value);
    else
        snprintf(text, SHOWN_CHAR + 8, "%.*s", line->value_length, line->value);
}

static void difference_show(char *text, size_t size, const struct line *there,
                            const struct line *here)
{
    char values[2][SHOWN_CHAR + 8];
    value_show(there, values[0]);
    value_show(here, values[1]);
    const struct line *const named = there != NULL ? there : here;
    const size_t used = strlen(text);
    if (named != NULL)
        snprintf(text + used, size - used, "%s%.*s is %s there and %s here",
                 used > 0 ? "; " : "", named->key_length, named->key, values[0], values[1]);
}

static bool same_value(const struct line *a, const struct line *b)
{
    return a->value_length == b->value_length
           && memcmp(a->value, b->value, (size_t)a->value_length) == 0;
}

static int lines_compare(const struct line *there, int there_count, const struct line *here,
                         int here_count, char *text, size_t size)
{
    int different = 0;
    int i = 0;
    int j = 0;
    while (i < there_count || j < here_count) {
        int order = 0;
        if (i == there_count)
            order = 1;
        else if (j == here_count)
            order = -1;
        else
            order = line_order(&there[i], &here[j]);
        const struct line *const left = order <= 0 ? &there[i++] : NULL;
        const struct line *const right = order >= 0 ? &here[j++] : NULL;
        if (left != NULL && right != NULL && same_value(left, right))
            continue;
        if (different++ < SHOWN_MAX)
            difference_show(text, size, left, right);
    }
    if (different > SHOWN_MAX) {
        const size_t used = strlen(text);
        snprintf(text + used, size - used, "; and %d more", different - SHOWN_MAX);
    }
    return different;
}

int canonical_compare(const char *there, const char *here, char *text, size_t size,
                      int *different)
{
    text[0] = '\0';
    *different = 0;
    struct line *lines[2] = {NULL, NULL};
    int count[2] = {0, 0};
    int rc = 0;
    TRY_OR(rc, done, lines_create(there, &lines[0], &count[0]));
    TRY_OR(rc, done, lines_create(here, &lines[1], &count[1]));
    *different = lines_compare(lines[0], count[0], lines[1], count[1], text, size);
done:
    mem_free(lines[0]);
    mem_free(lines[1]);
    return rc;
}

int canonical_hash(const char *text, char hash[CANONICAL_HASH_SIZE])
{
    struct line *line = NULL;
    int count = 0;
    uint64_t value = 0;
    TRY(lines_create(text, &line, &count));
    for (int i = 0; i < count; i++) {
        const int value_end = (int)(line[i].value - line[i].key) + line[i].value_length;
        const int length = line[i].value_length > 0 ? value_end : line[i].key_length;
        value = hash_64_seeded(line[i].key, (size_t)length, value);
    }
    mem_free(line);
    snprintf(hash, CANONICAL_HASH_SIZE, "%016" PRIx64, value);
    return 0;
}
