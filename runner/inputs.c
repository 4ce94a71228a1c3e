/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "runner/inputs.h"

#include <stdio.h>
#include <string.h>

#include "io/input.h"
#include "kernels/base/mem.h"
#include "kernels/base/status.h"
#include "scans/table.h"
#include "scans/units.h"

#define TEXT_SIZE      1500
#define LABEL_PATH_MAX 120

/* Reading */

static int read_table(struct scan_input *input)
{
    struct data_table table = {0};
    int rc = input_is_hdf5(input->path)
                 ? input_read_table(input->path, input->info->columns, &table)
                 : table_read(input->path, &table);
    if (rc == 0)
        rc = table_take(&table, input->info, input->columns, &input->set);
    data_table_clear(&table);
    return rc;
}

/* Into the unit of the model; without one in the file the numbers are in it. */
static int convert_field(struct units *units, const char *path, const struct data_field *field,
                         struct data_array *array)
{
    char why[UNITS_WHY_SIZE] = "";
    char text[DATA_NAME_SIZE + 8];
    double factor = 1.0;
    double zero = 0.0;
    const bool bare = array->unit[0] == '\0' || strcmp(array->unit, field->unit) == 0;
    snprintf(text, sizeof text, "1 %s", array->unit);
    int rc = bare ? 0 : units_value(units, text, field->unit, &factor, why);
    snprintf(text, sizeof text, "0 %s", array->unit);
    if (rc == 0 && !bare)
        rc = units_value(units, text, field->unit, &zero, why);
    if (rc == ERR_PARSE || zero != 0.0)
        FAIL(ERR_PARSE, "%s: dataset %s: unit %s: %s; a unit of %s is wanted", path,
             field->name, array->unit, zero != 0.0 ? "its zero is another" : why, field->unit);
    TRY(rc);
    if (factor != 1.0 && array->real == NULL)
        FAIL(ERR_UNSUPPORTED,
             "%s: dataset %s: unit %s: so large an array is not converted; %s "
             "is wanted",
             path, field->name, array->unit, field->unit);
    for (long i = 0; factor != 1.0 && i < data_count(array); i++)
        array->real[i] *= factor;
    snprintf(array->unit, sizeof array->unit, "%s", field->unit);
    return 0;
}

static int read_fields(struct scan_input *input)
{
    struct units *units = NULL;
    int rc = 0;
    TRY(input_read_fields(input->path, input->info->fields, &input->set));
    TRY(units_create(&units));
    for (const struct data_field *f = input->info->fields; rc == 0 && f->name != NULL; f++)
        for (int i = 0; rc == 0 && i < input->set.arrays; i++)
            if (strcmp(input->set.array[i].name, f->name) == 0)
                rc = convert_field(units, input->path, f, &input->set.array[i]);
    units_destroy(units);
    return rc;
}

static int read_plane(const struct scan *scan, struct scan_input *input)
{
    const struct input_plane wanted = {.array = input->info->plane_array,
                                       .member = input->member,
                                       .plane = input->plane,
                                       .model = scan_model(scan)->info};
    return input_read_plane(input->path, &wanted, &input->set);
}

static int read_set(const struct scan *scan, struct scan_input *input)
{
    if (input->info->steps)
        return input_read_steps(input->path, input->member, scan_model(scan)->info,
                                &input->set);
    if (input->info->fields != NULL)
        return read_fields(input);
    return input->info->plane_array != NULL ? read_plane(scan, input) : read_table(input);
}

/* Bytes of a path that a label has room for: whole characters. */
static int label_length(const char *path)
{
    size_t length = strlen(path);
    if (length <= LABEL_PATH_MAX)
        return (int)length;
    length = LABEL_PATH_MAX;
    while (length > 0 && ((unsigned char)path[length] & 0xC0) == 0x80)
        length--;
    return (int)length;
}

/* "earlier.h5, member 3, plane last: omega [4096] rad s^-1, field [4096 x 2] W^0.5" */
static void write_label(struct scan_input *input)
{
    struct data_set *set = &input->set;
    const size_t size = sizeof set->label;
    size_t used = (size_t)snprintf(set->label, size, "%.*s", label_length(input->written),
                                   input->written);
    if (input->info->plane_array != NULL && input->plane >= 0)
        used += (size_t)snprintf(set->label + used, size - used, ", member %lld, plane %lld",
                                 (long long)input->member, (long long)input->plane);
    else if (input->info->plane_array != NULL)
        used += (size_t)snprintf(set->label + used, size - used, ", member %lld, plane last",
                                 (long long)input->member);
    if (input->info->steps)
        used += (size_t)snprintf(set->label + used, size - used, ", steps of member %lld",
                                 (long long)input->member);
    for (int i = 0; i < set->arrays && used < size; i++) {
        const struct data_array *a = &set->array[i];
        used += (size_t)snprintf(set->label + used, size - used, "%s %s [", i > 0 ? "," : ":",
                                 a->name);
        for (int d = 0; d < a->dims && used < size; d++)
            used += (size_t)snprintf(set->label + used, size - used, "%s%ld",
                                     d > 0 ? " x " : "", a->length[d]);
        if (used < size)
            used += (size_t)snprintf(set->label + used, size - used, "] %s", a->unit);
    }
}

