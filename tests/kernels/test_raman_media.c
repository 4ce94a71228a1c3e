/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Raman responses of molecules and of silica. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/base/status.h"
#include "kernels/models/pulse/atomic.h"
#include "kernels/models/pulse/grid.h"
#include "kernels/models/pulse/raman_gas.h"
#include "kernels/models/pulse/raman_silica.h"
#include "kernels/numeric/quadrature.h"
#include "tests/exact.h"
#include "tests/perturb/near.h"
#include "tests/unit_main.h"

static struct raman_lines lines_of(enum gas gas, double amagat)
{
    struct raman_lines lines;
    ck_assert_int_eq(raman_gas_lines(gas, 293.15, amagat * PULSE_AMAGAT, &lines), 0);
    return lines;
}

START_TEST(rotational_strengths_are_those_by_hand)
{
    /* K_J and Omega_J/2 pi of the strongest line and K_0, from the formulas of physics.md §4 in
     * a separate program; the sum of K/Omega is int h. */
    static const struct {
        enum gas gas;
        int count, strongest;
        double shift, strength, first, integral; /* shift in THz */
    } rows[] = {
        {GAS_N2, 49, 8, 2.265840456, 6.624493584e-50, 3.4586024e-51, 4.485404583e-62},
        {GAS_H2, 23, 1, 17.44792106, 3.504113666e-49, 1.007854125e-49, 5.293570066e-63},
        {GAS_D2, 25, 2, 12.06832527, 1.594137348e-49, 9.796156578e-50, 7.55361175e-63},
        {GAS_N2O, 49, 21, 1.10623417, 1.836920167e-49, 1.999101133e-51, 7.996435494e-61},
    };
    for (unsigned i = 0; i < 4; i++) {
        const struct raman_lines lines = lines_of(rows[i].gas, 1.0);
        int strongest = 0;
        double integral = 0.0;
        for (int j = 0; j < rows[i].count; j++) {
            if (lines.line[j].strength > lines.line[strongest].strength)
                strongest = j;
            integral += lines.line[j].strength / lines.line[j].omega;
        }
        ck_assert_int_ge(lines.count, rows[i].count);
        ck_assert_int_eq(strongest, rows[i].strongest);
        const struct raman_line *const k = &lines.line[strongest];
        ck_assert_ratio(k->omega / (2.0 * PULSE_PI), rows[i].shift * 1e12, 1e-9,
                        rows[i].shift * 1e12 * (1.0 + 1e-8),
                        "a rotational constant larger by 1e-8");
        ck_assert_ratio(k->strength, rows[i].strength, 1e-9, rows[i].strength * (1.0 + 1e-8),
                        "a polarisability that makes it larger by 1e-8");
        ck_assert_ratio(lines.line[0].strength, rows[i].first, 1e-9,
                        rows[i].first * (1.0 + 1e-8),
                        "a polarisability that makes it larger by 1e-8");
        ck_assert_ratio(integral, rows[i].integral, 1e-9, rows[i].integral * (1.0 + 1e-8),
                        "a polarisability that makes it larger by 1e-8");
    }
}
END_TEST

START_TEST(vibrational_strengths_are_those_by_hand)
{
    /* (4 pi eps0)^2 (d alpha/dQ)^2/(4 mu Omega), and the shift in 1/cm. */
    static const struct {
        enum gas gas;
        double strength, shift;
    } rows[] = {{GAS_N2, 1.857042627e-49, 2330.0},
                {GAS_H2, 7.986393108e-49, 124.5669e12 / 29979245800.0},
                {GAS_D2, 6.447612164e-49, 2987.0},
                {GAS_CH4, 1.457649336e-48, 2914.0},
                {GAS_SF6, 6.100286086e-49, 775.0}};
    for (unsigned i = 0; i < 5; i++) {
        const struct raman_lines lines = lines_of(rows[i].gas, 1.0);
        const struct raman_line *const k = &lines.line[lines.count - 1];
        ck_assert_ratio(k->strength, rows[i].strength, 1e-9, rows[i].strength * (1.0 + 1e-8),
                        "a polarisability that makes it larger by 1e-8");
        ck_assert_rounding(k->omega / (200.0 * PULSE_PI * PULSE_C), rows[i].shift, 1e-12);
    }
    ck_assert_int_eq(lines_of(GAS_CH4, 1.0).count, 1);
    ck_assert_int_eq(lines_of(GAS_SF6, 1.0).count, 1);
}
END_TEST

