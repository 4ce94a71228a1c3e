/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Conformance of the models: what every model must keep (architecture §4, style 20). */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/backend.h"
#include "kernels/base/mem.h"
#include "kernels/base/status.h"
#include "kernels/contract/bounds.h"
#include "kernels/contract/compare.h"
#include "kernels/models/probe.h"
#include "kernels/models/pulse/capillary.h"
#include "kernels/models/pulse/gnlse.h"
#include "kernels/models/snl1/snl1_model.h"
#include "tests/exact.h"
#include "tests/kernels/capillary_case.h"
#include "tests/kernels/gnlse_case.h"
#include "tests/kernels/isa.h"
#include "tests/kernels/lane.h"
#include "tests/kernels/perturbed.h"
#include "tests/perturb/record.h"
#include "tests/unit_main.h"

#define MEMBERS 4
#define PLANES  3
#define GUARD   8 /* elements after an array that must stay as they are */

/* A model with members that differ, short enough for the ladder of R bounds. */
struct model_case {
    const char *name;
    const struct model_ops *ops;
    void (*fill)(struct params *p, int member); /* member -1: one that fails */
};

static void set(struct params *p, const char *name, double value)
{
    ck_assert_int_ge(params_find(p, name), 0);
    params_set(p, params_find(p, name), value);
}

static void fill_gnlse(struct params *p, int member)
{
    struct gnlse_case c;
    case_init(&c);
    case_set(&c, "length", 0.002);
    case_set(&c, "grid.points", 256.0);
    case_set(&c, "pulse.peak_power", member < 0 ? 1e200 : 50.0 + 10.0 * member);
    case_betas(&c, (const double[]){-1e-26 * (1.0 + 0.1 * member), 1e-40}, 2);
    params_copy(p, &c.params);
    case_clear(&c);
}

static void fill_raman(struct params *p, int member)
{
    fill_gnlse(p, member);
    set(p, "raman.model", 0.0);
    set(p, "self_steepening", 1.0);
    set(p, "loss", 0.1);
    set(p, "raman.fraction", 0.18 + 0.01 * member);
}

static void fill_absorber(struct params *p, int member)
{
    fill_raman(p, member);
    set(p, "absorber.edge", 0.1);
}

/* A capillary of a few samples; each kind of response, and L of one, two and more terms. */
static void fill_capillary(struct params *p, int member)
{
    struct capillary_case c;
    capillary_case_init(&c);
    capillary_case_choose(&c, "kerr.response", "chi3");
    capillary_case_unset(&c, "grid.fine");
    capillary_case_unset(&c, "grid.coarse");
    capillary_case_list(&c, "grid.wavelengths", (const double[]){300e-9, 2e-6}, 2);
    capillary_case_set(&c, "grid.window", 100e-15);
    capillary_case_set(&c, "length", 1e-3);
    capillary_case_set(&c, "pressure.constant", 1e5 * (1.0 + 0.1 * member));
    if (member < 0)
        capillary_case_set(&c, "pulse.energy", 1e200);
    params_copy(p, &c.params);
    capillary_case_clear(&c);
}

static void choose(struct params *p, const char *name, const char *word)
{
    struct capillary_case c = {.params = *p};
    capillary_case_choose(&c, name, word);
}

static void fill_plasma(struct params *p, int member)
{
    fill_capillary(p, member);
    choose(p, "plasma.rate", "ppt");
    choose(p, "kerr.third_harmonic", "false");
    set(p, "pulse.energy", member < 0 ? 0.1 : 60e-6);
    set(p, "absorber.spectral", 0.01);
    set(p, "absorber.time", 0.01);
}

static void fill_gradient(struct params *p, int member)
{
    fill_capillary(p, member);
    p->values[params_find(p, "pressure.constant")].set = false;
    set(p, "pressure.from", 1e5 * (1.0 + 0.1 * member));
    set(p, "pressure.to", 0.0);
    choose(p, "plasma.rate", "adk");
    choose(p, "plasma.rule", "trapezoid");
    set(p, "pulse.energy", member < 0 ? 0.1 : 60e-6);
}

