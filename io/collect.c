/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Files that are collected: opening, judging and recording them. */
#include "io/collect.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "io/canonical.h"
#include "io/collect_private.h"
#include "io/hash.h"
#include "io/verify_private.h"
#include "kernels/base/clock.h"
#include "kernels/base/mem.h"
#include "kernels/base/status.h"

#define FLUSH_PERIOD 1.0 /* s between two commits */
#define SETTLED_AGE  2.0 /* s: a file changed later may have changed unseen */

int collect_ours(struct collect *c, int rc)
{
    c->fatal = c->fatal || rc != 0;
    return rc;
}

int collect_tell(struct collect *c, enum collect_kind kind, int64_t first, int64_t last,
                 const char *text)
{
    struct collect_note note = {.kind = kind, .first = first, .last = last};
    snprintf(note.text, sizeof note.text, "%s", text);
    return collect_ours(c, collect_log_note(c->log, &note));
}

/* Beginning and end */

static int read_config(const struct source *source, char **text)
{
    const struct h5_dataset *const config = &source->extra[SOURCE_CONFIG];
    if (config->size == 0)
        FAIL(ERR_CONFLICT, "%s is damaged: it has no config_canonical", source->store->path);
    TRY(MEM_NEW((long)config->size + 1, text));
    return store_get_row(source->store, config, 0, *text);
}

static int read_model(const struct store *store, char model[128], int64_t *numerics)
{
    bool found = false;
    TRY(h5_get_text(store->file, store->path, "model", model, 128));
    return h5_get_integer(store->file, store->path, "numerics_version", numerics, &found);
}

/* Tells the result file from another of its name. */
static int make_token(const struct store *store, uint64_t *token)
{
    struct stat info;
    char created[64];
    char text[128];
    TRY(h5_get_text(store->file, store->path, "created", created, sizeof created));
    if (fstat(store->fd, &info) != 0)
        FAIL(ERR_IO, "cannot read %s: %s", store->path, strerror(errno));
    snprintf(text, sizeof text, "%s %" PRId64, created, (int64_t)info.st_ino);
    *token = hash_64(text, strlen(text));
    return 0;
}

static int make_buffers(struct collect *c)
{
    const struct h5_dataset *const point = &c->to.extra[SOURCE_POINT];
    c->axes = point->dims == 2 ? (int)point->length[1] : 0;
    for (int i = 0; i < 2; i++)
        TRY(MEM_NEW(c->to.store->planes, &c->sum[i]));
    if (c->axes == 0)
        return 0;
    TRY(MEM_NEW((long)COLLECT_ROWS * c->axes, &c->here.point));
    return MEM_NEW((long)COLLECT_ROWS * c->axes, &c->there.point);
}

static int open_result(struct collect *c, const char *result)
{
    uint64_t token = 0;
    TRY(source_open_writer(result, &c->to));
    TRY(store_refuse_shard(c->to.store, "a result of the whole scan is wanted"));
    TRY(read_config(&c->to, &c->canonical));
    TRY(read_model(c->to.store, c->model, &c->numerics));
    TRY(make_buffers(c));
    TRY(copy_init(c->to.store, &c->copy));
    TRY(make_token(c->to.store, &token));
    return collect_log_open(result, token, &c->log);
}

int collect_open(const char *result, const struct collect_judge *judge, const atomic_int *stop,
                 struct collect **out)
{
    struct collect *c = NULL;
    *out = NULL;
    TRY(MEM_NEW(1, &c));
    c->stop = stop;
    c->judge = *judge;
    c->flushed = clock_wall();
    const int rc = open_result(c, result);
    if (rc != 0)
        collect_close(c);
    else
        *out = c;
    return rc;
}

