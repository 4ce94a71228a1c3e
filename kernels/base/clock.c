/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "kernels/base/clock.h"

#include <stdio.h>
#include <time.h>

static double clock_read(clockid_t id)
{
    struct timespec now = {0};
    clock_gettime(id, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

double clock_wall(void)
{
    return clock_read(CLOCK_MONOTONIC);
}

double clock_cpu_thread(void)
{
    return clock_read(CLOCK_THREAD_CPUTIME_ID);
}

double clock_cpu_process(void)
{
    return clock_read(CLOCK_PROCESS_CPUTIME_ID);
}

void clock_iso(char text[CLOCK_ISO_SIZE])
{
    struct timespec now = {0};
    clock_gettime(CLOCK_REALTIME, &now);
    struct tm utc;
    gmtime_r(&now.tv_sec, &utc);
    char seconds[24];
    strftime(seconds, sizeof seconds, "%Y-%m-%dT%H:%M:%S", &utc);
    snprintf(text, CLOCK_ISO_SIZE, "%s.%03uZ", seconds,
             (unsigned)(now.tv_nsec / 1000000) % 1000);
}
