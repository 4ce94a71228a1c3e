/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "io/input.h"

#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <hdf5.h>

#include "io/h5.h"
#include "io/hash.h"
#include "io/read.h"
#include "kernels/base/mem.h"
#include "kernels/base/status.h"

bool input_is_hdf5(const char *path)
{
    static const unsigned char mark[8] = {0x89, 'H', 'D', 'F', '\r', '\n', 0x1a, '\n'};
    unsigned char begin[8];
    struct stat status;
    /* without waiting: a pipe may have no writer */
    const int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (file < 0)
        return false;
    const bool whole = fstat(file, &status) == 0 && S_ISREG(status.st_mode)
                       && read(file, begin, sizeof begin) == (ssize_t)sizeof begin;
    close(file);
    return whole && memcmp(begin, mark, sizeof mark) == 0;
}

/* Tables */

static int check_dataset(const char *path, const char *name, hid_t space, hid_t type,
                         long *rows)
{
    hsize_t length = 0;
    const H5T_class_t class = H5Tget_class(type);
    if (class != H5T_FLOAT && class != H5T_INTEGER)
        FAIL(ERR_PARSE, "%s: dataset %s holds no numbers", path, name);
    if (H5Sget_simple_extent_ndims(space) != 1)
        FAIL(ERR_PARSE, "%s: dataset %s has %d dimensions; a column has 1", path, name,
             H5Sget_simple_extent_ndims(space));
    TRY_H5(H5Sget_simple_extent_dims(space, &length, NULL), path, name);
    if (length == 0 || length > DATA_BYTES_MAX / sizeof(double))
        FAIL(length == 0 ? ERR_PARSE : ERR_UNSUPPORTED,
             "%s: dataset %s has %llu numbers; accepted: 1 to %ld (64 MB)", path, name,
             (unsigned long long)length, DATA_BYTES_MAX / (long)sizeof(double));
    *rows = (long)length;
    return 0;
}

/* One column: all have the length of the first. */
static int read_column(hid_t set, const char *name, int room, struct data_table *out)
{
    long rows = 0;
    const hid_t space = H5Dget_space(set);
    const hid_t type = H5Dget_type(set);
    int rc = check_dataset(out->file, name, space, type, &rows);
    H5Tclose(type);
    H5Sclose(space);
    TRY(rc);
    if (out->columns == 0) {
        out->rows = out->room = rows;
        TRY(MEM_NEW(rows * room, &out->values));
    }
    if (rows != out->rows)
        FAIL(ERR_PARSE, "%s: dataset %s has %ld numbers, %s has %ld; columns have one length",
             out->file, name, rows, out->name[0], out->rows);
    double *values = out->values + out->columns * out->room;
    TRY_H5(H5Dread(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values), out->file,
           name);
    snprintf(out->name[out->columns], DATA_NAME_SIZE, "%s", name);
    TRY(h5_get_text(set, out->file, "units", out->unit[out->columns], DATA_NAME_SIZE));
    out->columns++;
    return 0;
}

static bool is_dataset(int64_t file, const char *name)
{
    H5O_info_t info;
    return H5Lexists(file, name, H5P_DEFAULT) > 0
           && H5Oget_info_by_name2(file, name, &info, H5O_INFO_BASIC, H5P_DEFAULT) >= 0
           && info.type == H5O_TYPE_DATASET;
}

static int read_columns(int64_t file, const struct data_column *columns, struct data_table *out)
{
    int room = 0;
    while (columns[room].name != NULL)
        room++;
    TRY(MEM_NEW(room, &out->name));
    TRY(MEM_NEW(room, &out->unit));
    for (int i = 0; i < room; i++) {
        if (!is_dataset(file, columns[i].name))
            continue;
        const hid_t set = H5Dopen2(file, columns[i].name, H5P_DEFAULT);
        TRY_H5(set, out->file, columns[i].name);
        const int rc = read_column(set, columns[i].name, room, out);
        H5Dclose(set);
        TRY(rc);
    }
    return 0;
}

