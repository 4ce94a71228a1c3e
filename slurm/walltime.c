/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "slurm/walltime.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "kernels/base/log.h"
#include "kernels/base/status.h"

#define MINUTES_MOST 100000000L /* 190 years: beyond any limit, far from overflow */
#define PARTS_MOST   3

/* Numbers with colons between them and nothing else; how many, 0 for anything else. */
static int read_parts(const char *text, double part[PARTS_MOST])
{
    int parts = 0;
    for (;;) {
        char *end = NULL;
        if (!isdigit((unsigned char)*text) || parts == PARTS_MOST)
            return 0;
        part[parts++] = (double)strtoull(text, &end, 10);
        if (*end == '\0')
            return parts;
        if (*end != ':')
            return 0;
        text = end + 1;
    }
}

/* Seconds of a text, -1 for what is none. */
static double read_seconds(const char *text)
{
    static const double after_days[] = {3600, 60, 1};
    static const double alone[PARTS_MOST][PARTS_MOST] = {{60}, {60, 1}, {3600, 60, 1}};
    double part[PARTS_MOST];
    double seconds = 0;
    const size_t digits = strspn(text, "0123456789");
    const bool days = digits > 0 && text[digits] == '-';
    const int parts = read_parts(days ? text + digits + 1 : text, part);
    if (parts == 0)
        return -1;
    if (days)
        seconds = 86400 * (double)strtoull(text, NULL, 10);
    for (int i = 0; i < parts; i++)
        seconds += part[i] * (days ? after_days[i] : alone[parts - 1][i]);
    return seconds;
}

int walltime_read(const char *name, const char *text, long *minutes)
{
    *minutes = WALLTIME_UNLIMITED;
    if (strcasecmp(text, "UNLIMITED") == 0 || strcasecmp(text, "INFINITE") == 0)
        return 0;
    const double seconds = read_seconds(text);
    if (seconds < 0)
        FAIL(ERR_ARGUMENT,
             "--%s '%s': a time as Slurm reads it is wanted: minutes, MM:SS, HH:MM:SS, D-HH, "
             "D-HH:MM, D-HH:MM:SS or UNLIMITED",
             name, text);
    if (seconds <= 0 || seconds > 60.0 * (double)MINUTES_MOST)
        FAIL(
            ERR_ARGUMENT,
            "--%s '%s': a time from 1 second to %ld minutes is wanted (0 would be no limit for "
            "Slurm: write UNLIMITED)",
            name, text, MINUTES_MOST);
    *minutes = ((long)seconds + 59) / 60;
    if (60 * *minutes != (long)seconds)
        log_info("--%s %s: Slurm counts whole minutes, %ld minute%s asked for", name, text,
                 *minutes, *minutes == 1 ? " is" : "s are");
    return 0;
}

void walltime_text(long minutes, char text[WALLTIME_SIZE])
{
    const long days = minutes / 1440;
    const long hours = minutes / 60 % 24;
    if (minutes < 0)
        snprintf(text, WALLTIME_SIZE, "UNLIMITED");
    else if (days > 0)
        snprintf(text, WALLTIME_SIZE, "%ld-%02ld:%02ld:00", days, hours, minutes % 60);
    else if (hours > 0)
        snprintf(text, WALLTIME_SIZE, "%ld:%02ld:00", hours, minutes % 60);
    else
        snprintf(text, WALLTIME_SIZE, "%ld:00", minutes);
}
