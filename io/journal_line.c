/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reading records: where they stand, and what their keys say. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "io/journal_private.h"
#include "kernels/base/status.h"

#define TAIL_SIZE 65536L /* bytes of many seconds: there is a heartbeat among them */

/* Where the value of a key begins, NULL when there is none. */
static const char *value_find(const struct record_line *line, const char *key)
{
    char quoted[40];
    snprintf(quoted, sizeof quoted, "\"%s\":", key);
    /* Quotes inside texts are escaped, so that this cannot be found inside one. */
    const char *const at = strstr(line->text, quoted);
    return at == NULL ? NULL : at + strlen(quoted);
}

/* One character of a JSON string; \uXXXX below 0x80 as we write them. */
static const char *text_step(const char *from, char *to)
{
    if (from[0] != '\\') {
        *to = *from;
        return from + 1;
    }
    if (from[1] == 'u') {
        char digits[5] = "";
        for (int i = 0; i < 4 && from[2 + i] != '\0'; i++)
            digits[i] = from[2 + i];
        *to = (char)strtol(digits, NULL, 16);
        return from + 2 + strlen(digits);
    }
    *to = from[1];
    return from[1] == '\0' ? from + 1 : from + 2;
}

void record_text(const struct record_line *line, const char *key, char *text, size_t size)
{
    text[0] = '\0';
    const char *from = value_find(line, key);
    if (from == NULL || *from != '"')
        return;
    size_t used = 0;
    from++;
    while (*from != '"' && *from != '\0' && used + 1 < size)
        from = text_step(from, &text[used++]);
    text[used] = '\0';
}

int64_t record_integer(const struct record_line *line, const char *key, int64_t otherwise)
{
    const char *const from = value_find(line, key);
    return from == NULL ? otherwise : strtoll(from, NULL, 10);
}

double record_real(const struct record_line *line, const char *key, locale_t locale)
{
    const char *const from = value_find(line, key);
    return from == NULL || *from == 'n' ? (double)NAN : strtod_l(from, NULL, locale);
}

int record_reals(const struct record_line *line, const char *key, locale_t locale, int most,
                 double *values)
{
    const char *at = value_find(line, key);
    int count = 0;
    if (at == NULL || *at != '[')
        return 0;
    for (at++; *at != ']' && *at != '\0' && count < most; count++) {
        char *end = NULL;
        values[count] = strtod_l(at, &end, locale);
        if (end == at)
            return count;
        at = *end == ',' ? end + 1 : end;
    }
    return count;
}

bool record_is(const struct record_line *line, const char *kind)
{
    static const char start[] = "{\"record\":\"";
    const size_t length = strlen(kind);
    const char *const at = line->text + sizeof start - 1;
    return strncmp(line->text, start, sizeof start - 1) == 0 && strncmp(at, kind, length) == 0
           && at[length] == '"';
}

bool record_next(FILE *file, struct record_line *line)
{
    while (fgets(line->text, sizeof line->text, file) != NULL) {
        size_t length = strlen(line->text);
        if (length > 0 && line->text[length - 1] == '\n')
            line->text[--length] = '\0';
        const char *const close = strchr(line->text, '}');
        if (line->text[0] == '{' && close == line->text + length - 1
            && strrchr(line->text, '{') == line->text)
            return true;
    }
    return false;
}

/* Where the newest attempt begins, as its last heartbeat says; 0 when that is not known. */
static int64_t find_newest(FILE *file)
{
    struct record_line line;
    int64_t place = 0;
    if (fseek(file, 0, SEEK_END) != 0)
        return 0;
    const long size = ftell(file);
    if (size < TAIL_SIZE || fseek(file, size - TAIL_SIZE, SEEK_SET) != 0)
        return 0;
    while (record_next(file, &line))
        place = record_integer(&line, "begin_at", place);
    if (place <= 0 || place >= size || fseek(file, (long)place, SEEK_SET) != 0)
        return 0;
    return record_next(file, &line) && record_is(&line, "begin") ? place : 0;
}

int record_open(const char *store_path, bool newest, FILE **out)
{
    char path[4200];
    *out = NULL;
    if ((size_t)snprintf(path, sizeof path, "%s.journal", store_path) >= sizeof path)
        FAIL(ERR_IO, "path of %zu bytes is too long: %.60s...", strlen(store_path), store_path);
    FILE *const file = fopen(path, "re");
    if (file == NULL && errno != ENOENT)
        FAIL(ERR_IO, "cannot read %s: %s", path, strerror(errno));
    *out = file;
    if (file != NULL && fseek(file, newest ? (long)find_newest(file) : 0, SEEK_SET) != 0) {
        fclose(file);
        *out = NULL;
        FAIL(ERR_IO, "cannot read %s: %s", path, strerror(errno));
    }
    return 0;
}
