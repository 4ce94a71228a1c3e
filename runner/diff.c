/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "kernels/base/status.h"
#include "runner/commands.h"
#include "runner/diffing.h"
#include "runner/text.h"

enum { ROW_TOLERANCE, ROW_JSON };

enum { POINTS_SHOWN = 20 };

static const struct option_row diff_options[] = {
    [ROW_TOLERANCE] = {"tolerance", 0, "E",
                       "allowed difference in field_l2 (without fields: of "
                       "any observable) where no envelopes say it"},
    [ROW_JSON] = {"json", 0, NULL, "one JSON object instead of text"},
    {NULL, 0, NULL, NULL}};

static bool is_equal(const struct diffing *d)
{
    bool outside = d->points_outside > 0;
    for (int c = 0; c < DIFF_CLASSES; c++)
        outside = outside || d->outside[c] > 0;
    return !outside;
}

static const char *letter(enum diff_class class)
{
    static const char *const letters[DIFF_CLASSES] = {"P", "R", "T", "-"};
    return letters[class];
}

static void write_classes(const struct diffing *d)
{
    for (int c = 0; c < DIFF_CLASSES; c++) {
        if (d->count[c] == 0)
            continue;
        printf("  %s %-18s %" PRId64 " pairs", letter((enum diff_class)c),
               diff_class_name((enum diff_class)c), d->count[c]);
        if (c == DIFF_MATCHED || c == DIFF_ADAPTIVE)
            printf(", %" PRId64 " outside, worst margin %.3g", d->outside[c], d->margin[c]);
        if (c == DIFF_NOTHING)
            printf(" differ: --tolerance E says how far they may");
        printf("\n");
    }
}

static void write_point(const struct diffing *d, const struct diff_point *p)
{
    const struct ensemble_difference *const s = &p->spectrum;
    if (!p->judged) {
        printf("    %6" PRId64 " %6" PRId64 "   not compared: %s\n", p->point[0], p->point[1],
               p->reason);
        return;
    }
    printf("    %6" PRId64 " %6" PRId64 " %6ld  %5.2f of %.2f ± %-6.2f %5ld of %-6.1f %5ld of "
           "%-6.1f %.3f ± %.3f, %.3f ± %.3f %5.1f%s\n",
           p->point[0], p->point[1], s->bins, s->chi2, s->expected, s->spread, s->beyond2,
           s->chance2, s->beyond3, s->chance3, p->coherence[0], p->coherence_error[0],
           p->coherence[1], p->coherence_error[1], p->excess,
           p->excess > d->limit ? " outside" : "");
}

static void write_points(const struct diffing *d)
{
    if (d->points == 0)
        return;
    printf("  N ensembles          %" PRId64 " points of independent noise, %" PRId64
           " outside (more than %.2f standard deviations), %" PRId64 " not compared\n",
           d->points, d->points_outside, d->limit, d->points_open);
    printf("    %6s %6s %6s  %-19s %-14s %-15s %-30s %s\n", "A", "B", "bins", "z² by chance",
           "beyond 2", "beyond 3", "coherences", "sigmas");
    for (int64_t i = 0; i < d->points && i < POINTS_SHOWN; i++)
        write_point(d, &d->point[i]);
    if (d->points > POINTS_SHOWN)
        printf("    … and %" PRId64 " more points\n", d->points - POINTS_SHOWN);
}

static void write_worst(const struct diffing *d)
{
    if (d->worsts > 0)
        printf("  farthest apart\n    %-10s %-10s %-12s %-16s %10s %10s %10s\n", "member A",
               "member B", "what", "plane, index", "observed", "allowed", "margin");
    for (int i = 0; i < d->worsts; i++) {
        const struct diff_finding *const f = &d->worst[i];
        char place[48];
        snprintf(place, sizeof place, "%ld, %ld", f->plane[0], f->index);
        printf("    %-10" PRId64 " %-10" PRId64 " %-12s %-16s %10.3g ", f->pair.member[0],
               f->pair.member[1], f->what, place, f->observed);
        if (f->class == DIFF_NOTHING)
            printf("%10s %10s\n", "-", "-");
        else
            printf("%10.3g %10.3g\n", f->allowed, f->margin);
    }
}

static void write_text(const struct diffing *d)
{
    printf("%s and %s: %s\n", d->side[0].path, d->side[1].path,
           is_equal(d) ? "equal within bounds" : "different");
    printf("  %" PRId64 " members in both; %" PRId64 " only in the first, %" PRId64
           " only in the second%s%s\n",
           d->pairs, d->only[0], d->only[1], d->build[0] != '\0' ? "; " : "", d->build);
    write_classes(d);
    write_points(d);
    write_worst(d);
}

static void json_pair(const char *name, const double value[2])
{
    printf(", \"%s\": [", name);
    json_number(stdout, value[0]);
    printf(", ");
    json_number(stdout, value[1]);
    printf("]");
}

static void json_named(const char *name, double value)
{
    printf(", \"%s\": ", name);
    json_number(stdout, value);
}

