/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Pressure gradients and tapers against closed forms and quadrature. */
#include <math.h>
#include <string.h>

#include "kernels/base/mem.h"
#include "kernels/base/status.h"
#include "kernels/contract/bounds.h"
#include "kernels/contract/compare.h"
#include "kernels/models/pulse/atomic.h"
#include "kernels/models/pulse/gradient.h"
#include "kernels/numeric/quadrature.h"
#include "tests/exact.h"
#include "tests/perturb/near.h"
#include "tests/unit_main.h"

static const struct gradient_points tube = {1, {0.0}, {125e-6}};

static struct mixture filling(enum gas gas, enum density_model model)
{
    const struct mixture_request request = {
        .count = 1, .gas = {gas}, .fraction = {1.0}, .model = model, .temperature = 293.15};
    struct mixture m;
    ck_assert_int_eq(mixture_init(&m, &request), 0);
    return m;
}

static struct gradient gradient_of(const struct gradient_points *pressure,
                                   const struct mixture *gas)
{
    struct gradient g;
    ck_assert_int_eq(gradient_init(&g, pressure, &tube, gas), 0);
    return g;
}

static struct gradient_values read_one(const struct gradient *g, double anchor, double dz)
{
    struct gradient_values v;
    gradient_read(g, anchor, &dz, 1, &v);
    return v;
}

START_TEST(pressures_follow_the_law_of_each_interval)
{
    /* physics.md §9: Z = 0, .25, .5, 1, P = 0, 1, .5, 0; here in bar. */
    const struct gradient_points points = {4, {0, 0.25, 0.5, 1.0}, {0, 1e5, 0.5e5, 0}};
    const struct mixture gas = filling(GAS_HE, DENSITY_HELMHOLTZ);
    struct gradient g = gradient_of(&points, &gas);
    for (int i = -20; i <= 120; i++) {
        const double z = i / 100.0;
        double want = 0.0;
        for (int k = 0; k < 3; k++)
            if (z > points.z[k] && z <= points.z[k + 1]) {
                const double a = points.value[k];
                const double b = points.value[k + 1];
                const double share = (z - points.z[k]) / (points.z[k + 1] - points.z[k]);
                want = sqrt(fmax(a * a + share * (b * b - a * a), 0.0));
            }
        /* From below as from the point itself. */
        ck_assert_near(read_one(&g, z, 0.0).pressure, want, 1e-10 * 1e5, want + 1e-4,
                       "1e-4 Pa more");
        ck_assert_near(read_one(&g, -0.25, z + 0.25).pressure, want, 1e-7 * 1e5, want + 0.05,
                       "0.05 Pa more");
    }
    /* A point is itself from either side. */
    ck_assert_exactly(read_one(&g, 0.25, 0.0).pressure, 1e5);
    ck_assert_exactly(read_one(&g, 0.125, 0.125).pressure, 1e5);
    ck_assert_exactly(read_one(&g, 0.375, 0.125).pressure, 0.5e5);
    ck_assert_exactly(read_one(&g, 0.75, 0.25).pressure, 0.0);
    ck_assert_exactly(read_one(&g, 0.75, 0.25).rho, 0.0);
    ck_assert_exactly(read_one(&g, 2.0, 1.0).rho_dz[0], 0.0);
    gradient_clear(&g);
    gradient_clear(&g);
    ck_assert_int_eq(mem_live(), 0);
}
END_TEST

START_TEST(equal_ends_are_a_constant_pressure_bit_for_bit)
{
    const struct gradient_points one = {1, {0.0}, {3e5}};
    const struct gradient_points two = {2, {0.0, 1.5}, {3e5, 3e5}};
    for (int model = DENSITY_HELMHOLTZ; model <= DENSITY_IDEAL; model++) {
        const struct mixture gas = filling(GAS_AR, (enum density_model)model);
        struct gradient a = gradient_of(&one, &gas);
        struct gradient b = gradient_of(&two, &gas);
        struct eos_density d;
        ck_assert_int_eq(mixture_density(&gas, 3e5, &d), 0);
        for (double z = 0.0; z < 1.5; z += 0.13) {
            const struct gradient_values x = read_one(&a, z, 0.07);
            const struct gradient_values y = read_one(&b, z, 0.07);
            ck_assert(exactly(x.rho, y.rho) && exactly(x.rho_dz[0], y.rho_dz[0])
                      && exactly(x.pressure, y.pressure));
            ck_assert_rounding(x.rho, d.rho, 1e-15);
            ck_assert_rounding(x.rho_dz[0], 0.07 * d.rho, 1e-15);
        }
        gradient_clear(&a);
        gradient_clear(&b);
    }
    ck_assert_int_eq(mem_live(), 0);
}
END_TEST

