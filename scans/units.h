/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SCANS_UNITS_H
#define SCANS_UNITS_H

#include <stddef.h>

#define UNITS_WHY_SIZE 320

/* The units database, read when the first unit is met, and the units met so far. */
struct units;

/** Make it; the database is not read yet. */
int units_create(struct units **out);

/** Free; NULL is legal. */
void units_destroy(struct units *units);

/**
 * Value of "50 fs" in a unit.
 *
 * A bare number is taken in that unit. Powers of ten between the two units shift the decimal
 * point before the one rounding to double: "835 nm" in m is the double 835e-9. Ours besides
 * udunits2's: dB/m, dB/km (power attenuation in 1/m: ln(10)/10 a dB), deg, %. Hz is refused
 * where the unit has rad, which udunits2 would convert by 1; so are angles elsewhere.
 *
 * @param units NULL: bare numbers only (the canonical form)
 * @param text  number and unit
 * @param unit  udunits2 text of the wanted unit
 * @param why   [UNITS_WHY_SIZE] what is wrong, without place, when ERR_PARSE
 * @return 0, ERR_PARSE, ERR_IO (no database)
 */
int units_value(struct units *units, const char *text, const char *unit, double *out,
                char *why);

/**
 * Bytes of "4 GB", "500 MiB", "1e9": decimal and binary prefixes, a bare number is bytes.
 * Otherwise as units_value.
 */
int units_bytes(const char *text, double *out, char *why);

#endif
