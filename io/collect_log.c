/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "io/collect_log.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/collect_index.h"
#include "io/hash.h"
#include "kernels/base/mem.h"
#include "kernels/base/status.h"

#define LINE_SIZE (2 * COLLECT_PATH_SIZE + 256)

struct collect_log {
    char *path;
    FILE *out; /* appends */
    FILE *in;
    int64_t end;  /* bytes of the log, those not yet given to the system included */
    int64_t open; /* where the record begins that is being written */
    int64_t at;   /* where the next line is read from */
    bool heard;   /* reading a record of this run */
    struct collect_file current; /* of the line read last */
    struct collect_index index;
    char line[LINE_SIZE];
};

const char *collect_kind_name(enum collect_kind kind)
{
    static const char *const names[] = {"unreadable", "foreign", "damaged", "conflict"};
    return names[kind];
}

int collect_log_path(const char *result, char *out, size_t size)
{
    if ((size_t)snprintf(out, size, "%s.collecting", result) >= size)
        FAIL(ERR_IO, "path of %zu bytes is too long: %.60s...", strlen(result), result);
    return 0;
}

uint64_t collect_log_key(const struct stat *info)
{
    const int64_t facts[] = {(int64_t)info->st_size, (int64_t)info->st_mtim.tv_sec,
                             (int64_t)info->st_mtim.tv_nsec, (int64_t)info->st_ino};
    return hash_64(facts, sizeof facts);
}

static uint64_t path_hash(const char *path)
{
    return hash_64(path, strlen(path));
}

/* Writing */

static int fail_write(const struct collect_log *log)
{
    FAIL(ERR_IO, "cannot write %s: %s", log->path, strerror(errno));
}

static int put_line(struct collect_log *log, const char *text)
{
    log->end += (int64_t)strlen(text);
    return fputs(text, log->out) < 0 ? fail_write(log) : 0;
}

/* A line whose last part is any text, cut where it is too long. */
static int put_text_line(struct collect_log *log, const char *head, const char *text)
{
    char line[LINE_SIZE];
    size_t used = (size_t)snprintf(line, sizeof line, "%s", head);
    for (; *text != '\0' && used + 4 < sizeof line; text++) {
        if (*text == '\\' || *text == '\n')
            line[used++] = '\\';
        line[used++] = *text == '\n' ? 'n' : *text;
    }
    line[used++] = '\n';
    line[used] = '\0';
    return put_line(log, line);
}

int collect_log_begin(struct collect_log *log, const struct collect_file *file)
{
    char head[160];
    snprintf(head, sizeof head, "file %016" PRIx64 " %ld %ld %" PRId64 " %" PRId64 " ",
             file->key, file->window.shard, file->window.shards, file->window.first,
             file->window.count);
    log->open = log->end;
    return put_text_line(log, head, file->path);
}

int collect_log_took(struct collect_log *log, int64_t first, int64_t last)
{
    char line[80];
    snprintf(line, sizeof line, "took %" PRId64 " %" PRId64 "\n", first, last);
    return put_line(log, line);
}

int collect_log_note(struct collect_log *log, const struct collect_note *note)
{
    char head[120];
    snprintf(head, sizeof head, "note %d %" PRId64 " %" PRId64 " ", (int)note->kind,
             note->first, note->last);
    return put_text_line(log, head, note->text);
}

int collect_log_end(struct collect_log *log, const struct collect_file *file)
{
    char line[160];
    const struct collect_entry entry = {path_hash(file->path), log->open, true, false};
    snprintf(line, sizeof line, "end %d %" PRId64 " %" PRId64 " %" PRId64 " %" PRId64 "\n",
             file->again ? 1 : 0, file->taken, file->equal, file->damaged, file->conflicts);
    TRY(put_line(log, line));
    return collect_index_put(&log->index, &entry);
}

int collect_log_flush(struct collect_log *log)
{
    return fflush(log->out) != 0 ? fail_write(log) : 0;
}

int collect_log_commit(struct collect_log *log)
{
    TRY(put_line(log, "commit\n"));
    return collect_log_flush(log);
}

/* Reading */

/* The next whole line; false at the end. */
static bool get_line(struct collect_log *log)
{
    if (fgets(log->line, sizeof log->line, log->in) == NULL)
        return false;
    const size_t length = strlen(log->line);
    log->at += (int64_t)length;
    if (length == 0 || log->line[length - 1] != '\n')
        return false;
    log->line[length - 1] = '\0';
    return true;
}

static int seek(struct collect_log *log, int64_t offset)
{
    TRY(collect_log_flush(log));
    log->at = offset;
    if (fseeko(log->in, (off_t)offset, SEEK_SET) != 0)
        FAIL(ERR_IO, "cannot read %s: %s", log->path, strerror(errno));
    return 0;
}

