/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The envelope variant of model capillary: against closed forms, conservation laws, model gnlse
 * and the real field, whose bins it shares. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/base/mem.h"
#include "kernels/base/status.h"
#include "kernels/models/pulse/atomic.h"
#include "kernels/models/pulse/capillary.h"
#include "kernels/models/pulse/marcatili.h"
#include "kernels/models/pulse/real_grid.h"
#include "kernels/models/pulse/response.h"
#include "tests/exact.h"
#include "tests/kernels/capillary_case.h"
#include "tests/kernels/gnlse_case.h"
#include "tests/kernels/isa.h"
#include "tests/perturb/near.h"
#include "tests/unit_main.h"

#define U_HE11  2.404825557695773
#define AREA    1.4971689509 /* Aeff of HE11 over the square of the radius, physics.md §9 */
#define OMEGA_0 (2.0 * PULSE_PI * PULSE_C / 800e-9)

/* A small grid around the carrier, an envelope, nothing nonlinear. */
static void small_case(struct capillary_case *c)
{
    capillary_case_init(c);
    capillary_case_unset(c, "grid.fine");
    capillary_case_unset(c, "grid.coarse");
    capillary_case_list(c, "grid.wavelengths", (const double[]){300e-9, 2e-6}, 2);
    capillary_case_set(c, "grid.window", 400e-15);
    capillary_case_set(c, "length", 0.2);
    capillary_case_set(c, "guide.wall.index", 1.45);
    capillary_case_set(c, "pulse.duration", 30e-15);
    capillary_case_choose(c, "kerr.third_harmonic", "false");
    capillary_case_choose(c, "field", "envelope");
}

/* The same with the Kerr effect of a bar of argon: a nonlinear phase of some radians. */
static void kerr_case(struct capillary_case *c)
{
    small_case(c);
    capillary_case_choose(c, "kerr.response", "chi3");
    capillary_case_set(c, "pressure.constant", 1e5);
}

/* ||a - b||/||b|| of the last planes of both. */
static double end_distance(const struct capillary_planes *a, const struct capillary_planes *b)
{
    ck_assert_int_eq(a->bins, b->bins);
    return capillary_distance(a->field + (a->planes - 1) * a->bins,
                              b->field + (b->planes - 1) * b->bins, a->bins);
}

/* How far the field moved from its input. */
static double way_of(const struct capillary_planes *p)
{
    return capillary_distance(p->field + (p->planes - 1) * p->bins, p->field, p->bins);
}

/* The envelope and the real field of a case lead to the same bins. */
static void check_real(struct capillary_case *c, double tolerance)
{
    capillary_case_choose(c, "field", "envelope");
    struct capillary_planes envelope = capillary_case_finish(c);
    capillary_case_choose(c, "field", "real");
    struct capillary_planes real = capillary_case_finish(c);
    const double *const want = real.observable[1];
    const double *const got = envelope.observable[1];
    ck_assert_double_gt(way_of(&real), 0.1);
    const double distance = end_distance(&envelope, &real);
    ck_assert_norm(distance, tolerance);
    ck_assert_ratio(got[CAPILLARY_ENERGY], want[CAPILLARY_ENERGY], 2.0 * tolerance,
                    want[CAPILLARY_ENERGY] * (1.0 + 6.0 * tolerance),
                    "an energy larger by six tolerances");
    ck_assert_ratio(got[CAPILLARY_OMEGA_MEAN], want[CAPILLARY_OMEGA_MEAN], tolerance,
                    want[CAPILLARY_OMEGA_MEAN] * (1.0 + 3.0 * tolerance),
                    "a centre higher by three tolerances");
    ck_assert_near(got[CAPILLARY_ABSORBED], want[CAPILLARY_ABSORBED],
                   1e-6 * want[CAPILLARY_ENERGY],
                   want[CAPILLARY_ABSORBED] + 3e-6 * want[CAPILLARY_ENERGY],
                   "3e-6 of the energy more absorbed");
    /* Samples of the power: as far apart as the band allows. */
    ck_assert_ratio(got[CAPILLARY_PEAK_POWER], want[CAPILLARY_PEAK_POWER], 5e-3,
                    want[CAPILLARY_PEAK_POWER] * 1.01, "a peak higher by a hundredth");
    ck_assert_ratio(got[CAPILLARY_FWHM_T], want[CAPILLARY_FWHM_T], 1e-2,
                    want[CAPILLARY_FWHM_T] * 1.03, "a width larger by three hundredths");
    /* The highest sample of a real field lies below the crest. */
    ck_assert_ratio(got[CAPILLARY_B_INTEGRAL], want[CAPILLARY_B_INTEGRAL], 0.02,
                    want[CAPILLARY_B_INTEGRAL] * 1.05, "a nonlinearity larger by a twentieth");
    capillary_planes_free(&envelope);
    capillary_planes_free(&real);
}

