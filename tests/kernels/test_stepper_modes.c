/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Rows that hold a group of states, the modes of one field. The modes m act on each other bin
 * by bin,
 *
 *   y_m' = L_m y_m - i g_m (|y_m|^2 + x sum over the others of |y_k|^2) y_m,
 *
 * so that |y_m| follows the loss alone and the phase is an integral in closed form; with x = 0
 * each mode is a problem of its own. The same numbers in one long row are a second way to all
 * of it: there nothing knows of modes.
 */
#include <complex.h>
#include <math.h>
#include <string.h>

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

#define MODES   3  /* at most */
#define BINS    29 /* of a mode: no whole number of vectors */
#define MEMBERS 2
#define HISTORY 512
#define ALL     (MODES * BINS)

/* C's I is a float, and clang warns of its widening. */
#define IMAGINARY ((long double complex)I)

struct modes {
    int count;
    bool flat;    /* one row of count BINS bins in place of the group */
    double cross; /* x */
    double g;     /* of mode 0; others have more */
    bool lossy;
    int terms;
    long dead[MODES]; /* bins at the start of a mode without field and prefactor */
    long pad;         /* bins beyond the state's */
    struct step_control control;
    double poison; /* from this z on N of the last mode is NaN */
};

struct run {
    struct modes modes;
    struct backend *be;
    struct stepper *stepper;
    struct row_status st[MEMBERS];
    struct run_control control;
    struct step_record history[MEMBERS][HISTORY];
    long long calls;
    long long stop_call; /* the call of N that asks for a stop, 0: none */
    bool leaked;         /* N was given something in a dead bin or beyond the state */
    double end;
};

static struct modes modes_default(int count)
{
    const struct modes m = {
        .count = count,
        .g = 3.0,
        .terms = 1,
        .poison = 2.0,
        .control = {.length = 1.0, .rtol = 1e-8, .norm = STEP_NORM_L2, .max_steps = 100000}};
    return m;
}

static double g_of(const struct modes *m, int mode)
{
    return m->g * (1.0 + 0.4 * mode);
}

/* Terms add up to the same L, by shares that are not alike. */
static double share_of(const struct modes *m, int term)
{
    return term == 0 ? 1.0 - 0.125 * (m->terms - 1) : 0.125;
}

static double li_of(int mode, long bin)
{
    return (bin % 2 == 0 ? 1.0 : -1.0) * (2.0 + 0.5 * (double)bin) + 1.7 * mode;
}

static double lr_of(const struct modes *m, int mode)
{
    return m->lossy ? -0.3 - 0.2 * mode : 0.0;
}

/* Member 1 has twice the field. */
static cplx start_of(const struct modes *m, int member, int mode, long bin)
{
    const double angle = 0.7 * (double)bin + mode;
    const double size = (1.0 + member) * (0.5 + 0.3 * cos((double)bin + 0.5 * mode));
    const double there = bin < m->dead[mode] ? 0.0 : size;
    return cplx_make(there * cos(angle), there * sin(angle));
}

static int path(void *model, long row, double z, const double *dz, int count,
                double (*out)[STEP_TERMS])
{
    const struct run *const run = model;
    (void)row;
    (void)z;
    for (int i = 0; i < count; i++)
        for (int j = 0; j < run->modes.terms; j++)
            out[i][j] = dz[i];
    return 0;
}

static long stride_of(const struct modes *m)
{
    return m->flat ? BINS : stepper_spectrum_stride(BINS + m->pad);
}

static void take(struct run *run, const cplx *spectrum, cplx in[MODES][BINS])
{
    const struct modes *const m = &run->modes;
    for (int k = 0; k < m->count; k++) {
        const cplx *const from = spectrum + k * stride_of(m);
        memcpy(in[k], from, sizeof in[k]);
        for (long i = 0; i < BINS + m->pad; i++)
            run->leaked =
                run->leaked || ((i < m->dead[k] || i >= BINS) && !is_zero(cplx_abs2(from[i])));
    }
}

static double driving(const struct modes *m, cplx in[MODES][BINS], int mode, long i)
{
    double sum = 0.0;
    for (int k = 0; k < m->count; k++)
        sum += (k == mode ? 1.0 : m->cross) * cplx_abs2(in[k][i]);
    return sum;
}

