/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Input pulses and noise of the pulse models. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/contract/bounds.h"
#include "kernels/contract/compare.h"
#include "kernels/models/pulse/noise.h"
#include "kernels/models/pulse/perturb.h"
#include "tests/exact.h"
#include "tests/kernels/gnlse_case.h"
#include "tests/kernels/isa.h"
#include "tests/perturb/bounded.h"
#include "tests/perturb/near.h"
#include "tests/unit_main.h"

#define PI   3.14159265358979323846
#define HBAR 1.0545718176461565e-34

/* A case whose only plane is its input. */
static struct gnlse_planes input_of(struct gnlse_case *c)
{
    case_planes(c, (const double[]){0.0}, 1);
    return case_run(c);
}

START_TEST(a_sech_pulse_has_its_peak_power_duration_and_closed_energy)
{
    struct gnlse_case c;
    case_init(&c);
    case_set(&c, "pulse.peak_power", 1234.0);
    struct gnlse_planes p = input_of(&c);
    ck_assert_bounded(fabs(p.observable[0][2] / 1234.0 - 1.0), BOUND_input_field);
    /* E = 2 P T0 */
    const double energy = 1234.0 * 1e-13 / log(1.0 + sqrt(2.0));
    ck_assert_bounded(fabs(p.observable[0][0] / energy - 1.0), BOUND_input_energy);
    ck_assert_bounded(fabs(p.observable[0][3] / 1e-13 - 1.0), BOUND_fwhm_samples);
    ck_assert_exactly(p.observable[0][4], 0.0);
    ck_assert_int_eq(p.row.rhs_calls, 0); /* the input plane costs nothing */
    planes_free(&p, &c);
}
END_TEST

START_TEST(a_gauss_pulse_has_its_energy_and_closed_peak_power)
{
    struct gnlse_case c;
    case_init(&c);
    case_set(&c, "pulse.shape", 1.0);
    case_set(&c, "pulse.energy", 3e-10);
    struct gnlse_planes p = input_of(&c);
    ck_assert_bounded(fabs(p.observable[0][0] / 3e-10 - 1.0), BOUND_input_field);
    /* E = P duration sqrt(pi / ln 16) */
    const double power = 3e-10 / (1e-13 * sqrt(PI / log(16.0)));
    ck_assert_bounded(fabs(p.observable[0][2] / power - 1.0), BOUND_input_energy);
    planes_free(&p, &c);
}
END_TEST

START_TEST(a_positive_delay_moves_the_pulse_to_later_times)
{
    struct gnlse_case c;
    case_init(&c);
    case_set(&c, "pulse.peak_power", 10.0);
    const double dt = 4e-12 / 1024.0;
    case_set(&c, "pulse.phases.delay", 37.0 * dt);
    case_set(&c, "pulse.phases.cep", 0.4);
    struct gnlse_planes p = input_of(&c);
    ck_assert_near(p.observable[0][4], 37.0 * dt, 1e-6 * dt, 37.00001 * dt,
                   "1e-5 of a sample later");
    cplx *a = case_samples(p.field, p.n);
    const cplx peak = a[p.n / 2 + 37];
    ck_assert_bounded(fabs(peak.r - sqrt(10.0) * cos(0.4)), BOUND_closed_form);
    ck_assert_bounded(fabs(peak.i + sqrt(10.0) * sin(0.4)), BOUND_closed_form);
    free(a);
    planes_free(&p, &c);
}
END_TEST

START_TEST(dispersion_of_the_input_stretches_it_red_first_and_keeps_the_requested_peak)
{
    struct gnlse_case c;
    case_init(&c);
    case_set(&c, "pulse.shape", 1.0);
    case_set(&c, "pulse.peak_power", 10.0);
    const double t0 = 1e-13 / (2.0 * sqrt(log(2.0)));
    case_set(&c, "pulse.phases.gdd", 2.0 * t0 * t0);
    struct gnlse_planes p = input_of(&c);
    const double stretch = sqrt(5.0); /* sqrt(1 + (gdd / T0^2)^2) */
    ck_assert_bounded(fabs(p.observable[0][2] / 10.0 - 1.0), BOUND_closed_form);
    ck_assert_bounded(fabs(p.observable[0][3] / (stretch * 1e-13) - 1.0), BOUND_fwhm_samples);
    cplx *a = case_samples(p.field, p.n);
    const long early = p.n / 2 - 10;
    const cplx turn = cplx_mul_conj(a[early + 1], a[early - 1]);
    ck_assert_double_lt(atan2(turn.i, turn.r), 0.0);
    free(a);
    planes_free(&p, &c);
}
END_TEST

