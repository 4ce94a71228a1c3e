/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "slurm/plan.h"

#include <cjson/cJSON.h>
#include <stdio.h>
#include <string.h>

#include "kernels/base/command.h"
#include "kernels/base/log.h"
#include "kernels/base/nearest.h"
#include "kernels/base/status.h"
#include "slurm/place.h"

#define PLAN_LIMIT 600.0 /* s; a million points take seconds */
#define COUNT_SIZE 24
#define WORDS_MAX  (2 * CHOICE_LIST_MAX + 12)
#define NAMES_MAX  64 /* numbers of a file that are offered */

/* A number of an object; 0 where there is none, as in plans of other versions. */
static double number_of(const cJSON *object, const char *name)
{
    const cJSON *const item = cJSON_GetObjectItemCaseSensitive(object, name);
    return cJSON_IsNumber(item) ? item->valuedouble : 0;
}

static const char *text_of(const cJSON *object, const char *name)
{
    const cJSON *const item = cJSON_GetObjectItemCaseSensitive(object, name);
    return cJSON_IsString(item) ? item->valuestring : "";
}

/* The script's log would say it once for each shard. */
static void tell_warnings(const cJSON *plan)
{
    const cJSON *note = NULL;
    const double points = number_of(plan, "points_looked_at");
    cJSON_ArrayForEach(note, cJSON_GetObjectItemCaseSensitive(plan, "notes"))
    {
        const double warned = number_of(note, "warned_points");
        if (warned > 0)
            log_warn("%s: %s (%.0f of %.0f points looked at; see `scanfarm plan`)",
                     text_of(note, "name"), text_of(note, "warning"), warned, points);
    }
}

static bool has_name(const cJSON *names, const char *wanted)
{
    const cJSON *name = NULL;
    cJSON_ArrayForEach(name, names)
    {
        if (cJSON_IsString(name) && strcmp(name->valuestring, wanted) == 0)
            return true;
    }
    return false;
}

static int refuse_plot(const cJSON *names, const char *wanted)
{
    const char *known[NAMES_MAX + 1] = {NULL};
    char list[512];
    int count = 0;
    const cJSON *name = NULL;
    cJSON_ArrayForEach(name, names)
    {
        if (cJSON_IsString(name) && count < NAMES_MAX)
            known[count++] = name->valuestring;
    }
    nearest_list(known, list, sizeof list);
    FAIL(ERR_ARGUMENT,
         "--plot observable:%s: the result will hold no such number (save.observables); it "
         "has: %s",
         wanted, list);
}

/* Pictures at the end of a long scan should not fail for a wrong letter. */
static int check_plots(const cJSON *plan, const struct choice_list *plots)
{
    static const char observable[] = "observable:";
    const cJSON *const names = cJSON_GetObjectItemCaseSensitive(plan, "numbers");
    for (int i = 0; i < plots->count; i++) {
        const char *const word = plots->word[i];
        const bool named = strncmp(word, observable, sizeof observable - 1) == 0;
        const char *const name = named ? word + sizeof observable - 1 : word;
        if (named && !has_name(names, name))
            return refuse_plot(names, name);
        if (strcmp(word, "coherence") == 0 && !has_name(names, word))
            FAIL(ERR_ARGUMENT, "--plot coherence: the result will hold none; it is of an "
                               "ensemble whose complex fields are saved");
    }
    return 0;
}

static int take_plan(const cJSON *plan, const struct choice *choice, struct scan_plan *out)
{
    const cJSON *const memory = cJSON_GetObjectItemCaseSensitive(plan, "memory");
    const char *const configuration = text_of(plan, "configuration");
    snprintf(out->name, sizeof out->name, "%s", text_of(plan, "scan"));
    if (strlen(configuration) == SUBMISSION_HASH_SIZE - 1)
        memcpy(out->configuration, configuration, SUBMISSION_HASH_SIZE);
    out->members = number_of(plan, "members");
    out->threads = (long)number_of(memory, "rows");
    out->worker_bytes = number_of(memory, "worker_bytes");
    out->plane_bytes = number_of(memory, "plane_bytes");
    out->state_bytes = number_of(memory, "state_bytes");
    TRY(check_plots(plan, &choice->plots));
    tell_warnings(plan);
    return 0;
}

static int read_plan(const char *json, const struct choice *choice, struct scan_plan *out)
{
    cJSON *const plan = cJSON_Parse(json);
    const cJSON *const name = cJSON_GetObjectItemCaseSensitive(plan, "scan");
    const cJSON *const memory = cJSON_GetObjectItemCaseSensitive(plan, "memory");
    const cJSON *const refusal = cJSON_GetObjectItemCaseSensitive(plan, "refusal");
    int rc = 0;
    if (!cJSON_IsString(name) || !cJSON_IsObject(memory)) {
        rc = status_fail(ERR_BUG, "`scanfarm plan --json` gave no plan: '%.80s'", json);
    } else if (cJSON_IsString(refusal) && refusal->valuestring[0] != '\0') {
        rc = status_fail(ERR_ARGUMENT, "%s", refusal->valuestring);
    } else {
        rc = take_plan(plan, choice, out);
    }
    cJSON_Delete(plan);
    return rc;
}

/* The code whose exit code a program of ours ended with. */
static int code_of_exit(int exit_code)
{
    return exit_code == 2   ? ERR_ARGUMENT
           : exit_code == 4 ? ERR_CONFLICT
           : exit_code == 3 ? ERR_IO
                            : ERR_BUG;
}

static int judge(const struct command_result *result, const struct choice *choice,
                 struct scan_plan *out)
{
    char why[512];
    if (command_succeeded(result)) {
        fputs(result->errors, stderr); /* its warnings */
        return read_plan(result->output, choice, out);
    }
    if (result->end == COMMAND_EXITED && result->errors[0] != '\0') {
        fputs(result->errors, stderr);
        return code_of_exit(result->exit_code);
    }
    command_explain(result, "scanfarm plan", PLAN_LIMIT, why, sizeof why);
    FAIL(ERR_IO, "%s", why);
}

int plan_ask(const char *scanfarm, const struct choice *choice, struct scan_plan *out)
{
    const char *words[WORDS_MAX] = {scanfarm, "plan", "--json", "--no-measure"};
    char shards[COUNT_SIZE];
    char files[PLACE_SIZE + sizeof "--files="] = "--files";
    int count = 4;
    struct command_result result;
    memset(out, 0, sizeof *out);
    if (choice->output != NULL)
        snprintf(files, sizeof files, "--files=%s", choice->output);
    words[count++] = files;
    if (choice->shards > 1) {
        snprintf(shards, sizeof shards, "%ld", choice->shards);
        words[count++] = "--shards";
        words[count++] = shards;
    }
    for (int i = 0; i < choice->sets.count; i++) {
        words[count++] = "--set";
        words[count++] = choice->sets.word[i];
    }
    words[count++] = "--";
    words[count++] = choice->scan;
    words[count] = NULL;
    int rc = command_run(words, PLAN_LIMIT, &result);
    if (rc == 0)
        rc = judge(&result, choice, out);
    command_clear(&result);
    return rc;
}
