/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What model gnlse makes of its parameters before it runs: shapes, refusals, sanity notes. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/base/mem.h"
#include "kernels/base/status.h"
#include "kernels/contract/bounds.h"
#include "kernels/models/pulse/gnlse.h"
#include "kernels/models/pulse/grid.h"
#include "tests/exact.h"
#include "tests/kernels/gnlse_case.h"
#include "tests/kernels/isa.h"
#include "tests/perturb/bounded.h"
#include "tests/perturb/near.h"
#include "tests/unit_main.h"

static struct plane_layout layout;

/* layout must refuse the case with ERR_ARGUMENT or ERR_UNSUPPORTED and name these words. */
static void check_refused(struct gnlse_case *c, const char *first, const char *second)
{
    char text[300] = "";
    status_capture(text, sizeof text);
    const int rc = gnlse_ops.layout(&c->params, &layout);
    status_capture(NULL, 0);
    ck_assert_msg(rc == ERR_ARGUMENT || rc == ERR_UNSUPPORTED, "code %d, \"%s\"", rc, text);
    ck_assert_msg(strstr(text, first) != NULL && strstr(text, second) != NULL,
                  "\"%s\" does not name %s, %s", text, first, second);
    case_clear(c);
}

static struct gnlse_case fresh(void)
{
    struct gnlse_case c;
    case_init(&c);
    case_set(&c, "pulse.peak_power", 100.0);
    return c;
}

START_TEST(pulses_need_exactly_one_of_energy_and_peak_power)
{
    struct gnlse_case c = fresh();
    case_set(&c, "pulse.energy", 1e-9);
    check_refused(&c, "pulse.energy", "both");
    c = fresh();
    case_unset(&c, "pulse.peak_power");
    check_refused(&c, "pulse.peak_power", "neither");
}
END_TEST

START_TEST(grids_that_cannot_be_transformed_are_refused_with_the_nearest)
{
    static const struct {
        double points;
        const char *word;
    } bad[] = {{0.0, "16 to"},   {-4.0, "16 to"},  {0x1p40, "16 to"}, {1001.0, "1000"},
               {1001.0, "1008"}, {8191.0, "8192"}, {1025.0, "1024"},  {22.0, "24"}};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct gnlse_case c = fresh();
        case_set(&c, "grid.points", bad[i].points);
        check_refused(&c, "grid.points", bad[i].word);
    }
    static const double good[] = {16.0, 1000.0, 6174.0, 8192.0, 16384.0, 15360.0};
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        struct gnlse_case c = fresh();
        case_set(&c, "grid.points", good[i]);
        ck_assert_int_eq(gnlse_ops.layout(&c.params, &layout), 0);
        ck_assert_int_eq(layout.axis[0].length, (long)good[i]);
        case_clear(&c);
    }
}
END_TEST

static void set_wavelengths(struct gnlse_case *c, double shortest, double longest)
{
    case_unset(c, "grid.points");
    case_set(c, "grid.wavelengths", shortest);
    struct param_value *v = &c->params.values[params_find(&c->params, "grid.wavelengths")];
    v->count = 2;
    v->list[1] = longest;
}

START_TEST(wavelength_limits_give_the_published_number_of_points)
{
    /* physics.md §11, case D: (400, 2400) nm in 12.5 ps is N = 16384. */
    struct gnlse_case c = fresh();
    set_wavelengths(&c, 400e-9, 2400e-9);
    case_set(&c, "grid.window", 12.5e-12);
    ck_assert_int_eq(gnlse_ops.layout(&c.params, &layout), 0);
    ck_assert_int_eq(layout.axis[0].length, 16384);
    /* The red side counts when the reference lies near the blue limit. */
    case_set(&c, "wavelength", 410e-9);
    ck_assert_int_eq(gnlse_ops.layout(&c.params, &layout), 0);
    double *omega = malloc(16384 * sizeof *omega);
    const long n = layout.axis[0].length;
    ck_assert_int_eq(n, 16384);
    ck_assert_int_eq(gnlse_ops.axis(&c.params, 0, omega), 0);
    ck_assert_double_lt(omega[n / 2], 2.0 * 3.14159265358979 * 299792458.0 / 2400e-9);
    free(omega);
    case_clear(&c);
    c = fresh();
    set_wavelengths(&c, 900e-9, 2400e-9);
    check_refused(&c, "grid.wavelengths", "enclose");
    c = fresh();
    set_wavelengths(&c, 1e-15, 2400e-9);
    check_refused(&c, "grid.wavelengths", "points are needed");
    c = fresh();
    set_wavelengths(&c, 400e-9, 2400e-9);
    case_set(&c, "grid.points", 1024.0);
    check_refused(&c, "grid.wavelengths", "both");
    c = fresh();
    case_unset(&c, "grid.points");
    check_refused(&c, "grid.points", "neither");
}
END_TEST

