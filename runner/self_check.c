/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "runner/self_check.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "kernels/base/mem.h"
#include "kernels/base/status.h"
#include "kernels/contract/bounds.h"
#include "kernels/contract/compare.h"
#include "kernels/step/control.h"
#include "kernels/step/schedule.h"
#include "runner/placement.h"

#define TRIALS 24 /* within which steps for the comparison are looked for */

/* Steps over which noise grows more than this are shortened by SHORTER, so many times at most:
 * what rounding does would grow as well, on sound hardware too. Chosen for their error alone,
 * steps may lie far beyond where they are stable as long as nothing has grown yet. */
#define GROWTH_MOST 4.0
#define SHORTER     4.0
#define SHORTENINGS 6

/* Runs of the steps: by the baseline, without noise and with it, and by the worker's backend.
 */
enum check_run { BASE, NOISY, OWN, RUNS };

/* The point of a check: a copy of a member's, with a stepper and planes of its own. */
struct check_point {
    struct params params;
    struct data_set steps;
    double plane[2]; /* saved ones: the input, and the end of the steps */
};

/* Complex fields of both planes. */
struct check_fields {
    struct plane_buffers at[2];
    char reason[MODEL_REASON_SIZE]; /* why the end was not reached, "" when it was */
};

bool self_check_possible(const struct model_info *info)
{
    for (int i = 0; i < info->param_count; i++)
        if (strcmp(info->params[i].name, "stepper.schedule.from") == 0)
            return true;
    return false;
}

static struct param_value *value_of(struct check_point *p, const char *name)
{
    return &p->params.values[params_find(&p->params, name)];
}

static int point_make(const struct params *point, struct check_point *p)
{
    TRY(params_init(&p->params, point->info, point->count));
    params_copy(&p->params, point);
    p->params.planes = (struct plane_request){.kind = PLANES_LAST, .count = 1};
    *value_of(p, "stepper.schedule.from") = (struct param_value){0};
    params_set(&p->params, params_find(&p->params, "stepper.method"), STEP_RK45);
    params_set(&p->params, params_find(&p->params, "stepper.max_steps"), TRIALS);
    return 0;
}

static void point_clear(struct check_point *p)
{
    params_clear(&p->params);
    data_clear(&p->steps);
}

/* One row to its next plane or its end. */
static int run_row(const struct model_ops *ops, struct model *m, struct row_status *st)
{
    struct run_control control = {0};
    st->plane_ready = false;
    while (st->outcome == ROW_RUNNING && !st->plane_ready)
        TRY(ops->advance(m, &control, st));
    return 0;
}

/* The first accepted steps of the point, as a schedule; none when it makes none. */
static int find_steps(const struct model_ops *ops, struct backend *base, struct check_point *p,
                      long *count)
{
    struct step_record history[TRIALS];
    struct model *m = NULL;
    struct row_status st = {
        .deadline = (double)INFINITY, .history = history, .history_capacity = TRIALS};
    double *z = NULL;
    double *h = NULL;
    TRY(ops->create(&p->params, base, 1, &m));
    const struct seed none = {.noise = NOISE_NONE};
    int rc = ops->load(m, 0, &p->params, &none, NULL, &st);
    if (rc == 0)
        rc = run_row(ops, m, &st);
    ops->destroy(m);
    TRY(rc);
    *count = 0;
    for (long i = 0; i < st.history_count && *count < SELF_CHECK_STEPS; i++)
        *count += history[i].accepted ? 1 : 0;
    TRY(data_add_real(&p->steps, SCHEDULE_BEGIN, "m", 1, count, &z));
    TRY(data_add_real(&p->steps, SCHEDULE_LENGTH, "m", 1, count, &h));
    for (long i = 0, k = 0; i < st.history_count && k < *count; i++) {
        if (!history[i].accepted)
            continue;
        z[k] = history[i].position;
        h[k] = history[i].length;
        p->plane[1] = z[k] + h[k];
        k++;
    }
    return 0;
}

