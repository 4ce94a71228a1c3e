/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The stepper where L and N change along z, and where the argument of N is longer than the
 * state. The system is a chain of coupled pairs of bins,
 *
 *   y' = L(z) y + i g rho(z) (partner),  rho = q_0 = 1 + z,
 *
 * whose first term of L has the coefficient q_0 too, and whose other terms are the same for
 * both bins of a pair: they commute with the rest. So with s = z + z^2/2 the solution is that
 * of constant coefficients at s, times the exponential of the other terms' integrals.
 */
#include <complex.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/base/mem.h"
#include "kernels/base/status.h"
#include "kernels/contract/bounds.h"
#include "kernels/contract/compare.h"
#include "kernels/step/rk45.h"
#include "tests/exact.h"
#include "tests/kernels/apart.h"
#include "tests/kernels/isa.h"
#include "tests/kernels/lane.h"
#include "tests/perturb/bounded.h"
#include "tests/perturb/near.h"
#include "tests/unit_main.h"

#define BINS    32
#define PLANES  4
#define HISTORY 2048
#define PAD     45 /* bins of the spectrum beyond the state's, at most */

/* What path does. */
enum path_kind { PATH_NONE, PATH_GUIDE, PATH_CONSTANT, PATH_NAN, PATH_STEEP };

struct guide {
    enum path_kind kind;
    int terms;
    bool lossy;
    double g;
    long pad;     /* bins beyond the state's */
    long dead;    /* bins at the start without field and prefactor, even */
    double steep; /* PATH_STEEP: coefficient of the last term */
    long planes;
    double positions[PLANES];
    struct step_control control;
    struct backend *be;
    /* seen: */
    double at[16]; /* positions of the last call of path */
    int count;
    long long calls, paths, rhs;
    bool leaked;
};

struct guide_run {
    struct guide guide;
    struct backend *be;
    struct stepper *stepper;
    struct row_status st;
    struct run_control control;
    struct step_record history[HISTORY];
    cplx state[BINS + PAD]; /* of state_of */
};

static struct guide guide_default(int terms, bool lossy)
{
    const struct guide g = {
        .kind = PATH_GUIDE,
        .terms = terms,
        .lossy = lossy,
        .g = 6.0,
        .planes = 1,
        .positions = {1.0},
        .control = {.length = 1.0, .rtol = 1e-8, .norm = STEP_NORM_L2, .max_steps = 100000}};
    return g;
}

/* Integral of the coefficient of a term over [z, z + dz], without cancellation. */
static double integral_of(const struct guide *g, int term, double z, double dz)
{
    switch (g->kind) {
    case PATH_CONSTANT:
        return dz;
    case PATH_NAN:
        return z + dz > 0.3 ? (double)NAN : dz;
    case PATH_STEEP:
        if (term == g->terms - 1)
            return g->steep * dz;
        break;
    case PATH_NONE:
    case PATH_GUIDE:
        break;
    }
    switch (term) {
    case 0: /* 1 + z */
        return dz * (1.0 + z + 0.5 * dz);
    case 1: /* cos 3z */
        return 2.0 / 3.0 * cos(3.0 * z + 1.5 * dz) * sin(1.5 * dz);
    case 2: /* z^2 */
        return dz * (z * z + z * dz + dz * dz / 3.0);
    case 3: /* 1 */
        return dz;
    default: /* cos kz */
        return 2.0 / term * cos(term * (z + 0.5 * dz)) * sin(0.5 * term * dz);
    }
}

static double li_of(int term, long bin)
{
    const double pair = (double)(bin / 2);
    switch (term) {
    case 0:
        return (bin % 2 == 0 ? 1.0 : -1.0) * (2.0 + 0.5 * pair);
    case 1:
        return 1.5 + pair;
    case 2:
        return 0.3 * pair - 2.0;
    case 3:
        return 0.7;
    default:
        return 0.2 * pair - 0.1 * term;
    }
}

/* The first term's loss would change with s; the others commute as they are. */
static double lr_of(int term)
{
    static const double loss[STEP_TERMS] = {0.0, -0.4, -0.1, -0.25, 0.05, -0.2, 0.15, -0.1};
    return loss[term];
}

static cplx start_of(const struct guide *g, long bin)
{
    const double size = bin < g->dead ? 0.0 : 0.5 + 0.4 * cos((double)bin);
    return cplx_make(size * cos(0.7 * (double)bin), size * sin(0.7 * (double)bin));
}

