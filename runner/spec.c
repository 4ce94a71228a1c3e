/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "runner/spec.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "io/hash.h"
#include "kernels/base/mem.h"
#include "kernels/base/status.h"
#include "runner/survey.h"

#define AXIS_VALUES_MAX ((int64_t)1 << 30)
#define GRIDS_MAX       65536
#define SHAPES_MAX      1048576
#define HISTOGRAM_BINS  64

static int layout_of(struct spec *spec, int64_t point, struct plane_layout *out)
{
    return survey_layout(spec->scan, &spec->params, point, out);
}

static int find_shapes(struct spec *spec)
{
    const struct scan *scan = spec->scan;
    const int64_t shapes = scan_shapes(scan);
    const int64_t grids = scan_grids(scan);
    struct plane_layout one;
    TRY(layout_of(spec, scan_shape_point(scan, 0), spec->layout));
    for (int64_t s = 1; s < shapes; s++) {
        TRY(layout_of(spec, scan_shape_point(scan, s), &one));
        survey_grow_layout(spec->layout, &one);
    }
    for (int64_t g = 0; g < grids; g++)
        TRY(layout_of(spec, scan_grid_point(scan, g), &spec->grid_layout[g]));
    return 0;
}

/* The scale and column of one scanned parameter, without its values. */
static void add_param(struct spec *spec, int axis, int which)
{
    const struct scan *scan = spec->scan;
    const struct scan_axis *a = scan_get_axis(scan, axis);
    const int i = spec->store.params;
    const struct param_info *info = &scan_model(scan)->info->params[a->param[which].param];
    spec->param[i] = (struct store_param){
        .name = a->param[which].name,
        .unit = info->kind == PARAM_LIST || info->kind == PARAM_DATA ? "1" : info->unit,
        .doc = info->doc,
        .as_written = scan_axis_written(scan, axis, which),
        .axis = axis,
    };
    spec->store.params++;
}

static void fill_axes(struct spec *spec)
{
    const int axes = scan_axes(spec->scan);
    for (int a = 0; a < axes; a++) {
        const struct scan_axis *axis = scan_get_axis(spec->scan, a);
        spec->axis_length[a] = axis->length;
        for (int p = 0; p < axis->params; p++)
            add_param(spec, a, p);
    }
}

static int fill_values(struct spec *spec)
{
    int i = 0;
    for (int a = 0; a < scan_axes(spec->scan); a++) {
        const struct scan_axis *axis = scan_get_axis(spec->scan, a);
        for (int p = 0; p < axis->params; p++, i++) {
            TRY(MEM_NEW((long)axis->length, &spec->values[i]));
            for (int64_t v = 0; v < axis->length; v++)
                spec->values[i][v] = scan_axis_value(spec->scan, a, p, v);
            spec->param[i].values = spec->values[i];
        }
    }
    return 0;
}

static int axis_values(void *context, int64_t grid, int axis, double *values)
{
    struct spec *spec = context;
    scan_point(spec->scan, scan_grid_point(spec->scan, grid), &spec->params);
    return scan_model(spec->scan)->axis(&spec->params, axis, values);
}

static uint64_t point_key(const struct scan *scan, int64_t point, char *text, size_t size)
{
    const struct scan_ensemble *ensemble = scan_get_ensemble(scan);
    if (!ensemble->present || ensemble->common)
        return 0;
    return hash_64(text, scan_point_text(scan, point, text, size));
}

static int member_rows(void *context, int64_t first, int64_t count,
                       struct store_member_row *rows)
{
    struct spec *spec = context;
    const struct scan *scan = spec->scan;
    const int64_t realisations = scan_realisations(scan);
    int64_t point = -1;
    uint64_t key = 0;
    size_t length = 0;
    for (int64_t i = 0; i < count; i++) {
        const int64_t member = first + i;
        if (member / realisations != point) {
            point = member / realisations;
            key = point_key(scan, point, spec->text, spec->text_size);
            length = scan_identity_text(scan, point, spec->text, spec->text_size);
        }
        rows[i].point_key = key;
        rows[i].realisation = member % realisations;
        rows[i].grid = scan_grid_of(scan, point);
        hash_identity(spec->text, length, key, rows[i].realisation, rows[i].identity);
    }
    return 0;
}

