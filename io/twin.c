/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "io/twin.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <hdf5.h>

#include "io/read.h"
#include "kernels/base/mem.h"
#include "kernels/base/status.h"

#define HEADER_MAX 8192 /* bytes of the first part of an object's header */
#define SUPER_SIZE 96   /* bytes of the largest superblock of the versions that we write */

/* Bytes of the file that say what a dataset is and where its data lie. */
struct twin_header {
    int64_t offset;
    size_t length;
    uint64_t hash;
};

/* Groups that have the datasets: one that was taken away may have left its bytes behind. */
enum { GROUPS = 6 };
static const char *const groups[GROUPS] = {"/",     "member", "member/param", "member/contract",
                                           "plane", "step"};

struct twin {
    int64_t size; /* bytes of the file */
    int headers;
    struct twin_header header[TWIN_HEADERS_MAX];
    char model[128];
    int64_t numerics;
    struct store_part *part; /* [parts], without handles */
    struct store shape;      /* numbers, columns and history, without handles */
    struct h5_dataset extra[SOURCE_EXTRAS];
    struct verify_facts facts; /* without handles */
    hsize_t links[GROUPS];
};

static const char *const extra_names[SOURCE_EXTRAS] = {"member/identity", "member/point",
                                                       "config_canonical"};

static int open_extras(struct source *source)
{
    for (int i = 0; i < SOURCE_EXTRAS; i++)
        if (read_exists(source->store, extra_names[i]))
            TRY(store_open_dataset(source->store, extra_names[i], &source->extra[i]));
    return 0;
}

int source_open(const char *path, struct source *out)
{
    *out = (struct source){0};
    TRY(store_open_read(path, &out->store));
    const int rc = open_extras(out);
    if (rc != 0)
        source_close(out);
    return rc;
}

int source_open_writer(const char *path, struct source *out)
{
    *out = (struct source){0};
    TRY(store_open(path, &out->store));
    const int rc = open_extras(out);
    if (rc != 0)
        source_close(out);
    return rc;
}

void source_close(struct source *source)
{
    for (int i = 0; i < SOURCE_EXTRAS; i++)
        h5_dataset_close(&source->extra[i]);
    verify_facts_close(&source->facts);
    store_close(source->store);
    source->store = NULL;
}

static void drop_handles(struct h5_dataset *dataset)
{
    dataset->id = dataset->space = dataset->type = dataset->scratch = 0;
    dataset->path = NULL;
}

/* Every dataset that a store keeps open, one after the other; NULL at the end. */
static struct h5_dataset *dataset_at(struct store *store, int index)
{
    struct store_history *const h = &store->history;
    struct h5_dataset *const steps[] = {&h->progress, &h->h,        &h->order,
                                        &h->error,    &h->accepted, &h->n_steps};
    if (index < COLUMN_COUNT)
        return &store->column[index];
    index -= COLUMN_COUNT;
    const int history = store->history_open ? (int)(sizeof steps / sizeof *steps) : 0;
    if (index < history)
        return steps[index];
    index -= history;
    if (index < store->verdicts)
        return &store->verdict[index];
    index -= store->verdicts;
    const int each = 1 + LAYOUT_DIMS_MAX;
    if (index >= each * store->parts)
        return NULL;
    struct store_part *const part = &store->part[index / each];
    return index % each == 0 ? &part->data : &part->valid[index % each - 1];
}

/* Length of the first part of an object header of version 2: "OHDR", version, flags, times when
 * bit 5 is set, phases when bit 4 is, its size in 1, 2, 4 or 8 bytes, the part, a checksum. */
static size_t header_length(const unsigned char *bytes)
{
    static const unsigned char begin[] = {'O', 'H', 'D', 'R', 2};
    if (memcmp(bytes, begin, sizeof begin) != 0)
        return 0;
    const unsigned flags = bytes[5];
    size_t at = 6 + ((flags & 0x20) != 0 ? 16U : 0U) + ((flags & 0x10) != 0 ? 4U : 0U);
    const size_t width = (size_t)1 << (flags & 3);
    uint64_t size = 0;
    for (size_t i = 0; i < width; i++)
        size |= (uint64_t)bytes[at + i] << (8 * i);
    at += width + 4;
    return size > HEADER_MAX - at ? 0 : at + (size_t)size;
}

static bool header_read(int fd, int64_t offset, size_t length, unsigned char *bytes)
{
    return pread(fd, bytes, length, (off_t)offset) == (ssize_t)length;
}

