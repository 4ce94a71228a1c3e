/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/kernels/stepper_case.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <check.h>

#include "tests/exact.h"
#include "tests/kernels/apart.h"
#include "tests/kernels/lane.h"

struct stepper_case stepper_case_default(enum case_kind kind)
{
    const struct stepper_case c = {
        .kind = kind,
        .g = 3.0,
        .scale = 1.0,
        .rows = 1,
        .threads = 1,
        .planes = 1,
        .positions = {1.0},
        .control = {.length = 1.0, .rtol = 1e-8, .norm = STEP_NORM_L2, .max_steps = 100000}};
    return c;
}

static bool is_quiet(const struct stepper_case *c, long bin)
{
    return bin >= c->quiet_from && bin < c->quiet_to;
}

static int evaluate(void *model, long row, struct step_place place, cplx *spectrum,
                    struct row_status *st)
{
    (void)place;
    struct stepper_run *run = model;
    const struct stepper_case *c = &run->setup;
    cplx in[CASE_BINS];
    memcpy(in, spectrum, sizeof in);
    run->calls[row]++;
    if (c->observe != NULL && row == 0)
        c->observe(c->observer, in);
    st->transforms += CASE_TRANSFORMS;
    st->passes++;
    for (long i = c->quiet_from; i < c->quiet_to; i++)
        run->leaked = run->leaked || !is_zero(cplx_abs2(in[i]));
    for (long i = 0; i < CASE_BINS; i++)
        spectrum[i] = is_quiet(c, i)         ? cplx_make(7.0, -3.0)
                      : c->kind == CASE_KERR ? cplx_scale(cplx_abs2(in[i]), in[i])
                                             : in[i ^ 1];
    if (run->calls[row] == c->poison_call && row == c->poison_row)
        spectrum[3].r = (double)NAN;
    if (run->calls[row] == c->stop_call)
        atomic_store(&run->control.stop, 1);
    return 0;
}

static int nonlinear(void *model, const struct step_call *call)
{
    struct stepper_run *run = model;
    return apart_each(run->be, call, model, evaluate);
}

cplx stepper_start(const struct stepper_case *c, long bin)
{
    if (is_quiet(c, bin))
        return cplx_make(0.0, 0.0);
    const double size = c->scale * (0.5 + 0.5 * cos((double)bin));
    return cplx_make(size * cos(0.7 * (double)bin), size * sin(0.7 * (double)bin));
}

double stepper_li(long bin)
{
    return (bin % 2 == 0 ? 1.0 : -1.0) * (2.0 + (double)(bin / 2));
}

void stepper_fill(struct stepper_run *run, const struct stepper_case *c)
{
    run->setup = *c;
    double li[CASE_BINS];
    double lr[CASE_BINS];
    cplx field[CASE_BINS];
    cplx pre[CASE_BINS];
    for (long i = 0; i < CASE_BINS; i++) {
        li[i] = stepper_li(i);
        lr[i] = c->lr;
        field[i] = stepper_start(c, i);
        const double g = c->kind == CASE_KERR ? -c->g : c->g;
        pre[i] = cplx_make(0.0, is_quiet(c, i) ? 0.0 : g);
    }
    const struct step_member member = {.control = c->control,
                                       .positions = c->positions,
                                       .field = field,
                                       .li = li,
                                       .lr = !is_zero(c->lr) ? lr : NULL,
                                       .pre = pre,
                                       .schedule = c->schedule};
    for (long r = 0; r < c->rows; r++) {
        run->st[r] = (struct row_status){.deadline = (double)INFINITY,
                                         .history = run->history + r * CASE_HISTORY,
                                         .history_capacity = CASE_HISTORY};
        ck_assert_int_eq(stepper_load(run->stepper, r, &member, &run->st[r]), 0);
    }
}

