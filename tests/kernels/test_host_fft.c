/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "kernels/backend.h"
#include "kernels/base/mem.h"
#include "kernels/contract/bounds.h"
#include "kernels/contract/compare.h"
#include "kernels/model.h"
#include "kernels/numeric/host_fft.h"
#include "tests/exact.h"
#include "tests/kernels/gnlse_case.h"
#include "tests/kernels/perturbed.h"
#include "tests/unit_main.h"

#define LENGTH_MAX 128

static void fill(cplx *x, long n)
{
    for (long j = 0; j < n; j++)
        x[j] = cplx_make(sin(1.0 + 3.7 * (double)j), cos(2.0 + 1.3 * (double)(j * j)));
}

/* Transform against the definition in long double, in the norm. */
static void check_definition(long n, bool forward, double limit)
{
    cplx x[LENGTH_MAX];
    cplx y[LENGTH_MAX];
    cplx want[LENGTH_MAX];
    fill(x, n);
    memcpy(y, x, (size_t)n * sizeof *x);
    struct host_fft *fft;
    ck_assert_int_eq(host_fft_create(n, &fft), 0);
    ck_assert_int_eq(host_fft_execute(fft, forward, y), 0);
    host_fft_destroy(fft);
    for (long k = 0; k < n; k++) {
        long double r = 0.0L;
        long double i = 0.0L;
        for (long j = 0; j < n; j++) {
            const long double turn = (long double)(j * k % n) / (long double)n;
            const long double angle = (forward ? -2.0L : 2.0L) * acosl(-1.0L) * turn;
            r += (long double)x[j].r * cosl(angle) - (long double)x[j].i * sinl(angle);
            i += (long double)x[j].r * sinl(angle) + (long double)x[j].i * cosl(angle);
        }
        want[k] = cplx_make((double)r, (double)i);
    }
    const struct comparison_input in = {.value = (const double *)y,
                                        .reference = (const double *)want,
                                        .n = n,
                                        .is_complex = true};
    struct comparison out;
    ck_assert_int_eq(comparison_norm(&in, limit, &out), 0);
    ck_assert_msg(out.within, "n = %ld: margin %g", n, out.margin);
    perturbed_check(&in, limit, "transform");
}

START_TEST(transforms_equal_their_definition)
{
    static const long lengths[] = {1, 2, 8, 60, 105, 126, 128};
    for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
        double limit;
        ck_assert_int_eq(bound_fft(lengths[i] > 1 ? lengths[i] : 2, &limit), 0);
        check_definition(lengths[i], true, limit);
        check_definition(lengths[i], false, limit);
    }
    ck_assert_int_eq(mem_live(), 0);
}
END_TEST

START_TEST(a_length_of_zero_is_refused)
{
    struct host_fft *fft;
    ck_assert_int_ne(host_fft_create(0, &fft), 0);
    ck_assert_ptr_null(fft);
}
END_TEST

/* Plane 0 of the first row of a fresh model on a backend of its own. */
static void input_field(const struct gnlse_case *c, enum fft_rigour rigour, int threads,
                        cplx *field)
{
    const struct backend_options options = {
        .name = "cpu", .isa = "auto", .threads = threads, .rigour = rigour};
    struct backend *be;
    ck_assert_int_eq(backend_create(&options, &be), 0);
    const struct model_ops *ops = model_find("gnlse");
    struct model *m;
    ck_assert_int_eq(ops->create(&c->params, be, 1, &m), 0);
    struct row_status st = {.deadline = (double)INFINITY};
    ck_assert_int_eq(ops->load(m, 0, &c->params, &c->seed, NULL, &st), 0);
    struct run_control control = {0};
    ck_assert_int_eq(ops->advance(m, &control, &st), 0);
    ck_assert(st.plane_ready);
    ck_assert_int_eq(st.plane, 0);
    struct plane_buffers buffers = {.array = {field}};
    ck_assert_int_eq(ops->plane(m, 0, &buffers), 0);
    ops->destroy(m);
    backend_destroy(be);
}

START_TEST(an_input_field_has_the_same_bits_whatever_the_fft_plan)
{
    struct gnlse_case c;
    case_init(&c);
    case_set(&c, "grid.points", 1024);
    case_set(&c, "pulse.peak_power", 100.0);
    case_set(&c, "pulse.phases.gdd", 1e-27); /* the peak power needs a transform back */
    c.seed = (struct seed){NOISE_ONE_PHOTON, 3, 5, 7, 0.0};
    static cplx estimate[1024];
    static cplx measure[1024];
    input_field(&c, FFT_ESTIMATE, 1, estimate);
    for (int threads = 1; threads <= 2; threads++) {
        memset(measure, 0xff, sizeof measure);
        input_field(&c, FFT_MEASURE, threads, measure);
        ck_assert(equal_bits(estimate, measure, sizeof estimate));
    }
    case_clear(&c);
}
END_TEST

static Suite *host_fft_suite(void)
{
    Suite *suite = suite_create("host_fft");
    TCase *tests = tcase_create("host_fft");
    tcase_add_test(tests, transforms_equal_their_definition);
    tcase_add_test(tests, a_length_of_zero_is_refused);
    tcase_add_test(tests, an_input_field_has_the_same_bits_whatever_the_fft_plan);
    suite_add_tcase(suite, tests);
    return suite;
}

int main(void)
{
    return unit_main(host_fft_suite());
}
