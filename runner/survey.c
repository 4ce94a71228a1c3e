/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "runner/survey.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "io/input.h"
#include "kernels/base/clock.h"
#include "kernels/base/status.h"
#include "runner/text.h"

enum {
    POINTS_ALL = 4096,  /* a scan of at most so many points is visited whole */
    SHAPES_MAX = 512,   /* of a larger one: so many shapes … */
    CORNER_AXES = 7,    /* … the corners of so many axes … */
    SPREAD_MAX = 1024,  /* … and so many points spread evenly */
    AXIS_SAMPLES = 4096 /* values of a long axis that are compared */
};
static const double time_budget = 0.6; /* s, for what may be left out */

void survey_axis_extremes(const struct scan *scan, int axis, int64_t index[2])
{
    const int64_t length = scan_get_axis(scan, axis)->length;
    const int64_t samples = length < AXIS_SAMPLES ? length : AXIS_SAMPLES;
    double low = (double)INFINITY;
    double high = -(double)INFINITY;
    index[0] = 0;
    index[1] = length - 1;
    for (int64_t s = 0; s < samples; s++) {
        const int64_t i =
            samples < 2 ? 0
                        : (int64_t)((double)(length - 1) * ((double)s / (double)(samples - 1)));
        const double value = scan_axis_value(scan, axis, 0, i);
        if (value < low) {
            low = value;
            index[0] = i;
        }
        if (value > high) {
            high = value;
            index[1] = i;
        }
    }
}

void survey_value_text(const struct scan *scan, int axis, int param, int64_t index, char *text,
                       size_t size)
{
    const struct scan_axis_param *p = &scan_get_axis(scan, axis)->param[param];
    const struct param_info *info = &scan_model(scan)->info->params[p->param];
    const double value = scan_axis_value(scan, axis, param, index);
    char number[TEXT_SIZE];
    if (info->kind == PARAM_BOOL)
        snprintf(text, size, "%s", value != 0 ? "true" : "false");
    else if (info->kind == PARAM_CHOICE && value >= 0)
        snprintf(text, size, "%s", info->choices[(int)value]);
    else if (info->kind == PARAM_DATA) {
        const struct data_set *set = scan_axis_data(scan, axis, param, index);
        const char *label = set != NULL ? set->label : "none";
        snprintf(text, size, "%.*s", (int)strcspn(label, ":"), label);
    } else if (info->kind == PARAM_LIST)
        snprintf(text, size, "list %lld", (long long)index);
    else {
        text_value(value, info->unit, number);
        snprintf(text, size, "%s", number);
    }
}

void survey_point_text(const struct scan *scan, int64_t point, char *text, size_t size)
{
    int64_t index[SCAN_AXES_MAX];
    size_t used = 0;
    text[0] = '\0';
    scan_point_indices(scan, point, index);
    for (int a = 0; a < scan_axes(scan); a++) {
        const struct scan_axis *axis = scan_get_axis(scan, a);
        for (int p = 0; p < axis->params && used < size; p++) {
            char value[TEXT_SIZE];
            survey_value_text(scan, a, p, index[a], value, sizeof value);
            used += (size_t)snprintf(text + used, size - used, "%s%s = %s",
                                     used > 0 ? ", " : "", axis->param[p].name, value);
        }
    }
}

static int64_t point_of(const struct scan *scan, const int64_t *index)
{
    int64_t point = 0;
    for (int a = 0; a < scan_axes(scan); a++)
        point = point * scan_get_axis(scan, a)->length + index[a];
    return point;
}