/* Share of the amplitude of |E|^2 E that lies below zero frequency, where its mirror falls into
 * the band: from half the red limit on, bin 30. */
static double negative_share(const cplx *field, long bins)
{
    const long n = 4 * bins; /* holds what three bins make */
    double below = 0.0;
    double all = 0.0;
    cplx *const spectrum = calloc((size_t)n, sizeof *spectrum);
    memcpy(spectrum, field, (size_t)bins * sizeof *spectrum);
    cplx *const samples = case_samples(spectrum, n);
    for (long j = 0; j < n; j++)
        samples[j] = cplx_scale(cplx_abs2(samples[j]), samples[j]);
    cplx *const response = case_spectrum(samples, n);
    for (long k = 0; k < n; k++) {
        below += k > 2 * bins && n - k >= 30 ? cplx_abs2(response[k]) : 0.0;
        all += cplx_abs2(response[k]);
    }
    free(spectrum);
    free(samples);
    free(response);
    return sqrt(below / all);
}

/* physics.md §9: real without third harmonic = envelope. What the envelope lacks is the mirror
 * of the part of |E|^2 E below zero frequency: nothing of 30 fs, some 1e-8 of 10 fs whose
 * spectrum has spread. Over the nonlinear phase B it cannot do more than B times its share,
 * which is largest at the end. Besides there is rounding: 16 eps a step, and what the choice of
 * steps makes of it. */
START_TEST(an_envelope_is_the_real_field_without_third_harmonic)
{
    static const double durations[] = {30e-15, 10e-15};
    for (int i = 0; i < 2; i++) {
        struct capillary_case c;
        kerr_case(&c);
        capillary_case_set(&c, "length", i == 0 ? 0.2 : 0.1);
        capillary_case_set(&c, "pulse.duration", durations[i]);
        struct capillary_planes p = capillary_case_finish(&c);
        const double share = negative_share(p.field + p.bins, p.bins);
        const double phase = p.observable[1][CAPILLARY_B_INTEGRAL];
        ck_assert_double_gt(phase, 1.0);
        ck_assert_norm(share, i == 0 ? 1e-13 : 1e-5);
        check_real(&c, phase * share + 1e-12);
        capillary_planes_free(&p);
        capillary_case_clear(&c);
    }
}
END_TEST

/* E_3 makes (3/4) E_3 conj(E_1)^2 at the fundamental: against (3/4)|E_1|^2 E_1, whose phase is
 * B, less than the largest |E_3/E_1| along the way. */
START_TEST(what_the_third_harmonic_does_to_the_fundamental_is_all_that_is_missing)
{
    struct capillary_case c;
    kerr_case(&c);
    capillary_case_list(&c, "grid.wavelengths", (const double[]){200e-9, 2e-6}, 2);
    capillary_case_list(&c, "bands.uv", (const double[]){230e-9, 310e-9}, 2);
    capillary_case_set(&c, "length", 0.05);
    c.params.planes = (struct plane_request){PLANES_COUNT, 21, NULL};
    struct capillary_planes envelope = capillary_case_finish(&c);
    capillary_case_choose(&c, "field", "real");
    capillary_case_choose(&c, "kerr.third_harmonic", "true");
    struct capillary_planes real = capillary_case_finish(&c);
    double share = 0.0;
    for (int i = 0; i < 21; i++)
        share = fmax(share, real.observable[i][CAPILLARY_ENERGY_UV] / 60e-6);
    const double phase = real.observable[20][CAPILLARY_B_INTEGRAL];
    const long fundamental = real.bins / 2; /* to 400 nm */
    const double distance = capillary_distance(envelope.field + 20 * real.bins,
                                               real.field + 20 * real.bins, fundamental);
    ck_assert_double_gt(share, 1e-9);
    ck_assert_double_gt(distance, 1e-6);
    ck_assert_norm(distance, phase * sqrt(share));
    capillary_planes_free(&envelope);
    capillary_planes_free(&real);
    capillary_case_clear(&c);
}
END_TEST

