/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Several pulses, continuous waves, and what silica's vibrations do to them. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/base/mem.h"
#include "kernels/base/status.h"
#include "kernels/models/pulse/gnlse.h"
#include "kernels/models/pulse/raman_silica.h"
#include "tests/kernels/gnlse_case.h"
#include "tests/kernels/isa.h"
#include "tests/perturb/near.h"
#include "tests/unit_main.h"

#define PI     3.14159265358979323846
#define C0     299792458.0
#define OMEGA0 (2.0 * PI * C0 / 835e-9)

static void refuses(const struct gnlse_case *c, const char *part)
{
    char why[600] = "";
    struct plane_layout layout;
    status_capture(why, sizeof why);
    ck_assert_int_ne(gnlse_ops.layout(&c->params, &layout), 0);
    status_capture(NULL, 0);
    ck_assert_msg(strstr(why, part) != NULL, "'%s' is not in: %s", part, why);
}

/* |A|^2 is constant, so A(z) = sqrt(P) exp(-i gamma P z). */
START_TEST(a_continuous_wave_turns_its_phase_alone)
{
    struct gnlse_case c;
    case_init(&c);
    case_betas(&c, (const double[]){-12e-27}, 1);
    case_set(&c, "pulse.shape", 2.0);
    case_unset(&c, "pulse.duration");
    case_set(&c, "pulse.peak_power", 25.0);
    struct gnlse_planes p = case_run(&c);
    ck_assert_rounding(p.observable[0][0], 25.0 * 4e-12, 1e-12);
    cplx *a = case_samples(p.field + p.n, p.n);
    for (long j = 0; j < p.n; j++) {
        ck_assert_near(a[j].r, 5.0 * cos(0.1 * 25.0), 1e-5,
                       5.0 * cos(0.1 * 25.0 * (1.0 + 1e-5)), "a nonlinearity larger by 1e-5");
        ck_assert_near(a[j].i, -5.0 * sin(0.1 * 25.0), 1e-5,
                       -5.0 * sin(0.1 * 25.0 * (1.0 + 1e-5)), "a nonlinearity larger by 1e-5");
    }
    free(a);
    planes_free(&p, &c);
}
END_TEST

START_TEST(several_pulses_add_up_to_their_formulas)
{
    struct gnlse_case c;
    case_init(&c);
    const double detuning = 2.0 * PI * C0 / 900e-9 - OMEGA0;
    const double delay = 0.5e-12;
    case_set(&c, "length", 1e-6);
    case_set(&c, "pulse.peak_power", 100.0);
    case_set(&c, "pulse2.shape", 1.0);
    case_set(&c, "pulse2.duration", 80e-15);
    case_set(&c, "pulse2.energy", 4e-12);
    case_set(&c, "pulse2.wavelength", 900e-9);
    case_set(&c, "pulse2.phases.delay", delay);
    case_set(&c, "pulse3.shape", 2.0);
    case_set(&c, "pulse3.peak_power", 4.0);
    struct gnlse_planes p = case_run(&c);
    cplx *a = case_samples(p.field, p.n);
    const double peak = 4e-12 / (80e-15 * sqrt(PI / (4.0 * log(2.0))));
    for (long j = 0; j < p.n; j++) {
        const double t = p.t[j];
        const double x = (t - delay) / 80e-15;
        const double second = sqrt(peak) * exp(-2.0 * log(2.0) * x * x);
        const double first = 10.0 / cosh(2.0 * log(1.0 + sqrt(2.0)) * t / 1e-13);
        ck_assert_near(a[j].r, first + 2.0 + second * cos(detuning * t), 1e-6,
                       first + 2.00001 + second * cos(detuning * t),
                       "a background larger by 1e-5");
        ck_assert_near(a[j].i, second * sin(detuning * t), 1e-6,
                       second * sin(detuning * t) + 1e-5, "1e-5 more across");
    }
    free(a);
    planes_free(&p, &c);
}
END_TEST

