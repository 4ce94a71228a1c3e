/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "io/schema.h"

#include <stdio.h>
#include <string.h>

#include "kernels/base/mem.h"
#include "kernels/base/status.h"

#define CHUNK_BYTES 65536              /* of a piece, at least */
#define CHUNK_MAX   (INT64_C(1) << 30) /* HDF5 takes less than 4 GiB */

const char *schema_part_name(enum plane_part part)
{
    static const char *const names[] = {"", "progress", "array", "observable", "checksum"};
    return names[part];
}

bool schema_is_shard(const struct store_spec *spec)
{
    return spec->window.shards > 1;
}

int64_t schema_first(const struct store_spec *spec)
{
    return schema_is_shard(spec) ? spec->window.first : 0;
}

int64_t schema_members(const struct store_spec *spec)
{
    return schema_is_shard(spec) ? spec->window.count : spec->points * spec->realisations;
}

bool schema_is_packed(const struct schema_entry *entry)
{
    return entry->part == PART_ARRAY
           || (strncmp(entry->path, "step/", 5) == 0 && entry->dims == 2)
           || (strncmp(entry->path, "ensemble/", 9) == 0 && entry->dims == 3);
}

void schema_chunk(const struct schema_entry *entry, int64_t *chunk)
{
    int64_t bytes = (int64_t)h5_kind_size(entry->kind, entry->text);
    for (int d = entry->dims - 1; d >= 0; d--) {
        const int64_t wanted =
            d >= 2 ? (CHUNK_MAX + bytes - 1) / bytes : (CHUNK_BYTES + bytes - 1) / bytes;
        chunk[d] = wanted < entry->length[d] ? wanted : entry->length[d];
        chunk[d] = chunk[d] > 0 ? chunk[d] : 1;
        bytes *= chunk[d];
    }
}

double schema_entry_bytes(const struct schema_entry *entry)
{
    double bytes = (double)h5_kind_size(entry->kind, entry->text);
    for (int d = 0; d < entry->dims; d++)
        bytes *= (double)entry->length[d];
    return bytes;
}

const struct schema_entry *schema_find(const struct schema *schema, const char *path)
{
    for (int i = 0; i < schema->count; i++)
        if (strcmp(schema->entry[i].path, path) == 0)
            return &schema->entry[i];
    return NULL;
}

int schema_add(struct schema *schema, const struct schema_entry *entry)
{
    if (schema_find(schema, entry->path) != NULL)
        FAIL(ERR_BUG, "two datasets of the file are named %s", entry->path);
    if (schema->count == schema->capacity) {
        const int capacity = schema->capacity == 0 ? 64 : 2 * schema->capacity;
        struct schema_entry *larger = NULL;
        TRY(MEM_NEW(capacity, &larger));
        if (schema->count > 0)
            memcpy(larger, schema->entry, (size_t)schema->count * sizeof *larger);
        mem_free(schema->entry);
        schema->entry = larger;
        schema->capacity = capacity;
    }
    schema->entry[schema->count++] = *entry;
    return 0;
}

int schema_spectrum_array(const struct store_spec *spec)
{
    const struct plane_layout *const layout = spec->layout;
    for (int a = 0; spec->field && a < layout->arrays; a++) {
        const struct layout_array *const array = &layout->array[a];
        if (array->is_field && array->dims == 1
            && (array->type == ELEMENT_C128 || array->type == ELEMENT_C64))
            return a;
    }
    return -1;
}

int schema_observable(const struct store_spec *spec, const char *name)
{
    for (int i = 0; i < spec->model->observable_count; i++)
        if (spec->observable[i] && strcmp(spec->model->observables[i].name, name) == 0)
            return i;
    return -1;
}

void schema_param_name(const struct store_param *param, const char *suffix, char *name,
                       size_t size)
{
    snprintf(name, size, "%s%s", param->name, suffix);
    for (char *c = name; *c != '\0'; c++)
        if (*c == '.')
            *c = '_';
}