/* An empty guide in its reduced form: n - 1 = -(c u/(omega a))^2/2, so the phase against the
 * frame is (c u^2 L/(2 a^2)) (1/omega + omega/omega0^2), up to a constant, and beta2 = -c
 * u^2/(omega0^3 a^2). */
START_TEST(a_linear_gaussian_spreads_as_its_closed_form)
{
    const double radius = 20e-6;
    const double length = 1.0;
    const double scale = PULSE_C * U_HE11 * U_HE11 / (radius * radius);
    struct capillary_case c;
    small_case(&c);
    capillary_case_set(&c, "core_radius", radius);
    capillary_case_set(&c, "pressure.constant", 0.0);
    capillary_case_set(&c, "guide.loss", 0.0);
    capillary_case_set(&c, "length", length);
    struct capillary_planes p = capillary_case_finish(&c);
    ck_assert_int_eq(p.row.steps, 1);
    for (long k = 0; k < p.bins; k++) {
        if (cplx_abs2(p.field[k]) < 1e-20 * cplx_abs2(p.field[p.bins / 4]))
            continue;
        const double want =
            0.5 * scale * length * (1.0 / p.omega[k] + p.omega[k] / (OMEGA_0 * OMEGA_0));
        const cplx turn = cplx_mul_conj(p.field[p.bins + k], p.field[k]);
        ck_assert_near(remainder(atan2(turn.i, turn.r) - want, 2.0 * PULSE_PI), 0.0, 1e-9, 1e-8,
                       "1e-8 rad more");
        ck_assert_rounding(cplx_abs2(p.field[p.bins + k]), cplx_abs2(p.field[k]), 1e-12);
    }
    /* T sqrt(1 + (L/L_D)^2) but for the third order, T0^3/beta3 being 14 m. */
    const double t0 = 30e-15 / (2.0 * sqrt(log(2.0)));
    const double beta2 = scale / pow(OMEGA_0, 3.0);
    const double ratio = length * beta2 / (t0 * t0);
    ck_assert_double_gt(ratio, 0.9);
    ck_assert_ratio(p.observable[0][CAPILLARY_FWHM_T], 30e-15, 1e-4, 30.01e-15,
                    "a width larger by 3e-4");
    ck_assert_ratio(p.observable[1][CAPILLARY_FWHM_T], 30e-15 * sqrt(1.0 + ratio * ratio), 1e-2,
                    30e-15 * sqrt(1.0 + 1.1 * ratio * ratio),
                    "a dispersion larger by a twentieth");
    capillary_planes_free(&p);
    capillary_case_clear(&c);
}
END_TEST

/* |E|^2 E turns pairs of photons into pairs, whose frequencies have the same sum. */
START_TEST(the_kerr_effect_conserves_energy_and_photons)
{
    struct capillary_case c;
    kerr_case(&c);
    capillary_case_set(&c, "guide.loss", 0.0);
    capillary_case_choose(&c, "guide.prefactor", "vacuum");
    capillary_case_choose(&c, "windows.time", "none");
    capillary_case_choose(&c, "windows.spectral", "none");
    capillary_case_set(&c, "pulse.duration", 10e-15);
    capillary_case_set(&c, "stepper.rtol", 1e-9);
    struct capillary_planes p = capillary_case_finish(&c);
    const double *const in = p.observable[0];
    const double *const out = p.observable[1];
    ck_assert_double_gt(out[CAPILLARY_B_INTEGRAL], 2.0);
    ck_assert_ratio(out[CAPILLARY_ENERGY], in[CAPILLARY_ENERGY], 1e-8,
                    in[CAPILLARY_ENERGY] * (1.0 + 1e-7), "an energy larger by 1e-7");
    ck_assert_ratio(out[CAPILLARY_PHOTON_NUMBER], in[CAPILLARY_PHOTON_NUMBER], 1e-8,
                    in[CAPILLARY_PHOTON_NUMBER] * (1.0 + 1e-7), "photons more by 1e-7");
    capillary_planes_free(&p);
    capillary_case_clear(&c);
}
END_TEST

