/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Limits of the control groups, version 1 and 2. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runner/placement.h"

#define LINE_SIZE   1024
#define PATH_LENGTH 1400

/* First line of a file; false when it cannot be read. */
static bool read_line(const char *path, char line[LINE_SIZE])
{
    FILE *file = fopen(path, "r");
    if (file == NULL)
        return false;
    const bool ok = fgets(line, LINE_SIZE, file) != NULL;
    fclose(file);
    return ok;
}

/* Path of this process's group below a controller's root: of a version 1 controller by name, of
 * version 2 with "". */
static bool find_group(const char *controller, char path[LINE_SIZE])
{
    FILE *file = fopen("/proc/self/cgroup", "r");
    if (file == NULL)
        return false;
    char line[LINE_SIZE];
    bool found = false;
    while (!found && fgets(line, sizeof line, file) != NULL) {
        char *names = strchr(line, ':');
        char *group = names != NULL ? strchr(names + 1, ':') : NULL;
        if (group == NULL)
            continue;
        *group++ = '\0';
        group[strcspn(group, "\n")] = '\0';
        found = strcmp(names + 1, controller) == 0
                || (*controller != '\0' && strstr(names + 1, controller) != NULL);
        if (found)
            snprintf(path, LINE_SIZE, "%s", group);
    }
    fclose(file);
    return found;
}

/* The least value that `limit` gives for the group and its parents; INFINITY: none. */
static double least_limit(const char *root, const char *group,
                          double (*limit)(const char *folder))
{
    char path[LINE_SIZE];
    snprintf(path, sizeof path, "%s", group);
    double least = (double)INFINITY;
    for (;;) {
        char folder[PATH_LENGTH];
        snprintf(folder, sizeof folder, "%s%s", root, path);
        least = fmin(least, limit(folder));
        char *slash = strrchr(path, '/');
        if (slash == NULL || path[0] == '\0')
            return least;
        *slash = '\0';
    }
}

/* "max" and the huge number by which version 1 says "no limit" give INFINITY. */
static double limit_number(const char *text)
{
    char *end = NULL;
    const double value = strtod(text, &end);
    return end == text || value < 0 || value > 0x1p60 ? (double)INFINITY : value;
}

static double file_number(const char *folder, const char *name)
{
    char path[PATH_LENGTH + 40];
    char line[LINE_SIZE];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return read_line(path, line) ? limit_number(line) : (double)INFINITY;
}

static double cpu_limit_v2(const char *folder)
{
    char path[PATH_LENGTH + 40];
    char line[LINE_SIZE];
    snprintf(path, sizeof path, "%s/cpu.max", folder);
    if (!read_line(path, line))
        return (double)INFINITY;
    const char *period = strchr(line, ' ');
    return period == NULL ? (double)INFINITY : limit_number(line) / limit_number(period);
}

static double cpu_limit_v1(const char *folder)
{
    return file_number(folder, "cpu.cfs_quota_us") / file_number(folder, "cpu.cfs_period_us");
}

static double memory_limit_v2(const char *folder)
{
    return file_number(folder, "memory.max");
}

static double memory_limit_v1(const char *folder)
{
    return file_number(folder, "memory.limit_in_bytes");
}

double placement_quota(void)
{
    char group[LINE_SIZE];
    double quota = (double)INFINITY;
    if (find_group("", group))
        quota = fmin(quota, least_limit("/sys/fs/cgroup", group, cpu_limit_v2));
    if (find_group("cpu", group))
        quota = fmin(quota, least_limit("/sys/fs/cgroup/cpu", group, cpu_limit_v1));
    return quota > 0 ? quota : (double)INFINITY;
}

double placement_memory(void)
{
    const double pages = (double)sysconf(_SC_PHYS_PAGES);
    double bytes = pages * (double)sysconf(_SC_PAGESIZE);
    char group[LINE_SIZE];
    if (find_group("", group))
        bytes = fmin(bytes, least_limit("/sys/fs/cgroup", group, memory_limit_v2));
    if (find_group("memory", group))
        bytes = fmin(bytes, least_limit("/sys/fs/cgroup/memory", group, memory_limit_v1));
    return bytes;
}