int collect_close(struct collect *c)
{
    if (c == NULL)
        return 0;
    copy_clear(&c->copy);
    source_close(&c->from);
    const int closed = c->to.store != NULL ? store_commit_planes(c->to.store) : 0;
    source_close(&c->to);
    const int logged = collect_log_close(c->log);
    for (int i = 0; i < COLLECT_TWINS; i++)
        twin_destroy(c->twin[i]);
    for (int i = 0; i < 2; i++)
        mem_free(c->sum[i]);
    verify_rows_destroy(c->rows);
    mem_free(c->report);
    mem_free(c->here.point);
    mem_free(c->there.point);
    mem_free(c->claim);
    mem_free(c->config);
    mem_free(c->canonical);
    mem_free(c);
    return closed != 0 ? closed : logged;
}

const struct collect_file *collect_last(const struct collect *c)
{
    return &c->file;
}

struct collect_log *collect_get_log(struct collect *c)
{
    return c->log;
}

int collect_flush(struct collect *c)
{
    TRY(collect_settle(c));
    TRY(store_sync(c->to.store));
    c->flushed = clock_wall();
    return collect_log_commit(c->log);
}

/* One file */

static bool same_part(const struct store_part *a, const struct store_part *b)
{
    bool same = strcmp(a->name, b->name) == 0 && a->part == b->part && a->index == b->index
                && a->data.kind == b->data.kind && a->data.dims == b->data.dims;
    for (int d = 2; same && d < a->data.dims; d++)
        same = a->data.length[d] == b->data.length[d];
    return same;
}

/* Equal configurations give equal layouts, unless somebody changed the file. */
static int check_layout(const struct store *from, const struct store *to)
{
    if (store_scan_members(from) != to->members || from->planes != to->planes
        || from->realisations != to->realisations || from->parts != to->parts)
        FAIL(ERR_CONFLICT,
             "%s has another layout: %lld members with %ld planes, %lld with %ld "
             "in %s",
             from->path, (long long)store_scan_members(from), from->planes,
             (long long)to->members, to->planes, to->path);
    for (int i = 0; i < to->parts; i++)
        if (!same_part(&from->part[i], &to->part[i]))
            FAIL(ERR_CONFLICT, "%s has another layout: plane/%s is not the plane/%s of %s",
                 from->path, from->part[i].name, to->part[i].name, to->path);
    return 0;
}

static int check_model(const struct collect *c)
{
    char model[128];
    int64_t numerics = 0;
    TRY(read_model(c->from.store, model, &numerics));
    if (strcmp(model, c->model) != 0)
        FAIL(ERR_CONFLICT, "%s holds another configuration: model is %s there and %s here",
             c->name, model, c->model);
    if (numerics != c->numerics)
        FAIL(ERR_CONFLICT,
             "%s was computed with numerics version %" PRId64 " of model %s; the others have "
             "version %" PRId64,
             c->name, numerics, model, c->numerics);
    return 0;
}

static int check_config(struct collect *c)
{
    char text[COLLECT_TEXT_SIZE - 300];
    int different = 0;
    mem_free(c->config);
    c->config = NULL;
    TRY(read_config(&c->from, &c->config));
    if (c->config != NULL && strcmp(c->config, c->canonical) == 0)
        return 0;
    TRY(canonical_compare(c->config, c->canonical, text, sizeof text, &different));
    if (different > 0)
        FAIL(ERR_CONFLICT, "%s holds another configuration: %s", c->name, text);
    return 0;
}

/* What verify finds. A twin's layout is that of the file it is the twin of. */
static int judge_source(struct collect *c, const struct store_spec *found, bool twin)
{
    struct store_spec spec = *found;
    const struct verify_subject subject = {.store = c->from.store,
                                           .facts = &c->from.facts,
                                           .spec = &spec,
                                           .order = VERIFY_BY_CLAIM,
                                           .identities =
                                               c->numerics == spec.model->numerics_version};
    spec.window = store_window(c->from.store);
    spec.ensemble = spec.ensemble && spec.window.shards < 2;
    if (!twin)
        TRY(verify_layout(c->from.store, &spec, c->report));
    if (c->report->kind[VERIFY_LAYOUT].broken > 0)
        return 0;
    if (!twin)
        TRY(verify_facts_open(c->from.store, &spec, &c->from.facts));
    if (c->rows == NULL)
        TRY(collect_ours(c, verify_rows_create(spec.axes, &c->rows)));
    return verify_rows_check(c->rows, &subject, c->report);
}

