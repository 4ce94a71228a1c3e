/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Parameters of kind data: which files a scan names, and which of their contents each point
 * gets. The files are read elsewhere (runner/inputs.c); their hashes stand in the texts. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "kernels/base/mem.h"
#include "kernels/base/status.h"
#include "scans/internal.h"
#include "scans/text.h"

/* Noting what is read */

static int grow(int count, size_t size, void *list)
{
    void **old = list;
    void *more = NULL;
    if (count > 0 && (count & (count - 1)) != 0)
        return 0; /* room for a power of two */
    TRY(mem_alloc(count > 0 ? 2L * count : 1, size, &more));
    if (count > 0)
        memcpy(more, *old, (size_t)count * size);
    mem_free(*old);
    *old = more;
    return 0;
}

static int add_input(struct scan *scan, const struct param_info *info, struct scan_input **out)
{
    TRY(grow(scan->inputs, sizeof *scan->input, &scan->input));
    struct scan_input *input = NULL;
    TRY(MEM_NEW(1, &input));
    scan->input[scan->inputs++] = input;
    input->param = info->name;
    input->info = info->data;
    *out = input;
    return 0;
}

int inputs_note_file(struct reader *r, const struct param_info *info, const struct node *node,
                     double *out)
{
    struct scan *scan = r->scan;
    const char *text = NULL;
    TRY(value_text(r, info->name, node, "the path of a file", &text));
    TRY(grow(scan->files, sizeof *scan->file, &scan->file));
    struct input_file *file = &scan->file[scan->files];
    char place[PLACE_SIZE];
    if (r->replace)
        snprintf(place, sizeof place, "%s", r->name);
    else
        snprintf(place, sizeof place, "%.*s:%d:%d", PLACE_SIZE - 32, r->name, node->line,
                 node->column);
    *file = (struct input_file){0};
    *out = scan->files++;
    TRY(mem_copy_text(text, &file->written));
    return mem_copy_text(place, &file->place);
}

/* The input of a hash in the canonical form, made when it is met first. */
static int find_hash(struct scan *scan, const struct param_info *info, const char *hash,
                     int *out)
{
    for (*out = 0; *out < scan->inputs; ++*out)
        if (strcmp(scan->input[*out]->set.hash, hash) == 0)
            return 0;
    static const struct param_info unknown = {.name = ""};
    struct scan_input *input = NULL;
    TRY(add_input(scan, info != NULL ? info : &unknown, &input));
    snprintf(input->set.hash, sizeof input->set.hash, "%s", hash);
    return 0;
}

int inputs_note_hash(struct reader *r, const struct param_info *info, const struct node *node,
                     double *out)
{
    int index = 0;
    const char *text = NULL;
    TRY(value_text(r, info->name, node, "a hash", &text));
    if (strlen(text) != DATA_HASH_SIZE - 1)
        return value_fail(r, node, "%s: '%.60s' is not a hash", info->name, text);
    TRY(find_hash(r->scan, info, text, &index));
    *out = index;
    return 0;
}

int inputs_note_label(struct reader *r, const char *hash, const struct node *node)
{
    int index = 0;
    const char *text = NULL;
    TRY(value_text(r, "inputs", node, "a text", &text));
    if (strlen(hash) != DATA_HASH_SIZE - 1)
        return value_fail(r, node, "inputs: '%.60s' is not a hash", hash);
    TRY(find_hash(r->scan, NULL, hash, &index));
    struct data_set *set = &r->scan->input[index]->set;
    snprintf(set->label, sizeof set->label, "%s", text);
    return 0;
}

void inputs_clear(struct scan *scan)
{
    for (int i = 0; i < scan->files; i++) {
        mem_free(scan->file[i].written);
        mem_free(scan->file[i].place);
    }
    for (int i = 0; i < scan->inputs; i++) {
        mem_free(scan->input[i]->written);
        mem_free(scan->input[i]->path);
        mem_free(scan->input[i]->place);
        data_clear(&scan->input[i]->set);
        mem_free(scan->input[i]);
    }
    mem_free(scan->file);
    mem_free(scan->input);
    mem_free(scan->folder);
}

/* Finding out what each point needs */

