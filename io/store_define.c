/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <hdf5.h>
#include <hdf5_hl.h>

#include "io/define_rows.h"
#include "io/schema.h"
#include "io/space.h"
#include "io/store_private.h"
#include "kernels/base/clock.h"
#include "kernels/base/mem.h"
#include "kernels/base/status.h"
#include "scanfarm_version.h"

/* netCDF's own words for a dimension without values: its readers then make up none. */
static herr_t scale_set(hid_t dataset, const struct schema_entry *entry)
{
    char bare[80];
    snprintf(bare, sizeof bare, "This is a netCDF dimension but not a netCDF variable. %10lld",
             (long long)entry->length[0]);
    return H5DSset_scale(dataset, entry->bare ? bare : entry->path);
}

/* In pieces that are made when they are written; what never is reads as NaN, or 0. */
static herr_t list_pack(hid_t list, hid_t type, const struct schema_entry *entry, int level)
{
    int64_t chunk[H5_DIMS_MAX];
    hsize_t shape[H5_DIMS_MAX];
    double nothing[2];
    const struct store_shape one = {.whole = {1, 1, 1}};
    schema_chunk(entry, chunk);
    for (int d = 0; d < entry->dims; d++)
        shape[d] = (hsize_t)chunk[d];
    store_fill_whole(&one, entry->kind, nothing, nothing);
    herr_t rc = H5Pset_chunk(list, entry->dims, shape);
    rc |= H5Pset_shuffle(list);
    rc |= H5Pset_deflate(list, (unsigned)level);
    rc |= H5Pset_fill_value(list, type, nothing);
    return rc;
}

/* At its place from the start, whole. */
static herr_t list_place(hid_t list, const struct schema_entry *entry)
{
    herr_t rc = H5Pset_layout(list, H5D_CONTIGUOUS);
    rc |= H5Pset_alloc_time(list, H5D_ALLOC_TIME_EARLY);
    rc |= H5Pset_fill_time(list, entry->zeroed ? H5D_FILL_TIME_ALLOC : H5D_FILL_TIME_NEVER);
    return rc;
}

static int dataset_create(int64_t file, const char *path, const struct schema_entry *entry,
                          int compress)
{
    int rc = 0;
    hsize_t length[H5_DIMS_MAX];
    for (int d = 0; d < entry->dims; d++)
        length[d] = (hsize_t)entry->length[d];
    const hid_t type = h5_type_create(entry->kind, entry->text);
    const hid_t space =
        entry->dims > 0 ? H5Screate_simple(entry->dims, length, NULL) : H5Screate(H5S_SCALAR);
    const hid_t list = H5Pcreate(H5P_DATASET_CREATE);
    hid_t dataset = H5I_INVALID_HID;
    TRY_H5_OR(rc, done,
              compress > 0 && schema_is_packed(entry) ? list_pack(list, type, entry, compress)
                                                      : list_place(list, entry),
              path, entry->path);
    /* Times would make a header dirty when only raw data is written. */
    TRY_H5_OR(rc, done, H5Pset_obj_track_times(list, false), path, entry->path);
    dataset = H5Dcreate2(file, entry->path, type, space, H5P_DEFAULT, list, H5P_DEFAULT);
    TRY_H5_OR(rc, done, dataset, path, entry->path);
    TRY_OR(rc, done, h5_put_text(dataset, path, "units", entry->unit));
    TRY_OR(rc, done, h5_put_text(dataset, path, "long_name", entry->long_name));
    if (entry->scale)
        TRY_H5_OR(rc, done, scale_set(dataset, entry), path, entry->path);
    if (entry->part != PART_NONE) {
        TRY_OR(rc, done, h5_put_text(dataset, path, "kind", schema_part_name(entry->part)));
        TRY_OR(rc, done, h5_put_integer(dataset, path, "index", entry->index));
    }
    if (entry->kind == H5_BF16)
        rc = h5_put_text(dataset, path, "element", "bfloat16: upper half of a float");
done:
    if (dataset >= 0)
        H5Dclose(dataset);
    H5Pclose(list);
    H5Sclose(space);
    H5Tclose(type);
    return rc;
}