static void fill_full(struct params *p, int member)
{
    fill_gradient(p, member);
    choose(p, "plasma.rate", "none");
    choose(p, "guide.model", "marcatili");
    set(p, "pulse.energy", member < 0 ? 1e200 : 60e-6);
}

/* Steep enough for seven terms of L. */
static void fill_taper(struct params *p, int member)
{
    fill_full(p, member);
    struct capillary_case c = {.params = *p};
    capillary_case_unset(&c, "core_radius");
    capillary_case_list(&c, "core_radius.z", (const double[]){0.0, 1e-3}, 2);
    capillary_case_list(&c, "core_radius.radius", (const double[]){100e-6, 30e-6}, 2);
    set(p, "pressure.from", 1e6 * (1.0 + 0.1 * member));
    set(p, "pulse.energy", member < 0 ? 1e200 : 1e-7);
}

/* Two species, one by a formula and one by a table, and the lines of one. */
static void fill_mixture(struct params *p, int member)
{
    fill_gradient(p, member);
    p->values[params_find(p, "gas.name")].set = false;
    set(p, "gas.Ar", 0.7);
    set(p, "gas.H2", 0.3);
    set(p, "pressure.to", 0.5e5);
    choose(p, "density", "ideal");
    choose(p, "plasma.rate", "auto");
    choose(p, "plasma.rule", "band");
    choose(p, "raman.model", "auto");
}

static void fill_envelope(struct params *p, int member)
{
    fill_capillary(p, member);
    choose(p, "gas.name", "N2");
    choose(p, "field", "envelope");
    choose(p, "kerr.third_harmonic", "false");
    choose(p, "raman.model", "on");
    set(p, "absorber.spectral", 0.01);
    set(p, "absorber.time", 0.01);
}

static void fill_envelope_gradient(struct params *p, int member)
{
    fill_gradient(p, member);
    choose(p, "gas.name", "H2");
    choose(p, "field", "envelope");
    choose(p, "kerr.third_harmonic", "false");
    choose(p, "plasma.rate", "none");
    set(p, "pulse.energy", member < 0 ? 1e200 : 60e-6);
}

static void fill_probe(struct params *p, int member)
{
    set(p, "sleep", 0.0);
    set(p, "work", 0.001);
    set(p, "fail_at", member < 0 ? 1.0 : -1.0);
    set(p, "size", 5.0);
    set(p, "a", 1.0);
    set(p, "b", 2.0);
    set(p, "c", (double)member);
}

static void fill_snl1(struct params *p, int member)
{
    for (int i = 0; i < p->count; i++) {
        const struct param_info *const info = &p->info[i];
        if (info->kind == PARAM_CHOICE)
            params_set(p, i, 0.0);
        else if (info->fallback != NULL && strcmp(info->fallback, "auto") != 0)
            params_set(p, i, strtod(info->fallback, NULL));
    }
    set(p, "grid.directions", 9.0);
    set(p, "grid.frequencies", 20.0);
    set(p, "sea.points", 150.0);
    set(p, "sea.turn", 0.1);
    set(p, "sea.peak", 0.1 + 0.01 * member);
    set(p, "noise.share", 0.5);
    set(p, "sea.height", member < 0 ? 1e25 : 2.0);
}

static const struct model_case cases[] = {
    {"gnlse", &gnlse_ops, fill_gnlse},
    {"gnlse with Raman, shock, loss", &gnlse_ops, fill_raman},
    {"gnlse with absorber", &gnlse_ops, fill_absorber},
    {"capillary", &capillary_ops, fill_capillary},
    {"capillary with plasma, absorber, no third harmonic", &capillary_ops, fill_plasma},
    {"capillary along a gradient", &capillary_ops, fill_gradient},
    {"capillary, full guide along a gradient", &capillary_ops, fill_full},
    {"capillary, full guide along a gradient and a taper", &capillary_ops, fill_taper},
    {"capillary with a mixture along a gradient", &capillary_ops, fill_mixture},
    {"capillary, an envelope with Raman and absorbers", &capillary_ops, fill_envelope},
    {"capillary, an envelope along a gradient", &capillary_ops, fill_envelope_gradient},
    {"snl1", &snl1_ops, fill_snl1},
    {"probe", &probe_ops, fill_probe}};
