/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "kernels/base/submission.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "kernels/base/mem.h"
#include "kernels/base/replace.h"
#include "kernels/base/status.h"

#define FIRST_LINE "scanfarm submission 1"
#define HEAD_LINE  "scanfarm submission "
#define WORD_SIZE  16
#define LINE_SIZE  128

static const char *const kinds[SUBMISSION_KINDS] = {"run", "retry", "collect", "plot"};

/* The file as it is read. */
struct source {
    const char *path;
    long line;
    int room; /* jobs that fit into the array */
};

const char *submission_kind_name(enum submission_kind kind)
{
    return kinds[kind];
}

/* A regular file, or NULL with errno: a pipe would wait for whoever writes into it. */
static FILE *open_regular(const char *path)
{
    struct stat info;
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return NULL;
    if (fstat(fd, &info) != 0 || !S_ISREG(info.st_mode)) {
        close(fd);
        errno = EINVAL;
        return NULL;
    }
    FILE *const file = fdopen(fd, "r");
    if (file == NULL)
        close(fd);
    return file;
}

bool submission_is_one(const char *path)
{
    char head[sizeof HEAD_LINE] = "";
    FILE *const file = open_regular(path);
    if (file == NULL)
        return false;
    const bool is = fgets(head, sizeof head, file) != NULL && strcmp(head, HEAD_LINE) == 0;
    fclose(file);
    return is;
}

bool submission_is_meant(const char *path)
{
    static const char ending[] = ".submission";
    const size_t length = strlen(path);
    return submission_is_one(path)
           || (length >= sizeof ending
               && strcmp(path + length - (sizeof ending - 1), ending) == 0);
}

/* A whole number from 1 on, and what follows it. */
static bool read_count(const char *text, const char **rest, long *count)
{
    char *end = NULL;
    if (*text < '0' || *text > '9')
        return false;
    errno = 0;
    *count = strtol(text, &end, 10);
    *rest = end;
    return errno == 0 && *count >= 1;
}

/* "run 1234 1-16", "collect 1235 -" */
static bool read_job(const char *text, struct submission_job *job)
{
    char kind[WORD_SIZE];
    const size_t length = strcspn(text, " ");
    *job = (struct submission_job){.kind = SUBMISSION_KINDS};
    if (length >= sizeof kind || text[length] == '\0')
        return false;
    snprintf(kind, sizeof kind, "%.*s", (int)length, text);
    for (int k = 0; k < SUBMISSION_KINDS; k++)
        if (strcmp(kind, kinds[k]) == 0)
            job->kind = (enum submission_kind)k;
    const char *rest = text;
    if (job->kind == SUBMISSION_KINDS || !read_count(text + length + 1, &rest, &job->id))
        return false;
    if (strcmp(rest, " -") == 0)
        return true;
    return *rest == ' ' && read_count(rest + 1, &rest, &job->first) && *rest == '-'
           && read_count(rest + 1, &rest, &job->last) && *rest == '\0'
           && job->first <= job->last;
}

static int add_job(struct source *source, const char *value, struct submission *out)
{
    struct submission_job job;
    if (!read_job(value, &job))
        FAIL(ERR_ARGUMENT, "%s: line %ld: '%.80s' is no job, such as 'run 1234 1-16'",
             source->path, source->line, value);
    if (out->jobs == source->room) {
        struct submission_job *larger = NULL;
        const int room = source->room == 0 ? 16 : 2 * source->room;
        TRY(MEM_NEW(room, &larger));
        if (out->jobs > 0)
            memcpy(larger, out->job, (size_t)out->jobs * sizeof *larger);
        mem_free(out->job);
        out->job = larger;
        source->room = room;
    }
    out->job[out->jobs++] = job;
    return 0;
}

static int read_shards(const struct source *source, const char *value, long *shards)
{
    const char *rest = value;
    if (*shards != 0 || !read_count(value, &rest, shards) || *rest != '\0')
        FAIL(ERR_ARGUMENT, "%s: line %ld: '%.80s': one number of shards from 1 on is wanted",
             source->path, source->line, value);
    return 0;
}

static bool is_hash(const char *value)
{
    const size_t digits = SUBMISSION_HASH_SIZE - 1;
    return strlen(value) == digits && strspn(value, "0123456789abcdef") == digits;
}

/* One "key: value". */
static int read_pair(struct source *source, const char *key, const char *value,
                     struct submission *out)
{
    const struct {
        const char *key;
        char **text;
    } paths[] = {{"scan", &out->scan}, {"result", &out->result}, {"script", &out->script}};
    if (strcmp(key, "job") == 0)
        return add_job(source, value, out);
    if (strcmp(key, "shards") == 0)
        return read_shards(source, value, &out->shards);
    if (strcmp(key, "submitted") == 0) {
        snprintf(out->submitted, sizeof out->submitted, "%s", value);
        return 0;
    }
    if (strcmp(key, "configuration") == 0 && is_hash(value) && out->configuration[0] == '\0') {
        memcpy(out->configuration, value, sizeof out->configuration);
        return 0;
    }
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++)
        if (strcmp(key, paths[i].key) == 0 && *paths[i].text == NULL && value[0] == '/')
            return mem_copy_text(value, paths[i].text);
    FAIL(ERR_ARGUMENT,
         "%s: line %ld: '%.40s: %.80s' is not understood; known, once each: scan, result and "
         "script with absolute paths, shards, submitted, configuration; and job",
         source->path, source->line, key, value);
}

