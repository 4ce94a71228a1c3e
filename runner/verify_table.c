/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What was found, as a table by class and by axis, and as JSON. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "io/read.h"
#include "io/verdict.h"
#include "kernels/base/mem.h"
#include "kernels/base/status.h"
#include "runner/survey.h"
#include "runner/text.h"
#include "runner/verifying.h"

enum { VALUES_SHOWN = 12, VALUES_JSON = 1000 };

/* Members that have one value of an axis in common. */
struct share {
    int64_t members, done, broken;
    int64_t within, outside;             /* by stored verdicts */
    int64_t again_within, again_outside; /* computed again */
    double margin; /* the largest that is stored, or was found; -1: none */
};

/* Of one member. */
struct fact {
    uint8_t state;
    struct verdict_state verdict;
    double margin; /* stored */
};

static void add(const struct verifying *v, int64_t member, const struct fact *fact,
                struct share *out)
{
    const int64_t row = member - v->members.first;
    const enum verify_again again = (enum verify_again)v->members.again[row];
    const bool judged = fact->verdict.outcome == MEMBER_DONE;
    out->members++;
    out->done += fact->state == MEMBER_DONE;
    out->broken += v->members.bad[row] != 0;
    out->within += judged && fact->verdict.verdict == VERDICT_WITHIN;
    out->outside += judged && fact->verdict.verdict == VERDICT_OUTSIDE;
    out->again_within += again == AGAIN_WITHIN;
    out->again_outside += again == AGAIN_OUTSIDE;
    if (judged && !(fact->margin <= out->margin))
        out->margin = fact->margin;
    if (again != AGAIN_NOT && !(v->members.margin[row] <= out->margin))
        out->margin = v->members.margin[row];
}

static int read_fact(const struct verifying *v, int64_t member, struct fact *out)
{
    double state = 0; /* as it stands: one that is none is a finding */
    TRY(read_rows(v->store, "member/state", member, 1, 1, &state));
    *out = (struct fact){.state = (uint8_t)state, .margin = -1};
    if (!verdict_has_room(v->store))
        return 0;
    TRY(verdict_read(v->store, member, 1, &out->verdict));
    if (out->verdict.outcome == MEMBER_DONE)
        TRY(read_rows(v->store, "member/contract/margin", member, 1, 1, &out->margin));
    return 0;
}

/* Of each axis, the share of each value. */
struct shares {
    int axes;
    struct share *axis[SCAN_AXES_MAX];
};

static int count_shares(const struct verifying *v, const struct shares *all)
{
    int64_t index[SCAN_AXES_MAX];
    const struct verify_members *const m = &v->members;
    for (int64_t member = m->first; member < m->first + m->count; member++) {
        struct fact fact;
        TRY(read_fact(v, member, &fact));
        scan_point_indices(v->scan, member / scan_realisations(v->scan), index);
        for (int a = 0; a < all->axes; a++)
            add(v, member, &fact, &all->axis[a][index[a]]);
    }
    return 0;
}

static void shares_clear(struct shares *all)
{
    for (int a = 0; a < all->axes; a++)
        mem_free(all->axis[a]);
}

static int make_shares(const struct verifying *v, struct shares *all)
{
    *all = (struct shares){.axes = scan_axes(v->scan)};
    for (int a = 0; a < all->axes; a++) {
        const int64_t length = scan_get_axis(v->scan, a)->length;
        TRY(MEM_NEW((long)length, &all->axis[a]));
        for (int64_t i = 0; i < length; i++)
            all->axis[a][i].margin = -1;
    }
    return count_shares(v, all);
}

/* A table by axis says nothing of a file that cannot be read, or has no axes. */
static bool has_axes(const struct verifying *v)
{
    return v->scan != NULL && v->spec != NULL && scan_axes(v->scan) > 0
           && v->report->kind[VERIFY_FORMAT].broken == 0;
}

static void write_number(double value)
{
    if (isfinite(value))
        printf("%.3g", value);
    else
        printf("no number");
}

/* A text and blanks up to a width in letters, which printf counts in bytes. */
static void write_padded(const char *text, int width)
{
    int letters = 0;
    for (const char *c = text; *c != '\0'; c++)
        letters += ((unsigned char)*c & 0xC0) != 0x80;
    printf("    %s%*s", text, letters < width ? width - letters : 0, "");
}