static int path(void *model, long row, double z, const double *dz, int count,
                double (*out)[STEP_TERMS])
{
    struct guide *g = model;
    ck_assert_int_eq(row, 0);
    g->paths++;
    g->count = count;
    for (int i = 0; i < count; i++) {
        g->at[i] = z + dz[i];
        ck_assert(i == 0 || dz[i] > dz[i - 1]); /* distinct, in order */
        for (int j = 0; j < g->terms; j++)
            out[i][j] = integral_of(g, j, z, dz[i]);
    }
    return 0;
}

static int evaluate(void *model, long row, struct step_place place, cplx *spectrum,
                    struct row_status *st)
{
    struct guide *g = model;
    cplx in[BINS];
    (void)row;
    (void)st;
    g->rhs++;
    if (g->kind == PATH_NONE)
        ck_assert_int_eq(place.index, -1);
    else
        ck_assert(place.index >= 0 && place.index < g->count
                  && exactly(place.z, g->at[place.index]));
    memcpy(in, spectrum, sizeof in);
    for (long i = 0; i < BINS + g->pad; i++) {
        const bool zero = i < g->dead || i >= BINS;
        g->leaked = g->leaked || (zero && !is_zero(cplx_abs2(spectrum[i])));
        if (i >= BINS)
            spectrum[i] = cplx_make(5.0, -4.0);
    }
    const double rho = g->kind == PATH_GUIDE ? 1.0 + place.z : 1.0;
    for (long i = 0; i < BINS; i++)
        spectrum[i] = i < g->dead ? cplx_make(3.0, 2.0) : cplx_scale(rho, in[i ^ 1]);
    return 0;
}

static int nonlinear(void *model, const struct step_call *call)
{
    const struct guide *g = model;
    return apart_each(g->be, call, model, evaluate);
}

static void guide_open(struct guide_run *run, const struct guide *g)
{
    *run = (struct guide_run){.guide = *g};
    const struct backend_options options = lane_options(1);
    ck_assert_int_eq(backend_create(&options, &run->be), 0);
    lane_join(run->be);
    run->guide.be = run->be;
    const struct stepper_setup setup = {.backend = run->be,
                                        .rows = 1,
                                        .n = BINS,
                                        .planes = g->planes,
                                        .system = {.model = &run->guide,
                                                   .nonlinear = nonlinear,
                                                   .path = g->kind == PATH_NONE ? NULL : path},
                                        .spectrum = BINS + g->pad,
                                        .terms = g->terms};
    ck_assert_int_eq(stepper_create(&setup, &run->stepper), 0);
    double li[STEP_TERMS][BINS];
    double lr[STEP_TERMS][BINS];
    cplx field[BINS];
    cplx pre[BINS];
    for (long i = 0; i < BINS; i++) {
        for (int j = 0; j < g->terms; j++) {
            li[j][i] = li_of(j, i);
            lr[j][i] = lr_of(j);
        }
        field[i] = start_of(g, i);
        pre[i] = cplx_make(0.0, i < g->dead ? 0.0 : g->g);
    }
    const struct step_member member = {.control = g->control,
                                       .positions = g->positions,
                                       .field = field,
                                       .li = li[0],
                                       .lr = g->lossy ? lr[0] : NULL,
                                       .pre = pre,
                                       .terms = g->terms};
    run->st = (struct row_status){
        .deadline = (double)INFINITY, .history = run->history, .history_capacity = HISTORY};
    ck_assert_int_eq(stepper_load(run->stepper, 0, &member, &run->st), 0);
}

/* To the next plane or the end. */
static void guide_advance(struct guide_run *run)
{
    run->st.plane_ready = false;
    ck_assert_int_eq(stepper_advance(run->stepper, &run->control, &run->st), 0);
}

static void guide_finish(struct guide_run *run)
{
    while (run->st.outcome == ROW_RUNNING)
        guide_advance(run);
}

static void guide_close(struct guide_run *run)
{
    stepper_destroy(run->stepper);
    backend_destroy(run->be);
}

static const cplx *state_of(struct guide_run *run)
{
    apart_state(run->be, run->stepper, 0, 1, 0, BINS + run->guide.pad, run->state);
    return run->state;
}

static cplx exp_of(double real, double imaginary)
{
    return cplx_make(exp(real) * cos(imaginary), exp(real) * sin(imaginary));
}

