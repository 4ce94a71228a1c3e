/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SCANS_NUMBERS_H
#define SCANS_NUMBERS_H

#include <locale.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define NUMBER_SIZE     32  /* bytes of a written number */
#define NUMBER_TEXT_MAX 400 /* longest number that is read */

/*
 * Numbers as text, the same in every locale. Grammar: an optional sign, digits with at most one
 * point (`1`, `.5`, `5.`), an optional exponent (`1e-6`, `1.5E+3`). Nothing else: no
 * underscores, no hexadecimal, no commas, no nan, no inf.
 */

/** Bytes of the number at the start of text, 0 when there is none. */
size_t number_length(const char *text);

/**
 * Why a text is not a number: a phrase such as "commas are not allowed in numbers".
 */
const char *number_problem(const char *text);

/**
 * Value of a number times a power of ten, correctly rounded: "835" with shift -9 is the same
 * double as the C literal 835e-9.
 *
 * @param length  what number_length gave
 * @return true, or false when the value is beyond the range of double (too large, or not 0
 *         and too small) or the text is longer than NUMBER_TEXT_MAX
 */
bool number_real(const char *text, size_t length, int shift, double *out);

/** Value of a number in extended precision; otherwise as number_real. */
bool number_long(const char *text, size_t length, long double *out);

/** Value of an unsigned integer written with digits only, to 2^64 - 1. */
bool number_unsigned(const char *text, uint64_t *out);

/**
 * Write a value with 17 digits, so that reading gives the same bits.
 *
 * @return length of the text
 */
size_t number_write(double value, char text[NUMBER_SIZE]);

/** Use the C locale in this thread; give the result to number_locale_leave. */
locale_t number_locale_enter(void);

/** Back to the locale before number_locale_enter. */
void number_locale_leave(locale_t previous);

#endif