void spec_seed(const struct scan *scan, int64_t member, char *text, size_t size,
               struct seed *seed)
{
    const struct scan_ensemble *ensemble = scan_get_ensemble(scan);
    const int64_t realisations = scan_realisations(scan);
    seed->noise = ensemble->present ? ensemble->noise : NOISE_NONE;
    seed->ensemble_seed = ensemble->present ? ensemble->seed : 0;
    seed->point_key = point_key(scan, member / realisations, text, size);
    seed->realisation = (uint64_t)(member % realisations);
    seed->perturbation = 0;
}

bool spec_reduces(const struct spec *spec)
{
    if (scan_get_ensemble(spec->scan)->until.kind != UNTIL_NONE)
        return true;
    if (!scan_get_ensemble(spec->scan)->present || !spec->store.field)
        return false;
    for (int a = 0; a < spec->layout->arrays; a++)
        if (spec->layout->array[a].is_field && spec->layout->array[a].type == ELEMENT_C128)
            return true;
    return false;
}

static int param_total(const struct scan *scan)
{
    int total = 0;
    for (int a = 0; a < scan_axes(scan); a++)
        total += scan_get_axis(scan, a)->params;
    return total;
}

static int allocate(struct spec *spec)
{
    const struct scan *scan = spec->scan;
    const int params = param_total(scan);
    TRY(scan_params_init(scan, &spec->params));
    TRY(MEM_NEW(scan_axes(scan), &spec->axis_length));
    TRY(MEM_NEW(params, &spec->param));
    TRY(MEM_NEW(params, &spec->values));
    TRY(MEM_NEW(1, &spec->layout));
    TRY(MEM_NEW(scan_model(scan)->info->observable_count, &spec->observable));
    spec->text_size = scan_text_bound(scan) + 1;
    return MEM_NEW((long)spec->text_size, &spec->text);
}

/* By which ensembles stop themselves: wavelengths become frequencies. */
static void fill_until(struct spec *spec)
{
    const double light_speed = 299792458.0; /* m/s, exact (SI) */
    const struct scan_until *const from = &scan_get_ensemble(spec->scan)->until;
    struct store_until *const to = &spec->until;
    if (from->kind == UNTIL_NONE)
        return;
    *to = (struct store_until){
        .error = from->error, .min = from->min, .max = from->max, .banded = from->banded};
    snprintf(to->quantity, sizeof to->quantity, "%s", from->quantity);
    for (int i = 0; i < 2 && from->banded; i++)
        to->omega[i] = 2 * M_PI * light_speed / from->band[1 - i];
    spec->store.until = to;
}

static void fill_store(struct spec *spec)
{
    const struct scan *scan = spec->scan;
    const struct model_info *info = scan_model(scan)->info;
    const struct scan_save *save = scan_get_save(scan);
    struct store_spec *s = &spec->store;
    s->scan_name = scan_name(scan);
    s->model_name = info->name;
    s->convention = info->convention;
    s->config = scan_text(scan, &s->config_length);
    s->config_canonical = scan_canonical(scan);
    s->axes = scan_axes(scan);
    s->axis_length = spec->axis_length;
    s->param = spec->param;
    s->points = scan_points(scan);
    s->realisations = scan_realisations(scan);
    s->grids = scan_grids(scan);
    s->layout = spec->layout;
    s->grid_layout = spec->grid_layout;
    s->axis_values = axis_values;
    s->member_rows = member_rows;
    s->context = spec;
    s->model = info;
    s->field = save->field != SAVE_FIELD_NO;
    s->field_float32 = save->field == SAVE_FIELD_FLOAT32;
    for (int i = 0; i < info->observable_count; i++)
        spec->observable[i] = save->all_observables || save->observable[i];
    s->observable = spec->observable;
    s->history = scan_get_store(scan)->history;
    s->resume_state = spec->layout->state_bytes;
    s->histogram_bins = HISTOGRAM_BINS;
    s->sync_member = scan_get_store(scan)->sync == SYNC_MEMBER;
    s->ensemble = spec_reduces(spec);
    fill_until(spec);
    s->judged = scan_get_envelope(scan)->reference != ENVELOPE_NONE;
    s->gains = scan_get_envelope(scan)->gain > 0;
    s->check_space = true;
}

