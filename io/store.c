/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "io/store.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <hdf5.h>

#include "io/store_private.h"
#include "io/verdict_private.h"
#include "kernels/base/mem.h"
#include "kernels/base/status.h"

bool store_exists(const char *path)
{
    struct stat info;
    return lstat(path, &info) == 0;
}

static const char *const column_paths[] = {
#define STORE_COLUMN_PATH(name, path) path,
    STORE_COLUMN_LIST(STORE_COLUMN_PATH)
#undef STORE_COLUMN_PATH
};

static int part_kind(const char *name)
{
    for (int k = PART_PROGRESS; k <= PART_CHECKSUM; k++)
        if (strcmp(schema_part_name((enum plane_part)k), name) == 0)
            return k;
    return PART_NONE;
}

static int part_compare(const void *a, const void *b)
{
    const struct store_part *const x = a;
    const struct store_part *const y = b;
    return x->part != y->part ? (int)x->part - (int)y->part : x->index - y->index;
}

/* Name of the i-th dataset under /plane. */
static int plane_name(const struct store *store, int i, char *name, size_t size)
{
    TRY_H5(H5Lget_name_by_idx(store->file, "plane", H5_INDEX_NAME, H5_ITER_INC, (hsize_t)i,
                              name, size, H5P_DEFAULT),
           store->path, "plane");
    return 0;
}

/* member/n_<dim> of the inner dimensions; with one grid every length is whole. */
static int part_open_valid(struct store *store, struct store_part *part)
{
    if (store->grids == 1 || part->part != PART_ARRAY)
        return 0;
    for (int d = 2; d < part->data.dims; d++) {
        char label[SCHEMA_NAME_MAX] = "";
        TRY_H5(h5_get_label(part->data.id, d, label, sizeof label), store->path,
               part->data.name);
        char *const suffix = strstr(label, "_index");
        if (suffix != NULL)
            *suffix = '\0';
        char name[H5_PATH_MAX];
        snprintf(name, sizeof name, "member/n_%s", label);
        TRY(store_open_dataset(store, name, &part->valid[d - 2]));
    }
    return 0;
}

static int part_open(struct store *store, const char *name, struct store_part *part)
{
    char path[H5_PATH_MAX];
    snprintf(path, sizeof path, "plane/%s", name);
    snprintf(part->name, sizeof part->name, "%s", name);
    TRY(store_open_dataset(store, path, &part->data));
    char kind[32];
    TRY(h5_get_text(part->data.id, store->path, "kind", kind, sizeof kind));
    part->part = (enum plane_part)part_kind(kind);
    int64_t index = 0;
    bool found = false;
    TRY(h5_get_integer(part->data.id, store->path, "index", &index, &found));
    part->index = (int)index;
    if (part->part == PART_NONE || !found || part->data.dims < 2)
        FAIL(ERR_IO, "%s: %s is not a dataset of format 1", store->path, path);
    return part_open_valid(store, part);
}

static int parts_open(struct store *store)
{
    H5G_info_t info;
    TRY_H5(H5Gget_info_by_name(store->file, "plane", &info, H5P_DEFAULT), store->path, "plane");
    TRY(MEM_NEW((long)info.nlinks, &store->part));
    for (int i = 0; i < (int)info.nlinks; i++) {
        char name[SCHEMA_NAME_MAX] = "";
        TRY(plane_name(store, i, name, sizeof name));
        store->parts = i + 1;
        TRY(part_open(store, name, &store->part[i]));
    }
    qsort(store->part, (size_t)store->parts, sizeof *store->part, part_compare);
    return 0;
}

static int history_open(struct store *store)
{
    if (H5Lexists(store->file, "step", H5P_DEFAULT) <= 0)
        return 0;
    const struct store_part *const progress = store_find_part(store, PART_PROGRESS, 0);
    if (progress == NULL)
        FAIL(ERR_IO, "%s: plane has no progress", store->path);
    struct store_history *const history = &store->history;
    const struct {
        const char *name;
        struct h5_dataset *dataset;
    } columns[] = {{progress->name, &history->progress}, {"h", &history->h},
                   {"order", &history->order},           {"error", &history->error},
                   {"accepted", &history->accepted},     {"n_steps", &history->n_steps}};
    store->history_open = true;
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++) {
        char path[H5_PATH_MAX];
        snprintf(path, sizeof path, "step/%s", columns[i].name);
        TRY(store_open_dataset(store, path, columns[i].dataset));
    }
    history->capacity = (long)history->h.length[1];
    return 0;
}