#define CASES ((int)(sizeof cases / sizeof cases[0]))

/* Every case that the backend under test can run: the CPU all, a device those for devices. */
static void each_case(void (*check)(const struct model_case *kind))
{
    int checked = 0;
    for (int i = 0; i < CASES; i++)
        if (cases[i].ops->info->on_devices || strcmp(lane_backend(), "cpu") == 0) {
            check(&cases[i]);
            checked++;
        }
    ck_assert_int_gt(checked, 0);
}

/* A batch of one model, and what its members left at each plane. */
struct batch {
    const struct model_case *kind;
    struct plane_layout layout;
    struct params params[MEMBERS + 1];
    struct backend *be;
    struct model *model;
    int capacity;
    struct row_status st[MEMBERS];
    struct run_control control;
};

struct kept {
    unsigned char *array[PLANES][LAYOUT_ARRAYS_MAX];
    double observable[PLANES][OBSERVABLES_MAX];
};

static const struct seed noise = {
    .noise = NOISE_HALF_PHOTON_GAUSSIAN, .ensemble_seed = 3, .point_key = 17, .realisation = 2};

/* The backend's own memory, but rows of numbers start as NaN: a model that reads what it did
 * not write fails here. */
static struct backend_ops nan_ops;
static int (*plain_alloc)(struct backend *be, long count, size_t size, void **out);

static int nan_alloc(struct backend *be, long count, size_t size, void **out)
{
    TRY(plain_alloc(be, count, size, out));
    if (size < sizeof(double) || count < 1)
        return 0;
    const size_t bytes = (size_t)count * size;
    void *const nan = malloc(bytes);
    ck_assert_ptr_nonnull(nan);
    memset(nan, 0xff, bytes);
    const int rc = be->ops->upload(be, *out, nan, bytes);
    free(nan);
    return rc;
}

static void use_nan_memory(struct backend *be)
{
    nan_ops = *be->ops;
    plain_alloc = nan_ops.alloc;
    nan_ops.alloc = nan_alloc;
    be->ops = &nan_ops;
}

static void batch_open(struct batch *b, const struct model_case *kind, int capacity,
                       int threads)
{
    *b = (struct batch){.kind = kind, .capacity = capacity};
    struct backend_options options = lane_options(threads);
    options.apart = kind->ops->info->on_devices;
    ck_assert_int_eq(backend_create(&options, &b->be), 0);
    use_nan_memory(b->be);
    const struct model_info *info = kind->ops->info;
    for (int i = 0; i <= MEMBERS; i++) {
        ck_assert_int_eq(params_init(&b->params[i], info->params, info->param_count), 0);
        kind->fill(&b->params[i], i < MEMBERS ? i : -1);
        b->params[i].planes = kind->ops->info->single_plane
                                  ? (struct plane_request){PLANES_LAST, 1, NULL}
                                  : (struct plane_request){PLANES_COUNT, PLANES, NULL};
    }
    ck_assert_int_eq(kind->ops->layout(&b->params[0], &b->layout), 0);
    ck_assert_int_eq(b->layout.planes, kind->ops->info->single_plane ? 1 : PLANES);
    ck_assert_int_eq(kind->ops->create(&b->params[0], b->be, capacity, &b->model), 0);
}

static void batch_load(struct batch *b, int row, int member, const struct state_in *resume)
{
    b->st[row] = (struct row_status){.deadline = (double)INFINITY};
    ck_assert_int_eq(
        b->kind->ops->load(b->model, row, &b->params[member], &noise, resume, &b->st[row]), 0);
}

static void batch_close(struct batch *b)
{
    b->kind->ops->destroy(b->model);
    backend_destroy(b->be);
    for (int i = 0; i <= MEMBERS; i++)
        params_clear(&b->params[i]);
}

static size_t array_bytes(const struct batch *b, int array)
{
    return (size_t)layout_array_count(&b->layout, array)
           * element_size(b->layout.array[array].type);
}