int spec_check(const struct scan *scan)
{
    if (scan_grids(scan) > GRIDS_MAX)
        FAIL(ERR_UNSUPPORTED,
             "the scan has %" PRId64 " different grids; one file holds at most %d: split the "
             "axis that changes the grid",
             scan_grids(scan), GRIDS_MAX);
    if (scan_shapes(scan) > SHAPES_MAX)
        FAIL(ERR_UNSUPPORTED,
             "the scan has %" PRId64 " different shapes; one file holds at most %d: split the "
             "axis that changes the grid",
             scan_shapes(scan), SHAPES_MAX);
    for (int a = 0; a < scan_axes(scan); a++) {
        const struct scan_axis *axis = scan_get_axis(scan, a);
        if (axis->length > AXIS_VALUES_MAX)
            FAIL(ERR_UNSUPPORTED,
                 "axis %s has %" PRId64 " values; a run takes at most %" PRId64 " an axis",
                 axis->param[0].name, axis->length, AXIS_VALUES_MAX);
    }
    return 0;
}

/* Without points and values. @param out to be destroyed after an error too */
static int create_brief(const struct scan *scan, const struct plane_layout *largest,
                        struct spec **out)
{
    TRY(MEM_NEW(1, out));
    (*out)->scan = scan;
    TRY(allocate(*out));
    *(*out)->layout = *largest;
    fill_axes(*out);
    fill_store(*out);
    return 0;
}

int spec_bytes(const struct scan *scan, const struct plane_layout *largest,
               const struct store_window *window, struct spec_size *out)
{
    struct spec *spec = NULL;
    int rc = 0;
    TRY_OR(rc, done, create_brief(scan, largest, &spec));
    if (window != NULL)
        spec_set_window(spec, window);
    TRY_OR(rc, done, store_bytes(&spec->store, &out->apparent, &out->data));
    rc = store_plane_bytes(&spec->store, &out->plane);
done:
    spec_destroy(spec);
    return rc;
}

int spec_number_names(const struct scan *scan, const struct plane_layout *largest, char **names)
{
    struct spec *spec = NULL;
    int rc = 0;
    TRY_OR(rc, done, create_brief(scan, largest, &spec));
    rc = store_number_names(&spec->store, names);
done:
    spec_destroy(spec);
    return rc;
}

int spec_compare(const struct spec *spec, const char *path, bool whole, const char *hint)
{
    char text[2048] = "";
    const struct status_saved saved = status_capture_save();
    status_capture(text, sizeof text);
    const int rc = (whole ? store_compare : store_compare_config)(path, &spec->store);
    status_capture_restore(saved);
    if (rc == ERR_CONFLICT)
        FAIL(rc, "%s (%s)", text, hint);
    if (rc != 0)
        FAIL(rc, "%s", text);
    return 0;
}

int spec_create(const struct scan *scan, struct spec **out)
{
    struct spec *spec = NULL;
    int rc = 0;
    *out = NULL;
    TRY(spec_check(scan));
    TRY(MEM_NEW(1, &spec));
    spec->scan = scan;
    TRY_OR(rc, done, allocate(spec));
    TRY_OR(rc, done, MEM_NEW((long)scan_grids(scan), &spec->grid_layout));
    TRY_OR(rc, done, find_shapes(spec));
    fill_axes(spec);
    TRY_OR(rc, done, fill_values(spec));
    fill_store(spec);
    *out = spec;
    return 0;
done:
    spec_destroy(spec);
    return rc;
}

void spec_set_window(struct spec *spec, const struct store_window *window)
{
    spec->store.window = *window;
    spec->store.ensemble = window->shards < 2 && spec_reduces(spec);
}

void spec_destroy(struct spec *spec)
{
    if (spec == NULL)
        return;
    for (int i = 0; i < spec->store.params; i++)
        mem_free(spec->values[i]);
    mem_free(spec->values);
    mem_free(spec->axis_length);
    mem_free(spec->param);
    mem_free(spec->layout);
    mem_free(spec->grid_layout);
    mem_free(spec->observable);
    mem_free(spec->text);
    params_clear(&spec->params);
    mem_free(spec);
}
