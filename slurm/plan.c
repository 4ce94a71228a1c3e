/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "slurm/plan.h"

#include <cjson/cJSON.h>
#include <stdio.h>
#include <string.h>

#include "kernels/base/command.h"
#include "kernels/base/status.h"

#define PLAN_LIMIT 600.0 /* s; a million points take seconds */
#define COUNT_SIZE 24
#define WORDS_MAX  (2 * CHOICE_LIST_MAX + 12)

/* A number of an object; 0 where there is none, as in plans of other versions. */
static double number_of(const cJSON *object, const char *name)
{
    const cJSON *const item = cJSON_GetObjectItemCaseSensitive(object, name);
    return cJSON_IsNumber(item) ? item->valuedouble : 0;
}

static int read_plan(const char *json, struct scan_plan *out)
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
        snprintf(out->name, sizeof out->name, "%s", name->valuestring);
        out->members = number_of(plan, "members");
        out->threads = (long)number_of(memory, "rows");
        out->worker_bytes = number_of(memory, "worker_bytes");
        out->plane_bytes = number_of(memory, "plane_bytes");
        out->state_bytes = number_of(memory, "state_bytes");
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

static int judge(const struct command_result *result, struct scan_plan *out)
{
    char why[512];
    if (command_succeeded(result)) {
        fputs(result->errors, stderr); /* its warnings */
        return read_plan(result->output, out);
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
    int count = 4;
    struct command_result result;
    memset(out, 0, sizeof *out);
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
        rc = judge(&result, out);
    command_clear(&result);
    return rc;
}
