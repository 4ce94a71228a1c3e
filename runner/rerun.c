/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "runner/rerun.h"

#include <math.h>
#include <string.h>

#include "io/input.h"
#include "kernels/backend.h"
#include "kernels/base/mem.h"
#include "kernels/base/status.h"
#include "kernels/step/control.h"
#include "runner/kernel_id.h"
#include "runner/spec.h"
#include "runner/survey.h"

struct rerun {
    const struct scan *scan;
    const struct model_ops *ops;
    struct backend *backend;
    char kernel_id[KERNEL_ID_SIZE]; /* of the model */
    struct params params;
    char *text; /* scratch of seeds */
    size_t text_size;
    struct model *model;
    int64_t structure; /* of the model, -1: none is made */
    struct plane_buffers buffers;
    size_t size[LAYOUT_ARRAYS_MAX];
};

static int open_all(struct rerun *r, const char *wisdom)
{
    const struct backend_options options = {
        .name = "cpu", .isa = "auto", .threads = 1, .rigour = FFT_MEASURE, .wisdom = wisdom};
    r->text_size = scan_text_bound(r->scan) + 1;
    TRY(scan_params_init(r->scan, &r->params));
    TRY(MEM_NEW((long)r->text_size, &r->text));
    TRY(backend_create(&options, &r->backend));
    kernel_id_write(r->backend, r->ops, NULL, r->kernel_id);
    return 0;
}

int rerun_create(const struct scan *scan, const char *wisdom, struct rerun **out)
{
    struct rerun *r = NULL;
    *out = NULL;
    TRY(MEM_NEW(1, &r));
    r->scan = scan;
    r->ops = scan_model(scan);
    r->structure = -1;
    const int rc = open_all(r, wisdom[0] != '\0' ? wisdom : NULL);
    if (rc != 0)
        rerun_destroy(r);
    else
        *out = r;
    return rc;
}

const char *rerun_kernel_id(const struct rerun *r)
{
    return r->kernel_id;
}

void rerun_destroy(struct rerun *r)
{
    if (r == NULL)
        return;
    if (r->model != NULL)
        r->ops->destroy(r->model);
    for (int a = 0; a < LAYOUT_ARRAYS_MAX; a++)
        mem_free(r->buffers.array[a]);
    backend_destroy(r->backend);
    mem_free(r->text);
    params_clear(&r->params);
    mem_free(r);
}

static void drop_model(struct rerun *r)
{
    if (r->model != NULL)
        r->ops->destroy(r->model);
    r->model = NULL;
    r->structure = -1;
}

/* The model object of a point's structure; one is kept. */
static int select_model(struct rerun *r, int64_t point)
{
    const int64_t structure = scan_structure_of(r->scan, point);
    if (r->structure == structure)
        return 0;
    drop_model(r);
    TRY(r->ops->create(&r->params, r->backend, 1, &r->model));
    r->structure = structure;
    kernel_id_write(r->backend, r->ops, r->model, r->kernel_id);
    return 0;
}

static int make_room(struct rerun *r, const struct plane_layout *layout)
{
    for (int a = 0; a < layout->arrays; a++) {
        const long count = layout_array_count(layout, a);
        const size_t one = element_size(layout->array[a].type);
        if ((size_t)count * one <= r->size[a])
            continue;
        mem_free(r->buffers.array[a]);
        r->buffers.array[a] = NULL;
        r->size[a] = 0;
        TRY(mem_alloc(count, one, &r->buffers.array[a]));
        r->size[a] = (size_t)count * one;
    }
    return 0;
}

static int advance(struct rerun *r, const struct plane_layout *layout,
                   const struct rerun_look *look, struct row_status *status)
{
    struct run_control control = {.stop = 0};
    while (status->outcome == ROW_RUNNING) {
        TRY(r->ops->advance(r->model, &control, status));
        if (!status->plane_ready)
            continue;
        TRY(r->ops->plane(r->model, 0, &r->buffers));
        TRY(look->plane(look->context, layout, status, &r->buffers));
        status->plane_ready = false;
    }
    return 0;
}

int rerun_member(struct rerun *r, int64_t member, const struct rerun_look *look,
                 struct row_status *status)
{
    const int64_t point = member / scan_realisations(r->scan);
    struct plane_layout layout;
    struct seed seed;
    TRY(survey_layout(r->scan, &r->params, point, &layout));
    TRY(select_model(r, point));
    TRY(make_room(r, &layout));
    spec_seed(r->scan, member, r->text, r->text_size, &seed);
    *status = (struct row_status){.deadline = (double)INFINITY};
    TRY(r->ops->load(r->model, 0, &r->params, &seed, NULL, status));
    return advance(r, &layout, look, status);
}

/* Of the accepted steps, of which there must be one. */
static int make_schedule(const struct step_record *step, long count, struct data_set *out)
{
    TRY(input_add_steps(step, count, out));
    if (out->array[0].length[0] == 0)
        FAIL(ERR_ARGUMENT, "there is no accepted step to be made again");
    return 0;
}

/* The point in rerun->params makes these steps alone. */
static void use_schedule(struct rerun *r, struct data_set *steps)
{
    struct param_value *const from =
        &r->params.values[params_find(&r->params, "stepper.schedule.from")];
    *from = (struct param_value){.set = true, .count = 1, .data = steps};
    params_set(&r->params, params_find(&r->params, "stepper.method"), STEP_FIXED);
}

static int run_schedule(struct rerun *r, int64_t member, const struct plane_layout *layout,
                        const struct rerun_look *look, struct row_status *status)
{
    struct seed seed;
    drop_model(r); /* it was made for steps of its own */
    TRY(r->ops->create(&r->params, r->backend, 1, &r->model));
    TRY(make_room(r, layout));
    spec_seed(r->scan, member, r->text, r->text_size, &seed);
    TRY(r->ops->load(r->model, 0, &r->params, &seed, NULL, status));
    return advance(r, layout, look, status);
}

int rerun_replay(struct rerun *r, int64_t member, const struct step_record *step, long count,
                 const struct rerun_look *look, struct row_status *status, double *error)
{
    struct plane_layout layout;
    struct data_set steps = {0};
    struct step_record *history = NULL;
    int rc = 0;
    *error = 0;
    TRY(survey_layout(r->scan, &r->params, member / scan_realisations(r->scan), &layout));
    TRY_OR(rc, done, make_schedule(step, count, &steps));
    TRY_OR(rc, done, MEM_NEW(count, &history));
    *status = (struct row_status){
        .deadline = (double)INFINITY, .history = history, .history_capacity = count};
    use_schedule(r, &steps);
    rc = run_schedule(r, member, &layout, look, status);
    for (long i = 0; rc == 0 && i < status->history_count; i++)
        if (!(history[i].error <= *error)) /* NaN stays */
            *error = history[i].error;
    status->history = NULL;
    drop_model(r);
    scan_point(r->scan, member / scan_realisations(r->scan), &r->params);
done:
    mem_free(history);
    data_clear(&steps);
    return rc;
}
