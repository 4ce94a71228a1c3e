/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "kernels/base/replace.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "kernels/base/status.h"

int replace_begin(const char *path, struct replacement *out)
{
    out->path = path;
    if ((size_t)snprintf(out->temporary, sizeof out->temporary, "%s.%ld", path, (long)getpid())
        >= sizeof out->temporary)
        FAIL(ERR_IO, "cannot write %.80s…: %s", path, strerrordesc_np(ENAMETOOLONG));
    out->file = fopen(out->temporary, "we");
    if (out->file == NULL)
        FAIL(ERR_IO, "cannot write %s: %s", out->temporary, strerrordesc_np(errno));
    return 0;
}

int replace_end(struct replacement *r, mode_t mode, bool sync)
{
    const int fd = fileno(r->file);
    int bad = fflush(r->file) != 0 ? errno : 0;
    if (bad == 0 && mode != 0 && fchmod(fd, mode) != 0)
        bad = errno;
    if (bad == 0 && sync && fdatasync(fd) != 0)
        bad = errno;
    if (fclose(r->file) != 0 && bad == 0)
        bad = errno;
    if (bad == 0 && rename(r->temporary, r->path) != 0)
        bad = errno;
    if (bad == 0)
        return 0;
    unlink(r->temporary);
    FAIL(ERR_IO, "cannot write %s: %s", r->path, strerrordesc_np(bad));
}
