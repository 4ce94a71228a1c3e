/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Two capillaries against an independent program that integrated the same discrete problems
 * (tests/data/README.md): reduced guide with a wall of index 1.45, ideal gas, prefactor as in
 * vacuum, sin^2 windows, trapezoid, ADK without spin factor, one grid without oversampling.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/kernels/capillary_case.h"
#include "tests/kernels/isa.h"
#include "tests/perturb/near.h"
#include "tests/unit_main.h"

/* What the reference program states of itself: distance of its two finest tolerances. */
struct fixture {
    const char *file;
    long first; /* bin of its first number */
    long count;
    double field;    /* l2 of the field */
    double spectrum; /* l1 of |a|^2 */
    double energy;   /* J */
};

static const struct fixture helium = {
    DATA_FOLDER "/he_rdw_275uJ.f64", 31, 2971, 7.146e-6, 1.235e-6, 204.15601587e-6};
static const struct fixture argon = {
    DATA_FOLDER "/ar_kerr_50uJ.f64", 62, 2640, 1.479e-5, 5.773e-6, 43.16201673e-6};

static void common(struct capillary_case *c)
{
    capillary_case_init(c);
    capillary_case_set(c, "grid.fine", 16384.0);
    capillary_case_set(c, "grid.coarse", 16384.0);
    capillary_case_choose(c, "density", "ideal");
    capillary_case_set(c, "guide.wall.index", 1.45);
    capillary_case_choose(c, "guide.prefactor", "vacuum");
    capillary_case_choose(c, "kerr.response", "chi3");
    capillary_case_choose(c, "windows.spectral", "sin2");
    capillary_case_choose(c, "windows.time", "sin2");
    c->params.planes = (struct plane_request){PLANES_COUNT, 2, NULL};
}

static cplx *reference(const struct fixture *f)
{
    FILE *const file = fopen(f->file, "rb");
    ck_assert_msg(file != NULL, "cannot open %s", f->file);
    cplx *const a = calloc((size_t)f->count, sizeof *a);
    ck_assert_uint_eq(fread(a, sizeof *a, (size_t)f->count, file), (size_t)f->count);
    fclose(file);
    return a;
}

static double spectrum_distance(const cplx *a, const cplx *b, long n)
{
    double difference = 0.0;
    double sum = 0.0;
    for (long k = 0; k < n; k++) {
        difference += fabs(cplx_abs2(a[k]) - cplx_abs2(b[k]));
        sum += cplx_abs2(b[k]);
    }
    return difference / sum;
}

/* Our run and the reference each have an error of about the stated one. */
static void compare(const struct capillary_case *c, const struct fixture *f, long last)
{
    struct capillary_planes p = capillary_case_run(c);
    ck_assert_msg(p.row.outcome == ROW_DONE, "%s", p.row.reason);
    cplx *const want = reference(f);
    const cplx *const got = p.field + last * p.bins + f->first;
    const double field = capillary_distance(got, want, f->count);
    const double spectrum = spectrum_distance(got, want, f->count);
    printf("%s: field %.3g, spectrum %.3g, energy %.6g uJ, %lld steps, %lld rejected, %lld "
           "rhs\n",
           f->file, field, spectrum, p.observable[last][CAPILLARY_ENERGY] * 1e6, p.row.steps,
           p.row.rejected, p.row.rhs_calls);
    ck_assert_norm(field, 2.0 * f->field);
    ck_assert_norm(spectrum, 2.0 * f->spectrum);
    ck_assert_ratio(p.observable[last][CAPILLARY_ENERGY], f->energy, 2.0 * f->spectrum,
                    f->energy * (1.0 + 6.0 * f->spectrum),
                    "an energy larger by six tolerances");
    free(want);
    capillary_planes_free(&p);
}

static void helium_case(struct capillary_case *c)
{
    common(c);
    capillary_case_gas(c, "He");
    capillary_case_set(c, "length", 1.5);
    capillary_case_unset(c, "pressure.constant");
    capillary_case_set(c, "pressure.from", 0.8e5);
    capillary_case_set(c, "pressure.to", 0.0);
    capillary_case_set(c, "pulse.duration", 7.5e-15);
    capillary_case_set(c, "pulse.energy", 275e-6);
    capillary_case_list(c, "grid.wavelengths", (const double[]){90e-9, 4e-6}, 2);
    capillary_case_set(c, "grid.window", 16384.0 * 5e-17);
    capillary_case_choose(c, "plasma.rate", "adk");
    capillary_case_choose(c, "plasma.rule", "trapezoid");
    capillary_case_set(c, "plasma.occupancy", 1.0);
    capillary_case_set(c, "plasma.adk_floor", 700.0);
    capillary_case_planes(c, (const double[]){0.0, 0.5, 1.0, 1.5}, 4);
}

START_TEST(helium_with_plasma_along_a_gradient_is_the_reference)
{
    struct capillary_case c;
    helium_case(&c);
    capillary_case_set(&c, "stepper.rtol", 1e-7);
    compare(&c, &helium, 3);
    capillary_case_clear(&c);
}
END_TEST

START_TEST(argon_with_kerr_effect_alone_is_the_reference)
{
    struct capillary_case c;
    common(&c);
    capillary_case_gas(&c, "ArB");
    capillary_case_set(&c, "length", 1.0);
    capillary_case_set(&c, "pressure.constant", 1e5);
    capillary_case_set(&c, "pulse.energy", 50e-6);
    capillary_case_list(&c, "grid.wavelengths", (const double[]){200e-9, 4e-6}, 2);
    capillary_case_set(&c, "grid.window", 16384.0 * 1e-16);
    capillary_case_set(&c, "stepper.rtol", 1e-7);
    capillary_case_planes(&c, (const double[]){0.0, 0.25, 0.5, 1.0}, 4);
    compare(&c, &argon, 3);
    capillary_case_clear(&c);
}
END_TEST

int main(void)
{
    if (isa_check() != 0)
        return ISA_SKIPPED;
    Suite *const suite = suite_create("capillary fixtures");
    TCase *const tests = tcase_create("fixtures");
    tcase_set_timeout(tests, 200);
    tcase_add_test(tests, helium_with_plasma_along_a_gradient_is_the_reference);
    tcase_add_test(tests, argon_with_kerr_effect_alone_is_the_reference);
    suite_add_tcase(suite, tests);
    return unit_main(suite);
}