static void write_share(const struct verifying *v, int axis, int64_t i, const struct share *s)
{
    char value[TEXT_SIZE];
    char again[48] = "-";
    char verdicts[48] = "-";
    char margin[32] = "-";
    survey_value_text(v->scan, axis, 0, i, value, sizeof value);
    if (s->within + s->outside > 0)
        snprintf(verdicts, sizeof verdicts, "%" PRId64 "/%" PRId64, s->within,
                 s->within + s->outside);
    if (s->again_within + s->again_outside > 0)
        snprintf(again, sizeof again, "%" PRId64 "/%" PRId64, s->again_within,
                 s->again_within + s->again_outside);
    if (s->margin >= 0)
        snprintf(margin, sizeof margin, "%.3g", s->margin);
    write_padded(value, 22);
    printf(" %9" PRId64 " %9" PRId64 " %9" PRId64 "  %-11s %-11s %s\n", s->members, s->done,
           s->members - s->broken, verdicts, again, margin);
}

static void write_axis(const struct verifying *v, int axis, const struct share *share)
{
    const struct scan_axis *const a = scan_get_axis(v->scan, axis);
    const int64_t last = v->members.first + v->members.count - 1;
    int64_t shown = 0;
    printf("  by %s\n    %-22s %9s %9s %9s  %-11s %-11s %s\n", a->param[0].name, "value",
           "members", "done", "unbroken", "in envelope", "again", "worst margin");
    for (int64_t i = 0; i < a->length; i++) {
        if (share[i].members == 0 || last < 0)
            continue;
        if (shown++ < VALUES_SHOWN)
            write_share(v, axis, i, &share[i]);
    }
    if (shown > VALUES_SHOWN)
        printf("    … and %" PRId64 " more values\n", shown - VALUES_SHOWN);
}

static void write_kind(const struct verify_report *report, enum verify_kind kind)
{
    const struct verify_result *const r = &report->kind[kind];
    const char *const class = contract_class_name(verify_kind_class(kind));
    char checked[TEXT_SIZE];
    char broken[TEXT_SIZE];
    text_count(r->checked, checked);
    text_count(r->broken, broken);
    if (r->skipped[0] != '\0' && r->broken == 0 && r->checked == 0)
        printf("  %s %-10s not checked: %s\n", class, verify_kind_name(kind), r->skipped);
    else
        printf("  %s %-10s %s checked, %s broken (%s)\n", class, verify_kind_name(kind),
               checked, broken, verify_kind_text(kind));
    if (r->skipped[0] != '\0' && r->checked > 0)
        printf("      %s\n", r->skipped);
    for (int i = 0; i < r->worst; i++)
        printf("      %s\n", r->text[i]);
    if (r->broken > r->worst)
        printf("      … and %" PRId64 " more\n", r->broken - r->worst);
}

static void write_kinds(const struct verify_report *report)
{
    static const enum contract_class classes[] = {CONTRACT_P, CONTRACT_R, CONTRACT_T,
                                                  CONTRACT_N};
    for (size_t c = 0; c < sizeof classes / sizeof *classes; c++)
        for (int k = 0; k < VERIFY_KINDS; k++)
            if (verify_kind_class((enum verify_kind)k) == classes[c])
                write_kind(report, (enum verify_kind)k);
}

static void write_offenders(const struct verify_report *report)
{
    if (report->offenders > 0)
        printf("  nearest to their bounds\n    %-10s %-24s %-12s %10s %10s %10s\n", "kind",
               "where", "what", "observed", "allowed", "margin");
    for (int i = 0; i < report->offenders; i++) {
        const struct verify_offender *const o = &report->offender[i];
        char place[64];
        snprintf(place, sizeof place, "%s %" PRId64 ", %ld, %ld",
                 o->member >= 0 ? "member" : "point", o->member >= 0 ? o->member : o->point,
                 o->plane, o->index);
        printf("    %-10s %-24s %-12s %10.3g %10.3g ", verify_kind_name(o->kind), place,
               o->what, o->observed, o->allowed);
        write_number(o->margin);
        printf("\n");
    }
}

