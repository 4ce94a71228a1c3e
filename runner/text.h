/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef RUNNER_TEXT_H
#define RUNNER_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define TEXT_SIZE 64

/** A size in bytes for people: "1.50 GB" (powers of 1000, as disks are sold). */
void text_bytes(double bytes, char text[TEXT_SIZE]);

/** A span of time for people: "850 ms", "12.3 s", "4 min 05 s", "3 h 20 min", "12.5 days". */
void text_seconds(double seconds, char text[TEXT_SIZE]);

/** A count with thin groups for people: "1 500 000". */
void text_count(int64_t count, char text[TEXT_SIZE]);

/** A range of members for people: "member 7", "members 0 to 11". */
void text_members(int64_t first, int64_t last, char text[TEXT_SIZE]);

/**
 * How a quantity is shown on an axis or in a table: value / scale in `unit`.
 * {1e-12, "ps"} for 3e-12 s.
 */
struct text_unit {
    double scale;
    char unit[40]; /* UTF-8, superscripts instead of ^; "" for a pure number */
};

/**
 * The unit in which values up to `largest` read well: an SI prefix for units of one symbol
 * (s, m, W, J …) and for rad/s, none for others.
 *
 * @param unit udunits text of the stored values
 */
void text_choose_unit(const char *unit, double largest, struct text_unit *out);

/** A unit as people write it: "m^-3" becomes "m⁻³", "1" nothing. */
void text_pretty_unit(const char *unit, char *text, size_t size);

/** A value with a well-chosen unit: "50 fs", "8.65". */
void text_value(double value, const char *unit, char text[TEXT_SIZE]);

/** The same with so many significant digits instead of six. */
void text_rounded(double value, const char *unit, int digits, char text[TEXT_SIZE]);

/** An axis label: "z (cm)", or the name alone for a pure number. @param text [size] */
void text_label(const char *name, const char *unit, char *text, size_t size);

/** Write a JSON string with its quotes; bytes that are not UTF-8 become U+FFFD. */
void json_text(FILE *out, const char *text);

/** Write a JSON number with 17 digits; null when it is not finite. */
void json_number(FILE *out, double value);

#endif
