/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdio.h>
#include <string.h>

#include <hdf5.h>

#include "io/canonical.h"
#include "io/h5.h"
#include "io/schema.h"
#include "io/store_private.h"
#include "io/verdict.h"
#include "kernels/base/mem.h"
#include "kernels/base/status.h"

#define BLOCK 8192 /* members compared at a time */

static int compare_model(int64_t file, const char *path, const struct store_spec *spec)
{
    char model[128];
    TRY(h5_get_text(file, path, "model", model, sizeof model));
    if (strcmp(model, spec->model_name) != 0)
        FAIL(ERR_CONFLICT, "%s holds another configuration: model is %s there and %s here",
             path, model, spec->model_name);
    int64_t version = 0;
    bool found = false;
    TRY(h5_get_integer(file, path, "numerics_version", &version, &found));
    if (version != spec->model->numerics_version)
        FAIL(ERR_CONFLICT,
             "%s was computed with numerics version %lld of model %s; this program "
             "has version %d, whose results differ",
             path, (long long)version, model, spec->model->numerics_version);
    return 0;
}

static int compare_config(int64_t file, const char *path, const struct store_spec *spec)
{
    struct h5_dataset dataset;
    TRY(h5_dataset_open(file, path, "config_canonical", &dataset));
    char *there = NULL;
    int rc = 0;
    TRY_OR(rc, done, MEM_NEW((long)dataset.size + 1, &there));
    TRY_OR(rc, done, h5_read_rows(&dataset, 0, 1, there));
    char text[1600];
    int different = 0;
    TRY_OR(rc, done,
           canonical_compare(there, spec->config_canonical, text, sizeof text, &different));
    if (different > 0)
        rc = status_fail(ERR_CONFLICT, "%s holds another configuration: %s", path, text);
done:
    mem_free(there);
    h5_dataset_close(&dataset);
    return rc;
}

static void window_text(const struct store_window *window, char *text, size_t size)
{
    const long long last = (long long)(window->first + window->count - 1);
    if (window->shards > 1 && window->count == 1)
        snprintf(text, size, "shard %ld/%ld (member %lld)", window->shard, window->shards,
                 last);
    else if (window->shards > 1)
        snprintf(text, size, "shard %ld/%ld (members %lld to %lld)", window->shard,
                 window->shards, (long long)window->first, last);
    else
        snprintf(text, size, "the whole scan (members 0 to %lld)", last);
}

static int compare_window(const struct store *store, const struct store_spec *spec)
{
    struct store_window here = {0, schema_members(spec), 1, 1};
    if (schema_is_shard(spec))
        here = spec->window;
    const struct store_window there = store_window(store);
    char text[2][128];
    if (here.first == there.first && here.count == there.count && here.shard == there.shard
        && here.shards == there.shards)
        return 0;
    window_text(&there, text[0], sizeof text[0]);
    window_text(&here, text[1], sizeof text[1]);
    FAIL(ERR_CONFLICT, "%s holds %s; here it is %s", store->path, text[0], text[1]);
}

static void shape_text(int dims, const int64_t *length, char *text, size_t size)
{
    text[0] = '\0';
    for (int d = 0; d < dims; d++) {
        const size_t used = strlen(text);
        snprintf(text + used, size - used, "[%lld]", (long long)length[d]);
    }
    if (dims == 0)
        snprintf(text, size, "one value");
}

int store_compare_entry(int64_t file, const char *path, const struct schema_entry *entry)
{
    if (H5Lexists(file, entry->path, H5P_DEFAULT) <= 0)
        FAIL(ERR_CONFLICT, "%s has another layout: %s is absent there", path, entry->path);
    struct h5_dataset dataset;
    TRY(h5_dataset_open(file, path, entry->path, &dataset));
    bool same = dataset.dims == entry->dims && dataset.kind == entry->kind;
    for (int d = 0; same && d < entry->dims; d++)
        same = dataset.length[d] == entry->length[d];
    char there[80];
    char here[80];
    shape_text(dataset.dims, dataset.length, there, sizeof there);
    shape_text(entry->dims, entry->length, here, sizeof here);
    h5_dataset_close(&dataset);
    if (!same)
        FAIL(ERR_CONFLICT, "%s has another layout: %s is %s there and %s here%s", path,
             entry->path, there, here, strcmp(there, here) == 0 ? ", of another type" : "");
    return 0;
}

static bool is_config(const struct schema_entry *entry)
{
    return strncmp(entry->path, "config", 6) == 0;
}