START_TEST(integrals_of_an_ideal_gas_are_the_closed_form)
{
    /* fixtures, README 4.4: int_0^z p = 2/(3 d) ((p0^2 + d z)^1.5 - p0^3). */
    static const double ends[][2] = {{0.8e5, 0.0}, {0.0, 2e5}, {1e5, 1.0001e5}, {5e5, 1e5}};
    const struct mixture gas = filling(GAS_HE, DENSITY_IDEAL);
    for (int i = 0; i < 4; i++) {
        const double p0 = ends[i][0];
        const double p1 = ends[i][1];
        const double d = (p1 * p1 - p0 * p0) / 1.5;
        const struct gradient_points points = {2, {0.0, 1.5}, {p0, p1}};
        struct gradient g = gradient_of(&points, &gas);
        for (int k = 1; k <= 10; k++) {
            const double z = 0.15 * k;
            const double end = k == 10 ? p1 * p1 : p0 * p0 + d * z;
            const double want = 2.0 / (3.0 * d) * (pow(end, 1.5) - p0 * p0 * p0);
            /* The closed form itself cancels where the pressure hardly changes. */
            const double figures = i == 2 ? 1e-10 : 1e-13;
            const struct gradient_values v = read_one(&g, 0.0, k == 10 ? 1.5 : z);
            ck_assert_ratio(v.rho_dz[0] * PULSE_KB * 293.15, want, figures,
                            want * (1.0 + 5.0 * figures), "five tolerances");
            /* int p^2 = p0^2 z + d z^2/2, int p^3 = 2/(5 d) (p^5 - p0^5). */
            const double length = k == 10 ? 1.5 : z;
            const double scale = PULSE_KB * 293.15 * PULSE_KB * 293.15;
            ck_assert_rounding(v.rho_dz[1] * scale, length * (p0 * p0 + 0.5 * d * length),
                               1e-13);
            const double cube = 2.0 / (5.0 * d) * (pow(end, 2.5) - pow(p0, 5.0));
            ck_assert_ratio(v.rho_dz[2] * scale * PULSE_KB * 293.15, cube, figures,
                            cube * (1.0 + 5.0 * figures), "five tolerances");
        }
        gradient_clear(&g);
    }
}
END_TEST

START_TEST(a_step_of_1e_9_of_the_length_keeps_its_figures)
{
    const struct gradient_points points = {2, {0.0, 1.5}, {0.8e5, 0.0}};
    for (int model = DENSITY_HELMHOLTZ; model <= DENSITY_IDEAL; model++) {
        const struct mixture gas = filling(GAS_HE, (enum density_model)model);
        struct gradient g = gradient_of(&points, &gas);
        for (double z = 0.1; z < 1.49; z += 0.1) {
            const double h = 1.5e-9;
            /* rho is linear over h to (h/(L - z))^2 = 1e-14. */
            const double want = 0.5 * h * (read_one(&g, z, 0.0).rho + read_one(&g, z, h).rho);
            ck_assert_rounding(read_one(&g, z, h).rho_dz[0], want, 2e-14);
        }
        gradient_clear(&g);
    }
}
END_TEST

