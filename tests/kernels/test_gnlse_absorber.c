/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Absorbers of model gnlse, and runs on a fixed schedule by other code. */
#include <math.h>
#include <stdlib.h>

#include "kernels/base/mem.h"
#include "kernels/contract/bounds.h"
#include "kernels/contract/compare.h"
#include "kernels/models/pulse/grid.h"
#include "tests/exact.h"
#include "tests/kernels/gnlse_case.h"
#include "tests/kernels/isa.h"
#include "tests/kernels/perturbed.h"
#include "tests/perturb/bounded.h"
#include "tests/unit_main.h"

/* A soliton of order 2 with light that runs into the edges of window and band. */
static void edge_case(struct gnlse_case *c, double rtol)
{
    case_init(c);
    case_betas(c, (const double[]){-2e-26, 2e-40}, 2);
    case_set(c, "pulse.duration", 30e-15);
    case_set(c, "pulse.peak_power", 4000.0);
    case_set(c, "self_steepening", 1.0);
    case_raman(c);
    case_set(c, "grid.points", 512.0);
    case_set(c, "grid.window", 1e-12);
    case_set(c, "length", 0.12);
    case_set(c, "absorber.edge", 0.1);
    case_set(c, "absorber.length", 0.02);
    case_set(c, "stepper.rtol", rtol);
}

START_TEST(results_with_an_absorber_converge_with_the_tolerance)
{
    static const double rtol[] = {1e-4, 1e-6, 1e-8, 1e-10};
    struct gnlse_planes p[4];
    for (int i = 0; i < 4; i++) {
        struct gnlse_case c;
        edge_case(&c, rtol[i]);
        p[i] = case_run(&c);
        ck_assert_int_eq(p[i].row.outcome, ROW_DONE);
        ck_assert_int_eq(p[i].row.transforms, 5 * p[i].row.rhs_calls);
        case_clear(&c);
    }
    /* It does absorb. */
    ck_assert_double_lt(p[3].observable[1][0], 0.99 * p[3].observable[0][0]);
    double last = (double)INFINITY;
    for (int i = 0; i < 3; i++) {
        const double error = case_distance(p[i].field + 512, p[3].field + 512, 512);
        ck_assert_double_lt(error, last / 10.0);
        last = error;
    }
    ck_assert_bounded(last, BOUND_absorber);
    for (int i = 0; i < 4; i++)
        planes_free(&p[i], NULL);
}
END_TEST

START_TEST(the_band_edge_decays_at_its_rate_and_the_last_bin_is_exactly_zero)
{
    struct gnlse_case c;
    case_init(&c);
    case_set(&c, "gamma", 0.0);
    case_set(&c, "pulse.shape", 1.0);
    case_set(&c, "pulse.peak_power", 1.0);
    case_set(&c, "pulse.duration", 20e-15); /* as short as a sample: it fills the band */
    case_set(&c, "grid.points", 256.0);
    case_set(&c, "length", 0.05);
    case_set(&c, "absorber.edge", 0.1);
    case_set(&c, "absorber.length", 0.02);
    case_set(&c, "stepper.rtol", 1e-11);
    struct gnlse_planes p = case_run(&c);
    const cplx *after = p.field + p.n;
    const double peak = sqrt(cplx_abs2(p.field[0]));
    ck_assert_exactly(cplx_abs2(p.field[128]), 0.0);
    ck_assert_exactly(cplx_abs2(after[128]), 0.0);
    ck_assert_double_gt(sqrt(cplx_abs2(p.field[127])), 0.01 * peak);
    for (long k = 0; k < p.n; k++) {
        const double taper = pulse_planck((double)(k < 128 ? k : k - 256) / 128.0, 0.2);
        const double exponent = taper > 0.0 ? fmin(-log(taper), 40.0) : 40.0;
        const cplx want = cplx_scale(exp(-exponent * 0.05 / 0.02), p.field[k]);
        ck_assert_bounded(sqrt(cplx_abs2(cplx_sub(after[k], want))) / peak, BOUND_absorber);
    }
    planes_free(&p, &c);
}
END_TEST

