/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/kernels/gnlse_case.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <check.h>

#include "kernels/backend.h"
#include "kernels/base/mem.h"
#include "kernels/models/pulse/gnlse.h"
#include "tests/kernels/isa.h"
#include "tests/kernels/lane.h"

#define HISTORY 200000

void case_init(struct gnlse_case *c)
{
    static const struct {
        const char *name;
        double value;
    } values[] = {{"length", 1.0},
                  {"wavelength", 835e-9},
                  {"gamma", 0.1},
                  {"loss", 0.0},
                  {"self_steepening", 0.0},
                  {"raman.tau1", 12.2e-15},
                  {"raman.tau2", 32e-15},
                  {"raman.fraction", 0.18},
                  {"pulse.shape", 0.0},
                  {"pulse.duration", 1e-13},
                  {"pulse.phases.cep", 0.0},
                  {"pulse.phases.delay", 0.0},
                  {"pulse.phases.gdd", 0.0},
                  {"pulse.phases.tod", 0.0},
                  {"grid.points", 1024.0},
                  {"grid.window", 4e-12},
                  {"absorber.length", 0.01},
                  {"stepper.method", 0.0},
                  {"stepper.rtol", 1e-6},
                  {"stepper.atol", 0.0},
                  {"stepper.norm", 0.0},
                  {"stepper.max_steps", 1e6}};
    *c = (struct gnlse_case){.isa = isa_under_test(), .threads = 1};
    const struct model_info *info = gnlse_ops.info;
    ck_assert_int_eq(params_init(&c->params, info->params, info->param_count), 0);
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++)
        case_set(c, values[i].name, values[i].value);
    case_betas(c, (const double[]){0.0}, 1);
    c->params.planes = (struct plane_request){PLANES_COUNT, 2, NULL};
}

void case_clear(struct gnlse_case *c)
{
    params_clear(&c->params);
}

void case_set(struct gnlse_case *c, const char *name, double value)
{
    const int index = params_find(&c->params, name);
    ck_assert_msg(index >= 0, "no parameter %s", name);
    params_set(&c->params, index, value);
}

void case_unset(struct gnlse_case *c, const char *name)
{
    const int index = params_find(&c->params, name);
    ck_assert_msg(index >= 0, "no parameter %s", name);
    c->params.values[index].set = false;
}

void case_betas(struct gnlse_case *c, const double *betas, int count)
{
    case_set(c, "betas", betas[0]);
    struct param_value *value = &c->params.values[params_find(&c->params, "betas")];
    value->count = count;
    memcpy(value->list, betas, (size_t)count * sizeof *betas);
}

void case_planes(struct gnlse_case *c, const double *positions, int count)
{
    memcpy(c->positions, positions, (size_t)count * sizeof *positions);
    c->params.planes = (struct plane_request){PLANES_LIST, count, c->positions};
}

void case_raman(struct gnlse_case *c)
{
    case_set(c, "raman.model", 0.0);
}

void case_dudley(struct gnlse_case *c, double rtol)
{
    static const double betas[] = {-11.830e-27,  8.1038e-41,  -9.5205e-56,
                                   2.0737e-70,   -5.3943e-85, 1.3486e-99,
                                   -2.5495e-114, 3.0524e-129, -1.7140e-144};
    case_init(c);
    case_betas(c, betas, 9);
    case_raman(c);
    case_set(c, "self_steepening", 1.0);
    case_set(c, "length", 0.15);
    case_set(c, "gamma", 0.11);
    case_set(c, "pulse.duration", 50e-15);
    case_set(c, "pulse.peak_power", 10e3);
    case_set(c, "grid.points", 8192.0);
    case_set(c, "grid.window", 12.5e-12);
    case_set(c, "stepper.rtol", rtol);
}

static void axes_read(const struct gnlse_case *c, struct gnlse_planes *p)
{
    double **const axis[] = {&p->omega, &p->Omega, &p->t};
    for (int i = 0; i < 3; i++) {
        *axis[i] = calloc((size_t)p->n, sizeof(double));
        ck_assert_int_eq(gnlse_ops.axis(&c->params, i, *axis[i]), 0);
    }
}

