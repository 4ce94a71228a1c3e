/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bench/stage_run.h"

#include <math.h>
#include <stdatomic.h>

#include "bench/floor.h"
#include "bench/stage_error.h"
#include "kernels/base/clock.h"
#include "kernels/base/mem.h"
#include "kernels/base/status.h"

#define SLICE 0.02 /* s of the run between two looks at the floor */

/* Slices of one kind: with timers or without. */
struct slices {
    double cpu, wall; /* s */
    long long rhs;
};

struct stage_bench {
    struct timed timed;
    struct floor floor;
    struct slices slices[2]; /* without timers, with */
    struct run_control control;
    double photons; /* at the first plane */
    cplx *spectrum; /* [points] of the last plane */
};

/* A slice of the run to its next stop or plane. */
static int run_slice(struct stage_bench *b, const struct model_ops *ops, struct model *m,
                     bool timers, struct row_status *st)
{
    struct slices *s = &b->slices[timers];
    TRY(floor_measure(&b->floor));
    b->timed.on = timers;
    atomic_store(&b->control.stop_at, clock_wall() + SLICE);
    const long long rhs = st->rhs_calls;
    const double wall = clock_wall();
    const double cpu = clock_cpu_thread();
    const int rc = ops->advance(m, &b->control, st);
    s->cpu += clock_cpu_thread() - cpu;
    s->wall += clock_wall() - wall;
    s->rhs += st->rhs_calls - rhs;
    b->timed.on = false;
    return rc;
}

static int take_plane(struct stage_bench *b, const struct model_ops *ops, struct model *m,
                      struct stage_result *out)
{
    struct plane_buffers buffers = {.array = {b->spectrum}};
    TRY(ops->plane(m, 0, &buffers));
    if (out->row.plane == 0)
        b->photons = buffers.observable[1];
    out->photon_drift = buffers.observable[1] / b->photons - 1.0;
    return 0;
}

static int run_member(struct stage_bench *b, const struct model_ops *ops, struct model *m,
                      struct stage_result *out)
{
    for (bool timers = false; out->row.outcome == ROW_RUNNING; timers = !timers) {
        TRY(run_slice(b, ops, m, timers, &out->row));
        if (out->row.plane_ready)
            TRY(take_plane(b, ops, m, out));
        out->row.plane_ready = false;
    }
    if (out->row.outcome != ROW_DONE)
        FAIL(ERR_BUG, "the member did not end well: %s", out->row.reason);
    return 0;
}

static void evaluate(const struct stage_bench *b, struct stage_result *out)
{
    const struct slices *plain = &b->slices[0];
    const struct slices *timed = &b->slices[1];
    out->total = 1e6 * plain->cpu / (double)plain->rhs;
    out->floor = 1e6 * floor_seconds(&b->floor);
    out->ratio = out->total / out->floor;
    out->timed_total = 1e6 * timed->cpu / (double)timed->rhs;
    for (int p = 0; p < TIMED_PARTS; p++) {
        /* Parts are wall time: what other programs took is spread over them evenly. */
        const double share = b->timed.wall[p] / timed->wall;
        out->part[p] = share * out->timed_total;
    }
    const struct row_status *st = &out->row;
    out->passes = (double)st->passes / (double)(st->steps + st->rejected);
    out->transforms = (double)st->transforms / (double)st->rhs_calls;
}

int stage_run(const struct stage_case *c, struct backend *be, const char *reference,
              struct stage_result *out)
{
    const struct model_ops *ops = model_find("gnlse");
    static const double planes[] = {0.0, 0.05, 0.10, 0.15};
    struct params params;
    TRY(params_init(&params, ops->info->params, ops->info->param_count));
    case_set(&params, c);
    params.planes = (struct plane_request){PLANES_LIST, 4, planes};
    const struct seed seed = {.noise = NOISE_NONE};
    struct stage_bench bench = {.control = {.stop = 0}};
    struct model *m = NULL;
    int rc;
    timed_init(&bench.timed, be);
    *out = (struct stage_result){.row = {.deadline = (double)INFINITY}, .error = (double)NAN};
    TRY_OR(rc, done, MEM_NEW(c->points, &bench.spectrum));
    TRY_OR(rc, done, ops->create(&params, &bench.timed.base, 1, &m));
    TRY_OR(rc, done, floor_create(be, c->points, c->raman, &bench.floor));
    TRY_OR(rc, done, ops->load(m, 0, &params, &seed, NULL, &out->row));
    TRY_OR(rc, done, run_member(&bench, ops, m, out));
    evaluate(&bench, out);
    if (stage_error_known(c))
        rc = stage_error(reference, bench.spectrum, c->points, &out->error);
done:
    ops->destroy(m);
    floor_clear(&bench.floor);
    mem_free(bench.spectrum);
    params_clear(&params);
    return rc;
}