static int read_line(struct source *source, char *line, struct submission *out)
{
    const size_t length = strlen(line);
    source->line++;
    if (length == 0 || line[length - 1] != '\n')
        FAIL(ERR_ARGUMENT, "%s: line %ld is cut short: '%.80s'", source->path, source->line,
             line);
    line[length - 1] = '\0';
    if (source->line == 1) {
        if (strcmp(line, FIRST_LINE) != 0)
            FAIL(ERR_ARGUMENT, "%s: line 1 is '%.80s'; a file that begins with '%s' is wanted",
                 source->path, line, FIRST_LINE);
        return 0;
    }
    char *const colon = strstr(line, ": ");
    if (colon == NULL)
        FAIL(ERR_ARGUMENT, "%s: line %ld: '%.80s' is no 'key: value'", source->path,
             source->line, line);
    *colon = '\0';
    return read_pair(source, line, colon + 2, out);
}

/* All that must be there, and that jobs are of shards that exist. */
static int check_whole(const char *path, const struct submission *s)
{
    const char *const missing = s->scan == NULL     ? "scan"
                                : s->result == NULL ? "result"
                                : s->script == NULL ? "script"
                                : s->shards == 0    ? "shards"
                                                    : NULL;
    if (missing != NULL)
        FAIL(ERR_ARGUMENT, "%s: no line '%s: …'", path, missing);
    for (int j = 0; j < s->jobs; j++)
        if (s->job[j].last > s->shards)
            FAIL(ERR_ARGUMENT, "%s: job %ld is of shards to %ld, and there are %ld", path,
                 s->job[j].id, s->job[j].last, s->shards);
    return 0;
}

int submission_read(const char *path, struct submission *out)
{
    struct source source = {.path = path};
    char *line = NULL;
    size_t size = 0;
    int rc = 0;
    memset(out, 0, sizeof *out);
    FILE *const file = open_regular(path);
    if (file == NULL && errno == EINVAL)
        FAIL(ERR_ARGUMENT, "%s is no regular file; NAME.submission is wanted", path);
    if (file == NULL)
        FAIL(errno == ENOENT ? ERR_ARGUMENT : ERR_IO, "cannot read %s: %s", path,
             strerrordesc_np(errno));
    errno = 0;
    while (rc == 0 && getline(&line, &size, file) > 0)
        rc = read_line(&source, line, out);
    if (rc == 0 && ferror(file))
        rc = status_fail(ERR_IO, "cannot read %s: %s", path, strerrordesc_np(errno));
    free(line);
    fclose(file);
    return rc != 0 ? rc : check_whole(path, out);
}

static void print_job(char line[LINE_SIZE], const struct submission_job *job)
{
    if (job->first > 0)
        snprintf(line, LINE_SIZE, "job: %s %ld %ld-%ld\n", kinds[job->kind], job->id,
                 job->first, job->last);
    else
        snprintf(line, LINE_SIZE, "job: %s %ld -\n", kinds[job->kind], job->id);
}

static void write_text(FILE *file, const struct submission *s)
{
    char line[LINE_SIZE];
    fprintf(file, "%s\nscan: %s\nresult: %s\nshards: %ld\nscript: %s\nsubmitted: %s\n",
            FIRST_LINE, s->scan, s->result, s->shards, s->script, s->submitted);
    if (s->configuration[0] != '\0')
        fprintf(file, "configuration: %s\n", s->configuration);
    for (int j = 0; j < s->jobs; j++) {
        print_job(line, &s->job[j]);
        fputs(line, file);
    }
}

int submission_write(const char *path, const struct submission *submission)
{
    struct replacement file;
    const char *const paths[] = {submission->scan, submission->result, submission->script};
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++)
        if (strchr(paths[i], '\n') != NULL)
            FAIL(ERR_ARGUMENT, "a path with a newline in it: '%.80s'", paths[i]);
    TRY(replace_begin(path, &file));
    write_text(file.file, submission);
    return replace_end(&file, 0, true);
}

int submission_append(const char *path, const struct submission_job *job)
{
    char line[LINE_SIZE];
    print_job(line, job);
    const size_t length = strlen(line);
    const int fd = open(path, O_WRONLY | O_APPEND | O_CLOEXEC);
    int bad = fd < 0 ? errno : 0;
    if (fd >= 0) {
        const ssize_t written = write(fd, line, length);
        if (written != (ssize_t)length)
            bad = written < 0 ? errno : ENOSPC;
        if (bad == 0 && fdatasync(fd) != 0)
            bad = errno;
        close(fd);
    }
    if (bad != 0)
        FAIL(ERR_IO, "cannot note %s job %ld in %s: %s", kinds[job->kind], job->id, path,
             strerrordesc_np(bad));
    return 0;
}

void submission_log(const struct submission *submission, const struct submission_job *job,
                    long shard, char *path, size_t size)
{
    static const char ending[] = ".sbatch";
    static const char *const parts[SUBMISSION_KINDS] = {"", "", ".collect", ".plot"};
    const char *const script = submission->script;
    size_t stem = strlen(script);
    char task[32] = "";
    if (stem > sizeof ending && strcmp(script + stem - (sizeof ending - 1), ending) == 0)
        stem -= sizeof ending - 1;
    if (submission->shards > 1 && job->first > 0)
        snprintf(task, sizeof task, "_%ld", shard - job->first + 1);
    const int length = snprintf(path, size, "%.*s%s.%ld%s.out", (int)stem, script,
                                parts[job->kind], job->id, task);
    if (length < 0 || (size_t)length >= size)
        path[0] = '\0';
}

void submission_clear(struct submission *submission)
{
    mem_free(submission->scan);
    mem_free(submission->result);
    mem_free(submission->script);
    mem_free(submission->job);
    memset(submission, 0, sizeof *submission);
}