/* exp of the pair's matrix at s, times the other terms. */
static cplx exact_of(const struct guide *g, double z, long i)
{
    const double s = integral_of(g, 0, 0.0, z);
    const double a = li_of(0, i);
    const double w = sqrt(a * a + g->g * g->g);
    const cplx own = cplx_make(cos(w * s), a * sin(w * s) / w);
    const cplx other = cplx_make(0.0, g->g * sin(w * s) / w);
    cplx y = cplx_add(cplx_mul(own, start_of(g, i)), cplx_mul(other, start_of(g, i ^ 1)));
    for (int j = 1; j < g->terms; j++) {
        const double q = integral_of(g, j, 0.0, z);
        y = cplx_mul(exp_of(g->lossy ? lr_of(j) * q : 0.0, li_of(j, i) * q), y);
    }
    return y;
}

static double error_at(struct guide_run *run, double z)
{
    const cplx *y = state_of(run);
    double difference = 0.0;
    double size = 0.0;
    for (long i = 0; i < BINS; i++) {
        const cplx want = exact_of(&run->guide, z, i);
        difference += cplx_abs2(cplx_sub(y[i], want));
        size += cplx_abs2(want);
    }
    return sqrt(difference / size);
}

static double error_of_steps(const struct guide *g, long steps)
{
    static struct guide_run run;
    double h[512];
    for (long i = 0; i < steps; i++)
        h[i] = 1.0 / (double)steps;
    guide_open(&run, g);
    stepper_set_schedule(run.stepper, 0, h, steps);
    guide_finish(&run);
    ck_assert_int_eq(run.st.outcome, ROW_DONE);
    ck_assert_int_eq(run.st.steps, steps);
    const double error = error_at(&run, 1.0);
    guide_close(&run);
    return error;
}

START_TEST(solution_converges_with_order_5_where_l_and_n_change_along_z)
{
    for (int terms = 1; terms <= STEP_TERMS; terms++)
        for (int lossy = 0; lossy < 2; lossy++) {
            const struct guide g = guide_default(terms, lossy);
            const double order = log2(error_of_steps(&g, 64) / error_of_steps(&g, 128));
            ck_assert_bounded(fabs(order - 5.0), BOUND_order);
        }
}
END_TEST

static double estimate_of_step(const struct guide *g, double h)
{
    static struct guide_run run;
    struct guide one = *g;
    one.positions[0] = h;
    guide_open(&run, &one);
    stepper_set_schedule(run.stepper, 0, &h, 1);
    guide_finish(&run);
    const double error = run.history[0].error;
    guide_close(&run);
    return error;
}

START_TEST(error_estimate_is_that_of_an_embedded_order_4_along_z)
{
    for (int terms = 1; terms <= STEP_TERMS; terms++) {
        const struct guide g = guide_default(terms, true);
        const double order = log2(estimate_of_step(&g, 0.02) / estimate_of_step(&g, 0.01));
        ck_assert_bounded(fabs(order - 5.0), BOUND_order);
    }
}
END_TEST

START_TEST(without_nonlinearity_the_integrals_are_the_solution)
{
    static struct guide_run run;
    for (int terms = 1; terms <= STEP_TERMS; terms++) {
        struct guide g = guide_default(terms, true);
        g.g = 0.0;
        g.planes = 3;
        g.positions[0] = 0.0;
        g.positions[1] = 0.3;
        g.positions[2] = 1.0;
        guide_open(&run, &g);
        guide_finish(&run);
        ck_assert_int_eq(run.st.steps, 2);
        ck_assert_exactly(run.history[1].error, 0.0);
        ck_assert_bounded(error_at(&run, 1.0), BOUND_linear_step);
        guide_close(&run);
    }
}
END_TEST

START_TEST(positions_are_asked_for_once_a_step_and_counted)
{
    static struct guide_run run;
    for (int terms = 1; terms <= STEP_TERMS; terms++) {
        struct guide g = guide_default(terms, true);
        g.control.first_step = 0.9; /* too long: rejected */
        guide_open(&run, &g);
        guide_finish(&run);
        const long long trials = run.st.steps + run.st.rejected;
        ck_assert_int_ge(run.st.rejected, 1);
        ck_assert_int_eq(run.guide.paths, 1 + trials);
        ck_assert_int_eq(run.st.bundles, run.guide.paths);
        ck_assert_int_eq(run.st.rhs_calls, 1 + 6 * trials);
        ck_assert_int_eq(run.guide.rhs, run.st.rhs_calls);
        /* 5 distinct positions: the last two slopes stand at the end. */
        ck_assert_int_eq(run.guide.count, 5);
        const long long each = RK45_TRIAL_PASSES + (terms > 2 ? RK45_PHASE_PASSES : 0);
        ck_assert_int_eq(run.st.passes, 2 + each * trials);
        ck_assert_norm(error_at(&run, 1.0), 1e-8 * (double)run.st.steps);
        guide_close(&run);
    }
}
END_TEST

