/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Cases of an independent program (numpy, Dormand-Prince 5(4), full guide with silica from its
 * table, real-gas equations of state, no noise, windows applied once a step), whose numbers are
 * meant to hold at about 1e-3: its windows differ from ours by up to 1e-4. Its peak powers and
 * durations are those of the coarse samples, so they are taken there here too.
 */
#include <math.h>
#include <stdlib.h>

#include "kernels/numeric/host_fft.h"
#include "tests/kernels/capillary_case.h"
#include "tests/kernels/isa.h"
#include "tests/perturb/near.h"
#include "tests/unit_main.h"

/* Peak and duration of the power |A_analytic|^2 on the coarse samples. */
struct coarse_figures {
    double peak, fwhm;
};

/* Distance in samples from the peak to half of it, one way. */
static double half_width(const cplx *x, long top, long way)
{
    const double half = 0.5 * cplx_abs2(x[top]);
    long j = top;
    while (cplx_abs2(x[j + way]) > half)
        j += way;
    const double inside = cplx_abs2(x[j]);
    return fabs((double)(j - top)) + (inside - half) / (inside - cplx_abs2(x[j + way]));
}

static struct coarse_figures coarse_figures(const struct capillary_planes *p, double window)
{
    const long n = 2 * (p->bins - 1);
    const cplx *const a = p->field + p->bins;
    cplx *const x = calloc((size_t)n, sizeof *x);
    struct host_fft *fft;
    long top = 0;
    ck_assert_int_eq(host_fft_create(n, &fft), 0);
    for (long k = 1; k < n / 2; k++)
        x[k] = cplx_scale(2.0, a[k]);
    ck_assert_int_eq(host_fft_execute(fft, false, x), 0);
    for (long j = 0; j < n; j++)
        top = cplx_abs2(x[j]) > cplx_abs2(x[top]) ? j : top;
    const struct coarse_figures f = {cplx_abs2(x[top]),
                                     (half_width(x, top, 1) + half_width(x, top, -1)) * window
                                         / (double)n};
    host_fft_destroy(fft);
    free(x);
    return f;
}

static struct capillary_planes run(struct capillary_case *c)
{
    capillary_case_choose(c, "guide.model", "marcatili");
    capillary_case_choose(c, "guide.wall.glass", "silica_table");
    struct capillary_planes p = capillary_case_run(c);
    ck_assert_msg(p.row.outcome == ROW_DONE, "%s", p.row.reason);
    return p;
}

START_TEST(case_a_kerr_in_dense_argon)
{
    struct capillary_case c;
    capillary_case_init(&c);
    capillary_case_set(&c, "core_radius", 13e-6);
    capillary_case_set(&c, "pressure.constant", 5e5);
    capillary_case_set(&c, "length", 0.05);
    capillary_case_set(&c, "guide.loss", 0.0);
    capillary_case_choose(&c, "kerr.response", "chi3");
    capillary_case_set(&c, "pulse.duration", 30e-15);
    capillary_case_set(&c, "pulse.energy", 1e-6);
    capillary_case_list(&c, "grid.wavelengths", (const double[]){160e-9, 3e-6}, 2);
    capillary_case_set(&c, "grid.window", 16384.0 * 160e-9 / (6.0 * 299792458.0));
    struct capillary_planes p = run(&c);
    const double *const out = p.observable[1];
    const struct coarse_figures f = coarse_figures(&p, params_real(&c.params, "grid.window"));
    ck_assert_ratio(out[CAPILLARY_ENERGY], 1e-6, 3e-6, 1e-6 * (1.0 + 1e-5),
                    "an input energy larger by 1e-5");
    ck_assert_ratio(f.peak, 4.2131e7, 1e-4, 4.2143e7, "a peak higher by 3e-4");
    ck_assert_ratio(f.fwhm, 19.479e-15, 1e-4, 19.485e-15, "a width larger by 3e-4");
    ck_assert_ratio(out[CAPILLARY_OMEGA_MEAN], 2.357423e15, 1e-6, 2.357430e15,
                    "a centre higher by 3e-6");
    capillary_planes_free(&p);
    capillary_case_clear(&c);
}
END_TEST