static int group_create(int64_t file, const char *path, const char *name)
{
    const hid_t list = H5Pcreate(H5P_GROUP_CREATE);
    H5Pset_obj_track_times(list, false);
    const hid_t group = H5Gcreate2(file, name, H5P_DEFAULT, list, H5P_DEFAULT);
    H5Pclose(list);
    TRY_H5(group, path, name);
    H5Gclose(group);
    return 0;
}

static int groups_create(int64_t file, const char *path, const struct store_spec *spec)
{
    static const char *const names[] = {"member", "member/contract", "member/param",
                                        "plane",  "provenance",      "provenance/attempt",
                                        "timing"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        TRY(group_create(file, path, names[i]));
    if (spec->history > 0)
        TRY(group_create(file, path, "step"));
    if (spec->resume_state > 0)
        TRY(group_create(file, path, "resume"));
    if (spec->ensemble)
        TRY(group_create(file, path, "ensemble"));
    if (spec->model->bound_count > 0)
        TRY(group_create(file, path, "provenance/bounds"));
    return 0;
}

/* Attach and label the scales of one dataset. */
static int scales_attach(int64_t file, const char *path, const struct schema_entry *entry)
{
    if (entry->scale || entry->dims == 0)
        return 0;
    int rc = 0;
    const hid_t dataset = H5Dopen2(file, entry->path, H5P_DEFAULT);
    TRY_H5(dataset, path, entry->path);
    for (int d = 0; d < entry->dims; d++) {
        const hid_t scale = H5Dopen2(file, entry->dim[d], H5P_DEFAULT);
        TRY_H5_OR(rc, done, scale, path, entry->dim[d]);
        const herr_t attached = H5DSattach_scale(dataset, scale, (unsigned)d);
        H5Dclose(scale);
        TRY_H5_OR(rc, done, attached, path, entry->path);
        TRY_H5_OR(rc, done, H5DSset_label(dataset, (unsigned)d, entry->dim[d]), path,
                  entry->path);
    }
done:
    H5Dclose(dataset);
    return rc;
}

/* Absent in a file that can be written. */
static int compression_attribute(int64_t file, const char *path, const struct store_spec *spec)
{
    char text[48];
    snprintf(text, sizeof text, "shuffle, deflate %d", spec->compress);
    return spec->compress > 0 ? h5_put_text(file, path, "compression", text) : 0;
}

/* Absent in a file that holds the whole scan. */
static int shard_attributes(int64_t file, const char *path, const struct store_spec *spec)
{
    char shard[48];
    if (!schema_is_shard(spec))
        return 0;
    snprintf(shard, sizeof shard, "%ld/%ld", spec->window.shard, spec->window.shards);
    TRY(h5_put_text(file, path, "shard", shard));
    TRY(h5_put_integer(file, path, "first_member", spec->window.first));
    return h5_put_integer(file, path, "members_of_scan", spec->points * spec->realisations);
}

static int root_attributes(int64_t file, const char *path, const struct store_spec *spec)
{
    char created[CLOCK_ISO_SIZE];
    clock_iso(created);
    const struct {
        const char *name;
        const char *text;
    } texts[] = {
        {"format", "scanfarm"},
        {"scan", spec->scan_name},
        {"model", spec->model_name},
        {"convention", spec->convention},
        {"created", created},
        {"software", "scanfarm"},
        {"version", SCANFARM_VERSION},
        {"git_revision", SCANFARM_GIT_REVISION},
        {"sync", spec->sync_member ? "member" : "never"},
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        TRY(h5_put_text(file, path, texts[i].name, texts[i].text));
    const struct {
        const char *name;
        int64_t value;
    } numbers[] = {
        {"format_version", STORE_FORMAT_VERSION},
        {"git_dirty", SCANFARM_GIT_DIRTY},
        {"numerics_version", spec->model->numerics_version},
        {"members", schema_members(spec)},
        {"points", spec->points},
        {"realisations", spec->realisations},
        {"grids", spec->grids},
        {"planes", spec->layout->planes},
    };
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        TRY(h5_put_integer(file, path, numbers[i].name, numbers[i].value));
    TRY(compression_attribute(file, path, spec));
    return shard_attributes(file, path, spec);
}

static int put_on_dataset(int64_t file, const char *path, const char *name,
                          const char *attribute, const char *text)
{
    const hid_t dataset = H5Dopen2(file, name, H5P_DEFAULT);
    TRY_H5(dataset, path, name);
    const int rc = h5_put_text(dataset, path, attribute, text);
    H5Dclose(dataset);
    return rc;
}

/* The rule by which ensembles stop. */
static int until_attributes(int64_t file, const char *path, const struct store_spec *spec)
{
    static const char name[] = "ensemble/stopped";
    const struct store_until *const until = spec->until;
    const int spectrum = schema_spectrum_array(spec);
    char text[64];
    TRY(put_on_dataset(file, path, name, "quantity", until->quantity));
    TRY(put_on_dataset(file, path, name, "array",
                       spectrum >= 0 ? spec->layout->array[spectrum].name : ""));
    snprintf(text, sizeof text, "%.17g", until->error);
    TRY(put_on_dataset(file, path, name, "error", text));
    snprintf(text, sizeof text, "%" PRId64 " %" PRId64, until->min, until->max);
    TRY(put_on_dataset(file, path, name, "realisations", text));
    snprintf(text, sizeof text, "%.17g %.17g", until->omega[0], until->omega[1]);
    return put_on_dataset(file, path, name, "omega", until->banded ? text : "");
}

/* Attributes that belong to single datasets: as_written, reduced, the array that is reduced. */
static int extra_attributes(int64_t file, const char *path, const struct schema *schema,
                            const struct store_spec *spec)
{
    for (int p = 0; p < spec->params; p++) {
        char name[SCHEMA_NAME_MAX];
        schema_param_name(&spec->param[p], "_values", name, sizeof name);
        TRY(put_on_dataset(file, path, name, "as_written", spec->param[p].as_written));
        TRY(put_on_dataset(file, path, name, "parameter", spec->param[p].name));
        char axis[12]; /* zipped parameters share one: readers cannot tell otherwise */
        snprintf(axis, sizeof axis, "%d", spec->param[p].axis);
        TRY(put_on_dataset(file, path, name, "axis", axis));
    }
    for (int i = 0; i < schema->count; i++) {
        const struct schema_entry *const entry = &schema->entry[i];
        if (entry->part == PART_ARRAY
            && (int)entry->kind != (int)spec->layout->array[entry->index].type)
            TRY(put_on_dataset(file, path, entry->path, "reduced",
                               "float32: 2^-24 relative + 2^-149"));
    }
    const int spectrum = schema_spectrum_array(spec);
    if (spec->ensemble && spectrum >= 0)
        TRY(put_on_dataset(file, path, "ensemble/mean_spectrum", "array",
                           spec->layout->array[spectrum].name));
    return spec->ensemble && spec->until != NULL ? until_attributes(file, path, spec) : 0;
}

static int define_all(int64_t file, const char *path, const struct schema *schema,
                      const struct store_spec *spec)
{
    TRY(root_attributes(file, path, spec));
    TRY(groups_create(file, path, spec));
    for (int i = 0; i < schema->count; i++)
        TRY(dataset_create(file, path, &schema->entry[i], spec->compress));
    for (int i = 0; i < schema->count; i++)
        TRY(scales_attach(file, path, &schema->entry[i]));
    TRY(extra_attributes(file, path, schema, spec));
    TRY(define_scales(file, path, schema, spec));
    TRY(define_texts(file, path, spec));
    TRY(define_members(file, path, spec));
    TRY_H5(H5Fflush(file, H5F_SCOPE_GLOBAL), path, "");
    return 0;
}

static int define_file(const char *path, const struct schema *schema,
                       const struct store_spec *spec)
{
    int64_t file = 0;
    TRY(h5_file_create(path, &file));
    const int rc = define_all(file, path, schema, spec);
    if (rc != 0) {
        h5_file_abandon(file);
        return rc;
    }
    TRY(h5_file_close(file, path));
    TRY(space_settle(path, spec->reserve));
    return store_check_format(path);
}

/* A definition that is cut short must not look like a file of ours: it gets its name last. */
static int define_publish(const char *draft, const char *path)
{
    if (renameat2(AT_FDCWD, draft, AT_FDCWD, path, RENAME_NOREPLACE) == 0)
        return 0;
    if ((errno == EINVAL || errno == ENOSYS) && !store_exists(path)
        && rename(draft, path) == 0) /* file systems without the flag */
        return 0;
    if (errno == EEXIST)
        FAIL(ERR_CONFLICT, "%s exists already", path);
    FAIL(ERR_IO, "cannot rename %s to %s: %s", draft, path, strerror(errno));
}

/* Make the draft. Messages name the file that was asked for: the draft is gone when they are
 * read. */
static int define_draft(const char *draft, const char *path, const struct schema *schema,
                        const struct store_spec *spec)
{
    char text[1024];
    const struct status_saved saved = status_capture_save();
    status_capture(text, sizeof text);
    const int rc = define_file(draft, schema, spec);
    status_capture_restore(saved);
    if (rc == 0)
        return 0;
    unlink(draft);
    char *const at = strstr(text, draft);
    if (at == NULL)
        FAIL(rc, "%s", text);
    *at = '\0';
    FAIL(rc, "%s%s%s", text, path, at + strlen(draft));
}

int store_check_room(const char *path, const struct store_spec *spec)
{
    double apparent = 0;
    double data = 0;
    TRY(space_check_folder(path));
    TRY(store_bytes(spec, &apparent, &data));
    TRY(space_check_limit(path, apparent));
    return spec->check_space ? space_check(path, apparent) : 0;
}

int store_define(const char *path, const struct store_spec *spec)
{
    if (store_exists(path))
        FAIL(ERR_CONFLICT, "%s exists already", path);
    TRY(store_check_room(path, spec));
    struct schema schema;
    TRY(schema_init(spec, &schema));
    char draft[4200];
    int rc = 0;
    if ((size_t)snprintf(draft, sizeof draft, "%s.%ld.new", path, (long)getpid())
        >= sizeof draft) {
        rc = status_fail(ERR_IO, "path of %zu bytes is too long: %.60s...", strlen(path), path);
        goto done;
    }
    unlink(draft); /* left by a dead process of the same number */
    TRY_OR(rc, done, define_draft(draft, path, &schema, spec));
    rc = define_publish(draft, path);
    if (rc != 0)
        unlink(draft);
done:
    schema_clear(&schema);
    return rc;
}

int store_bytes(const struct store_spec *spec, double *apparent, double *data)
{
    struct schema schema;
    TRY(schema_init(spec, &schema));
    *apparent = 0;
    *data = 0;
    for (int i = 0; i < schema.count; i++) {
        const double bytes = schema_entry_bytes(&schema.entry[i]);
        *apparent += bytes + 2048; /* object header and its share of the rest */
        *data += schema.entry[i].diagnostic ? 0 : bytes;
    }
    schema_clear(&schema);
    return 0;
}

/* What pictures of numbers can be drawn of; bytes of its name with the NUL, 0: nothing. */
static size_t number_length(const struct schema_entry *entry)
{
    const bool plane = strncmp(entry->path, "plane/", 6) == 0;
    const bool ensemble = strncmp(entry->path, "ensemble/", 9) == 0;
    if (entry->dims > 2 || !(plane || ensemble) || entry->part == PART_CHECKSUM)
        return 0;
    return strlen(strchr(entry->path, '/'));
}

int store_number_names(const struct store_spec *spec, char **names)
{
    struct schema schema;
    size_t size = 1;
    size_t used = 0;
    TRY(schema_init(spec, &schema));
    for (int i = 0; i < schema.count; i++)
        size += number_length(&schema.entry[i]);
    const int rc = MEM_NEW((long)size, names);
    for (int i = 0; rc == 0 && i < schema.count; i++) {
        const size_t length = number_length(&schema.entry[i]);
        if (length > 0)
            memcpy(*names + used, strchr(schema.entry[i].path, '/') + 1, length);
        used += length;
    }
    schema_clear(&schema);
    return rc;
}

int store_plane_bytes(const struct store_spec *spec, double *bytes)
{
    struct schema schema;
    const double planes = (double)schema_members(spec) * (double)spec->layout->planes;
    TRY(schema_init(spec, &schema));
    *bytes = 0;
    for (int i = 0; i < schema.count; i++)
        if (schema.entry[i].part != PART_NONE)
            *bytes += schema_entry_bytes(&schema.entry[i]) / planes;
    schema_clear(&schema);
    return 0;
}
