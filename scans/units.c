/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "scans/units.h"

#include <ctype.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include <udunits2.h>

#include "kernels/base/mem.h"
#include "kernels/base/status.h"
#include "scans/numbers.h"

#define UNIT_SIZE  64
#define CACHE_SIZE 64

/* value = scale * number + offset; is_decimal: scale is exactly 10^shift and offset 0 */
struct conversion {
    char from[UNIT_SIZE];
    char to[UNIT_SIZE];
    bool is_decimal;
    int shift;
    long double scale;
    double offset;
};

struct units {
    ut_system *system;
    int cached;
    struct conversion cache[CACHE_SIZE];
};

int units_create(struct units **out)
{
    return MEM_NEW(1, out);
}

void units_destroy(struct units *units)
{
    if (units == NULL)
        return;
    if (units->system != NULL)
        ut_free_system(units->system);
    mem_free(units);
}

/* The database and unit texts hold numbers, which udunits2 reads in the current locale. */
static int read_database(struct units *units)
{
    if (units->system != NULL)
        return 0;
    ut_set_error_message_handler(ut_ignore);
    const locale_t previous = number_locale_enter();
    units->system = ut_read_xml(NULL);
    number_locale_leave(previous);
    if (units->system == NULL)
        FAIL(ERR_IO, "the units database of udunits2 cannot be read (Debian: libudunits2-data; "
                     "UDUNITS2_XML_PATH names another one)");
    return 0;
}

/* Whether a unit text has a word, e.g. "Hz" in "THz s", any prefix before it allowed. */
static bool has_unit(const char *text, const char *word, bool prefixed)
{
    const size_t length = strlen(word);
    for (const char *p = strstr(text, word); p != NULL; p = strstr(p + 1, word)) {
        const bool starts = p == text || !isalpha((unsigned char)p[-1]);
        const bool ends = !isalpha((unsigned char)p[length]);
        if (ends && (starts || prefixed))
            return true;
    }
    return false;
}

static bool is_angular(const char *unit)
{
    static const char *const words[] = {"rad",     "radian", "deg",   "degree", "degrees",
                                        "radians", "cycle",  "turn",  "°",      "arc_degree",
                                        "rpm",     "circle", "cycles"};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (has_unit(unit, words[i], strcmp(words[i], "rad") == 0))
            return true;
    return false;
}

static bool is_frequency(const char *unit)
{
    return has_unit(unit, "Hz", true) || has_unit(unit, "hertz", true)
           || has_unit(unit, "Bq", true) || has_unit(unit, "becquerel", true);
}

/* Refuse pairs that udunits2 converts by 1 although they differ by 2 pi or mean no number. */
static int check_angles(const char *from, const char *to, char *why)
{
    if (is_angular(to) && is_frequency(from)) {
        snprintf(why, UNITS_WHY_SIZE,
                 "unit '%s' is a frequency, '%s' is wanted; multiply by 2 pi and write rad/s",
                 from, to);
        return ERR_PARSE;
    }
    if (!is_angular(to) && is_angular(from)) {
        snprintf(why, UNITS_WHY_SIZE, "unit '%s' is an angle%s, '%s' is wanted", from,
                 is_frequency(to) ? " rate; divide by 2 pi and write Hz" : "", to);
        return ERR_PARSE;
    }
    return 0;
}

/* Unit text as udunits2 reads it: deg spelled out; dB/… becomes 1/…, reported in decibel. */
static void translate(const char *text, char out[UNIT_SIZE], bool *decibel)
{
    size_t used = 0;
    *decibel = false;
    for (size_t i = 0; text[i] != '\0' && used + 12 < UNIT_SIZE;) {
        const bool starts = i == 0 || !isalpha((unsigned char)text[i - 1]);
        const char *word = NULL;
        size_t length = 0;
        if (starts && strncmp(text + i, "dB", 2) == 0 && !isalnum((unsigned char)text[i + 2])) {
            *decibel = true;
            word = "1";
            length = 2;
        } else if (starts && strncmp(text + i, "deg", 3) == 0
                   && !isalpha((unsigned char)text[i + 3]) && text[i + 3] != '_') {
            word = "arc_degree";
            length = 3;
        }
        if (word == NULL) {
            out[used++] = text[i++];
            continue;
        }
        used += (size_t)snprintf(out + used, UNIT_SIZE - used, "%s", word);
        i += length;
    }
    out[used] = '\0';
}

