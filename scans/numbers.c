/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "scans/numbers.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

locale_t number_locale_enter(void)
{
    /* glibc and musl have one static object for "C": nothing is allocated, nothing can fail. */
    return uselocale(newlocale(LC_ALL_MASK, "C", (locale_t)0));
}

void number_locale_leave(locale_t previous)
{
    uselocale(previous);
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static size_t digits_length(const char *text)
{
    size_t n = 0;
    while (is_digit(text[n]))
        n++;
    return n;
}

static size_t mantissa_length(const char *text)
{
    size_t n = text[0] == '+' || text[0] == '-' ? 1 : 0;
    const size_t before = digits_length(text + n);
    n += before;
    if (text[n] != '.')
        return before > 0 ? n : 0;
    const size_t after = digits_length(text + n + 1);
    return before + after > 0 ? n + 1 + after : 0;
}

size_t number_length(const char *text)
{
    const size_t n = mantissa_length(text);
    if (n == 0 || (text[n] != 'e' && text[n] != 'E'))
        return n;
    const size_t sign = text[n + 1] == '+' || text[n + 1] == '-' ? 1 : 0;
    const size_t digits = digits_length(text + n + 1 + sign);
    return digits > 0 ? n + 1 + sign + digits : n;
}

const char *number_problem(const char *text)
{
    const char *p = text[0] == '+' || text[0] == '-' ? text + 1 : text;
    if (p[0] == '\0')
        return "a number is missing";
    if (p[0] == '0' && (p[1] == 'x' || p[1] == 'X'))
        return "hexadecimal numbers are not allowed";
    const char *word = p[0] == '.' ? p + 1 : p;
    if (strncasecmp(word, "nan", 3) == 0 || strncasecmp(word, "inf", 3) == 0)
        return "numbers must be finite";
    const size_t n = number_length(text);
    if (n > 0 && text[n] == '_')
        return "underscores are not allowed in numbers";
    if (n > 0 && text[n] == ',')
        return "commas are not allowed in numbers";
    return "not a number";
}

/* Exponent of ten at the end of a number, limited so that sums cannot overflow. */
static int exponent_value(const char *text, size_t length)
{
    const bool negative = length > 0 && text[0] == '-';
    int value = 0;
    for (size_t i = 0; i < length; i++)
        if (is_digit(text[i]) && value < 100000)
            value = 10 * value + (text[i] - '0');
    return negative ? -value : value;
}

static bool has_digit_not_zero(const char *text, size_t length)
{
    for (size_t i = 0; i < length; i++)
        if (text[i] >= '1' && text[i] <= '9')
            return true;
    return false;
}

/* The number with its exponent shifted, as text for strtod. */
static bool shifted_text(const char *text, size_t length, int shift, char *out, size_t size)
{
    if (length > NUMBER_TEXT_MAX)
        return false;
    const size_t mantissa = mantissa_length(text);
    const int exponent =
        mantissa < length ? exponent_value(text + mantissa + 1, length - mantissa - 1) : 0;
    return snprintf(out, size, "%.*se%d", (int)mantissa, text, exponent + shift) < (int)size;
}

bool number_real(const char *text, size_t length, int shift, double *out)
{
    char copy[NUMBER_TEXT_MAX + 16];
    if (!shifted_text(text, length, shift, copy, sizeof copy))
        return false;
    const locale_t previous = number_locale_enter();
    const double value = strtod(copy, NULL);
    number_locale_leave(previous);
    *out = value == 0.0 ? 0.0 : value; /* -0 and 0 are one value, with one identity */
    return isfinite(value)
           && (value != 0.0 || !has_digit_not_zero(text, mantissa_length(text)));
}

bool number_long(const char *text, size_t length, long double *out)
{
    char copy[NUMBER_TEXT_MAX + 16];
    if (!shifted_text(text, length, 0, copy, sizeof copy))
        return false;
    const locale_t previous = number_locale_enter();
    *out = strtold(copy, NULL);
    number_locale_leave(previous);
    return isfinite(*out) && (*out != 0.0L || !has_digit_not_zero(text, mantissa_length(text)));
}

bool number_unsigned(const char *text, uint64_t *out)
{
    uint64_t value = 0;
    if (text[0] == '\0' || text[digits_length(text)] != '\0')
        return false;
    for (const char *p = text; *p != '\0'; p++)
        if (__builtin_mul_overflow(value, (uint64_t)10, &value)
            || __builtin_add_overflow(value, (uint64_t)(*p - '0'), &value))
            return false;
    *out = value;
    return true;
}

size_t number_write(double value, char text[NUMBER_SIZE])
{
    /* Whole numbers below 10^15 read the same and are written much faster. */
    if (fabs(value) < 1e15 && value == (double)(int64_t)value)
        return (size_t)snprintf(text, NUMBER_SIZE, "%lld", (long long)value);
    const locale_t previous = number_locale_enter();
    const int length = snprintf(text, NUMBER_SIZE, "%.17g", value);
    number_locale_leave(previous);
    return (size_t)length;
}
