/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "runner/wisdom_text.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "kernels/base/mem.h"
#include "kernels/base/status.h"
#include "runner/run.h"

#define TEXT_MAX (16L << 20)

static int read_all(int fd, char **text)
{
    struct stat info;
    if (fstat(fd, &info) != 0)
        return 0;
    if (!S_ISREG(info.st_mode) || info.st_size > TEXT_MAX) {
        errno = S_ISDIR(info.st_mode) ? EISDIR : EFBIG;
        return 0;
    }
    TRY(MEM_NEW((long)info.st_size + 1, text));
    const ssize_t got = read(fd, *text, (size_t)info.st_size);
    if (got < 0) {
        mem_free(*text);
        *text = NULL;
        return 0;
    }
    (*text)[got] = '\0';
    return 0;
}

int wisdom_text_read(const char *path, char **text)
{
    *text = NULL;
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return 0;
    const int rc = read_all(fd, text);
    const int error = errno;
    close(fd);
    errno = error;
    return rc;
}

bool wisdom_text_write(const char *path, const char *text, bool replace)
{
    char temporary[RUN_PATH_SIZE + 320];
    snprintf(temporary, sizeof temporary, "%s.%ld", path, (long)getpid());
    FILE *file = fopen(temporary, "w");
    if (file == NULL)
        return false;
    bool ok = fputs(text, file) >= 0;
    ok = fclose(file) == 0 && ok;
    if (ok && replace)
        ok = rename(temporary, path) == 0;
    else if (ok)
        ok = link(temporary, path) == 0 || errno == EEXIST;
    const int error = errno;
    if (!ok || !replace)
        unlink(temporary);
    errno = error;
    return ok;
}
