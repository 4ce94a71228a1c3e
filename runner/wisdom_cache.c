/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "runner/wisdom_cache.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/hash.h"
#include "kernels/base/mem.h"
#include "kernels/base/status.h"
#include "runner/wisdom_text.h"

#define ENDING      ".wisdom"
#define HEAD_SIZE   512
#define PATH_SIZE   (RUN_PATH_SIZE + 256)
#define HEAD_FORMAT "scanfarm wisdom 1\nlibrary %s\ncpu %s\nthreads %d\nlength %ld\ncheck "

static const char *home_folder(void)
{
    const char *home = getenv("HOME");
    if (home != NULL && home[0] == '/')
        return home;
    const struct passwd *account = getpwuid(geteuid());
    return account != NULL && account->pw_dir != NULL && account->pw_dir[0] == '/'
               ? account->pw_dir
               : NULL;
}

void wisdom_cache_folder(char *path, char *why)
{
    const char *cache = getenv("XDG_CACHE_HOME");
    const char *home = home_folder();
    path[0] = '\0';
    why[0] = '\0';
    int written = 0;
    if (cache != NULL && cache[0] == '/')
        written = snprintf(path, RUN_PATH_SIZE, "%s/scanfarm", cache);
    else if (cache != NULL && cache[0] != '\0')
        snprintf(why, WISDOM_WHY_SIZE, "XDG_CACHE_HOME=%.200s is not an absolute path", cache);
    else if (home == NULL)
        snprintf(why, WISDOM_WHY_SIZE,
                 "there is no cache folder: set HOME or XDG_CACHE_HOME to an absolute path");
    else
        written = snprintf(path, RUN_PATH_SIZE, "%s/.cache/scanfarm", home);
    if (written >= RUN_PATH_SIZE) {
        path[0] = '\0';
        snprintf(why, WISDOM_WHY_SIZE, "the name of the cache folder is too long");
    }
}

void wisdom_cache_key(const struct backend *be, long n, struct wisdom_key *key)
{
    memset(key, 0, sizeof *key);
    snprintf(key->library, sizeof key->library, "%s", backend_fft_library());
    snprintf(key->cpu, sizeof key->cpu, "%s", be->device);
    key->threads = 1; /* rows are shared out among threads, a transform is not */
    key->n = n;
}

bool wisdom_key_same_machine(const struct wisdom_key *a, const struct wisdom_key *b)
{
    return strcmp(a->library, b->library) == 0 && strcmp(a->cpu, b->cpu) == 0
           && a->threads == b->threads;
}

/* Letters, digits, dots and dashes; everything else becomes a dash. */
static void append_word(char *path, const char *word)
{
    size_t used = strlen(path);
    for (; *word != '\0' && used + 1 < PATH_SIZE; word++) {
        const char c = *word;
        const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')
                           || (c >= '0' && c <= '9') || c == '.';
        if (plain || path[used - 1] != '-')
            path[used++] = plain ? c : '-';
    }
    path[used] = '\0';
}

void wisdom_cache_path(const char *folder, const struct wisdom_key *key, char *path)
{
    char end[64];
    snprintf(path, PATH_SIZE, "%s/", folder);
    append_word(path, key->library);
    append_word(path, "_");
    append_word(path, key->cpu);
    snprintf(end, sizeof end, "-t%d-%ld" ENDING, key->threads, key->n);
    const size_t used = strlen(path);
    snprintf(path + used, PATH_SIZE - used, "%s", end);
}

static void write_head(const struct wisdom_key *key, const char *text, char head[HEAD_SIZE])
{
    snprintf(head, HEAD_SIZE, HEAD_FORMAT, key->library, key->cpu, key->threads, key->n);
    const size_t used = strlen(head);
    snprintf(head + used, HEAD_SIZE - used, "%016" PRIx64 "\n", hash_64(text, strlen(text)));
}

/* The text after "name " up to the line's end; moves on to the next line. */
static bool take_line(const char **at, const char *name, char *value, size_t size)
{
    const size_t length = strlen(name);
    const size_t line = strcspn(*at, "\n");
    if (strncmp(*at, name, length) != 0 || (*at)[line] != '\n' || line - length >= size)
        return false;
    memcpy(value, *at + length, line - length);
    value[line - length] = '\0';
    *at += line + 1;
    return true;
}

/* Key and wisdom of a whole file; false for one that is damaged or something else. */
static bool parse(const char *whole, struct wisdom_key *key, const char **text)
{
    char number[32];
    char head[HEAD_SIZE];
    const char *at = whole;
    memset(key, 0, sizeof *key);
    if (!take_line(&at, "scanfarm wisdom 1", number, sizeof number)
        || !take_line(&at, "library ", key->library, sizeof key->library)
        || !take_line(&at, "cpu ", key->cpu, sizeof key->cpu)
        || !take_line(&at, "threads ", number, sizeof number))
        return false;
    key->threads = (int)strtol(number, NULL, 10);
    if (!take_line(&at, "length ", number, sizeof number))
        return false;
    key->n = strtol(number, NULL, 10);
    if (!take_line(&at, "check ", number, sizeof number))
        return false;
    write_head(key, at, head);
    *text = at;
    return strncmp(whole, head, strlen(head)) == 0;
}