START_TEST(third_order_phase_delays_both_wings_of_the_spectrum)
{
    struct gnlse_case c;
    case_init(&c);
    case_set(&c, "pulse.shape", 1.0);
    case_set(&c, "pulse.peak_power", 10.0);
    const double tod = 2e-41;
    case_set(&c, "pulse.phases.tod", tod);
    struct gnlse_planes p = input_of(&c);
    /* Mean time = mean of dphi/dOmega = tod <Omega^2>/2. */
    double sum = 0.0;
    double mean = 0.0;
    double omega2 = 0.0;
    cplx *a = case_samples(p.field, p.n);
    for (long j = 0; j < p.n; j++) {
        sum += cplx_abs2(a[j]);
        mean += cplx_abs2(a[j]) * p.t[j];
    }
    double power = 0.0;
    for (long k = 0; k < p.n; k++) {
        power += cplx_abs2(p.field[k]);
        omega2 += cplx_abs2(p.field[k]) * p.Omega[k] * p.Omega[k];
    }
    const double want = tod / 2.0 * omega2 / power;
    ck_assert_bounded(fabs(mean / sum / want - 1.0), BOUND_closed_form);
    free(a);
    planes_free(&p, &c);
}
END_TEST

/* Noise alone: photons of each bin, hbar omega T |a|^2. */
static void noise_of(enum noise_kind kind, uint64_t realisation, long n, cplx *a)
{
    memset(a, 0, (size_t)n * sizeof *a);
    const struct pulse_spectrum spectrum = {a, n, 8e-12, 2.2559e15};
    const struct seed seed = {
        .noise = kind, .ensemble_seed = 11, .point_key = 5, .realisation = realisation};
    pulse_noise_add(&spectrum, &seed);
}

static double bin_frequency(long k, long n)
{
    return 2.2559e15 + 2.0 * PI / 8e-12 * (double)(k < n / 2 ? k : k - n);
}

START_TEST(one_photon_noise_is_exactly_one_photon_in_each_bin_with_uniform_phases)
{
    enum { N = 4096 };
    cplx *a = calloc(N, sizeof *a);
    noise_of(NOISE_ONE_PHOTON, 0, N, a);
    double cosine = 0.0;
    double sine = 0.0;
    for (long k = 0; k < N; k++) {
        const double photon = HBAR * bin_frequency(k, N) / 8e-12;
        ck_assert_bounded(fabs(cplx_abs2(a[k]) / photon - 1.0), BOUND_input_field);
        cosine += a[k].r / sqrt(photon);
        sine += a[k].i / sqrt(photon);
    }
    /* Sums of N independent cosines have the variance N/2. */
    ck_assert_bounded(fabs(cosine) / sqrt(N / 2.0), BOUND_sigmas);
    ck_assert_bounded(fabs(sine) / sqrt(N / 2.0), BOUND_sigmas);
    free(a);
}
END_TEST

START_TEST(gaussian_noises_are_half_a_photon_in_the_mean)
{
    enum { N = 1024, SHOTS = 100 };
    cplx *a = calloc(N, sizeof *a);
    for (int kind = NOISE_HALF_PHOTON_GAUSSIAN; kind <= NOISE_DIRECT; kind++) {
        double sum = 0.0;
        for (uint64_t shot = 0; shot < SHOTS; shot++) {
            noise_of((enum noise_kind)kind, shot, N, a);
            for (long k = 0; k < N; k++) {
                const double omega = kind == NOISE_DIRECT ? 2.2559e15 : bin_frequency(k, N);
                sum += cplx_abs2(a[k]) * 8e-12 / (HBAR * omega);
            }
        }
        /* |a|^2 is exponential: its standard deviation is its mean, 1/2. */
        const double error = 0.5 / sqrt((double)N * SHOTS);
        ck_assert_bounded(fabs(sum / ((double)N * SHOTS) - 0.5) / error, BOUND_sigmas);
    }
    free(a);
}
END_TEST