int input_read_table(const char *path, const struct data_column *columns,
                     struct data_table *out)
{
    int64_t file = 0;
    *out = (struct data_table){.file = path};
    TRY(h5_file_open(path, H5_READ, &file));
    const int rc = read_columns(file, columns, out);
    const int closed = h5_file_close(file, path);
    return rc != 0 ? rc : closed;
}

/* Fields */

#define FIELD_LENGTH_MAX 1000000000L

/* Whether a file begins as NetCDF's own format does. */
static bool is_classic_netcdf(const char *path)
{
    char begin[4] = "";
    FILE *const file = fopen(path, "rb");
    const bool read = file != NULL && fread(begin, 1, sizeof begin, file) == sizeof begin;
    if (file != NULL)
        fclose(file);
    return read && memcmp(begin, "CDF", 3) == 0
           && (begin[3] == 1 || begin[3] == 2 || begin[3] == 5);
}

static double elements_of(const long *length, int dims)
{
    double count = 1.0;
    for (int d = 0; d < dims; d++)
        count *= (double)length[d];
    return count;
}

static int check_field(const char *path, const struct data_field *field, hid_t space,
                       hid_t type, long length[DATA_DIMS_MAX])
{
    hsize_t there[H5S_MAX_RANK];
    const H5T_class_t class = H5Tget_class(type);
    const int dims = H5Sget_simple_extent_ndims(space);
    if (class != H5T_FLOAT && class != H5T_INTEGER)
        FAIL(ERR_PARSE, "%s: dataset %s holds no numbers", path, field->name);
    if (dims != field->dims)
        FAIL(ERR_PARSE, "%s: dataset %s has %d dimensions; %d are wanted", path, field->name,
             dims, field->dims);
    TRY_H5(H5Sget_simple_extent_dims(space, there, NULL), path, field->name);
    for (int d = 0; d < dims; d++) {
        if (there[d] == 0 || there[d] > (hsize_t)FIELD_LENGTH_MAX)
            FAIL(there[d] == 0 ? ERR_PARSE : ERR_UNSUPPORTED,
                 "%s: dataset %s: dimension %d has length %llu; accepted: 1 to %ld", path,
                 field->name, d, (unsigned long long)there[d], FIELD_LENGTH_MAX);
        length[d] = (long)there[d];
    }
    return 0;
}

/* Numbers that stand for others would be taken for themselves. Source: CF conventions 1.10, 8.1
 * (packed data). */
static int check_packing(hid_t set, const char *path, const char *name)
{
    static const struct {
        const char *name;
        double plain;
    } packing[] = {{"scale_factor", 1.0}, {"add_offset", 0.0}};
    for (int i = 0; i < 2; i++) {
        double value = 0.0;
        bool found = false;
        bool there = false;
        TRY(h5_get_real(set, path, packing[i].name, &value, &found, &there));
        if (there && (!found || value != packing[i].plain))
            FAIL(ERR_UNSUPPORTED,
                 "%s: dataset %s is packed (attribute %s), which is not undone; `ncpdq -U IN "
                 "OUT` unpacks it",
                 path, name, packing[i].name);
    }
    return 0;
}

/* Numbers that stand for none. */
static int find_fills(hid_t set, const char *path, struct data_array *array)
{
    static const char *const names[DATA_FILLS_MAX] = {"_FillValue", "missing_value"};
    for (int i = 0; i < DATA_FILLS_MAX; i++) {
        double value = 0.0;
        bool found = false;
        bool there = false;
        TRY(h5_get_real(set, path, names[i], &value, &found, &there));
        if (found)
            data_add_fill(array, value);
    }
    return 0;
}

/* Whether a dataset lies in its file as plain binary32, one value after the other; its place.
 */
static bool is_plain(hid_t set, haddr_t *place)
{
    const hid_t type = H5Dget_type(set);
    const bool plain = H5Tequal(type, H5T_IEEE_F32LE) > 0;
    H5Tclose(type);
    *place = plain ? H5Dget_offset(set) : HADDR_UNDEF;
    return *place != HADDR_UNDEF;
}

/* Whether the value that HDF5 finds at an index is the one that lies there: a block before the
 * file's own beginning would move it. */