START_TEST(a_step_is_the_sum_of_its_parts_however_it_is_cut)
{
    const struct gradient_points points = {4, {0, 0.25, 0.5, 1.0}, {0, 40e5, 12e5, 0}};
    const struct gradient_points taper = {3, {0.1, 0.4, 0.9}, {20e-6, 10e-6, 60e-6}};
    const struct mixture gas = filling(GAS_XE, DENSITY_HELMHOLTZ);
    struct gradient g;
    ck_assert_int_eq(gradient_init(&g, &points, &taper, &gas), 0);
    for (double start = 0.0; start < 0.9; start += 0.0875) {
        const double length = 1.0 - start;
        const struct gradient_values whole = read_one(&g, start, length);
        for (int parts = 2; parts <= 32; parts *= 2) {
            double rho = 0.0;
            double square = 0.0;
            double cube = 0.0;
            double fourth = 0.0;
            double mixed = 0.0;
            for (int k = 0; k < parts; k++) {
                const struct gradient_values v =
                    read_one(&g, start + length * k / parts, length / parts);
                rho += v.rho_dz[0];
                square += v.inverse_square_dz;
                cube += v.inverse_cube_dz;
                fourth += v.inverse_fourth_dz;
                mixed += v.rho_inverse_square_dz;
            }
            /* Positions of the parts round by eps of 1 m, a few 1e-15 of a part. */
            ck_assert_rounding(rho, whole.rho_dz[0], 2e-13);
            ck_assert_rounding(square, whole.inverse_square_dz, 2e-13);
            ck_assert_rounding(cube, whole.inverse_cube_dz, 2e-13);
            ck_assert_rounding(fourth, whole.inverse_fourth_dz, 2e-13);
            /* Quadrature across the pieces of a table that is good to 1e-12. */
            ck_assert_rounding(mixed, whole.rho_inverse_square_dz, 1e-12);
        }
    }
    gradient_clear(&g);
}
END_TEST

/* Integral over [a, b] of a power of the density at the law's pressure, by quadrature in z. */
static double quadrature_of(const struct mixture *gas, const double *ends, double a, double b,
                            int power)
{
    struct quadrature q;
    quadrature_legendre(&q, QUADRATURE_MAX);
    double sum = 0.0;
    for (int i = 0; i < q.n; i++) {
        const double z = a + (b - a) * q.node[i];
        struct eos_density d;
        const double square = ends[0] * ends[0] + z * (ends[1] * ends[1] - ends[0] * ends[0]);
        ck_assert_int_eq(mixture_density(gas, sqrt(square), &d), 0);
        sum += q.weight[i] * pow(d.rho, power);
    }
    return (b - a) * sum;
}

START_TEST(densities_and_integrals_of_a_real_gas_are_those_of_its_equation)
{
    /* Xenon near its critical point, where it is least ideal; the rule in z is exact to
     * rounding away from zero pressure. */
    static const double ends[][2] = {{1e5, 40e5}, {55e5, 20e5}, {10e5, 10.001e5}};
    const struct mixture gas = filling(GAS_XE, DENSITY_HELMHOLTZ);
    for (int i = 0; i < 3; i++) {
        const struct gradient_points points = {2, {0.0, 1.0}, {ends[i][0], ends[i][1]}};
        struct gradient g = gradient_of(&points, &gas);
        ck_assert_double_gt(g.error, 0.0);
        ck_assert_norm(g.error, 1e-12);
        for (double z = 0.05; z < 0.95; z += 0.1) {
            struct eos_density d;
            const struct gradient_values v = read_one(&g, z, 0.05);
            ck_assert_int_eq(mixture_density(&gas, v.pressure, &d), 0);
            ck_assert_ratio(v.rho, d.rho, 1e-11, d.rho + d.drhodp * v.pressure * 1e-10,
                            "a pressure larger by 1e-10");
            for (int j = 0; j < GRADIENT_POWERS; j++)
                ck_assert_ratio(v.rho_dz[j], quadrature_of(&gas, ends[i], z, z + 0.05, j + 1),
                                3e-11, read_one(&g, z, 0.05 * (1.0 + 3e-10)).rho_dz[j],
                                "a step longer by 3e-10");
        }
        gradient_clear(&g);
    }
}
END_TEST