/* gamma = n2 omega0/(c Aeff), n2 = (3/4) rho gamma3/(eps0 c) with the prefactor of vacuum. */
static double gamma_of(double rho, double radius)
{
    double gamma3 = 0.0;
    ck_assert_int_eq(gas_gamma3(GAS_AR, DENSITY_HELMHOLTZ, &gamma3), 0);
    return 0.75 * rho * gamma3 / (PULSE_EPS0 * PULSE_C) * OMEGA_0
           / (PULSE_C * AREA * radius * radius);
}

/* beta at 800 nm and its derivatives to the fifth. */
static void betas_of(double rho, double radius, double *beta)
{
    struct mixture gas;
    struct glass wall;
    struct guide_bin bin;
    const struct mixture_request request = {
        .count = 1, .gas = {GAS_AR}, .fraction = {1.0}, .temperature = 293.15};
    ck_assert_int_eq(mixture_init(&gas, &request), 0);
    ck_assert_int_eq(glass_init(&wall, GLASS_CONSTANT, cplx_make(1.45, 0.0)), 0);
    struct guide guide = {.wall = &wall, .gas = &gas};
    ck_assert_int_eq(mode_parse("HE11", &guide.mode), 0);
    guide_bin_load(&guide, OMEGA_0, 5, &bin);
    const struct taylor t = guide_beta(&guide, &bin, (struct guide_place){rho, radius});
    for (int k = 0; k <= 5; k++)
        beta[k] = taylor_derivative(&t, k).r;
    glass_clear(&wall);
}

#define PERIODS 400 /* of the carrier in the window, which is so on a bin */
#define POINTS  512

/* A pulse of 40 fs of order 3 over half of its way to the fission, self-steepening too. */
static struct capillary_planes run_narrow(double *rho)
{
    struct capillary_case c;
    kerr_case(&c);
    capillary_case_set(&c, "grid.window", PERIODS * 800e-9 / PULSE_C);
    capillary_case_list(&c, "grid.wavelengths", (const double[]){500e-9, 2e-6}, 2);
    capillary_case_set(&c, "core_radius", 40e-6);
    capillary_case_set(&c, "guide.loss", 0.0);
    capillary_case_choose(&c, "guide.prefactor", "vacuum");
    capillary_case_choose(&c, "windows.time", "none");
    capillary_case_choose(&c, "windows.spectral", "none");
    capillary_case_set(&c, "pulse.duration", 40e-15);
    capillary_case_set(&c, "pulse.energy", 20e-6);
    capillary_case_set(&c, "stepper.rtol", 1e-9);
    struct capillary_planes p = capillary_case_finish(&c);
    *rho = p.observable[0][CAPILLARY_DENSITY];
    capillary_case_clear(&c);
    return p;
}

static void set_fibre(struct gnlse_case *g, double rho, const double *beta)
{
    case_init(g);
    case_set(g, "length", 0.2);
    case_set(g, "wavelength", 800e-9);
    case_set(g, "gamma", gamma_of(rho, 40e-6));
    case_betas(g, beta + 2, 4);
    case_set(g, "self_steepening", 1.0);
    case_set(g, "pulse.shape", 1.0);
    case_set(g, "pulse.duration", 40e-15);
    case_set(g, "pulse.energy", 20e-6);
    case_set(g, "grid.points", POINTS);
    case_set(g, "grid.window", PERIODS * 800e-9 / PULSE_C);
    case_set(g, "stepper.rtol", 1e-9);
}

START_TEST(a_narrow_band_is_that_of_model_gnlse)
{
    double rho = 0.0;
    double beta[6];
    struct gnlse_case g;
    struct capillary_planes p = run_narrow(&rho);
    betas_of(rho, 40e-6, beta);
    set_fibre(&g, rho, beta);
    struct gnlse_planes fibre = case_run(&g);
    ck_assert_int_eq(fibre.row.outcome, ROW_DONE);
    ck_assert_double_gt(p.observable[1][CAPILLARY_B_INTEGRAL], 2.0);
    /* What the frames differ by: exp(-i (beta0 - beta1 omega0) z); here half the field, and at
     * an even number of periods the carrier is 1 where the window begins. */
    const double turn = -(beta[0] - beta[1] * OMEGA_0) * 0.2;
    cplx *const got = calloc(POINTS, sizeof *got);
    cplx *const want = calloc(POINTS, sizeof *want);
    for (long i = 0; i < POINTS; i++) {
        const long bin = PERIODS - POINTS / 2 + i;
        got[i] = bin < p.bins ? p.field[p.bins + bin] : cplx_make(0.0, 0.0);
        want[i] = cplx_mul(fibre.field[fibre.n + (i + POINTS / 2) % POINTS],
                           cplx_make(0.5 * cos(turn), 0.5 * sin(turn)));
    }
    const double distance = capillary_distance(got, want, POINTS);
    ck_assert_norm(distance, 1e-5);
    ck_assert_double_gt(way_of(&p), 1.0);
    ck_assert_ratio(p.observable[1][CAPILLARY_ENERGY], 20e-6, 1e-7, 20e-6 * (1.0 + 1e-6),
                    "an energy larger by 1e-6");
    free(got);
    free(want);
    capillary_planes_free(&p);
    planes_free(&fibre, &g);
}
END_TEST

