/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Densities against published and independently computed ones. */
#include <math.h>
#include <string.h>

#include "kernels/base/status.h"
#include "kernels/models/pulse/eos.h"
#include "tests/exact.h"
#include "tests/perturb/near.h"
#include "tests/unit_main.h"

/* The references were made with the Avogadro constant of CODATA 2014. */
#define NA_RATIO (6.02214076e23 / 6.022140857e23)

static double density_of(enum eos_fluid fluid, double temperature, double pressure)
{
    struct eos_density d;
    ck_assert_int_eq(eos_density(fluid, temperature, pressure, &d), 0);
    return d.rho;
}

/* A density and how far from it is allowed. */
struct row {
    enum eos_fluid fluid;
    double temperature, pressure, want, tolerance;
};

START_TEST(densities_are_those_of_the_reference_program_to_the_tolerance_of_each)
{
    /* physics.md §9: REFPROP by way of Luna.jl's tests, bar to Pa. */
    static const struct row rows[] = {
        {EOS_AR, 294, 0.002e5, 4.927169444649429e22, 2e-15},
        {EOS_AR, 294, 0.02e5, 4.9272289924653735e23, 1e-14},
        {EOS_AR, 294, 2e5, 4.933761614600933e25, 1e-12},
        {EOS_AR, 294, 40e5, 1.0101579129300146e27, 3e-10},
        {EOS_AR, 294, 400e5, 9.270757850984163e27, 3e-10},
        {EOS_XE, 294, 2e5, 4.981603290885485e25, 1e-14},
        {EOS_XE, 294, 20e5, 5.5912074541820115e26, 1e-14},
        {EOS_XE, 294, 40e5, 1.3512153640360566e27, 1e-14},
        {EOS_XE, 294, 60e5, 3.218616771878294e27, 1e-13},
        {EOS_N2, 294, 2e5, 4.929427604602592e25, 6e-11},
        {EOS_N2, 294, 40e5, 9.909239438516337e26, 3e-10},
        {EOS_N2, 294, 400e5, 7.890787516580131e27, 1e-7},
        {EOS_H2, 294, 2e5, 4.921361734871252e25, 4e-13},
        {EOS_H2, 294, 40e5, 9.624525613497868e26, 4e-13},
        {EOS_H2, 294, 400e5, 7.840662987579036e27, 4e-13},
    };
    for (unsigned i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const struct row *const r = &rows[i];
        const double got = density_of(r->fluid, r->temperature, r->pressure);
        /* Two roundings of the constant's ratio on top. */
        ck_assert_ratio(got, r->want * NA_RATIO, r->tolerance + 4e-16,
                        density_of(r->fluid, r->temperature,
                                   r->pressure * (1.0 + 3.0 * r->tolerance + 1.2e-15)),
                        "a pressure larger by three tolerances");
    }
}
END_TEST

/* physics.md §2.3, printed to nine figures. */
static const struct {
    enum eos_fluid fluid;
    double bar_273, atm_273, bar_293; /* 1/m^3 */
    double second;                    /* virial coefficient B at 293.15 K, cm^3/mol */
    double third;                     /* C, cm^6/mol^2 */
    double excess[3];                 /* rho/rho_ideal - 1 at 1, 10, 40 bar, 293.15 K */
} table[] = {
    {EOS_HE,
     2.65025286e25,
     2.68535001e25,
     2.46953755e25,
     11.8651,
     107.7,
     {-4.865e-4, -4.839e-3, -1.901e-2}},
    {EOS_NE,
     2.65036660e25,
     2.68546678e25,
     2.46958140e25,
     11.4278,
     205.0,
     {-4.688e-4, -4.679e-3, -1.859e-2}},
    {EOS_AR,
     2.65410471e25,
     2.68930479e25,
     2.47240442e25,
     -16.5926,
     1076.0,
     {6.738e-4, 6.708e-3, 2.547e-2}},
    {EOS_KR,
     2.65886798e25,
     2.69419533e25,
     2.47609382e25,
     -52.7284,
     2469.6,
     {2.167e-3, 2.216e-2, 9.54e-2}},
    {EOS_XE,
     2.66967467e25,
     2.70529295e25,
     2.48436628e25,
     -133.183,
     4620.7,
     {5.515e-3, 6.05e-2, 0.378}},
    {EOS_N2,
     2.65282623e25,
     2.68799214e25,
     2.47131714e25,
     -5.9006,
     1426.3,
     {2.338e-4, 2.184e-3, 5.85e-3}},
    {EOS_H2,
     2.65001120e25,
     2.68510195e25,
     2.46927281e25,
     14.4396,
     279.3,
     {-5.936e-4, -5.903e-3, -2.34e-2}},
    {EOS_AIR,
     2.65320637e25,
     2.68838240e25,
     2.47164252e25,
     -9.1229,
     1830.6,
     {3.655e-4, 3.463e-3, 1.08e-2}},
    {EOS_O2,
     2.65422243e25,
     2.68942493e25,
     2.47249057e25,
     -16.9379,
     961.9,
     {7.087e-4, 6.893e-3, 2.64e-2}},
    {EOS_D2,
     2.65005785e25,
     2.68514979e25,
     2.46931108e25,
     14.0879,
     336.8,
     {-5.782e-4, -5.77e-3, -2.29e-2}},
};
#define TABLE (sizeof table / sizeof table[0])