/* Frequency of largest gain -Im H in [low, high], rad/s. */
static double gain_maximum(const struct raman_lines *lines, double low, double high)
{
    double best = low;
    double most = -1.0;
    for (int pass = 0; pass < 4; pass++) {
        const double step = (high - low) / 4000.0;
        for (int i = 0; i <= 4000; i++) {
            const double gain = -raman_lines_transfer(lines, low + i * step).i;
            if (gain > most) {
                most = gain;
                best = low + i * step;
            }
        }
        low = best - 4.0 * step;
        high = best + 4.0 * step;
    }
    return best;
}

START_TEST(gain_is_largest_at_the_vibration_of_nitrogen_and_hydrogen)
{
    /* physics.md §9, 1e-4. */
    static const enum gas gases[] = {GAS_N2, GAS_H2};
    for (int g = 0; g < 2; g++) {
        const struct raman_lines lines = lines_of(gases[g], 1.0);
        const double vibration = lines.line[lines.count - 1].omega;
        const double step = 2.0 * PULSE_PI * 0.5e12;
        ck_assert_ratio(gain_maximum(&lines, vibration - step, vibration + step), vibration,
                        1e-4, vibration * 1.0003, "a vibration higher by 3e-4");
    }
}
END_TEST

START_TEST(the_rotational_gain_of_hydrogen_is_largest_at_17_45_terahertz)
{
    const struct raman_lines lines = lines_of(GAS_H2, 1.0);
    const double at = gain_maximum(&lines, 2.0 * PULSE_PI * 5e12, 2.0 * PULSE_PI * 40e12);
    ck_assert_near(at / (2.0 * PULSE_PI), 17.45e12, 0.005e12, 17.44e12,
                   "the next decimal"); /* two decimals */
    ck_assert_ratio(at, lines.line[1].omega, 1e-6, lines.line[1].omega * (1.0 + 1e-5),
                    "a line higher by 1e-5");
}
END_TEST

START_TEST(linewidths_follow_the_density)
{
    /* 1/(pi tau) of H2's vibration, Hz: 309e6/d + 52.2e6 d; of CH4: 8220e6 + 384e6 d. */
    static const double amagat[] = {0.1, 1.0, 20.0};
    for (int i = 0; i < 3; i++) {
        const double d = amagat[i];
        const struct raman_lines h2 = lines_of(GAS_H2, d);
        const struct raman_lines ch4 = lines_of(GAS_CH4, d);
        ck_assert_rounding(1.0 / (PULSE_PI * h2.line[h2.count - 1].tau), 309e6 / d + 52.2e6 * d,
                           1e-12);
        ck_assert_rounding(1.0 / (PULSE_PI * h2.line[0].tau), 6.15e6 / d + 114e6 * d, 1e-12);
        ck_assert_rounding(1.0 / (PULSE_PI * ch4.line[0].tau), 8220e6 + 384e6 * d, 1e-12);
        ck_assert_exactly(lines_of(GAS_N2O, d).line[0].tau, 23.8e-12);
    }
    /* Those of N2, D2 and SF6, physics.md §2.7: Hz an amagat, Hz times amagat, or a time. */
    static const struct {
        enum gas gas;
        bool vibration;
        double rise, fall;
    } rows[] = {{GAS_N2, false, 3.3e9, 0.0},
                {GAS_D2, false, 0.4 * PULSE_C, 0.0},
                {GAS_D2, true, 120e6, 101e6}};
    for (int i = 0; i < 3; i++) {
        const struct raman_lines lines = lines_of(rows[i].gas, 3.0);
        const struct raman_line *const k = &lines.line[rows[i].vibration ? lines.count - 1 : 0];
        ck_assert_rounding(1.0 / (PULSE_PI * k->tau), 3.0 * rows[i].rise + rows[i].fall / 3.0,
                           1e-12);
    }
    const struct raman_lines n2 = lines_of(GAS_N2, 3.0);
    ck_assert_rounding(n2.line[n2.count - 1].tau, 6e-12, 1e-12);
    ck_assert_rounding(lines_of(GAS_SF6, 3.0).line[0].tau, 6.6e-12, 1e-12);
    /* No gas, no lines: a gradient may end in vacuum. */
    ck_assert_int_eq(lines_of(GAS_H2, 0.0).count, 0);
}
END_TEST