/* Keep the plane a row stands on; outputs are NaN before, and so is what lies behind them. */
static void keep(struct batch *b, int row, struct kept *k)
{
    struct plane_buffers buffers = {0};
    const long plane = b->st[row].plane;
    for (int i = 0; i < OBSERVABLES_MAX; i++)
        buffers.observable[i] = (double)NAN;
    for (int i = 0; i < b->layout.arrays; i++) {
        const size_t bytes = array_bytes(b, i);
        k->array[plane][i] = malloc(bytes + GUARD);
        memset(k->array[plane][i], 0xff, bytes + GUARD); /* NaN as double */
        buffers.array[i] = k->array[plane][i];
    }
    ck_assert_int_eq(b->kind->ops->plane(b->model, row, &buffers), 0);
    memcpy(k->observable[plane], buffers.observable, sizeof buffers.observable);
    b->st[row].plane_ready = false;
}

static void kept_free(struct kept *k)
{
    for (int plane = 0; plane < PLANES; plane++)
        for (int i = 0; i < LAYOUT_ARRAYS_MAX; i++)
            free(k->array[plane][i]);
}

/* Every row to its end. */
static void batch_finish(struct batch *b, struct kept *k)
{
    for (bool running = true; running;) {
        ck_assert_int_eq(b->kind->ops->advance(b->model, &b->control, b->st), 0);
        running = false;
        for (int r = 0; r < b->capacity; r++) {
            if (b->st[r].plane_ready)
                keep(b, r, &k[r]);
            running = running || b->st[r].outcome == ROW_RUNNING;
        }
    }
}

static bool all_finite(const struct batch *b, int array, const unsigned char *bytes)
{
    const long count = (long)(array_bytes(b, array) / sizeof(double));
    const double *values = (const double *)(const void *)bytes;
    for (long i = 0; i < count; i++)
        if (!isfinite(values[i]))
            return false;
    return true;
}

static void check_layout(const struct model_case *kind)
{
    struct batch b;
    struct kept k = {0};
    batch_open(&b, kind, 1, 1);
    batch_load(&b, 0, 0, NULL);
    batch_finish(&b, &k);
    ck_assert_msg(b.st[0].outcome == ROW_DONE, "%s: %s", kind->name, b.st[0].reason);
    ck_assert_exactly(b.st[0].progress, b.layout.span);
    ck_assert_int_eq(b.layout.observables, kind->ops->info->observable_count);
    for (int plane = 0; plane < b.layout.planes; plane++) {
        for (int i = 0; i < b.layout.arrays; i++) {
            ck_assert_ptr_nonnull(k.array[plane][i]);
            ck_assert(all_finite(&b, i, k.array[plane][i]));
            for (int g = 0; g < GUARD; g++)
                ck_assert_uint_eq(k.array[plane][i][array_bytes(&b, i) + (size_t)g], 0xff);
        }
        for (int i = 0; i < OBSERVABLES_MAX; i++)
            ck_assert_int_eq(isfinite(k.observable[plane][i]) != 0, i < b.layout.observables);
    }
    for (int axis = 0; axis < b.layout.axes; axis++) {
        const long n = b.layout.axis[axis].length;
        double *values = malloc((size_t)(n + 1) * sizeof *values);
        for (long i = 0; i <= n; i++)
            values[i] = (double)NAN;
        ck_assert_int_eq(kind->ops->axis(&b.params[0], axis, values), 0);
        for (long i = 0; i <= n; i++)
            ck_assert_int_eq(isfinite(values[i]) != 0, i < n);
        free(values);
    }
    batch_close(&b);
    kept_free(&k);
    ck_assert_int_eq(mem_live(), 0);
}

START_TEST(planes_and_axes_have_the_shape_that_layout_says)
{
    each_case(check_layout);
}
END_TEST