/* Remember the header of an object. false: it is none that we know */
static bool learn_header(struct twin *twin, int fd, int64_t object)
{
    unsigned char bytes[HEADER_MAX];
    H5O_info_t info;
    if (twin->headers == TWIN_HEADERS_MAX || H5Oget_info2(object, &info, H5O_INFO_BASIC) < 0)
        return false;
    const ssize_t got = pread(fd, bytes, sizeof bytes, (off_t)info.addr);
    const size_t length = got > 32 ? header_length(bytes) : 0;
    if (length == 0 || (ssize_t)length > got)
        return false;
    twin->header[twin->headers++] =
        (struct twin_header){(int64_t)info.addr, length, hash_64(bytes, length)};
    return true;
}

/* How many each group has; 0: there is no such group. */
static void count_links(int64_t file, hsize_t links[GROUPS])
{
    for (int i = 0; i < GROUPS; i++) {
        H5G_info_t info;
        const bool there = H5Gget_info_by_name(file, groups[i], &info, H5P_DEFAULT) >= 0;
        links[i] = there ? info.nlinks : 0;
    }
}

static bool learn_super(struct twin *twin, int fd)
{
    unsigned char bytes[SUPER_SIZE];
    if (!header_read(fd, 0, sizeof bytes, bytes))
        return false;
    twin->header[twin->headers++] =
        (struct twin_header){0, sizeof bytes, hash_64(bytes, sizeof bytes)};
    return true;
}

static bool learn_dataset(struct twin *twin, int fd, const struct h5_dataset *dataset)
{
    return dataset->id == 0 || (dataset->offset >= 0 && learn_header(twin, fd, dataset->id));
}

/* Every dataset, whose data must have a place. */
static bool learn_datasets(struct twin *twin, const struct source *source)
{
    struct store *const store = source->store;
    for (int i = 0; dataset_at(store, i) != NULL; i++)
        if (!learn_dataset(twin, store->fd, dataset_at(store, i)))
            return false;
    for (int i = 0; i < SOURCE_EXTRAS; i++)
        if (!learn_dataset(twin, store->fd, &source->extra[i]))
            return false;
    for (int i = 0; i < source->facts.count; i++)
        if (!learn_dataset(twin, store->fd, &source->facts.dataset[i]))
            return false;
    return true;
}

static int copy_facts(const struct verify_facts *from, struct verify_facts *out)
{
    TRY(MEM_NEW(from->count, &out->dataset));
    out->count = from->count;
    for (int i = 0; i < from->count; i++) {
        out->dataset[i] = from->dataset[i];
        drop_handles(&out->dataset[i]);
    }
    return 0;
}

static int learn_shape(struct twin *twin, const struct store *store)
{
    TRY(MEM_NEW(store->parts, &twin->part));
    memcpy(twin->part, store->part, (size_t)store->parts * sizeof *twin->part);
    twin->shape = (struct store){.window = store->window,
                                 .members = store->members,
                                 .points = store->points,
                                 .realisations = store->realisations,
                                 .grids = store->grids,
                                 .planes = store->planes,
                                 .part = twin->part,
                                 .parts = store->parts,
                                 .history = store->history,
                                 .history_open = store->history_open,
                                 .verdicts = store->verdicts};
    memcpy(twin->shape.column, store->column, sizeof store->column);
    memcpy(twin->shape.verdict, store->verdict, sizeof store->verdict);
    TRY(h5_get_text(store->file, store->path, "model", twin->model, sizeof twin->model));
    for (int i = 0; dataset_at(&twin->shape, i) != NULL; i++)
        drop_handles(dataset_at(&twin->shape, i));
    bool found = false;
    return h5_get_integer(store->file, store->path, "numerics_version", &twin->numerics,
                          &found);
}

int twin_learn(const struct source *source, struct twin **out)
{
    const struct store *const store = source->store;
    struct twin *twin = NULL;
    struct stat info;
    *out = NULL;
    TRY(MEM_NEW(1, &twin));
    if (fstat(store->fd, &info) != 0 || !learn_super(twin, store->fd)
        || !learn_header(twin, store->fd, store->file) || !learn_datasets(twin, source)) {
        twin_destroy(twin);
        return 0;
    }
    twin->size = (int64_t)info.st_size;
    count_links(store->file, twin->links);
    memcpy(twin->extra, source->extra, sizeof twin->extra);
    for (int i = 0; i < SOURCE_EXTRAS; i++)
        drop_handles(&twin->extra[i]);
    int rc = copy_facts(&source->facts, &twin->facts);
    if (rc == 0)
        rc = learn_shape(twin, store);
    if (rc != 0)
        twin_destroy(twin);
    else
        *out = twin;
    return rc;
}

void twin_destroy(struct twin *twin)
{
    if (twin == NULL)
        return;
    verify_facts_close(&twin->facts);
    mem_free(twin->part);
    mem_free(twin);
}

