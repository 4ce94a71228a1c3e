/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The energy of model capillary: nothing gives any, and what is absorbed is what is missing;
 * the phase that the Kerr effect gives. */
#include <math.h>
#include <string.h>

#include "kernels/models/pulse/capillary.h"
#include "kernels/models/pulse/constants.h"
#include "tests/kernels/capillary_case.h"
#include "tests/kernels/isa.h"
#include "tests/perturb/near.h"
#include "tests/unit_main.h"

/* The note of a name; NULL: none. */
static const struct layout_note *note_of(const struct plane_layout *layout, const char *name)
{
    for (int i = 0; i < layout->notes; i++)
        if (strcmp(layout->note[i].name, name) == 0)
            return &layout->note[i];
    return NULL;
}

/* Energies never rise; of a member that failed for its energy the planes before do not either.
 */
static void check_planes(const struct capillary_planes *p)
{
    for (long i = 1; i < p->planes; i++)
        ck_assert_double_le(p->observable[i][CAPILLARY_ENERGY],
                            1.01 * p->observable[0][CAPILLARY_ENERGY]);
}

/* Half a per cent ionised from the start, in a window whose planck taper of 10 fs is shorter
 * than the 13.3 fs of 4 um: an artefact of the edges. */
static void preionised_case(struct capillary_case *c)
{
    capillary_case_small(c);
    capillary_case_set(c, "pressure.constant", 1e5);
    capillary_case_set(c, "length", 0.04);
    capillary_case_set(c, "pulse.energy", 1e-9);
    capillary_case_choose(c, "plasma.rate", "adk");
    capillary_case_set(c, "plasma.preionised", 5e-3);
    c->params.planes = (struct plane_request){PLANES_COUNT, 9, NULL};
}

START_TEST(a_field_that_gains_energy_fails)
{
    static const char edges[] = "window taper in periods of twice the red limit";
    struct capillary_case c;
    struct plane_layout layout;
    preionised_case(&c);
    ck_assert_int_eq(capillary_ops.layout(&c.params, &layout), 0);
    const struct layout_note *note = note_of(&layout, edges);
    ck_assert_ptr_nonnull(note);
    ck_assert_rounding(note->value, 0.05 * 200e-15 * PULSE_C / 4e-6, 1e-12);
    ck_assert_ptr_nonnull(strstr(note->warning, "preionised"));
    struct capillary_planes p = capillary_case_run(&c);
    ck_assert_int_eq(p.row.outcome, ROW_FAILED);
    ck_assert_ptr_nonnull(strstr(p.row.reason, "nothing gives energy"));
    ck_assert_ptr_nonnull(strstr(p.row.reason, "of 1e-09 J at the input"));
    ck_assert_ptr_nonnull(strstr(p.row.reason, " m,"));
    ck_assert_int_lt((int)p.planes, 9);
    check_planes(&p);
    capillary_planes_free(&p);
    /* A longer taper does not reflect: the same gas keeps the energy and ends. */
    capillary_case_choose(&c, "windows.time", "sin2");
    ck_assert_int_eq(capillary_ops.layout(&c.params, &layout), 0);
    note = note_of(&layout, edges);
    ck_assert_ptr_nonnull(note);
    ck_assert_int_eq(note->warning[0], '\0');
    p = capillary_case_finish(&c);
    check_planes(&p);
    capillary_planes_free(&p);
    capillary_case_clear(&c);
}
END_TEST

/* 4 J in place of 60 uJ: the steps do not resolve the phase of the carrier, and what they leave
 * out of it is energy. */
START_TEST(an_envelope_that_gains_energy_fails)
{
    struct capillary_case c;
    capillary_case_small(&c);
    capillary_case_choose(&c, "field", "envelope");
    capillary_case_choose(&c, "kerr.response", "chi3");
    capillary_case_set(&c, "kerr.third_harmonic", 0.0);
    capillary_case_set(&c, "pressure.constant", 1e5);
    capillary_case_set(&c, "length", 0.05);
    capillary_case_set(&c, "pulse.energy", 5e-3);
    capillary_case_set(&c, "stepper.rtol", 0.05);
    struct capillary_planes p = capillary_case_run(&c);
    ck_assert_int_eq(p.row.outcome, ROW_FAILED);
    ck_assert_msg(strstr(p.row.reason, "nothing gives energy") != NULL, "%s", p.row.reason);
    capillary_planes_free(&p);
    capillary_case_clear(&c);
    /* With noise the energy is that of plane 0, and a pulse of no more than the noise may run.
     */
    capillary_case_small(&c);
    capillary_case_set(&c, "pulse.energy", 1e-18);
    c.seed = (struct seed){.noise = NOISE_ONE_PHOTON, .ensemble_seed = 1, .point_key = 7};
    p = capillary_case_finish(&c);
    ck_assert_double_gt(p.observable[0][CAPILLARY_ENERGY], 2e-18);
    capillary_planes_free(&p);
    capillary_case_clear(&c);
}
END_TEST

/* A leaky guide, 20 um wide at the exit: the red loses all within a centimetre. */
static void leaky_case(struct capillary_case *c, const char *field)
{
    capillary_case_small(c);
    capillary_case_list(c, "grid.wavelengths", (const double[]){300e-9, 3e-6}, 2);
    capillary_case_set(c, "length", 0.2);
    capillary_case_set(c, "pulse.duration", 5e-15);
    capillary_case_set(c, "pulse.energy", 1e-12);
    capillary_case_set(c, "pressure.constant", 2e4);
    capillary_case_choose(c, "guide.prefactor", "vacuum");
    capillary_case_choose(c, "field", field);
    capillary_case_set(c, "kerr.third_harmonic", strcmp(field, "real") == 0 ? 1.0 : 0.0);
    capillary_case_taper(c, (const double[]){0.0, 0.2}, (const double[]){30e-6, 20e-6}, 2);
}

