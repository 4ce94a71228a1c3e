/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "io/pack.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "io/read.h"
#include "io/store_private.h"
#include "kernels/base/mem.h"
#include "kernels/base/status.h"

#define BLOCK_BYTES 1048576 /* of a dataset whose rows mean nothing to us */

/* A dataset on its way. */
struct pack {
    struct store *from;
    int64_t to;
    const char *path; /* of the new file */
    const struct schema_entry *entry;
    struct h5_dataset old, new;
    int64_t chunk[H5_DIMS_MAX];
    char *buffer;   /* [one chunk, or BLOCK_BYTES] */
    int64_t *saved; /* [chunk[0]] */
};

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* Bytes of what follows dimension d in one chunk. */
static size_t row_bytes(const struct pack *p, int d)
{
    size_t bytes = p->old.size;
    for (int i = d + 1; i < p->old.dims; i++)
        bytes *= (size_t)p->chunk[i];
    return bytes;
}

static bool is_zero(const char *bytes, size_t count)
{
    return count == 0 || (bytes[0] == 0 && memcmp(bytes, bytes + 1, count - 1) == 0);
}

/* Rows of any kind. What is zero is left out: a new file has zeros, and needs no room for them.
 */
static int copy_rows(struct pack *p)
{
    const int64_t rows = p->old.dims > 0 ? p->old.length[0] : 1;
    size_t row = p->old.size;
    for (int d = 1; d < p->old.dims; d++)
        row *= (size_t)p->old.length[d];
    const int64_t each = row < BLOCK_BYTES ? BLOCK_BYTES / (int64_t)row : 1;
    TRY(mem_alloc(each, row, (void **)&p->buffer));
    for (int64_t first = 0; first < rows; first += each) {
        const int64_t count = least(each, rows - first);
        TRY(h5_read_rows(&p->old, first, count, p->buffer));
        if (!is_zero(p->buffer, (size_t)count * row))
            TRY(h5_write_rows(&p->new, first, count, p->buffer));
    }
    return 0;
}

/* Counted planes [first, end) of a member into their place of the block. */
static int take_planes(struct pack *p, int64_t member, int64_t first, int64_t end, char *to)
{
    int64_t start[H5_DIMS_MAX] = {member, first};
    int64_t count[H5_DIMS_MAX] = {1, end - first};
    for (int d = 2; d < p->old.dims; d++)
        count[d] = p->old.length[d];
    return end > first ? h5_read(&p->old, start, count, to) : 0;
}

/* All of a block NaN: what is not read into it stays so. */
static void blank(struct pack *p, int64_t planes)
{
    const struct store_shape shape = {
        .whole = {1, 1, (long)(planes * (int64_t)(row_bytes(p, 1) / p->old.size))}};
    store_fill_whole(&shape, p->old.kind, p->buffer, p->buffer);
}

/* One block: members [at[0], …) and planes [at[1], …). */
static int copy_block(struct pack *p, const int64_t *at)
{
    int64_t count[H5_DIMS_MAX] = {1, 1};
    bool counted = false;
    const size_t plane = row_bytes(p, 1);
    for (int d = 0; d < p->old.dims; d++)
        count[d] = least(p->chunk[d], p->old.length[d] - at[d]);
    blank(p, count[0] * count[1]);
    for (int64_t i = 0; i < count[0]; i++) {
        const int64_t end = least(p->saved[i], at[1] + count[1]);
        counted = counted || end > at[1];
        TRY(take_planes(p, at[0] + i, at[1], end, p->buffer + (size_t)(i * count[1]) * plane));
    }
    /* Compressed pieces that are absent read as NaN; large arrays stay without room. */
    return counted || !schema_is_packed(p->entry) ? h5_write(&p->new, at, count, p->buffer) : 0;
}

/* A dataset of /plane, block by block. */
static int copy_planes(struct pack *p)
{
    int64_t at[H5_DIMS_MAX] = {0};
    const int64_t members = p->old.length[0];
    TRY(mem_alloc((long)(p->chunk[0] * p->chunk[1]), row_bytes(p, 1), (void **)&p->buffer));
    TRY(MEM_NEW((long)p->chunk[0], &p->saved));
    for (at[0] = 0; at[0] < members; at[0] += p->chunk[0]) {
        const int64_t count = least(p->chunk[0], members - at[0]);
        TRY(store_read_states(p->from, at[0], count, NULL, p->saved));
        for (at[1] = 0; at[1] < p->old.length[1]; at[1] += p->chunk[1])
            TRY(copy_block(p, at));
    }
    return 0;
}

static int copy_open(struct pack *p)
{
    if (p->entry->part != PART_NONE) {
        schema_chunk(p->entry, p->chunk);
        for (int d = 2; d < p->old.dims; d++)
            p->chunk[d] = p->old.length[d];
        return copy_planes(p);
    }
    return copy_rows(p);
}

static int copy_dataset(struct pack *p, const struct schema_entry *entry)
{
    int rc = 0;
    p->entry = entry;
    if (!read_exists(p->from, entry->path)) /* columns that came later */
        return 0;
    TRY(h5_dataset_open(p->from->file, p->from->path, entry->path, &p->old));
    TRY_OR(rc, done, h5_dataset_open(p->to, p->path, entry->path, &p->new));
    if (p->old.size != p->new.size)
        rc = status_fail(ERR_CONFLICT, "%s: %s has %zu bytes, %zu in %s", p->from->path,
                         entry->path, p->old.size, p->new.size, p->path);
    else
        rc = copy_open(p);
done:
    mem_free(p->saved);
    mem_free(p->buffer);
    p->saved = NULL;
    p->buffer = NULL;
    h5_dataset_close(&p->new);
    h5_dataset_close(&p->old);
    return rc;
}

static bool is_left_out(const struct schema_entry *entry)
{
    return strncmp(entry->path, "resume", 6) == 0
           || strcmp(entry->path, "config_canonical") == 0 || entry->bare;
}

static int copy_all(struct pack *p, const struct store_spec *spec)
{
    struct schema schema;
    int rc = schema_init(spec, &schema);
    for (int i = 0; rc == 0 && i < schema.count; i++)
        if (!is_left_out(&schema.entry[i]))
            rc = copy_dataset(p, &schema.entry[i]);
    schema_clear(&schema);
    return rc;
}

static int sync_file(const char *path)
{
    const int fd = open(path, O_RDWR | O_CLOEXEC);
    const int error = fd < 0 || fsync(fd) != 0 ? errno : 0;
    if (fd >= 0)
        close(fd);
    if (error != 0)
        FAIL(ERR_IO, "cannot write %s through to the disk: %s", path, strerror(error));
    return 0;
}

int pack_store(const char *from, const char *to, const struct store_spec *spec)
{
    struct pack p = {.path = to};
    TRY(store_open_read(from, &p.from));
    int rc = h5_file_open(to, H5_WRITE, &p.to);
    if (rc == 0)
        rc = copy_all(&p, spec);
    store_close(p.from);
    if (rc != 0) {
        if (p.to > 0)
            h5_file_abandon(p.to);
        return rc;
    }
    TRY(h5_file_close(p.to, to));
    return sync_file(to);
}