static void take_text(const char *from, char *to, size_t size)
{
    size_t used = 0;
    for (; *from != '\0' && used + 1 < size; from++) {
        char c = *from;
        if (c == '\\' && from[1] != '\0')
            c = *++from == 'n' ? '\n' : *from;
        to[used++] = c;
    }
    to[used] = '\0';
}

/* So many integers, each behind a blank; NULL where they are not. */
static const char *take_integers(const char *text, int count, int64_t *values)
{
    for (int i = 0; i < count; i++) {
        char *end = NULL;
        if (*text != ' ')
            return NULL;
        values[i] = strtoll(text + 1, &end, 10);
        if (end == text + 1)
            return NULL;
        text = end;
    }
    return text;
}

static bool take_file(const char *line, struct collect_file *out)
{
    int64_t value[4];
    char *end = NULL;
    if (strncmp(line, "file ", 5) != 0)
        return false;
    *out = (struct collect_file){.key = strtoull(line + 5, &end, 16)};
    const char *const rest = take_integers(end, 4, value);
    if (rest == NULL || *rest != ' ')
        return false;
    out->window = (struct store_window){.first = value[2],
                                        .count = value[3],
                                        .shard = (long)value[0],
                                        .shards = (long)value[1]};
    take_text(rest + 1, out->path, sizeof out->path);
    return true;
}

static bool take_end(const char *line, struct collect_file *out)
{
    int64_t value[5];
    if (strncmp(line, "end", 3) != 0 || take_integers(line + 3, 5, value) == NULL)
        return false;
    out->again = value[0] != 0;
    out->taken = value[1];
    out->equal = value[2];
    out->damaged = value[3];
    out->conflicts = value[4];
    return true;
}

static bool take_note(const char *line, struct collect_note *out)
{
    int64_t value[3];
    const char *const rest =
        strncmp(line, "note", 4) == 0 ? take_integers(line + 4, 3, value) : NULL;
    if (rest == NULL || *rest != ' ' || value[0] < 0 || value[0] >= COLLECT_KINDS)
        return false;
    out->kind = (enum collect_kind)value[0];
    out->first = value[1];
    out->last = value[2];
    take_text(rest + 1, out->text, sizeof out->text);
    return true;
}

static bool take_took(const char *line, struct collect_range *out)
{
    int64_t value[2];
    if (strncmp(line, "took", 4) != 0 || take_integers(line + 4, 2, value) == NULL)
        return false;
    *out = (struct collect_range){value[0], value[1]};
    return true;
}

/* Opening */

static void head_line(uint64_t token, char line[64])
{
    snprintf(line, 64, "scanfarm collecting 1 %016" PRIx64 "\n", token);
}

/* Where each file's newest record stands. One without an end says at least what was taken. */
static int load(struct collect_log *log)
{
    struct collect_entry entry = {.tentative = true};
    for (int64_t at = log->at; get_line(log); at = log->at) {
        if (take_file(log->line, &log->current)) {
            entry.offset = at;
            entry.hash = path_hash(log->current.path);
            TRY(collect_index_put(&log->index, &entry));
        } else if (strcmp(log->line, "commit") == 0) {
            collect_index_commit(&log->index);
        }
    }
    return 0;
}

/* Whether it is the log of this result file. */
static bool is_ours(struct collect_log *log, uint64_t token)
{
    char head[64];
    head_line(token, head);
    head[strlen(head) - 1] = '\0';
    return get_line(log) && strcmp(log->line, head) == 0;
}

static int open_streams(struct collect_log *log)
{
    log->out = fopen(log->path, "ae");
    log->in = log->out != NULL ? fopen(log->path, "re") : NULL;
    if (log->in == NULL)
        FAIL(ERR_IO, "cannot open %s: %s", log->path, strerror(errno));
    return 0;
}

/* A torn line at the end gets its line end, and hides nothing. */
static int settle_end(struct collect_log *log)
{
    struct stat info;
    char last = '\n';
    const int fd = fileno(log->out);
    if (fstat(fd, &info) != 0)
        FAIL(ERR_IO, "cannot read %s: %s", log->path, strerror(errno));
    log->end = (int64_t)info.st_size;
    if (log->end > 0 && pread(fileno(log->in), &last, 1, info.st_size - 1) != 1)
        FAIL(ERR_IO, "cannot read %s: %s", log->path, strerror(errno));
    return last == '\n' ? 0 : put_line(log, "\n");
}

static int begin_anew(struct collect_log *log, uint64_t token)
{
    char head[64];
    head_line(token, head);
    if (ftruncate(fileno(log->out), 0) != 0)
        return fail_write(log);
    log->end = 0;
    return put_line(log, head);
}

static int open_log(struct collect_log *log, uint64_t token)
{
    TRY(open_streams(log));
    if (!is_ours(log, token))
        return begin_anew(log, token);
    TRY(load(log));
    return settle_end(log);
}

