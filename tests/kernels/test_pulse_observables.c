/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Observables of a plane against closed forms. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/contract/bounds.h"
#include "kernels/models/pulse/observables.h"
#include "tests/exact.h"
#include "tests/kernels/gnlse_case.h"
#include "tests/kernels/isa.h"
#include "tests/perturb/bounded.h"
#include "tests/perturb/near.h"
#include "tests/unit_main.h"

#define PI     3.14159265358979323846
#define HBAR   1.0545718176461565e-34
#define N      1024
#define WINDOW 4e-12
#define OMEGA0 2.2559e15

/* sqrt(P) exp(-(t - shift)^2/(2 T0^2) + i Omega t): all observables are known. */
static void gaussian(double power, double t0, double shift, double omega, cplx *a)
{
    for (long j = 0; j < N; j++) {
        const double t = WINDOW / N * (double)(j - N / 2);
        const double x = (t - shift) / t0;
        const double size = sqrt(power) * exp(-x * x / 2.0);
        a[j] = cplx_make(size * cos(omega * t), size * sin(omega * t));
    }
}

static void observe(const cplx *samples, double *values)
{
    cplx *spectrum = case_spectrum(samples, N);
    const struct pulse_plane plane = {spectrum, samples, N, WINDOW, OMEGA0};
    for (int i = 0; i < PULSE_OBSERVABLES; i++)
        values[i] = (double)NAN;
    pulse_observe(&plane, values);
    free(spectrum);
}

START_TEST(a_gaussian_has_all_its_closed_values)
{
    const double t0 = 60e-15;
    const double width = 2.0 * PI / WINDOW;
    const double carrier = 40.0 * width;
    cplx a[N];
    double v[PULSE_OBSERVABLES];
    gaussian(500.0, t0, 50.0 * WINDOW / N, carrier, a);
    observe(a, v);
    ck_assert_bounded(fabs(v[PULSE_ENERGY] / (500.0 * t0 * sqrt(PI)) - 1.0), BOUND_observable);
    ck_assert_bounded(fabs(v[PULSE_PEAK_POWER] / 500.0 - 1.0), BOUND_observable);
    ck_assert_bounded(fabs(v[PULSE_FWHM_T] / (2.0 * sqrt(log(2.0)) * t0) - 1.0),
                      BOUND_fwhm_samples);
    ck_assert_rounding_of(v[PULSE_T_PEAK], 50.0 * WINDOW / N, WINDOW, 1e-12);
    ck_assert_bounded(fabs(v[PULSE_OMEGA_MEAN] / (OMEGA0 + carrier) - 1.0), BOUND_observable);
    /* |a|^2 ~ exp(-(Omega T0)^2): down to 1/100 at Omega T0 = sqrt(ln 100). */
    const double half = sqrt(log(100.0)) / t0;
    ck_assert_near(v[PULSE_WIDTH_20DB], 2.0 * half, 2.0 * width, 2.0 * half + 4.0 * width,
                   "four bins more");
    ck_assert_double_le(v[PULSE_WIDTH_20DB], 2.0 * half);
    ck_assert_double_lt(v[PULSE_EDGE_T], PULSE_EDGE_ALARM);
    ck_assert_double_lt(v[PULSE_EDGE_OMEGA], PULSE_EDGE_ALARM);
    /* <1/omega> of a narrow Gaussian: 1/w (1 + s^2/w^2 + 3 s^4/w^4), s^2 = 1/(2 T0^2). */
    const double w = OMEGA0 + carrier;
    const double s2 = 1.0 / (2.0 * t0 * t0 * w * w);
    const double photons = v[PULSE_ENERGY] / (HBAR * w) * (1.0 + s2 + 3.0 * s2 * s2);
    ck_assert_bounded(fabs(v[PULSE_PHOTON_NUMBER] / photons - 1.0), BOUND_closed_form);
}
END_TEST

START_TEST(one_bin_counts_its_photons_exactly)
{
    cplx a[N];
    for (long j = 0; j < N; j++) {
        const double phase = 2.0 * PI * 7.0 * (double)j / N;
        a[j] = cplx_make(3.0 * cos(phase), 3.0 * sin(phase));
    }
    double v[PULSE_OBSERVABLES];
    observe(a, v);
    const double omega = OMEGA0 + 7.0 * 2.0 * PI / WINDOW;
    ck_assert_bounded(fabs(v[PULSE_PHOTON_NUMBER] / (9.0 * WINDOW / (HBAR * omega)) - 1.0),
                      BOUND_observable);
    ck_assert_exactly(v[PULSE_WIDTH_20DB], 0.0);
    /* A continuous wave is everywhere: its edges hold 10 % (5 % a side). */
    ck_assert_near(v[PULSE_EDGE_T], 0.1, 2.0 / N, 0.1 + 5.0 / N, "five samples more");
}
END_TEST