/* Same member in another batch: arrays within the ladder of R, of the peak. */
static void check_equal(const struct batch *b, const struct kept *x, const struct kept *y)
{
    for (int plane = 0; plane < b->layout.planes; plane++)
        for (int i = 0; i < b->layout.arrays; i++) {
            const struct comparison_input in = {
                .value = (const double *)(const void *)x->array[plane][i],
                .reference = (const double *)(const void *)y->array[plane][i],
                .n = layout_array_count(&b->layout, i),
                .is_complex = b->layout.array[i].type == ELEMENT_C128};
            double peak = 0.0;
            for (long e = 0; e < in.n * (in.is_complex ? 2 : 1); e++)
                peak = fmax(peak, fabs(in.reference[e]));
            if (is_zero(peak)) { /* integrals before the first step */
                ck_assert_int_eq(comparison_bits(x->array[plane][i], y->array[plane][i], 1,
                                                 (long)array_bytes(b, i)),
                                 -1);
                continue;
            }
            struct comparison_input judged = in;
            ck_assert_int_eq(bound_steps(8, peak, &judged.atol), 0);
            struct comparison out;
            ck_assert_int_eq(comparison_run(&judged, &out), 0);
            ck_assert_msg(out.within, "%s, plane %d: margin %g", b->kind->name, plane,
                          out.margin);
            perturbed_check(&judged, 0.0, "member in a batch");
        }
}

static void check_batch(const struct model_case *kind, int threads)
{
    struct batch many;
    struct kept together[MEMBERS] = {0};
    batch_open(&many, kind, MEMBERS, threads);
    for (int r = 0; r < MEMBERS; r++)
        batch_load(&many, r, r, NULL);
    batch_finish(&many, together);
    for (int r = 0; r < MEMBERS; r++) {
        struct batch one;
        struct kept alone = {0};
        batch_open(&one, kind, 1, 1);
        batch_load(&one, 0, r, NULL);
        batch_finish(&one, &alone);
        ck_assert_int_eq(one.st[0].outcome, ROW_DONE);
        ck_assert_int_eq(many.st[r].outcome, ROW_DONE);
        ck_assert_int_le(one.st[0].steps, 8);
        ck_assert_int_eq(one.st[0].steps, many.st[r].steps);
        check_equal(&one, &together[r], &alone);
        batch_close(&one);
        kept_free(&alone);
    }
    /* Members differ, so a mix-up of rows would be seen. */
    const long last = many.layout.planes - 1;
    ck_assert(!equal_bits(together[0].array[last][0], together[1].array[last][0],
                          array_bytes(&many, 0)));
    batch_close(&many);
    for (int r = 0; r < MEMBERS; r++)
        kept_free(&together[r]);
}

static void check_batches(const struct model_case *kind)
{
    for (int threads = 1; threads <= 3; threads += 2)
        check_batch(kind, threads);
}

START_TEST(a_batch_of_n_equals_n_batches_of_1)
{
    each_case(check_batches);
}
END_TEST

static void check_restart(const struct model_case *kind)
{
    struct batch b;
    struct kept straight = {0};
    struct kept resumed = {0};
    batch_open(&b, kind, 1, 1);
    batch_load(&b, 0, 1, NULL);
    batch_finish(&b, &straight);
    const struct row_status end = b.st[0];
    batch_load(&b, 0, 1, NULL);
    const long before = b.layout.planes - 1; /* planes before the restart */
    for (int plane = 0; plane < before; plane++) {
        ck_assert_int_eq(kind->ops->advance(b.model, &b.control, b.st), 0);
        keep(&b, 0, &resumed);
    }
    unsigned char *bytes = malloc(b.layout.state_bytes);
    struct state_out out = {bytes, b.layout.state_bytes, 0};
    ck_assert_int_eq(kind->ops->state(b.model, 0, &out), 0);
    ck_assert_uint_le(out.length, b.layout.state_bytes);
    batch_close(&b);
    batch_open(&b, kind, 1, 1); /* another object */
    const struct state_in in = {bytes, out.length};
    batch_load(&b, 0, 1, &in);
    ck_assert_int_eq(b.st[0].plane, before - 1);
    batch_finish(&b, &resumed);
    ck_assert_int_eq(b.st[0].outcome, ROW_DONE);
    ck_assert_int_eq(b.st[0].steps, end.steps);
    ck_assert_int_eq(b.st[0].rhs_calls, end.rhs_calls);
    for (int plane = 0; plane < b.layout.planes; plane++)
        for (int i = 0; i < b.layout.arrays; i++)
            ck_assert_int_eq(comparison_bits(straight.array[plane][i], resumed.array[plane][i],
                                             1, (long)array_bytes(&b, i)),
                             -1);
    batch_close(&b);
    free(bytes);
    kept_free(&straight);
    kept_free(&resumed);
}

