/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "runner/tune.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/base/log.h"
#include "kernels/base/mem.h"
#include "kernels/base/status.h"
#include "runner/commands.h"
#include "runner/options.h"
#include "runner/text.h"
#include "runner/wisdom_cache.h"

#define LENGTH_MAX (1L << 28)

enum { ROW_SIZE, ROW_RIGOUR, ROW_SET, ROW_LIST, ROW_CLEAR, ROW_JSON };

static const struct option_row tune_options[] = {
    [ROW_SIZE] = {"size", 'n', "N[,N…]", "transforms of these lengths; may be repeated"},
    [ROW_RIGOUR] = {"rigour", 0, "R", "patient (default) or measure"},
    [ROW_SET] = {"set", 's', "KEY=VALUE", "override a fixed parameter; may be repeated"},
    [ROW_LIST] = {"list", 0, NULL, "show what the cache holds"},
    [ROW_CLEAR] = {"clear", 0, NULL, "remove the cache's wisdom"},
    [ROW_JSON] = {"json", 0, NULL, "one JSON object instead of text"},
    {NULL, 0, NULL, NULL}};

/* The command line. */
struct tune_line {
    struct options options;
    struct tune_needs needs;
    enum fft_rigour rigour;
    bool list, clear, json;
    int overrides;
    struct scan_override override[OPTIONS_OVERRIDES_MAX];
    char folder[RUN_PATH_SIZE];
};

/* "4096,8192": all kinds of transforms of each length. */
static int take_sizes(struct tune_line *line)
{
    const char *text = line->options.value;
    for (const char *at = text;; at++) {
        char *end = NULL;
        errno = 0;
        const long n = strtol(at, &end, 10);
        if (end == at || (*end != ',' && *end != '\0') || errno != 0 || n < 2 || n > LENGTH_MAX)
            FAIL(ERR_ARGUMENT,
                 "--size %s: whole numbers from 2 to %ld, with commas, are wanted", text,
                 LENGTH_MAX);
        for (int kind = 0; kind < TUNE_KINDS; kind++)
            TRY(tune_add(&line->needs, (enum fft_kind)kind, n));
        if (*end == '\0')
            return 0;
        at = end;
    }
}

static int take_option(struct tune_line *line, int row)
{
    static const char *const rigours[] = {"measure", "patient", NULL};
    int word = 0;
    switch (row) {
    case ROW_SIZE:
        return take_sizes(line);
    case ROW_RIGOUR:
        TRY(options_word(&line->options, "rigour", rigours, &word));
        line->rigour = word == 0 ? FFT_MEASURE : FFT_PATIENT;
        return 0;
    case ROW_SET:
        if (line->overrides == OPTIONS_OVERRIDES_MAX)
            FAIL(ERR_ARGUMENT, "more than %d --set", OPTIONS_OVERRIDES_MAX);
        line->override[line->overrides++].text = line->options.value;
        return 0;
    case ROW_LIST:
        line->list = true;
        return 0;
    case ROW_CLEAR:
        line->clear = true;
        return 0;
    default:
        line->json = true;
        return 0;
    }
}

static void write_head(const struct tune_line *line)
{
    if (line->json) {
        printf("{\"folder\":");
        json_text(stdout, line->folder);
        printf(",\"rigour\":\"%s\",\"before\":\"%s\",\"transforms\":[",
               tune_rigour_name(line->rigour),
               tune_rigour_name((enum fft_rigour)(line->rigour - 1)));
        return;
    }
    printf("%9s  %-18s %12s %12s %6s  %s\n", "points", "transform",
           tune_rigour_name((enum fft_rigour)(line->rigour - 1)),
           tune_rigour_name(line->rigour), "gain", "search");
}

static void write_row(const struct tune_line *line, const struct tune_result *r, bool first)
{
    if (line->json) {
        printf("%s{\"points\":%ld,\"transform\":\"%s\",\"known\":%s,\"seconds_before\":",
               first ? "" : ",", r->n, tune_kind_name(r->kind), r->known ? "true" : "false");
        json_number(stdout, r->before);
        printf(",\"seconds_after\":");
        json_number(stdout, r->after);
        printf(",\"seconds_search\":");
        json_number(stdout, r->planning);
        printf("}");
        return;
    }
    char before[TEXT_SIZE];
    char after[TEXT_SIZE];
    char search[TEXT_SIZE] = "in the cache";
    text_rounded(r->before, "s", 3, before);
    text_rounded(r->after, "s", 3, after);
    if (!r->known)
        text_rounded(r->planning, "s", 2, search);
    /* µ is two bytes and one column */
    const int wide_before = 12 + (strstr(before, "µ") != NULL);
    const int wide_after = 12 + (strstr(after, "µ") != NULL);
    printf("%9ld  %-18s %*s %*s %6.2f  %s\n", r->n, tune_kind_name(r->kind), wide_before,
           before, wide_after, after, r->before / r->after, search);
    fflush(stdout); /* a patient search takes seconds */
}