int wisdom_cache_read(const char *folder, const struct wisdom_key *key, char **text, char *why)
{
    char path[PATH_SIZE];
    char *whole = NULL;
    struct wisdom_key found;
    const char *wisdom = "";
    *text = NULL;
    why[0] = '\0';
    if (folder[0] == '\0')
        return mem_copy_text("", text);
    wisdom_cache_path(folder, key, path);
    errno = 0;
    TRY(wisdom_text_read(path, &whole));
    if (whole == NULL && errno != ENOENT && errno != ENOTDIR)
        snprintf(why, WISDOM_WHY_SIZE, "cannot read %s: %s", path, strerrordesc_np(errno));
    else if (whole != NULL && !parse(whole, &found, &wisdom))
        snprintf(why, WISDOM_WHY_SIZE, "%s is damaged: ignored (`scanfarm tune` makes it anew)",
                 path);
    else if (whole != NULL && (!wisdom_key_same_machine(&found, key) || found.n != key->n))
        snprintf(why, WISDOM_WHY_SIZE, "%s is of another CPU, FFT library or length: ignored",
                 path);
    const int rc = mem_copy_text(why[0] == '\0' ? wisdom : "", text);
    mem_free(whole);
    return rc;
}

/* mkdir -p; the last one for this user only, as the XDG rules say. */
static bool make_folder(const char *folder)
{
    char path[RUN_PATH_SIZE];
    snprintf(path, sizeof path, "%s", folder);
    for (char *slash = strchr(path + 1, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        const bool there = mkdir(path, 0700) == 0 || errno == EEXIST;
        *slash = '/';
        if (!there)
            return false;
    }
    return mkdir(path, 0700) == 0 || errno == EEXIST;
}

static int fail_folder(const char *folder)
{
    FAIL(ERR_IO, "cannot write into the cache folder %s: %s", folder, strerrordesc_np(errno));
}

int wisdom_cache_try(const char *folder)
{
    char path[PATH_SIZE];
    if (!make_folder(folder))
        return fail_folder(folder);
    snprintf(path, sizeof path, "%s/try.%ld", folder, (long)getpid());
    const int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0)
        return fail_folder(folder);
    close(fd);
    unlink(path);
    return 0;
}

int wisdom_cache_write(const char *folder, const struct wisdom_key *key, const char *text)
{
    char path[PATH_SIZE];
    char head[HEAD_SIZE];
    char *whole = NULL;
    if (!make_folder(folder))
        return fail_folder(folder);
    write_head(key, text, head);
    wisdom_cache_path(folder, key, path);
    const size_t size = strlen(head) + strlen(text) + 1;
    TRY(MEM_NEW((long)size, &whole));
    snprintf(whole, size, "%s%s", head, text);
    const bool written = wisdom_text_write(path, whole, true);
    const int error = errno;
    mem_free(whole);
    if (!written)
        FAIL(ERR_IO, "cannot write %s: %s", path, strerrordesc_np(error));
    return 0;
}

static bool is_wisdom(const char *name)
{
    const size_t length = strlen(name);
    const size_t ending = strlen(ENDING);
    return length > ending && strcmp(name + length - ending, ENDING) == 0;
}

static int select_wisdom(const struct dirent *entry)
{
    return is_wisdom(entry->d_name);
}

/* Names of the wisdom files, sorted; *count = 0 without a folder. Free with names_free. */
static int read_names(const char *folder, struct dirent ***names, int *count)
{
    *names = NULL;
    *count = folder[0] == '\0' ? 0 : scandir(folder, names, select_wisdom, alphasort);
    if (*count >= 0)
        return 0;
    *count = 0;
    if (errno == ENOENT || errno == ENOTDIR)
        return 0;
    FAIL(ERR_IO, "cannot read %s: %s", folder, strerrordesc_np(errno));
}

static void names_free(struct dirent **names, int count)
{
    for (int i = 0; i < count; i++)
        free(names[i]); /* scandir's memory is malloc's */
    free(names);
}

static int load_file(const char *folder, const char *name, struct wisdom_file *file)
{
    char path[PATH_SIZE];
    char *whole = NULL;
    const char *text = "";
    snprintf(file->name, sizeof file->name, "%s", name);
    snprintf(path, sizeof path, "%s/%s", folder, name);
    TRY(wisdom_text_read(path, &whole));
    file->damaged = whole == NULL || !parse(whole, &file->key, &text);
    const int rc = mem_copy_text(file->damaged ? "" : text, &file->text);
    mem_free(whole);
    return rc;
}

int wisdom_cache_list(const char *folder, struct wisdom_file **files, int *count)
{
    struct dirent **names = NULL;
    int found = 0;
    int rc = 0;
    *files = NULL;
    *count = 0;
    TRY(read_names(folder, &names, &found));
    if (found > WISDOM_CACHE_FILES_MAX)
        TRY_OR(rc, done,
               status_fail(ERR_IO, "%s holds %d files of wisdom; at most %d are read", folder,
                           found, WISDOM_CACHE_FILES_MAX));
    TRY_OR(rc, done, MEM_NEW(found, files));
    for (int i = 0; i < found; i++) {
        TRY_OR(rc, done, load_file(folder, names[i]->d_name, &(*files)[i]));
        *count = i + 1;
    }
done:
    names_free(names, found);
    if (rc != 0) {
        wisdom_cache_list_free(*files, *count);
        *files = NULL;
        *count = 0;
    }
    return rc;
}

void wisdom_cache_list_free(struct wisdom_file *files, int count)
{
    for (int i = 0; i < count; i++)
        mem_free(files[i].text);
    mem_free(files);
}

int wisdom_cache_clear(const char *folder, int *removed)
{
    char path[PATH_SIZE];
    struct dirent **names = NULL;
    int count = 0;
    int rc = 0;
    *removed = 0;
    TRY(read_names(folder, &names, &count));
    for (int i = 0; i < count && rc == 0; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, names[i]->d_name);
        if (unlink(path) == 0)
            ++*removed;
        else
            rc = status_fail(ERR_IO, "cannot remove %s: %s", path, strerrordesc_np(errno));
    }
    names_free(names, count);
    return rc;
}
