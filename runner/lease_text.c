/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The text of a lease: one `key: value` a line; a last line without its end is torn. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "kernels/base/mem.h"
#include "kernels/base/status.h"
#include "runner/lease_private.h"

#define TEXT_MAX (1 << 20)

int lease_text_make(const struct lease_process *self, const char *run, char *text, size_t size)
{
    const char *job = getenv("SLURM_JOB_ID");
    const char *restart = getenv("SLURM_RESTART_COUNT");
    const int head = snprintf(
        text, size, LEASE_HEAD "%020d" LEASE_END "---\nrun: %s\njob: %.60s\nrestart: %ld\n", 0,
        run, job != NULL ? job : "", restart != NULL ? strtol(restart, NULL, 10) : 0);
    return head + lease_text_add(self, text + head, size - (size_t)head);
}

int lease_text_add(const struct lease_process *process, char *text, size_t size)
{
    return snprintf(text, size, LEASE_PROCESS "%" PRId64 " %" PRId64 " %016" PRIx64 " %s\n",
                    process->id.pid, process->id.start, process->id.machine, process->host);
}

/* The number at *at, which moves behind it; false when there is none. */
static bool read_number(const char **at, int base, uint64_t *out)
{
    char *end = NULL;
    errno = 0;
    *out = strtoull(*at, &end, base);
    const bool found = end != *at && errno == 0;
    *at = end;
    return found;
}

/* "PID START MACHINE HOST" */
static bool read_process(const char *value, struct lease_process *out)
{
    uint64_t pid = 0;
    uint64_t start = 0;
    if (!read_number(&value, 10, &pid) || !read_number(&value, 10, &start)
        || !read_number(&value, 16, &out->id.machine) || sscanf(value, "%63s", out->host) != 1)
        return false;
    out->id.pid = (int64_t)pid;
    out->id.start = (int64_t)start;
    return true;
}

bool lease_text_process(const char *line, struct lease_process *out)
{
    const size_t length = strlen(LEASE_PROCESS);
    return strncmp(line, LEASE_PROCESS, length) == 0 && read_process(line + length, out);
}

static void read_line(char *line, struct lease_info *info)
{
    char *value = strstr(line, ": ");
    if (value == NULL)
        return;
    *value = '\0';
    value += 2;
    if (strcmp(line, "counter") == 0)
        info->counter = strtoull(value, NULL, 10);
    else if (strcmp(line, "end") == 0 && value[0] != '-')
        info->end = (int)strtol(value, NULL, 10);
    else if (strcmp(line, "run") == 0)
        snprintf(info->run, sizeof info->run, "%s", value);
    else if (strcmp(line, "job") == 0)
        snprintf(info->job, sizeof info->job, "%s", value);
    else if (strcmp(line, "restart") == 0)
        info->restart = strtol(value, NULL, 10);
    else if (strcmp(line, "process") == 0 && info->processes < LEASE_PROCESSES_MAX)
        info->processes += read_process(value, &info->process[info->processes]);
}

static int read_text(int fd, struct lease_info *info)
{
    struct stat status;
    char *text = NULL;
    if (fstat(fd, &status) != 0 || !S_ISREG(status.st_mode) || status.st_size > TEXT_MAX)
        return 0;
    TRY(MEM_NEW((long)status.st_size + 1, &text));
    const ssize_t got = pread(fd, text, (size_t)status.st_size, 0);
    text[got > 0 ? got : 0] = '\0';
    for (char *line = text, *end = strchr(line, '\n'); end != NULL;
         line = end + 1, end = strchr(line, '\n')) {
        *end = '\0';
        read_line(line, info);
    }
    mem_free(text);
    return 0;
}

int lease_read(const char *file, struct lease_info *out)
{
    char path[LEASE_PATH_SIZE];
    memset(out, 0, sizeof *out);
    out->end = -1;
    snprintf(path, sizeof path, "%s.lease", file);
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return 0;
    out->found = true;
    int rc = MEM_NEW(LEASE_PROCESSES_MAX, &out->process);
    if (rc == 0)
        rc = read_text(fd, out);
    close(fd);
    return rc;
}

void lease_info_clear(struct lease_info *info)
{
    mem_free(info->process);
    memset(info, 0, sizeof *info);
}