static void raman_case(struct capillary_case *c, const char *gas)
{
    kerr_case(c);
    capillary_case_gas(c, gas);
    capillary_case_choose(c, "raman.model", "on");
    capillary_case_choose(c, "guide.prefactor", "vacuum");
    capillary_case_set(c, "guide.loss", 0.0);
    capillary_case_set(c, "pulse.energy", 100e-6);
}

/* The samples of h miss (Omega dt)^4/720 of a line, 4e-7 of hydrogen's vibration with the dt of
 * the real field, a sixth of 300 nm/c, and somewhat less with that of the envelope. */
START_TEST(molecules_shift_an_envelope_as_they_shift_the_real_field)
{
    static const char *const gases[] = {"H2", "N2"};
    for (int i = 0; i < 2; i++) {
        struct capillary_case c;
        raman_case(&c, gases[i]);
        check_real(&c, 1e-6);
        capillary_case_choose(&c, "field", "envelope");
        struct capillary_planes p = capillary_case_finish(&c);
        const double *const in = p.observable[0];
        const double *const out = p.observable[1];
        const double shift = out[CAPILLARY_OMEGA_MEAN] / in[CAPILLARY_OMEGA_MEAN] - 1.0;
        const double photons = out[CAPILLARY_PHOTON_NUMBER] / in[CAPILLARY_PHOTON_NUMBER] - 1.0;
        ck_assert_msg(shift < -3e-4, "%s: %g", gases[i], shift);
        ck_assert_near(photons, 0.0, 0.01 * fabs(shift), shift,
                       "energy kept in place of photons");
        capillary_planes_free(&p);
        capillary_case_clear(&c);
    }
}
END_TEST

START_TEST(gradients_and_tapers_act_as_on_the_real_field)
{
    static const char *const words[] = {"marcatili_reduced", "marcatili"};
    for (int i = 0; i < 2; i++) {
        struct capillary_case c;
        raman_case(&c, "H2");
        capillary_case_choose(&c, "guide.prefactor", "mode");
        capillary_case_set(&c, "guide.loss", 1.0);
        capillary_case_choose(&c, "guide.model", words[i]);
        capillary_case_gradient(&c, 2e5, 0.0);
        check_real(&c, 1e-6);
        capillary_case_clear(&c);
        kerr_case(&c);
        capillary_case_choose(&c, "guide.model", words[i]);
        capillary_case_unset(&c, "core_radius");
        capillary_case_list(&c, "core_radius.z", (const double[]){0.0, 0.2}, 2);
        capillary_case_list(&c, "core_radius.radius", (const double[]){125e-6, 110e-6}, 2);
        check_real(&c, 1e-10);
        capillary_case_clear(&c);
    }
}
END_TEST

START_TEST(a_gradient_between_equal_pressures_is_a_constant_one)
{
    struct capillary_case c;
    raman_case(&c, "H2");
    struct capillary_planes constant = capillary_case_finish(&c);
    capillary_case_gradient(&c, 1e5, 1e5);
    struct capillary_planes same = capillary_case_finish(&c);
    ck_assert(equal_bits(constant.field, same.field,
                         2 * (size_t)constant.bins * sizeof *constant.field));
    capillary_case_gradient(&c, 1e5, 1e5 * (1.0 + 1e-10));
    struct capillary_planes near = capillary_case_finish(&c);
    ck_assert_norm(end_distance(&near, &constant), 1e-8);
    ck_assert_double_gt(way_of(&constant), 0.1);
    capillary_planes_free(&constant);
    capillary_planes_free(&same);
    capillary_planes_free(&near);
    capillary_case_clear(&c);
}
END_TEST