void survey_grow_layout(struct plane_layout *largest, const struct plane_layout *one)
{
    for (int a = 0; a < one->axes && a < largest->axes; a++)
        if (one->axis[a].length > largest->axis[a].length)
            largest->axis[a].length = one->axis[a].length;
    largest->planes = one->planes > largest->planes ? one->planes : largest->planes;
    largest->span = fmax(one->span, largest->span);
    largest->work = fmax(one->work, largest->work);
    if (one->transform_length > largest->transform_length)
        largest->transform_length = one->transform_length;
    if (one->state_bytes > largest->state_bytes)
        largest->state_bytes = one->state_bytes;
    if (one->shared_bytes > largest->shared_bytes)
        largest->shared_bytes = one->shared_bytes;
    if (one->row_bytes > largest->row_bytes)
        largest->row_bytes = one->row_bytes;
    for (int i = 0; i < one->plans; i++)
        if (i >= largest->plans || one->plan[i].n > largest->plan[i].n)
            largest->plan[i] = one->plan[i];
    largest->plans = one->plans > largest->plans ? one->plans : largest->plans;
}

/* The line of a note: notes of one name (two zero-dispersion wavelengths) keep their order. */
static struct survey_note *find_note(struct survey *s, const struct plane_layout *one,
                                     int which)
{
    const struct layout_note *note = &one->note[which];
    int earlier = 0;
    for (int i = 0; i < which; i++)
        earlier += strcmp(one->note[i].name, note->name) == 0;
    for (int i = 0; i < s->notes; i++)
        if (strcmp(s->note[i].name, note->name) == 0 && earlier-- == 0)
            return &s->note[i];
    if (s->notes == LAYOUT_NOTES_MAX)
        return NULL;
    struct survey_note *made = &s->note[s->notes++];
    *made = (struct survey_note){
        .low = (double)INFINITY, .high = -(double)INFINITY, .warned_point = -1};
    memcpy(made->name, note->name, sizeof made->name);
    memcpy(made->unit, note->unit, sizeof made->unit);
    return made;
}

static void merge_notes(struct survey *s, const struct plane_layout *one, int64_t point)
{
    for (int i = 0; i < one->notes; i++) {
        const struct layout_note *note = &one->note[i];
        struct survey_note *sum = find_note(s, one, i);
        if (sum == NULL)
            return;
        sum->low = fmin(sum->low, note->value);
        sum->high = fmax(sum->high, note->value);
        if (note->warning[0] == '\0')
            continue;
        if (sum->warned++ == 0) {
            memcpy(sum->warning, note->warning, sizeof sum->warning);
            sum->warned_point = point;
            sum->warned_value = note->value;
        }
    }
}

/* The place of the key in front, the point behind: one line. */
static int fail_point(const struct scan *scan, int64_t point, int code, const char *text)
{
    char values[400];
    char message[1700];
    survey_point_text(scan, point, values, sizeof values);
    if (values[0] == '\0')
        return scan_fail(scan, code, text);
    const char *place = scan_blame(scan, text);
    snprintf(message, sizeof message, "%s; at point %lld (%s)", text, (long long)point, values);
    if (place == NULL)
        FAIL(code, "%s", message);
    FAIL(code, "%s: %s", place, message);
}

int survey_layout(const struct scan *scan, struct params *params, int64_t point,
                  struct plane_layout *out)
{
    char text[1200];
    memset(out, 0, sizeof *out);
    scan_point(scan, point, params);
    const struct status_saved saved = status_capture_save();
    status_capture(text, sizeof text);
    const int rc = scan_model(scan)->layout(params, out);
    status_capture_restore(saved);
    return rc == 0 ? 0 : fail_point(scan, point, rc, text);
}

/* What no model knows: whether the plane that is the input carries noise, and gets more. */
static void note_noise(const struct scan *scan, const struct params *params,
                       struct plane_layout *one)
{
    const struct scan_ensemble *ensemble = scan_get_ensemble(scan);
    bool carried = false;
    for (int i = 0; i < params->count; i++)
        carried = carried || data_find(params->values[i].data, INPUT_NOISE) != NULL;
    if (!carried || one->notes == LAYOUT_NOTES_MAX)
        return;
    struct layout_note *note = &one->note[one->notes++];
    *note = (struct layout_note){.name = "noise in the input plane", .unit = "1", .value = 1.0};
    if (ensemble->present && ensemble->noise != NOISE_NONE)
        snprintf(note->warning, sizeof note->warning,
                 "the plane that is the input carries noise already, and ensemble.noise is "
                 "added to it");
}