static int integer_attribute(struct store *store, const char *name, int64_t *value)
{
    bool found = false;
    TRY(h5_get_integer(store->file, store->path, name, value, &found));
    if (!found)
        FAIL(ERR_IO, "%s: no attribute %s", store->path, name);
    return 0;
}

int store_read_numbers(struct store *store)
{
    int64_t planes = 0;
    TRY(integer_attribute(store, "members", &store->members));
    TRY(integer_attribute(store, "points", &store->points));
    TRY(integer_attribute(store, "realisations", &store->realisations));
    TRY(integer_attribute(store, "grids", &store->grids));
    TRY(integer_attribute(store, "planes", &planes));
    store->planes = (long)planes;
    TRY(store_read_window(store));
    char sync[16];
    TRY(h5_get_text(store->file, store->path, "sync", sync, sizeof sync));
    store->sync = strcmp(sync, "never") != 0;
    return 0;
}

int store_make_scratch(struct store *store)
{
    long bytes = 16;
    for (int i = 0; i < store->parts; i++) {
        const struct h5_dataset *const data = &store->part[i].data;
        long plane = (long)data->size;
        for (int d = 2; d < data->dims; d++)
            plane *= (long)data->length[d];
        bytes = plane > bytes ? plane : bytes;
    }
    TRY(mem_alloc(bytes, 1, &store->dense));
    TRY(mem_alloc(bytes, 1, &store->padded));
    return hash_stream_create(&store->hash);
}

/* Room for what a writer holds back; it writes one element a member of these sizes. */
static int held_create(struct store *store)
{
    static const size_t sizes[COLUMN_COUNT] = {
        [COLUMN_N_SAVED] = 8,    [COLUMN_STATE] = 1,    [COLUMN_ATTEMPTS] = 4,
        [COLUMN_WALL] = 8,       [COLUMN_CPU] = 8,      [COLUMN_RANK] = 4,
        [COLUMN_STEPS] = 8,      [COLUMN_REJECTED] = 8, [COLUMN_RHS_CALLS] = 8,
        [COLUMN_TRANSFORMS] = 8, [COLUMN_TRUNCATED] = 1};
    for (int c = 0; c < COLUMN_COUNT; c++) {
        const struct h5_dataset *const column = &store->column[c];
        if (column->dims != 1 || (sizes[c] != 0 && column->size != sizes[c])
            || (sizes[c] == 0) != (column->kind == H5_TEXT))
            return store_fail_damaged(store->path, column->name);
        TRY(mem_alloc(STORE_HELD_MAX, column->size, (void **)&store->held.value[c]));
    }
    return 0;
}

/* Places of checkpoints; a file without them is as good. */
static int resume_open(struct store *store)
{
    if (H5Lexists(store->file, "resume", H5P_DEFAULT) <= 0)
        return 0;
    struct h5_dataset *const slot = &store->resume;
    TRY(h5_dataset_open(store->file, store->path, "resume/slot", slot));
    if (slot->kind != H5_U8 || slot->dims != 3 || slot->length[1] != 2)
        FAIL(ERR_IO, "resume/slot has not two halves of bytes a slot");
    return 0;
}

static int datasets_open(struct store *store)
{
    TRY(store_read_numbers(store));
    TRY(parts_open(store));
    for (int c = 0; c < COLUMN_COUNT; c++)
        TRY(store_open_dataset(store, column_paths[c], &store->column[c]));
    TRY(history_open(store));
    TRY(resume_open(store));
    TRY(verdict_open(store));
    return store_check(store);
}

