/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "runner/text.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

/* SI prefixes that are used, 10^-18 to 10^15. */
static const char *const prefixes[] = {"a", "f", "p", "n", "µ", "m",
                                       "",  "k", "M", "G", "T", "P"};
enum { PREFIX_NONE = 6, PREFIX_LAST = 11 };

void text_bytes(double bytes, char text[TEXT_SIZE])
{
    static const char *const units[] = {"B", "kB", "MB", "GB", "TB", "PB", "EB"};
    int step = 0;
    while (bytes >= 999.5 && step < 6) {
        bytes /= 1000;
        step++;
    }
    if (step == 0)
        snprintf(text, TEXT_SIZE, "%.0f B", bytes);
    else
        snprintf(text, TEXT_SIZE, "%.3g %s", bytes, units[step]);
}

void text_seconds(double seconds, char text[TEXT_SIZE])
{
    if (!isfinite(seconds) || seconds < 0)
        snprintf(text, TEXT_SIZE, "unknown");
    else if (seconds < 1)
        snprintf(text, TEXT_SIZE, "%.3g ms", 1e3 * seconds);
    else if (seconds < 99.5)
        snprintf(text, TEXT_SIZE, "%.3g s", seconds);
    else if (seconds < 3600)
        snprintf(text, TEXT_SIZE, "%.0f min %02.0f s", floor(round(seconds) / 60),
                 fmod(round(seconds), 60));
    else if (seconds < 2 * 86400)
        snprintf(text, TEXT_SIZE, "%.0f h %02.0f min", floor(seconds / 3600),
                 floor(fmod(seconds, 3600) / 60));
    else if (seconds < 1000 * 86400.0)
        snprintf(text, TEXT_SIZE, "%.1f days", seconds / 86400);
    else
        snprintf(text, TEXT_SIZE, "%.3g years", seconds / (365.25 * 86400));
}

void text_count(int64_t count, char text[TEXT_SIZE])
{
    char digits[32];
    snprintf(digits, sizeof digits, "%lld", (long long)count);
    const size_t length = strlen(digits);
    size_t used = 0;
    for (size_t i = 0; i < length; i++) {
        if (i > 0 && (length - i) % 3 == 0 && digits[i - 1] != '-' && length > 4)
            text[used++] = ' ';
        text[used++] = digits[i];
    }
    text[used] = '\0';
}

void text_members(int64_t first, int64_t last, char text[TEXT_SIZE])
{
    if (first == last)
        snprintf(text, TEXT_SIZE, "member %lld", (long long)first);
    else
        snprintf(text, TEXT_SIZE, "members %lld to %lld", (long long)first, (long long)last);
}

/* Prefix index for a value: three digits before the point at most. */
static int prefix_for(double largest)
{
    if (!(largest > 0) || !isfinite(largest))
        return PREFIX_NONE;
    const int step = (int)floor(log10(largest * (1 + 1e-12)) / 3);
    const int index = PREFIX_NONE + step;
    return index < 0 ? 0 : index > PREFIX_LAST ? PREFIX_LAST : index;
}

static bool is_prefixed(const char *unit)
{
    static const char *const symbols[] = {"s", "m", "W", "J", "Hz", "V", "A", "Pa", NULL};
    for (int i = 0; symbols[i] != NULL; i++)
        if (strcmp(unit, symbols[i]) == 0)
            return true;
    return false;
}

static bool is_angular_frequency(const char *unit)
{
    static const char *const forms[] = {"rad/s", "rad s^-1", "rad.s-1", "rad s-1", NULL};
    for (int i = 0; forms[i] != NULL; i++)
        if (strcmp(unit, forms[i]) == 0)
            return true;
    return false;
}

/* rad/s reads better as rad per a small time: 2.3e15 rad/s is 2.3 rad/fs. */
static void choose_angular(double largest, struct text_unit *out)
{
    int prefix = prefix_for(largest);
    prefix = prefix < PREFIX_NONE ? PREFIX_NONE : prefix;
    out->scale = pow(10, 3.0 * (prefix - PREFIX_NONE));
    snprintf(out->unit, sizeof out->unit, "rad/%ss", prefixes[2 * PREFIX_NONE - prefix]);
}

