/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/kernels/capillary_case.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <check.h>

#include "kernels/backend.h"
#include "kernels/base/mem.h"
#include "kernels/base/status.h"
#include "kernels/models/pulse/capillary.h"
#include "tests/kernels/isa.h"
#include "tests/kernels/lane.h"

static int word_index(const struct param_info *info, const char *word)
{
    for (int i = 0; info->choices[i] != NULL; i++)
        if (strcmp(info->choices[i], word) == 0)
            return i;
    ck_abort_msg("%s has no choice %s", info->name, word);
}

/* Defaults are in SI, so a number's unit may be left out. */
static void set_word(struct params *p, int i, const char *word)
{
    const struct param_info *const info = &p->info[i];
    const bool none = strcmp(word, "none") == 0 || strcmp(word, "auto") == 0;
    if ((info->flags & PARAM_NONE) != 0 && none)
        p->values[i].set = false;
    else if (info->kind == PARAM_CHOICE)
        params_set(p, i, word_index(info, word));
    else if (info->kind == PARAM_BOOL)
        params_set(p, i, strcmp(word, "true") == 0 ? 1.0 : 0.0);
    else
        params_set(p, i, strtod(word, NULL));
}

void capillary_defaults(struct params *p)
{
    for (int i = 0; i < p->count; i++)
        if (p->info[i].fallback != NULL)
            set_word(p, i, p->info[i].fallback);
}

/* As in a scan file, a number in place of a group sets its constant. */
static int find(const struct capillary_case *c, const char *name)
{
    char constant[64];
    snprintf(constant, sizeof constant, "%s.constant", name);
    int index = params_find(&c->params, name);
    if (index < 0)
        index = params_find(&c->params, constant);
    ck_assert_msg(index >= 0, "no parameter %s", name);
    return index;
}

void capillary_case_set(struct capillary_case *c, const char *name, double value)
{
    params_set(&c->params, find(c, name), value);
}

void capillary_case_choose(struct capillary_case *c, const char *name, const char *word)
{
    set_word(&c->params, find(c, name), word);
}

void capillary_case_unset(struct capillary_case *c, const char *name)
{
    c->params.values[find(c, name)].set = false;
}

void capillary_case_list(struct capillary_case *c, const char *name, const double *values,
                         int count)
{
    struct param_value *const value = &c->params.values[find(c, name)];
    capillary_case_set(c, name, values[0]);
    value->count = count;
    memcpy(value->list, values, (size_t)count * sizeof *values);
}

void capillary_case_gas(struct capillary_case *c, const char *name)
{
    capillary_case_choose(c, "gas.name", name);
}

void capillary_case_planes(struct capillary_case *c, const double *positions, int count)
{
    memcpy(c->positions, positions, (size_t)count * sizeof *positions);
    c->params.planes = (struct plane_request){PLANES_LIST, count, c->positions};
}

void capillary_case_init(struct capillary_case *c)
{
    static const struct {
        const char *name;
        double value;
    } values[] = {
        {"core_radius.constant", 125e-6}, {"length", 3.0},         {"pressure.constant", 8e3},
        {"pulse.duration", 10e-15},       {"pulse.energy", 60e-6}, {"pulse.wavelength", 800e-9},
        {"grid.fine", 16384.0},           {"grid.coarse", 8192.0}, {"stepper.rtol", 1e-6}};
    *c = (struct capillary_case){.isa = isa_under_test()};
    const struct model_info *const info = capillary_ops.info;
    ck_assert_int_eq(params_init(&c->params, info->params, info->param_count), 0);
    capillary_defaults(&c->params);
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++)
        capillary_case_set(c, values[i].name, values[i].value);
    capillary_case_gas(c, "Ar");
    capillary_case_choose(c, "kerr.response", "none");
    capillary_case_choose(c, "plasma.rate", "none");
    capillary_case_list(c, "grid.wavelengths", (const double[]){150e-9, 4e-6}, 2);
    /* 16384 samples of 1/6 of the blue limit's period. */
    capillary_case_set(c, "grid.window", 16384.0 * 150e-9 / (6.0 * 299792458.0));
    c->params.planes = (struct plane_request){PLANES_COUNT, 2, NULL};
}

void capillary_case_data(struct capillary_case *c, const char *name, const struct data_set *set)
{
    c->params.values[find(c, name)] =
        (struct param_value){.set = true, .count = 1, .data = set};
}

void capillary_case_small(struct capillary_case *c)
{
    capillary_case_init(c);
    capillary_case_unset(c, "grid.fine");
    capillary_case_unset(c, "grid.coarse");
    capillary_case_list(c, "grid.wavelengths", (const double[]){300e-9, 2e-6}, 2);
    capillary_case_set(c, "grid.window", 200e-15);
    capillary_case_set(c, "length", 0.5);
    capillary_case_set(c, "guide.wall.index", CAPILLARY_CASE_INDEX);
}

