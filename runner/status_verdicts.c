/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "runner/status_verdicts.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "io/read.h"
#include "io/verdict.h"
#include "kernels/base/mem.h"
#include "kernels/base/status.h"
#include "runner/text.h"

static int add_member(struct store *store, int64_t member, const struct verdict_state *found,
                      struct status_verdicts *out)
{
    if (out->bad == STATUS_VERDICTS_MAX)
        return 0;
    struct status_verdict *one = &out->list[out->bad++];
    *one =
        (struct status_verdict){.member = member, .outside = found->verdict == VERDICT_OUTSIDE};
    TRY(read_rows(store, "member/contract/margin", member, 1, 1, &one->margin));
    return read_text_row(store, "member/contract/reason", member, one->text, sizeof one->text);
}

/* How far the members of class N were judged that have a verdict. */
static int note_window(struct store *store, int64_t member, struct status_verdicts *out)
{
    struct verdict_window window = {.gain = NULL};
    bool known = false;
    TRY(verdict_read_window(store, member, &window, &known));
    if (!known)
        return 0;
    out->windowed++;
    if (window.beyond == 0)
        return 0;
    out->reach[0] = out->cut > 0 ? fmin(out->reach[0], window.reach) : window.reach;
    out->reach[1] = out->cut > 0 ? fmax(out->reach[1], window.reach) : window.reach;
    out->cut++;
    return 0;
}

static int count_member(struct store *store, int64_t member, uint8_t state,
                        const struct verdict_state *found, struct status_verdicts *out)
{
    if (found->chosen == 0 || (state != MEMBER_DONE && state != MEMBER_PENDING))
        return 0;
    out->chosen++;
    if (state == MEMBER_PENDING || found->outcome == MEMBER_PENDING) {
        out->waiting++;
        return 0;
    }
    out->within += found->verdict == VERDICT_WITHIN;
    out->outside += found->verdict == VERDICT_OUTSIDE;
    out->none += found->verdict == VERDICT_UNJUDGED;
    if (found->verdict != VERDICT_UNJUDGED)
        TRY(note_window(store, member, out));
    return found->verdict == VERDICT_WITHIN ? 0 : add_member(store, member, found, out);
}

int status_verdicts_read(struct store *store, int64_t first, int64_t count,
                         const uint8_t *state, struct status_verdicts *out)
{
    struct verdict_state *found = NULL;
    int rc = 0;
    if (!verdict_has_room(store))
        return 0;
    out->any = true;
    if (verdict_has_gains(store))
        TRY(read_attribute(store, "member/contract/window_end", "units", out->unit,
                           sizeof out->unit));
    TRY(MEM_NEW((long)count, &found));
    TRY_OR(rc, done, verdict_read(store, first, count, found));
    for (int64_t i = 0; i < count; i++)
        TRY_OR(rc, done, count_member(store, first + i, state[i], &found[i], out));
done:
    mem_free(found);
    return rc;
}

/* The first ones of all, by member: files may come in any order. */
static void take(struct status_verdicts *sum, const struct status_verdict *one)
{
    int place = sum->bad;
    while (place > 0 && sum->list[place - 1].member > one->member)
        place--;
    if (place == STATUS_VERDICTS_MAX)
        return;
    sum->bad += sum->bad < STATUS_VERDICTS_MAX;
    memmove(&sum->list[place + 1], &sum->list[place],
            (size_t)(sum->bad - 1 - place) * sizeof *one);
    sum->list[place] = *one;
}

void status_verdicts_add(struct status_verdicts *sum, const struct status_verdicts *more)
{
    sum->any = sum->any || more->any;
    sum->chosen += more->chosen;
    sum->within += more->within;
    sum->outside += more->outside;
    sum->none += more->none;
    sum->waiting += more->waiting;
    if (more->cut > 0) {
        sum->reach[0] = sum->cut > 0 ? fmin(sum->reach[0], more->reach[0]) : more->reach[0];
        sum->reach[1] = sum->cut > 0 ? fmax(sum->reach[1], more->reach[1]) : more->reach[1];
    }
    snprintf(sum->unit, sizeof sum->unit, "%s", more->unit);
    sum->windowed += more->windowed;
    sum->cut += more->cut;
    for (int i = 0; i < more->bad; i++)
        take(sum, &more->list[i]);
}

static void append(char *text, size_t size, int64_t number, const char *what)
{
    char count[TEXT_SIZE];
    const size_t used = strlen(text);
    text_count(number, count);
    if (number > 0)
        snprintf(text + used, size - used, "%s%s %s",
                 used > 0 && text[used - 1] != ' ' ? ", " : "", count, what);
}

void status_verdicts_count(const struct status_verdicts *v, char *text, size_t size)
{
    char count[TEXT_SIZE];
    text[0] = '\0';
    if (!v->any)
        return;
    text_count(v->chosen, count);
    snprintf(text, size, "%s chosen%s", count, v->chosen > 0 ? ": " : "");
    append(text, size, v->within, "within");
    append(text, size, v->outside, "outside");
    append(text, size, v->none, "without a verdict");
    append(text, size, v->waiting, "not judged yet");
}

void status_verdicts_list(const struct status_verdicts *v, FILE *out)
{
    for (int i = 0; i < v->bad; i++)
        fprintf(out, "  member %" PRId64 " %s: %s\n", v->list[i].member,
                v->list[i].outside ? "outside the envelope" : "without a verdict",
                v->list[i].text);
    if (v->outside + v->none > v->bad)
        fprintf(out, "  … and %" PRId64 " more outside or without a verdict\n",
                v->outside + v->none - v->bad);
}

void status_verdicts_text(const struct status_verdicts *v, FILE *out)
{
    char text[200];
    status_verdicts_count(v, text, sizeof text);
    if (v->any)
        fprintf(out, "  envelope  %s\n", text);
    if (v->cut == 0)
        return;
    text_count(v->windowed, text);
    fprintf(out, "            of %s with noise ", text);
    text_count(v->cut, text);
    fprintf(out, "%s on a short window, the dynamics amplify too much behind it: it ends at ",
            text);
    if (v->reach[0] < v->reach[1])
        fprintf(out, "%.4g to %.4g %s\n", v->reach[0], v->reach[1], v->unit);
    else
        fprintf(out, "%.4g %s\n", v->reach[0], v->unit);
}

void status_verdicts_json(const struct status_verdicts *v, FILE *out)
{
    if (!v->any)
        return;
    fprintf(out,
            ",\"envelope\":{\"chosen\":%" PRId64 ",\"within\":%" PRId64 ",\"outside\":%" PRId64
            ",\"without_verdict\":%" PRId64 ",\"waiting\":%" PRId64,
            v->chosen, v->within, v->outside, v->none, v->waiting);
    if (v->windowed > 0)
        fprintf(out, ",\"class_n\":%" PRId64 ",\"short_window\":%" PRId64, v->windowed, v->cut);
    if (v->cut > 0) {
        fprintf(out, ",\"window_end\":[");
        json_number(out, v->reach[0]);
        fprintf(out, ",");
        json_number(out, v->reach[1]);
        fprintf(out, "]");
    }
    fprintf(out, ",\"members\":[");
    for (int i = 0; i < v->bad; i++) {
        fprintf(out,
                "%s{\"member\":%" PRId64 ",\"verdict\":\"%s\",\"margin\":", i > 0 ? "," : "",
                v->list[i].member, v->list[i].outside ? "outside" : "unjudged");
        json_number(out, v->list[i].margin);
        fprintf(out, ",\"reason\":");
        json_text(out, v->list[i].text);
        fprintf(out, "}");
    }
    fprintf(out, "]}");
}
