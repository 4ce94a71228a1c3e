/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a file was found to be: counts, texts, the worst. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "io/verify.h"

static const struct {
    const char *name;
    enum contract_class class;
    const char *text;
} kinds[VERIFY_KINDS] = {
#define VERIFY_ROW(kind, name, class, doc) {name, class, doc},
    VERIFY_LIST(VERIFY_ROW)
#undef VERIFY_ROW
};

const char *verify_kind_name(enum verify_kind kind)
{
    return kinds[kind].name;
}

const char *verify_kind_text(enum verify_kind kind)
{
    return kinds[kind].text;
}

enum contract_class verify_kind_class(enum verify_kind kind)
{
    return kinds[kind].class;
}

static void break_text(struct verify_report *report, enum verify_kind kind, const char *format,
                       va_list arguments)
{
    struct verify_result *const r = &report->kind[kind];
    r->broken++;
    if (r->worst == VERIFY_WORST_MAX)
        return;
    vsnprintf(r->text[r->worst++], VERIFY_TEXT_SIZE, format, arguments);
}

void verify_break(struct verify_report *report, enum verify_kind kind, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    break_text(report, kind, format, arguments);
    va_end(arguments);
}

void verify_break_member(struct verify_report *report, enum verify_kind kind, int64_t member,
                         const char *format, ...)
{
    const int64_t row = member - report->first;
    va_list arguments;
    va_start(arguments, format);
    break_text(report, kind, format, arguments);
    va_end(arguments);
    if (report->bad != NULL && row >= 0 && row < report->members)
        report->bad[row] = 1;
}

void verify_skip(struct verify_report *report, enum verify_kind kind, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(report->kind[kind].skipped, VERIFY_TEXT_SIZE, format, arguments);
    va_end(arguments);
}

/* A margin that is no number is worse than any. */
static bool is_worse(const struct verify_offender *a, const struct verify_offender *b)
{
    return !(a->margin <= b->margin);
}

void verify_offend(struct verify_report *report, const struct verify_offender *offender)
{
    int at = report->offenders;
    while (at > 0 && is_worse(offender, &report->offender[at - 1]))
        at--;
    if (at == VERIFY_WORST_MAX)
        return;
    if (report->offenders < VERIFY_WORST_MAX)
        report->offenders++;
    for (int i = report->offenders - 1; i > at; i--)
        report->offender[i] = report->offender[i - 1];
    report->offender[at] = *offender;
}
