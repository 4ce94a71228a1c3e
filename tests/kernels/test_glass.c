/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Glasses against published and independently computed indices. */
#include <math.h>
#include <string.h>

#include "kernels/base/mem.h"
#include "kernels/base/status.h"
#include "kernels/models/pulse/atomic.h"
#include "kernels/models/pulse/glass.h"
#include "tests/exact.h"
#include "tests/perturb/near.h"
#include "tests/unit_main.h"

static double omega_at(double wavelength)
{
    return 2.0 * PULSE_PI * PULSE_C / wavelength;
}

static struct glass glass_of(enum glass_kind kind)
{
    struct glass g;
    ck_assert_int_eq(glass_init(&g, kind, (cplx){1.45, 0.0}), 0);
    return g;
}

/* Second derivative of omega n/c, s^2/m. */
static double beta2(const struct glass *g, double wavelength)
{
    const struct taylor w = taylor_variable(2, omega_at(wavelength));
    const struct taylor beta =
        taylor_scale(1.0 / PULSE_C, taylor_mul(w, glass_index(g, w.c[0].r, 2)));
    return taylor_derivative(&beta, 2).r;
}

START_TEST(formulas_have_the_indices_and_dispersions_of_the_reference)
{
    /* physics.md §9; BK7: there in fs^2/mm. */
    struct glass g = glass_of(GLASS_SILICA);
    ck_assert_rounding(glass_index(&g, omega_at(800e-9), 0).c[0].r, 1.4533172548587419, 7e-14);
    ck_assert_rounding(glass_index(&g, omega_at(400e-9), 0).c[0].r, 1.4701161185594052, 7e-14);
    ck_assert_ratio(beta2(&g, 800e-9), 3.61619983e-26, 2e-9, beta2(&g, 800e-9 * (1.0 - 5e-9)),
                    "a wavelength shorter by 5e-9");
    glass_clear(&g);
    g = glass_of(GLASS_BK7);
    ck_assert_ratio(beta2(&g, 400e-9), 122.03632107e-27, 1e-9, beta2(&g, 400e-9 * (1.0 - 5e-9)),
                    "a wavelength shorter by 5e-9");
    glass_clear(&g);
    /* n_d at 587.56 nm: Schott N-BK7 data sheet 1.51680; CaF2 1.43385 (Daimon and Masumura,
     * Appl. Opt. 41, 5275, 2002); MgF2, ordinary, 1.37774 (Dodge, Appl. Opt. 23, 1980, 1984).
     */
    static const struct {
        enum glass_kind kind;
        double n;
    } rows[] = {{GLASS_BK7, 1.51680}, {GLASS_CAF2, 1.43385}, {GLASS_MGF2, 1.37774}};
    for (unsigned i = 0; i < 3; i++) {
        g = glass_of(rows[i].kind);
        ck_assert_near(glass_index(&g, omega_at(587.56e-9), 0).c[0].r, rows[i].n, 1e-4,
                       glass_index(&g, omega_at(577.56e-9), 0).c[0].r, "a line 10 nm away");
        glass_clear(&g);
    }
}
END_TEST

/* Frequency of a photon, rad/s. */
static double omega_of(double ev)
{
    return ev * PULSE_E / PULSE_HBAR;
}

START_TEST(the_silica_table_has_its_points_and_never_amplifies)
{
    struct glass g = glass_of(GLASS_SILICA_TABLE);
    static const double rows[][3] = {{6.0, 1.543, 0.0},
                                     {1.455, 1.45248, 0.0},
                                     {0.91018, 1.44621, 0.0},
                                     {121.6, 0.9865, 0.0085}};
    for (unsigned i = 0; i < 4; i++) {
        const cplx n = glass_index(&g, omega_of(rows[i][0]), 0).c[0];
        ck_assert_near(n.r, rows[i][1], 1e-8,
                       glass_index(&g, omega_of(rows[i][0] * 1.000001), 0).c[0].r,
                       "a photon energy larger by 1e-6");
        if (rows[i][2] > 0.0)
            ck_assert_near(n.i, rows[i][2], 1e-8,
                           glass_index(&g, omega_of(rows[i][0] * 1.000001), 0).c[0].i,
                           "a photon energy larger by 1e-6");
    }
    /* Between the points the spline of k would dip below zero. */
    long dark = 0;
    for (double ev = 0.062; ev < 1990.0; ev *= 1.0007) {
        const struct taylor n = glass_index(&g, omega_of(ev), 1);
        ck_assert_double_ge(n.c[0].i, 0.0);
        dark += is_zero(n.c[0].i) && is_zero(n.c[1].i);
    }
    ck_assert_int_gt(dark, 100);
    /* Where silica is transparent the table is the formula to the figures it is given in. */
    struct glass formula = glass_of(GLASS_SILICA);
    for (double wavelength = 300e-9; wavelength < 2e-6; wavelength += 50e-9)
        ck_assert_near(glass_index(&g, omega_at(wavelength), 0).c[0].r,
                       glass_index(&formula, omega_at(wavelength), 0).c[0].r, 2e-3,
                       glass_index(&g, omega_at(wavelength), 0).c[0].r + 5e-3,
                       "an index larger by 5e-3");
    glass_clear(&formula);
    glass_clear(&g);
    ck_assert_int_eq(mem_live(), 0);
}
END_TEST

