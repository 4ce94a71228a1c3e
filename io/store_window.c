/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which members of its scan a file holds. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/store_private.h"
#include "kernels/base/status.h"

int64_t store_members(const struct store *store)
{
    return store->members;
}

int64_t store_first(const struct store *store)
{
    return store->window.first;
}

int64_t store_scan_members(const struct store *store)
{
    return store->points * store->realisations;
}

struct store_window store_window(const struct store *store)
{
    return store->window;
}

int64_t store_points(const struct store *store)
{
    return store->points;
}

int64_t store_realisations(const struct store *store)
{
    return store->realisations;
}

int store_refuse_shard(const struct store *store, const char *what)
{
    if (store->window.shards > 1)
        FAIL(ERR_UNSUPPORTED,
             "%s holds shard %ld/%ld of its scan; %s: collect the shards first", store->path,
             store->window.shard, store->window.shards, what);
    return 0;
}

int store_refuse_compressed(const struct store *store)
{
    char compression[64];
    TRY(h5_get_text(store->file, store->path, "compression", compression, sizeof compression));
    if (compression[0] != '\0')
        FAIL(
            ERR_CONFLICT,
            "%s is compressed (%s): it can be read, not written; `scanfarm collect -o PLAIN.h5 "
            "%s` makes one that can",
            store->path, compression, store->path);
    return 0;
}

static int fail_members(const struct store *store, int64_t first, int64_t last)
{
    const struct store_window *const w = &store->window;
    char members[64];
    snprintf(members, sizeof members, first < last ? "members %lld to %lld" : "member %lld",
             (long long)first, (long long)last);
    if (w->shards > 1)
        FAIL(ERR_ARGUMENT,
             "%s: %s: shard %ld/%ld holds %lld to %lld of %lld (collect joins the shards)",
             store->path, members, w->shard, w->shards, (long long)w->first,
             (long long)(w->first + w->count - 1), (long long)store_scan_members(store));
    FAIL(ERR_ARGUMENT, "%s: %s of %lld", store->path, members, (long long)store->members);
}

int store_check_members(const struct store *store, int64_t first, int64_t count)
{
    const int64_t row = first - store->window.first;
    if (first < 0 || count < 0 || row < 0 || row > store->members - count)
        return fail_members(store, first, first + (count > 0 ? count - 1 : 0));
    return 0;
}

int store_check_member(const struct store *store, int64_t member)
{
    return store_check_members(store, member, 1);
}

static bool is_of_members(const char *name)
{
    static const char *const groups[] = {"member/", "plane/", "step/"};
    name += name[0] == '/';
    for (size_t i = 0; i < sizeof groups / sizeof *groups; i++)
        if (strncmp(name, groups[i], strlen(groups[i])) == 0)
            return true;
    return false;
}

int64_t store_dataset_origin(const struct store *store, const char *name)
{
    return is_of_members(name) ? store->window.first : 0;
}

int store_open_dataset(const struct store *store, const char *name, struct h5_dataset *out)
{
    TRY(h5_dataset_open(store->file, store->path, name, out));
    out->origin = store_dataset_origin(store, name);
    return 0;
}

/* "3/16"; 0/0 for anything else. */
static void read_fraction(const char *text, struct store_window *out)
{
    char *end = NULL;
    out->shard = strtol(text, &end, 10);
    out->shards = *end == '/' ? strtol(end + 1, &end, 10) : 0;
    if (*end != '\0' || out->shard < 1 || out->shard > out->shards)
        out->shard = out->shards = 0;
}

int store_read_window(struct store *store)
{
    char text[64];
    int64_t first = 0;
    int64_t all = 0;
    bool found = false;
    struct store_window *const w = &store->window;
    *w = (struct store_window){0, store->members, 1, 1};
    TRY(h5_get_text(store->file, store->path, "shard", text, sizeof text));
    if (text[0] == '\0')
        return 0;
    read_fraction(text, w);
    TRY(h5_get_integer(store->file, store->path, "first_member", &first, &found));
    if (found)
        TRY(h5_get_integer(store->file, store->path, "members_of_scan", &all, &found));
    w->first = first;
    if (w->shards < 2 || !found || first < 0 || store->members < 1 || all < store->members
        || first > all - store->members)
        FAIL(ERR_IO,
             "shard %s, first_member %lld, members_of_scan %lld and members %lld do not fit",
             text, (long long)first, (long long)all, (long long)store->members);
    return 0;
}
