/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Shapes of modes against published zeros, areas and couplings. */
#include <math.h>
#include <string.h>

#include "kernels/base/status.h"
#include "kernels/models/pulse/atomic.h"
#include "kernels/models/pulse/mode.h"
#include "tests/exact.h"
#include "tests/perturb/near.h"
#include "tests/unit_main.h"

static struct mode mode_of(const char *name)
{
    struct mode m;
    ck_assert_int_eq(mode_parse(name, &m), 0);
    return m;
}

START_TEST(transverse_numbers_are_the_zeros_of_bessel_functions)
{
    /* Abramowitz and Stegun, table 9.5; HE11: physics.md §3.1. */
    static const struct {
        const char *name;
        double u;
    } rows[] = {{"HE11", 2.404825557695773},    {"HE12", 5.5200781102863106},
                {"HE15", 14.930917708487786},   {"TE01", 3.8317059702075123},
                {"TM02", 7.0155866698156188},   {"HE21", 3.8317059702075123},
                {"HE-1,1", 5.1356223018406826}, {"HE31", 5.1356223018406826},
                {"HE9,2", 16.037774190887709}};
    for (unsigned i = 0; i < sizeof rows / sizeof rows[0]; i++)
        ck_assert_rounding(mode_of(rows[i].name).u, rows[i].u, 1e-15);
    /* The largest numbers: McMahon's expansion of a far zero. */
    const double b = (60.0 - 0.25) * PULSE_PI;
    const double far = b + 1.0 / (8.0 * b) - 31.0 / (384.0 * b * b * b);
    ck_assert_ratio(mode_of("HE1,60").u, far, 1e-11, far * (1.0 + 1e-10),
                    "a zero larger by 1e-10");
}
END_TEST

START_TEST(names_that_are_no_modes_are_refused)
{
    static const char *const bad[] = {"HE01", "TE11", "TM00",  "HE",     "HE1",   "he11",
                                      "HE10", "EH11", "TE01x", "HE1,61", "HE-11", "HE41,1"};
    for (unsigned i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct mode m;
        char text[200] = "";
        status_capture(text, sizeof text);
        const int code = mode_parse(bad[i], &m);
        status_capture(NULL, 0);
        ck_assert_msg(code == ERR_ARGUMENT, "%s is accepted", bad[i]);
        ck_assert(strncmp(text, "guide.mode: ", 12) == 0);
    }
}
END_TEST

START_TEST(effective_areas_are_those_of_the_reference)
{
    /* physics.md §9 and §3.1. */
    const struct mode he11 = mode_of("HE11");
    ck_assert_rounding(mode_area(&he11, 75e-6), 8.42157534886545e-9, 1e-13);
    ck_assert_near(mode_area(&he11, 1.0), 1.4971689509, 1e-10, mode_area(&he11, 1.0 + 1e-9),
                   "a radius larger by 1e-9");
    ck_assert_ratio(mode_area(&he11, 125e-6), 1.49716891 * 125e-6 * 125e-6, 1e-7,
                    mode_area(&he11, 125e-6 * (1.0 + 1e-7)), "a radius larger by 1e-7");
}
END_TEST

/* Integrals over the disc by the midpoint rule; Simpson would do no better with the wall. */
static void moments(const struct mode *m, double *square, double *fourth)
{
    *square = *fourth = 0.0;
    const long n = 100000;
    for (long i = 0; i < n; i++) {
        const double x = ((double)i + 0.5) / (double)n;
        const double shape = jn(m->bessel, m->u * x);
        *square += 2.0 * PULSE_PI * x * shape * shape / (double)n;
        *fourth += 2.0 * PULSE_PI * x * pow(shape, 4) / (double)n;
    }
}

START_TEST(areas_and_norms_are_the_integrals_of_their_shapes)
{
    static const char *const names[] = {"HE11", "HE14",   "TE01", "TM03",
                                        "HE21", "HE-1,2", "HE52"};
    for (unsigned i = 0; i < sizeof names / sizeof names[0]; i++) {
        const struct mode m = mode_of(names[i]);
        double square = 0.0;
        double fourth = 0.0;
        moments(&m, &square, &fourth);
        ck_assert_ratio(mode_area(&m, 1.0), square * square / fourth, 1e-8,
                        mode_area(&m, 1.0 + 3e-8), "a radius larger by 3e-8");
        /* sqrt(eps0/mu0) = eps0 c */
        const double norm = 0.5 * PULSE_EPS0 * PULSE_C * square;
        ck_assert_ratio(mode_norm(&m, 1.0), norm, 1e-8, mode_norm(&m, 1.0 + 3e-8),
                        "a radius larger by 3e-8");
        ck_assert_ratio(mode_norm(&m, 3e-5), 9e-10 * norm, 1e-8,
                        mode_norm(&m, 3e-5 * (1.0 + 3e-8)), "a radius larger by 3e-8");
    }
}
END_TEST

START_TEST(a_gaussian_of_the_best_waist_couples_as_published)
{
    /* physics.md §9: w = 0.64 a. */
    static const double want[] = {.9807131210817726, .006182621678046407, .0013567813790567626,
                                  .0008447236093574648};
    for (int k = 0; k < 4; k++) {
        struct mode m;
        ck_assert_int_eq(mode_init(&m, MODE_HE, 1, k + 1), 0);
        ck_assert_near(mode_gauss_coupling(&m, 125e-6, 80e-6), want[k], 1e-8,
                       mode_gauss_coupling(&m, 125e-6, 80.0003e-6), "a waist larger by 0.3 nm");
    }
    /* Modes are complete: what the tube lets in is shared among them. A beam of waist w puts
     * 1 - exp(-2 a^2/w^2) of itself inside. */
    double sum = 0.0;
    for (int k = 1; k <= MODE_ZERO_MAX; k++) {
        struct mode m;
        ck_assert_int_eq(mode_init(&m, MODE_HE, 1, k), 0);
        sum += mode_gauss_coupling(&m, 1.0, 0.3);
    }
    ck_assert_near(sum, 1.0, 1e-6, sum - 3e-6, "modes of 3e-6 left out");
    const struct mode te = mode_of("TE01");
    ck_assert_exactly(mode_gauss_coupling(&te, 1.0, 0.64), 0.0);
}
END_TEST

int main(void)
{
    Suite *const suite = suite_create("modes");
    TCase *const tests = tcase_create("modes");
    tcase_add_test(tests, transverse_numbers_are_the_zeros_of_bessel_functions);
    tcase_add_test(tests, names_that_are_no_modes_are_refused);
    tcase_add_test(tests, effective_areas_are_those_of_the_reference);
    tcase_add_test(tests, areas_and_norms_are_the_integrals_of_their_shapes);
    tcase_add_test(tests, a_gaussian_of_the_best_waist_couples_as_published);
    suite_add_tcase(suite, tests);
    return unit_main(suite);
}