START_TEST(planes_must_lie_in_the_fibre_and_ascend)
{
    struct gnlse_case c = fresh();
    case_planes(&c, (const double[]){0.0, 1.01}, 2);
    check_refused(&c, "save.planes", "outside the fibre");
    c = fresh();
    case_planes(&c, (const double[]){0.5, 0.5}, 2);
    check_refused(&c, "save.planes", "ascend");
    c = fresh();
    case_planes(&c, (const double[]){-0.1}, 1);
    check_refused(&c, "save.planes", "-0.1");
    c = fresh();
    case_planes(&c, (const double[]){0.0, 1.0 + 1e-15}, 2); /* rounding of units */
    ck_assert_int_eq(gnlse_ops.layout(&c.params, &layout), 0);
    case_clear(&c);
}
END_TEST

START_TEST(method_fixed_is_refused_without_a_schedule)
{
    struct gnlse_case c = fresh();
    case_set(&c, "stepper.method", 1.0);
    check_refused(&c, "stepper.method", "schedule");
}
END_TEST

static const struct layout_note *note(const char *name)
{
    for (int i = 0; i < layout.notes; i++)
        if (strcmp(layout.note[i].name, name) == 0)
            return &layout.note[i];
    ck_abort_msg("no note %s", name);
}

START_TEST(the_sanity_report_of_the_supercontinuum_has_the_published_numbers)
{
    struct gnlse_case c;
    case_dudley(&c, 1e-6);
    ck_assert_int_eq(gnlse_ops.layout(&c.params, &layout), 0);
    /* physics.md §10: T0 = 28.4 fs, N = 8.66, L_D/N = 7.9 mm, zero dispersion near 780 nm. */
    ck_assert_near(note("soliton number")->value, 8.66, 0.02, 8.66 * sqrt(1.01),
                   "a peak power larger by a hundredth");
    ck_assert_near(note("soliton fission length")->value, 7.9e-3, 0.05e-3, 7.9e-3 / sqrt(1.03),
                   "a peak power larger by three hundredths");
    ck_assert_near(note("zero-dispersion wavelength")->value, 780e-9, 3e-9, 785e-9,
                   "a zero 5 nm away");
    ck_assert_near(note("nonlinear length")->value, 1.0 / 1100.0, 1e-9, 1.0 / 1100.01,
                   "a peak power larger by 1e-5");
    ck_assert_str_eq(note("soliton number")->warning, "");
    ck_assert_str_eq(note("samples per pulse duration")->warning, "");
    ck_assert_double_gt(layout.transforms, 20000.0); /* 70 444 were made elsewhere */
    ck_assert_double_lt(layout.transforms, 200000.0);
    ck_assert_int_eq(layout.axes, 3);
    ck_assert_str_eq(layout.progress_unit, "m");
    case_set(&c, "pulse.duration", 5e-15);
    ck_assert_int_eq(gnlse_ops.layout(&c.params, &layout), 0);
    ck_assert_ptr_nonnull(strstr(note("samples per pulse duration")->warning, "samples"));
    case_set(&c, "pulse.duration", 2e-12);
    ck_assert_int_eq(gnlse_ops.layout(&c.params, &layout), 0);
    ck_assert_ptr_nonnull(strstr(note("window per pulse duration")->warning, "durations"));
    case_set(&c, "grid.points", 16384.0);
    ck_assert_int_eq(gnlse_ops.layout(&c.params, &layout), 0);
    ck_assert_ptr_nonnull(strstr(note("lowest frequency of the band")->warning, "below zero"));
    case_clear(&c);
}
END_TEST

