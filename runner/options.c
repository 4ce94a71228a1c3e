/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "runner/options.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "kernels/base/status.h"
#include "runner/inputs.h"

int options_read_scan(const char *path, const struct scan_override *overrides, int count,
                      struct scan **out)
{
    int rc = scan_read(path, overrides, count, out);
    if (rc == 0)
        rc = inputs_load(*out);
    if (rc != 0) {
        scan_destroy(*out);
        *out = NULL;
    }
    return rc == ERR_IO ? ERR_ARGUMENT : rc;
}

int options_check_file(const char *path)
{
    struct stat facts;
    if (stat(path, &facts) != 0)
        FAIL(ERR_ARGUMENT, "%s: %s; a result file of scanfarm is wanted", path,
             strerror(errno));
    if (S_ISDIR(facts.st_mode))
        FAIL(ERR_ARGUMENT, "%s: is a directory; a result file of scanfarm is wanted", path);
    if (!S_ISREG(facts.st_mode))
        FAIL(ERR_ARGUMENT, "%s: is no regular file; a result file of scanfarm is wanted", path);
    return 0;
}