/* Every fault of an input is one of what was asked for, whoever finds it. */
static int fail_input(const struct scan_input *input, int code, const char *text)
{
    if (code == ERR_MEMORY || code == ERR_BUG)
        FAIL(code, "%s", text);
    const bool named = strstr(text, input->path) != NULL;
    FAIL(code == ERR_IO || code == ERR_CONFLICT ? ERR_ARGUMENT : code, "%s: %s: %s%s%s",
         input->place, input->param, named ? "" : input->path, named ? "" : ": ", text);
}

static int load_one(const struct scan *scan, struct scan_input *input)
{
    char text[TEXT_SIZE] = "";
    const struct status_saved saved = status_capture_save();
    status_capture(text, sizeof text);
    int rc = read_set(scan, input);
    if (rc == 0)
        rc = input_hash(&input->set);
    status_capture_restore(saved);
    if (rc != 0)
        return fail_input(input, rc, text);
    write_label(input);
    if (input->info->prepare != NULL)
        TRY(input->info->prepare(&input->set));
    if (scan_input_bytes(scan) > INPUTS_BYTES_MAX)
        FAIL(ERR_UNSUPPORTED, "%s: %s: all data of the scan are larger than %ld MB, the limit",
             input->place, input->param, INPUTS_BYTES_MAX >> 20);
    return 0;
}

/* Noise that is added to noise must be wanted: the sum is no longer that of one input. */
static int check_noise(const struct scan *scan)
{
    const struct scan_ensemble *ensemble = scan_get_ensemble(scan);
    if (!ensemble->present || ensemble->noise == NOISE_NONE || ensemble->onto_noise)
        return 0;
    for (int i = 0; i < scan_inputs(scan); i++) {
        const struct scan_input *input = scan_get_input(scan, i);
        if (data_find(&input->set, INPUT_NOISE) != NULL)
            FAIL(ERR_ARGUMENT,
                 "%s: %s: the planes of %s carry noise already, ensemble.noise would add more; "
                 "leave the section ensemble out, or say ensemble: {onto_noise: true}",
                 input->place, input->param, input->written);
    }
    return 0;
}

int inputs_load(struct scan *scan)
{
    const int count = scan_inputs(scan);
    if (count == 0)
        return 0;
    for (int i = 0; i < count; i++)
        TRY(load_one(scan, scan_get_input(scan, i)));
    TRY(check_noise(scan));
    return scan_bind(scan);
}

int inputs_check(const struct scan *scan, const char *canonical, const char *file)
{
    for (int i = 0; i < scan_inputs(scan); i++) {
        const struct scan_input *input = scan_get_input(scan, i);
        if (strstr(canonical, input->set.hash) == NULL)
            FAIL(ERR_CONFLICT, "%s: %s: %s has changed since %s was made", input->place,
                 input->param, input->written, file);
    }
    return 0;
}

/* Sharing */

size_t inputs_packed_size(const struct scan *scan)
{
    size_t size = 0;
    for (int i = 0; i < scan_inputs(scan); i++)
        size += data_packed_size(&scan_get_input(scan, i)->set);
    return size;
}

void inputs_pack(const struct scan *scan, char *bytes)
{
    for (int i = 0; i < scan_inputs(scan); i++) {
        const struct data_set *set = &scan_get_input(scan, i)->set;
        data_pack(set, bytes);
        bytes += data_packed_size(set);
    }
}

/* Two files of one content are one set there. */
static struct data_set *find_set(struct scan *scan, const char *hash)
{
    for (int i = 0; i < scan_inputs(scan); i++)
        if (strcmp(scan_get_input(scan, i)->set.hash, hash) == 0)
            return &scan_get_input(scan, i)->set;
    return NULL;
}

int inputs_unpack(struct scan *scan, const char *bytes, size_t size)
{
    while (size > 0) {
        struct data_set one;
        size_t used = 0;
        int rc = data_unpack(&one, bytes, &used);
        struct data_set *set = rc == 0 ? find_set(scan, one.hash) : NULL;
        if (set != NULL && set->arrays == 0)
            *set = one;
        else
            data_clear(&one);
        TRY(rc);
        bytes += used;
        size -= used;
    }
    for (int i = 0; i < scan_inputs(scan); i++)
        if (scan_get_input(scan, i)->set.arrays == 0)
            FAIL(ERR_BUG, "no data came for input %s", scan_get_input(scan, i)->set.hash);
    return 0;
}