/* Nothing is taken of a file that verify calls broken: what its members are is not certain. */
static int check_whole(struct collect *c, bool twin)
{
    static const enum verify_kind kinds[] = {VERIFY_LAYOUT, VERIFY_IDENTITIES, VERIFY_POINTS};
    const struct store_spec *spec = NULL;
    const char *text = NULL;
    int64_t broken = 0;
    TRY(collect_ours(c, c->judge.find(c->judge.context, c->config, &spec)));
    if (spec == NULL)
        return 0;
    if (c->report == NULL)
        TRY(collect_ours(c, MEM_NEW(1, &c->report)));
    *c->report = (struct verify_report){0};
    TRY(judge_source(c, spec, twin));
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        const struct verify_result *const r = &c->report->kind[kinds[i]];
        broken += r->broken;
        if (text == NULL && r->worst > 0)
            text = r->text[0];
    }
    if (broken > 1)
        FAIL(ERR_IO, "%s is broken: %s (and %" PRId64 " more; `scanfarm verify` has them)",
             c->name, text, broken - 1);
    if (broken > 0)
        FAIL(ERR_IO, "%s is broken: %s", c->name, text);
    return 0;
}

/* Open as a twin of one that has been opened, else in full. */
static int open_source(struct collect *c, bool *twin)
{
    *twin = true;
    for (int i = 0; i < COLLECT_TWINS && c->twin[i] != NULL; i++) {
        TRY(collect_ours(c, twin_open(c->twin[i], c->name, &c->from)));
        if (c->from.store != NULL)
            return 0;
    }
    *twin = false;
    return source_open(c->name, &c->from);
}

static int check_source(struct collect *c, bool twin)
{
    TRY(check_model(c));
    TRY(check_config(c));
    TRY(check_layout(c->from.store, c->to.store));
    return check_whole(c, twin);
}

static int learn_twin(struct collect *c)
{
    struct twin *twin = NULL;
    if (c->from.facts.count == 0) /* of those no file is known to be whole */
        return 0;
    TRY(collect_ours(c, twin_learn(&c->from, &twin)));
    if (twin == NULL)
        return 0;
    twin_destroy(c->twin[c->next_twin]);
    c->twin[c->next_twin] = twin;
    c->next_twin = (c->next_twin + 1) % COLLECT_TWINS;
    return 0;
}

/* The record begins when the window is known, or will never be. */
static int begin_record(struct collect *c)
{
    if (c->from.store != NULL)
        c->file.window = store_window(c->from.store);
    c->took = (struct collect_range){0, -1};
    c->conflict.first = 0;
    c->conflict.last = -1;
    return collect_ours(c, collect_log_begin(c->log, &c->file));
}

/* An error of the file becomes a note; others are passed on. */
static int note_error(struct collect *c, int rc, enum collect_kind kind, const char *text)
{
    if (rc == 0)
        return 0;
    if (c->fatal || c->copy.stuck || rc == ERR_MEMORY || rc == ERR_BUG)
        FAIL(rc, "%s", text);
    c->file.again = kind == COLLECT_UNREADABLE;
    return collect_tell(c, kind, -1, -1, text);
}

static int read_all(struct collect *c, char *text, size_t size)
{
    bool twin = false;
    status_capture(text, size);
    int rc = open_source(c, &twin);
    TRY(begin_record(c));
    if (rc != 0)
        return note_error(c, rc, COLLECT_UNREADABLE, text);
    rc = check_source(c, twin);
    if (rc != 0)
        return note_error(c, rc, rc == ERR_IO ? COLLECT_UNREADABLE : COLLECT_FOREIGN, text);
    if (!twin)
        TRY(learn_twin(c));
    rc = collect_members(c);
    if (rc == 0 || c->fatal || c->copy.stuck)
        return rc;
    TRY(collect_tell_conflict(c));
    return note_error(c, rc, COLLECT_UNREADABLE, text);
}