START_TEST(derivatives_of_the_table_are_those_of_its_cubics)
{
    struct glass g = glass_of(GLASS_SILICA_TABLE);
    const double w = omega_at(801e-9);
    const double h = 1e-5 * w;
    const struct taylor n = glass_index(&g, w, 2);
    const double up = glass_index(&g, w + h, 0).c[0].r;
    const double down = glass_index(&g, w - h, 0).c[0].r;
    ck_assert_ratio((up - down) / (2.0 * h), taylor_derivative(&n, 1).r, 1e-7,
                    (up - down) / (2.0 * h) * (1.0 + 1e-6), "a step smaller by 1e-6");
    glass_clear(&g);
}
END_TEST

START_TEST(a_constant_index_has_no_derivatives)
{
    struct glass g;
    ck_assert_int_eq(glass_init(&g, GLASS_CONSTANT, (cplx){0.036759, 5.5698}), 0);
    const struct taylor n = glass_index(&g, 1e15, TAYLOR_ORDER);
    ck_assert(exactly(n.c[0].r, 0.036759) && exactly(n.c[0].i, 5.5698));
    for (int k = 1; k <= TAYLOR_ORDER; k++)
        ck_assert(exactly(n.c[k].r, 0.0) && exactly(n.c[k].i, 0.0));
    ck_assert_int_eq(glass_check_band(&g, 1e-9, 1.0), 0);
}
END_TEST

START_TEST(walls_that_do_not_guide_and_bands_that_are_not_known_are_refused)
{
    char text[256] = "";
    struct glass g;
    static const cplx bad[] = {{1.0, 0.0}, {-1.5, 0.0}, {1.45, -0.1}, {(double)NAN, 0.0}};
    for (unsigned i = 0; i < 4; i++) {
        status_capture(text, sizeof text);
        ck_assert_int_eq(glass_init(&g, GLASS_CONSTANT, bad[i]), ERR_ARGUMENT);
        status_capture(NULL, 0);
        ck_assert(strstr(text, "guide.wall: index") != NULL);
    }
    g = glass_of(GLASS_SILICA);
    ck_assert_int_eq(glass_check_band(&g, 120e-9, 4e-6), 0);
    status_capture(text, sizeof text);
    ck_assert_int_eq(glass_check_band(&g, 90e-9, 4e-6), ERR_ARGUMENT);
    status_capture(NULL, 0);
    ck_assert(strstr(text, "resonances at 1.16241e-07 m and 9.89616e-06 m") != NULL);
    ck_assert(strstr(text, "from 9e-08 m") != NULL);
    g = glass_of(GLASS_SILICA_TABLE);
    ck_assert_int_eq(glass_check_band(&g, 80e-9, 4e-6), 0);
    status_capture(text, sizeof text);
    ck_assert_int_eq(glass_check_band(&g, 80e-9, 40e-6), ERR_ARGUMENT);
    status_capture(NULL, 0);
    glass_clear(&g);
    glass_clear(&g);
    ck_assert_int_eq(mem_live(), 0);
}
END_TEST

int main(void)
{
    Suite *const suite = suite_create("glasses");
    TCase *const tests = tcase_create("glasses");
    tcase_add_test(tests, formulas_have_the_indices_and_dispersions_of_the_reference);
    tcase_add_test(tests, the_silica_table_has_its_points_and_never_amplifies);
    tcase_add_test(tests, derivatives_of_the_table_are_those_of_its_cubics);
    tcase_add_test(tests, a_constant_index_has_no_derivatives);
    tcase_add_test(tests, walls_that_do_not_guide_and_bands_that_are_not_known_are_refused);
    suite_add_tcase(suite, tests);
    return unit_main(suite);
}
