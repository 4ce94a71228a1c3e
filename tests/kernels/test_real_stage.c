/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The fused stage of a real field: padding, two transforms, response, crop; its counters. */
#include <complex.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/base/mem.h"
#include "kernels/contract/bounds.h"
#include "kernels/models/pulse/atomic.h"
#include "kernels/models/pulse/response.h"
#include "kernels/step/rk45.h"
#include "tests/kernels/column_case.h"
#include "tests/kernels/isa.h"
#include "tests/kernels/lane.h"
#include "tests/perturb/near.h"
#include "tests/unit_main.h"

#define PI     3.14159265358979323846
#define FINE   1024 /* samples */
#define BINS   97   /* of the state; the third harmonic of the last one is on the fine grid */
#define LOWEST 11   /* bins below are masked */
#define KERR   0.02

struct field_run {
    struct backend *be;
    struct stepper *stepper;
    struct response *response;
    struct fft *forward, *backward;
    struct row_status st;
    struct run_control control;
    double *samples, *window;
    cplx first[BINS]; /* argument of the first N, and the first N */
    cplx answer[BINS];
    bool kept;
};

static int evaluate(void *model, long row, struct step_place place, cplx *spectrum,
                    struct row_status *st)
{
    struct field_run *r = model;
    const struct backend_ops *ops = r->be->ops;
    (void)row;
    (void)place;
    if (!r->kept)
        memcpy(r->first, spectrum, sizeof r->first);
    const struct fft_rows there = {spectrum, 0, r->samples, 0, 0, 1, NULL};
    ck_assert_int_eq(ops->fft_execute(r->be, r->backward, &there), 0);
    const struct response_factors factors = {.scale = 1.0, .kerr = KERR, .density = 1e-3};
    const struct response_rows rows = {.samples = r->samples,
                                       .ld = backend_stride(FINE, sizeof(double))};
    ck_assert_int_eq(response_apply(r->response, 0, &factors, &rows, st), 0);
    const struct fft_rows back = {r->samples, 0, spectrum, 0, 0, 1, NULL};
    ck_assert_int_eq(ops->fft_execute(r->be, r->forward, &back), 0);
    st->transforms += 2;
    if (!r->kept)
        memcpy(r->answer, spectrum, sizeof r->answer);
    r->kept = true;
    return 0;
}

static int nonlinear(void *model, const struct step_call *call)
{
    return step_call_each(call, model, evaluate);
}

static double window_at(long i)
{
    return 0.5 - 0.5 * cos(2.0 * PI * (double)i / FINE);
}

static void open_response(struct field_run *r, enum plasma_rule rule,
                          const struct column_rates_known *rates)
{
    const struct response_setup setup = {.backend = r->be,
                                         .n = FINE,
                                         .columns = 1,
                                         .components = 1,
                                         .rule = rule,
                                         .species = 1,
                                         .rate = {RESPONSE_RATE_FIELD},
                                         .third_harmonic = true};
    struct response_column column = {
        .window = r->window,
        .dt = 5e-17,
        .preionised = 1e-3,
        .species = {{.share = 1.0, .potential = 1e-18, .table = rates->table[0]}}};
    ck_assert_int_eq(taps_band(4, 0.35 * PI, &column.taps), 0);
    ck_assert_int_eq(response_create(&setup, &r->response), 0);
    ck_assert_int_eq(response_load(r->response, 0, &column), 0);
}

static void load_member(struct field_run *r)
{
    static const double end = 1.0;
    double li[BINS] = {0.0};
    cplx field[BINS] = {{0.0, 0.0}};
    cplx pre[BINS] = {{0.0, 0.0}};
    for (long k = LOWEST; k < BINS; k++) {
        const double x = ((double)k - 40.0) / 12.0;
        li[k] = 0.5 * x * x;
        field[k] = cplx_make(0.1 * exp(-x * x) * cos(PI * (double)k),
                             0.03 * exp(-x * x) * sin(3.0 * x));
        pre[k] = cplx_make(0.0, -0.4 * (double)k / FINE);
    }
    const struct step_member member = {
        .control = {.length = 1.0, .rtol = 1e-7, .first_step = 0.8, .max_steps = 1000},
        .positions = &end,
        .field = field,
        .li = li,
        .pre = pre};
    r->st = (struct row_status){.deadline = (double)INFINITY};
    ck_assert_int_eq(stepper_load(r->stepper, 0, &member, &r->st), 0);
}

static void field_open(struct field_run *r, enum plasma_rule rule,
                       const struct column_rates_known *rates)
{
    *r = (struct field_run){.kept = false};
    const struct backend_options options = {.name = "cpu",
                                            .isa = isa_under_test(),
                                            .threads = lane_threads(1),
                                            .rigour = lane_rigour()};
    ck_assert_int_eq(backend_create(&options, &r->be), 0);
    ck_assert_int_eq(r->be->ops->fft_create(r->be, FFT_C2R, FINE, &r->backward), 0);
    ck_assert_int_eq(r->be->ops->fft_create(r->be, FFT_R2C, FINE, &r->forward), 0);
    ck_assert_int_eq(MEM_NEW(FINE, &r->samples), 0);
    ck_assert_int_eq(MEM_NEW(FINE, &r->window), 0);
    for (long i = 0; i < FINE; i++)
        r->window[i] = window_at(i);
    open_response(r, rule, rates);
    const struct stepper_setup setup = {
        .backend = r->be,
        .rows = 1,
        .n = BINS,
        .planes = 1,
        .system = {.model = r, .nonlinear = nonlinear, .transforms = 2},
        .spectrum = FINE / 2 + 1};
    ck_assert_int_eq(stepper_create(&setup, &r->stepper), 0);
    load_member(r);
}