START_TEST(densities_of_every_gas_at_one_bar_and_one_atmosphere_are_those_of_the_table)
{
    for (unsigned i = 0; i < TABLE; i++) {
        const double got[3] = {density_of(table[i].fluid, 273.15, 1e5),
                               density_of(table[i].fluid, 273.15, 101325.0),
                               density_of(table[i].fluid, 293.15, 1e5)};
        const double want[3] = {table[i].bar_273, table[i].atm_273, table[i].bar_293};
        for (int k = 0; k < 3; k++)
            ck_assert_ratio(got[k], want[k] * NA_RATIO, 3e-9, got[k] * (1.0 + 1e-8),
                            "a gas constant smaller by 1e-8");
    }
}
END_TEST

START_TEST(departures_from_the_ideal_gas_are_those_of_the_table)
{
    static const double bars[3] = {1.0, 10.0, 40.0};
    for (unsigned i = 0; i < TABLE; i++)
        for (int k = 0; k < 3; k++) {
            const double got = density_of(table[i].fluid, 293.15, bars[k] * 1e5)
                                   / eos_ideal(293.15, bars[k] * 1e5).rho
                               - 1.0;
            /* As many figures as the table prints; the constants of an ideal gas and those of
             * the publications agree to 2e-6. */
            const double digit =
                fabs(table[i].excess[k]) > 0.1 ? 6e-4 : 6e-3 * fabs(table[i].excess[k]);
            ck_assert_near(got, table[i].excess[k], digit,
                           (got + 1.0) * (1.0 + 2.0 * digit) - 1.0,
                           "a density larger by two digits");
        }
}
END_TEST

START_TEST(the_second_virial_coefficient_is_the_slope_at_zero_density)
{
    for (unsigned i = 0; i < TABLE; i++) {
        struct eos_density d;
        ck_assert_int_eq(eos_density(table[i].fluid, 293.15, 0.0, &d), 0);
        /* p/(rho k T) = 1 + B rho/NA + …, taken at two densities to remove the next term. */
        double b[2];
        for (int k = 0; k < 2; k++) {
            const double p = 1e4 * (k + 1);
            const double rho = density_of(table[i].fluid, 293.15, p);
            b[k] = (p * d.drhodp / rho - 1.0) / rho * 6.02214076e23 * 1e6;
        }
        ck_assert_near(2.0 * b[0] - b[1], table[i].second, 2e-3,
                       2.0 * (b[0] + 2e-8 * 8.314 * 293.15 / 1e4 * 1e6) - b[1],
                       "a density at 10 kPa smaller by 2e-8");
    }
}
END_TEST

START_TEST(the_third_virial_coefficient_is_the_curvature_at_zero_density)
{
    for (unsigned i = 0; i < TABLE; i++) {
        struct eos_density d;
        ck_assert_int_eq(eos_density(table[i].fluid, 293.15, 0.0, &d), 0);
        /* (p/(rho k T) - 1)/rho = B + C rho + …: Newton's divided differences at three
         * densities, the slope of their parabola at none. */
        double x[3];
        double y[3];
        for (int k = 0; k < 3; k++) {
            const double p = 3e4 * (k + 1);
            x[k] = density_of(table[i].fluid, 293.15, p) / 6.02214076e23 * 1e-6;
            y[k] = (p * d.drhodp / (x[k] * 6.02214076e29) - 1.0) / x[k];
        }
        const double first = (y[1] - y[0]) / (x[1] - x[0]);
        const double second = ((y[2] - y[1]) / (x[2] - x[1]) - first) / (x[2] - x[0]);
        ck_assert_ratio(first - second * (x[0] + x[1]), table[i].third, 5e-4,
                        table[i].third * 1.002, "two parts in a thousand more");
    }
}
END_TEST

START_TEST(the_slope_of_the_density_is_that_of_neighbouring_densities)
{
    for (int fluid = 0; fluid < EOS_COUNT; fluid++)
        for (double p = 1e4; p < 5e6; p *= 3.0) {
            struct eos_density d;
            ck_assert_int_eq(eos_density((enum eos_fluid)fluid, 293.15, p, &d), 0);
            const double h = 1e-4 * p;
            const double slope = (density_of((enum eos_fluid)fluid, 293.15, p + h)
                                  - density_of((enum eos_fluid)fluid, 293.15, p - h))
                                 / (2.0 * h);
            ck_assert_ratio(d.drhodp, slope, 1e-6, slope * (1.0 + 1e-5),
                            "a step of the pressure smaller by 1e-5");
        }
}
END_TEST