static int check_place(hid_t set, const struct data_array *array, long index)
{
    hsize_t at[DATA_DIMS_MAX];
    const hsize_t one[DATA_DIMS_MAX] = {1, 1, 1};
    float value[2] = {0.0f, 0.0f};
    uint32_t word[2];
    long rest = index;
    for (int d = array->dims - 1; d >= 0; d--) {
        at[d] = (hsize_t)(rest % array->length[d]);
        rest /= array->length[d];
    }
    TRY(data_read(array, index, 1, &value[0]));
    const hid_t space = H5Dget_space(set);
    const hid_t memory = H5Screate_simple(1, one, NULL);
    herr_t rc = H5Sselect_hyperslab(space, H5S_SELECT_SET, at, NULL, one, NULL);
    if (rc >= 0)
        rc = H5Dread(set, H5T_NATIVE_FLOAT, memory, space, H5P_DEFAULT, &value[1]);
    H5Sclose(memory);
    H5Sclose(space);
    TRY_H5(rc, array->place.path, array->name);
    memcpy(word, value, sizeof word);
    if (word[0] != word[1])
        FAIL(ERR_UNSUPPORTED, "%s: dataset %s does not lie where HDF5 says", array->place.path,
             array->name);
    return 0;
}

/* A large array stays where it is, and is read from there in blocks. */
static int leave_field(hid_t set, const char *path, const struct data_field *field,
                       const long *length, const char *unit, haddr_t place,
                       struct data_set *out)
{
    TRY(data_add_place(out, field->name, unit, field->dims, length, path, (int64_t)place));
    const struct data_array *const array = &out->array[out->arrays - 1];
    TRY(check_place(set, array, 0));
    return check_place(set, array, data_count(array) - 1);
}

static int read_values(hid_t set, const char *path, const struct data_field *field,
                       struct data_set *out)
{
    long length[DATA_DIMS_MAX] = {0};
    char unit[DATA_NAME_SIZE];
    double *values = NULL;
    const hid_t space = H5Dget_space(set);
    const hid_t type = H5Dget_type(set);
    const int rc = check_field(path, field, space, type, length);
    H5Tclose(type);
    H5Sclose(space);
    TRY(rc);
    TRY(check_packing(set, path, field->name));
    TRY(h5_get_text(set, path, "units", unit, sizeof unit));
    const double bytes = elements_of(length, field->dims) * (double)sizeof(double);
    haddr_t place = HADDR_UNDEF;
    if (bytes > (double)DATA_PLACE_MIN && is_plain(set, &place))
        return leave_field(set, path, field, length, unit, place, out);
    if (bytes > (double)DATA_BYTES_MAX)
        FAIL(ERR_UNSUPPORTED,
             "%s: dataset %s is larger than %ld MB; only an array of little-endian binary32 "
             "that is neither compressed nor chunked may be",
             path, field->name, DATA_BYTES_MAX >> 20);
    TRY(data_add_real(out, field->name, unit, field->dims, length, &values));
    TRY_H5(H5Dread(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values), path,
           field->name);
    return 0;
}

static int read_field(hid_t set, const char *path, const struct data_field *field,
                      struct data_set *out)
{
    TRY(read_values(set, path, field, out));
    return find_fills(set, path, &out->array[out->arrays - 1]);
}

static int read_fields(int64_t file, const char *path, const struct data_field *fields,
                       struct data_set *out)
{
    for (const struct data_field *f = fields; f->name != NULL; f++) {
        if (!is_dataset(file, f->name)) {
            if (f->optional)
                continue;
            FAIL(ERR_PARSE, "%s: dataset %s is missing", path, f->name);
        }
        const hid_t set = H5Dopen2(file, f->name, H5P_DEFAULT);
        TRY_H5(set, path, f->name);
        const int rc = read_field(set, path, f, out);
        H5Dclose(set);
        TRY(rc);
    }
    return 0;
}