START_TEST(the_density_over_the_area_is_a_product_where_one_of_them_is_constant)
{
    const struct gradient_points pressure[] = {{2, {0.0, 1.5}, {3e5, 3e5}},
                                               {2, {0.0, 1.5}, {3e5, 0.0}}};
    const struct gradient_points radius[] = {{2, {0.3, 1.2}, {125e-6, 15e-6}},
                                             {2, {0.3, 1.2}, {80e-6, 80e-6}}};
    for (int model = DENSITY_HELMHOLTZ; model <= DENSITY_IDEAL; model++) {
        const struct mixture gas = filling(GAS_AR, (enum density_model)model);
        for (int i = 0; i < 2; i++) {
            struct gradient g;
            ck_assert_int_eq(gradient_init(&g, &pressure[i], &radius[i], &gas), 0);
            for (double z = 0.0; z < 1.5; z += 0.25) {
                const struct gradient_values v = read_one(&g, z, 0.25);
                const double want =
                    i == 0 ? v.rho * v.inverse_square_dz : v.rho_dz[0] / (80e-6 * 80e-6);
                ck_assert_rounding(v.rho_inverse_square_dz, want, 1e-12);
            }
            gradient_clear(&g);
        }
    }
}
END_TEST

/* Integral of rho/a^2 from a to b, where both laws are straight, over the pressure. */
static double mixed_quadrature(const struct mixture *gas, const double *squares,
                               const double *radii, double length)
{
    enum { PANELS = 16 };
    struct quadrature q;
    double sum = 0.0;
    quadrature_legendre(&q, 20);
    const double p0 = sqrt(squares[0]);
    const double p1 = sqrt(squares[1]);
    for (int panel = 0; panel < PANELS; panel++)
        for (int i = 0; i < q.n; i++) {
            struct eos_density d;
            const double t = (panel + q.node[i]) / PANELS;
            const double p = p0 + t * (p1 - p0);
            const double x = (p * p - squares[0]) / (squares[1] - squares[0]);
            const double a = radii[0] + x * (radii[1] - radii[0]);
            ck_assert_int_eq(mixture_density(gas, p, &d), 0);
            sum += q.weight[i] / PANELS * d.rho / (a * a) * 2.0 * p * (p1 - p0)
                   / (squares[1] - squares[0]);
        }
    return length * sum;
}

static double line_at(const struct gradient_points *points, bool squares, double z)
{
    int i = 0;
    while (i + 2 < points->count && points->z[i + 1] < z)
        i++;
    const double x = (z - points->z[i]) / (points->z[i + 1] - points->z[i]);
    const double share = fmin(fmax(x, 0.0), 1.0);
    const double from = squares ? points->value[i] * points->value[i] : points->value[i];
    const double to =
        squares ? points->value[i + 1] * points->value[i + 1] : points->value[i + 1];
    return from + share * (to - from);
}

START_TEST(the_density_over_the_area_is_its_quadrature_across_the_kinks_of_both)
{
    static const double kink[] = {0.0, 0.1, 0.25, 0.4, 0.5, 0.9, 1.0};
    const struct gradient_points pressure = {4, {0, 0.25, 0.5, 1.0}, {0, 40e5, 12e5, 0}};
    const struct gradient_points radius = {3, {0.1, 0.4, 0.9}, {60e-6, 10e-6, 125e-6}};
    for (int model = DENSITY_HELMHOLTZ; model <= DENSITY_IDEAL; model++) {
        const struct mixture gas = filling(GAS_XE, (enum density_model)model);
        struct gradient g;
        double sum = 0.0;
        ck_assert_int_eq(gradient_init(&g, &pressure, &radius, &gas), 0);
        for (int i = 0; i < 6; i++) {
            const double squares[2] = {line_at(&pressure, true, kink[i]),
                                       line_at(&pressure, true, kink[i + 1])};
            const double radii[2] = {line_at(&radius, false, kink[i]),
                                     line_at(&radius, false, kink[i + 1])};
            const double length = kink[i + 1] - kink[i];
            const double want = mixed_quadrature(&gas, squares, radii, length);
            ck_assert_ratio(read_one(&g, kink[i], length).rho_inverse_square_dz, want, 1e-11,
                            want * (1.0 + 1e-10), "an integral larger by 1e-10");
            sum += want;
        }
        ck_assert_ratio(read_one(&g, 0.0, 1.0).rho_inverse_square_dz, sum, 1e-11,
                        sum * (1.0 + 1e-10), "a part of it larger by 1e-10");
        ck_assert_ratio(read_one(&g, -0.5, 2.0).rho_inverse_square_dz, sum, 1e-11,
                        sum * (1.0 + 1e-10), "a part of it larger by 1e-10");
        gradient_clear(&g);
    }
}
END_TEST