START_TEST(numbers_depend_on_seed_realisation_and_bin_alone)
{
    enum { N = 512 };
    cplx a[N];
    cplx again[N];
    cplx other[N];
    cplx wide[2 * N];
    for (int kind = NOISE_ONE_PHOTON; kind <= NOISE_DIRECT; kind++) {
        noise_of((enum noise_kind)kind, 3, N, a);
        noise_of((enum noise_kind)kind, 4, N, other);
        noise_of((enum noise_kind)kind, 3, N, again);
        noise_of((enum noise_kind)kind, 3, 2 * N, wide);
        ck_assert_int_eq(comparison_bits(a, again, sizeof *a, N), -1);
        for (long k = 0; k < N; k++) {
            ck_assert(!exactly(a[k].r, other[k].r));
            /* A finer time grid adds bins outside and keeps those inside. */
            const long same = k < N / 2 ? k : k + N;
            ck_assert_int_eq(comparison_bits(&a[k], &wide[same], sizeof *a, 1), -1);
        }
    }
}
END_TEST

START_TEST(bins_at_or_below_zero_frequency_get_no_noise)
{
    enum { N = 8192 };
    cplx *a = calloc(N, sizeof *a);
    long dark = 0;
    const struct pulse_spectrum spectrum = {a, N, 8e-12, 2.2559e15};
    for (int kind = NOISE_ONE_PHOTON; kind <= NOISE_DIRECT; kind++) {
        const struct seed seed = {.noise = (enum noise_kind)kind, .ensemble_seed = 1};
        memset(a, 0, N * sizeof *a);
        pulse_noise_add(&spectrum, &seed);
        for (long k = 0; k < N; k++)
            if (bin_frequency(k, N) <= 0.0) {
                ck_assert_exactly(cplx_abs2(a[k]), 0.0);
                dark++;
            }
    }
    ck_assert_int_gt(dark, 1000);
    free(a);
}
END_TEST

START_TEST(the_input_of_a_member_is_its_pulse_plus_its_noise)
{
    struct gnlse_case c;
    case_init(&c);
    case_set(&c, "pulse.peak_power", 100.0);
    struct gnlse_planes clean = input_of(&c);
    c.seed = (struct seed){.noise = NOISE_ONE_PHOTON, .ensemble_seed = 9, .point_key = 2};
    struct gnlse_planes noisy = input_of(&c);
    for (long k = 0; k < clean.n; k++) {
        const double photon = HBAR * clean.omega[k] / 4e-12;
        const double got = cplx_abs2(cplx_sub(noisy.field[k], clean.field[k]));
        ck_assert_bounded(fabs(got / photon - 1.0), BOUND_noise_difference);
    }
    planes_free(&clean, NULL);
    planes_free(&noisy, &c);
}
END_TEST

/* A wave in the bin of a signed number, perturbed: 26 modulations to each side up to a quarter
 * of 512 bins, and the wave itself, each 1/sqrt(53) of the whole. */