static int evaluate(void *model, long row, struct step_place place, cplx *spectrum,
                    struct row_status *st)
{
    struct run *const run = model;
    const struct modes *const m = &run->modes;
    cplx in[MODES][BINS];
    (void)row;
    (void)st;
    run->calls++;
    if (run->calls == run->stop_call)
        atomic_store(&run->control.stop, 1);
    take(run, spectrum, in);
    for (int k = 0; k < m->count; k++) {
        cplx *const to = spectrum + k * stride_of(m);
        for (long i = 0; i < BINS + m->pad; i++)
            to[i] = i < m->dead[k] || i >= BINS ? cplx_make(3.0, 2.0)
                                                : cplx_scale(driving(m, in, k, i), in[k][i]);
    }
    if (place.z >= m->poison)
        spectrum[(m->count - 1) * stride_of(m) + BINS - 1].r = (double)NAN;
    return 0;
}

static int nonlinear(void *model, const struct step_call *call)
{
    struct run *run = model;
    return apart_each(run->be, call, model, evaluate);
}

static void load(struct run *run, int member)
{
    const struct modes *const m = &run->modes;
    double li[STEP_TERMS * ALL];
    double lr[STEP_TERMS * ALL];
    cplx field[ALL];
    cplx pre[ALL];
    for (int k = 0; k < m->count; k++)
        for (long i = 0; i < BINS; i++) {
            const long at = k * BINS + i;
            for (int j = 0; j < m->terms; j++) {
                li[j * m->count * BINS + at] = share_of(m, j) * li_of(k, i);
                lr[j * m->count * BINS + at] = share_of(m, j) * lr_of(m, k);
            }
            field[at] = start_of(m, member, k, i);
            pre[at] = cplx_make(0.0, i < m->dead[k] ? 0.0 : -g_of(m, k));
        }
    const struct step_member in = {.control = m->control,
                                   .positions = &run->end,
                                   .field = field,
                                   .li = li,
                                   .lr = m->lossy ? lr : NULL,
                                   .pre = pre,
                                   .terms = m->terms};
    run->st[member] = (struct row_status){.deadline = (double)INFINITY,
                                          .history = run->history[member],
                                          .history_capacity = HISTORY};
    ck_assert_int_eq(stepper_load(run->stepper, member, &in, &run->st[member]), 0);
}

static void modes_open(struct run *run, const struct modes *m)
{
    const struct backend_options options = lane_options(1);
    *run = (struct run){.modes = *m, .end = 1.0};
    ck_assert_int_eq(backend_create(&options, &run->be), 0);
    lane_join(run->be);
    const struct stepper_setup setup = {
        .backend = run->be,
        .rows = MEMBERS,
        .n = m->flat ? m->count * BINS : BINS,
        .planes = 1,
        .system = {.model = run, .nonlinear = nonlinear, .path = m->terms > 1 ? path : NULL},
        .spectrum = m->flat ? 0 : BINS + m->pad,
        .terms = m->terms,
        .group = m->flat ? 1 : m->count};
    ck_assert_int_eq(stepper_create(&setup, &run->stepper), 0);
    for (int member = 0; member < MEMBERS; member++)
        load(run, member);
}

static void modes_finish(struct run *run)
{
    for (bool running = true; running;) {
        ck_assert_int_eq(stepper_advance(run->stepper, &run->control, run->st), 0);
        running = false;
        for (int member = 0; member < MEMBERS; member++) {
            run->st[member].plane_ready = false;
            running = running || run->st[member].outcome == ROW_RUNNING;
        }
    }
}

static void modes_close(struct run *run)
{
    stepper_destroy(run->stepper);
    backend_destroy(run->be);
}

/* The modes of a member after each other. */
static void state_of(struct run *run, int member, cplx out[MODES][BINS])
{
    memset(out, 0, sizeof(cplx) * ALL);
    apart_state(run->be, run->stepper, member, run->modes.count, stride_of(&run->modes), BINS,
                out[0]);
}