START_TEST(a_constant_l_through_the_path_gives_the_bits_of_l_times_h)
{
    static struct guide_run plain;
    static struct guide_run given;
    struct guide g = guide_default(1, true);
    g.kind = PATH_NONE;
    guide_open(&plain, &g);
    guide_finish(&plain);
    g.kind = PATH_CONSTANT;
    guide_open(&given, &g);
    guide_finish(&given);
    ck_assert_int_gt(plain.st.steps, 10);
    ck_assert_int_eq(plain.st.steps, given.st.steps);
    ck_assert_int_eq(plain.st.bundles, 0);
    ck_assert_int_eq(comparison_bits(state_of(&plain), state_of(&given), sizeof(cplx), BINS),
                     -1);
    guide_close(&plain);
    guide_close(&given);
}
END_TEST

/* A step of 1e-9 of the length far from the start turns the field by L_j I_j to a few roundings
 * of the field: a difference of integrals from 0 would be off by 1e-16 rad already in its
 * argument, times the terms. */
START_TEST(a_step_of_1e_9_far_from_the_start_is_exact)
{
    static struct guide_run run;
    for (int terms = 1; terms <= STEP_TERMS; terms++) {
        struct guide g = guide_default(terms, true);
        g.g = 0.0;
        g.planes = 2;
        g.positions[0] = 0.875;
        g.positions[1] = 0.875 + 1e-9;
        guide_open(&run, &g);
        guide_advance(&run);
        ck_assert_int_eq(run.st.plane, 0);
        cplx before[BINS];
        memcpy(before, state_of(&run), sizeof before);
        guide_advance(&run);
        ck_assert_int_eq(run.st.plane, 1);
        const cplx *y = state_of(&run);
        const double h = g.positions[1] - g.positions[0];
        for (long i = 0; i < BINS; i++) {
            double loss = 0.0;
            double phase = 0.0;
            for (int j = 0; j < terms; j++) {
                loss += lr_of(j) * integral_of(&g, j, g.positions[0], h);
                phase += li_of(j, i) * integral_of(&g, j, g.positions[0], h);
            }
            const cplx turned = cplx_mul(exp_of(loss, phase), before[i]);
            const cplx want = cplx_sub(turned, before[i]);
            const cplx got = cplx_sub(y[i], before[i]);
            const double size = sqrt(cplx_abs2(before[i]));
            ck_assert_norm(sqrt(cplx_abs2(cplx_sub(got, want))), 8.0 * 0x1p-53 * size);
            ck_assert_double_gt(sqrt(cplx_abs2(want)), 1e-10 * size);
        }
        guide_close(&run);
    }
}
END_TEST

START_TEST(a_step_whose_loss_leaves_the_range_is_shortened)
{
    static struct guide_run run;
    struct guide g = guide_default(2, true);
    g.kind = PATH_STEEP;
    g.steep = 1e4; /* loss 0.4 1e4 over the length: 4000, 600 are allowed */
    g.g = 0.0;
    guide_open(&run, &g);
    guide_finish(&run);
    ck_assert_int_eq(run.st.outcome, ROW_DONE);
    ck_assert_int_ge(run.st.steps, 7);
    ck_assert_int_gt(run.st.bundles, run.st.steps + 1);
    double longest = 0.0;
    for (long i = 0; i < run.st.history_count; i++)
        longest = fmax(longest, run.history[i].length);
    ck_assert_double_le(0.4 * 1e4 * longest, STEP_LOSS_LIMIT);
    for (long i = 0; i < BINS; i++)
        ck_assert(isfinite(state_of(&run)[i].r) && isfinite(state_of(&run)[i].i));
    guide_close(&run);
}
END_TEST

START_TEST(an_integral_that_is_not_finite_ends_the_row_with_its_place)
{
    static struct guide_run run;
    struct guide g = guide_default(1, true);
    g.kind = PATH_NAN;
    guide_open(&run, &g);
    guide_finish(&run);
    ck_assert_int_eq(run.st.outcome, ROW_FAILED);
    ck_assert_ptr_nonnull(strstr(run.st.reason, "linear operator is not finite"));
    guide_close(&run);
}
END_TEST

/* With and without bins beyond the state's and dead ones at the start, for lengths that are
 * whole groups of 8 and others. */