void stepper_open(struct stepper_run *run, const struct stepper_case *c)
{
    const struct backend_options options = lane_options(c->threads);
    *run = (struct stepper_run){.setup = *c};
    ck_assert_int_eq(backend_create(&options, &run->be), 0);
    lane_join(run->be);
    run->calls = calloc((size_t)c->rows, sizeof *run->calls);
    run->states = calloc((size_t)(c->rows * CASE_BINS), sizeof *run->states);
    run->st = calloc((size_t)c->rows, sizeof *run->st);
    run->history = calloc((size_t)(c->rows * CASE_HISTORY), sizeof *run->history);
    const struct stepper_setup setup = {
        .backend = run->be,
        .rows = c->rows,
        .n = CASE_BINS,
        .planes = c->planes,
        .system = {.model = run, .nonlinear = nonlinear, .transforms = CASE_TRANSFORMS}};
    ck_assert_int_eq(stepper_create(&setup, &run->stepper), 0);
    stepper_fill(run, c);
}

void stepper_finish(struct stepper_run *run)
{
    for (bool running = true; running;) {
        ck_assert_int_eq(stepper_advance(run->stepper, &run->control, run->st), 0);
        running = false;
        for (long r = 0; r < run->setup.rows; r++) {
            run->st[r].plane_ready = false;
            running = running || run->st[r].outcome == ROW_RUNNING;
        }
    }
}

void stepper_close(struct stepper_run *run)
{
    stepper_destroy(run->stepper);
    backend_destroy(run->be);
    free(run->calls);
    free(run->states);
    free(run->st);
    free(run->history);
}

const cplx *stepper_state_of(struct stepper_run *run, long row)
{
    cplx *const out = run->states + row * CASE_BINS;
    apart_state(run->be, run->stepper, row, 1, CASE_BINS, CASE_BINS, out);
    return out;
}

static cplx polar(double size, double phase)
{
    return cplx_make(size * cos(phase), size * sin(phase));
}

/* |y|^2 decays as exp(2 lr z); the phase is the integral of li - g |y|^2. */
static void exact_kerr(const struct stepper_case *c, double z, cplx *y)
{
    for (long i = 0; i < CASE_BINS; i++) {
        const cplx start = stepper_start(c, i);
        const double path = !is_zero(c->lr) ? expm1(2.0 * c->lr * z) / (2.0 * c->lr) : z;
        const double phase = stepper_li(i) * z - c->g * cplx_abs2(start) * path;
        y[i] = cplx_mul(start, polar(exp(c->lr * z), phase));
    }
}

/* exp of the matrix [i a, i g; i g, -i a]: cos(w z) + sin(w z)/w times it, w^2 = a^2 + g^2. */
static void exact_coupled(const struct stepper_case *c, double z, cplx *y)
{
    for (long i = 0; i < CASE_BINS; i++) {
        const double a = stepper_li(i);
        const double w = sqrt(a * a + c->g * c->g);
        const cplx own = cplx_make(cos(w * z), a * sin(w * z) / w);
        const cplx other = cplx_make(0.0, c->g * sin(w * z) / w);
        const cplx sum = cplx_add(cplx_mul(own, stepper_start(c, i)),
                                  cplx_mul(other, stepper_start(c, i ^ 1)));
        y[i] = cplx_scale(exp(c->lr * z), sum);
    }
}

void stepper_exact(const struct stepper_case *c, double z, cplx *y)
{
    if (c->kind == CASE_KERR)
        exact_kerr(c, z, y);
    else
        exact_coupled(c, z, y);
}

double stepper_error(struct stepper_run *run, long row, double z)
{
    cplx want[CASE_BINS];
    stepper_exact(&run->setup, z, want);
    const cplx *y = stepper_state_of(run, row);
    double difference = 0.0;
    double size = 0.0;
    for (long i = 0; i < CASE_BINS; i++) {
        difference += cplx_abs2(cplx_sub(y[i], want[i]));
        size += cplx_abs2(want[i]);
    }
    return sqrt(difference / size);
}
