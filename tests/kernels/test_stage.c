/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The fused passes against the unfused method: each argument that N is given, in every trial of
 * a run with a rejected one, against a step written from the tableau in long double. */
#include <complex.h>
#include <math.h>
#include <string.h>

#include "kernels/contract/bounds.h"
#include "tests/kernels/isa.h"
#include "tests/kernels/stepper_case.h"
#include "tests/perturb/record.h"
#include "tests/unit_main.h"

#define STAGES    7 /* of the tableau, the first slope included */
#define CALLS_MAX 64

/* C's I is a float, and clang warns of its widening. */
#define IMAGINARY ((long double complex)I)

/* The arguments that N was given. */
struct record {
    long count;
    cplx argument[CALLS_MAX][CASE_BINS];
};

static void remember(void *data, const cplx *argument)
{
    struct record *record = data;
    ck_assert_int_lt(record->count, CALLS_MAX);
    memcpy(record->argument[record->count++], argument, sizeof record->argument[0]);
}

/* Which perturbation of the unfused method must be seen. */
enum fault { NO_FAULT, WRONG_STAGE_WEIGHT, WRONG_LAST_WEIGHT, STALE_SLOPE, FAULTS };

/* The unfused method: nothing is shared between its parts. */
struct plain {
    const struct stepper_case *c;
    enum fault fault;
    long double complex y[CASE_BINS];
    long double complex slope[CASE_BINS];     /* at y */
    long double complex u[STAGES][CASE_BINS]; /* arguments of a trial */
    long double complex end_slope[CASE_BINS]; /* at the end of a trial */
};

static long double complex exponential(const struct plain *p, long i, long double z)
{
    const long double phase = (long double)stepper_li(i) * z;
    return expl((long double)p->c->lr * z) * (cosl(phase) + sinl(phase) * IMAGINARY);
}

static void plain_slope(const struct plain *p, const long double complex *u,
                        long double complex *out)
{
    const struct stepper_case *c = p->c;
    for (long i = 0; i < CASE_BINS; i++) {
        const bool quiet = i >= c->quiet_from && i < c->quiet_to;
        const long double complex n =
            c->kind == CASE_KERR ? -(long double)c->g * creall(u[i] * conjl(u[i])) * u[i]
                                 : (long double)c->g * u[i ^ 1];
        out[i] = quiet ? 0.0L : IMAGINARY * n;
    }
}

static void plain_trial(struct plain *p, double length)
{
    static const long double node[STAGES] = {0, 1.0L / 5, 3.0L / 10, 4.0L / 5, 8.0L / 9, 1, 1};
    static const long double a[STAGES][STAGES - 1] = {
        {0},
        {1.0L / 5},
        {3.0L / 40, 9.0L / 40},
        {44.0L / 45, -56.0L / 15, 32.0L / 9},
        {19372.0L / 6561, -25360.0L / 2187, 64448.0L / 6561, -212.0L / 729},
        {9017.0L / 3168, -355.0L / 33, 46732.0L / 5247, 49.0L / 176, -5103.0L / 18656},
        {35.0L / 384, 0, 500.0L / 1113, 125.0L / 192, -2187.0L / 6784, 11.0L / 84}};
    static const struct {
        int stage, slope;
    } wrong[FAULTS] = {[WRONG_STAGE_WEIGHT] = {4, 2}, [WRONG_LAST_WEIGHT] = {6, 4}};
    long double complex k[STAGES][CASE_BINS];
    memcpy(k[0], p->slope, sizeof k[0]);
    for (int s = 1; s < STAGES; s++) {
        for (long i = 0; i < CASE_BINS; i++) {
            p->u[s][i] = p->y[i];
            for (int j = 0; j < s; j++) {
                const bool off = wrong[p->fault].stage == s && wrong[p->fault].slope == j;
                p->u[s][i] += length * a[s][j] * k[j][i] * (off ? 1.0L + 1e-9L : 1.0L);
            }
            p->u[s][i] *= exponential(p, i, node[s] * length);
        }
        plain_slope(p, p->u[s], k[s]);
        if (s == STAGES - 1)
            memcpy(p->end_slope, k[s], sizeof k[s]);
        for (long i = 0; i < CASE_BINS; i++)
            k[s][i] /= exponential(p, i, node[s] * length);
    }
}

static void plain_accept(struct plain *p)
{
    memcpy(p->y, p->u[STAGES - 1], sizeof p->y);
    if (p->fault != STALE_SLOPE)
        memcpy(p->slope, p->end_slope, sizeof p->slope);
}

static void plain_start(struct plain *p, const struct stepper_case *c, enum fault fault)
{
    *p = (struct plain){.c = c, .fault = fault};
    for (long i = 0; i < CASE_BINS; i++)
        p->y[i] = stepper_start(c, i).r + stepper_start(c, i).i * IMAGINARY;
    plain_slope(p, p->y, p->slope);
}

/* Largest distance of a recorded argument from the plain one, in bounds. */
static double margin_of(const struct plain *p, int stage, const cplx *argument, int steps)
{
    long double peak = 0.0L;
    long double worst = 0.0L;
    for (long i = 0; i < CASE_BINS; i++) {
        const long double complex got = argument[i].r + argument[i].i * IMAGINARY;
        ck_assert(isfinite(argument[i].r) && isfinite(argument[i].i));
        peak = fmaxl(peak, cabsl(p->y[i]));
        worst = fmaxl(worst, cabsl(got - p->u[stage][i]));
    }
    double limit;
    ck_assert_int_eq(bound_steps(steps, (double)peak, &limit), 0);
    return (double)worst / limit;
}

