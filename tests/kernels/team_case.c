/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/kernels/team_case.h"

#include <math.h>
#include <string.h>

#include <check.h>

#include "tests/exact.h"
#include "tests/kernels/apart.h"
#include "tests/kernels/lane.h"

static const double tenths[] = {0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1};
static const double fiftieths[] = {0.02, 0.02, 0.02, 0.02, 0.02, 0.02, 0.02, 0.02, 0.02, 0.02,
                                   0.02, 0.02, 0.02, 0.02, 0.02, 0.02, 0.02, 0.02, 0.02, 0.02};
static const double eighths[] = {0.02, 0.03, 0.01, 0.02, 0.04, 0.02, 0.01, 0.05};

static void planes_set(struct team_member *m, double a, double b, double c)
{
    m->positions[0] = a;
    m->positions[1] = b;
    m->positions[2] = c;
    m->control.length = c;
}

static void member_special(struct team_member *m)
{
    switch (m->number) {
    case 1:
        m->control.first_step = 0.9;
        m->control.norm = STEP_NORM_MAX;
        m->control.atol = 1e-7;
        break;
    case 2:
        m->gain = 40.0;
        m->schedule = (struct step_schedule){NULL, fiftieths, 20};
        planes_set(m, 0.02, 0.2, 0.4);
        break;
    case 3:
        m->control.norm = STEP_NORM_RMS;
        m->control.atol = 1e-6;
        m->dead = 9;
        planes_set(m, 0.0, 0.05, 0.1);
        break;
    case 4:
        m->schedule = (struct step_schedule){NULL, tenths, 10};
        planes_set(m, 0.1, 0.5, 1.0);
        break;
    case 5:
        m->lossy = true;
        m->gain = 0.4;
        m->wiggle = 30.0;
        planes_set(m, 0.1, 0.2, 0.3);
        break;
    default:
        break;
    }
}

struct team_member team_member_of(int number, int terms)
{
    struct team_member m = {
        .number = number,
        .terms = 1 + (terms - 1 + number) % terms,
        .lossy = number % 2 == 0,
        .g = 6.0 + 0.5 * number,
        .control = {.rtol = 1e-5, .norm = STEP_NORM_L2, .max_steps = 100000},
        .deadline = (double)INFINITY};
    planes_set(&m, 0.3, 0.6, 0.8 + 0.1 * number);
    member_special(&m);
    return m;
}

struct team_member team_member_eight(int number, int terms)
{
    struct team_member m = team_member_of(number, terms);
    m.gain = 0.0;
    m.wiggle = 0.0;
    m.schedule = (struct step_schedule){NULL, eighths, 8};
    planes_set(&m, 0.05, 0.12, 0.2);
    return m;
}

/* Integral of q_j over [z, z + dz]: of 1, cos z, 1 + z, and so on in turns. */
static double integral_of(const struct team_member *m, int term, double z, double dz)
{
    switch (term % 3) {
    case 0:
        return dz
               + (term == 0 ? m->wiggle / 10.0 * cos(20.0 * z + 10.0 * dz) * sin(10.0 * dz)
                            : 0.0);
    case 1:
        return 2.0 * cos(z + 0.5 * dz) * sin(0.5 * dz);
    default:
        return dz * (1.0 + z + 0.5 * dz);
    }
}

static int path(void *model, long row, double z, const double *dz, int count,
                double (*out)[STEP_TERMS])
{
    struct team_run *const run = model;
    const struct team_member *const m = &run->member[row];
    for (int i = 0; i < count; i++) {
        run->at[row][i] = z + dz[i];
        for (int j = 0; j < STEP_TERMS; j++)
            out[i][j] = j < m->terms ? integral_of(m, j, z, dz[i]) : (double)NAN;
    }
    return 0;
}

