/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `scanfarm log`: what became of one member, from the file and from the journal beside it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/journal.h"
#include "kernels/base/mem.h"
#include "kernels/base/status.h"
#include "runner/commands.h"
#include "runner/log_file.h"
#include "runner/options.h"
#include "runner/status.h"
#include "runner/text.h"

enum { ROW_JSON };

static const struct option_row log_options[] = {
    [ROW_JSON] = {"json", 0, NULL, "one JSON object instead of text"}, {NULL, 0, NULL, NULL}};

/* The member's records on their way to the output. */
struct history {
    int64_t member;
    bool json;
    FILE *out;
    int shown;
    int holder; /* rank that was given it last, 0: none is known */
    bool held;  /* … and has not given it back */
};

static void write_facts(const struct log_member *m, const char *path, FILE *out)
{
    char wall[TEXT_SIZE];
    char cpu[TEXT_SIZE];
    const char *const rest = status_reason_rest(m->state, m->reason);
    fprintf(out, "%s: member %lld (point %lld, realisation %lld) %s%s%s\n", path,
            (long long)m->member, (long long)m->point, (long long)m->realisation,
            status_state_name(m->state),
            m->reason[0] == '\0' ? ""
            : rest == m->reason  ? ": "
                                 : " ",
            rest);
    fprintf(out, "  planes    %lld of %lld saved\n", (long long)m->saved, (long long)m->planes);
    fprintf(out, "  tries     %lld\n", (long long)m->count[LOG_ATTEMPTS]);
    if (m->host[0] == '\0')
        return; /* it has never ended */
    text_seconds(m->wall, wall);
    text_seconds(m->cpu, cpu);
    fprintf(out, "  computed  by rank %lld on %s, %s, %s, in %s (CPU %s)\n",
            (long long)m->count[LOG_RANK], m->host, m->device, m->kernel, wall, cpu);
    fprintf(out, "  steps     %lld, %lld rejected, %lld right-hand sides, %lld transforms%s\n",
            (long long)m->count[LOG_STEPS], (long long)m->count[LOG_REJECTED],
            (long long)m->count[LOG_RHS_CALLS], (long long)m->count[LOG_TRANSFORMS],
            m->count[LOG_TRUNCATED] != 0 ? "; the stored history is shorter" : "");
}

static void write_json_facts(const struct log_member *m, const char *path, FILE *out)
{
    fprintf(out, "{\"file\":");
    json_text(out, path);
    fprintf(out, ",\"member\":%lld,\"point\":%lld,\"realisation\":%lld,\"state\":",
            (long long)m->member, (long long)m->point, (long long)m->realisation);
    json_text(out, status_state_name(m->state));
    fprintf(out, ",\"reason\":");
    json_text(out, m->reason);
    fprintf(out, ",\"planes_saved\":%lld,\"planes\":%lld", (long long)m->saved,
            (long long)m->planes);
    for (int c = 0; c < LOG_COUNTS; c++)
        fprintf(out, ",\"%s\":%lld", log_count_name((enum log_count)c), (long long)m->count[c]);
    fprintf(out, ",\"wall_s\":");
    json_number(out, m->wall);
    fprintf(out, ",\"cpu_s\":");
    json_number(out, m->cpu);
    fprintf(out, ",\"host\":");
    json_text(out, m->host);
    fprintf(out, ",\"device\":");
    json_text(out, m->device);
    fprintf(out, ",\"kernel_id\":");
    json_text(out, m->kernel);
}

/* "given to rank 3", "failed: reason", "rank 3 on node7, process 4711: dead" */
static void write_event(const struct journal_record *r, FILE *out)
{
    if (r->kind == JOURNAL_WORKER)
        fprintf(out, "rank %d on %s, process %lld: %s", r->rank, r->host, (long long)r->pid,
                r->word);
    else if (strcmp(r->word, "running") == 0 && r->rank > 0)
        fprintf(out, "given to rank %d", r->rank);
    else
        fprintf(out, "%s%s%s", strcmp(r->word, "running") == 0 ? "begun" : r->word,
                r->text[0] != '\0' ? ": " : "", r->text);
}

