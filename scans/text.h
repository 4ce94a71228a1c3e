/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SCANS_TEXT_H
#define SCANS_TEXT_H

#include <stdbool.h>
#include <stddef.h>

/**
 * Say what is wrong at a place of a scan file: `name:line:col: …`.
 *
 * @param line    from 1; 0: the place is the file as a whole
 * @return ERR_PARSE
 */
int text_fail(const char *name, int line, int column, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/**
 * Check that bytes are text a scan file may hold: UTF-8, no NUL or other control characters,
 * no tabs.
 *
 * @return 0, or ERR_PARSE with file:line:col
 */
int text_check(const char *text, size_t length, const char *name);

/* A bounded text that is written piece by piece; what does not fit is cut. */
struct text {
    char *bytes;
    size_t size;
    size_t used; /* bytes that were needed: may exceed size */
};

/** Append. */
void text_add(struct text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));

/** Whether something was cut. */
bool text_is_full(const struct text *text);

/** Mark a cut text by "…" at its end. */
void text_end(struct text *text);

#endif