START_TEST(light_at_or_below_zero_frequency_is_energy_but_no_photon)
{
    cplx spectrum[N] = {{0.0, 0.0}};
    cplx samples[N] = {{0.0, 0.0}};
    const double width = 2.0 * PI / WINDOW;
    spectrum[2] = cplx_make(1.0, 0.0);
    spectrum[N - 100] = cplx_make(1.0, 0.0); /* omega = 0 exactly, and below */
    spectrum[N - 101] = cplx_make(1.0, 0.0);
    const struct pulse_plane plane = {spectrum, samples, N, WINDOW, 100.0 * width};
    double v[PULSE_OBSERVABLES];
    pulse_observe(&plane, v);
    ck_assert_bounded(fabs(v[PULSE_ENERGY] / (3.0 * WINDOW) - 1.0), BOUND_observable);
    const double photons = WINDOW / (HBAR * 102.0 * width);
    ck_assert_bounded(fabs(v[PULSE_PHOTON_NUMBER] / photons - 1.0), BOUND_observable);
}
END_TEST

START_TEST(duration_is_taken_at_the_outermost_crossings)
{
    cplx a[N];
    cplx b[N];
    double v[PULSE_OBSERVABLES];
    gaussian(100.0, 40e-15, -0.5e-12, 0.0, a);
    gaussian(60.0, 40e-15, 0.7e-12, 0.0, b); /* above half of the first */
    for (long j = 0; j < N; j++)
        a[j] = cplx_add(a[j], b[j]);
    observe(a, v);
    const double left = -0.5e-12 - 40e-15 * sqrt(log(2.0));
    const double right = 0.7e-12 + 40e-15 * sqrt(log(60.0 / 50.0));
    ck_assert_near(v[PULSE_FWHM_T], right - left, 0.1 * WINDOW / N,
                   right - left + 0.3 * WINDOW / N, "0.3 samples more");
    gaussian(100.0, 40e-15, -0.5e-12, 0.0, a);
    gaussian(49.0, 40e-15, 0.7e-12, 0.0, b); /* below */
    for (long j = 0; j < N; j++)
        a[j] = cplx_add(a[j], b[j]);
    observe(a, v);
    ck_assert_near(v[PULSE_FWHM_T], 80e-15 * sqrt(log(2.0)), 0.1 * WINDOW / N,
                   80e-15 * sqrt(log(2.0)) + 0.3 * WINDOW / N, "0.3 samples more");
}
END_TEST

START_TEST(edges_hold_what_lies_in_the_outer_five_percent)
{
    cplx a[N];
    double v[PULSE_OBSERVABLES];
    gaussian(100.0, 20e-15, -0.46 * WINDOW, 0.0, a); /* 0.04 of the window from its start */
    observe(a, v);
    ck_assert_double_gt(v[PULSE_EDGE_T], 0.99);
    ck_assert_double_lt(v[PULSE_EDGE_OMEGA], PULSE_EDGE_ALARM);
    gaussian(100.0, 200e-15, 0.0, -0.47 * 2.0 * PI * N / WINDOW, a);
    observe(a, v);
    ck_assert_double_lt(v[PULSE_EDGE_T], PULSE_EDGE_ALARM);
    ck_assert_double_gt(v[PULSE_EDGE_OMEGA], 0.99);
}
END_TEST

START_TEST(a_dark_field_has_finite_values)
{
    cplx a[N] = {{0.0, 0.0}};
    double v[PULSE_OBSERVABLES];
    observe(a, v);
    for (int i = 0; i < PULSE_OBSERVABLES; i++)
        ck_assert_exactly(v[i], i == PULSE_OMEGA_MEAN ? OMEGA0 : 0.0);
}
END_TEST

int main(void)
{
    if (isa_check() != 0)
        return ISA_SKIPPED;
    Suite *const suite = suite_create("pulse observables");
    TCase *const tests = tcase_create("observables");
    tcase_add_test(tests, a_gaussian_has_all_its_closed_values);
    tcase_add_test(tests, one_bin_counts_its_photons_exactly);
    tcase_add_test(tests, light_at_or_below_zero_frequency_is_energy_but_no_photon);
    tcase_add_test(tests, duration_is_taken_at_the_outermost_crossings);
    tcase_add_test(tests, edges_hold_what_lies_in_the_outer_five_percent);
    tcase_add_test(tests, a_dark_field_has_finite_values);
    suite_add_tcase(suite, tests);
    return unit_main(suite);
}