/* Index scales 0 … length - 1. */
static int add_index_scales(struct schema *schema, const struct store_spec *spec)
{
    const bool whole = !schema_is_shard(spec); /* of no use to a shard, and perhaps larger */
    const struct {
        const char *name;
        const char *long_name;
        int64_t length;
    } scales[] = {
        {SCHEMA_MEMBER_ID, "Member id: point * realisations + realisation",
         schema_members(spec)},
        {"plane_index", "Index of a saved plane", spec->layout->planes},
        {"point_id", "Point id: last axis fastest", whole ? spec->points : 0},
        {"realisation", "Index of the noise seed at a point", whole ? spec->realisations : 0},
        {"step_index", "Index of a trial step in a member's history", spec->history},
        {"axis_index", "Index of a scan axis, slowest first", spec->axes},
        {"grid_id", "Index of a numerical grid", spec->grids},
        {"half", "Halves of a 128-bit hash or key", 2},
        {"worker_id", "MPI rank of a worker", STORE_TIMING_ROWS},
        {"attempt_row", "Row of an attempt: its number modulo the rows", STORE_ATTEMPT_ROWS},
        {"bound_index", "Row of the model's table of bounds", spec->model->bound_count},
        {"histogram_bin", "Bin of a histogram", spec->ensemble ? spec->histogram_bins : 0},
        {"histogram_edge", "Edge of a histogram's bins",
         spec->ensemble && spec->histogram_bins > 0 ? spec->histogram_bins + 1 : 0},
    };
    for (size_t i = 0; i < sizeof scales / sizeof *scales; i++) {
        if (scales[i].length <= 0)
            continue;
        struct schema_entry entry = {.unit = "1", .kind = H5_I64, .dims = 1, .scale = true};
        snprintf(entry.path, sizeof entry.path, "%s", scales[i].name);
        snprintf(entry.long_name, sizeof entry.long_name, "%s", scales[i].long_name);
        entry.length[0] = scales[i].length;
        TRY(schema_add(schema, &entry));
    }
    return 0;
}

static int add_param_scales(struct schema *schema, const struct store_spec *spec)
{
    for (int p = 0; p < spec->params; p++) {
        const struct store_param *const param = &spec->param[p];
        struct schema_entry entry = {.kind = H5_F64, .dims = 1, .scale = true};
        schema_param_name(param, "_values", entry.path, sizeof entry.path);
        snprintf(entry.unit, sizeof entry.unit, "%s", param->unit);
        snprintf(entry.long_name, sizeof entry.long_name, "%s", param->doc);
        entry.length[0] = spec->axis_length[param->axis];
        TRY(schema_add(schema, &entry));
    }
    return 0;
}

/* Scales of the layout: 1-D with one grid, else [grid][n] over an index scale. */
static int add_layout_scales(struct schema *schema, const struct store_spec *spec)
{
    const struct plane_layout *const layout = spec->layout;
    for (int a = 0; a < layout->axes; a++) {
        const struct layout_axis *const axis = &layout->axis[a];
        const struct layout_axis *const dimension = &layout->axis[axis->dimension];
        struct schema_entry entry = {.kind = H5_F64};
        snprintf(entry.path, sizeof entry.path, "%s", axis->name);
        snprintf(entry.unit, sizeof entry.unit, "%s", axis->unit);
        snprintf(entry.long_name, sizeof entry.long_name, "%s", axis->doc);
        if (spec->grids > 1) {
            snprintf(entry.dim[0], SCHEMA_NAME_MAX, "grid_id");
            entry.length[0] = spec->grids;
            entry.dims = 1;
        }
        schema_axis_name(spec, axis->dimension, entry.dim[entry.dims]);
        entry.length[entry.dims++] = dimension->length;
        entry.scale = spec->grids == 1 && axis->dimension == a;
        TRY(schema_add(schema, &entry));
        if (spec->grids == 1 || axis->dimension != a)
            continue;
        struct schema_entry index = {.unit = "1", .kind = H5_I64, .dims = 1, .scale = true};
        schema_axis_name(spec, a, index.path);
        snprintf(index.long_name, sizeof index.long_name, "Index along %s", axis->name);
        index.length[0] = axis->length;
        TRY(schema_add(schema, &index));
    }
    return 0;
}