START_TEST(no_pressure_is_no_gas_and_a_little_is_an_ideal_one)
{
    struct eos_density d;
    for (int fluid = 0; fluid < EOS_COUNT; fluid++) {
        ck_assert_int_eq(eos_density((enum eos_fluid)fluid, 293.15, 0.0, &d), 0);
        ck_assert_exactly(d.rho, 0.0);
        const struct eos_density ideal = eos_ideal(293.15, 1.0);
        /* Gas constants of older publications differ by up to 2e-5. */
        ck_assert_ratio(d.drhodp, ideal.drhodp, 2e-5, eos_ideal(293.17, 1.0).drhodp,
                        "a temperature higher by 0.02 K");
        ck_assert_ratio(density_of((enum eos_fluid)fluid, 293.15, 1.0), ideal.rho, 2e-5,
                        eos_ideal(293.17, 1.0).rho, "a temperature higher by 0.02 K");
    }
}
END_TEST

START_TEST(gases_boil_at_their_boiling_points)
{
    /* Normal boiling points of the publications named in eos.def, K; 1 mK is about 1e-4 of the
     * pressure. */
    static const struct {
        enum eos_fluid fluid;
        double temperature;
    } points[] = {{EOS_AR, 87.3021}, {EOS_N2, 77.3550}, {EOS_O2, 90.1878}, {EOS_H2, 20.369}};
    for (unsigned i = 0; i < sizeof points / sizeof points[0]; i++) {
        double pressure = 0.0;
        ck_assert_int_eq(eos_saturation(points[i].fluid, points[i].temperature, &pressure), 0);
        ck_assert_ratio(pressure, 101325.0, 4e-4, pressure * 1.001,
                        "a pressure of 1.001 of it");
    }
    double pressure = 0.0;
    ck_assert_int_eq(eos_saturation(EOS_XE, 293.15, &pressure), 0);
    ck_assert(isinf(pressure));
}
END_TEST

/* The error line of a density that must be refused. */
static void refuses(enum eos_fluid fluid, double temperature, double pressure, const char *word)
{
    char text[256] = "";
    struct eos_density d;
    status_capture(text, sizeof text);
    const int code = eos_density(fluid, temperature, pressure, &d);
    status_capture(NULL, 0);
    ck_assert_int_eq(code, ERR_ARGUMENT);
    ck_assert_msg(strstr(text, word) != NULL, "%s lacks %s", text, word);
}

START_TEST(what_the_equation_does_not_hold_for_is_refused_with_value_and_limit)
{
    refuses(EOS_KR, 293.15, 3e8,
            "3e+08 Pa is outside the equation of state of Kr, 0 Pa to 2e+08");
    refuses(EOS_O2, 310.0, 1e5,
            "310 K is outside the equation of state of O2, 54.361 K to 300");
    refuses(EOS_AR, 293.15, -1.0, "-1 Pa");
    refuses(EOS_AR, 293.15, (double)NAN, "nan Pa");
    refuses(EOS_XE, 280.0, 6e6, "it is a liquid");
    /* Just below the boiling point's pressure it is a gas. */
    ck_assert_double_gt(density_of(EOS_AR, 87.3021, 101325.0 * 0.999), 0.0);
    refuses(EOS_AR, 87.3021, 101325.0 * 1.001, "Ar at 87.3021 K is a gas up to 1013");
}
END_TEST

START_TEST(an_ideal_gas_has_one_amagat_at_one_atmosphere_and_the_ice_point)
{
    const struct eos_density d = eos_ideal(273.15, 101325.0);
    ck_assert_ratio(d.rho, 2.686780111e25, 1e-9, 2.68678e25,
                    "six figures of it"); /* CODATA 2018 */
    ck_assert_rounding(d.drhodp * 101325.0, d.rho, 1e-15);
    /* physics.md §2.3, seven figures. */
    ck_assert_ratio(eos_ideal(273.15, 1e5).rho, 2.651646e25, 1e-6, eos_ideal(273.151, 1e5).rho,
                    "a temperature higher by 1 mK");
    ck_assert_str_eq(eos_name(EOS_AIR), "Air");
    ck_assert(strstr(eos_source(EOS_XE), "Lemmon") != NULL);
}
END_TEST

int main(void)
{
    Suite *const suite = suite_create("equations of state");
    TCase *const tests = tcase_create("densities");
    tcase_add_test(tests,
                   densities_are_those_of_the_reference_program_to_the_tolerance_of_each);
    tcase_add_test(tests,
                   densities_of_every_gas_at_one_bar_and_one_atmosphere_are_those_of_the_table);
    tcase_add_test(tests, departures_from_the_ideal_gas_are_those_of_the_table);
    tcase_add_test(tests, the_second_virial_coefficient_is_the_slope_at_zero_density);
    tcase_add_test(tests, the_third_virial_coefficient_is_the_curvature_at_zero_density);
    tcase_add_test(tests, the_slope_of_the_density_is_that_of_neighbouring_densities);
    tcase_add_test(tests, no_pressure_is_no_gas_and_a_little_is_an_ideal_one);
    tcase_add_test(tests, gases_boil_at_their_boiling_points);
    tcase_add_test(tests, what_the_equation_does_not_hold_for_is_refused_with_value_and_limit);
    tcase_add_test(tests, an_ideal_gas_has_one_amagat_at_one_atmosphere_and_the_ice_point);
    suite_add_tcase(suite, tests);
    return unit_main(suite);
}