START_TEST(a_perturbation_modulates_the_field_and_is_as_large_as_asked_for)
{
    enum { BINS = 512, SHIFTS = 26 };
    static cplx a[BINS];
    const long places[] = {0, 3, BINS / 2};
    const struct seed seed = {.ensemble_seed = 4, .perturbation = 1e-3};
    const struct perturb_bins bins = {a, BINS, BINS / 2, BINS};
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        const bool lowest = places[i] == BINS / 2; /* nothing is below it */
        double sum = 0.0;
        int count = 0;
        for (long k = 0; k < BINS; k++)
            a[k] = cplx_make(0.0, 0.0);
        a[places[i]] = cplx_make(0.0, 2.0);
        ck_assert_int_eq(pulse_perturb(&bins, &seed), 0);
        a[places[i]].i -= 2.0;
        for (long k = 0; k < BINS; k++) {
            const long away = labs((k - places[i] + BINS + BINS / 2) % BINS - BINS / 2);
            sum += cplx_abs2(a[k]);
            count += cplx_abs2(a[k]) > 0.0;
            ck_assert(!(cplx_abs2(a[k]) > 0.0) || away <= BINS / 4);
        }
        ck_assert_bounded(fabs(sqrt(sum) / 2e-3 - 1.0), BOUND_noise_difference);
        ck_assert_int_eq(count, lowest ? 1 + SHIFTS : 1 + 2 * SHIFTS);
        ck_assert_bounded(fabs(cplx_abs2(a[places[i]]) * count / 4e-6 - 1.0),
                          BOUND_noise_difference);
    }
}
END_TEST

START_TEST(a_perturbation_stays_within_its_bins_and_is_the_seeds_own)
{
    enum { BINS = 64, FIRST = 5, COUNT = 40 };
    static cplx a[3][BINS];
    struct seed seed = {.noise = NOISE_ONE_PHOTON, .ensemble_seed = 4, .perturbation = 1e-3};
    for (int i = 0; i < 3; i++) {
        const struct perturb_bins bins = {a[i], BINS, FIRST, COUNT};
        for (long k = FIRST; k < FIRST + COUNT; k++)
            a[i][k] = cplx_make(exp(-0.01 * (double)((k - 20) * (k - 20))), 0.0);
        seed.realisation = i == 2;
        ck_assert_int_eq(pulse_perturb(&bins, &seed), 0);
    }
    for (long k = 0; k < BINS; k++)
        if (k < FIRST || k >= FIRST + COUNT)
            ck_assert(exactly(a[0][k].r, 0.0) && exactly(a[0][k].i, 0.0));
        else
            ck_assert(exactly(a[0][k].r, a[1][k].r) && exactly(a[0][k].i, a[1][k].i));
    ck_assert(!exactly(a[0][20].r, a[2][20].r));
    seed.perturbation = 0.0;
    const struct perturb_bins bins = {a[1], BINS, FIRST, COUNT};
    ck_assert_int_eq(pulse_perturb(&bins, &seed), 0);
    ck_assert(exactly(a[0][20].r, a[1][20].r));
    static cplx zero[BINS];
    const struct perturb_bins none = {zero, BINS, 0, BINS};
    seed.perturbation = 1e-3;
    ck_assert_int_eq(pulse_perturb(&none, &seed), 0);
    ck_assert(exactly(zero[20].r, 0.0));
}
END_TEST

int main(void)
{
    if (isa_check() != 0)
        return ISA_SKIPPED;
    Suite *const suite = suite_create("pulse input");
    TCase *const tests = tcase_create("pulses");
    tcase_add_test(tests, a_sech_pulse_has_its_peak_power_duration_and_closed_energy);
    tcase_add_test(tests, a_gauss_pulse_has_its_energy_and_closed_peak_power);
    tcase_add_test(tests, a_positive_delay_moves_the_pulse_to_later_times);
    tcase_add_test(tests,
                   dispersion_of_the_input_stretches_it_red_first_and_keeps_the_requested_peak);
    tcase_add_test(tests, third_order_phase_delays_both_wings_of_the_spectrum);
    tcase_add_test(tests,
                   one_photon_noise_is_exactly_one_photon_in_each_bin_with_uniform_phases);
    tcase_add_test(tests, gaussian_noises_are_half_a_photon_in_the_mean);
    tcase_add_test(tests, numbers_depend_on_seed_realisation_and_bin_alone);
    tcase_add_test(tests, bins_at_or_below_zero_frequency_get_no_noise);
    tcase_add_test(tests, the_input_of_a_member_is_its_pulse_plus_its_noise);
    tcase_add_test(tests, a_perturbation_modulates_the_field_and_is_as_large_as_asked_for);
    tcase_add_test(tests, a_perturbation_stays_within_its_bins_and_is_the_seeds_own);
    suite_add_tcase(suite, tests);
    return unit_main(suite);
}
