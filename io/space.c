/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "io/space.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "kernels/base/status.h"

#define FOLDER_SIZE 4096
/* The estimate counts HDF5's own structures only roughly. */
#define LIMIT_MARGIN 1048576.0

static int folder_of(const char *path, char folder[FOLDER_SIZE])
{
    const char *const slash = strrchr(path, '/');
    if (slash == NULL) {
        snprintf(folder, FOLDER_SIZE, ".");
        return 0;
    }
    const size_t length = slash == path ? 1 : (size_t)(slash - path);
    if (length >= FOLDER_SIZE)
        FAIL(ERR_IO, "path of %zu bytes is too long: %.60s...", strlen(path), path);
    memcpy(folder, path, length);
    folder[length] = '\0';
    return 0;
}

int space_check_folder(const char *path)
{
    char folder[FOLDER_SIZE];
    TRY(folder_of(path, folder));
    struct stat info;
    if (stat(folder, &info) != 0)
        FAIL(ERR_IO, "cannot write %s: directory %s: %s", path, folder, strerror(errno));
    if (!S_ISDIR(info.st_mode))
        FAIL(ERR_IO, "cannot write %s: %s is not a directory", path, folder);
    if (path[0] == '\0' || path[strlen(path) - 1] == '/')
        FAIL(ERR_IO, "cannot write '%s': it names a directory, not a file", path);
    if (access(folder, W_OK | X_OK) != 0)
        FAIL(ERR_IO, "cannot write %s: directory %s: %s", path, folder, strerror(errno));
    return 0;
}

#define BYTES_SIZE 32

/* "4.1 kB", as elsewhere in messages. */
static const char *bytes_text(double bytes, char text[BYTES_SIZE])
{
    static const char *const units[] = {"bytes", "kB", "MB", "GB", "TB", "PB", "EB"};
    int step = 0;
    for (; bytes >= 999.5 && step < 6; step++)
        bytes /= 1000;
    snprintf(text, BYTES_SIZE, step == 0 ? "%.0f %s" : "%.3g %s", bytes, units[step]);
    return text;
}

int space_check(const char *path, double bytes)
{
    char needed[BYTES_SIZE];
    char free_there[BYTES_SIZE];
    char folder[FOLDER_SIZE];
    TRY(folder_of(path, folder));
    struct statvfs fs;
    if (statvfs(folder, &fs) != 0)
        FAIL(ERR_IO, "cannot ask for the free space of %s: %s", folder, strerror(errno));
    const double available = (double)fs.f_bavail * (double)fs.f_frsize;
    if (bytes > available)
        FAIL(ERR_IO, "%s needs %s, %s has %s free; --no-space-check goes on", path,
             bytes_text(bytes, needed), folder, bytes_text(available, free_there));
    if (fs.f_files > 0 && fs.f_favail == 0)
        FAIL(ERR_IO, "%s needs an inode, %s has none free", path, folder);
    return 0;
}

int space_check_limit(const char *path, double bytes)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY
        && bytes + LIMIT_MARGIN > (double)limit.rlim_cur) {
        char needed[BYTES_SIZE];
        char allowed[BYTES_SIZE];
        FAIL(ERR_IO, "%s needs %s, the file size limit (ulimit -f) is %s", path,
             bytes_text(bytes, needed), bytes_text((double)limit.rlim_cur, allowed));
    }
    return 0;
}

int space_settle(const char *path, bool reserve)
{
    const int fd = open(path, O_RDWR | O_CLOEXEC);
    if (fd < 0)
        FAIL(ERR_IO, "cannot open %s: %s", path, strerror(errno));
    struct stat info;
    int error = fstat(fd, &info) == 0 ? 0 : errno;
    if (error == 0 && reserve)
        error = posix_fallocate(fd, 0, info.st_size);
    if (error == 0 && fsync(fd) != 0)
        error = errno;
    close(fd);
    if (error != 0)
        FAIL(ERR_IO, "cannot %s %s: %s", reserve ? "reserve the space of" : "write", path,
             strerror(error));
    return 0;
}