/* One parameter of kind data, the parameters that select in its file, the axis of them all. */
struct selection {
    int param;
    int selector[3]; /* columns, member, plane; -1: none */
    int axis;        /* -1: none of them is scanned */
};

enum { SELECT_COLUMNS, SELECT_MEMBER, SELECT_PLANE };

static int find_param(const struct model_info *info, const char *name)
{
    for (int i = 0; name != NULL && i < info->param_count; i++)
        if (strcmp(info->params[i].name, name) == 0)
            return i;
    return -1;
}

static int select_params(struct reader *r, int param, struct selection *out)
{
    const struct model_info *info = r->scan->info;
    const struct data_info *data = info->params[param].data;
    *out = (struct selection){.param = param,
                              .selector = {find_param(info, data->columns_param),
                                           find_param(info, data->member_param),
                                           find_param(info, data->plane_param)},
                              .axis = -1};
    for (int i = -1; i < 3; i++) {
        const int one = i < 0 ? param : out->selector[i];
        int axis = 0;
        int place = 0;
        if (one < 0 || !axes_find(r->scan, one, &axis, &place) || axis == out->axis)
            continue;
        if (out->axis >= 0)
            return text_fail(r->name, r->scan->values[axis][place].line,
                             r->scan->values[axis][place].column,
                             "%s is scanned by axis %d and axis %d scans what it is read by; "
                             "zip them to one axis",
                             info->params[one].name, axis, out->axis);
        out->axis = axis;
    }
    return 0;
}

/* A parameter's value at an index of the selection's axis; NaN: not set. */
static double number_at(const struct scan *scan, int param, int64_t index)
{
    int axis = 0;
    int place = 0;
    if (param < 0)
        return (double)NAN;
    if (axes_find(scan, param, &axis, &place))
        return axis_values_at(&scan->values[axis][place], index);
    const struct param_value *value = &scan->base.values[param];
    return value->set ? value->number : (double)NAN;
}

static int copy_path(const struct scan *scan, const char *written, char **out)
{
    const char *folder = written[0] == '/' || scan->folder == NULL ? "" : scan->folder;
    const size_t size = strlen(folder) + strlen(written) + 1;
    TRY(mem_alloc((long)size, 1, (void **)out));
    snprintf(*out, size, "%s%s", folder, written);
    return 0;
}

static bool is_same(const struct scan_input *a, const struct scan_input *b)
{
    return a->info == b->info && a->columns == b->columns && a->member == b->member
           && a->plane == b->plane && strcmp(a->written, b->written) == 0;
}

/* The input at an index of the axis: a new one, or one that was named before. */
static int make_input(struct reader *r, const struct selection *s, int64_t index, double *out)
{
    struct scan *scan = r->scan;
    const double file = number_at(scan, s->param, index);
    *out = (double)NAN;
    if (isnan(file))
        return 0;
    const struct param_info *info = &scan->info->params[s->param];
    const double columns = number_at(scan, s->selector[SELECT_COLUMNS], index);
    const double member = number_at(scan, s->selector[SELECT_MEMBER], index);
    const double plane = number_at(scan, s->selector[SELECT_PLANE], index);
    const struct scan_input wanted = {
        .info = info->data,
        .written = scan->file[(int)file].written,
        .columns = isnan(columns) ? NULL : info->data->tables[(int)columns],
        .member = isnan(member) ? 0 : (int64_t)member,
        .plane = isnan(plane) ? -1 : (int64_t)plane};
    for (int i = 0; i < scan->inputs; i++)
        if (is_same(scan->input[i], &wanted)) {
            *out = i;
            return 0;
        }
    struct scan_input *input = NULL;
    *out = scan->inputs;
    TRY(add_input(scan, info, &input));
    input->columns = wanted.columns;
    input->member = wanted.member;
    input->plane = wanted.plane;
    TRY(mem_copy_text(wanted.written, &input->written));
    TRY(mem_copy_text(scan->file[(int)file].place, &input->place));
    return copy_path(scan, wanted.written, &input->path);
}

/* The values of a parameter on its selection's axis, which it joins when only its selectors
 * are scanned. */
