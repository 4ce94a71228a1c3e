/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "kernels/base/mem.h"
#include "kernels/base/status.h"
#include "scans/yaml.h"

/* Refuse what cannot be a scan file before reading it; the bytes to make room for. */
static int check_kind(int descriptor, const char *path, size_t *room)
{
    struct stat status;
    if (fstat(descriptor, &status) != 0)
        FAIL(ERR_ARGUMENT, "%s: cannot be looked at: %s", path, strerror(errno));
    if (S_ISDIR(status.st_mode))
        FAIL(ERR_ARGUMENT, "%s: is a directory; a scan file (YAML) is wanted", path);
    if (!S_ISREG(status.st_mode))
        FAIL(ERR_ARGUMENT,
             "%s: is a pipe or a device; a regular file is wanted, it is read more than once",
             path);
    if (status.st_size > YAML_BYTES_MAX)
        FAIL(ERR_ARGUMENT,
             "%s: has %lld bytes, a scan file at most %d (8 MB); use {from, to, points} for "
             "long axes",
             path, (long long)status.st_size, YAML_BYTES_MAX);
    /* Files of /proc have no size. */
    *room = status.st_size > 0 ? (size_t)status.st_size : YAML_BYTES_MAX;
    return 0;
}

/* One byte more than there is room for tells that the text goes on. */
static int read_all(int descriptor, const char *path, size_t room, char *text, size_t *length)
{
    *length = 0;
    while (*length <= room) {
        const ssize_t n = read(descriptor, text + *length, room + 1 - *length);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            FAIL(ERR_ARGUMENT, "%s: cannot be read: %s", path, strerror(errno));
        if (n == 0) {
            text[*length] = '\0';
            return 0;
        }
        *length += (size_t)n;
    }
    FAIL(ERR_ARGUMENT, "%s: goes on after %zu bytes; a scan file has at most %d (8 MB)", path,
         room, YAML_BYTES_MAX);
}

static int read_descriptor(int descriptor, const char *path, char **text, size_t *length)
{
    size_t room = 0;
    TRY(check_kind(descriptor, path, &room));
    TRY(mem_alloc((long)room + 1, 1, (void **)text));
    const int rc = read_all(descriptor, path, room, *text, length);
    if (rc == 0)
        return 0;
    mem_free(*text);
    *text = NULL;
    return rc;
}

int yaml_read_file(const char *path, char **text, size_t *length)
{
    *text = NULL;
    /* without waiting: the kind is judged before a pipe could make us wait for a writer */
    const int descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (descriptor < 0)
        FAIL(ERR_ARGUMENT, "%s: cannot be opened: %s; the path of a scan file (YAML) is wanted",
             path, strerror(errno));
    const int rc = read_descriptor(descriptor, path, text, length);
    close(descriptor);
    return rc;
}