/* What each kind of argument came to. */
struct margins {
    double first;    /* of the first stage of the first step */
    double last;     /* of its last one */
    double rejected; /* of any of a trial that was rejected */
    double after;    /* of the first stage after that: the slope was kept */
    double handed;   /* of the first stage of a later step: the slope was handed over */
    double any;
};

static double larger(double *margin, double value)
{
    return *margin = fmax(*margin, value);
}

/* The argument of stage s of trial t. */
static void note_margin(struct margins *m, const struct step_record *history, long t, int s,
                        double margin)
{
    const bool after_reject = t > 0 && !history[t - 1].accepted;
    const bool after_accept = t > 0 && history[t - 1].accepted;
    larger(&m->any, margin);
    larger(&m->first, t == 0 && s == 1 ? margin : 0.0);
    larger(&m->rejected, history[t].accepted ? 0.0 : margin);
    larger(&m->after, s == 1 && after_reject ? margin : 0.0);
    larger(&m->handed, s == 1 && after_accept ? margin : 0.0);
}

static void compare(const struct stepper_run *run, const struct record *record,
                    enum fault fault, struct margins *m)
{
    struct plain p;
    *m = (struct margins){0};
    plain_start(&p, &run->setup, fault);
    int accepted = 0;
    for (long t = 0; t < run->st[0].history_count; t++) {
        const struct step_record *step = &run->history[t];
        plain_trial(&p, step->length);
        for (int s = 1; s < STAGES; s++) {
            /* Steps before this one and it. */
            const double margin =
                margin_of(&p, s, record->argument[6 * t + s], accepted == 0 ? 1 : accepted + 1);
            note_margin(m, run->history, t, s, margin);
            larger(&m->last, accepted == 0 && s == STAGES - 1 ? margin : 0.0);
        }
        accepted += step->accepted;
        if (step->accepted)
            plain_accept(&p);
    }
    ck_assert_int_eq(record->count, 1 + 6 * run->st[0].history_count);
}

/* A first step that is too long, and a few after it. */
static void run_case(const struct stepper_case *c, struct stepper_run *run,
                     struct record *record)
{
    record->count = 0;
    struct stepper_case with = *c;
    with.observe = remember;
    with.observer = record;
    stepper_open(run, &with);
    stepper_finish(run);
    ck_assert_int_eq(run->st[0].outcome, ROW_DONE);
    ck_assert_int_ge(run->st[0].rejected, 1);
    ck_assert_int_ge(run->st[0].steps, 3);
    ck_assert_int_le(run->st[0].steps, 8);
}

static struct stepper_case make_case(enum case_kind kind, double lr, bool quiet)
{
    struct stepper_case c = stepper_case_default(kind);
    c.lr = lr;
    c.positions[0] = 0.1;
    c.control.length = 0.1;
    c.control.rtol = 1e-6;
    c.control.first_step = 0.08;
    c.g = 4.0;
    if (quiet) {
        c.quiet_from = 10;
        c.quiet_to = 26;
    }
    return c;
}

START_TEST(every_argument_of_n_equals_the_unfused_one)
{
    for (int test = 0; test < 8; test++) {
        const struct stepper_case c = make_case(test % 2 ? CASE_KERR : CASE_COUPLED,
                                                test / 2 % 2 ? -0.8 : 0.0, test / 4 != 0);
        struct stepper_run run;
        static struct record record;
        struct margins m;
        run_case(&c, &run, &record);
        compare(&run, &record, NO_FAULT, &m);
        ck_assert_msg(m.first <= 1.0, "case %d, first stage: %g times its bound", test,
                      m.first);
        ck_assert_msg(m.last <= 1.0, "case %d, last stage: %g times its bound", test, m.last);
        ck_assert_msg(m.rejected <= 1.0, "case %d, rejected trial: %g times its bound", test,
                      m.rejected);
        ck_assert_msg(m.after <= 1.0, "case %d, after it: %g times its bound", test, m.after);
        ck_assert_msg(m.handed <= 1.0, "case %d, slope handed over: %g times its bound", test,
                      m.handed);
        ck_assert_msg(m.any <= 1.0, "case %d: %g times its bound", test, m.any);
        stepper_close(&run);
    }
}
END_TEST

START_TEST(a_weight_off_by_1e_9_and_a_stale_slope_are_seen)
{
    const struct stepper_case c = make_case(CASE_COUPLED, 0.0, false);
    struct stepper_run run;
    static struct record record;
    struct margins m;
    run_case(&c, &run, &record);
    compare(&run, &record, WRONG_STAGE_WEIGHT, &m);
    ck_assert_double_gt(m.rejected, 1.0);
    compare(&run, &record, WRONG_LAST_WEIGHT, &m);
    ck_assert_double_gt(m.last, 1.0);
    compare(&run, &record, STALE_SLOPE, &m);
    ck_assert_double_gt(m.handed, 1.0);
    perturb_record("fused stage", 1e-9, 0.0); /* of one weight */
    stepper_close(&run);
}
END_TEST

int main(void)
{
    if (isa_check() != 0)
        return ISA_SKIPPED;
    Suite *const suite = suite_create("fused stage");
    TCase *const tests = tcase_create("stage");
    tcase_add_test(tests, every_argument_of_n_equals_the_unfused_one);
    tcase_add_test(tests, a_weight_off_by_1e_9_and_a_stale_slope_are_seen);
    suite_add_tcase(suite, tests);
    return unit_main(suite);
}