START_TEST(case_l_linear_with_loss)
{
    struct capillary_case c;
    capillary_case_init(&c);
    struct capillary_planes p = run(&c);
    const double *const out = p.observable[1];
    const struct coarse_figures f = coarse_figures(&p, params_real(&c.params, "grid.window"));
    ck_assert_ratio(out[CAPILLARY_ENERGY], 3.91375e-5, 1e-5, 3.91385e-5,
                    "an energy larger by 3e-5");
    ck_assert_ratio(f.peak, 3.15660e9, 1e-5, 3.15670e9, "a peak higher by 3e-5");
    ck_assert_ratio(f.fwhm, 11.638e-15, 1e-4, 11.642e-15, "a width larger by 3e-4");
    /* physics.md §9, the reference program's own test: sqrt(t0^2 + (beta2 L/t0)^2) of t0 = T/(2
     * sqrt(ln 2)) and exp(-alpha L) at the carrier, to a per cent. */
    const double stretch = 4.0 * log(2.0) * 7.04584e-30 * 3.0 / 1e-28;
    ck_assert_ratio(f.fwhm, 10e-15 * sqrt(1.0 + stretch * stretch), 0.01,
                    10e-15 * sqrt(1.0 + 1.1 * stretch * stretch),
                    "a dispersion larger by a twentieth");
    ck_assert_ratio(out[CAPILLARY_ENERGY] / 60e-6, 0.653788, 0.01, 0.653788 * exp(-0.02),
                    "a loss larger by a twentieth");
    capillary_planes_free(&p);
    capillary_case_clear(&c);
}
END_TEST

static void case_b(struct capillary_case *c)
{
    static const double uv[] = {200e-9, 300e-9};
    capillary_case_init(c);
    capillary_case_choose(c, "kerr.response", "chi3");
    capillary_case_set(c, "grid.fine", 8192.0);
    capillary_case_set(c, "grid.coarse", 4096.0);
    capillary_case_set(c, "grid.window", 8192.0 * 150e-9 / (6.0 * 299792458.0));
    capillary_case_list(c, "bands.uv", uv, 2);
}

START_TEST(case_b0_dispersive_wave_without_plasma)
{
    struct capillary_case c;
    case_b(&c);
    struct capillary_planes p = run(&c);
    const double *const out = p.observable[1];
    const struct coarse_figures f = coarse_figures(&p, params_real(&c.params, "grid.window"));
    ck_assert_ratio(out[CAPILLARY_ENERGY], 3.8948e-5, 1e-3, 3.9065e-5,
                    "an energy larger by 3e-3");
    ck_assert_ratio(f.peak, 1.5006e10, 1e-3, 1.5051e10, "a peak higher by 3e-3");
    ck_assert_ratio(out[CAPILLARY_ENERGY_UV], 2.113e-6, 2e-3, 2.124e-6,
                    "an energy larger by 5e-3");
    ck_assert_ratio(out[CAPILLARY_RDW_PEAK], 239.8e-9, 1e-3, 240.5e-9, "a wave 0.7 nm away");
    capillary_planes_free(&p);
    capillary_case_clear(&c);
}
END_TEST

