/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "runner/job_log.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define TAIL_SIZE 8192 /* bytes of its end in which the last line is looked for */

static void take_last_line(const char *text, size_t end, char line[JOB_LOG_LINE_SIZE])
{
    while (end > 0 && strchr(" \t\r\n", text[end - 1]) != NULL)
        end--;
    size_t begin = end;
    while (begin > 0 && text[begin - 1] != '\n')
        begin--;
    snprintf(line, JOB_LOG_LINE_SIZE, "%.*s", (int)(end - begin), text + begin);
}

/* The end of a file; a pipe would wait for whoever writes into it. */
static int read_tail(const char *path, char *text, size_t size, size_t *got)
{
    struct stat info = {0};
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    int bad = fd < 0 || fstat(fd, &info) != 0 ? errno : 0;
    if (bad == 0 && !S_ISREG(info.st_mode))
        bad = EINVAL;
    *got = 0;
    if (bad == 0) {
        const off_t from = info.st_size > (off_t)size ? info.st_size - (off_t)size : 0;
        const ssize_t count = pread(fd, text, size, from);
        bad = count < 0 ? errno : 0;
        *got = count > 0 ? (size_t)count : 0;
    }
    if (fd >= 0)
        close(fd);
    return bad;
}

void job_log_read(const struct submission *submission, const struct submission_job *job,
                  long shard, struct job_log *out)
{
    char text[TAIL_SIZE];
    size_t got = 0;
    *out = (struct job_log){.line = ""};
    submission_log(submission, job, shard, out->path, sizeof out->path);
    if (out->path[0] == '\0')
        return;
    const int bad = read_tail(out->path, text, sizeof text, &got);
    if (bad == ENOENT)
        snprintf(out->why, sizeof out->why, "it wrote no log");
    else if (bad != 0)
        snprintf(out->why, sizeof out->why, "cannot be read: %s", strerrordesc_np(bad));
    else
        take_last_line(text, got, out->line);
}