static void field_finish(struct field_run *r)
{
    while (r->st.outcome == ROW_RUNNING) {
        r->st.plane_ready = false;
        ck_assert_int_eq(stepper_advance(r->stepper, &r->control, &r->st), 0);
    }
    ck_assert_int_eq(r->st.outcome, ROW_DONE);
}

static void field_close(struct field_run *r)
{
    stepper_destroy(r->stepper);
    response_destroy(r->response);
    r->be->ops->fft_destroy(r->be, r->forward);
    r->be->ops->fft_destroy(r->be, r->backward);
    mem_free(r->samples);
    mem_free(r->window);
    backend_destroy(r->be);
}

START_TEST(a_trial_makes_12_transforms_and_the_stated_passes)
{
    static const struct {
        enum plasma_rule rule;
        int passes;
    } cases[] = {{PLASMA_NONE, RESPONSE_PASSES_KERR},
                 {PLASMA_TRAPEZOID, RESPONSE_PASSES_TRAPEZOID},
                 {PLASMA_BAND, RESPONSE_PASSES_BAND}};
    struct column_rates_known rates;
    rates_init(&rates);
    for (int i = 0; i < 3; i++) {
        static struct field_run run;
        field_open(&run, cases[i].rule, &rates);
        field_finish(&run);
        const long long trials = run.st.steps + run.st.rejected;
        ck_assert_int_ge(run.st.rejected, 1);
        /* And those of the first slope: two passes of the stepper, one N. */
        ck_assert_int_eq(run.st.transforms, 2 + 12 * trials);
        ck_assert_int_eq(run.st.passes,
                         2 + cases[i].passes
                             + (RK45_TRIAL_PASSES + 6 * cases[i].passes) * trials);
        ck_assert_int_eq(13, RK45_TRIAL_PASSES + 6 * RESPONSE_PASSES_KERR);
        ck_assert_int_eq(13, RK45_TRIAL_PASSES + 6 * RESPONSE_PASSES_TRAPEZOID);
        ck_assert_int_eq(25, RK45_TRIAL_PASSES + 6 * RESPONSE_PASSES_BAND);
        field_close(&run);
    }
    rates_clear(&rates);
}
END_TEST

/* sum_k 2 Re a_k exp(i k t) at a sample; without the constant and the highest bin, which the
 * mask leaves out. */
static long double sample_of(const cplx *a, long i)
{
    long double sum = 0.0L;
    for (long k = LOWEST; k < BINS; k++) {
        const long double phase = 2.0L * acosl(-1.0L) * (long double)(k * i % FINE) / FINE;
        sum += 2.0L * (a[k].r * cosl(phase) - a[k].i * sinl(phase));
    }
    return sum;
}

/* The first N of the Kerr response against its definition: products in time on the fine grid
 * are not aliased into the state's bins. */
START_TEST(the_response_of_a_padded_spectrum_is_that_of_its_definition)
{
    struct column_rates_known rates;
    static struct field_run run;
    static long double p[FINE];
    rates_init(&rates);
    field_open(&run, PLASMA_NONE, &rates);
    field_finish(&run);
    long double size = 0.0L;
    for (long i = 0; i < FINE; i++) {
        const long double e = sample_of(run.first, i);
        p[i] = window_at(i) * KERR * e * e * e;
        size += p[i] * p[i];
    }
    double limit;
    ck_assert_int_eq(bound_fft(FINE, &limit), 0);
    long double largest = 0.0L;
    for (long k = 0; k < BINS; k++) {
        long double complex sum = 0.0L;
        for (long i = 0; i < FINE; i++)
            sum += p[i]
                   * cexpl(-2.0L * acosl(-1.0L) * (long double)(k * i % FINE) / FINE
                           * (long double complex)I);
        const double error =
            (double)hypotl(run.answer[k].r - creall(sum), run.answer[k].i - cimagl(sum));
        /* Normwise: the error of a bin is below that of the whole transform. */
        ck_assert_norm(error, (double)(limit * sqrtl(size * FINE)));
        largest = fmaxl(largest, cabsl(sum));
    }
    ck_assert_double_gt((double)largest, 1e3 * (double)(limit * sqrtl(size * FINE)));
    field_close(&run);
    rates_clear(&rates);
}
END_TEST

int main(void)
{
    if (isa_check() != 0)
        return ISA_SKIPPED;
    Suite *const suite = suite_create("stage of a real field");
    TCase *const tests = tcase_create("real");
    tcase_set_timeout(tests, 60);
    tcase_add_test(tests, a_trial_makes_12_transforms_and_the_stated_passes);
    tcase_add_test(tests, the_response_of_a_padded_spectrum_is_that_of_its_definition);
    suite_add_tcase(suite, tests);
    return unit_main(suite);
}
