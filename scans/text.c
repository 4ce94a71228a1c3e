/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "scans/text.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "kernels/base/status.h"

int text_fail(const char *name, int line, int column, const char *format, ...)
{
    char message[1800];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    if (line == 0)
        FAIL(ERR_PARSE, "%s: %s", name, message);
    FAIL(ERR_PARSE, "%s:%d:%d: %s", name, line, column, message);
}

/* Bytes of the UTF-8 character at p, 0 when it is not one (RFC 3629: no overlong forms, no
 * surrogates, at most U+10FFFF). */
static size_t utf8_length(const unsigned char *p, size_t left)
{
    static const struct {
        unsigned char first, last; /* of the first byte */
        unsigned char low, high;   /* of the second */
        unsigned char length;
    } forms[] = {{0xC2, 0xDF, 0x80, 0xBF, 2}, {0xE0, 0xE0, 0xA0, 0xBF, 3},
                 {0xE1, 0xEC, 0x80, 0xBF, 3}, {0xED, 0xED, 0x80, 0x9F, 3},
                 {0xEE, 0xEF, 0x80, 0xBF, 3}, {0xF0, 0xF0, 0x90, 0xBF, 4},
                 {0xF1, 0xF3, 0x80, 0xBF, 4}, {0xF4, 0xF4, 0x80, 0x8F, 4}};
    if (p[0] < 0x80)
        return 1;
    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) {
        if (p[0] < forms[i].first || p[0] > forms[i].last)
            continue;
        const size_t length = forms[i].length;
        if (left < length || p[1] < forms[i].low || p[1] > forms[i].high)
            return 0;
        for (size_t k = 2; k < length; k++)
            if ((p[k] & 0xC0) != 0x80)
                return 0;
        return length;
    }
    return 0;
}

/* What is wrong with an ASCII character, NULL when nothing is. */
static const char *control_problem(unsigned char c)
{
    if (c == '\0')
        return "a NUL byte: this is a binary file, not a scan file";
    if (c == '\t')
        return "a tab; indent and separate with spaces";
    if ((c < 0x20 && c != '\n' && c != '\r') || c == 0x7F)
        return "a control character: this is not a text file";
    return NULL;
}

int text_check(const char *text, size_t length, const char *name)
{
    const unsigned char *bytes = (const unsigned char *)text;
    int line = 1;
    int column = 1;
    for (size_t i = 0; i < length;) {
        const char *problem = control_problem(bytes[i]);
        if (problem != NULL)
            return text_fail(name, line, column, "%s", problem);
        const size_t step = utf8_length(bytes + i, length - i);
        if (step == 0)
            return text_fail(name, line, column,
                             "byte 0x%02x is not valid UTF-8; save the file as UTF-8 text",
                             bytes[i]);
        column = bytes[i] == '\n' ? 1 : column + 1;
        line += bytes[i] == '\n';
        i += step;
    }
    return 0;
}

void text_add(struct text *text, const char *format, ...)
{
    const size_t left = text->used < text->size ? text->size - text->used : 0;
    va_list arguments;
    va_start(arguments, format);
    const int need =
        vsnprintf(left > 0 ? text->bytes + text->used : NULL, left, format, arguments);
    va_end(arguments);
    if (need > 0)
        text->used += (size_t)need;
}

bool text_is_full(const struct text *text)
{
    return text->used >= text->size;
}

void text_end(struct text *text)
{
    static const char mark[] = "…";
    if (!text_is_full(text) || text->size <= sizeof mark)
        return;
    size_t at = text->size - sizeof mark;
    while (at > 0 && ((unsigned char)text->bytes[at] & 0xC0) == 0x80)
        at--; /* never inside a character */
    memcpy(text->bytes + at, mark, sizeof mark);
}