/* The pulse where w of the absorber in time is 0.977, 80 fs from the end. */
START_TEST(absorbers_are_those_of_the_real_field)
{
    struct capillary_case c;
    kerr_case(&c);
    capillary_case_set(&c, "grid.window", 2e-12);
    capillary_case_set(&c, "pulse.phases.delay", 0.46 * 2e-12);
    capillary_case_set(&c, "absorber.time", 0.02);
    capillary_case_set(&c, "absorber.spectral", 0.1);
    struct capillary_planes p = capillary_case_finish(&c);
    ck_assert_double_lt(p.observable[1][CAPILLARY_ENERGY], 50e-6);
    ck_assert_ratio(
        p.observable[1][CAPILLARY_ABSORBED],
        p.observable[0][CAPILLARY_ENERGY] - p.observable[1][CAPILLARY_ENERGY], 1e-2,
        1.03 * (p.observable[0][CAPILLARY_ENERGY] - p.observable[1][CAPILLARY_ENERGY]),
        "three hundredths more absorbed");
    capillary_planes_free(&p);
    /* The rate has a kink where it is capped, 2 fs before the end; 5e-5 of the field is there.
     */
    check_real(&c, 1e-6);
    capillary_case_clear(&c);
}
END_TEST

START_TEST(each_active_bin_gets_one_photon_of_noise)
{
    struct capillary_case c;
    small_case(&c);
    struct capillary_planes quiet = capillary_case_finish(&c);
    c.seed = (struct seed){.noise = NOISE_ONE_PHOTON, .ensemble_seed = 1, .point_key = 7};
    struct capillary_planes noisy = capillary_case_finish(&c);
    long bins = 0;
    for (long k = 0; k < quiet.bins; k++) {
        /* Rounding of the sum with a pulse of 1e15 photons. */
        if (cplx_abs2(quiet.field[k]) > 1.0)
            continue;
        const double energy =
            4.0 * 400e-15 * cplx_abs2(cplx_sub(noisy.field[k], quiet.field[k]));
        if (energy > 0.0)
            ck_assert_ratio(energy, PULSE_HBAR * quiet.omega[k], 1e-9,
                            PULSE_HBAR * quiet.omega[k] * (1.0 + 1e-8),
                            "a photon larger by 1e-8");
        bins += energy > 0.0;
    }
    ck_assert_int_gt(bins, 300);
    capillary_planes_free(&quiet);
    capillary_planes_free(&noisy);
    capillary_case_clear(&c);
}
END_TEST

/* Twice the bins hold all that |A|^2 A makes in the band; as many as the bins do not. */
START_TEST(the_grid_that_is_chosen_folds_nothing_back)
{
    struct capillary_case c;
    kerr_case(&c);
    capillary_case_choose(&c, "windows.time", "none");
    capillary_case_set(&c, "pulse.duration", 5e-15);
    capillary_case_set(&c, "length", 0.05);
    struct capillary_planes chosen = capillary_case_finish(&c);
    capillary_case_set(&c, "grid.fine", 2400.0);
    struct capillary_planes finer = capillary_case_finish(&c);
    capillary_case_set(&c, "grid.fine", 450.0);
    struct capillary_planes least = capillary_case_finish(&c);
    ck_assert_norm(end_distance(&chosen, &finer), 1e-10);
    ck_assert_double_gt(end_distance(&least, &finer), 1e-6);
    capillary_planes_free(&chosen);
    capillary_planes_free(&finer);
    capillary_planes_free(&least);
    capillary_case_clear(&c);
}
END_TEST

static double note_of(const struct capillary_case *c, const char *name)
{
    struct plane_layout layout;
    ck_assert_int_eq(capillary_ops.layout(&c->params, &layout), 0);
    for (int i = 0; i < layout.notes; i++)
        if (strcmp(layout.note[i].name, name) == 0)
            return layout.note[i].value;
    ck_abort_msg("no note %s", name);
}

/* From half the red limit to 1.1 of the blue one. */
START_TEST(a_grid_is_as_small_as_its_band_allows)
{
    struct capillary_case c;
    kerr_case(&c);
    const double bins = 400e-15 * PULSE_C * (1.1 / 300e-9 - 0.5 / 2e-6);
    ck_assert_double_ge(note_of(&c, "fine samples"), 2.0 * (bins - 2.0));
    ck_assert_double_le(note_of(&c, "fine samples"), 1.1 * 2.0 * bins);
    ck_assert_double_ge(note_of(&c, "complex fine samples a bin of the band"), 2.0);
    capillary_case_clear(&c);
}
END_TEST