START_TEST(the_transfer_is_the_transform_of_the_response)
{
    /* CH4 decays to 1e-11 within 0.8 ns; a panel holds less than a period. */
    const struct raman_lines lines = lines_of(GAS_CH4, 5.0);
    struct quadrature q;
    quadrature_legendre(&q, 20);
    static const double omegas[] = {0.0, 2e14, 5.4e14, 5.49e14};
    for (int w = 0; w < 4; w++) {
        cplx sum = cplx_make(0.0, 0.0);
        const double panel = 8e-15;
        for (long k = 0; panel * (double)k < 0.8e-9; k++)
            for (int i = 0; i < q.n; i++) {
                const double t = panel * ((double)k + q.node[i]);
                const double h = panel * q.weight[i] * raman_lines_response(&lines, t);
                sum = cplx_add(sum, cplx_make(h * cos(omegas[w] * t), -h * sin(omegas[w] * t)));
            }
        const cplx want = raman_lines_transfer(&lines, omegas[w]);
        ck_assert_norm(sqrt(cplx_abs2(cplx_sub(sum, want)) / cplx_abs2(want)), 1e-9);
    }
    ck_assert_exactly(raman_lines_response(&lines, -1e-15), 0.0);
}
END_TEST

START_TEST(samples_are_the_response_times_the_step_under_a_taper)
{
    enum { N = 1000 };
    double h[N];
    const struct raman_lines lines = lines_of(GAS_H2, 1.0);
    raman_lines_sample(&lines, 1e-15, N, h);
    double slope = 0.0;
    for (int i = 0; i < lines.count; i++)
        slope += lines.line[i].strength * lines.line[i].omega;
    ck_assert_rounding(h[0], 1e-30 / 12.0 * slope, 1e-14);
    for (int j = 1; j < N; j++) {
        const double plain = 1e-15 * raman_lines_response(&lines, 1e-15 * j);
        if (j <= 700)
            ck_assert_exactly(h[j], plain);
        else
            ck_assert_norm(fabs(h[j]), fabs(plain));
    }
    ck_assert_norm(fabs(h[N - 1]), 1e-100 * fabs(h[1]));
}
END_TEST

START_TEST(the_sum_of_the_samples_is_the_transfer_to_the_fourth_order)
{
    /* SF6 decays in 6.6 ps, to 1e-9 where the taper begins. A trapezoid alone lacks (Omega
     * dt)^2/12, 1.8e-3 here. */
    enum { N = 200000 };
    const double dt = 1e-15;
    const struct raman_lines lines = lines_of(GAS_SF6, 1.0);
    const struct raman_line *const k = &lines.line[0];
    double *const h = malloc(N * sizeof *h);
    raman_lines_sample(&lines, dt, N, h);
    static const double omegas[] = {0.0, 0.7e14, 1.3e14, 2e14, 4e14};
    for (int w = 0; w < 5; w++) {
        const double omega = omegas[w];
        cplx sum = cplx_make(0.0, 0.0);
        for (long j = 0; j < N; j++) {
            const double angle = fmod(omega * dt * (double)j, 2.0 * PULSE_PI);
            sum = cplx_add(sum, cplx_make(h[j] * cos(angle), -h[j] * sin(angle)));
        }
        const cplx want = raman_lines_transfer(&lines, omega);
        /* The third derivative of h exp(-i omega t) at 0: K Omega (3 rate^2 - Omega^2 - 3
         * omega^2 + 6 i omega rate) */
        const double rate = 1.0 / k->tau;
        const cplx third = cplx_make(
            k->omega * (3.0 * rate * rate - k->omega * k->omega - 3.0 * omega * omega),
            6.0 * omega * k->omega * rate);
        const double left = pow(dt, 4) / 720.0 * k->strength * sqrt(cplx_abs2(third));
        const double size = sqrt(cplx_abs2(want));
        const double error = sqrt(cplx_abs2(cplx_sub(sum, want)));
        ck_assert_norm(error, 1.1 * left + 2e-9 * size);
        ck_assert_norm(left, 1e-4 * size);
    }
    free(h);
}
END_TEST

