/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/base/nearest.h"
#include "kernels/base/status.h"
#include "scans/names.h"
#include "scans/numbers.h"
#include "scans/sections.h"
#include "scans/text.h"

/* Of a perturbation, beyond which noise-seeded members are not judged where nothing is said. */
#define GAIN 100.0

static int fail_length(struct reader *r, const char *where, const struct node *node)
{
    return value_fail(r, node, "%s: the text is too long", where);
}

int envelope_read_reference(struct reader *r, const char *where, const struct node *node)
{
    struct scan_envelope *envelope = &r->scan->envelope;
    const char *text = NULL;
    TRY(value_text(r, where, node, "tighter, stored FILE or none", &text));
    if (strncmp(text, "stored ", 7) == 0 && text[7] != '\0') {
        envelope->reference = ENVELOPE_STORED;
        const int n = snprintf(envelope->file, sizeof envelope->file, "%s", text + 7);
        return n < (int)sizeof envelope->file ? 0 : fail_length(r, where, node);
    }
    if (strcmp(text, "tighter") != 0 && strcmp(text, "none") != 0)
        return value_fail(r, node,
                          "%s: unknown choice '%.60s'; accepted: tighter, stored FILE, "
                          "none",
                          where, text);
    envelope->reference = strcmp(text, "none") == 0 ? ENVELOPE_NONE : ENVELOPE_TIGHTER;
    return 0;
}

static int read_above(struct reader *r, const char *where, const struct node *node,
                      double limit, double *out)
{
    TRY(value_real(r, where, node, "1", out));
    if (!(*out > limit))
        return value_fail(r, node, "%s: %s is out of range; accepted: above %g", where,
                          node->text, limit);
    return 0;
}

int envelope_read_factor(struct reader *r, const char *where, const struct node *node)
{
    return read_above(r, where, node, 1.0, &r->scan->envelope.factor);
}

int envelope_read_safety(struct reader *r, const char *where, const struct node *node)
{
    double *const safety = &r->scan->envelope.safety;
    TRY(value_real(r, where, node, "1", safety));
    if (!(*safety >= 1.0))
        return value_fail(r, node, "%s: %s is out of range; accepted: at least 1", where,
                          node->text);
    return 0;
}

int envelope_read_gain(struct reader *r, const char *where, const struct node *node)
{
    double *const gain = &r->scan->envelope.gain;
    *gain = 0.0;
    return value_is(node, "none") ? 0 : read_above(r, where, node, 1.0, gain);
}

int envelope_read_tolerance(struct reader *r, const char *where, const struct node *node)
{
    return read_above(r, where, node, 0.0, &r->scan->envelope.tolerance);
}

int envelope_read_norm(struct reader *r, const char *where, const struct node *node)
{
    static const char *const words[] = {"field_l2", "spectrum_l2", "energy", "observable NAME",
                                        NULL};
    const struct model_info *info = r->scan->info;
    const char *text = NULL;
    TRY(value_text(r, where, node, "the name of a norm", &text));
    if (strncmp(text, "observable ", 11) == 0) {
        struct names names = {0};
        for (int i = 0; i < info->observable_count; i++)
            names_add(&names, info->observables[i].name);
        struct node name = *node;
        name.text = text + 11;
        int index = 0;
        TRY(value_word(r, where, &name, names.name, &index));
    } else {
        int index = 0;
        TRY(value_word(r, where, node, words, &index));
        if (index == 3)
            return value_fail(r, node, "%s: put the observable's name in place of NAME", where);
    }
    snprintf(r->scan->envelope.norm, sizeof r->scan->envelope.norm, "%s", text);
    return 0;
}

/* A list of point indices in the text after "points". */
static bool is_point_list(const char *text)
{
    if (strncmp(text, "points [", 8) != 0)
        return false;
    const char *p = text + 8;
    for (bool more = true; more;) {
        const size_t digits = strspn(p, "0123456789");
        if (digits == 0)
            return false;
        p += digits;
        more = *p == ',';
        p += more ? 1 + strspn(p + 1, " ") : 0;
    }
    return strcmp(p, "]") == 0;
}

