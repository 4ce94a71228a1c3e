/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <hdf5.h>

#include "io/store_private.h"
#include "kernels/base/status.h"

/* What can be said without HDF5: HDF5's own words for these cases name no cause. */
static int check_plain(const char *path)
{
    struct stat info;
    if (stat(path, &info) != 0)
        FAIL(ERR_IO, "cannot read %s: %s", path, strerror(errno));
    if (S_ISDIR(info.st_mode))
        FAIL(ERR_CONFLICT, "%s is a directory, not a result file of scanfarm", path);
    if (!S_ISREG(info.st_mode))
        FAIL(ERR_CONFLICT, "%s is not a regular file", path);
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        FAIL(ERR_IO, "cannot read %s: %s", path, strerror(errno));
    unsigned char found[8] = {0};
    const ssize_t got = pread(fd, found, sizeof found, 0);
    close(fd);
    static const unsigned char signature[8] = {0x89, 'H', 'D', 'F', '\r', '\n', 0x1a, '\n'};
    if (got != (ssize_t)sizeof found || memcmp(found, signature, sizeof signature) != 0)
        FAIL(ERR_CONFLICT, "%s is not an HDF5 file (%lld bytes)", path,
             (long long)info.st_size);
    return 0;
}

static int check_open(const char *path, int64_t *file)
{
    char reason[400];
    *file = h5_file_try(path, H5_READ, reason, sizeof reason);
    if (*file >= 0)
        return 0;
    if (strstr(reason, "truncated") != NULL)
        FAIL(ERR_CONFLICT, "%s is truncated: %s", path, reason);
    FAIL(ERR_CONFLICT, "%s cannot be opened: HDF5: %s", path, reason);
}

static int check_version(int64_t file, const char *path)
{
    char format[32];
    TRY(h5_get_text(file, path, "format", format, sizeof format));
    if (strcmp(format, "scanfarm") != 0)
        FAIL(ERR_CONFLICT, "%s is an HDF5 file, but not one of scanfarm (no attribute format)",
             path);
    int64_t version = 0;
    bool found = false;
    TRY(h5_get_integer(file, path, "format_version", &version, &found));
    if (!found || version < 1)
        FAIL(ERR_CONFLICT, "%s has no valid format_version", path);
    if (version > STORE_FORMAT_VERSION)
        FAIL(ERR_CONFLICT, "%s has format version %lld; this program reads versions up to %d",
             path, (long long)version, STORE_FORMAT_VERSION);
    return 0;
}

int store_check_format(const char *path)
{
    TRY(check_plain(path));
    int64_t file = 0;
    TRY(check_open(path, &file));
    const int rc = check_version(file, path);
    H5Fclose(file);
    return rc;
}
