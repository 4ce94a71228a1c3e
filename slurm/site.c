/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "slurm/site.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/base/command.h"
#include "kernels/base/status.h"

#define SITE_LIMIT        30.0 /* s */
#define MAX_ARRAY_DEFAULT 1001
#define KILL_WAIT_DEFAULT 30

/* The number of a line "Key                = 30 sec". */
static void find_number(const char *text, const char *key, long *number)
{
    const size_t length = strlen(key);
    for (const char *line = text; line != NULL && *line != '\0';) {
        const char *const value = line + length + strspn(line + length, " ");
        if (strncmp(line, key, length) == 0 && *value == '=') {
            char *end = NULL;
            const long found = strtol(value + 1, &end, 10);
            if (end != value + 1 && found >= 0)
                *number = found;
            return;
        }
        line = strchr(line, '\n');
        line = line != NULL ? line + 1 : NULL;
    }
}

int site_ask(struct site *out)
{
    static const char *const words[] = {"scontrol", "show", "config", NULL};
    struct command_result result;
    *out = (struct site){.max_array = MAX_ARRAY_DEFAULT, .kill_wait = KILL_WAIT_DEFAULT};
    TRY(command_run(words, SITE_LIMIT, &result));
    out->known = command_succeeded(&result);
    if (out->known) {
        find_number(result.output, "MaxArraySize", &out->max_array);
        find_number(result.output, "KillWait", &out->kill_wait);
    } else {
        command_explain(&result, "scontrol", SITE_LIMIT, out->why, sizeof out->why);
    }
    command_clear(&result);
    return 0;
}