void text_choose_unit(const char *unit, double largest, struct text_unit *out)
{
    out->scale = 1;
    if (is_angular_frequency(unit)) {
        choose_angular(fabs(largest), out);
        return;
    }
    if (!is_prefixed(unit)) {
        text_pretty_unit(unit, out->unit, sizeof out->unit);
        return;
    }
    const double size = fabs(largest);
    if (strcmp(unit, "m") == 0 && size > 0.0099999 && size < 0.9999999) {
        *out = (struct text_unit){.scale = 0.01, .unit = "cm"}; /* fibres are given in cm */
        return;
    }
    const int prefix = prefix_for(size);
    out->scale = pow(10, 3.0 * (prefix - PREFIX_NONE));
    snprintf(out->unit, sizeof out->unit, "%s%s", prefixes[prefix], unit);
}

/* Append one character of a unit; inside an exponent digits and signs are raised. */
static size_t pretty_character(char c, bool raised, char *text, size_t room)
{
    static const char *const digits[] = {"⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹"};
    char plain[2] = {c, '\0'};
    const char *piece = plain;
    if (raised && c >= '0' && c <= '9')
        piece = digits[c - '0'];
    else if (raised && c == '-')
        piece = "⁻";
    const size_t length = strlen(piece);
    if (length >= room)
        return 0;
    memcpy(text, piece, length + 1);
    return length;
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Whether the character at c is raised, given whether the one before it was. */
static bool is_raised(const char *unit, const char *c, bool before)
{
    /* udunits also writes m-3 and s2: a digit or sign right after a letter */
    const bool after_letter = c > unit && isalpha((unsigned char)c[-1]) != 0;
    if (after_letter && (is_digit(*c) || (*c == '-' && is_digit(c[1]))))
        return true;
    return before && (is_digit(*c) || *c == '-' || *c == '.');
}

void text_pretty_unit(const char *unit, char *text, size_t size)
{
    bool raised = false;
    size_t used = 0;
    text[0] = '\0';
    if (strcmp(unit, "1") == 0)
        return;
    for (const char *c = unit; *c != '\0'; c++) {
        if (*c == '^') {
            raised = true;
            continue;
        }
        raised = is_raised(unit, c, raised);
        const size_t length = pretty_character(*c, raised, text + used, size - used);
        if (length == 0)
            return; /* cut where the room ends, never in the middle */
        used += length;
    }
}

void text_rounded(double value, const char *unit, int digits, char text[TEXT_SIZE])
{
    struct text_unit chosen;
    text_choose_unit(unit, value, &chosen);
    snprintf(text, TEXT_SIZE, "%.*g%s%s", digits, value / chosen.scale,
             chosen.unit[0] != '\0' ? " " : "", chosen.unit);
}

void text_value(double value, const char *unit, char text[TEXT_SIZE])
{
    text_rounded(value, unit, 6, text);
}

void text_label(const char *name, const char *unit, char *text, size_t size)
{
    if (unit[0] != '\0')
        snprintf(text, size, "%s (%s)", name, unit);
    else
        snprintf(text, size, "%s", name);
}

/* Length of the UTF-8 sequence at s, 0 when it is not one. */
static int sequence_length(const unsigned char *s)
{
    const int length = s[0] < 0x80                             ? 1
                       : (s[0] & 0xe0) == 0xc0 && s[0] >= 0xc2 ? 2
                       : (s[0] & 0xf0) == 0xe0                 ? 3
                       : (s[0] & 0xf8) == 0xf0 && s[0] <= 0xf4 ? 4
                                                               : 0;
    for (int i = 1; i < length; i++)
        if ((s[i] & 0xc0) != 0x80)
            return 0;
    return length;
}

void json_text(FILE *out, const char *text)
{
    fputc('"', out);
    for (const unsigned char *s = (const unsigned char *)text; *s != '\0';) {
        const int length = sequence_length(s);
        if (length == 0)
            fputs("\\ufffd", out);
        else if (*s == '"' || *s == '\\')
            fprintf(out, "\\%c", *s);
        else if (*s < ' ' || *s == 127)
            fprintf(out, "\\u%04x", *s);
        else
            fwrite(s, 1, (size_t)length, out);
        s += length > 0 ? length : 1;
    }
    fputc('"', out);
}

void json_number(FILE *out, double value)
{
    if (isfinite(value))
        fprintf(out, "%.17g", value);
    else
        fputs("null", out);
}