/* |y_k|^2 decays as exp(2 lr_k z); the phase is li z less g times the integral of the sum. */
static cplx exact_of(const struct modes *m, int member, int mode, long i, double z)
{
    double sum = 0.0;
    for (int k = 0; k < m->count; k++) {
        const double loss = 2.0 * lr_of(m, k);
        const double path_length = m->lossy ? expm1(loss * z) / loss : z;
        sum +=
            (k == mode ? 1.0 : m->cross) * cplx_abs2(start_of(m, member, k, i)) * path_length;
    }
    const double phase = li_of(mode, i) * z - g_of(m, mode) * sum;
    const double size = exp(lr_of(m, mode) * z);
    return cplx_mul(start_of(m, member, mode, i),
                    cplx_make(size * cos(phase), size * sin(phase)));
}

/* ||state - exact|| / ||exact|| of one mode at the end. */
static double error_of(struct run *run, int member, int mode)
{
    cplx y[MODES][BINS];
    state_of(run, member, y);
    double difference = 0.0;
    double size = 0.0;
    for (long i = 0; i < BINS; i++) {
        const cplx want = exact_of(&run->modes, member, mode, i, 1.0);
        difference += cplx_abs2(cplx_sub(y[mode][i], want));
        size += cplx_abs2(want);
    }
    return sqrt(difference / size);
}

START_TEST(a_linear_group_with_loss_is_right_in_one_step)
{
    static struct run run;
    for (int count = 1; count <= MODES; count++)
        for (int terms = 1; terms <= 5; terms++) {
            struct modes m = modes_default(count);
            m.g = 0.0;
            m.lossy = true;
            m.terms = terms;
            modes_open(&run, &m);
            modes_finish(&run);
            for (int member = 0; member < MEMBERS; member++) {
                ck_assert_int_eq(run.st[member].outcome, ROW_DONE);
                ck_assert_int_eq(run.st[member].steps, 1);
                for (int k = 0; k < count; k++)
                    ck_assert_bounded(error_of(&run, member, k), BOUND_linear_step);
            }
            modes_close(&run);
        }
}
END_TEST

/* One member: a step, an outcome, a call of N for all modes. */
START_TEST(uncoupled_modes_share_the_steps_and_each_is_its_closed_form)
{
    static struct run run;
    for (int lossy = 0; lossy < 2; lossy++) {
        struct modes m = modes_default(2);
        m.control.rtol = 1e-9;
        m.lossy = lossy == 1;
        modes_open(&run, &m);
        modes_finish(&run);
        long long calls = 0;
        for (int member = 0; member < MEMBERS; member++) {
            const struct row_status *const st = &run.st[member];
            ck_assert_int_eq(st->outcome, ROW_DONE);
            ck_assert_int_eq(st->rhs_calls, 1 + 6 * (st->steps + st->rejected));
            ck_assert_int_eq(st->passes, 2 + RK45_TRIAL_PASSES * (st->steps + st->rejected));
            calls += st->rhs_calls;
            for (int k = 0; k < 2; k++)
                ck_assert_bounded(error_of(&run, member, k), BOUND_closed_form);
        }
        ck_assert_int_eq(run.calls, calls);
        modes_close(&run);
    }
}
END_TEST

START_TEST(coupled_modes_are_their_closed_form)
{
    static struct run run;
    struct modes m = modes_default(MODES);
    m.control.rtol = 1e-9;
    m.cross = 2.0;
    m.lossy = true;
    modes_open(&run, &m);
    modes_finish(&run);
    for (int member = 0; member < MEMBERS; member++)
        for (int k = 0; k < MODES; k++)
            ck_assert_bounded(error_of(&run, member, k), BOUND_closed_form);
    modes_close(&run);
}
END_TEST

/* The method by hand, in long double, all modes of a member. */
struct plain {
    const struct modes *m;
    long double complex y[MODES][BINS];
    long double complex state[MODES][BINS]; /* after the step */
    long double complex error[MODES][BINS];
};

static long double complex plain_factor(const struct plain *p, int mode, long i, long double z)
{
    const long double phase = (long double)li_of(mode, i) * z;
    return expl((long double)lr_of(p->m, mode) * z) * (cosl(phase) + sinl(phase) * IMAGINARY);
}

static long double complex plain_slope(const struct plain *p,
                                       long double complex u[MODES][BINS], int mode, long i)
{
    long double sum = 0.0L;
    for (int k = 0; k < p->m->count; k++)
        sum += (k == mode ? 1.0L : (long double)p->m->cross) * creall(u[k][i] * conjl(u[k][i]));
    return -IMAGINARY * (long double)g_of(p->m, mode) * sum * u[mode][i];
}