static int make_axis(struct reader *r, const struct selection *s)
{
    struct scan *scan = r->scan;
    const int64_t length = scan->axis[s->axis].length;
    const struct axis_values *first = &scan->values[s->axis][0];
    int axis = 0;
    int place = 0;
    if (length > INPUTS_MAX)
        return text_fail(r->name, first->line, first->column,
                         "axis %s: %lld values of %s; a scan reads at most %d of them",
                         scan->axis[s->axis].param[0].name, (long long)length,
                         scan->info->params[s->param].name, INPUTS_MAX);
    double *value = NULL;
    TRY(MEM_NEW((long)length, &value));
    int rc = 0;
    for (int64_t i = 0; i < length && rc == 0; i++)
        rc = make_input(r, s, i, &value[i]);
    if (rc == 0 && !axes_find(scan, s->param, &axis, &place)) {
        rc = axes_join(r, s->axis, s->param, &place);
        if (rc == 0)
            rc = mem_copy_text(scan->file[(int)scan->base.values[s->param].number].written,
                               &scan->values[s->axis][place].written);
        scan->base.values[s->param] = (struct param_value){0};
    }
    if (rc != 0) {
        mem_free(value);
        return rc;
    }
    struct axis_values *v = &scan->values[s->axis][place];
    mem_free(v->value);
    v->form = AXIS_VALUES;
    v->length = length;
    v->value = value;
    return 0;
}

int inputs_resolve(struct reader *r)
{
    struct scan *scan = r->scan;
    for (int i = 0; i < scan->info->param_count; i++) {
        if (scan->info->params[i].kind != PARAM_DATA)
            continue;
        struct selection s;
        int axis = 0;
        int place = 0;
        TRY(select_params(r, i, &s));
        if (!scan->base.values[i].set && !axes_find(scan, i, &axis, &place))
            continue;
        if (s.axis >= 0)
            TRY(make_axis(r, &s));
        else
            TRY(make_input(r, &s, 0, &scan->base.values[i].number));
    }
    return 0;
}

/* Binding */

static int bind_axis(const struct scan *scan, struct axis_values *v)
{
    TRY(MEM_NEW((long)v->length, &v->set));
    for (int64_t i = 0; i < v->length; i++)
        if (!isnan(v->value[i]))
            v->set[i] = &scan->input[(int)v->value[i]]->set;
    return 0;
}

int scan_bind(struct scan *scan)
{
    for (int i = 0; i < scan->info->param_count; i++) {
        if (scan->info->params[i].kind != PARAM_DATA)
            continue;
        int axis = 0;
        int place = 0;
        struct param_value *value = &scan->base.values[i];
        if (axes_find(scan, i, &axis, &place))
            TRY(bind_axis(scan, &scan->values[axis][place]));
        else if (value->set)
            value->data = &scan->input[(int)value->number]->set;
    }
    return canonical_make(scan);
}

/* Characters that would end a quoted text or a line. */
static void add_quoted(struct text *out, const char *text)
{
    for (; *text != '\0'; text++)
        text_add(out, "%c",
                 *text == '"' || *text == '\\' || (unsigned char)*text < 0x20 ? '?' : *text);
}

void inputs_write(const struct scan *scan, struct text *out)
{
    for (int i = 0; i < scan->inputs; i++) {
        const struct data_set *set = &scan->input[i]->set;
        int earlier = 0;
        while (strcmp(scan->input[earlier]->set.hash, set->hash) != 0)
            earlier++;
        if (earlier < i)
            continue;
        text_add(out, "inputs.%s: \"", set->hash);
        add_quoted(out, set->label);
        text_add(out, "\"\n");
    }
}

/* Looking at the inputs */

int scan_inputs(const struct scan *scan)
{
    return scan->inputs;
}

struct scan_input *scan_get_input(const struct scan *scan, int input)
{
    return scan->input[input];
}

size_t scan_input_bytes(const struct scan *scan)
{
    size_t bytes = 0;
    for (int i = 0; i < scan->inputs; i++)
        bytes += data_bytes(&scan->input[i]->set);
    return bytes;
}

const struct data_set *scan_axis_data(const struct scan *scan, int axis, int param,
                                      int64_t index)
{
    const struct axis_values *v = &scan->values[axis][param];
    return v->set != NULL ? v->set[index] : NULL;
}
