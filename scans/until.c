/* SPDX-License-Identifier: GPL-3.0-or-later */
/* ensemble: {until: …, min: …, max: …}: realisations until an error is small enough. */
#include <stdio.h>
#include <string.h>

#include "kernels/base/nearest.h"
#include "kernels/base/status.h"
#include "scans/names.h"
#include "scans/numbers.h"
#include "scans/sections.h"
#include "scans/text.h"

/* The quantities that are no observables, by enum until_kind less one. */
static const char *const spectra[] = {"mean_spectrum", "g12", NULL};

static int read_quantity(struct reader *r, const char *where, const struct node *node)
{
    struct scan_until *until = &r->scan->ensemble.until;
    const struct model_info *info = r->scan->info;
    struct names names = {0};
    int index = 0;
    for (int i = 0; spectra[i] != NULL; i++)
        names_add(&names, spectra[i]);
    for (int i = 0; i < info->observable_count; i++)
        names_add(&names, info->observables[i].name);
    TRY(value_word(r, where, node, names.name, &index));
    until->kind = index == 0 ? UNTIL_MEAN_SPECTRUM : index == 1 ? UNTIL_G12 : UNTIL_OBSERVABLE;
    until->observable = index - 2;
    snprintf(until->quantity, sizeof until->quantity, "%s", names.name[index]);
    return 0;
}

static int read_error(struct reader *r, const char *where, const struct node *node)
{
    double *const error = &r->scan->ensemble.until.error;
    TRY(value_real(r, where, node, "1", error));
    if (!(*error > 0.0) || *error > 1.0)
        return value_fail(r, node, "%s: %s is out of range; accepted: above 0, up to 100 %%",
                          where, node->text);
    return 0;
}

/* Two wavelengths, in any order. */
static int read_band(struct reader *r, const char *where, const struct node *node)
{
    struct scan_until *until = &r->scan->ensemble.until;
    double ends[2] = {0, 0};
    int n = 0;
    if (node->kind != NODE_LIST || node->count != 2)
        return value_fail(r, node, "%s: two wavelengths are wanted, such as [700 nm, 900 nm]",
                          where);
    for (const struct node *child = node->first; child != NULL; child = child->next) {
        TRY(value_real(r, where, child, "m", &ends[n]));
        if (!(ends[n++] > 0.0))
            return value_fail(r, child, "%s: wavelength %s is not above 0", where, child->text);
    }
    if (!(ends[0] < ends[1]) && !(ends[1] < ends[0]))
        return value_fail(r, node, "%s: the two wavelengths are the same", where);
    until->banded = true;
    until->band[0] = ends[0] < ends[1] ? ends[0] : ends[1];
    until->band[1] = ends[0] < ends[1] ? ends[1] : ends[0];
    return 0;
}

static const struct {
    const char *key;
    int (*read)(struct reader *r, const char *where, const struct node *node);
} keys[] = {{"quantity", read_quantity}, {"error", read_error}, {"band", read_band}};

enum { KEYS = sizeof keys / sizeof keys[0] };

static int read_key(struct reader *r, const char *where, const struct node *child)
{
    static const char *const names[] = {"quantity", "error", "band", NULL};
    char inner[96];
    for (int i = 0; i < KEYS; i++) {
        if (strcmp(keys[i].key, child->key) != 0)
            continue;
        snprintf(inner, sizeof inner, "%s.%s", where, child->key);
        TRY(places_note(r, inner, child));
        return keys[i].read(r, inner, child);
    }
    const char *near = nearest_name(child->key, names);
    return text_fail(r->name, child->key_line, child->key_column,
                     "unknown key '%.60s' in %s; %s%s%saccepted: quantity, error, band",
                     child->key, where, near != NULL ? "did you mean '" : "",
                     near != NULL ? near : "", near != NULL ? "'? " : "");
}