/* A share of the members, or their number. */
static int check_amount(struct reader *r, const char *where, const struct node *node,
                        const char *text, const char *what)
{
    if (number_length(text) == 0)
        return value_fail(r, node, "%s: '%.60s' is not one of: %s", where, text, what);
    double number = 0.0;
    TRY(value_real(r, where, node, "1", &number));
    const bool share = strchr(text, '%') != NULL;
    if (!(number > 0.0) || number > 1e15 || (share ? number > 1.0 : number != floor(number)))
        return value_fail(r, node, "%s: %s is out of range; accepted: %s", where, text, what);
    return 0;
}

int envelope_read_sample(struct reader *r, const char *where, const struct node *node)
{
    static const char what[] = "all, a share such as 5 %, a number of members or points [0, 3]";
    struct scan_envelope *envelope = &r->scan->envelope;
    const char *text = NULL;
    char points[sizeof envelope->sample + 16] = "points ";
    if (node->kind == NODE_MAP && node->count == 1 && strcmp(node->first->key, "points") == 0) {
        node_write(node->first, points + 7,
                   sizeof points - 7); /* flow style: {points: [0, 3]} */
        text = points;
    } else {
        TRY(value_text(r, where, node, what, &text));
    }
    if (r->units != NULL && strcmp(text, "all") != 0 && !is_point_list(text))
        TRY(check_amount(r, where, node, text, what));
    const int n = snprintf(envelope->sample, sizeof envelope->sample, "%s", text);
    return n < (int)sizeof envelope->sample ? 0 : fail_length(r, where, node);
}

/* A double-quoted YAML text. */
static void write_quoted(const char *text, struct text *out)
{
    text_add(out, "\"");
    for (const char *p = text; *p != '\0'; p++)
        text_add(out, *p == '"' || *p == '\\' ? "\\%c" : "%c", *p);
    text_add(out, "\"");
}

static bool is_used(const struct scan *scan)
{
    return scan->envelope.reference != ENVELOPE_NONE;
}

void envelope_write_reference(const struct scan *scan, struct text *out)
{
    if (scan->envelope.reference == ENVELOPE_STORED) {
        char text[sizeof scan->envelope.file + 8];
        snprintf(text, sizeof text, "stored %s", scan->envelope.file);
        write_quoted(text, out);
    } else {
        text_add(out, is_used(scan) ? "tighter" : "none");
    }
}

static void write_number(const struct scan *scan, double value, struct text *out)
{
    char number[NUMBER_SIZE];
    number_write(value, number);
    if (is_used(scan) && value > 0.0)
        text_add(out, "%s", number);
}

void envelope_write_factor(const struct scan *scan, struct text *out)
{
    write_number(scan, scan->envelope.factor, out);
}

void envelope_write_safety(const struct scan *scan, struct text *out)
{
    write_number(scan, scan->envelope.safety, out);
}

void envelope_write_tolerance(const struct scan *scan, struct text *out)
{
    write_number(scan, scan->envelope.tolerance, out);
}

void envelope_write_norm(const struct scan *scan, struct text *out)
{
    if (is_used(scan))
        text_add(out, "%s", scan->envelope.norm);
}

void envelope_write_sample(const struct scan *scan, struct text *out)
{
    if (is_used(scan))
        write_quoted(scan->envelope.sample, out);
}

void envelope_write_gain(const struct scan *scan, struct text *out)
{
    write_number(scan, scan->envelope.gain, out);
}

/* Part: what the section means. */

/* A gain has a meaning for members with noise alone. Canonical forms without one are of runs
 * that measured none. */
void envelope_finish(struct scan *scan, bool written)
{
    double *const gain = &scan->envelope.gain;
    if (*gain < 0.0)
        *gain = written ? GAIN : 0.0;
    if (!is_used(scan) || !scan->ensemble.present || scan->ensemble.noise == NOISE_NONE)
        *gain = 0.0;
}

static int find_observable(const struct model_info *info, const char *name)
{
    for (int i = 0; i < info->observable_count; i++)
        if (strcmp(info->observables[i].name, name) == 0)
            return i;
    return -1;
}

/* The number that a norm compares: "energy", the name behind "observable "; NULL: a field. */
static const char *number_of(const char *norm)
{
    if (strncmp(norm, "observable ", 11) == 0)
        return norm + 11;
    return strcmp(norm, "energy") == 0 ? norm : NULL;
}

