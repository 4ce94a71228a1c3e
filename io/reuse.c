/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "io/reuse.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <hdf5.h>

#include "io/copy.h"
#include "io/schema.h"
#include "kernels/base/mem.h"
#include "kernels/base/status.h"

#define BLOCK 8192 /* members read at a time */

/* A done member of the old file. */
struct reuse_entry {
    uint64_t identity[2];
    int64_t member;
};

/* An old file, read, and the new one that gets its members. */
struct reuse {
    struct store *from;
    struct store *to;
    struct reuse_entry *entry; /* [entries] in the order of identities */
    int64_t entries;
    struct h5_dataset identity; /* of the new file */
    struct copy copy;
};

static int check_model(const struct store *from, const struct store_spec *spec)
{
    char model[128];
    int64_t version = 0;
    bool found = false;
    TRY(h5_get_text(from->file, from->path, "model", model, sizeof model));
    TRY(h5_get_integer(from->file, from->path, "numerics_version", &version, &found));
    if (strcmp(model, spec->model_name) != 0)
        FAIL(ERR_CONFLICT, "nothing of %s can be used: it holds model %s, the scan has %s",
             from->path, model, spec->model_name);
    if (version != spec->model->numerics_version)
        FAIL(ERR_CONFLICT,
             "nothing of %s can be used: it was computed with numerics version %lld of model "
             "%s, "
             "this program has version %d",
             from->path, (long long)version, model, spec->model->numerics_version);
    return 0;
}

/* The line of a key in a canonical configuration, "" without one. */
static void find_line(const char *text, const char *key, const char **line, int *length)
{
    const size_t size = strlen(key);
    for (const char *at = text; *at != '\0';) {
        const size_t end = strcspn(at, "\n");
        if (strncmp(at, key, size) == 0 && at[size] == ':') {
            *line = at + size + 1 + (at[size + 1] == ' ');
            *length = (int)(at + end - *line);
            return;
        }
        at += end + (at[end] == '\n');
    }
    *line = "";
    *length = 0;
}

/* Where the planes are is a line of the configuration and enters no identity. */
static int check_planes(const struct store *from, const struct store_spec *spec)
{
    struct h5_dataset dataset;
    TRY(h5_dataset_open(from->file, from->path, "config_canonical", &dataset));
    char *text = NULL;
    const char *there = NULL;
    const char *here = NULL;
    int there_length = 0;
    int here_length = 0;
    int rc = 0;
    TRY_OR(rc, done, MEM_NEW((long)dataset.size + 1, &text));
    TRY_OR(rc, done, h5_read_rows(&dataset, 0, 1, text));
    find_line(text, "save.planes", &there, &there_length);
    find_line(spec->config_canonical, "save.planes", &here, &here_length);
    if (there_length != here_length || memcmp(there, here, (size_t)here_length) != 0)
        rc = status_fail(ERR_CONFLICT,
                         "nothing of %s can be used: save.planes is %.*s there and %.*s here",
                         from->path, there_length < 80 ? there_length : 80, there,
                         here_length < 80 ? here_length : 80, here);
done:
    mem_free(text);
    h5_dataset_close(&dataset);
    return rc;
}

static int check_part(struct store *from, const struct schema_entry *entry)
{
    struct store_part *const part = store_find_name(from, entry->path + strlen("plane/"));
    if (part == NULL)
        FAIL(ERR_CONFLICT, "nothing of %s can be used: it does not save %s", from->path,
             entry->path);
    if (part->part != entry->part || part->index != entry->index
        || part->data.kind != entry->kind || part->data.dims != entry->dims)
        FAIL(ERR_CONFLICT, "nothing of %s can be used: %s is stored as another type there",
             from->path, entry->path);
    return 0;
}

/* The same arrays and observables: a plane has one checksum over all. */
static int check_parts(struct store *from, const struct schema *schema)
{
    for (int i = 0; i < schema->count; i++)
        if (schema->entry[i].part != PART_NONE)
            TRY(check_part(from, &schema->entry[i]));
    for (int i = 0; i < from->parts; i++) {
        char path[H5_PATH_MAX];
        snprintf(path, sizeof path, "plane/%s", from->part[i].name);
        if (schema_find(schema, path) == NULL)
            FAIL(ERR_CONFLICT, "nothing of %s can be used: it saves %s, the scan does not",
                 from->path, path);
    }
    return 0;
}

static int check_layout(struct store *from, const struct store_spec *spec)
{
    struct schema schema;
    TRY(check_model(from, spec));
    TRY(check_planes(from, spec));
    TRY(schema_init(spec, &schema));
    const int rc = check_parts(from, &schema);
    schema_clear(&schema);
    return rc;
}