/* The file opened, and is one of ours: what is missing now is damage. */
static int datasets_open_or_damaged(struct store *store)
{
    char text[600];
    const struct status_saved saved = status_capture_save();
    status_capture(text, sizeof text);
    const int rc = datasets_open(store);
    status_capture_restore(saved);
    if (rc == ERR_IO)
        return store_fail_damaged(store->path, text);
    if (rc != 0)
        FAIL(rc, "%s", text);
    return 0;
}

static int store_setup(struct store *store, enum h5_access access)
{
    TRY(h5_file_open(store->path, access, &store->file));
    TRY(datasets_open_or_damaged(store));
    TRY(store_make_scratch(store));
    store->writes = access != H5_READ;
    if (store->writes) {
        TRY(store_refuse_compressed(store));
        TRY(held_create(store));
    }
    store->fd = open(store->path, (store->writes ? O_RDWR : O_RDONLY) | O_CLOEXEC);
    if (store->fd < 0)
        FAIL(ERR_IO, "cannot open %s for %s: %s", store->path,
             store->writes ? "writing" : "reading", strerror(errno));
    return 0;
}

static int store_open_as(const char *path, enum h5_access access, struct store **out)
{
    *out = NULL;
    TRY(store_check_format(path));
    struct store *store = NULL;
    TRY(MEM_NEW(1, &store));
    store->fd = -1;
    int rc = mem_copy_text(path, &store->path);
    if (rc == 0)
        rc = store_setup(store, access);
    if (rc != 0) {
        store_close(store);
        return rc;
    }
    *out = store;
    return 0;
}

int store_open(const char *path, struct store **out)
{
    return store_open_as(path, H5_WORKER, out);
}

int store_open_read(const char *path, struct store **out)
{
    return store_open_as(path, H5_READ, out);
}

static void history_close(struct store_history *history)
{
    h5_dataset_close(&history->progress);
    h5_dataset_close(&history->h);
    h5_dataset_close(&history->order);
    h5_dataset_close(&history->error);
    h5_dataset_close(&history->accepted);
    h5_dataset_close(&history->n_steps);
}

int store_close(struct store *store)
{
    if (store == NULL)
        return 0;
    int rc = store_commit_planes(store);
    if (rc == 0 && store->held.count > 0)
        rc = store_end_chunk(store);
    for (int i = 0; i < store->parts; i++) {
        h5_dataset_close(&store->part[i].data);
        for (int d = 0; d < LAYOUT_DIMS_MAX; d++)
            h5_dataset_close(&store->part[i].valid[d]);
    }
    for (int c = 0; c < COLUMN_COUNT; c++)
        h5_dataset_close(&store->column[c]);
    history_close(&store->history);
    h5_dataset_close(&store->resume);
    verdict_close(store);
    if (store->file > 0) {
        const int closed = h5_file_close(store->file, store->path);
        rc = rc == 0 ? closed : rc;
    }
    if (store->fd >= 0)
        close(store->fd);
    hash_stream_destroy(store->hash);
    for (int c = 0; c < COLUMN_COUNT; c++)
        mem_free(store->held.value[c]);
    mem_free(store->ready.value);
    mem_free(store->dense);
    mem_free(store->padded);
    mem_free(store->part);
    mem_free(store->path);
    mem_free(store);
    return rc;
}

int store_read_states(struct store *store, int64_t first, int64_t count, uint8_t *state,
                      int64_t *n_saved)
{
    TRY(store_check_members(store, first, count));
    if (state != NULL) {
        TRY(store_get(store, &store->column[COLUMN_STATE], &first, &count, state));
        TRY(store_check_states(store, first, count, state));
    }
    if (n_saved == NULL)
        return 0;
    TRY(store_get(store, &store->column[COLUMN_N_SAVED], &first, &count, n_saved));
    return store_check_saved(store, first, count, n_saved);
}

struct store_part *store_find_part(struct store *store, enum plane_part part, int index)
{
    for (int i = 0; i < store->parts; i++)
        if (store->part[i].part == part && store->part[i].index == index)
            return &store->part[i];
    return NULL;
}

struct store_part *store_find_name(struct store *store, const char *name)
{
    for (int i = 0; i < store->parts; i++)
        if (strcmp(store->part[i].name, name) == 0)
            return &store->part[i];
    return NULL;
}