START_TEST(axes_follow_the_convention_of_the_store)
{
    struct gnlse_case c = fresh();
    double omega[1024];
    double relative[1024];
    double t[1024];
    ck_assert_int_eq(gnlse_ops.axis(&c.params, 0, omega), 0);
    ck_assert_int_eq(gnlse_ops.axis(&c.params, 1, relative), 0);
    ck_assert_int_eq(gnlse_ops.axis(&c.params, 2, t), 0);
    const double width = 2.0 * 3.14159265358979323846 / 4e-12;
    ck_assert_exactly(t[0], -2e-12);
    ck_assert_exactly(t[512], 0.0);
    ck_assert_exactly(relative[0], 0.0);
    ck_assert_rounding(relative[1], width, 1e-15);
    ck_assert_rounding(relative[512], -512.0 * width, 1e-15);
    ck_assert_rounding(relative[1023], -width, 1e-15);
    const double omega0 = 2.0 * 3.14159265358979323846 * 299792458.0 / 835e-9;
    ck_assert_rounding(omega[0], omega0, 1e-15);
    ck_assert_rounding((omega[5] - omega[0]), relative[5], 1e-12);
    case_clear(&c);
    ck_assert_int_eq(mem_live(), 0);
}
END_TEST

START_TEST(the_planck_taper_is_smooth_and_symmetric)
{
    ck_assert_exactly(pulse_planck(0.3, 0.2), 1.0);
    ck_assert_exactly(pulse_planck(0.8, 0.2), 1.0);
    ck_assert_exactly(pulse_planck(1.0, 0.2), 0.0);
    ck_assert_exactly(pulse_planck(-1.0, 0.2), 0.0);
    /* The middle of the taper. */
    ck_assert_bounded(fabs(pulse_planck(0.9, 0.2) - 0.5), BOUND_observable);
    ck_assert_exactly(pulse_planck(-0.9, 0.2), pulse_planck(0.9, 0.2));
    for (double x = 0.8; x < 0.999; x += 0.001)
        ck_assert_double_ge(pulse_planck(x, 0.2), pulse_planck(x + 0.001, 0.2));
}
END_TEST

/* case_distance judges the adaptive runs: what it makes of faults in one of eight equal bins.
 */
START_TEST(the_distance_of_two_fields_sees_faults_and_refuses_what_proves_nothing)
{
    enum { N = 8 };
    static const struct {
        double factor, distance;
    } faults[] = {{-1.0, 2.0}, {0.0, 1.0}, {1.0 + 1e-9, 1e-9}};
    cplx b[N];
    cplx a[N];
    const cplx zero[N] = {{0.0, 0.0}};
    for (int i = 0; i < N; i++)
        b[i] = cplx_make(0.6, 0.8);
    ck_assert(exactly(case_distance(b, b, N), 0.0));
    for (size_t f = 0; f < sizeof faults / sizeof *faults; f++) {
        memcpy(a, b, sizeof a);
        a[3] = cplx_make(faults[f].factor * b[3].r, faults[f].factor * b[3].i);
        const double want = faults[f].distance / sqrt((double)N);
        ck_assert_ratio(case_distance(a, b, N), want, 1e-6, want * (1.0 + 1e-5),
                        "a distance larger by 1e-5");
    }
    a[3].i = (double)NAN;
    ck_assert(!(case_distance(a, b, N) < 1e300));
    ck_assert(!(case_distance(b, zero, N) < 1e300));
    ck_assert(!(case_distance(zero, zero, N) < 1e300));
}
END_TEST

int main(void)
{
    if (isa_check() != 0)
        return ISA_SKIPPED;
    Suite *const suite = suite_create("gnlse points");
    TCase *const tests = tcase_create("points");
    tcase_add_test(tests, pulses_need_exactly_one_of_energy_and_peak_power);
    tcase_add_test(tests, grids_that_cannot_be_transformed_are_refused_with_the_nearest);
    tcase_add_test(tests, wavelength_limits_give_the_published_number_of_points);
    tcase_add_test(tests, planes_must_lie_in_the_fibre_and_ascend);
    tcase_add_test(tests, method_fixed_is_refused_without_a_schedule);
    tcase_add_test(tests, the_sanity_report_of_the_supercontinuum_has_the_published_numbers);
    tcase_add_test(tests, axes_follow_the_convention_of_the_store);
    tcase_add_test(tests, the_planck_taper_is_smooth_and_symmetric);
    tcase_add_test(tests,
                   the_distance_of_two_fields_sees_faults_and_refuses_what_proves_nothing);
    suite_add_tcase(suite, tests);
    return unit_main(suite);
}