int input_read_fields(const char *path, const struct data_field *fields, struct data_set *out)
{
    int64_t file = 0;
    if (is_classic_netcdf(path))
        FAIL(ERR_UNSUPPORTED,
             "%s: is classic NetCDF, which is not read; `nccopy -k nc4 IN OUT` makes NetCDF-4 "
             "of it",
             path);
    if (!input_is_hdf5(path) && access(path, R_OK) == 0)
        FAIL(ERR_ARGUMENT, "%s: is no HDF5 or NetCDF-4 file", path);
    TRY(h5_file_open(path, H5_READ, &file));
    const int rc = read_fields(file, path, fields, out);
    const int closed = h5_file_close(file, path);
    return rc != 0 ? rc : closed;
}

/* Planes */

static int check_model(struct store *store, const char *path, const struct model_info *model)
{
    char name[80];
    char convention[600];
    TRY(read_attribute(store, "/", "model", name, sizeof name));
    TRY(read_attribute(store, "/", "convention", convention, sizeof convention));
    if (strcmp(name, model->name) != 0)
        FAIL(ERR_ARGUMENT, "%s: holds results of model %s; those of model %s are wanted", path,
             name, model->name);
    if (strcmp(convention, model->convention) != 0)
        FAIL(ERR_ARGUMENT,
             "%s: its fields have another convention than model %s of this "
             "program: %s",
             path, model->name, convention);
    return 0;
}

static int find_member(struct store *store, const char *path, int64_t member, uint8_t *state,
                       int64_t *saved)
{
    const int64_t first = store_first(store);
    const int64_t last = first + store_members(store) - 1;
    if (member < first || member > last)
        FAIL(ERR_ARGUMENT,
             "%s: member %" PRId64 " does not exist; the members are %" PRId64 " to %" PRId64,
             path, member, first, last);
    return store_read_states(store, member, 1, state, saved);
}

static int find_plane(struct store *store, const char *path, const struct input_plane *wanted,
                      long *plane)
{
    uint8_t state = 0;
    int64_t saved = 0;
    TRY(find_member(store, path, wanted->member, &state, &saved));
    if (saved == 0)
        FAIL(ERR_ARGUMENT, "%s: member %" PRId64 " has no saved plane", path, wanted->member);
    if (wanted->plane < 0 && state != MEMBER_DONE)
        FAIL(ERR_ARGUMENT,
             "%s: member %" PRId64 " is not done, its last plane is not known; "
             "planes 0 to %" PRId64 " are saved",
             path, wanted->member, saved - 1);
    if (wanted->plane >= saved)
        FAIL(ERR_ARGUMENT,
             "%s: plane %" PRId64 " of member %" PRId64 " is not saved; accepted: 0 to %" PRId64
             ", or last",
             path, wanted->plane, wanted->member, saved - 1);
    *plane = (long)(wanted->plane < 0 ? saved - 1 : wanted->plane);
    return store_check_plane(store, wanted->member, *plane);
}

/* The scale of a dimension: as long as it is valid on the member's grid. */
static int read_dimension(struct store *store, const char *label, int64_t grid,
                          struct data_set *out, long *length)
{
    char name[READ_NAME_SIZE];
    struct read_dataset about;
    double *values = NULL;
    double *to = NULL;
    snprintf(name, sizeof name, "%s", label);
    char *const suffix = strstr(name, "_index");
    if (suffix != NULL)
        *suffix = '\0';
    TRY(read_describe(store, name, &about));
    TRY(read_scale(store, name, grid, &values, length));
    while (*length > 0 && isnan(values[*length - 1]))
        --*length;
    const int rc = data_add_real(out, name, about.unit, 1, length, &to);
    if (rc == 0)
        memcpy(to, values, (size_t)*length * sizeof *to);
    mem_free(values);
    return rc;
}

static int check_finite(const char *path, const struct input_plane *wanted,
                        const double *values, long count)
{
    for (long i = 0; i < count; i++)
        if (!isfinite(values[i]))
            FAIL(ERR_ARGUMENT, "%s: plane/%s of member %" PRId64 ": number %ld is not finite",
                 path, wanted->array, wanted->member, i);
    return 0;
}