/* What is absorbed at each plane against what is missing there. */
static void check_absorbed(const struct capillary_case *c, double tolerance)
{
    struct capillary_planes p = capillary_case_finish(c);
    const double entry = p.observable[0][CAPILLARY_ENERGY];
    ck_assert_double_le(fabs(p.observable[0][CAPILLARY_ABSORBED]), 0.0);
    for (long i = 1; i < p.planes; i++)
        ck_assert_ratio(p.observable[i][CAPILLARY_ABSORBED],
                        entry - p.observable[i][CAPILLARY_ENERGY], tolerance,
                        (entry - p.observable[i][CAPILLARY_ENERGY]) * (1.0 + 3.0 * tolerance),
                        "three tolerances more absorbed");
    ck_assert_double_lt(p.observable[p.planes - 1][CAPILLARY_ENERGY], 0.5 * entry);
    capillary_planes_free(&p);
}

START_TEST(what_is_absorbed_is_what_is_missing_whatever_the_steps)
{
    static const char *const fields[] = {"real", "envelope"};
    for (int i = 0; i < 2; i++) {
        struct capillary_case c;
        leaky_case(&c, fields[i]);
        /* One step a plane: exact but for rounding. */
        check_absorbed(&c, 1e-12);
        c.params.planes = (struct plane_request){PLANES_COUNT, 31, NULL};
        check_absorbed(&c, 1e-12);
        /* All is lost within the first of them, e^-1000 and less of the red. */
        capillary_case_taper(&c, (const double[]){0.0, 0.2}, (const double[]){8e-6, 4e-6}, 2);
        check_absorbed(&c, 1e-12);
        /* The Kerr effect takes nothing; the loss is that of the mean over steps of its
         * phase. */
        capillary_case_clear(&c);
        leaky_case(&c, fields[i]);
        capillary_case_choose(&c, "kerr.response", "chi3");
        capillary_case_choose(&c, "windows.time", "none");
        capillary_case_choose(&c, "windows.spectral", "none");
        capillary_case_list(&c, "grid.wavelengths", (const double[]){200e-9, 3e-6}, 2);
        capillary_case_set(&c, "pulse.energy", 1e-6);
        capillary_case_set(&c, "stepper.rtol", 1e-8);
        check_absorbed(&c, 1e-6);
        capillary_case_clear(&c);
    }
}
END_TEST

/* Of argon at 1 bar, 1 mm, where the pulse stays as it is: gamma P0 L with n2 of physics.md
 * §2.5, Aeff of §3.1, P0 = 2 sqrt(ln 2/pi) energy/duration, less what the highest sample lies
 * below: half a step from the crest at the most, and the crest beside the peak by a share of a
 * quarter of a period, which the carrier's phase sets. */
START_TEST(the_b_integral_is_that_of_the_highest_sample)
{
    const double period = 800e-9 / PULSE_C;
    const double gamma =
        8.370856e-24 * 2.0 * PULSE_PI / 800e-9 / (1.4971689509 * 125e-6 * 125e-6);
    const double power = 2.0 * sqrt(log(2.0) / PULSE_PI) * 60e-6 / 10e-15;
    for (int i = 0; i <= 4; i++) {
        struct capillary_case c;
        capillary_case_small(&c);
        capillary_case_set(&c, "pressure.constant", 1e5);
        capillary_case_set(&c, "length", 1e-3);
        capillary_case_choose(&c, "kerr.response", "chi3");
        capillary_case_set(&c, "grid.fine", i < 2 ? 2048.0 : 4000.0);
        capillary_case_set(&c, "pulse.phases.cep", 0.125 * PULSE_PI * i);
        struct capillary_planes p = capillary_case_finish(&c);
        const double samples = period / (200e-15 / (i < 2 ? 2048.0 : 4000.0));
        const double beside = 0.0625 * i * period / 10e-15;
        const double sampled = PULSE_PI * PULSE_PI / (samples * samples);
        const double got = p.observable[1][CAPILLARY_B_INTEGRAL] / (gamma * power * 1e-3);
        /* The pulse spreads and loses energy by less than 1e-3 on the way. */
        const double share = exp(-4.0 * log(2.0) * beside * beside);
        ck_assert_near(got, share - 0.5 * sampled, 0.5 * sampled + 1e-3, share + sampled + 2e-3,
                       "a sample above the crest");
        capillary_planes_free(&p);
        capillary_case_clear(&c);
    }
}
END_TEST

int main(void)
{
    if (isa_check() != 0)
        return ISA_SKIPPED;
    Suite *const suite = suite_create("capillary energy");
    TCase *const tests = tcase_create("energy");
    tcase_set_timeout(tests, 60);
    tcase_add_test(tests, a_field_that_gains_energy_fails);
    tcase_add_test(tests, an_envelope_that_gains_energy_fails);
    tcase_add_test(tests, what_is_absorbed_is_what_is_missing_whatever_the_steps);
    tcase_add_test(tests, the_b_integral_is_that_of_the_highest_sample);
    suite_add_tcase(suite, tests);
    return unit_main(suite);
}
