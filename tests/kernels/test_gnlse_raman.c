/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Raman self-frequency shift of model gnlse. */
#include <math.h>

#include "tests/kernels/gnlse_case.h"
#include "tests/unit_main.h"

#define PI 3.14159265358979323846
#define C0 299792458.0

/* Two independent programs agree on these numbers (physics.md §9, §11): soliton of 10 fs over
 * 90 dispersion lengths, duration 1.763 T0, Raman of silica, no self-steepening. */
START_TEST(raman_shifts_a_soliton_to_the_published_frequency_and_time)
{
    struct gnlse_case c;
    case_init(&c);
    const double t0 = 10e-15;
    const double fraction = 0.18;
    case_raman(&c);
    case_betas(&c, (const double[]){-1e-26}, 1);
    case_set(&c, "raman.fraction", fraction);
    case_set(&c, "length", PI / 2.0 * 90.0 * t0 * t0 / 1e-26);
    case_set(&c, "pulse.duration", 1.763 * t0);
    case_set(&c, "pulse.peak_power", 1e-26 / ((1.0 - fraction) * 0.1 * t0 * t0));
    /* Sampling of a band from 450 nm, raised by 10 %, around 835 nm: dt = 1.3376 fs. */
    const double dt = 0.5 / (1.1 * C0 / 450e-9 - C0 / 835e-9);
    case_set(&c, "grid.points", 16384.0);
    case_set(&c, "grid.window", 16384.0 * dt);
    struct gnlse_planes p = case_run(&c);
    ck_assert_int_eq(p.planes, 2);
    long top = 0;
    for (long k = 0; k < p.n; k++)
        if (cplx_abs2(p.field[p.n + k]) > cplx_abs2(p.field[p.n + top]))
            top = k;
    const double bin = p.Omega[1];
    ck_assert_double_lt(fabs(p.omega[top] - 1.3975031072069625e15), bin / 2.0);
    ck_assert_double_lt(fabs(p.observable[1][4] - 6.079566076444579e-12), dt / 2.0);
    planes_free(&p, &c);
}
END_TEST

int main(void)
{
    Suite *const suite = suite_create("gnlse Raman");
    TCase *const tests = tcase_create("raman");
    tcase_set_timeout(tests, 100);
    tcase_add_test(tests, raman_shifts_a_soliton_to_the_published_frequency_and_time);
    suite_add_tcase(suite, tests);
    return unit_main(suite);
}