static void keep_plane(struct model *m, struct gnlse_planes *p)
{
    struct plane_buffers buffers = {.array = {p->field + p->planes * p->n}};
    for (int i = 0; i < OBSERVABLES_MAX; i++)
        buffers.observable[i] = (double)NAN;
    ck_assert_int_eq(gnlse_ops.plane(m, 0, &buffers), 0);
    memcpy(p->observable[p->planes], buffers.observable, sizeof buffers.observable);
    p->planes++;
}

struct gnlse_planes case_run(const struct gnlse_case *c)
{
    struct plane_layout layout;
    ck_assert_int_eq(gnlse_ops.layout(&c->params, &layout), 0);
    struct gnlse_planes p = {.n = layout.axis[0].length};
    p.field = calloc((size_t)(layout.planes * p.n), sizeof(cplx));
    p.observable = calloc((size_t)layout.planes, sizeof *p.observable);
    p.history = calloc(HISTORY, sizeof *p.history);
    axes_read(c, &p);
    struct backend_options options = lane_options(c->threads);
    options.isa = c->isa;
    struct backend *be;
    struct model *m;
    ck_assert_int_eq(backend_create(&options, &be), 0);
    ck_assert_int_eq(gnlse_ops.create(&c->params, be, 1, &m), 0);
    p.row = (struct row_status){
        .deadline = (double)INFINITY, .history = p.history, .history_capacity = HISTORY};
    ck_assert_int_eq(gnlse_ops.load(m, 0, &c->params, &c->seed, NULL, &p.row), 0);
    if (c->schedule != NULL)
        gnlse_set_schedule(m, 0, c->schedule, c->scheduled);
    struct run_control control = {0};
    while (p.row.outcome == ROW_RUNNING) {
        ck_assert_int_eq(gnlse_ops.advance(m, &control, &p.row), 0);
        if (p.row.plane_ready)
            keep_plane(m, &p);
        p.row.plane_ready = false;
    }
    gnlse_ops.destroy(m);
    backend_destroy(be);
    return p;
}

void planes_free(struct gnlse_planes *p, struct gnlse_case *c)
{
    free(p->field);
    free(p->observable);
    free(p->history);
    free(p->omega);
    free(p->Omega);
    free(p->t);
    *p = (struct gnlse_planes){0};
    if (c != NULL) {
        case_clear(c);
        ck_assert_int_eq(mem_live(), 0);
    }
}

static cplx *transform(const cplx *in, long n, double sign, double scale)
{
    cplx *unit = calloc((size_t)n, sizeof *unit);
    cplx *out = calloc((size_t)n, sizeof *out);
    for (long i = 0; i < n; i++) {
        const double angle = sign * 2.0 * 3.14159265358979323846 * (double)i / (double)n;
        unit[i] = cplx_make(cos(angle), sin(angle));
    }
    for (long j = 0; j < n; j++) {
        cplx sum = cplx_make(0.0, 0.0);
        for (long k = 0, at = 0; k < n; k++, at = (at + j) % n)
            sum = cplx_add(sum, cplx_mul(in[k], unit[at]));
        out[j] = cplx_scale(scale, sum);
    }
    free(unit);
    return out;
}

cplx *case_samples(const cplx *spectrum, long n)
{
    return transform(spectrum, n, 1.0, 1.0);
}

cplx *case_spectrum(const cplx *samples, long n)
{
    return transform(samples, n, -1.0, 1.0 / (double)n);
}

double case_distance(const cplx *a, const cplx *b, long n)
{
    double difference = 0.0;
    double size = 0.0;
    for (long k = 0; k < n; k++) {
        difference += cplx_abs2(cplx_sub(a[k], b[k]));
        size += cplx_abs2(b[k]);
    }
    return sqrt(difference / size);
}
