/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "slurm/profile.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "kernels/base/mem.h"
#include "kernels/base/nearest.h"
#include "kernels/base/status.h"

#define PROFILE_MOST 65536 /* bytes */
#define WHY_SIZE     512

static int read_text(const char *path, char **text)
{
    FILE *const file = fopen(path, "re");
    if (file == NULL)
        FAIL(ERR_ARGUMENT, "--profile %s: %s", path, strerrordesc_np(errno));
    int rc = MEM_NEW(PROFILE_MOST + 1, text);
    if (rc == 0) {
        const size_t got = fread(*text, 1, PROFILE_MOST, file);
        if (ferror(file))
            rc = status_fail(ERR_ARGUMENT, "--profile %s: cannot be read", path);
        else if (got == PROFILE_MOST || memchr(*text, '\0', got) != NULL)
            rc = status_fail(ERR_ARGUMENT, "--profile %s: no text of less than %d bytes", path,
                             PROFILE_MOST);
    }
    fclose(file);
    return rc;
}

static char *trim(char *text)
{
    text += strspn(text, " \t");
    size_t length = strlen(text);
    while (length > 0 && strchr(" \t\r", text[length - 1]) != NULL)
        text[--length] = '\0';
    return text;
}

static int find_row(const char *path, long line, const char *key, int *row)
{
    const char *names[OPTIONS_ROWS_MAX];
    char list[512];
    *row = choice_row_of_key(key);
    if (*row >= 0)
        return 0;
    choice_keys(names);
    const char *const nearest = nearest_name(key, names);
    if (nearest != NULL)
        FAIL(ERR_ARGUMENT, "%s:%ld: unknown key '%.60s'; did you mean '%s'?", path, line, key,
             nearest);
    nearest_list(names, list, sizeof list);
    FAIL(ERR_ARGUMENT, "%s:%ld: unknown key '%.60s'; known: %s", path, line, key, list);
}

static int take_line(const char *path, long line, char *text, struct choice *choice)
{
    char why[WHY_SIZE] = "";
    int row = 0;
    char *const equals = strchr(text, '=');
    if (equals == NULL)
        FAIL(ERR_ARGUMENT, "%s:%ld: '%.60s' is no 'key = value'", path, line, text);
    *equals = '\0';
    TRY(find_row(path, line, trim(text), &row));
    const struct status_saved before = status_capture_save();
    status_capture(why, sizeof why);
    const int rc = choice_set(choice, row, trim(equals + 1));
    status_capture_restore(before);
    if (rc != 0)
        FAIL(rc, "%s:%ld: %s", path, line, why);
    return 0;
}

int profile_read(const char *path, struct choice *choice)
{
    long line = 0;
    TRY(read_text(path, &choice->text));
    for (char *next = choice->text; next != NULL;) {
        char *const text = next;
        next = strchr(text, '\n');
        if (next != NULL)
            *next++ = '\0';
        line++;
        char *const words = trim(text);
        if (words[0] != '\0' && words[0] != '#')
            TRY(take_line(path, line, words, choice));
    }
    return 0;
}