/* Messages of the file are caught; those of the result file are said. */
static int read_file(struct collect *c)
{
    char text[COLLECT_TEXT_SIZE] = "";
    c->fatal = false;
    c->copy.stuck = false;
    const struct status_saved saved = status_capture_save();
    const int rc = read_all(c, text, sizeof text);
    status_capture_restore(saved);
    source_close(&c->from);
    if (rc != 0)
        FAIL(rc, "%s", text);
    return 0;
}

/* Absolute, so that the log does not depend on the current directory. */
static int make_path(const char *name, char *path, size_t size)
{
    char folder[COLLECT_PATH_SIZE] = "";
    while (name[0] == '.' && name[1] == '/')
        name += 2;
    if (name[0] != '/' && getcwd(folder, sizeof folder) == NULL)
        FAIL(ERR_IO, "cannot tell the current directory: %s", strerror(errno));
    if ((size_t)snprintf(path, size, "%s%s%s", folder, folder[0] != '\0' ? "/" : "", name)
        >= size)
        FAIL(ERR_ARGUMENT, "path of %zu bytes is too long: %.60s...", strlen(name), name);
    return 0;
}

static bool is_result(const struct collect *c, const struct stat *info)
{
    struct stat result;
    return fstat(c->to.store->fd, &result) == 0 && result.st_dev == info->st_dev
           && result.st_ino == info->st_ino;
}

static bool is_young(const struct stat *info)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return difftime(now.tv_sec, info->st_mtim.tv_sec) < SETTLED_AGE;
}

/* Whether nothing is to be read: it was finished before and is the same now. */
static int find_unchanged(struct collect *c, bool *unchanged)
{
    struct collect_file known;
    bool found = false;
    bool settled = false;
    TRY(collect_log_find(c->log, c->file.path, &found, &known, &settled));
    *unchanged = found && settled && !known.again && known.key == c->file.key;
    if (*unchanged) {
        c->file = known;
        return collect_log_mark(c->log, c->file.path);
    }
    mem_free(c->claim);
    return collect_log_claims(c->log, c->file.path, &c->claim, &c->claims);
}

static int tell_absent(struct collect *c, const char *why)
{
    char text[COLLECT_TEXT_SIZE];
    snprintf(text, sizeof text, "cannot read %.900s: %s", c->name, why);
    c->file.again = true;
    TRY(begin_record(c));
    TRY(collect_tell(c, COLLECT_UNREADABLE, -1, -1, text));
    return collect_log_end(c->log, &c->file);
}

static int end_file(struct collect *c, enum collect_outcome *outcome)
{
    if (atomic_load(c->stop) != 0) {
        *outcome = COLLECT_STOPPED;
        return collect_settle(c);
    }
    TRY(collect_tell_conflict(c));
    if (c->took.last >= c->took.first)
        TRY(collect_log_took(c->log, c->took.first, c->took.last));
    c->took = (struct collect_range){0, -1};
    TRY(collect_log_end(c->log, &c->file));
    return clock_wall() - c->flushed > FLUSH_PERIOD ? collect_flush(c) : 0;
}

int collect_add(struct collect *c, const char *name, enum collect_outcome *outcome)
{
    struct stat info;
    bool unchanged = false;
    c->name = name;
    c->file = (struct collect_file){.key = 0};
    *outcome = COLLECT_READ;
    TRY(make_path(name, c->file.path, sizeof c->file.path));
    if (collect_log_is_marked(c->log, c->file.path)) {
        *outcome = COLLECT_TWICE;
        return 0;
    }
    if (stat(name, &info) != 0)
        return tell_absent(c, strerror(errno));
    if (!S_ISREG(info.st_mode)) /* a pipe would wait for whoever writes into it */
        return tell_absent(c, "is no regular file");
    if (is_result(c, &info)) {
        *outcome = COLLECT_SELF;
        return 0;
    }
    c->file.key = collect_log_key(&info);
    c->file.again = is_young(&info);
    TRY(find_unchanged(c, &unchanged));
    if (unchanged) {
        *outcome = COLLECT_UNCHANGED;
        return 0;
    }
    TRY(read_file(c));
    return end_file(c, outcome);
}