int verify_write_text(struct verifying *v)
{
    struct shares all;
    int rc = 0;
    printf("%s: %s\n", v->path, verify_broken(v->report) == 0 ? "nothing is broken" : "broken");
    write_kinds(v->report);
    if (has_axes(v)) {
        rc = make_shares(v, &all);
        for (int a = 0; rc == 0 && a < all.axes; a++)
            write_axis(v, a, all.axis[a]);
        shares_clear(&all);
    }
    write_offenders(v->report);
    return rc;
}

static void json_kind(const struct verify_report *report, int k)
{
    const struct verify_result *const r = &report->kind[k];
    printf("%s\"%s\": {\"class\": \"%s\", \"checked\": %" PRId64 ", \"broken\": %" PRId64,
           k > 0 ? ", " : "", verify_kind_name((enum verify_kind)k),
           contract_class_name(verify_kind_class((enum verify_kind)k)), r->checked, r->broken);
    if (r->skipped[0] != '\0') {
        printf(", \"skipped\": ");
        json_text(stdout, r->skipped);
    }
    printf(", \"findings\": [");
    for (int i = 0; i < r->worst; i++) {
        printf("%s", i > 0 ? ", " : "");
        json_text(stdout, r->text[i]);
    }
    printf("]}");
}

static void json_share(const struct verifying *v, int axis, int64_t i, const struct share *s,
                       bool first)
{
    printf("%s{\"value\": ", first ? "" : ", ");
    json_number(stdout, scan_axis_value(v->scan, axis, 0, i));
    printf(", \"members\": %" PRId64 ", \"done\": %" PRId64 ", \"unbroken\": %" PRId64
           ", \"within\": %" PRId64 ", \"outside\": %" PRId64 ", \"again_within\": %" PRId64
           ", \"again_outside\": %" PRId64 ", \"margin\": ",
           s->members, s->done, s->members - s->broken, s->within, s->outside, s->again_within,
           s->again_outside);
    json_number(stdout, s->margin >= 0 ? s->margin : (double)NAN);
    printf("}");
}

static void json_axis(const struct verifying *v, int axis, const struct share *share)
{
    const struct scan_axis *const a = scan_get_axis(v->scan, axis);
    printf("%s{\"name\": ", axis > 0 ? ", " : "");
    json_text(stdout, a->param[0].name);
    printf(", \"values\": [");
    int shown = 0;
    for (int64_t i = 0; i < a->length && shown < VALUES_JSON; i++)
        if (share[i].members > 0)
            json_share(v, axis, i, &share[i], shown++ == 0);
    printf("]}");
}

static void json_offenders(const struct verify_report *report)
{
    printf(", \"worst\": [");
    for (int i = 0; i < report->offenders; i++) {
        const struct verify_offender *const o = &report->offender[i];
        printf("%s{\"kind\": \"%s\", ", i > 0 ? ", " : "", verify_kind_name(o->kind));
        printf("\"%s\": %" PRId64 ", \"plane\": %ld, \"index\": %ld, \"what\": ",
               o->member >= 0 ? "member" : "point", o->member >= 0 ? o->member : o->point,
               o->plane, o->index);
        json_text(stdout, o->what);
        printf(", \"observed\": ");
        json_number(stdout, o->observed);
        printf(", \"allowed\": ");
        json_number(stdout, o->allowed);
        printf(", \"margin\": ");
        json_number(stdout, o->margin);
        printf("}");
    }
    printf("]");
}

int verify_write_json(struct verifying *v)
{
    struct shares all;
    int rc = 0;
    printf("{\"file\": ");
    json_text(stdout, v->path);
    printf(", \"broken\": %" PRId64 ", \"checks\": {", verify_broken(v->report));
    for (int k = 0; k < VERIFY_KINDS; k++)
        json_kind(v->report, k);
    printf("}, \"axes\": [");
    if (has_axes(v)) {
        rc = make_shares(v, &all);
        for (int a = 0; rc == 0 && a < all.axes; a++)
            json_axis(v, a, all.axis[a]);
        shares_clear(&all);
    }
    printf("]");
    json_offenders(v->report);
    printf("}");
    return rc;
}