START_TEST(atoms_and_gases_of_incomplete_data_are_refused)
{
    static const struct {
        enum gas gas;
        const char *word;
    } rows[] = {{GAS_HE, "He has no Raman response; use raman: none or auto"},
                {GAS_AR, "Ar has no Raman response"},
                {GAS_AIR, "Air has no Raman response"},
                {GAS_O2, "linewidths of O2 are not known here"}};
    for (unsigned i = 0; i < 4; i++) {
        char text[200] = "";
        struct raman_lines lines;
        status_capture(text, sizeof text);
        ck_assert_int_eq(raman_gas_lines(rows[i].gas, 293.15, 1e25, &lines), ERR_UNSUPPORTED);
        status_capture(NULL, 0);
        ck_assert_msg(strstr(text, rows[i].word) != NULL, "%s", text);
        ck_assert(!raman_gas_has(rows[i].gas));
        ck_assert_int_eq(lines.count, 0);
    }
    static const enum gas on[] = {GAS_N2, GAS_H2, GAS_D2, GAS_N2O, GAS_CH4, GAS_SF6};
    for (int i = 0; i < 6; i++)
        ck_assert(raman_gas_has(on[i]));
}
END_TEST

START_TEST(silica_has_an_integral_of_one_and_the_values_of_its_formula)
{
    /* From the formula of physics.md §2.7 by a separate program; its trapezoid of 5 as is right
     * to 1e-8. */
    const double scale = raman_silica_scale();
    ck_assert_ratio(scale, 266482849392.0, 2e-8, 266482849392.0 * (1.0 + 5e-8),
                    "an integral smaller by 5e-8");
    static const double rows[][2] = {{5e-15, 2.21462023955e+13},
                                     {12e-15, 4.1152740312e+13},
                                     {40e-15, 6.53980027288e+12},
                                     {100e-15, 7.25679463334e+12},
                                     {1e-12, -77278897230.1}};
    for (int i = 0; i < 5; i++)
        ck_assert_ratio(raman_silica_response(scale, rows[i][0]), rows[i][1], 2e-8,
                        raman_silica_response(scale * (1.0 + 5e-8), rows[i][0]),
                        "a scale larger by 5e-8");
    ck_assert_exactly(raman_silica_response(scale, -1e-15), 0.0);
    /* Plain sums of a finer and a coarser step agree on 1. */
    for (int n = 1; n <= 2; n++) {
        double sum = 0.0;
        const double dt = 1e-16 * n;
        for (long j = 0; dt * (double)j < 10e-12; j++)
            sum += dt * raman_silica_response(scale, dt * (double)j);
        ck_assert_near(sum, 1.0, 1e-4 * n * n, sum + 3e-4 * n * n, "a sample of 3e-4 too many");
    }
}
END_TEST

START_TEST(silica_has_its_largest_gain_at_13_2_terahertz)
{
    /* Hollenbeck and Cantrell, Fig. 1: 440 1/cm. */
    const double scale = raman_silica_scale();
    double best = 0.0;
    double most = 0.0;
    for (double f = 1e12; f < 30e12; f += 0.1e12) {
        double gain = 0.0;
        for (long j = 0; j < 6000; j++)
            gain += raman_silica_response(scale, 1e-15 * (double)j)
                    * sin(2e-15 * PULSE_PI * f * (double)j);
        if (gain > most) {
            most = gain;
            best = f;
        }
    }
    ck_assert_near(best, 13.2e12, 0.15e12, best + 0.4e12, "a peak 0.4 THz higher");
}
END_TEST

int main(void)
{
    Suite *const suite = suite_create("Raman media");
    TCase *const tests = tcase_create("responses");
    tcase_add_test(tests, rotational_strengths_are_those_by_hand);
    tcase_add_test(tests, vibrational_strengths_are_those_by_hand);
    tcase_add_test(tests, gain_is_largest_at_the_vibration_of_nitrogen_and_hydrogen);
    tcase_add_test(tests, the_rotational_gain_of_hydrogen_is_largest_at_17_45_terahertz);
    tcase_add_test(tests, linewidths_follow_the_density);
    tcase_add_test(tests, the_transfer_is_the_transform_of_the_response);
    tcase_add_test(tests, samples_are_the_response_times_the_step_under_a_taper);
    tcase_add_test(tests, the_sum_of_the_samples_is_the_transfer_to_the_fourth_order);
    tcase_add_test(tests, atoms_and_gases_of_incomplete_data_are_refused);
    tcase_add_test(tests, silica_has_an_integral_of_one_and_the_values_of_its_formula);
    tcase_add_test(tests, silica_has_its_largest_gain_at_13_2_terahertz);
    suite_add_tcase(suite, tests);
    return unit_main(suite);
}