START_TEST(case_b1_dispersive_wave_with_plasma)
{
    struct capillary_case c;
    case_b(&c);
    capillary_case_choose(&c, "plasma.rate", "ppt");
    capillary_case_choose(&c, "plasma.rule", "trapezoid");
    struct capillary_planes p = run(&c);
    const double *const out = p.observable[1];
    const struct coarse_figures f = coarse_figures(&p, params_real(&c.params, "grid.window"));
    ck_assert_ratio(out[CAPILLARY_ENERGY], 3.7256e-5, 1e-3, 3.7368e-5,
                    "an energy larger by 3e-3");
    ck_assert_ratio(f.peak, 1.44435e10, 1e-3, 1.44868e10, "a peak higher by 3e-3");
    ck_assert_ratio(f.fwhm, 1.670e-15, 1e-3, 1.675e-15, "a width larger by 3e-3");
    ck_assert_ratio(out[CAPILLARY_ENERGY_UV], 1.916e-6, 2e-3, 1.926e-6,
                    "an energy larger by 5e-3");
    ck_assert_ratio(out[CAPILLARY_ELECTRON_DENSITY], 1.677e19, 1e-3, 1.682e19,
                    "a density larger by 3e-3");
    ck_assert_ratio(out[CAPILLARY_RDW_PEAK], 246.8e-9, 1e-3, 247.5e-9, "a wave 0.7 nm away");
    capillary_planes_free(&p);
    capillary_case_clear(&c);
}
END_TEST

/* The reference is not converged in its tolerance and takes L at the end of each step: 2 %. */
START_TEST(case_v_vacuum_ultraviolet_along_a_gradient)
{
    static const double vuv[] = {100e-9, 140e-9};
    struct capillary_case c;
    case_b(&c);
    capillary_case_gas(&c, "He");
    capillary_case_unset(&c, "pressure.constant");
    capillary_case_set(&c, "pressure.from", 0.8e5);
    capillary_case_set(&c, "pressure.to", 0.0);
    capillary_case_set(&c, "length", 1.5);
    capillary_case_set(&c, "pulse.duration", 7.5e-15);
    capillary_case_set(&c, "pulse.energy", 275e-6);
    capillary_case_choose(&c, "plasma.rate", "ppt");
    capillary_case_choose(&c, "plasma.rule", "trapezoid");
    capillary_case_list(&c, "grid.wavelengths", (const double[]){90e-9, 4e-6}, 2);
    capillary_case_set(&c, "grid.window", 8192.0 * 90e-9 / (6.0 * 299792458.0));
    capillary_case_list(&c, "bands.rdw", vuv, 2);
    struct capillary_planes p = run(&c);
    const double *const out = p.observable[1];
    const struct coarse_figures f = coarse_figures(&p, params_real(&c.params, "grid.window"));
    ck_assert_ratio(out[CAPILLARY_ENERGY], 1.8374e-4, 0.02, 1.929e-4,
                    "an energy larger by a twentieth");
    ck_assert_ratio(f.peak, 1.0762e11, 0.02, 1.130e11, "a peak higher by a twentieth");
    ck_assert_ratio(f.fwhm, 1.209e-15, 0.02, 1.270e-15, "a width larger by a twentieth");
    ck_assert_ratio(out[CAPILLARY_ENERGY_RDW], 2.16e-6, 0.02, 2.27e-6,
                    "an energy larger by a twentieth");
    ck_assert_ratio(out[CAPILLARY_RDW_PEAK], 123.75e-9, 0.02, 130e-9, "a wave 6 nm away");
    capillary_planes_free(&p);
    capillary_case_clear(&c);
}
END_TEST

int main(void)
{
    if (isa_check() != 0)
        return ISA_SKIPPED;
    Suite *const suite = suite_create("capillary cases");
    TCase *const tests = tcase_create("cases");
    tcase_set_timeout(tests, 200);
    tcase_add_test(tests, case_a_kerr_in_dense_argon);
    tcase_add_test(tests, case_l_linear_with_loss);
    tcase_add_test(tests, case_b0_dispersive_wave_without_plasma);
    tcase_add_test(tests, case_b1_dispersive_wave_with_plasma);
    tcase_add_test(tests, case_v_vacuum_ultraviolet_along_a_gradient);
    suite_add_tcase(suite, tests);
    return unit_main(suite);
}
