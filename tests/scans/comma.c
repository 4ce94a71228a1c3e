/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/scans/comma.h"

#include <locale.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static bool has_comma(const char *name)
{
    return setlocale(LC_NUMERIC, name) != NULL && strcmp(localeconv()->decimal_point, ",") == 0;
}

static bool run_localedef(char *source, char *target)
{
    char name[] = "localedef";
    char anyway[] = "-c"; /* warnings make the status 1 */
    char quiet[] = "--quiet";
    char input[] = "-i";
    char *words[] = {name, anyway, quiet, input, source, target, NULL};
    pid_t pid = 0;
    return posix_spawnp(&pid, name, NULL, NULL, words, environ) == 0
           && waitpid(pid, NULL, 0) == pid;
}

static void remove_folder(char *folder)
{
    char name[] = "rm";
    char recursive[] = "-r";
    char *words[] = {name, recursive, folder, NULL};
    pid_t pid = 0;
    if (posix_spawnp(&pid, name, NULL, NULL, words, environ) == 0)
        waitpid(pid, NULL, 0);
}

/* A locale that defines LC_NUMERIC alone. */
static bool make_locale(void)
{
    static const char text[] = "comment_char %\nescape_char /\nLC_NUMERIC\n"
                               "decimal_point \"<U002C>\"\nthousands_sep \"\"\ngrouping -1\n"
                               "END LC_NUMERIC\n";
    char folder[] = "/tmp/scanfarm-comma-XXXXXX";
    char source[64];
    char target[64];
    if (mkdtemp(folder) == NULL)
        return false;
    snprintf(source, sizeof source, "%s/source", folder);
    snprintf(target, sizeof target, "%s/xx_XX", folder);
    FILE *file = fopen(source, "w");
    if (file == NULL)
        return false;
    fputs(text, file);
    fclose(file);
    const bool made = run_localedef(source, target);
    setenv("LOCPATH", folder, 1);
    const bool found = made && has_comma("xx_XX");
    remove_folder(folder);
    return found;
}

bool comma_locale(void)
{
    static const char *const names[] = {"de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8", "de_DE"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (has_comma(names[i]))
            return true;
    if (make_locale())
        return true;
    fprintf(stderr, "skipped: no locale with a decimal comma, and localedef made none\n");
    return false;
}
