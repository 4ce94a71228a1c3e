/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "slurm/place.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "kernels/base/status.h"
#include "slurm/quote.h"

/* The folder of a path in front of a name; too long a path is cut, and then not there. */
static void join(char path[PLACE_SIZE], const char *folder, size_t length, const char *name)
{
    snprintf(path, PLACE_SIZE, "%.*s/%s", (int)length, folder, name);
}

int place_program(const char *name, char path[PLACE_SIZE])
{
    char self[PLACE_SIZE];
    const ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    if (length > 0) {
        self[length] = '\0';
        *strrchr(self, '/') = '\0'; /* an absolute path has one */
        join(path, self, strlen(self), name);
        if (access(path, X_OK) == 0)
            return 0;
    }
    for (const char *folder = getenv("PATH"); folder != NULL && *folder != '\0';) {
        const size_t part = strcspn(folder, ":");
        join(path, folder, part, name);
        if (part > 0 && folder[0] == '/' && access(path, X_OK) == 0)
            return 0;
        folder += part + (folder[part] == ':');
    }
    FAIL(ERR_IO, "there is no program %s, neither beside %s nor on the PATH", name,
         length > 0 ? self : "this one");
}

int place_absolute(const char *file, char path[PLACE_SIZE])
{
    char folder[PLACE_SIZE];
    const char *const slash = strrchr(file, '/');
    const char *const name = slash != NULL ? slash + 1 : file;
    if (name[0] == '\0' || strlen(file) >= sizeof folder)
        FAIL(ERR_ARGUMENT, "'%.80s': the name of a file is wanted, of less than %d bytes", file,
             PLACE_SIZE);
    if (slash == NULL)
        snprintf(folder, sizeof folder, ".");
    else
        snprintf(folder, sizeof folder, "%.*s", (int)(slash - file) + 1, file);
    char *const real = realpath(folder, NULL);
    if (real == NULL)
        FAIL(ERR_ARGUMENT, "the folder of %s: %s", file, strerrordesc_np(errno));
    const int length =
        snprintf(path, PLACE_SIZE, "%s/%s", strcmp(real, "/") == 0 ? "" : real, name);
    free(real);
    if (length >= PLACE_SIZE)
        FAIL(ERR_ARGUMENT, "'%.80s': a path of %d bytes is too long", file, length);
    if (!quote_can(path))
        FAIL(ERR_ARGUMENT,
             "the path of %s has a newline or control character, which cannot "
             "stand in a script",
             name);
    return 0;
}