static int tune_all(struct tune_line *line)
{
    bool first = true;
    write_head(line);
    for (int i = 0; i < line->needs.count; i++) {
        const struct tune_need *need = &line->needs.need[i];
        for (int kind = 0; kind < TUNE_KINDS; kind++) {
            struct tune_result result;
            if (!need->kind[kind])
                continue;
            TRY(tune_transform(line->folder, line->rigour, (enum fft_kind)kind, need->n,
                               &result));
            write_row(line, &result, first);
            first = false;
        }
    }
    if (line->json)
        printf("]}\n");
    else if (line->folder[0] != '\0')
        printf("kept in %s: every run on this machine uses it\n", line->folder);
    return 0;
}

static int read_needs(struct tune_line *line)
{
    struct scan *scan = NULL;
    if (line->options.arguments == 0)
        return 0;
    TRY(options_read_scan(line->options.argument[0], line->override, line->overrides, &scan));
    const int rc = tune_collect(scan, &line->needs);
    scan_destroy(scan);
    return rc;
}

/* A cache that takes nothing costs the wisdom, not the figures. */
static void check_folder(struct tune_line *line)
{
    char why[WISDOM_WHY_SIZE];
    status_capture(why, sizeof why);
    const int rc = wisdom_cache_try(line->folder);
    status_capture(NULL, 0);
    if (rc == 0)
        return;
    log_warn("%s: what is found is not kept", why);
    line->folder[0] = '\0';
}

static int clear(const struct tune_line *line)
{
    int removed = 0;
    TRY(wisdom_cache_clear(line->folder, &removed));
    if (line->json)
        printf("{\"removed\":%d}\n", removed);
    else
        printf("%d file%s of wisdom removed from %s\n", removed, removed == 1 ? "" : "s",
               line->folder);
    return 0;
}

static int check_line(const struct tune_line *line)
{
    const bool wanted = line->options.arguments > 0 || line->needs.count > 0;
    if (line->list && line->clear)
        FAIL(ERR_ARGUMENT, "--list and --clear: one of them is wanted");
    if ((line->list || line->clear) && wanted)
        FAIL(ERR_ARGUMENT, "--%s takes neither a scan nor --size",
             line->list ? "list" : "clear");
    if (!line->list && !line->clear && !wanted)
        FAIL(ERR_ARGUMENT, "'tune' needs SCAN.yaml, --size N, --list or --clear");
    return 0;
}

static int act(struct tune_line *line)
{
    char why[WISDOM_WHY_SIZE];
    wisdom_cache_folder(line->folder, why);
    if (line->folder[0] == '\0' && (line->list || line->clear))
        FAIL(ERR_IO, "%s", why);
    if (line->list)
        return tune_list(line->folder, line->json);
    if (line->clear)
        return clear(line);
    TRY(read_needs(line));
    if (line->needs.count == 0) {
        log_info("%s has no transforms: there is nothing to tune", line->options.argument[0]);
        return 0;
    }
    if (line->folder[0] == '\0')
        log_warn("%s: what is found is not kept", why);
    else
        check_folder(line);
    return tune_all(line);
}

static int tune(struct tune_line *line, const struct command *self, int argc, char **argv)
{
    int row = 0;
    line->rigour = FFT_PATIENT;
    options_begin(&line->options, self, argc, argv);
    TRY(options_next(&line->options, &row));
    while (row != OPTIONS_END) {
        if (row == OPTIONS_HELP)
            return 0;
        TRY(take_option(line, row));
        TRY(options_next(&line->options, &row));
    }
    TRY(options_require(&line->options, 0, 1));
    TRY(check_line(line));
    return act(line);
}

static int run_tune(const struct command *self, int argc, char **argv)
{
    struct tune_line *line = NULL;
    int rc = MEM_NEW(1, &line);
    if (rc == 0)
        rc = tune(line, self, argc, argv);
    mem_free(line);
    return options_exit(rc);
}

const struct command tune_command = {
    .name = "tune",
    .arguments = "[SCAN.yaml]",
    .doc = "Search the fastest transforms of this machine once, for all runs to come",
    .details =
        "For the transforms of a scan's models, or of the lengths given; each search takes\n"
        "seconds and is kept at once in $XDG_CACHE_HOME/scanfarm or ~/.cache/scanfarm, so\n"
        "that an interrupted call loses one transform. Prints the time of each transform\n"
        "with the plan that a run without wisdom makes, and with the one found.\n",
    .options = tune_options,
    .run = run_tune,
};