static int nonlinear(void *model, const struct step_call *call)
{
    struct team_run *const run = model;
    const struct kerr_instant_args args = {
        .a = call->spectrum, .out = call->spectrum, .ld = call->ld};
    run->calls++;
    if (run->calls == run->stop_call)
        atomic_store(&run->control.stop, 1);
    for (long i = 0; i < call->rows; i++)
        if (step_call_has(call, i)) {
            const struct step_place place = call->place[i];
            ck_assert_int_eq(place.stage, call->stage);
            ck_assert_exactly(place.z, run->at[call->row + i][place.index]);
            ck_assert_int_eq(call->st[i].outcome, ROW_RUNNING);
            call->st[i].transforms++;
        }
    return run->be->kernels->kerr_instant(run->be, &args, 0, call->rows * call->group,
                                          TEAM_BINS + TEAM_PAD);
}

static int gather(void *model, const struct step_call *call)
{
    struct team_run *const run = model;
    ck_assert(call->stage == 0 || call->stage == STEP_END);
    run->gathered++;
    return 0;
}

static void accepted(void *model, long row, double h, double square, struct row_status *st)
{
    struct team_run *const run = model;
    (void)st;
    run->result[row].along += h * square;
}

/* Told once, of a row that stands on its plane with the state of it. */
static int settled(void *model, long row, long rows, const bool *on)
{
    struct team_run *const run = model;
    for (long r = row; r < row + rows; r++) {
        if (!on[r - row])
            continue;
        ck_assert(run->st[r].plane_ready);
        ck_assert_int_eq(run->told[r], run->st[r].plane - 1);
        run->told[r] = run->st[r].plane;
        team_state(run, (int)r, run->left[r]);
    }
    run->calls_told = run->calls;
    return 0;
}

struct backend *team_backend(void)
{
    const struct backend_options options = lane_options(1);
    struct backend *be;
    ck_assert_int_eq(backend_create(&options, &be), 0);
    be->apart = true;
    return be;
}

void team_open(struct team_run *run, struct backend *be, int rows, int group, int terms)
{
    *run = (struct team_run){.be = be, .rows = rows, .group = group, .terms = terms};
    const struct stepper_setup setup = {.backend = be,
                                        .rows = rows,
                                        .n = TEAM_BINS,
                                        .planes = TEAM_PLANES,
                                        .system = {.model = run,
                                                   .nonlinear = nonlinear,
                                                   .transforms = 1,
                                                   .path = path,
                                                   .gather = gather,
                                                   .accepted = accepted,
                                                   .settled = settled},
                                        .spectrum = TEAM_BINS + TEAM_PAD,
                                        .terms = terms,
                                        .group = group};
    ck_assert_int_eq(stepper_create(&setup, &run->stepper), 0);
    for (int r = 0; r < rows; r++)
        run->st[r].outcome = ROW_EMPTY; /* nothing to advance */
}

/* What a member's tables hold. */
struct tables {
    double li[STEP_TERMS * TEAM_ALL], lr[STEP_TERMS * TEAM_ALL];
    cplx field[TEAM_ALL], pre[TEAM_ALL];
};

static void tables_fill(const struct team_run *run, const struct team_member *m,
                        struct tables *t)
{
    const double scale = 1.0 + 0.1 * m->number;
    for (long g = 0; g < run->group; g++)
        for (long i = 0; i < TEAM_BINS; i++) {
            const long at = g * TEAM_BINS + i;
            const double size = i < m->dead ? 0.0 : 0.5 + 0.3 * cos((double)(i + 3 * g));
            const double angle = scale * (double)i + (double)g;
            t->field[at] = cplx_make(size * cos(angle), size * sin(angle));
            t->pre[at] = cplx_make(0.0, i < m->dead ? 0.0 : -m->g);
            for (long j = 0; j < m->terms; j++) {
                const long k = j * run->group * TEAM_BINS + at;
                t->li[k] = scale * sin((double)(i + 5 * j)) * 6.0 + (double)g;
                t->lr[k] = (j == 0 ? m->gain : 0.0) - 0.1 * (double)(i % 4 + j);
            }
        }
}