void capillary_case_taper(struct capillary_case *c, const double *z, const double *radius,
                          int count)
{
    capillary_case_unset(c, "core_radius");
    capillary_case_list(c, "core_radius.z", z, count);
    capillary_case_list(c, "core_radius.radius", radius, count);
}

void capillary_case_gradient(struct capillary_case *c, double from, double to)
{
    capillary_case_unset(c, "pressure.constant");
    capillary_case_set(c, "pressure.from", from);
    capillary_case_set(c, "pressure.to", to);
}

void capillary_case_clear(struct capillary_case *c)
{
    params_clear(&c->params);
}

static void keep_plane(struct model *m, struct capillary_planes *p)
{
    double path[8] = {0.0};
    struct plane_buffers buffers = {.array = {p->field + p->planes * p->bins, path}};
    for (int i = 0; i < OBSERVABLES_MAX; i++)
        buffers.observable[i] = (double)NAN;
    ck_assert_int_eq(capillary_ops.plane(m, 0, &buffers), 0);
    memcpy(p->observable[p->planes], buffers.observable, sizeof p->observable[0]);
    p->planes++;
}

static void run_member(const struct capillary_case *c, struct model *m,
                       struct capillary_planes *p)
{
    struct run_control control = {0};
    p->row.deadline = (double)INFINITY;
    ck_assert_int_eq(capillary_ops.load(m, 0, &c->params, &c->seed, NULL, &p->row), 0);
    while (p->row.outcome == ROW_RUNNING) {
        ck_assert_int_eq(capillary_ops.advance(m, &control, &p->row), 0);
        if (p->row.plane_ready) {
            keep_plane(m, p);
            p->row.plane_ready = false;
        }
    }
}

struct capillary_planes capillary_case_run(const struct capillary_case *c)
{
    struct plane_layout layout;
    struct capillary_planes p = {0};
    struct backend *be;
    struct model *m;
    struct backend_options options = lane_options(1);
    options.isa = c->isa;
    ck_assert_int_eq(capillary_ops.layout(&c->params, &layout), 0);
    p.bins = layout.axis[0].length;
    p.field = calloc((size_t)(layout.planes * p.bins), sizeof *p.field);
    p.observable = calloc((size_t)layout.planes, sizeof *p.observable);
    p.omega = calloc((size_t)p.bins, sizeof *p.omega);
    ck_assert_int_eq(capillary_ops.axis(&c->params, 0, p.omega), 0);
    ck_assert_int_eq(backend_create(&options, &be), 0);
    ck_assert_int_eq(capillary_ops.create(&c->params, be, 1, &m), 0);
    run_member(c, m, &p);
    capillary_ops.destroy(m);
    backend_destroy(be);
    return p;
}

struct capillary_planes capillary_case_finish(const struct capillary_case *c)
{
    struct capillary_planes p = capillary_case_run(c);
    ck_assert_msg(p.row.outcome == ROW_DONE, "%s", p.row.reason);
    return p;
}

void capillary_case_check_counts(const struct capillary_case *c, int transforms, int passes)
{
    struct capillary_planes p = capillary_case_finish(c);
    const long long trials = p.row.steps + p.row.rejected;
    ck_assert_int_eq(p.row.rhs_calls, 1 + 6 * trials);
    ck_assert_int_eq(p.row.transforms, p.row.rhs_calls * transforms);
    ck_assert_int_eq(p.row.passes, 2 + 7 * trials + p.row.rhs_calls * passes);
    capillary_planes_free(&p);
}

void capillary_case_refused(struct capillary_case *c, int code, const char *word,
                            const char *other)
{
    struct plane_layout layout;
    char text[600] = "";
    const long live = mem_live();
    status_capture(text, sizeof text);
    const int got = capillary_ops.layout(&c->params, &layout);
    status_capture(NULL, 0);
    ck_assert_msg(got == code, "%d: %s", got, text);
    ck_assert_msg(strstr(text, word) != NULL, "%s lacks %s", text, word);
    ck_assert_msg(strstr(text, other) != NULL, "%s lacks %s", text, other);
    ck_assert_msg(strchr(text, '\n') == NULL, "%s", text);
    ck_assert_int_eq(mem_live(), live);
    capillary_case_clear(c);
}

void capillary_planes_free(struct capillary_planes *p)
{
    free(p->field);
    free(p->observable);
    free(p->omega);
}

double capillary_distance(const cplx *a, const cplx *b, long n)
{
    double difference = 0.0;
    double norm = 0.0;
    for (long k = 0; k < n; k++) {
        difference += cplx_abs2(cplx_sub(a[k], b[k]));
        norm += cplx_abs2(b[k]);
    }
    return sqrt(difference / norm);
}
