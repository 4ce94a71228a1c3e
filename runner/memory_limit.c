/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "runner/memory_limit.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "kernels/base/status.h"

#define THREAD_BYTES (16.0 * 1024 * 1024) /* stack and what a library keeps for a thread */
#define LIBRARY_BYTES                                                                          \
    (64.0 * 1024 * 1024) /* buffers of MPI, HDF5 and FFTW that are made later */

/* Data of this process now, bytes; negative when nobody can say. */
static double data_now(void)
{
    static const char key[] = "VmData:";
    char line[256];
    double kilobytes = -1;
    FILE *const file = fopen("/proc/self/status", "r");
    while (file != NULL && kilobytes < 0 && fgets(line, sizeof line, file) != NULL)
        if (strncmp(line, key, sizeof key - 1) == 0)
            kilobytes = strtod(line + sizeof key - 1, NULL);
    if (file != NULL)
        fclose(file);
    return 1024 * kilobytes;
}

int memory_limit_set(double bytes, int threads)
{
    struct rlimit limit;
    const double now = bytes > 0 ? data_now() : -1;
    if (now < 0)
        return 0;
    const double wanted = now + bytes + LIBRARY_BYTES + THREAD_BYTES * threads;
    if (getrlimit(RLIMIT_DATA, &limit) == 0
        && (limit.rlim_cur == RLIM_INFINITY || (double)limit.rlim_cur > wanted)) {
        limit.rlim_cur = (rlim_t)wanted;
        if (setrlimit(RLIMIT_DATA, &limit) != 0)
            FAIL(ERR_IO, "cannot limit the memory of a worker to %.0f bytes: %s", wanted,
                 strerrordesc_np(errno));
    }
    return 0;
}