static int compare_entries(const void *a, const void *b)
{
    const struct reuse_entry *const x = a;
    const struct reuse_entry *const y = b;
    const int order = memcmp(x->identity, y->identity, sizeof x->identity);
    return order != 0 ? order : (x->member > y->member) - (x->member < y->member);
}

/* Scratch of a block of members. */
struct index_block {
    uint8_t state[BLOCK];
    int64_t saved[BLOCK];
    uint64_t identity[BLOCK][2];
};

static int index_members(struct reuse *r, const struct h5_dataset *identity, int64_t first,
                         int64_t count, struct index_block *block)
{
    TRY(store_read_states(r->from, first, count, block->state, block->saved));
    TRY(h5_read_rows(identity, first, count, block->identity));
    for (int64_t i = 0; i < count; i++) {
        if (block->state[i] != MEMBER_DONE || block->saved[i] != r->from->planes)
            continue;
        struct reuse_entry *const entry = &r->entry[r->entries++];
        memcpy(entry->identity, block->identity[i], sizeof entry->identity);
        entry->member = first + i;
    }
    return 0;
}

static int make_index(struct reuse *r)
{
    struct h5_dataset identity;
    struct index_block *block = NULL;
    int rc = 0;
    const int64_t members = r->from->members;
    const int64_t end = r->from->window.first + members;
    TRY(MEM_NEW((long)members, &r->entry));
    TRY(store_open_dataset(r->from, "member/identity", &identity));
    TRY_OR(rc, done, MEM_NEW(1, &block));
    for (int64_t first = r->from->window.first; first < end; first += BLOCK) {
        const int64_t left = end - first;
        TRY_OR(rc, done,
               index_members(r, &identity, first, left < BLOCK ? left : BLOCK, block));
    }
    qsort(r->entry, (size_t)r->entries, sizeof r->entry[0], compare_entries);
done:
    mem_free(block);
    h5_dataset_close(&identity);
    return rc;
}

int reuse_open(const char *from, const struct store_spec *spec, struct reuse **out)
{
    struct reuse *r = NULL;
    int rc = 0;
    *out = NULL;
    TRY(MEM_NEW(1, &r));
    TRY_OR(rc, failed, store_open_read(from, &r->from));
    TRY_OR(rc, failed, check_layout(r->from, spec));
    TRY_OR(rc, failed, make_index(r));
    *out = r;
    return 0;
failed:
    reuse_close(r);
    return rc;
}

int reuse_begin(struct reuse *reuse, const char *to)
{
    TRY(store_open(to, &reuse->to));
    TRY(store_open_dataset(reuse->to, "member/identity", &reuse->identity));
    TRY(copy_init(reuse->to, &reuse->copy));
    reuse->copy.from = reuse->from;
    return 0;
}

/* A done member of this identity in the old file, -1 without one. */
static int64_t find_member(const struct reuse *r, const uint64_t identity[2])
{
    int64_t low = 0;
    int64_t high = r->entries;
    while (low < high) {
        const int64_t middle = low + (high - low) / 2;
        if (memcmp(r->entry[middle].identity, identity, sizeof r->entry[0].identity) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == r->entries
        || memcmp(r->entry[low].identity, identity, sizeof r->entry[0].identity) != 0)
        return -1;
    return r->entry[low].member;
}

/* Whether a member of the new file waits to be computed from the start. */
static int is_open(struct store *to, int64_t member, bool *open)
{
    uint8_t state = 0;
    int64_t saved = 0;
    TRY(store_check_member(to, member));
    TRY(store_read_states(to, member, 1, &state, &saved));
    *open = state == MEMBER_PENDING && saved == 0;
    return 0;
}

int reuse_member(struct reuse *reuse, int64_t member, enum reuse_outcome *outcome)
{
    uint64_t identity[2];
    bool open = false;
    bool right = false;
    *outcome = REUSE_KEPT;
    TRY(is_open(reuse->to, member, &open));
    if (!open)
        return 0;
    *outcome = REUSE_ABSENT;
    TRY(store_get_row(reuse->to, &reuse->identity, member, identity));
    const int64_t from = find_member(reuse, identity);
    if (from < 0)
        return 0;
    const struct copy_order order = {from, member, reuse->from->planes, MEMBER_DONE};
    TRY(copy_member(&reuse->copy, &order, &right));
    *outcome = right ? REUSE_TAKEN : REUSE_DAMAGED;
    return reuse->copy.held == COPY_HELD_MAX ? copy_flush(&reuse->copy) : 0;
}

int reuse_close(struct reuse *reuse)
{
    if (reuse == NULL)
        return 0;
    const int flushed = reuse->to != NULL ? copy_flush(&reuse->copy) : 0;
    h5_dataset_close(&reuse->identity);
    const int closed = store_close(reuse->to);
    store_close(reuse->from);
    copy_clear(&reuse->copy);
    mem_free(reuse->entry);
    mem_free(reuse);
    return flushed != 0 ? flushed : closed;
}