/* From now on the point makes these steps alone. */
static void use_steps(struct check_point *p)
{
    struct param_value *const from = value_of(p, "stepper.schedule.from");
    p->params.planes =
        (struct plane_request){.kind = PLANES_LIST, .count = 2, .positions = p->plane};
    from->set = true;
    from->count = 1;
    from->data = &p->steps;
    params_set(&p->params, params_find(&p->params, "stepper.method"), STEP_FIXED);
}

/* The same steps, each shorter. */
static void shorten(struct check_point *p, long steps)
{
    double *const z = p->steps.array[0].real;
    double *const h = p->steps.array[1].real;
    for (long k = 0; k < steps; k++) {
        h[k] /= SHORTER;
        z[k] = k > 0 ? z[k - 1] + h[k - 1] : z[k];
    }
    p->plane[1] = z[steps - 1] + h[steps - 1];
}

/* Room for the complex fields of one plane. */
static int make_buffers(const struct plane_layout *layout, struct plane_buffers *out)
{
    for (int a = 0; a < layout->arrays; a++)
        if (layout->array[a].is_field && layout->array[a].type == ELEMENT_C128)
            TRY(mem_alloc(layout_array_count(layout, a), sizeof(cplx), &out->array[a]));
    return 0;
}

static void free_buffers(struct plane_buffers *buffers)
{
    for (int a = 0; a < LAYOUT_ARRAYS_MAX; a++)
        mem_free(buffers->array[a]);
}

/* The fields before and after the steps. */
static int run_steps(const struct model_ops *ops, struct backend *be,
                     const struct check_point *p, enum noise_kind noise,
                     struct check_fields *out)
{
    const struct seed seed = {.noise = noise, .ensemble_seed = 1};
    struct model *m = NULL;
    struct row_status st = {.deadline = (double)INFINITY};
    out->reason[0] = '\0';
    TRY(ops->create(&p->params, be, 1, &m));
    int rc = ops->load(m, 0, &p->params, &seed, NULL, &st);
    for (int i = 0; i < 2 && rc == 0 && out->reason[0] == '\0'; i++) {
        rc = run_row(ops, m, &st);
        if (rc == 0 && st.plane_ready)
            rc = ops->plane(m, 0, &out->at[i]);
        else if (rc == 0)
            snprintf(out->reason, sizeof out->reason, "%s", st.reason);
    }
    ops->destroy(m);
    return rc;
}

/* By how much noise has grown over the steps, in l2 of each field; the largest. A run that
 * fails has infinite growth. */
static double growth_of(const struct plane_layout *layout, const struct check_fields *noisy,
                        const struct check_fields *plain)
{
    double most = noisy->reason[0] != '\0' ? (double)INFINITY : 0.0;
    for (int a = 0; a < layout->arrays && noisy->reason[0] == '\0'; a++) {
        double sum[2] = {0.0, 0.0};
        for (int i = 0; i < 2 && plain->at[0].array[a] != NULL; i++) {
            const cplx *const x = noisy->at[i].array[a];
            const cplx *const y = plain->at[i].array[a];
            for (long k = 0; k < layout_array_count(layout, a); k++)
                sum[i] += cplx_abs2(cplx_make(x[k].r - y[k].r, x[k].i - y[k].i));
        }
        most = sum[0] > 0.0 ? fmax(most, sqrt(sum[1] / sum[0])) : most;
    }
    return most;
}

/* Shorten the steps until noise does not grow over them; `field` receives what the baseline
 * makes of them. *calm: whether it is so in the end. */
static int find_calm_steps(const struct model_ops *ops, struct backend *base,
                           struct check_point *p, long steps, const struct plane_layout *layout,
                           struct check_fields field[RUNS], bool *calm)
{
    for (int i = 0;; i++) {
        TRY(run_steps(ops, base, p, NOISE_NONE, &field[BASE]));
        *calm = field[BASE].reason[0] != '\0' || !ops->info->takes_noise;
        if (*calm)
            return 0;
        TRY(run_steps(ops, base, p, NOISE_ONE_PHOTON, &field[NOISY]));
        *calm = growth_of(layout, &field[NOISY], &field[BASE]) <= GROWTH_MOST;
        if (*calm || i == SHORTENINGS)
            return 0;
        shorten(p, steps);
    }
}