static ut_unit *parse_unit(const struct units *units, const char *text)
{
    const locale_t previous = number_locale_enter();
    ut_unit *unit = ut_parse(units->system, text, UT_UTF8);
    number_locale_leave(previous);
    return unit;
}

/* Fill scale and offset of two parsed units; false when they do not convert. */
static bool find_scale(ut_unit *from, ut_unit *to, struct conversion *c)
{
    if (!ut_are_convertible(from, to))
        return false;
    cv_converter *converter = ut_get_converter(from, to);
    if (converter == NULL)
        return false;
    c->offset = cv_convert_double(converter, 0.0);
    c->scale = (long double)(cv_convert_double(converter, 1.0) - c->offset);
    cv_free(converter);
    return isfinite((double)c->scale) && c->scale != 0.0L;
}

/* udunits2 multiplies rounded prefixes; what lies within 1e-13 of a power of ten is one. */
static void find_shift(struct conversion *c)
{
    if (c->scale <= 0.0L || c->offset != 0.0)
        return;
    const int shift = (int)lroundl(log10l(c->scale));
    if (fabsl(c->scale / powl(10.0L, (long double)shift) - 1.0L) < 1e-13L) {
        c->is_decimal = true;
        c->shift = shift;
    }
}

/* Decibels are a power attenuation per length: alpha = ln(10)/10 a dB. */
static bool apply_decibel(const struct units *units, ut_unit *to, struct conversion *c)
{
    ut_unit *attenuation = parse_unit(units, "m^-1");
    const bool fits = ut_are_convertible(attenuation, to) != 0;
    ut_free(attenuation);
    if (c->is_decimal)
        c->scale = powl(10.0L, (long double)c->shift);
    c->is_decimal = false;
    c->scale *= logl(10.0L) / 10.0L;
    return fits;
}

static int convert_parsed(const struct units *units, ut_unit *from, ut_unit *to, bool decibel,
                          struct conversion *c, char *why)
{
    if (to == NULL)
        FAIL(ERR_BUG, "unit '%s' of a parameter is not known to udunits2", c->to);
    if (from == NULL) {
        snprintf(why, UNITS_WHY_SIZE, "unknown unit '%s'; '%s' or a multiple of it is wanted",
                 c->from, c->to);
        return ERR_PARSE;
    }
    bool fits = find_scale(from, to, c);
    if (fits)
        find_shift(c);
    if (fits && decibel)
        fits = apply_decibel(units, to, c);
    if (!fits) {
        snprintf(why, UNITS_WHY_SIZE, "unit '%s' does not convert to '%s'", c->from, c->to);
        return ERR_PARSE;
    }
    if (strcmp(c->from, "deg") == 0 && strcmp(c->to, "rad") == 0)
        c->scale = acosl(-1.0L) / 180.0L;
    return 0;
}

static int find_conversion(struct units *units, struct conversion *c, char *why)
{
    TRY(read_database(units));
    TRY(check_angles(c->from, c->to, why));
    char text[UNIT_SIZE + 16];
    bool decibel = false;
    translate(c->from, text, &decibel);
    ut_unit *from = parse_unit(units, text);
    ut_unit *to = parse_unit(units, c->to);
    const int rc = convert_parsed(units, from, to, decibel, c, why);
    ut_free(from);
    ut_free(to);
    return rc;
}

static int get_conversion(struct units *units, const char *from, const char *to,
                          struct conversion *out, char *why)
{
    for (int i = 0; i < units->cached; i++)
        if (strcmp(units->cache[i].from, from) == 0 && strcmp(units->cache[i].to, to) == 0) {
            *out = units->cache[i];
            return 0;
        }
    *out = (struct conversion){0};
    snprintf(out->from, UNIT_SIZE, "%s", from);
    snprintf(out->to, UNIT_SIZE, "%s", to);
    TRY(find_conversion(units, out, why));
    if (units->cached < CACHE_SIZE)
        units->cache[units->cached++] = *out;
    return 0;
}

/* Number and unit apart */

struct quantity {
    const char *number;
    size_t length;
    char unit[UNIT_SIZE]; /* "" for a bare number */
};