int until_read(struct reader *r, const char *where, const struct node *node)
{
    struct scan_until *until = &r->scan->ensemble.until;
    const int64_t min = until->min;
    const int64_t max = until->max;
    *until = (struct scan_until){.min = min, .max = max};
    r->scan->ensemble.present = true;
    if (node->kind != NODE_MAP)
        return value_fail(r, node,
                          "%s: {quantity: mean_spectrum, error: 2 %%} is wanted; quantity is "
                          "mean_spectrum, g12 or an observable",
                          where);
    for (const struct node *child = node->first; child != NULL; child = child->next)
        TRY(read_key(r, where, child));
    if (until->kind == UNTIL_NONE || until->error <= 0.0)
        return value_fail(r, node, "%s: %s is missing; quantity and error are wanted", where,
                          until->kind == UNTIL_NONE ? "quantity" : "error");
    if (until->banded && until->kind == UNTIL_OBSERVABLE)
        return value_fail(r, node, "%s.band: %s is one number, not a spectrum", where,
                          until->quantity);
    return 0;
}

int until_read_min(struct reader *r, const char *where, const struct node *node)
{
    r->scan->ensemble.present = true;
    return value_int(r, where, node, SCAN_UNTIL_LEAST, SCAN_MEMBERS_MAX,
                     &r->scan->ensemble.until.min);
}

int until_read_max(struct reader *r, const char *where, const struct node *node)
{
    r->scan->ensemble.present = true;
    return value_int(r, where, node, SCAN_UNTIL_LEAST, SCAN_MEMBERS_MAX,
                     &r->scan->ensemble.until.max);
}

void until_write(const struct scan *scan, struct text *out)
{
    const struct scan_until *until = &scan->ensemble.until;
    char number[NUMBER_SIZE];
    if (until->kind == UNTIL_NONE)
        return;
    number_write(until->error, number);
    text_add(out, "{quantity: %s, error: %s", until->quantity, number);
    for (int i = 0; until->banded && i < 2; i++) {
        number_write(until->band[i], number);
        text_add(out, i == 0 ? ", band: [%s" : ", %s]", number);
    }
    text_add(out, "}");
}

static void write_count(const struct scan *scan, int64_t count, struct text *out)
{
    if (scan->ensemble.until.kind != UNTIL_NONE)
        text_add(out, "%lld", (long long)count);
}

void until_write_min(const struct scan *scan, struct text *out)
{
    write_count(scan, scan->ensemble.until.min, out);
}

void until_write_max(const struct scan *scan, struct text *out)
{
    write_count(scan, scan->ensemble.until.max, out);
}

/* Part: what the section means. */

/* What the quantity is made of has to be in the file. */
static int check_saved(const struct scan *scan)
{
    const struct scan_until *until = &scan->ensemble.until;
    char message[300];
    if (until->kind == UNTIL_OBSERVABLE) {
        if (scan->save.all_observables || scan->save.observable[until->observable])
            return 0;
        snprintf(message, sizeof message,
                 "ensemble.until.quantity: %s is decided by, and save.observables keeps it not",
                 until->quantity);
        return scan_fail(scan, ERR_PARSE, message);
    }
    if (scan->save.field != SAVE_FIELD_NO)
        return 0;
    snprintf(message, sizeof message,
             "ensemble.until.quantity: %s needs fields, and save.field keeps none",
             until->quantity);
    return scan_fail(scan, ERR_PARSE, message);
}

int until_check(struct scan *scan)
{
    struct scan_ensemble *ensemble = &scan->ensemble;
    struct scan_until *until = &ensemble->until;
    char message[300];
    if (until->kind == UNTIL_NONE) {
        if (until->min == 0 && until->max == 0)
            return 0;
        snprintf(message, sizeof message,
                 "ensemble.%s: it bounds the realisations of until, which is missing",
                 until->max > 0 ? "max" : "min");
        return scan_fail(scan, ERR_PARSE, message);
    }
    if (ensemble->counted)
        return scan_fail(scan, ERR_PARSE,
                         "ensemble.realisations: with until they are between min and max; "
                         "leave the key out");
    if (!scan->info->takes_noise) {
        snprintf(message, sizeof message,
                 "ensemble.until: model %s has no noise, its realisations are all the same",
                 scan->info->name);
        return scan_fail(scan, ERR_PARSE, message);
    }
    if (until->max == 0)
        return scan_fail(scan, ERR_PARSE,
                         "ensemble.until: max is missing, the most realisations of a point");
    if (until->min == 0)
        until->min = until->max < SCAN_UNTIL_MIN ? until->max : SCAN_UNTIL_MIN;
    if (until->min > until->max)
        return scan_fail(scan, ERR_PARSE, "ensemble.min: it is above max");
    return check_saved(scan);
}