void schema_axis_name(const struct store_spec *spec, int axis, char name[SCHEMA_NAME_MAX])
{
    snprintf(name, SCHEMA_NAME_MAX, "%s%s", spec->layout->axis[axis].name,
             spec->grids > 1 ? "_index" : "");
}

static int add_root(struct schema *schema, const struct store_spec *spec)
{
    const struct schema_entry complete = {
        .path = "complete",
        .unit = "1",
        .long_name = "1 when no member is pending and the run was finished",
        .kind = H5_U8,
        .zeroed = true};
    struct schema_entry config = {.path = "config",
                                  .unit = "1",
                                  .long_name = "The scan file as read",
                                  .kind = H5_TEXT,
                                  .text = spec->config_length > 0 ? spec->config_length : 1};
    struct schema_entry canonical = {
        .path = "config_canonical",
        .unit = "1",
        .long_name = "Every parameter with its default, SI, one `key: value` a line",
        .kind = H5_TEXT,
        .text = strlen(spec->config_canonical) + 1};
    TRY(schema_add(schema, &complete));
    TRY(schema_add(schema, &config));
    return schema_add(schema, &canonical);
}

static int check_window(const struct store_spec *spec)
{
    const struct store_window *const w = &spec->window;
    if (schema_is_shard(spec)
        && (w->shard < 1 || w->shard > w->shards || w->first < 0 || w->count < 1
            || w->first > spec->points * spec->realisations - w->count || spec->ensemble))
        FAIL(ERR_BUG, "shard %ld/%ld cannot hold %lld members from %lld on%s", w->shard,
             w->shards, (long long)w->count, (long long)w->first,
             spec->ensemble ? " and an ensemble" : "");
    return 0;
}

static int spec_check(const struct store_spec *spec)
{
    const struct plane_layout *const layout = spec->layout;
    if (spec->points < 1 || spec->realisations < 1 || spec->grids < 1 || layout->planes < 1)
        FAIL(ERR_ARGUMENT,
             "%lld points, %lld realisations, %lld grids and %ld planes: each must "
             "be at least 1",
             (long long)spec->points, (long long)spec->realisations, (long long)spec->grids,
             layout->planes);
    for (int a = 0; a < layout->axes; a++)
        if (strcmp(layout->axis[a].name, layout->progress_name) == 0)
            FAIL(ERR_BUG, "model %s: progress and an axis are both named %s", spec->model->name,
                 layout->progress_name);
    return check_window(spec);
}

int schema_init(const struct store_spec *spec, struct schema *out)
{
    *out = (struct schema){0};
    TRY(spec_check(spec));
    int rc = 0;
    TRY_OR(rc, failed, add_root(out, spec));
    TRY_OR(rc, failed, add_index_scales(out, spec));
    TRY_OR(rc, failed, add_param_scales(out, spec));
    TRY_OR(rc, failed, add_layout_scales(out, spec));
    TRY_OR(rc, failed, schema_add_member(out, spec));
    TRY_OR(rc, failed, schema_add_plane(out, spec));
    TRY_OR(rc, failed, schema_add_step(out, spec));
    TRY_OR(rc, failed, schema_add_resume(out, spec));
    TRY_OR(rc, failed, schema_add_ensemble(out, spec));
    TRY_OR(rc, failed, schema_add_run(out, spec));
    return 0;
failed:
    schema_clear(out);
    return rc;
}

void schema_clear(struct schema *schema)
{
    mem_free(schema->entry);
    *schema = (struct schema){0};
}