/* Whether two rows of doubles agree in their norm. */
static void check_near(const void *value, const void *reference, size_t bytes, double limit)
{
    const struct comparison_input in = {
        .value = value, .reference = reference, .n = (long)(bytes / sizeof(double))};
    struct comparison out;
    ck_assert_int_eq(comparison_norm(&in, limit, &out), 0);
    ck_assert_msg(out.within, "%g apart, %g times what is allowed", out.observed, out.margin);
    perturb_record_norm(bound_entry(BOUND_from_plane)->name, out.observed, limit);
}

/* From what is stored of a plane only the step length is missing: the planes behind it agree
 * within what the stepper's tolerance (1e-6 a step) leaves. */
static void check_from_plane(const struct model_case *kind)
{
    if (kind->ops->from_plane == NULL)
        return;
    struct batch b;
    struct kept straight = {0};
    struct kept later = {0};
    batch_open(&b, kind, 1, 1);
    batch_load(&b, 0, 1, NULL);
    batch_finish(&b, &straight);
    unsigned char *bytes = malloc(b.layout.state_bytes);
    struct state_out out = {bytes, b.layout.state_bytes, 0};
    struct plane_buffers fields = {.array = {straight.array[1][0], straight.array[1][1]}};
    ck_assert_int_eq(kind->ops->from_plane(&b.params[1], 1, &fields, &out), 0);
    const struct state_in in = {bytes, out.length};
    batch_load(&b, 0, 1, &in);
    ck_assert_int_eq(b.st[0].plane, 1);
    ck_assert_int_eq(b.st[0].steps, b.kind->ops == &probe_ops ? 2 : 0);
    batch_finish(&b, &later);
    ck_assert_int_eq(b.st[0].outcome, ROW_DONE);
    ck_assert_ptr_null(later.array[1][0]);
    for (int plane = 2; plane < PLANES; plane++)
        check_near(later.array[plane][0], straight.array[plane][0], array_bytes(&b, 0),
                   bound(BOUND_from_plane));
    out.capacity = out.length - 1;
    char text[200] = "";
    status_capture(text, sizeof text);
    ck_assert_int_eq(kind->ops->from_plane(&b.params[1], 1, &fields, &out), ERR_ARGUMENT);
    status_capture(NULL, 0);
    batch_close(&b);
    free(bytes);
    kept_free(&straight);
    kept_free(&later);
}

START_TEST(a_row_goes_on_from_a_stored_plane)
{
    each_case(check_from_plane);
}
END_TEST

START_TEST(a_restart_equals_a_straight_run_bit_for_bit)
{
    each_case(check_restart);
}
END_TEST

static void check_failing(const struct model_case *kind)
{
    struct batch b;
    struct kept k[MEMBERS] = {0};
    struct kept undisturbed[MEMBERS] = {0};
    batch_open(&b, kind, 2, 2);
    batch_load(&b, 0, 0, NULL);
    batch_load(&b, 1, 2, NULL);
    batch_finish(&b, undisturbed);
    batch_load(&b, 0, MEMBERS, NULL); /* the failing one */
    batch_load(&b, 1, 2, NULL);
    batch_finish(&b, k);
    ck_assert_int_eq(b.st[0].outcome, ROW_FAILED);
    ck_assert_uint_gt(strlen(b.st[0].reason), 5);
    ck_assert_int_eq(b.st[1].outcome, ROW_DONE);
    check_equal(&b, &k[1], &undisturbed[1]);
    /* The row is used again as if nothing had been. */
    kept_free(&k[0]);
    k[0] = (struct kept){0};
    batch_load(&b, 0, 0, NULL);
    ck_assert_str_eq(b.st[0].reason, "");
    b.st[1].outcome = ROW_EMPTY;
    batch_finish(&b, k);
    ck_assert_int_eq(b.st[0].outcome, ROW_DONE);
    check_equal(&b, &k[0], &undisturbed[0]);
    batch_close(&b);
    for (int r = 0; r < MEMBERS; r++) {
        kept_free(&k[r]);
        kept_free(&undisturbed[r]);
    }
}

