/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/base/mem.h"
#include "kernels/base/status.h"
#include "runner/plot.h"

static bool is_complex(enum element type)
{
    return type == ELEMENT_C128 || type == ELEMENT_C64;
}

/* The dimension of a stored spectrum: "omega", or its index where a file has several grids. */
static bool is_omega(const char *name)
{
    return strcmp(name, "omega") == 0 || strcmp(name, "omega_index") == 0;
}

static int learn_planes(struct plot_source *s)
{
    struct read_dataset *list = NULL;
    int count = 0;
    TRY(read_list(s->store, "plane", &list, &count));
    int rc = 0;
    for (int i = 0; i < count; i++) {
        char path[READ_NAME_SIZE + 8];
        char kind[24];
        snprintf(path, sizeof path, "plane/%s", list[i].name);
        TRY_OR(rc, done, read_attribute(s->store, path, "kind", kind, sizeof kind));
        if (strcmp(kind, "progress") == 0) {
            snprintf(s->progress, sizeof s->progress, "%s", list[i].name);
            snprintf(s->progress_unit, sizeof s->progress_unit, "%s", list[i].unit);
            s->planes = (long)list[i].length[1];
        } else if (s->field[0] == '\0' && list[i].dims == 3 && is_complex(list[i].type)
                   && is_omega(list[i].dim_name[2])) {
            snprintf(s->field, sizeof s->field, "%s", list[i].name);
            snprintf(s->field_unit, sizeof s->field_unit, "%s", list[i].unit);
        }
    }
    if (s->planes == 0)
        rc = status_fail(ERR_CONFLICT, "%s: has no progress variable under /plane", s->path);
done:
    mem_free(list);
    return rc;
}

/* The last member stands at the end of every axis; a shard may not hold it. */
static int learn_axes(struct plot_source *s)
{
    struct read_dataset point;
    double index[PLOT_AXES_MAX];
    if (!read_exists(s->store, "member/point"))
        return 0;
    TRY(read_describe(s->store, "member/point", &point));
    if (point.length[1] > PLOT_AXES_MAX)
        FAIL(ERR_UNSUPPORTED, "%s: has %lld axes; plot takes %d", s->path,
             (long long)point.length[1], PLOT_AXES_MAX);
    s->axes = (int)point.length[1];
    for (int p = 0; p < s->parameters; p++)
        if (s->parameter[p].axis >= 0 && s->parameter[p].axis < s->axes)
            s->axis_length[s->parameter[p].axis] = s->parameter[p].length;
    if (store_window(s->store).shards > 1)
        return 0;
    TRY(read_rows(s->store, "member/point", s->members - 1, 1, s->axes, index));
    for (int a = 0; a < s->axes; a++)
        s->axis_length[a] = (int64_t)index[a] + 1;
    return 0;
}

int plot_source_open(const char *path, struct plot_source *out)
{
    *out = (struct plot_source){.path = path};
    TRY(store_open_read(path, &out->store));
    out->first = store_first(out->store);
    out->members = store_members(out->store);
    out->points = store_points(out->store);
    out->realisations = store_realisations(out->store);
    int rc = 0;
    TRY_OR(rc, done, read_attribute(out->store, "/", "scan", out->scan, sizeof out->scan));
    TRY_OR(rc, done, learn_planes(out));
    TRY_OR(rc, done, plot_parameters_read(out));
    TRY_OR(rc, done, learn_axes(out));
done:
    if (rc != 0)
        plot_source_close(out);
    return rc;
}

void plot_source_close(struct plot_source *source)
{
    plot_parameters_clear(source);
    store_close(source->store); /* opened for reading: nothing can be lost */
    source->store = NULL;
}

int plot_source_require_field(const struct plot_source *source, const char *what)
{
    if (source->field[0] != '\0')
        return 0;
    FAIL(ERR_ARGUMENT,
         "%s: holds no field over omega, so there is no %s to draw; models that have one keep "
         "it "
         "with 'save: {field: true}'",
         source->path, what);
}