static double peak_of(const cplx *field, long n)
{
    double peak2 = 0.0;
    for (long i = 0; i < n; i++)
        peak2 = fmax(peak2, cplx_abs2(field[i]));
    return sqrt(peak2);
}

static int compare(const struct plane_layout *layout, const struct plane_buffers *own,
                   const struct plane_buffers *base, long steps, struct self_check *out)
{
    for (int a = 0; a < layout->arrays && out->within; a++) {
        if (own->array[a] == NULL)
            continue;
        const long n = layout_array_count(layout, a);
        struct comparison_input in = {
            .value = own->array[a], .reference = base->array[a], .n = n, .is_complex = true};
        struct comparison found;
        const double peak = peak_of(base->array[a], n);
        if (!(peak > 0.0))
            continue; /* a dark field says nothing */
        TRY(bound_steps((int)steps, peak, &in.atol));
        TRY(comparison_run(&in, &found));
        out->compared = true;
        out->within = found.within;
        snprintf(out->text, sizeof out->text,
                 "%s after %ld steps: largest difference %.3g of the peak, bound %.3g",
                 layout->array[a].name, steps, found.observed / peak, in.atol / peak);
    }
    return 0;
}

/* Both sides, from the input on. */
static int compare_sides(const struct model_ops *ops, struct check_point *p, long steps,
                         struct backend *const side[2], struct self_check *out)
{
    struct plane_layout layout;
    struct check_fields field[RUNS] = {0};
    bool calm = false;
    int rc = 0;
    TRY_OR(rc, done, ops->layout(&p->params, &layout));
    for (int i = 0; i < 2 * RUNS; i++)
        TRY_OR(rc, done, make_buffers(&layout, &field[i / 2].at[i % 2]));
    TRY_OR(rc, done, find_calm_steps(ops, side[0], p, steps, &layout, field, &calm));
    if (!calm || field[BASE].reason[0] != '\0')
        goto done; /* nothing to compare, or it fails by any kernels */
    TRY_OR(rc, done, run_steps(ops, side[1], p, NOISE_NONE, &field[OWN]));
    if (field[OWN].reason[0] != '\0') {
        out->compared = true;
        out->within = false;
        snprintf(out->text, sizeof out->text, "steps that the baseline makes fail: %.140s",
                 field[OWN].reason);
        goto done;
    }
    rc = compare(&layout, &field[OWN].at[1], &field[BASE].at[1], steps, out);
done:
    for (int i = 0; i < 2 * RUNS; i++)
        free_buffers(&field[i / 2].at[i % 2]);
    return rc;
}

static int check(const struct model_ops *ops, const struct params *point,
                 struct backend *const side[2], struct self_check *out)
{
    struct check_point p = {0};
    long steps = 0;
    int rc = 0;
    TRY_OR(rc, done, point_make(point, &p));
    TRY_OR(rc, done, find_steps(ops, side[0], &p, &steps));
    if (steps > 0) {
        use_steps(&p);
        rc = compare_sides(ops, &p, steps, side, out);
    }
done:
    point_clear(&p);
    return rc;
}

/* Both backends compute in this process, so that what has become of its unit is asked first. */
static bool check_unit(struct self_check *out)
{
    const struct status_saved saved = status_capture_save();
    status_capture(out->text, sizeof out->text);
    const int rc = placement_check_rounding();
    status_capture_restore(saved);
    out->compared = rc != 0;
    out->within = rc == 0;
    return rc == 0;
}

int self_check_run(const struct model_ops *ops, const struct params *point,
                   struct backend *backend, struct self_check *out)
{
    /* The CPU, whatever the worker computes on. Plans come from where the worker's own do: they
     * would be searched for twice. */
    const struct backend_options options = {.name = "cpu",
                                            .isa = "x86-64",
                                            .threads = 1,
                                            .rigour = backend->rigour,
                                            .source = backend->source};
    struct backend *base = NULL;
    *out = (struct self_check){.within = true};
    if (!check_unit(out))
        return 0;
    TRY(backend_create(&options, &base));
    const int rc = check(ops, point, (struct backend *const[2]){base, backend}, out);
    backend_destroy(base);
    return rc;
}
