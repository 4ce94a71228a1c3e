/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/io/inject.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>
#include <unistd.h>

#include "kernels/base/mem.h"
#include "kernels/base/status.h"

static struct {
    long nth;
    long seen;
    int error;
} calls[INJECT_CALLS];

void inject_at(enum inject_call call, long nth, int error)
{
    calls[call].nth = nth;
    calls[call].seen = 0;
    calls[call].error = error;
}

long inject_seen(enum inject_call call)
{
    return calls[call].seen;
}

static bool fails(enum inject_call call)
{
    if (++calls[call].seen != calls[call].nth)
        return false;
    errno = calls[call].error;
    return true;
}

/* __real_X is the wrapped function, __wrap_X is called in its place. */

int __real_mem_alloc(long count, size_t size, void **out);
int __wrap_mem_alloc(long count, size_t size, void **out);
int __real_open(const char *path, int flags, ...);
int __wrap_open(const char *path, int flags, ...);
ssize_t __real_pwrite(int fd, const void *bytes, size_t size, off_t offset);
ssize_t __wrap_pwrite(int fd, const void *bytes, size_t size, off_t offset);
ssize_t __real_pread(int fd, void *bytes, size_t size, off_t offset);
ssize_t __wrap_pread(int fd, void *bytes, size_t size, off_t offset);
int __real_fallocate(int fd, int mode, off_t offset, off_t length);
int __wrap_fallocate(int fd, int mode, off_t offset, off_t length);
int __real_fdatasync(int fd);
int __wrap_fdatasync(int fd);
int __real_renameat2(int from_folder, const char *from, int to_folder, const char *to,
                     unsigned flags);
int __wrap_renameat2(int from_folder, const char *from, int to_folder, const char *to,
                     unsigned flags);
int __real_rename(const char *from, const char *to);
int __wrap_rename(const char *from, const char *to);

int __wrap_mem_alloc(long count, size_t size, void **out)
{
    *out = NULL;
    if (fails(INJECT_ALLOC))
        FAIL(ERR_MEMORY, "out of memory: %zu bytes wanted", (size_t)count * size);
    return __real_mem_alloc(count, size, out);
}

int __wrap_open(const char *path, int flags, ...)
{
    va_list rest;
    va_start(rest, flags);
    const mode_t mode = (flags & O_CREAT) != 0 ? va_arg(rest, mode_t) : 0;
    va_end(rest);
    return fails(INJECT_OPEN) ? -1 : __real_open(path, flags, mode);
}

ssize_t __wrap_pwrite(int fd, const void *bytes, size_t size, off_t offset)
{
    if (fails(INJECT_PWRITE))
        return errno == 0 ? 0 : -1;
    return __real_pwrite(fd, bytes, size, offset);
}

ssize_t __wrap_pread(int fd, void *bytes, size_t size, off_t offset)
{
    if (fails(INJECT_PREAD))
        return errno == 0 ? 0 : -1;
    return __real_pread(fd, bytes, size, offset);
}

int __wrap_fallocate(int fd, int mode, off_t offset, off_t length)
{
    return fails(INJECT_FALLOCATE) ? -1 : __real_fallocate(fd, mode, offset, length);
}

int __wrap_fdatasync(int fd)
{
    return fails(INJECT_FDATASYNC) ? -1 : __real_fdatasync(fd);
}

int __wrap_renameat2(int from_folder, const char *from, int to_folder, const char *to,
                     unsigned flags)
{
    return fails(INJECT_RENAMEAT2) ? -1
                                   : __real_renameat2(from_folder, from, to_folder, to, flags);
}

int __wrap_rename(const char *from, const char *to)
{
    return fails(INJECT_RENAME) ? -1 : __real_rename(from, to);
}