int plot_source_first_done(struct plot_source *source, int64_t point, int64_t *member)
{
    enum { BLOCK = 4096 };
    uint8_t state[BLOCK];
    const int64_t first = point * source->realisations;
    for (int64_t r = 0; r < source->realisations; r += BLOCK) {
        const int64_t left = source->realisations - r;
        const int64_t count = left < BLOCK ? left : BLOCK;
        TRY(store_read_states(source->store, first + r, count, state, NULL));
        for (int64_t i = 0; i < count; i++) {
            *member = first + r + i;
            if (state[i] == MEMBER_DONE)
                return 0;
        }
    }
    if (source->realisations == 1)
        FAIL(ERR_ARGUMENT,
             "%s: member %lld, the only one of point %lld, is not done; --member %lld draws "
             "what it saved",
             source->path, (long long)first, (long long)point, (long long)first);
    FAIL(ERR_ARGUMENT,
         "%s: none of the %lld members of point %lld is done; --member N draws what one saved",
         source->path, (long long)source->realisations, (long long)point);
}

int plot_source_member(struct plot_source *source, const struct plot_request *request,
                       int64_t point, int64_t *member)
{
    if (request->member < 0)
        return plot_source_first_done(source, point, member);
    *member = request->member;
    return 0;
}

int plot_source_check_member(const struct plot_source *source, int64_t member)
{
    const int64_t row = member - source->first;
    const bool shard = store_window(source->store).shards > 1;
    if (row < 0 || row >= source->members)
        FAIL(ERR_ARGUMENT, "%s: member %lld %s; the members are %lld to %lld", source->path,
             (long long)member, shard ? "is in another shard" : "does not exist",
             (long long)source->first, (long long)(source->first + source->members - 1));
    return 0;
}

int plot_source_saved(struct plot_source *source, int64_t member, long *saved)
{
    int64_t count = 0;
    TRY(plot_source_check_member(source, member));
    TRY(store_read_states(source->store, member, 1, NULL, &count));
    if (count < 1)
        FAIL(ERR_ARGUMENT, "%s: member %lld has no saved plane", source->path,
             (long long)member);
    *saved = (long)count;
    return 0;
}

int plot_source_plane(const struct plot_source *source, long asked, long saved, long *plane)
{
    if (asked >= saved)
        FAIL(ERR_ARGUMENT, "%s: plane %ld is not saved; the saved planes are 0 to %ld",
             source->path, asked, saved - 1);
    *plane = asked < 0 ? saved - 1 : asked;
    return 0;
}

int plot_source_field(struct plot_source *source, int64_t member, long plane, long n,
                      double *field)
{
    char path[READ_NAME_SIZE + 8];
    snprintf(path, sizeof path, "plane/%s", source->field);
    const int64_t start[3] = {member, plane, 0};
    const int64_t count[3] = {1, 1, n};
    return read_block(source->store, path, start, count, field);
}

int plot_source_power(struct plot_source *source, int64_t member, long plane, long n,
                      double *power)
{
    double *field = NULL;
    TRY(MEM_NEW(2 * n, &field));
    const int rc = plot_source_field(source, member, plane, n, field);
    for (long k = 0; k < n && rc == 0; k++)
        power[k] = field[2 * k] * field[2 * k] + field[2 * k + 1] * field[2 * k + 1];
    mem_free(field);
    return rc;
}

int plot_source_scale(struct plot_source *source, const char *name, int64_t member,
                      double **values, long *count)
{
    double grid = 0;
    TRY(read_rows(source->store, "member/grid", member, 1, 1, &grid));
    TRY(read_scale(source->store, name, (int64_t)grid, values, count));
    while (*count > 0 && isnan((*values)[*count - 1])) /* beyond this grid's valid length */
        --*count;
    return 0;
}

void plot_source_indices(const struct plot_source *source, int64_t point, int64_t *index)
{
    for (int a = source->axes - 1; a >= 0; a--) {
        index[a] = point % source->axis_length[a];
        point /= source->axis_length[a];
    }
}

int plot_source_plane_text(struct plot_source *source, int64_t member, long plane, char *text,
                           size_t size)
{
    char path[READ_NAME_SIZE + 8];
    char shown[TEXT_SIZE];
    double position = 0;
    snprintf(path, sizeof path, "plane/%s", source->progress);
    const int64_t start[2] = {member, plane};
    const int64_t count[2] = {1, 1};
    TRY(read_block(source->store, path, start, count, &position));
    text_value(position, source->progress_unit, shown);
    snprintf(text, size, "%s = %s", source->progress, shown);
    return 0;
}
