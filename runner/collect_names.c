/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "runner/collect_names.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "kernels/base/mem.h"
#include "kernels/base/shard_name.h"
#include "kernels/base/status.h"
#include "kernels/base/submission.h"

struct collect_names {
    char **argument;
    int arguments;
    int next;   /* argument */
    FILE *list; /* NULL: none */
    const char *list_name;
    DIR *folder; /* being gone through: argument next - 1 */
    struct submission submission;
    long shard; /* of the submission, the next one; 0: none is being gone through */
};

static bool is_folder(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

/* A pipe cannot be read twice. */
static int keep_stdin(FILE **out)
{
    char block[65536];
    size_t got = 0;
    *out = tmpfile();
    if (*out == NULL)
        FAIL(ERR_IO, "cannot make a temporary file for the names: %s", strerror(errno));
    while ((got = fread(block, 1, sizeof block, stdin)) > 0)
        if (fwrite(block, 1, got, *out) != got)
            FAIL(ERR_IO, "cannot keep the names of stdin in a temporary file: %s",
                 strerror(errno));
    if (ferror(stdin) != 0)
        FAIL(ERR_IO, "cannot read the names from stdin: %s", strerror(errno));
    rewind(*out);
    return 0;
}

static int open_list(const char *path, FILE **out)
{
    if (strcmp(path, "-") == 0)
        return keep_stdin(out);
    *out = is_folder(path) ? NULL : fopen(path, "re");
    if (*out == NULL)
        FAIL(ERR_ARGUMENT, "--files-from %s: %s; a file with one name a line is wanted", path,
             is_folder(path) ? "is a directory" : strerror(errno));
    return 0;
}

int collect_names_open(char **argument, int arguments, const char *list,
                       struct collect_names **out)
{
    struct collect_names *names = NULL;
    *out = NULL;
    TRY(MEM_NEW(1, &names));
    names->argument = argument;
    names->arguments = arguments;
    names->list_name = list;
    const int rc = list != NULL ? open_list(list, &names->list) : 0;
    if (rc != 0)
        collect_names_close(names);
    else
        *out = names;
    return rc;
}

/* Leave the folder or submission that is being gone through. */
static void leave(struct collect_names *names)
{
    if (names->folder != NULL)
        closedir(names->folder);
    names->folder = NULL;
    submission_clear(&names->submission);
    names->shard = 0;
}

void collect_names_close(struct collect_names *names)
{
    if (names == NULL)
        return;
    leave(names);
    if (names->list != NULL)
        fclose(names->list);
    mem_free(names);
}

int collect_names_result(const struct collect_names *names, char *out, size_t size,
                         char configuration[SUBMISSION_HASH_SIZE])
{
    out[0] = configuration[0] = '\0';
    for (int i = 0; i < names->arguments && out[0] == '\0'; i++) {
        struct submission submission = {0};
        if (is_folder(names->argument[i]) || !submission_is_meant(names->argument[i]))
            continue;
        const int rc = submission_read(names->argument[i], &submission);
        if (rc == 0) {
            snprintf(out, size, "%s", submission.result);
            memcpy(configuration, submission.configuration, SUBMISSION_HASH_SIZE);
        }
        submission_clear(&submission);
        TRY(rc);
    }
    return 0;
}

int collect_names_rewind(struct collect_names *names)
{
    leave(names);
    names->next = 0;
    if (names->list != NULL && fseek(names->list, 0, SEEK_SET) != 0)
        FAIL(ERR_IO, "cannot read %s again: %s", names->list_name, strerror(errno));
    return 0;
}

static bool is_result_name(const char *name)
{
    const size_t length = strlen(name);
    return length > 3 && name[0] != '.' && strcmp(name + length - 3, ".h5") == 0;
}

static int join(const char *folder, const char *file, char *name, size_t size)
{
    const size_t length = strlen(folder);
    const char *const slash = length > 0 && folder[length - 1] == '/' ? "" : "/";
    if ((size_t)snprintf(name, size, "%s%s%s", folder, slash, file) >= size)
        FAIL(ERR_ARGUMENT, "path of %zu bytes is too long: %.60s...", length + strlen(file),
             folder);
    return 0;
}

static int next_of_folder(struct collect_names *names, char *name, size_t size, bool *more)
{
    const char *const folder = names->argument[names->next - 1];
    *more = false;
    errno = 0;
    for (const struct dirent *entry = readdir(names->folder); entry != NULL;
         entry = readdir(names->folder)) {
        if (!is_result_name(entry->d_name))
            continue;
        *more = true;
        return join(folder, entry->d_name, name, size);
    }
    if (errno != 0)
        FAIL(ERR_IO, "cannot read the folder %s: %s", folder, strerror(errno));
    leave(names);
    return 0;
}

static int next_of_submission(struct collect_names *names, char *name, size_t size, bool *more)
{
    const long shard = names->shard++;
    *more = shard <= names->submission.shards;
    if (*more)
        return shard_file_name(names->submission.result, shard, names->submission.shards, name,
                               size);
    leave(names);
    return 0;
}

/* A folder or submission gives its own names; any other argument is one. */
static int begin_argument(struct collect_names *names, char *name, size_t size, bool *more)
{
    const char *const argument = names->argument[names->next++];
    if (is_folder(argument)) {
        names->folder = opendir(argument);
        if (names->folder == NULL)
            FAIL(ERR_IO, "cannot read the folder %s: %s", argument, strerror(errno));
        return 0;
    }
    if (submission_is_meant(argument)) {
        TRY(submission_read(argument, &names->submission));
        names->shard = 1;
        return 0;
    }
    if ((size_t)snprintf(name, size, "%s", argument) >= size)
        FAIL(ERR_ARGUMENT, "path of %zu bytes is too long: %.60s...", strlen(argument),
             argument);
    *more = true;
    return 0;
}

static int next_of_list(struct collect_names *names, char *name, size_t size, bool *more)
{
    *more = false;
    while (!*more && fgets(name, (int)size, names->list) != NULL) {
        const size_t length = strcspn(name, "\n");
        if (name[length] == '\0' && length + 1 == size)
            FAIL(ERR_ARGUMENT, "%s: a name has more than %zu bytes: %.60s...", names->list_name,
                 size - 2, name);
        name[length] = '\0';
        *more = length > 0;
    }
    if (ferror(names->list) != 0)
        FAIL(ERR_IO, "cannot read %s: %s", names->list_name, strerror(errno));
    return 0;
}

int collect_names_next(struct collect_names *names, char *name, size_t size, bool *more)
{
    *more = false;
    for (;;) {
        if (names->folder != NULL)
            TRY(next_of_folder(names, name, size, more));
        else if (names->shard > 0)
            TRY(next_of_submission(names, name, size, more));
        else if (names->next < names->arguments)
            TRY(begin_argument(names, name, size, more));
        else
            return names->list != NULL ? next_of_list(names, name, size, more) : 0;
        if (*more)
            return 0;
    }
}