int collect_log_open(const char *result, uint64_t token, struct collect_log **out)
{
    struct collect_log *log = NULL;
    char path[COLLECT_PATH_SIZE];
    int rc = 0;
    *out = NULL;
    TRY(collect_log_path(result, path, sizeof path));
    TRY(MEM_NEW(1, &log));
    TRY_OR(rc, failed, mem_copy_text(path, &log->path));
    TRY_OR(rc, failed, open_log(log, token));
    *out = log;
    return 0;
failed:
    collect_log_close(log);
    return rc;
}

int collect_log_close(struct collect_log *log)
{
    int rc = 0;
    if (log == NULL)
        return 0;
    if (log->out != NULL && fclose(log->out) != 0)
        rc = fail_write(log);
    if (log->in != NULL)
        fclose(log->in);
    collect_index_clear(&log->index);
    mem_free(log->path);
    mem_free(log);
    return rc;
}

/* Asking */

/* Read the record of a path; the next line read is the one behind its first. */
static int find_record(struct collect_log *log, const char *path, bool *found,
                       struct collect_file *known, struct collect_entry *entry)
{
    *found = collect_index_find(&log->index, path_hash(path), entry);
    if (!*found)
        return 0;
    TRY(seek(log, entry->offset));
    *found = get_line(log) && take_file(log->line, known) && strcmp(known->path, path) == 0;
    return 0;
}

int collect_log_find(struct collect_log *log, const char *path, bool *found,
                     struct collect_file *known, bool *settled)
{
    struct collect_entry entry;
    TRY(find_record(log, path, found, known, &entry));
    if (!*found)
        return 0;
    *settled = !entry.tentative;
    while (get_line(log) && strncmp(log->line, "file ", 5) != 0)
        if (take_end(log->line, known))
            return 0;
    *found = false;
    return 0;
}

int collect_log_claims(struct collect_log *log, const char *path, struct collect_range **out,
                       long *count)
{
    struct collect_file known;
    struct collect_entry entry;
    struct collect_range range;
    long capacity = 0;
    bool found = false;
    *out = NULL;
    *count = 0;
    TRY(find_record(log, path, &found, &known, &entry));
    while (found && get_line(log) && !take_end(log->line, &known)
           && strncmp(log->line, "file ", 5) != 0) {
        if (!take_took(log->line, &range))
            continue;
        if (*count == capacity) {
            struct collect_range *larger = NULL;
            capacity = capacity == 0 ? 16 : 2 * capacity;
            TRY(MEM_NEW(capacity, &larger));
            if (*count > 0)
                memcpy(larger, *out, (size_t)*count * sizeof *larger);
            mem_free(*out);
            *out = larger;
        }
        (*out)[(*count)++] = range;
    }
    return 0;
}

bool collect_log_is_marked(const struct collect_log *log, const char *path)
{
    struct collect_entry entry;
    return collect_index_find(&log->index, path_hash(path), &entry) && entry.seen;
}

int collect_log_mark(struct collect_log *log, const char *path)
{
    struct collect_entry entry;
    if (!collect_index_find(&log->index, path_hash(path), &entry))
        return 0;
    entry.seen = true;
    return collect_index_put(&log->index, &entry);
}

/* Whether the record that begins with the line just read, at `at`, is the newest of its file.
 */
static bool is_newest(struct collect_log *log, int64_t at, struct collect_entry *entry)
{
    return take_file(log->line, &log->current)
           && collect_index_find(&log->index, path_hash(log->current.path), entry)
           && entry->offset == at;
}

int collect_log_owner(struct collect_log *log, int64_t member, char *path, size_t size,
                      struct collect_range *range)
{
    struct collect_entry entry;
    bool newest = false;
    path[0] = '\0';
    *range = (struct collect_range){member, member};
    TRY(seek(log, 0));
    for (int64_t at = 0; get_line(log); at = log->at) {
        struct collect_range took;
        if (strncmp(log->line, "file ", 5) == 0) {
            newest = is_newest(log, at, &entry);
        } else if (newest && take_took(log->line, &took) && took.first <= member
                   && member <= took.last) {
            snprintf(path, size, "%s", log->current.path);
            *range = took;
            return 0;
        }
    }
    return 0;
}

int collect_log_rewind(struct collect_log *log)
{
    log->heard = false;
    return seek(log, 0);
}

bool collect_log_next(struct collect_log *log, enum collect_line *line,
                      struct collect_file *file, struct collect_note *note)
{
    struct collect_entry entry;
    for (int64_t at = log->at; get_line(log); at = log->at) {
        if (strncmp(log->line, "file ", 5) == 0) {
            log->heard = is_newest(log, at, &entry) && entry.seen;
            *line = COLLECT_LINE_FILE;
            *file = log->current;
            if (log->heard)
                return true;
        } else if (log->heard && take_note(log->line, note)) {
            *line = COLLECT_LINE_NOTE;
            return true;
        } else if (log->heard && take_end(log->line, file)) {
            *line = COLLECT_LINE_END;
            log->heard = false;
            return true;
        }
    }
    return false;
}