/* Dormand and Prince (1980), table 2: nodes, weights; weights of the fifth order less those of
 * the fourth. */
static void plain_step(struct plain *p, long double h)
{
    static const long double node[7] = {0, 1.0L / 5, 3.0L / 10, 4.0L / 5, 8.0L / 9, 1, 1};
    static const long double a[7][6] = {
        {0},
        {1.0L / 5},
        {3.0L / 40, 9.0L / 40},
        {44.0L / 45, -56.0L / 15, 32.0L / 9},
        {19372.0L / 6561, -25360.0L / 2187, 64448.0L / 6561, -212.0L / 729},
        {9017.0L / 3168, -355.0L / 33, 46732.0L / 5247, 49.0L / 176, -5103.0L / 18656},
        {35.0L / 384, 0, 500.0L / 1113, 125.0L / 192, -2187.0L / 6784, 11.0L / 84}};
    static const long double fourth[7] = {
        5179.0L / 57600, 0,        7571.0L / 16695, 393.0L / 640, -92097.0L / 339200,
        187.0L / 2100,   1.0L / 40};
    long double complex k[7][MODES][BINS];
    for (int s = 0; s < 7; s++) {
        long double complex u[MODES][BINS] = {{0}};
        for (int m = 0; m < p->m->count; m++)
            for (long i = 0; i < BINS; i++) {
                u[m][i] = p->y[m][i];
                for (int j = 0; j < s; j++)
                    u[m][i] += h * a[s][j] * k[j][m][i];
                u[m][i] *= plain_factor(p, m, i, node[s] * h);
            }
        for (int m = 0; m < p->m->count; m++)
            for (long i = 0; i < BINS; i++)
                k[s][m][i] = plain_slope(p, u, m, i) / plain_factor(p, m, i, node[s] * h);
        memcpy(p->state, u, sizeof u);
    }
    memset(p->error, 0, sizeof p->error);
    for (int m = 0; m < p->m->count; m++)
        for (long i = 0; i < BINS; i++) {
            for (int s = 0; s < 7; s++)
                p->error[m][i] += h * ((s < 6 ? a[6][s] : 0.0L) - fourth[s]) * k[s][m][i];
            p->error[m][i] *= plain_factor(p, m, i, h);
        }
}

static long double square(long double complex x)
{
    return creall(x) * creall(x) + cimagl(x) * cimagl(x);
}

/* Error over tolerance of the modes first … last, in a norm of all their bins. */
static double plain_norm(const struct plain *p, int first, int last)
{
    const struct step_control *const c = &p->m->control;
    long double e = 0.0L;
    long double before = 0.0L;
    long double after = 0.0L;
    long double ratios = 0.0L;
    long double top = 0.0L;
    for (int m = first; m <= last; m++)
        for (long i = 0; i < BINS; i++) {
            e += square(p->error[m][i]);
            before += square(p->y[m][i]);
            after += square(p->state[m][i]);
            const long double tolerance =
                c->atol + c->rtol * fmaxl(cabsl(p->y[m][i]), cabsl(p->state[m][i]));
            const long double ratio = square(p->error[m][i]) / (tolerance * tolerance);
            ratios += ratio;
            top = fmaxl(top, ratio);
        }
    if (c->norm == STEP_NORM_RMS)
        return (double)sqrtl(ratios / (long double)((last + 1 - first) * BINS));
    if (c->norm == STEP_NORM_MAX)
        return (double)sqrtl(top);
    return (double)(sqrtl(e) / (c->rtol * sqrtl(fmaxl(before, after)) + c->atol));
}

static void plain_start(struct plain *p, const struct modes *m, int member)
{
    memset(p, 0, sizeof *p);
    p->m = m;
    for (int k = 0; k < m->count; k++)
        for (long i = 0; i < BINS; i++) {
            const cplx y = start_of(m, member, k, i);
            p->y[k][i] = y.r + y.i * IMAGINARY;
        }
}

/* By more than a per cent. */
static bool is_apart(double a, double b)
{
    return fabs(a / b - 1.0) > 0.01;
}