/* Integral of h(t) sin(Omega t), by the trapezoid rule, which the smooth end of h suits. */
static double gain_integral(double Omega)
{
    const double scale = raman_silica_scale();
    const double dt = 2e-17;
    double sum = 0.0;
    for (long j = 1; j < 200000; j++)
        sum += dt * raman_silica_response(scale, dt * (double)j) * sin(Omega * dt * (double)j);
    return sum;
}

/* A weak wave below a strong one grows as exp(2 gamma P f z integral h sin(Omega t)), one above
 * it decays; dispersion keeps the two apart (Agrawal, Nonlinear Fiber Optics, chapter 8). */
START_TEST(the_vibrations_of_silica_amplify_a_stokes_wave)
{
    struct gnlse_case c;
    const long off = 53; /* bins: 441.9 1/cm, where the gain is greatest */
    const double Omega = 2.0 * PI * (double)off / 4e-12;
    const double gain = 2.0 * 0.1 * 10.0 * 0.18 * gain_integral(Omega);
    ck_assert_double_gt(gain, 0.3);
    for (int side = -1; side <= 1; side += 2) {
        case_init(&c);
        case_set(&c, "raman.model", 1.0);
        case_set(&c, "stepper.rtol", 1e-9);
        case_betas(&c, (const double[]){1e-25}, 1);
        case_set(&c, "pulse.shape", 2.0);
        case_unset(&c, "pulse.duration");
        case_set(&c, "pulse.peak_power", 10.0);
        case_set(&c, "pulse2.shape", 2.0);
        case_set(&c, "pulse2.peak_power", 1e-4);
        case_set(&c, "pulse2.wavelength", 2.0 * PI * C0 / (OMEGA0 + side * Omega));
        struct gnlse_planes p = case_run(&c);
        const long bin = side < 0 ? p.n - off : off;
        ck_assert_ratio(cplx_abs2(p.field[bin]), 1e-4, 1e-9, 1e-4 * (1.0 + 1e-8),
                        "a seed stronger by 1e-8");
        const double grown = log(cplx_abs2(p.field[p.n + bin]) / cplx_abs2(p.field[bin]));
        ck_assert_ratio(grown, -side * gain, 0.01, -side * gain * 1.02,
                        "a gain larger by a fiftieth");
        planes_free(&p, &c);
    }
}
END_TEST

START_TEST(further_pulses_are_checked_like_the_first)
{
    struct gnlse_case c;
    case_init(&c);
    case_set(&c, "pulse.peak_power", 1.0);
    case_set(&c, "pulse2.phases.delay", 1e-13);
    refuses(&c, "pulse2: neither of pulse2.energy and pulse2.peak_power");
    case_set(&c, "pulse2.energy", 1e-12);
    refuses(&c, "pulse2.duration is missing");
    case_set(&c, "pulse2.duration", 1e-13);
    case_set(&c, "pulse2.wavelength", 400e-9);
    refuses(&c, "pulse2.wavelength 4e-07 m lies outside of the band");
    case_set(&c, "pulse2.wavelength", 800e-9);
    case_set(&c, "pulse2.shape", 2.0);
    refuses(&c, "pulse2.duration belongs to a pulse; a continuous wave (cw) has none");
    case_clear(&c);
    ck_assert_int_eq(mem_live(), 0);
}
END_TEST

int main(void)
{
    if (isa_check() != 0)
        return ISA_SKIPPED;
    Suite *const suite = suite_create("gnlse pulses");
    TCase *const tests = tcase_create("pulses");
    tcase_set_timeout(tests, 60);
    tcase_add_test(tests, a_continuous_wave_turns_its_phase_alone);
    tcase_add_test(tests, several_pulses_add_up_to_their_formulas);
    tcase_add_test(tests, the_vibrations_of_silica_amplify_a_stokes_wave);
    tcase_add_test(tests, further_pulses_are_checked_like_the_first);
    suite_add_tcase(suite, tests);
    return unit_main(suite);
}