static int take_plane(struct store *store, const char *path, const struct input_plane *wanted,
                      struct data_set *out)
{
    char name[READ_NAME_SIZE + 8];
    struct read_dataset about;
    double grid = 0;
    long plane = 0;
    long length[DATA_DIMS_MAX] = {0};
    long elements = 1;
    double *values = NULL;
    TRY(check_model(store, path, wanted->model));
    snprintf(name, sizeof name, "plane/%.80s", wanted->array);
    if (!read_exists(store, name))
        FAIL(ERR_ARGUMENT, "%s: has no %s; a run with save: {field: true} keeps it", path,
             name);
    TRY(find_plane(store, path, wanted, &plane));
    TRY(read_describe(store, name, &about));
    TRY(read_rows(store, "member/grid", wanted->member, 1, 1, &grid));
    const bool pairs = about.type == ELEMENT_C128 || about.type == ELEMENT_C64;
    const int dims = about.dims - 2;
    if (dims < 1 || dims + pairs > DATA_DIMS_MAX)
        FAIL(ERR_UNSUPPORTED, "%s: %s has %d dimensions a plane", path, name, dims);
    for (int d = 0; d < dims; d++) {
        TRY(read_dimension(store, about.dim_name[d + 2], (int64_t)grid, out, &length[d]));
        elements *= length[d];
    }
    length[dims] = 2;
    TRY(data_add_real(out, wanted->array, about.unit, dims + pairs, length, &values));
    TRY(store_read_plane(store, wanted->array, wanted->member, plane, elements, values));
    return check_finite(path, wanted, values, elements * (pairs ? 2 : 1));
}

/* Whether a line of a canonical form says that noise went into the fields: the run's own, or
 * that of a plane it began with, whose label ends in the array that says so. */
static bool line_has_noise(const char *line, size_t length)
{
    static const char own[] = "ensemble.noise: ";
    static const char input[] = "inputs.";
    static const char label[] = ", " INPUT_NOISE " [1] 1\"";
    const size_t tail = sizeof label - 1;
    if (strncmp(line, own, sizeof own - 1) == 0)
        return true;
    return strncmp(line, input, sizeof input - 1) == 0 && length > tail
           && strncmp(line + length - tail, label, tail) == 0;
}

/* Mark a plane that carries noise. */
static int note_noise(struct store *store, struct data_set *out)
{
    const long one = 1;
    char *form = NULL;
    bool noise = false;
    int64_t *value = NULL;
    TRY(read_text(store, "config_canonical", &form));
    for (const char *line = form; *line != '\0' && !noise;) {
        const size_t length = strcspn(line, "\n");
        noise = line_has_noise(line, length);
        line += length + (line[length] == '\n');
    }
    mem_free(form);
    if (!noise)
        return 0;
    TRY(data_add_whole(out, INPUT_NOISE, "1", 1, &one, &value));
    value[0] = 1;
    return 0;
}

static int open_run(const char *path, struct store **out)
{
    if (!input_is_hdf5(path) && access(path, R_OK) == 0)
        FAIL(ERR_ARGUMENT, "%s: is no HDF5 file; a result file of an earlier run is wanted",
             path);
    return store_open_read(path, out);
}

int input_read_plane(const char *path, const struct input_plane *wanted, struct data_set *out)
{
    struct store *store = NULL;
    TRY(open_run(path, &store));
    int rc = take_plane(store, path, wanted, out);
    if (rc == 0)
        rc = note_noise(store, out);
    store_close(store); /* opened for reading: nothing can be lost */
    return rc;
}

/* Step histories */

/* How many trial steps of a member are kept: all of them, or the member is refused. */
static int check_history(struct store *store, const char *path, int64_t member, long *count)
{
    uint8_t state = 0;
    int64_t saved = 0;
    double cut = 0.0;
    double kept = 0.0;
    TRY(find_member(store, path, member, &state, &saved));
    if (state != MEMBER_DONE)
        FAIL(ERR_ARGUMENT, "%s: member %" PRId64 " is not done, its steps are not all known",
             path, member);
    if (!read_exists(store, "step/n_steps"))
        FAIL(ERR_ARGUMENT, "%s: keeps no step history; a run with store: {history: N} does",
             path);
    TRY(read_rows(store, "member/history_truncated", member, 1, 1, &cut));
    TRY(read_rows(store, "step/n_steps", member, 1, 1, &kept));
    if (cut != 0.0)
        FAIL(ERR_ARGUMENT,
             "%s: the step history of member %" PRId64 " is truncated: %.0f steps are kept; "
             "store: {history: N} with a larger N keeps all, of a member that no resume "
             "interrupts",
             path, member, kept);
    *count = (long)kept;
    return 0;
}