enum envelope_norm scan_envelope_norm(const struct scan *scan, int *observable)
{
    const char *const norm = scan->envelope.norm;
    const char *const number = number_of(norm);
    *observable = number != NULL ? find_observable(scan->info, number) : -1;
    if (number != NULL)
        return NORM_OBSERVABLE;
    return strcmp(norm, "spectrum_l2") == 0 ? NORM_SPECTRUM_L2 : NORM_FIELD_L2;
}

enum envelope_sample scan_envelope_sample(const struct scan *scan, double *amount)
{
    const char *const text = scan->envelope.sample;
    *amount = 1.0;
    if (strcmp(text, "all") == 0)
        return SAMPLE_ALL;
    if (strncmp(text, "points ", 7) == 0)
        return SAMPLE_POINTS;
    const bool share = strchr(text, '%') != NULL;
    const double number = strtod(text, NULL);
    *amount = share ? number / 100.0 : number;
    return share ? SAMPLE_SHARE : SAMPLE_COUNT;
}

bool scan_envelope_point(const struct scan *scan, int index, int64_t *point)
{
    const char *at = strchr(scan->envelope.sample, '[');
    for (int i = 0; at != NULL; i++) {
        char *end = NULL;
        *point = strtoll(at + 1, &end, 10);
        if (i == index)
            return true;
        at = *end == ',' ? end : NULL;
    }
    return false;
}

static int refuse(const struct scan *scan, const char *message)
{
    return scan_fail(scan, ERR_PARSE, message);
}

/* What the norm compares has to be in the file. */
static int check_norm(const struct scan *scan)
{
    char message[300];
    int observable = -1;
    const char *const norm = scan->envelope.norm;
    if (scan_envelope_norm(scan, &observable) != NORM_OBSERVABLE) {
        if (scan->save.field != SAVE_FIELD_NO)
            return 0;
        snprintf(message, sizeof message,
                 "envelope.norm: %s compares fields, and save.field keeps none", norm);
        return refuse(scan, message);
    }
    if (observable >= 0 && (scan->save.all_observables || scan->save.observable[observable]))
        return 0;
    const bool missing = observable < 0;
    snprintf(message, sizeof message,
             missing ? "envelope.norm: model %s has no observable %s"
                     : "envelope.norm: model %s has observable %s, and save.observables keeps "
                       "it not",
             scan->info->name, number_of(norm));
    return refuse(scan, message);
}

static int check_points(const struct scan *scan)
{
    char message[200];
    double amount = 0;
    int64_t point = 0;
    if (scan_envelope_sample(scan, &amount) != SAMPLE_POINTS)
        return 0;
    for (int i = 0; scan_envelope_point(scan, i, &point); i++) {
        if (point < scan->points)
            continue;
        snprintf(message, sizeof message,
                 "envelope.sample: there is no point %" PRId64 "; the points are 0 to %" PRId64,
                 point, scan->points - 1);
        return refuse(scan, message);
    }
    return 0;
}

static bool has_param(const struct scan *scan, const char *name)
{
    for (int i = 0; i < scan->info->param_count; i++)
        if (strcmp(scan->info->params[i].name, name) == 0)
            return true;
    return false;
}

int envelope_check(const struct scan *scan)
{
    char message[200];
    if (!is_used(scan))
        return 0;
    if (scan->envelope.tolerance <= 0.0)
        return refuse(scan, "envelope: tolerance is missing: the error that is expected of a "
                            "member in the norm, such as 1e-4");
    if (scan->envelope.tolerance * scan->envelope.safety >= 1.0) {
        snprintf(message, sizeof message,
                 "envelope: safety times tolerance is %.3g; a result of nothing but zeros is 1 "
                 "from any reference, so that below 1 is wanted",
                 scan->envelope.tolerance * scan->envelope.safety);
        return refuse(scan, message);
    }
    if (scan->envelope.reference == ENVELOPE_TIGHTER && !has_param(scan, "stepper.rtol")) {
        snprintf(message, sizeof message,
                 "envelope.reference: model %s has no stepper.rtol that could be tighter; "
                 "accepted: stored FILE, none",
                 scan->info->name);
        return refuse(scan, message);
    }
    TRY(check_norm(scan));
    return check_points(scan);
}