void team_load(struct team_run *run, int row, const struct team_member *m)
{
    static struct tables t;
    tables_fill(run, m, &t);
    run->member[row] = *m;
    run->result[row] = (struct team_result){.planes = 0};
    run->told[row] = -1;
    run->st[row] = (struct row_status){.deadline = m->deadline,
                                       .history = run->result[row].history,
                                       .history_capacity = TEAM_HISTORY};
    const struct step_member in = {.control = m->control,
                                   .positions = m->positions,
                                   .field = t.field,
                                   .li = t.li,
                                   .lr = m->lossy ? t.lr : NULL,
                                   .pre = t.pre,
                                   .terms = m->terms,
                                   .schedule = m->schedule};
    ck_assert_int_eq(stepper_load(run->stepper, row, &in, &run->st[row]), 0);
}

void team_state(struct team_run *run, int row, cplx *out)
{
    apart_state(run->be, run->stepper, row, run->group,
                stepper_spectrum_stride(TEAM_BINS + TEAM_PAD), TEAM_BINS, out);
}

void team_advance(struct team_run *run)
{
    ck_assert_int_eq(stepper_advance(run->stepper, &run->control, run->st), 0);
    for (int r = 0; r < run->rows; r++) {
        struct team_result *const result = &run->result[r];
        if (run->st[r].plane_ready) {
            cplx *const at = result->at[run->st[r].plane];
            team_state(run, r, at);
            /* The model was told before others went on, and had the same state. */
            if (run->be->apart) {
                ck_assert_int_eq(run->told[r], run->st[r].plane);
                ck_assert(equal_bits(at, run->left[r],
                                     (size_t)(run->group * TEAM_BINS) * sizeof *at));
            }
            result->planes++;
        }
        run->st[r].plane_ready = false;
        result->st = run->st[r];
    }
}

void team_finish(struct team_run *run)
{
    for (bool running = true; running;) {
        team_advance(run);
        running = false;
        for (int r = 0; r < run->rows; r++)
            running = running || run->st[r].outcome == ROW_RUNNING;
    }
}

void team_close(struct team_run *run)
{
    stepper_destroy(run->stepper);
}

void team_alone(struct backend *be, int group, int terms, const struct team_member *m,
                struct team_result *out)
{
    static struct team_run run;
    team_open(&run, be, 1, group, terms);
    team_load(&run, 0, m);
    team_finish(&run);
    *out = run.result[0];
    team_close(&run);
}

static void check_histories(const struct team_result *a, const struct team_result *b,
                            const char *what)
{
    ck_assert_int_eq(a->st.history_count, b->st.history_count);
    for (long i = 0; i < a->st.history_count; i++) {
        const struct step_record *const one = &a->history[i];
        const struct step_record *const two = &b->history[i];
        ck_assert_msg(exactly(one->position, two->position) && exactly(one->length, two->length)
                          && exactly(one->error, two->error) && one->accepted == two->accepted,
                      "%s: step %ld: %.17g and %.17g m, error %.17g and %.17g", what, i,
                      one->length, two->length, one->error, two->error);
    }
}

void team_check_same(const struct team_result *a, const struct team_result *b, const char *what)
{
    ck_assert_msg(a->st.outcome == b->st.outcome, "%s: outcome %d, not %d", what,
                  (int)a->st.outcome, (int)b->st.outcome);
    check_histories(a, b, what);
    ck_assert_str_eq(a->st.reason, b->st.reason);
    ck_assert_int_eq(a->st.steps, b->st.steps);
    ck_assert_int_eq(a->st.rejected, b->st.rejected);
    ck_assert_int_eq(a->st.rhs_calls, b->st.rhs_calls);
    ck_assert_int_eq(a->st.transforms, b->st.transforms);
    ck_assert_int_eq(a->st.passes, b->st.passes);
    ck_assert_int_eq(a->st.bundles, b->st.bundles);
    ck_assert_int_eq(a->planes, b->planes);
    ck_assert_exactly(a->st.progress, b->st.progress);
    ck_assert_exactly(a->along, b->along);
    for (long p = 0; p < a->planes; p++)
        ck_assert_msg(equal_bits(a->at[p], b->at[p], sizeof a->at[p]), "%s: plane %ld", what,
                      p);
}
