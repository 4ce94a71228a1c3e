/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "runner/plot_quantity.h"

#include <math.h>
#include <string.h>

#include "kernels/base/mem.h"
#include "kernels/base/status.h"

/* Names of the numbers a group keeps for each plane, to choose from. */
static int append_names(struct store *store, const char *group, char *text, size_t size)
{
    struct read_dataset *list = NULL;
    int count = 0;
    if (!read_exists(store, group))
        return 0;
    TRY(read_list(store, group, &list, &count));
    for (int i = 0; i < count; i++) {
        const size_t used = strlen(text);
        if (list[i].dims == 2 && !list[i].text && strcmp(list[i].name, "checksum") != 0)
            snprintf(text + used, size - used, "%s%s", used > 0 ? ", " : "", list[i].name);
    }
    mem_free(list);
    return 0;
}

static int refuse_name(const struct plot_source *source, const char *name)
{
    char names[3 * PLOT_TEXT_SIZE] = "";
    TRY(append_names(source->store, "plane", names, sizeof names));
    TRY(append_names(source->store, "ensemble", names, sizeof names));
    FAIL(ERR_ARGUMENT, "%s: holds no observable '%s'; it has %s", source->path, name, names);
}

static int find_observable(struct plot_quantity *q, const char *name)
{
    static const char *const groups[] = {"plane", "ensemble"};
    for (int g = 0; g < 2; g++) {
        struct read_dataset info;
        char error[READ_NAME_SIZE + 24];
        snprintf(q->path, sizeof q->path, "%s/%.95s", groups[g], name);
        if (!read_exists(q->source->store, q->path))
            continue;
        TRY(read_describe(q->source->store, q->path, &info));
        if (info.dims > 2 || info.text)
            FAIL(ERR_ARGUMENT, "%s: %s is no observable: it holds more than a number a plane",
                 q->source->path, q->path);
        snprintf(q->unit, sizeof q->unit, "%s", info.unit);
        snprintf(error, sizeof error, "%s_error", q->path);
        q->per_point = g == 1;
        q->dims = info.dims;
        q->has_error = g == 1 && read_exists(q->source->store, error);
        return 0;
    }
    return refuse_name(q->source, name);
}

int plot_quantity_init(struct plot_source *source, const char *name, const char *axis,
                       struct plot_quantity *out)
{
    *out = (struct plot_quantity){.source = source};
    TRY(find_observable(out, name));
    const bool progress =
        axis != NULL ? strcmp(axis, source->progress) == 0 : source->axes == 0;
    return progress ? 0 : plot_parameter_find(source, axis, &out->parameter);
}

const char *plot_quantity_x_name(const struct plot_quantity *q)
{
    return q->parameter != NULL ? q->parameter->name : q->source->progress;
}

const char *plot_quantity_x_unit(const struct plot_quantity *q)
{
    return q->parameter != NULL ? q->parameter->unit : q->source->progress_unit;
}

static int read_one(const struct plot_quantity *q, const char *suffix, int64_t row, long plane,
                    double *value)
{
    char path[READ_NAME_SIZE + 32];
    const int64_t start[2] = {row, plane};
    const int64_t count[2] = {1, 1};
    snprintf(path, sizeof path, "%s%s", q->path, suffix);
    return read_block(q->source->store, path, start, count, value);
}

static int read_place(const struct plot_quantity *q, int64_t member, long plane, double *place)
{
    char path[READ_NAME_SIZE + 8];
    const int64_t start[2] = {member, plane};
    const int64_t count[2] = {1, 1};
    snprintf(path, sizeof path, "plane/%s", q->source->progress);
    return read_block(q->source->store, path, start, count, place);
}

/* Mean and standard deviation over the members that reached the plane. One that is not done
 * counts only where it stands alone: it would bias a mean. */
static int read_members(const struct plot_quantity *q, int64_t first, int64_t members,
                        long plane, struct plot_sample *out)
{
    double mean = 0;
    double squares = 0;
    int64_t n = 0;
    for (int64_t member = first; member < first + members; member++) {
        int64_t saved = 0;
        uint8_t state = 0;
        double value = 0;
        TRY(store_read_states(q->source->store, member, 1, &state, &saved));
        if (saved <= plane || (members > 1 && state != MEMBER_DONE))
            continue;
        TRY(read_one(q, "", member, plane, &value));
        if (n == 0)
            TRY(read_place(q, member, plane, &out->place));
        n++;
        const double step = value - mean;
        mean += step / (double)n; /* running mean and sum of squares (Welford 1962) */
        squares += step * (value - mean);
    }
    out->y = n > 0 ? mean : (double)NAN;
    out->error = n > 1 ? sqrt(squares / (double)(n - 1)) : (double)NAN;
    return 0;
}

static int read_sample(const struct plot_quantity *q, int64_t point, long plane,
                       struct plot_sample *out)
{
    const struct plot_source *s = q->source;
    const int64_t first = point * s->realisations;
    double reduced = 0;
    out->y = out->error = out->place = (double)NAN;
    if (!q->per_point)
        return read_members(q, first, s->realisations, plane, out);
    TRY(read_rows(s->store, "ensemble/reduced", point, 1, 1, &reduced));
    if (reduced == 0)
        return 0;
    TRY(read_one(q, "", point, plane, &out->y));
    TRY(read_place(q, first, plane, &out->place));
    return q->has_error ? read_one(q, "_error", point, plane, &out->error) : 0;
}

int64_t plot_quantity_point(const struct plot_source *s, const int64_t *index, int axis,
                            int64_t at)
{
    int64_t point = 0;
    for (int a = 0; a < s->axes; a++)
        point = point * s->axis_length[a] + (a == axis ? at : index[a]);
    return point;
}

int plot_quantity_over_axis(const struct plot_quantity *q, const int64_t *index, long plane,
                            struct plot_sample **samples, long *count)
{
    const struct plot_parameter *p = q->parameter;
    double *x = NULL;
    int rc = 0;
    TRY(read_scale(q->source->store, p->scale, 0, &x, count));
    if (*count > PLOT_POINTS_MAX)
        TRY_OR(rc, done,
               status_fail(ERR_ARGUMENT, "%s: axis %s has %ld values; plot draws %d",
                           q->source->path, p->name, *count, PLOT_POINTS_MAX));
    TRY_OR(rc, done, MEM_NEW(*count, samples));
    for (long i = 0; i < *count; i++) {
        (*samples)[i].x = p->word != NULL ? (double)i : x[i];
        TRY_OR(rc, done,
               read_sample(q, plot_quantity_point(q->source, index, p->axis, i), plane,
                           &(*samples)[i]));
    }
done:
    mem_free(x);
    return rc;
}

int plot_quantity_over_planes(const struct plot_quantity *q, int64_t point, int64_t member,
                              struct plot_sample **samples, long *count)
{
    *count = q->source->planes;
    TRY(MEM_NEW(*count, samples));
    for (long p = 0; p < *count; p++) {
        struct plot_sample *sample = &(*samples)[p];
        if (member >= 0 && !q->per_point) {
            sample->place = (double)NAN;
            TRY(read_members(q, member, 1, p, sample));
        } else {
            TRY(read_sample(q, point, p, sample));
        }
        sample->x = sample->place;
    }
    return 0;
}