START_TEST(a_diverging_row_changes_nothing_in_the_others)
{
    each_case(check_failing);
}
END_TEST

static void check_no_allocation(const struct model_case *kind)
{
    struct batch b;
    struct kept k[MEMBERS] = {0};
    batch_open(&b, kind, 2, 2);
    batch_load(&b, 0, 0, NULL);
    batch_load(&b, 1, 1, NULL);
    const long before = mem_total();
    batch_finish(&b, k);
    ck_assert_int_eq(mem_total(), before);
    batch_close(&b);
    kept_free(&k[0]);
    kept_free(&k[1]);
    ck_assert_int_eq(mem_live(), 0);
}

START_TEST(advance_and_plane_allocate_nothing)
{
    each_case(check_no_allocation);
}
END_TEST

static void check_stop(const struct model_case *kind)
{
    struct batch b;
    struct kept k = {0};
    batch_open(&b, kind, 1, 1);
    batch_load(&b, 0, 0, NULL);
    atomic_store(&b.control.stop, 1);
    /* Only what costs no step may happen. */
    for (int turn = 0; turn < 5; turn++) {
        ck_assert_int_eq(kind->ops->advance(b.model, &b.control, b.st), 0);
        if (b.st[0].plane_ready)
            keep(&b, 0, &k);
    }
    ck_assert_int_eq(b.st[0].outcome, ROW_RUNNING);
    ck_assert_int_le(b.st[0].steps, 1);
    atomic_store(&b.control.stop, 0);
    batch_finish(&b, &k);
    ck_assert_int_eq(b.st[0].outcome, ROW_DONE);
    batch_close(&b);
    kept_free(&k);
}

START_TEST(a_stop_leaves_the_row_running_and_it_goes_on)
{
    each_case(check_stop);
}
END_TEST

START_TEST(every_model_of_the_registry_is_in_this_suite)
{
    for (const struct model_ops *const *m = model_list(); *m != NULL; m++) {
        bool found = false;
        for (int i = 0; i < CASES; i++)
            found = found || cases[i].ops == *m;
        ck_assert_msg(found, "%s has no case", (*m)->info->name);
        ck_assert_int_eq((*m)->abi.version, MODEL_ABI_VERSION);
        ck_assert_int_eq((*m)->abi.size, (int)sizeof(struct model_ops));
        ck_assert_ptr_eq(model_find((*m)->info->name), *m);
        for (int i = 0; i < (*m)->info->param_count; i++) {
            const struct param_info *p = &(*m)->info->params[i];
            ck_assert_msg(p->doc != NULL && p->unit != NULL && p->minimum <= p->maximum,
                          "%s: %s lacks unit, doc or range", (*m)->info->name, p->name);
        }
    }
    ck_assert_ptr_null(model_find("gnls"));
}
END_TEST

int main(void)
{
    if (isa_check() != 0)
        return ISA_SKIPPED;
    Suite *const suite = suite_create("models");
    TCase *const tests = tcase_create("conformance");
    tcase_set_timeout(tests, 50);
    tcase_add_test(tests, every_model_of_the_registry_is_in_this_suite);
    tcase_add_test(tests, planes_and_axes_have_the_shape_that_layout_says);
    tcase_add_test(tests, a_batch_of_n_equals_n_batches_of_1);
    tcase_add_test(tests, a_restart_equals_a_straight_run_bit_for_bit);
    tcase_add_test(tests, a_row_goes_on_from_a_stored_plane);
    tcase_add_test(tests, a_diverging_row_changes_nothing_in_the_others);
    tcase_add_test(tests, advance_and_plane_allocate_nothing);
    tcase_add_test(tests, a_stop_leaves_the_row_running_and_it_goes_on);
    suite_add_tcase(suite, tests);
    return unit_main(suite);
}