static bool headers_agree(const struct twin *twin, int fd)
{
    unsigned char bytes[HEADER_MAX];
    struct stat info;
    if (fstat(fd, &info) != 0 || (int64_t)info.st_size != twin->size)
        return false;
    for (int i = 0; i < twin->headers; i++) {
        const struct twin_header *const h = &twin->header[i];
        if (!header_read(fd, h->offset, h->length, bytes)
            || hash_64(bytes, h->length) != h->hash)
            return false;
    }
    return true;
}

/* The attributes of a file with equal headers: those that may differ, and those that say that
 * the data mean the same. */
static int read_attributes(const struct twin *twin, struct store *store, bool *alike)
{
    char text[128];
    int64_t version = 0;
    int64_t numerics = 0;
    bool found = false;
    TRY(h5_get_text(store->file, store->path, "format", text, sizeof text));
    *alike = strcmp(text, "scanfarm") == 0;
    TRY(h5_get_integer(store->file, store->path, "format_version", &version, &found));
    *alike = *alike && version >= 1 && version <= STORE_FORMAT_VERSION;
    TRY(h5_get_text(store->file, store->path, "model", text, sizeof text));
    TRY(h5_get_integer(store->file, store->path, "numerics_version", &numerics, &found));
    *alike = *alike && strcmp(text, twin->model) == 0 && numerics == twin->numerics;
    TRY(store_read_numbers(store));
    const struct store *const shape = &twin->shape;
    *alike = *alike && store->members == shape->members && store->points == shape->points
             && store->realisations == shape->realisations && store->grids == shape->grids
             && store->planes == shape->planes && store->window.shards == shape->window.shards;
    return 0;
}

/* The shape of the twin, the rows called as this file calls them. */
static int take_shape(const struct twin *twin, struct store *store)
{
    const struct store *const shape = &twin->shape;
    TRY(MEM_NEW(shape->parts, &store->part));
    memcpy(store->part, shape->part, (size_t)shape->parts * sizeof *store->part);
    store->parts = shape->parts;
    memcpy(store->column, shape->column, sizeof store->column);
    store->history = shape->history;
    store->history_open = shape->history_open;
    memcpy(store->verdict, shape->verdict, sizeof store->verdict);
    store->verdicts = shape->verdicts;
    for (int i = 0; dataset_at(store, i) != NULL; i++) {
        struct h5_dataset *const dataset = dataset_at(store, i);
        dataset->path = store->path;
        dataset->origin = store->window.first;
    }
    return store_make_scratch(store);
}

/* *alike = false, or an error, when it is no twin. */
static int open_twin(const struct twin *twin, const char *path, struct store *store,
                     bool *alike)
{
    char reason[400];
    *alike = false;
    store->fd = open(path, O_RDONLY | O_CLOEXEC);
    if (store->fd < 0 || !headers_agree(twin, store->fd))
        return 0;
    TRY(mem_copy_text(path, &store->path));
    store->file = h5_file_try(path, H5_READ, reason, sizeof reason);
    if (store->file < 0)
        return 0;
    hsize_t links[GROUPS];
    count_links(store->file, links);
    if (memcmp(links, twin->links, sizeof links) != 0)
        return 0;
    TRY(read_attributes(twin, store, alike));
    return *alike ? take_shape(twin, store) : 0;
}

/* Rows of /member are called by the members' ids; the text has none. */
static int take_extras(const struct twin *twin, struct source *out)
{
    memcpy(out->extra, twin->extra, sizeof out->extra);
    for (int i = 0; i < SOURCE_EXTRAS; i++) {
        out->extra[i].path = out->store->path;
        out->extra[i].origin = out->extra[i].dims > 0 ? out->store->window.first : 0;
    }
    TRY(copy_facts(&twin->facts, &out->facts));
    for (int i = 0; i < out->facts.count; i++) {
        struct h5_dataset *const fact = &out->facts.dataset[i];
        fact->path = out->store->path;
        fact->origin = store_dataset_origin(out->store, fact->name);
    }
    return 0;
}

int twin_open(const struct twin *twin, const char *path, struct source *out)
{
    struct store *store = NULL;
    char text[400];
    bool alike = false;
    *out = (struct source){0};
    TRY(MEM_NEW(1, &store));
    const struct status_saved saved = status_capture_save();
    status_capture(text, sizeof text);
    const int rc = open_twin(twin, path, store, &alike);
    status_capture_restore(saved);
    if (rc == 0 && alike) {
        out->store = store;
        return take_extras(twin, out);
    }
    store_close(store);
    if (rc == ERR_MEMORY)
        FAIL(rc, "%s", text);
    return 0;
}