/* 1 + 6 evaluations a trial; the transforms of one are two complex ones, and what each option
 * adds. */
static void check_counts(const char *name, const char *word, int transforms, int passes)
{
    struct capillary_case c;
    kerr_case(&c);
    capillary_case_set(&c, "length", 0.01);
    capillary_case_gas(&c, "N2");
    capillary_case_choose(&c, "raman.model", "none");
    capillary_case_choose(&c, name, word);
    capillary_case_check_counts(&c, transforms, passes);
    capillary_case_clear(&c);
}

START_TEST(transforms_and_passes_are_those_of_the_design)
{
    check_counts("kerr.third_harmonic", "false", 2, RESPONSE_PASSES_KERR);
    check_counts("raman.model", "on", 4, RESPONSE_PASSES_KERR + 2);
    check_counts("absorber.time", "0.1", 3, RESPONSE_PASSES_KERR + 2);
}
END_TEST

/* The case is refused with a line that holds the words; then it is cleared. */
static void refuses(struct capillary_case *c, int code, const char *word, const char *other)
{
    capillary_case_refused(c, code, word, other);
    ck_assert_int_eq(mem_live(), 0);
}

START_TEST(what_follows_the_carrier_is_refused_by_name)
{
    struct capillary_case c;
    kerr_case(&c);
    capillary_case_choose(&c, "plasma.rate", "auto");
    refuses(&c, ERR_UNSUPPORTED, "field", "plasma: none");
    kerr_case(&c);
    capillary_case_choose(&c, "plasma.rate", "adk");
    capillary_case_choose(&c, "plasma.rule", "trapezoid");
    refuses(&c, ERR_UNSUPPORTED, "field", "plasma");
    kerr_case(&c);
    capillary_case_choose(&c, "kerr.third_harmonic", "true");
    refuses(&c, ERR_UNSUPPORTED, "field", "third_harmonic: false");
    raman_case(&c, "H2");
    capillary_case_choose(&c, "kerr.response", "none");
    capillary_case_choose(&c, "kerr.third_harmonic", "true");
    refuses(&c, ERR_UNSUPPORTED, "field", "third_harmonic: false");
    kerr_case(&c);
    capillary_case_set(&c, "grid.fine", 256.0);
    refuses(&c, ERR_ARGUMENT, "grid.fine", "would do");
    /* Where nothing is nonlinear there is no third harmonic to leave out. */
    struct plane_layout layout;
    small_case(&c);
    capillary_case_choose(&c, "kerr.third_harmonic", "true");
    ck_assert_int_eq(capillary_ops.layout(&c.params, &layout), 0);
    capillary_case_clear(&c);
}
END_TEST

int main(void)
{
    if (isa_check() != 0)
        return ISA_SKIPPED;
    Suite *const suite = suite_create("envelope of a capillary");
    TCase *const tests = tcase_create("envelope");
    tcase_set_timeout(tests, 60);
    tcase_add_test(tests, an_envelope_is_the_real_field_without_third_harmonic);
    tcase_add_test(tests,
                   what_the_third_harmonic_does_to_the_fundamental_is_all_that_is_missing);
    tcase_add_test(tests, a_linear_gaussian_spreads_as_its_closed_form);
    tcase_add_test(tests, the_kerr_effect_conserves_energy_and_photons);
    tcase_add_test(tests, a_narrow_band_is_that_of_model_gnlse);
    tcase_add_test(tests, molecules_shift_an_envelope_as_they_shift_the_real_field);
    tcase_add_test(tests, gradients_and_tapers_act_as_on_the_real_field);
    tcase_add_test(tests, a_gradient_between_equal_pressures_is_a_constant_one);
    tcase_add_test(tests, absorbers_are_those_of_the_real_field);
    tcase_add_test(tests, each_active_bin_gets_one_photon_of_noise);
    tcase_add_test(tests, the_grid_that_is_chosen_folds_nothing_back);
    tcase_add_test(tests, a_grid_is_as_small_as_its_band_allows);
    tcase_add_test(tests, transforms_and_passes_are_those_of_the_design);
    tcase_add_test(tests, what_follows_the_carrier_is_refused_by_name);
    suite_add_tcase(suite, tests);
    return unit_main(suite);
}
