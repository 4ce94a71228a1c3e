/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bench/processes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kernels/base/mem.h"
#include "kernels/base/status.h"

#define LINE_BYTES    4096
#define ARGUMENTS_MAX 64

/* What each process printed. */
struct process_runs {
    int count;
    char **text; /* [count] lines of JSON */
};

struct process_median {
    double median, lowest, highest;
};

/* The child's side: its output goes into the pipe. Does not return. */
static void become(char **argv, const int *ends)
{
    static char last[][16] = {"--json", "--processes", "1"};
    char *arguments[ARGUMENTS_MAX + 4] = {NULL};
    int count = 0;
    for (; count < ARGUMENTS_MAX && argv[count] != NULL; count++)
        arguments[count] = argv[count];
    for (int i = 0; i < 3; i++)
        arguments[count + i] = last[i];
    dup2(ends[1], STDOUT_FILENO);
    close(ends[0]);
    close(ends[1]);
    execv("/proc/self/exe", arguments);
    _exit(127);
}

static int run_one(char **argv, char *line)
{
    int ends[2];
    if (pipe(ends) != 0)
        FAIL(ERR_IO, "no pipe to a process of the bench");
    const pid_t child = fork();
    if (child < 0)
        FAIL(ERR_IO, "no process for the bench");
    if (child == 0)
        become(argv, ends);
    close(ends[1]);
    FILE *from = fdopen(ends[0], "r");
    const int got = from != NULL && fgets(line, LINE_BYTES, from) != NULL;
    if (from != NULL)
        fclose(from);
    int state = 0;
    waitpid(child, &state, 0);
    if (!got || !WIFEXITED(state) || WEXITSTATUS(state) != 0)
        FAIL(ERR_BUG, "a process of the bench ended without a result");
    return 0;
}

static void clear(struct process_runs *runs)
{
    for (int i = 0; i < runs->count; i++)
        mem_free(runs->text[i]);
    mem_free(runs->text);
    *runs = (struct process_runs){0};
}

static int run_all(char **argv, int count, struct process_runs *out)
{
    *out = (struct process_runs){0};
    int rc;
    TRY(MEM_NEW(count, &out->text));
    out->count = count;
    for (int i = 0; i < count; i++) {
        TRY_OR(rc, failed, MEM_NEW(LINE_BYTES, &out->text[i]));
        TRY_OR(rc, failed, run_one(argv, out->text[i]));
    }
    return 0;
failed:
    clear(out);
    return rc;
}

static int number_of(const char *json, const char *key, double *out)
{
    char quoted[64];
    snprintf(quoted, sizeof quoted, "\"%s\":", key);
    const char *at = strstr(json, quoted);
    if (at == NULL)
        FAIL(ERR_BUG, "the bench's line has no '%s'", key);
    *out = strtod(at + strlen(quoted), NULL);
    return 0;
}

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a;
    const double y = *(const double *)b;
    return (x > y) - (x < y);
}

static int find_median(const struct process_runs *runs, const char *key,
                       struct process_median *out)
{
    double *value;
    const int n = runs->count;
    TRY(MEM_NEW(n, &value));
    int rc = 0;
    for (int i = 0; i < n && rc == 0; i++)
        rc = number_of(runs->text[i], key, &value[i]);
    qsort(value, (size_t)n, sizeof *value, ascending);
    *out = (struct process_median){0.5 * (value[(n - 1) / 2] + value[n / 2]), value[0],
                                   value[n - 1]};
    mem_free(value);
    return rc;
}

int processes_report(char **argv, int count, bool json)
{
    static const char *const keys[] = {"stage_us", "response_us", "fft_us",
                                       "norm_us",  "total_us",    "floor_us"};
    struct process_runs runs;
    TRY(run_all(argv, count, &runs));
    struct process_median ratio;
    int rc = find_median(&runs, "ratio", &ratio);
    if (rc == 0 && !json)
        printf("%s\n", runs.text[0]);
    if (rc == 0)
        printf(json
                   ? "{\"processes\": %d, \"ratio\": %.4f, \"lowest\": %.4f, \"highest\": %.4f"
                   : "processes          %d\nratio              %.3f (%.3f … %.3f), medians:\n",
               count, ratio.median, ratio.lowest, ratio.highest);
    for (size_t k = 0; rc == 0 && k < sizeof keys / sizeof keys[0]; k++) {
        struct process_median m;
        rc = find_median(&runs, keys[k], &m);
        if (rc == 0)
            printf(json ? ", \"%s\": %.4f" : "  %-16s %8.2f\n", keys[k], m.median);
    }
    if (rc == 0 && json)
        printf("}\n");
    clear(&runs);
    return rc;
}