START_TEST(the_argument_is_padded_with_zeros_and_the_response_cropped)
{
    static const long pads[] = {0, 1, 8, PAD};
    static const long deads[] = {0, 2, 8, 10, BINS};
    static struct guide_run run;
    for (int terms = 1; terms <= 3; terms++)
        for (size_t d = 0; d < sizeof deads / sizeof deads[0]; d++) {
            cplx first[BINS];
            for (size_t p = 0; p < sizeof pads / sizeof pads[0]; p++) {
                struct guide g = guide_default(terms, true);
                g.pad = pads[p];
                g.dead = deads[d];
                guide_open(&run, &g);
                guide_finish(&run);
                ck_assert_int_eq(run.st.outcome, ROW_DONE);
                ck_assert(!run.guide.leaked);
                const cplx *y = state_of(&run);
                for (long i = BINS; i < BINS + g.pad; i++)
                    ck_assert(exactly(y[i].r, 0.0) && exactly(y[i].i, 0.0));
                if (p == 0)
                    memcpy(first, y, sizeof first);
                ck_assert_int_eq(comparison_bits(first, y, sizeof(cplx), BINS), -1);
                if (g.dead < BINS)
                    ck_assert_norm(error_at(&run, 1.0), 1e-8 * (double)run.st.steps);
                guide_close(&run);
            }
        }
}
END_TEST

START_TEST(a_resumed_row_goes_on_with_the_same_bits_along_z)
{
    static struct guide_run straight;
    static struct guide_run resumed;
    struct guide g = guide_default(3, true);
    g.planes = 2;
    g.positions[0] = 0.4;
    g.positions[1] = 1.0;
    guide_open(&straight, &g);
    guide_open(&resumed, &g);
    guide_finish(&straight);
    guide_advance(&resumed);
    char bytes[4096];
    struct state_out out = {bytes, sizeof bytes, 0};
    ck_assert_int_eq(stepper_save(resumed.stepper, 0, &out), 0);
    guide_close(&resumed);
    guide_open(&resumed, &g);
    const struct state_in in = {bytes, out.length};
    ck_assert_int_eq(stepper_resume(resumed.stepper, 0, &in, &resumed.st), 0);
    guide_finish(&resumed);
    ck_assert_int_eq(
        comparison_bits(state_of(&straight), state_of(&resumed), sizeof(cplx), BINS), -1);
    guide_close(&straight);
    guide_close(&resumed);
}
END_TEST

static void check_refused(const struct stepper_setup *setup)
{
    struct stepper *stepper;
    char text[200] = "";
    status_capture(text, sizeof text);
    ck_assert_int_eq(stepper_create(setup, &stepper), ERR_BUG);
    status_capture(NULL, 0);
    ck_assert_str_ne(text, "");
    ck_assert_ptr_null(stepper);
}

START_TEST(impossible_setups_are_refused)
{
    struct stepper_setup setup = {.rows = 1, .n = 8, .planes = 1, .spectrum = 7};
    check_refused(&setup);
    setup.spectrum = 0;
    setup.terms = STEP_TERMS + 1;
    check_refused(&setup);
    setup.terms = 2; /* without path */
    check_refused(&setup);
}
END_TEST

int main(void)
{
    if (isa_check() != 0)
        return ISA_SKIPPED;
    Suite *const suite = suite_create("stepper along a guide");
    TCase *const tests = tcase_create("path");
    tcase_add_test(tests, solution_converges_with_order_5_where_l_and_n_change_along_z);
    tcase_add_test(tests, error_estimate_is_that_of_an_embedded_order_4_along_z);
    tcase_add_test(tests, without_nonlinearity_the_integrals_are_the_solution);
    tcase_add_test(tests, positions_are_asked_for_once_a_step_and_counted);
    tcase_add_test(tests, a_constant_l_through_the_path_gives_the_bits_of_l_times_h);
    tcase_add_test(tests, a_step_of_1e_9_far_from_the_start_is_exact);
    tcase_add_test(tests, a_step_whose_loss_leaves_the_range_is_shortened);
    tcase_add_test(tests, an_integral_that_is_not_finite_ends_the_row_with_its_place);
    tcase_add_test(tests, the_argument_is_padded_with_zeros_and_the_response_cropped);
    tcase_add_test(tests, a_resumed_row_goes_on_with_the_same_bits_along_z);
    tcase_add_test(tests, impossible_setups_are_refused);
    suite_add_tcase(suite, tests);
    return unit_main(suite);
}