/* The error of one given step is that of all modes together, in each norm. */
START_TEST(the_norm_is_that_of_all_modes_together)
{
    static struct run run;
    static struct plain p;
    static const enum step_norm norms[] = {STEP_NORM_L2, STEP_NORM_RMS, STEP_NORM_MAX};
    const double h = 0.05;
    for (size_t n = 0; n < sizeof norms / sizeof norms[0]; n++) {
        struct modes m = modes_default(2);
        m.cross = 2.0;
        m.lossy = true;
        m.control.norm = norms[n];
        m.control.rtol = 1e-4;
        m.control.atol = 1e-5;
        modes_open(&run, &m);
        run.end = h;
        for (int member = 0; member < MEMBERS; member++) {
            load(&run, member);
            stepper_set_schedule(run.stepper, member, &h, 1);
        }
        modes_finish(&run);
        for (int member = 0; member < MEMBERS; member++) {
            plain_start(&p, &m, member);
            plain_step(&p, h);
            const double want = plain_norm(&p, 0, 1);
            const double error = fabs(run.history[member][0].error / want - 1.0);
            ck_assert_bounded(error, BOUND_norms_agree);
            /* That of either alone is another one, but for the larger of two maxima. */
            ck_assert(is_apart(plain_norm(&p, 0, 0), want));
            ck_assert(norms[n] == STEP_NORM_MAX || is_apart(plain_norm(&p, 1, 1), want));
        }
        modes_close(&run);
    }
}
END_TEST

static void compare_steps(const struct run *a, const struct run *b, int member)
{
    ck_assert_int_eq(a->st[member].steps, b->st[member].steps);
    ck_assert_int_eq(a->st[member].rejected, b->st[member].rejected);
    for (long i = 0; i < a->st[member].history_count; i++) {
        const struct step_record *const one = &a->history[member][i];
        const struct step_record *const two = &b->history[member][i];
        ck_assert_int_eq(one->accepted, two->accepted);
        ck_assert_bounded(fabs(one->length / two->length - 1.0), BOUND_closed_form);
    }
}

/* The largest distance of two states' numbers, of the peak. */
static double distance(struct run *one, struct run *two, int member)
{
    cplx a[MODES][BINS];
    cplx b[MODES][BINS];
    state_of(one, member, a);
    state_of(two, member, b);
    double most = 0.0;
    double peak = 0.0;
    for (long i = 0; i < ALL; i++) {
        most = fmax(most, cplx_abs2(cplx_sub((&a[0][0])[i], (&b[0][0])[i])));
        peak = fmax(peak, cplx_abs2((&a[0][0])[i]));
    }
    return sqrt(most / peak);
}

/* All members anew, over eight steps that are given. */
static void eight_steps(struct run *run)
{
    static const double h[8] = {0.01, 0.01, 0.01, 0.01, 0.01, 0.01, 0.01, 0.01};
    run->end = 0.08;
    for (int member = 0; member < MEMBERS; member++) {
        load(run, member);
        stepper_set_schedule(run->stepper, member, h, 8);
    }
    modes_finish(run);
    for (int member = 0; member < MEMBERS; member++)
        ck_assert_int_eq(run->st[member].outcome, ROW_DONE);
}

/* A group is what one row of all bins is, with one term of L, two, and those that have passes
 * of their own, with loss and without. */
START_TEST(a_group_is_one_long_row)
{
    static struct run group;
    static struct run flat;
    static const int terms[] = {1, 2, 3, 5};
    for (size_t t = 0; t < sizeof terms / sizeof terms[0]; t++)
        for (int lossy = 0; lossy < 2; lossy++) {
            struct modes m = modes_default(MODES);
            m.cross = 2.0;
            m.terms = terms[t];
            m.lossy = lossy == 1;
            modes_open(&group, &m);
            m.flat = true;
            modes_open(&flat, &m);
            modes_finish(&group);
            modes_finish(&flat);
            for (int member = 0; member < MEMBERS; member++) {
                compare_steps(&group, &flat, member);
                ck_assert_double_le(distance(&group, &flat, member), bound(BOUND_closed_form));
            }
            eight_steps(&group);
            eight_steps(&flat);
            double limit;
            ck_assert_int_eq(bound_steps(8, 1.0, &limit), 0);
            for (int member = 0; member < MEMBERS; member++)
                ck_assert_norm(distance(&group, &flat, member), limit);
            modes_close(&group);
            modes_close(&flat);
        }
}
END_TEST