static void json_point(const struct diffing *d, const struct diff_point *p)
{
    const struct ensemble_difference *const s = &p->spectrum;
    printf("{\"points\": [%" PRId64 ", %" PRId64 "], \"planes\": [%ld, %ld], \"judged\": %s",
           p->point[0], p->point[1], p->plane[0], p->plane[1], p->judged ? "true" : "false");
    if (!p->judged) {
        printf(", \"reason\": ");
        json_text(stdout, p->reason);
        printf("}");
        return;
    }
    printf(", \"outside\": %s, \"bins\": %ld, \"beyond_2\": %ld, \"beyond_3\": %ld, \"worst\": "
           "%ld",
           p->excess > d->limit ? "true" : "false", s->bins, s->beyond2, s->beyond3, s->worst);
    json_named("chance_2", s->chance2);
    json_named("chance_3", s->chance3);
    json_named("chi2", s->chi2);
    json_named("expected", s->expected);
    json_named("spread", s->spread);
    json_named("correlation", s->correlation);
    json_named("largest", s->largest);
    json_named("excess", p->excess);
    json_pair("coherence", p->coherence);
    json_pair("coherence_error", p->coherence_error);
    printf("}");
}

static void json_finding(const struct diff_finding *f)
{
    printf("{\"class\": \"%s\", \"members\": [%" PRId64 ", %" PRId64
           "], \"planes\": [%ld, %ld], \"index\": %ld, \"what\": ",
           letter(f->class), f->pair.member[0], f->pair.member[1], f->plane[0], f->plane[1],
           f->index);
    json_text(stdout, f->what);
    json_named("observed", f->observed);
    json_named("allowed", f->class == DIFF_NOTHING ? (double)NAN : f->allowed);
    json_named("margin", f->margin);
    printf("}");
}

static void write_json(const struct diffing *d)
{
    static const char *const names[DIFF_CLASSES] = {"equal", "matched", "adaptive",
                                                    "unbounded"};
    printf("{\"files\": [");
    json_text(stdout, d->side[0].path);
    printf(", ");
    json_text(stdout, d->side[1].path);
    printf("], \"equal\": %s, \"pairs\": %" PRId64 ", \"only\": [%" PRId64 ", %" PRId64 "]",
           is_equal(d) ? "true" : "false", d->pairs, d->only[0], d->only[1]);
    printf(", \"programs\": ");
    json_text(stdout, d->build);
    printf(", \"classes\": {");
    for (int c = 0; c < DIFF_CLASSES; c++) {
        printf("%s\"%s\": {\"class\": \"%s\", \"pairs\": %" PRId64 ", \"outside\": %" PRId64,
               c > 0 ? ", " : "", names[c], letter((enum diff_class)c), d->count[c],
               d->outside[c]);
        json_named("margin", d->margin[c]);
        printf("}");
    }
    printf("}, \"limit\": ");
    json_number(stdout, d->limit);
    printf(", \"points_outside\": %" PRId64 ", \"points\": [", d->points_outside);
    for (int64_t i = 0; i < d->points; i++) {
        printf("%s", i > 0 ? ", " : "");
        json_point(d, &d->point[i]);
    }
    printf("], \"worst\": [");
    for (int i = 0; i < d->worsts; i++) {
        printf("%s", i > 0 ? ", " : "");
        json_finding(&d->worst[i]);
    }
    printf("]}\n");
}

static int compare(struct diffing *d, const struct options *o, bool json)
{
    TRY(diff_open(d, o->argument[0], o->argument[1]));
    if (d->pairs == 0 && d->points == 0)
        FAIL(ERR_ARGUMENT, "%s and %s have no done member and no ensemble in common",
             o->argument[0], o->argument[1]);
    TRY(diff_members(d));
    TRY(diff_points(d));
    (json ? write_json : write_text)(d);
    return 0;
}

static int diff_files(const struct command *self, int argc, char **argv, bool *equal)
{
    struct options o;
    struct diffing d = {.tolerance = 0};
    bool json = false;
    int row = 0;
    *equal = true;
    options_begin(&o, self, argc, argv);
    TRY(options_next(&o, &row));
    while (row != OPTIONS_END) {
        if (row == OPTIONS_HELP)
            return 0;
        if (row == ROW_TOLERANCE)
            /* zeros are 1 from anything */
            TRY(options_real(&o, "tolerance", 1e-300, 0.99, &d.tolerance));
        json = json || row == ROW_JSON;
        TRY(options_next(&o, &row));
    }
    TRY(options_require(&o, 2, 2));
    const int rc = compare(&d, &o, json);
    *equal = rc != 0 || is_equal(&d);
    diff_close(&d);
    return rc;
}

static int run_diff(const struct command *self, int argc, char **argv)
{
    bool equal = true;
    const int rc = diff_files(self, argc, argv, &equal);
    return rc != 0 ? options_exit(rc) : equal ? 0 : EXIT_MEMBERS_FAILED;
}

const struct command diff_command = {
    .name = "diff",
    .arguments = "A.h5 B.h5",
    .doc = "Compare two result files: members by their envelopes, ensembles by their errors",
    .details =
        "Members are the same when their parameters and noise are, whatever the stepper.\n"
        "Exit code 0: equal within their bounds; 1: something is outside, or differs without "
        "a\n"
        "bound.\n",
    .options = diff_options,
    .run = run_diff,
};