static void write_record(struct history *h, const struct journal_record *r)
{
    const bool certain = r->kind == JOURNAL_WORKER || r->count == r->last - r->first + 1;
    fprintf(h->out, "  %s  ", r->time);
    if (r->attempt >= 0)
        fprintf(h->out, "attempt %lld  ", (long long)r->attempt + 1);
    else
        fprintf(h->out, "before     ");
    write_event(r, h->out);
    if (!certain)
        fprintf(h->out, " (%lld of the members %lld to %lld)", (long long)r->count,
                (long long)r->first, (long long)r->last);
    fprintf(h->out, "\n");
}

static void write_json_record(struct history *h, const struct journal_record *r)
{
    FILE *const out = h->out;
    fprintf(out, "%s{\"time\":", h->shown > 0 ? "," : "");
    json_text(out, r->time);
    fprintf(out, ",\"attempt\":%lld,\"event\":", (long long)r->attempt + 1);
    json_text(out, r->word);
    if (r->kind == JOURNAL_WORKER || r->rank > 0)
        fprintf(out, ",\"rank\":%d", r->rank);
    if (r->kind == JOURNAL_WORKER) {
        fprintf(out, ",\"pid\":%lld,\"host\":", (long long)r->pid);
        json_text(out, r->host);
    } else {
        fprintf(out, ",\"first\":%lld,\"last\":%lld,\"count\":%lld", (long long)r->first,
                (long long)r->last, (long long)r->count);
        fprintf(out, ",\"reason\":");
        json_text(out, r->text);
    }
    fprintf(out, "}");
}

static bool is_member_record(const struct history *h, const struct journal_record *r)
{
    return r->kind == JOURNAL_MEMBER && r->first <= h->member && h->member <= r->last;
}

/* Whether a record tells of the member: its own, and of the worker that has it all but that it
 * is there. */
static bool tells(struct history *h, const struct journal_record *r)
{
    if (r->kind == JOURNAL_BEGIN)
        h->held = false; /* the workers of a run that is over are no more */
    if (is_member_record(h, r)) {
        if (r->count == r->last - r->first + 1) {
            h->held = strcmp(r->word, "running") == 0 && r->rank > 0;
            h->holder = r->rank;
        }
        return true;
    }
    return r->kind == JOURNAL_WORKER && h->held && r->rank == h->holder
           && strcmp(r->word, "ready") != 0 && strcmp(r->word, "left") != 0;
}

static int write_history(const char *path, struct history *h)
{
    struct journal_reader *reader = NULL;
    struct journal_record *record = NULL;
    int rc = 0;
    TRY(journal_reader_open(path, false, &reader));
    if (reader == NULL)
        return 0;
    TRY_OR(rc, done, MEM_NEW(1, &record));
    while (journal_reader_next(reader, record)) {
        if (!tells(h, record))
            continue;
        (h->json ? write_json_record : write_record)(h, record);
        h->shown++;
    }
done:
    mem_free(record);
    journal_reader_close(reader);
    return rc;
}

static int write_log(const char *path, int64_t member, bool json)
{
    struct log_member facts;
    struct history history = {.member = member, .json = json, .out = stdout};
    TRY(options_check_file(path));
    TRY(log_member_read(path, member, &facts));
    (json ? write_json_facts : write_facts)(&facts, path, stdout);
    if (json)
        printf(",\"records\":[");
    const int rc = write_history(path, &history);
    if (json)
        printf("]}\n");
    else if (rc == 0 && history.shown == 0)
        printf("  the journal has no record of it\n");
    return rc;
}

static int read_member(const char *word, int64_t *member)
{
    char *end = NULL;
    const long long value = strtoll(word, &end, 10);
    if (end == word || *end != '\0' || value < 0)
        FAIL(ERR_ARGUMENT, "member '%s': a whole number from 0 is wanted", word);
    *member = value;
    return 0;
}

static int show_log(const struct command *self, int argc, char **argv)
{
    struct options o;
    bool json = false;
    int64_t member = 0;
    bool help = false;
    options_begin(&o, self, argc, argv);
    TRY(options_read_flag(&o, &json, &help));
    if (help)
        return 0;
    TRY(options_require(&o, 2, 2));
    TRY(read_member(o.argument[1], &member));
    return write_log(o.argument[0], member, json);
}

static int run_log(const struct command *self, int argc, char **argv)
{
    status_stand_back();
    return options_exit(show_log(self, argc, argv));
}

const struct command log_command = {
    .name = "log",
    .arguments = "FILE MEMBER",
    .doc = "What became of one member: who computed it when, tries, failures, times",
    .details = "Reads the file and the journal beside it. Exit codes as those of status.\n",
    .options = log_options,
    .run = run_log,
};