int input_add_steps(const struct step_record *record, long count, struct data_set *out)
{
    double *z = NULL;
    double *h = NULL;
    long accepted = 0;
    for (long i = 0; i < count; i++)
        accepted += record[i].accepted ? 1 : 0;
    TRY(data_add_real(out, "z", "m", 1, &accepted, &z));
    TRY(data_add_real(out, "h", "m", 1, &accepted, &h));
    for (long i = 0, k = 0; i < count; i++) {
        if (!record[i].accepted)
            continue;
        z[k] = record[i].position;
        h[k++] = record[i].length;
    }
    return 0;
}

static int take_steps(struct store *store, const char *path, int64_t member,
                      const struct model_info *model, struct data_set *out)
{
    long count = 0;
    struct step_record *record = NULL;
    TRY(check_model(store, path, model));
    TRY(check_history(store, path, member, &count));
    TRY(MEM_NEW(count > 0 ? count : 1, &record));
    int rc = store_read_steps(store, member, count, record);
    if (rc == 0)
        rc = input_add_steps(record, count, out);
    mem_free(record);
    return rc;
}

int input_read_steps(const char *path, int64_t member, const struct model_info *model,
                     struct data_set *out)
{
    struct store *store = NULL;
    TRY(open_run(path, &store));
    const int rc = take_steps(store, path, member, model, out);
    store_close(store); /* opened for reading: nothing can be lost */
    return rc;
}

/* Hashes */

#define PART_SIZE (2 * DATA_NAME_SIZE + DATA_DIMS_MAX * 24 + 64)

/* Values in a file: the hash of the hashes of its pieces, one pass. */
static int hash_place(const struct data_array *array, uint64_t hash[2])
{
    const long piece = 1L << 21;
    const long count = data_count(array);
    float *values = NULL;
    int rc = 0;
    uint64_t chain[4] = {0};
    TRY(MEM_NEW(piece, &values));
    for (long at = 0; at < count; at += piece) {
        const long length = count - at < piece ? count - at : piece;
        TRY_OR(rc, done, data_read(array, at, length, values));
        hash_128(values, (size_t)length * sizeof *values, &chain[2]);
        hash_128(chain, sizeof chain, hash);
        chain[0] = hash[0];
        chain[1] = hash[1];
    }
done:
    mem_free(values);
    return rc;
}

static int hash_values(const struct data_array *a, uint64_t hash[2])
{
    const void *values = a->real != NULL ? (const void *)a->real : a->whole;
    if (a->place.path != NULL)
        return hash_place(a, hash);
    hash_128(values, (size_t)data_count(a) * sizeof(double), hash);
    return 0;
}

int input_hash(struct data_set *set)
{
    char *text = NULL;
    size_t used = 0;
    uint64_t hash[2] = {0};
    const size_t size = (size_t)set->arrays * PART_SIZE + 1;
    TRY(mem_alloc((long)size, 1, (void **)&text));
    for (int i = 0; i < set->arrays; i++) {
        const struct data_array *a = &set->array[i];
        const int rc = hash_values(a, hash);
        if (rc != 0) {
            mem_free(text);
            return rc;
        }
        used += (size_t)snprintf(text + used, size - used, "%s|%s|%s|", a->name, a->unit,
                                 a->real != NULL    ? "f64"
                                 : a->whole != NULL ? "i64"
                                                    : "f32");
        for (int d = 0; d < a->dims; d++)
            used += (size_t)snprintf(text + used, size - used, "%ld,", a->length[d]);
        used += (size_t)snprintf(text + used, size - used, "%016" PRIx64 "%016" PRIx64 "\n",
                                 hash[0], hash[1]);
    }
    hash_128(text, used, hash);
    snprintf(set->hash, sizeof set->hash, "%016" PRIx64 "%016" PRIx64, hash[0], hash[1]);
    mem_free(text);
    return 0;
}