/* What came later in format 1, and no result depends on. */
static bool is_absent_timing(int64_t file, const struct schema_entry *entry)
{
    return (strncmp(entry->path, "timing/", 7) == 0
            || strcmp(entry->path, "provenance/thresholds") == 0)
           && H5Lexists(file, entry->path, H5P_DEFAULT) <= 0;
}

/* Checkpoints: a file without them is as good, and how many there is room for depends on the
 * workers of its first run. */
static bool is_resume(const struct schema_entry *entry)
{
    return strncmp(entry->path, "resume", 6) == 0;
}

bool store_skips_entry(const struct store *store, const struct schema_entry *entry)
{
    return is_config(entry) /* texts may differ in comments */
           || is_resume(entry) || is_absent_timing(store->file, entry)
           || (schema_is_judgment(entry) && !verdict_has_room(store)); /* made before those */
}

static int compare_schema(const struct store *store, const struct store_spec *spec)
{
    struct schema schema;
    TRY(schema_init(spec, &schema));
    int rc = 0;
    for (int i = 0; rc == 0 && i < schema.count; i++)
        if (!store_skips_entry(store, &schema.entry[i]))
            rc = store_compare_entry(store->file, store->path, &schema.entry[i]);
    schema_clear(&schema);
    return rc;
}

static int compare_block(const struct h5_dataset *identity, const struct store_spec *spec,
                         int64_t first, int64_t count, struct store_member_row *rows,
                         uint64_t (*there)[2])
{
    TRY(spec->member_rows(spec->context, first, count, rows));
    TRY(h5_read_rows(identity, first, count, there));
    for (int64_t i = 0; i < count; i++)
        if (memcmp(there[i], rows[i].identity, sizeof there[i]) != 0)
            FAIL(
                ERR_CONFLICT,
                "%s holds another configuration: member %lld has identity %016llx%016llx there "
                "and %016llx%016llx here",
                identity->path, (long long)(first + i), (unsigned long long)there[i][0],
                (unsigned long long)there[i][1], (unsigned long long)rows[i].identity[0],
                (unsigned long long)rows[i].identity[1]);
    return 0;
}

static int compare_members(const struct store *store, const struct store_spec *spec)
{
    struct h5_dataset identity;
    TRY(store_open_dataset(store, "member/identity", &identity));
    struct store_member_row *rows = NULL;
    uint64_t(*there)[2] = NULL;
    int rc = 0;
    TRY_OR(rc, done, MEM_NEW(BLOCK, &rows));
    TRY_OR(rc, done, MEM_NEW(BLOCK, &there));
    const int64_t end = schema_first(spec) + schema_members(spec);
    for (int64_t first = schema_first(spec); first < end; first += BLOCK) {
        const int64_t count = end - first < BLOCK ? end - first : BLOCK;
        TRY_OR(rc, done, compare_block(&identity, spec, first, count, rows, there));
    }
done:
    mem_free(there);
    mem_free(rows);
    h5_dataset_close(&identity);
    return rc;
}

static int compare_all(const struct store *store, const char *path,
                       const struct store_spec *spec, bool whole)
{
    TRY(compare_model(store->file, path, spec));
    TRY(compare_config(store->file, path, spec));
    if (!whole)
        return 0;
    TRY(compare_window(store, spec));
    TRY(store_refuse_compressed(store));
    if (spec->judged && !verdict_has_room(store))
        FAIL(ERR_CONFLICT,
             "%s was made without an envelope and has no room for verdicts: give another file "
             "by -o, and --reuse takes the members over",
             path);
    if (spec->judged && spec->gains && !verdict_has_gains(store))
        FAIL(ERR_CONFLICT,
             "%s has no room for gains: give another file by -o, and --reuse takes the members "
             "over; or envelope.gain: none judges the whole length",
             path);
    TRY(compare_schema(store, spec));
    return compare_members(store, spec);
}

static int compare_file(const char *path, const struct store_spec *spec, bool whole)
{
    char text[2048];
    struct store *store = NULL;
    TRY(store_open_read(path, &store)); /* damage is told from another configuration */
    const struct status_saved saved = status_capture_save();
    status_capture(text, sizeof text);
    const int rc = compare_all(store, path, spec, whole);
    status_capture_restore(saved);
    store_close(store);
    if (rc == ERR_IO)
        return store_fail_damaged(path, text);
    if (rc != 0)
        FAIL(rc, "%s", text);
    return 0;
}

int store_compare(const char *path, const struct store_spec *spec)
{
    return compare_file(path, spec, true);
}

int store_compare_config(const char *path, const struct store_spec *spec)
{
    return compare_file(path, spec, false);
}