START_TEST(the_integral_to_zero_pressure_holds_for_a_real_gas)
{
    /* With p as the variable: rho dz = rho 2 p dp L/(p0^2 - p1^2), smooth at zero. */
    const struct mixture gas = filling(GAS_AR, DENSITY_HELMHOLTZ);
    const struct gradient_points points = {2, {0.0, 1.5}, {30e5, 0.0}};
    struct gradient g = gradient_of(&points, &gas);
    struct quadrature q;
    quadrature_legendre(&q, 40);
    for (int j = 0; j < GRADIENT_POWERS; j++) {
        double want = 0.0;
        for (int i = 0; i < q.n; i++) {
            struct eos_density d;
            ck_assert_int_eq(mixture_density(&gas, 30e5 * q.node[i], &d), 0);
            want += q.weight[i] * pow(d.rho, j + 1) * 2.0 * q.node[i] * 1.5;
        }
        ck_assert_ratio(read_one(&g, 0.0, 1.5).rho_dz[j], want, 3e-12, want * (1.0 + 1e-11),
                        "an integral larger by 1e-11");
        const double longer = want + read_one(&g, -1.0, 1.0).rho_dz[j];
        ck_assert_ratio(read_one(&g, -1.0, 3.5).rho_dz[j], longer, 3e-12,
                        longer * (1.0 + 1e-11), "an integral larger by 1e-11");
    }
    gradient_clear(&g);
}
END_TEST

START_TEST(all_positions_of_a_step_at_once_have_the_bits_of_each_alone)
{
    static const double nodes[] = {0.0, 1.0 / 5.0, 3.0 / 10.0, 4.0 / 5.0, 8.0 / 9.0, 1.0, 1e-9};
    const struct gradient_points points = {3, {0.0, 0.31, 1.5}, {0.8e5, 1.1e5, 0.0}};
    const struct gradient_points taper = {2, {0.2, 1.2}, {125e-6, 80e-6}};
    for (int model = DENSITY_HELMHOLTZ; model <= DENSITY_IDEAL; model++) {
        const struct mixture gas = filling(GAS_KR, (enum density_model)model);
        struct gradient g;
        ck_assert_int_eq(gradient_init(&g, &points, &taper, &gas), 0);
        for (double anchor = 0.0; anchor < 1.4; anchor += 0.0731) {
            double dz[7];
            struct gradient_values batch[7];
            for (int i = 0; i < 7; i++)
                dz[i] = nodes[i] * 0.2137;
            gradient_read(&g, anchor, dz, 7, batch);
            for (int i = 0; i < 7; i++) {
                const struct gradient_values one = read_one(&g, anchor, dz[i]);
                ck_assert_int_eq(comparison_bits(&one, &batch[i], sizeof one, 1), -1);
            }
        }
        gradient_clear(&g);
    }
}
END_TEST

START_TEST(a_taper_is_linear_between_its_points_with_the_integrals_of_its_powers)
{
    const struct gradient_points points = {1, {0.0}, {1e5}};
    const struct gradient_points taper = {3, {0.2, 0.6, 1.0}, {100e-6, 40e-6, 70e-6}};
    const struct mixture gas = filling(GAS_HE, DENSITY_IDEAL);
    struct gradient g;
    struct quadrature q;
    quadrature_legendre(&q, 40);
    ck_assert_int_eq(gradient_init(&g, &points, &taper, &gas), 0);
    ck_assert_exactly(read_one(&g, 0.0, 0.1).radius, 100e-6);
    ck_assert_exactly(read_one(&g, 0.3, 0.3).radius, 40e-6);
    ck_assert_exactly(read_one(&g, 0.0, 5.0).radius, 70e-6);
    ck_assert_rounding(read_one(&g, 0.3, 0.1).radius, 70e-6, 1e-15);
    ck_assert_rounding(read_one(&g, 0.5, 0.3).radius, 55e-6, 1e-15);
    /* One smooth stretch against quadrature, then across a kink as two. */
    double square = 0.0;
    double cube = 0.0;
    double fourth = 0.0;
    for (int i = 0; i < q.n; i++) {
        const double a = 100e-6 - 60e-6 * (0.25 + 0.75 * q.node[i]);
        square += 0.3 * q.weight[i] / (a * a);
        cube += 0.3 * q.weight[i] / (a * a * a);
        fourth += 0.3 * q.weight[i] / (a * a * a * a);
    }
    const struct gradient_values v = read_one(&g, 0.3, 0.3);
    ck_assert_rounding(v.inverse_square_dz, square, 1e-13);
    ck_assert_rounding(v.inverse_cube_dz, cube, 1e-13);
    ck_assert_rounding(v.inverse_fourth_dz, fourth, 1e-13);
    const struct gradient_values across = read_one(&g, 0.3, 0.5);
    const struct gradient_values rest = read_one(&g, 0.6, 0.2);
    ck_assert_rounding(across.inverse_square_dz, v.inverse_square_dz + rest.inverse_square_dz,
                       1e-14);
    ck_assert_rounding(across.inverse_cube_dz, v.inverse_cube_dz + rest.inverse_cube_dz, 1e-14);
    /* Constant: length over the power. */
    ck_assert_rounding(read_one(&g, 1.5, 0.25).inverse_cube_dz, 0.25 / pow(70e-6, 3), 1e-15);
    ck_assert_rounding(read_one(&g, 1.5, 0.25).inverse_fourth_dz, 0.25 / pow(70e-6, 4), 1e-15);
    gradient_clear(&g);
}
END_TEST