/* Characters that a unit may consist of: numbers in it are exponents or the 1 of "1/m". */
static bool is_unit_text(const char *unit)
{
    if (isdigit((unsigned char)unit[0])
        && (unit[0] != '1' || (unit[1] != '/' && unit[1] != ' ')))
        return false;
    for (const char *p = unit; *p != '\0'; p++)
        if (!isalnum((unsigned char)*p) && ((unsigned char)*p) < 0x80
            && strchr("^*/.()-+ %_", *p) == NULL)
            return false;
    return strchr("^*.)-+_", unit[0]) == NULL;
}

static int split_quantity(const char *text, struct quantity *out, char *why)
{
    *out = (struct quantity){.number = text, .length = number_length(text)};
    const char *rest = text + out->length;
    const bool apart = *rest == ' ';
    while (*rest == ' ')
        rest++;
    size_t length = strlen(rest);
    while (length > 0 && rest[length - 1] == ' ')
        length--;
    const bool hexadecimal = text[out->length] == 'x' || text[out->length] == 'X';
    const bool attached =
        *rest == '%' || isalpha((unsigned char)*rest) || (unsigned char)*rest >= 0x80;
    if (out->length == 0 || hexadecimal || (length > 0 && !apart && !attached)) {
        snprintf(why, UNITS_WHY_SIZE, "%s: '%.60s'", number_problem(text), text);
        return ERR_PARSE;
    }
    if (length >= UNIT_SIZE) {
        snprintf(why, UNITS_WHY_SIZE, "unit '%.40s…' is too long", rest);
        return ERR_PARSE;
    }
    memcpy(out->unit, rest, length);
    out->unit[length] = '\0';
    if (length > 0 && !is_unit_text(out->unit)) {
        snprintf(why, UNITS_WHY_SIZE, "'%s' after the number is not a unit", out->unit);
        return ERR_PARSE;
    }
    return 0;
}

static int out_of_range(const char *text, char *why)
{
    snprintf(why, UNITS_WHY_SIZE, "%.60s is beyond the range of numbers, 5e-324 to 1.8e308",
             text);
    return ERR_PARSE;
}

int units_value(struct units *units, const char *text, const char *unit, double *out, char *why)
{
    struct quantity quantity;
    TRY(split_quantity(text, &quantity, why));
    if (quantity.unit[0] == '\0')
        return number_real(quantity.number, quantity.length, 0, out) ? 0
                                                                     : out_of_range(text, why);
    if (units == NULL) {
        snprintf(why, UNITS_WHY_SIZE, "'%.60s' has a unit; the canonical form has none", text);
        return ERR_PARSE;
    }
    struct conversion c;
    TRY(get_conversion(units, quantity.unit, unit, &c, why));
    if (c.is_decimal)
        return number_real(quantity.number, quantity.length, c.shift, out)
                   ? 0
                   : out_of_range(text, why);
    long double number = 0.0L;
    if (!number_long(quantity.number, quantity.length, &number))
        return out_of_range(text, why);
    const double value = (double)(number * c.scale + (long double)c.offset);
    if (!isfinite(value))
        return out_of_range(text, why);
    *out = value == 0.0 ? 0.0 : value;
    return 0;
}

int units_bytes(const char *text, double *out, char *why)
{
    static const struct {
        const char *name;
        double bytes;
    } table[] = {{"", 1},
                 {"B", 1},
                 {"kB", 1e3},
                 {"MB", 1e6},
                 {"GB", 1e9},
                 {"TB", 1e12},
                 {"KiB", 1024.0},
                 {"MiB", 1024.0 * 1024.0},
                 {"GiB", 1024.0 * 1024.0 * 1024.0},
                 {"TiB", 1024.0 * 1024.0 * 1024.0 * 1024.0}};
    struct quantity quantity;
    TRY(split_quantity(text, &quantity, why));
    double number = 0.0;
    if (!number_real(quantity.number, quantity.length, 0, &number))
        return out_of_range(text, why);
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++)
        if (strcmp(quantity.unit, table[i].name) == 0) {
            *out = floor(number * table[i].bytes);
            return 0;
        }
    snprintf(why, UNITS_WHY_SIZE,
             "unknown unit '%s'; accepted: B, kB, MB, GB, TB, KiB, MiB, GiB, TiB",
             quantity.unit);
    return ERR_PARSE;
}