START_TEST(bins_are_left_out_only_where_no_mode_has_anything)
{
    static struct run run;
    struct modes m = modes_default(2);
    m.control.rtol = 1e-9;
    m.cross = 1.0;
    m.dead[0] = 9;
    m.dead[1] = 21;
    m.pad = 14;
    modes_open(&run, &m);
    modes_finish(&run);
    ck_assert(!run.leaked);
    cplx y[MODES][BINS];
    state_of(&run, 0, y);
    for (int k = 0; k < 2; k++) {
        ck_assert_bounded(error_of(&run, 0, k), BOUND_closed_form);
        for (long i = 0; i < m.dead[k]; i++)
            ck_assert(is_zero(y[k][i].r) && is_zero(y[k][i].i));
    }
    modes_close(&run);
}
END_TEST

START_TEST(a_resumed_group_goes_on_with_the_same_bits)
{
    static struct run straight;
    static struct run resumed;
    struct modes m = modes_default(2);
    m.cross = 2.0;
    modes_open(&straight, &m);
    modes_open(&resumed, &m);
    const size_t size = stepper_state_bytes(2 * BINS);
    static char bytes[8 * 1024];
    ck_assert_uint_le(size, sizeof bytes);
    straight.stop_call = 20;
    ck_assert_int_eq(stepper_advance(straight.stepper, &straight.control, straight.st), 0);
    atomic_store(&straight.control.stop, 0);
    ck_assert_int_ge(straight.st[0].steps, 1);
    ck_assert_int_eq(straight.st[0].outcome, ROW_RUNNING);
    struct state_out out = {.bytes = bytes, .capacity = sizeof bytes};
    ck_assert_int_eq(stepper_save(straight.stepper, 0, &out), 0);
    ck_assert_uint_eq(out.length, size);
    modes_finish(&straight);
    const struct state_in in = {bytes, out.length};
    ck_assert_int_eq(stepper_resume(resumed.stepper, 0, &in, &resumed.st[0]), 0);
    modes_finish(&resumed);
    cplx a[MODES][BINS];
    cplx b[MODES][BINS];
    state_of(&straight, 0, a);
    state_of(&resumed, 0, b);
    ck_assert_int_eq(comparison_bits(a, b, sizeof(cplx), ALL), -1);
    modes_close(&straight);
    modes_close(&resumed);
}
END_TEST

START_TEST(a_mode_that_is_not_finite_ends_its_member)
{
    static struct run run;
    struct modes m = modes_default(2);
    m.poison = 0.5;
    modes_open(&run, &m);
    modes_finish(&run);
    for (int member = 0; member < MEMBERS; member++) {
        ck_assert_int_eq(run.st[member].outcome, ROW_FAILED);
        ck_assert_ptr_nonnull(strstr(run.st[member].reason, "not finite"));
    }
    modes_close(&run);
}
END_TEST

START_TEST(more_modes_than_there_is_room_for_are_refused)
{
    struct stepper *stepper;
    char text[200] = "";
    const struct stepper_setup setup = {
        .rows = 1, .n = 8, .planes = 1, .group = STEP_GROUP + 1};
    status_capture(text, sizeof text);
    ck_assert_int_eq(stepper_create(&setup, &stepper), ERR_BUG);
    status_capture(NULL, 0);
    ck_assert_ptr_nonnull(strstr(text, "states"));
    ck_assert_ptr_null(stepper);
}
END_TEST

int main(void)
{
    if (isa_check() != 0)
        return ISA_SKIPPED;
    Suite *const suite = suite_create("stepper with several modes");
    TCase *const tests = tcase_create("modes");
    tcase_add_test(tests, a_linear_group_with_loss_is_right_in_one_step);
    tcase_add_test(tests, uncoupled_modes_share_the_steps_and_each_is_its_closed_form);
    tcase_add_test(tests, coupled_modes_are_their_closed_form);
    tcase_add_test(tests, the_norm_is_that_of_all_modes_together);
    tcase_add_test(tests, a_group_is_one_long_row);
    tcase_add_test(tests, bins_are_left_out_only_where_no_mode_has_anything);
    tcase_add_test(tests, a_resumed_group_goes_on_with_the_same_bits);
    tcase_add_test(tests, a_mode_that_is_not_finite_ends_its_member);
    tcase_add_test(tests, more_modes_than_there_is_room_for_are_refused);
    suite_add_tcase(suite, tests);
    return unit_main(suite);
}