/* The error line of a gradient that must be refused. */
static void refuses(struct gradient_points pressure, struct gradient_points radius,
                    enum gas gas, const char *word)
{
    const struct mixture m = filling(gas, DENSITY_HELMHOLTZ);
    struct gradient g;
    char text[256] = "";
    status_capture(text, sizeof text);
    const int code = gradient_init(&g, &pressure, &radius, &m);
    status_capture(NULL, 0);
    gradient_clear(&g);
    ck_assert_int_eq(code, ERR_ARGUMENT);
    ck_assert_msg(strstr(text, word) != NULL, "%s lacks %s", text, word);
    ck_assert_int_eq(mem_live(), 0);
}

START_TEST(laws_that_cannot_be_are_refused_with_the_point)
{
    const struct gradient_points good = {2, {0, 1}, {1e5, 0}};
    refuses((struct gradient_points){2, {0, 0}, {1e5, 0}}, tube, GAS_HE, "pressure.z: point 1");
    refuses((struct gradient_points){2, {0, 1}, {1e5, -1}}, tube, GAS_HE, "-1 Pa at point 1");
    refuses((struct gradient_points){0, {0}, {0}}, tube, GAS_HE, "0 points given");
    refuses((struct gradient_points){2, {0, 1}, {1e5, 3e8}}, tube, GAS_KR,
            "equation of state of Kr");
    refuses(good, (struct gradient_points){1, {0}, {0}}, GAS_HE, "core_radius: 0 m at point 0");
    refuses(good, (struct gradient_points){1, {0}, {(double)NAN}}, GAS_HE,
            "core_radius: nan m");
}
END_TEST

int main(void)
{
    Suite *const suite = suite_create("gradients");
    TCase *const tests = tcase_create("gradients");
    tcase_add_test(tests, pressures_follow_the_law_of_each_interval);
    tcase_add_test(tests, equal_ends_are_a_constant_pressure_bit_for_bit);
    tcase_add_test(tests, integrals_of_an_ideal_gas_are_the_closed_form);
    tcase_add_test(tests, a_step_of_1e_9_of_the_length_keeps_its_figures);
    tcase_add_test(tests, a_step_is_the_sum_of_its_parts_however_it_is_cut);
    tcase_add_test(tests, densities_and_integrals_of_a_real_gas_are_those_of_its_equation);
    tcase_add_test(tests, the_density_over_the_area_is_a_product_where_one_of_them_is_constant);
    tcase_add_test(tests, the_density_over_the_area_is_its_quadrature_across_the_kinks_of_both);
    tcase_add_test(tests, the_integral_to_zero_pressure_holds_for_a_real_gas);
    tcase_add_test(tests, all_positions_of_a_step_at_once_have_the_bits_of_each_alone);
    tcase_add_test(tests,
                   a_taper_is_linear_between_its_points_with_the_integrals_of_its_powers);
    tcase_add_test(tests, laws_that_cannot_be_are_refused_with_the_point);
    suite_add_tcase(suite, tests);
    return unit_main(suite);
}
