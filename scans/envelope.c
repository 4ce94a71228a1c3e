/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "kernels/base/nearest.h"
#include "kernels/base/status.h"
#include "scans/names.h"
#include "scans/numbers.h"
#include "scans/sections.h"
#include "scans/text.h"

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
    return read_above(r, where, node, 0.0, &r->scan->envelope.safety);
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