static int visit(const struct scan *scan, struct params *params, int64_t point,
                 struct survey *s)
{
    struct plane_layout one;
    TRY(survey_layout(scan, params, point, &one));
    note_noise(scan, params, &one);
    if (s->looked_at == 0) {
        s->largest = one;
        s->span_low = one.span;
        s->transforms_low = s->transforms_high = one.transforms;
    }
    survey_grow_layout(&s->largest, &one);
    merge_notes(s, &one, point);
    s->looked_at++;
    s->span_low = fmin(s->span_low, one.span);
    s->span_high = fmax(s->span_high, one.span);
    s->transforms_low = fmin(s->transforms_low, one.transforms);
    s->transforms_high = fmax(s->transforms_high, one.transforms);
    s->transforms_mean += (one.transforms - s->transforms_mean) / (double)s->looked_at;
    return 0;
}

static int visit_all(const struct scan *scan, struct params *params, struct survey *s)
{
    for (int64_t point = 0; point < scan_points(scan); point++)
        TRY(visit(scan, params, point, s));
    s->all_points = true;
    return 0;
}

/* Least and largest values of the first axes in all combinations, of the others one by one. */
static int visit_corners(const struct scan *scan, struct params *params, struct survey *s)
{
    int64_t extreme[SCAN_AXES_MAX][2];
    int64_t index[SCAN_AXES_MAX] = {0};
    const int axes = scan_axes(scan);
    const int both = axes < CORNER_AXES ? axes : CORNER_AXES;
    for (int a = 0; a < axes; a++)
        survey_axis_extremes(scan, a, extreme[a]);
    for (int corner = 0; corner < 1 << both; corner++) {
        for (int a = 0; a < both; a++)
            index[a] = extreme[a][corner >> a & 1];
        TRY(visit(scan, params, point_of(scan, index), s));
    }
    for (int a = both; a < axes; a++) {
        for (int side = 0; side < 2; side++) {
            index[a] = extreme[a][side];
            TRY(visit(scan, params, point_of(scan, index), s));
        }
    }
    return 0;
}

static int visit_some(const struct scan *scan, struct params *params, struct survey *s)
{
    const double end = clock_wall() + time_budget;
    const int64_t shapes = scan_shapes(scan);
    const int64_t looked = shapes < SHAPES_MAX ? shapes : SHAPES_MAX;
    TRY(visit_corners(scan, params, s));
    /* Shapes first: they say how large the file is. The last one is always among them. */
    for (int64_t i = 0; i < looked && clock_wall() < end; i++) {
        const double part = looked > 1 ? (double)i / (double)(looked - 1) : 0;
        const int64_t shape = (int64_t)((double)(shapes - 1) * part);
        TRY(visit(scan, params, scan_shape_point(scan, shape), s));
    }
    const double golden = 0.6180339887498949; /* multiples fill [0, 1) evenly */
    for (int i = 1; i <= SPREAD_MAX && clock_wall() < end; i++) {
        const double part = golden * i - floor(golden * i);
        const int64_t point = (int64_t)((double)scan_points(scan) * part);
        TRY(visit(scan, params, point < scan_points(scan) ? point : 0, s));
    }
    return 0;
}

int survey_scan(const struct scan *scan, struct survey *out)
{
    struct params params;
    *out = (struct survey){0};
    TRY(scan_params_init(scan, &params));
    const int rc = scan_points(scan) <= POINTS_ALL ? visit_all(scan, &params, out)
                                                   : visit_some(scan, &params, out);
    params_clear(&params);
    return rc;
}