START_TEST(the_window_edge_takes_power_at_the_rate_of_its_taper)
{
    struct gnlse_case c;
    case_init(&c);
    case_set(&c, "gamma", 0.0);
    case_set(&c, "pulse.shape", 1.0);
    case_set(&c, "pulse.peak_power", 1.0);
    case_set(&c, "pulse.duration", 200e-15);
    case_set(&c, "pulse.phases.delay", 1.5e-12); /* its tail lies in the outer 10 % of 4 ps */
    case_set(&c, "length", 0.002);
    case_set(&c, "absorber.edge", 0.1);
    case_set(&c, "absorber.length", 0.02);
    case_set(&c, "stepper.rtol", 1e-11);
    struct gnlse_planes p = case_run(&c);
    cplx *before = case_samples(p.field, p.n);
    cplx *after = case_samples(p.field + p.n, p.n);
    for (long j = 0; j < p.n; j++) {
        const double taper = pulse_planck(p.t[j] / 2e-12, 0.2);
        const double rate = taper > 0.0 ? fmin(-log(taper), 40.0) / 0.02 : 40.0 / 0.02;
        const cplx want = cplx_scale(exp(-rate * 0.002), before[j]);
        ck_assert_bounded(sqrt(cplx_abs2(cplx_sub(after[j], want))), BOUND_absorber_samples);
    }
    free(before);
    free(after);
    planes_free(&p, &c);
}
END_TEST

/* Three members of the supercontinuum's kind over eight steps of a stored schedule. */
static struct gnlse_planes scheduled(int member, const char *isa, int threads)
{
    static const double h[8] = {1e-5, 2e-5, 3e-5, 3e-5, 2.5e-5, 4e-5, 2e-5, 1.5e-5};
    struct gnlse_case c;
    case_dudley(&c, 1e-6);
    double length = 0.0;
    for (int i = 0; i < 8; i++)
        length += h[i];
    case_set(&c, "length", length);
    case_set(&c, "pulse.peak_power", 4000.0 + 3000.0 * member);
    case_set(&c, "grid.points", 32768.0); /* threads share a row from 16384 on */
    case_set(&c, "grid.window", 50e-12);
    c.seed = (struct seed){
        .noise = NOISE_ONE_PHOTON, .ensemble_seed = 1, .realisation = (uint64_t)member};
    c.schedule = h;
    c.scheduled = 8;
    c.isa = isa;
    c.threads = threads;
    struct gnlse_planes p = case_run(&c);
    ck_assert_int_eq(p.row.outcome, ROW_DONE);
    ck_assert_int_eq(p.row.steps, 8);
    ck_assert_int_eq(p.row.rhs_calls, 49);
    case_clear(&c);
    return p;
}

static void check_matched(const struct gnlse_planes *p, const struct gnlse_planes *reference,
                          const char *what)
{
    double peak = 0.0;
    for (long k = 0; k < p->n; k++)
        peak = fmax(peak, sqrt(cplx_abs2(reference->field[p->n + k])));
    struct comparison_input in = {.value = (const double *)(p->field + p->n),
                                  .reference = (const double *)(reference->field + p->n),
                                  .n = p->n,
                                  .is_complex = true};
    ck_assert_int_eq(bound_steps(8, peak, &in.atol), 0);
    struct comparison out;
    ck_assert_int_eq(comparison_run(&in, &out), 0);
    ck_assert_msg(out.within, "%s: margin %g", what, out.margin);
    perturbed_check(&in, 0.0, "threads and instruction sets");
}

START_TEST(three_members_on_a_fixed_schedule_agree_between_instruction_sets_and_threads)
{
    const bool v3 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
    for (int member = 0; member < 3; member++) {
        struct gnlse_planes reference = scheduled(member, "x86-64", 1);
        for (int threads = 1; threads <= 3; threads++) {
            struct gnlse_planes p = scheduled(member, "x86-64", threads);
            check_matched(&p, &reference, "threads");
            planes_free(&p, NULL);
        }
        if (v3) {
            struct gnlse_planes p = scheduled(member, "x86-64-v3", 1);
            check_matched(&p, &reference, "x86-64-v3");
            planes_free(&p, NULL);
        }
        planes_free(&reference, NULL);
    }
    ck_assert_int_eq(mem_live(), 0);
}
END_TEST

int main(void)
{
    if (isa_check() != 0)
        return ISA_SKIPPED;
    Suite *const suite = suite_create("gnlse absorber and schedule");
    TCase *const tests = tcase_create("absorber");
    tcase_set_timeout(tests, 50);
    tcase_add_test(tests, results_with_an_absorber_converge_with_the_tolerance);
    tcase_add_test(tests, the_band_edge_decays_at_its_rate_and_the_last_bin_is_exactly_zero);
    tcase_add_test(tests, the_window_edge_takes_power_at_the_rate_of_its_taper);
    tcase_add_test(
        tests, three_members_on_a_fixed_schedule_agree_between_instruction_sets_and_threads);
    suite_add_tcase(suite, tests);
    return unit_main(suite);
}
