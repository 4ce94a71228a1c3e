/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Model gnlse against closed forms (physics.md §10). Everything in the convention of the store:
 * exp(+i omega t), the conjugate of most of the literature. */
#include <math.h>
#include <stdlib.h>

#include "kernels/contract/bounds.h"
#include "tests/kernels/gnlse_case.h"
#include "tests/kernels/isa.h"
#include "tests/perturb/bounded.h"
#include "tests/unit_main.h"

#define PI       3.14159265358979323846
#define SECH_T0  (2.0 * log(1.0 + sqrt(2.0))) /* duration of sech^2 / T0 */
#define GAUSS_T0 (2.0 * sqrt(log(2.0)))       /* duration of exp(-t^2/T0^2) / T0 */

static cplx polar(double phase)
{
    return cplx_make(cos(phase), sin(phase));
}

static double sech(double x)
{
    return 1.0 / cosh(x);
}

/* Soliton of order N: beta2 = -0.01 ps^2/m, gamma = 0.1 /(W m). */
static void soliton(struct gnlse_case *c, double order, double t0, double rtol)
{
    case_init(c);
    case_betas(c, (const double[]){-1e-26}, 1);
    case_set(c, "pulse.duration", SECH_T0 * t0);
    case_set(c, "pulse.peak_power", order * order * 1e-26 / (0.1 * t0 * t0));
    case_set(c, "stepper.rtol", rtol);
}

START_TEST(soliton_of_order_1_keeps_its_shape_and_turns_its_phase_over_10_periods)
{
    struct gnlse_case c;
    const double t0 = 0.3e-12;
    soliton(&c, 1.0, t0, 1e-9);
    const double period = PI / 2.0 * t0 * t0 / 1e-26;
    case_set(&c, "length", 10.0 * period);
    case_set(&c, "grid.window", 12e-12);
    struct gnlse_planes p = case_run(&c);
    ck_assert_int_eq(p.planes, 2);
    cplx *want = calloc((size_t)p.n, sizeof *want);
    for (long j = 0; j < p.n; j++)
        want[j] =
            cplx_scale(sqrt(1e-26 / 0.1) / t0 * sech(p.t[j] / t0), polar(-10.0 * PI / 4.0));
    cplx *spectrum = case_spectrum(want, p.n);
    ck_assert_bounded(case_distance(p.field + p.n, spectrum, p.n), BOUND_soliton_field);
    free(want);
    free(spectrum);
    planes_free(&p, &c);
}
END_TEST

/* Satsuma and Yajima, Prog. Theor. Phys. Suppl. 55, 284 (1974), eq. (4.13), conjugated. */
static cplx second_soliton(double xi, double tau)
{
    const cplx top = cplx_add(cplx_make(cosh(3.0 * tau), 0.0),
                              cplx_scale(3.0 * cosh(tau), polar(-4.0 * xi)));
    const double bottom = cosh(4.0 * tau) + 4.0 * cosh(2.0 * tau) + 3.0 * cos(4.0 * xi);
    return cplx_scale(4.0 / bottom, cplx_mul(top, polar(-xi / 2.0)));
}

START_TEST(soliton_of_order_2_follows_its_closed_form)
{
    struct gnlse_case c;
    const double t0 = 0.3e-12;
    const double dispersion = t0 * t0 / 1e-26;
    soliton(&c, 2.0, t0, 1e-9);
    const double xi[] = {0.0, 0.31, PI / 4.0, 1.9};
    case_set(&c, "length", 1.9 * dispersion);
    case_set(&c, "grid.window", 12e-12);
    case_planes(
        &c, (const double[]){0.0, 0.31 * dispersion, PI / 4.0 * dispersion, 1.9 * dispersion},
        4);
    struct gnlse_planes p = case_run(&c);
    ck_assert_int_eq(p.planes, 4);
    const double p0 = 4.0 * 1e-26 / (0.1 * t0 * t0);
    cplx *want = calloc((size_t)p.n, sizeof *want);
    for (long i = 0; i < 4; i++) {
        for (long j = 0; j < p.n; j++)
            want[j] = cplx_scale(sqrt(p0 / 4.0), second_soliton(xi[i], p.t[j] / t0));
        cplx *spectrum = case_spectrum(want, p.n);
        ck_assert_bounded(case_distance(p.field + i * p.n, spectrum, p.n), BOUND_soliton_field);
        free(spectrum);
    }
    /* At half a period the peak power is exactly four times that of the input. */
    ck_assert_double_le(fabs(p.observable[2][2] / (4.0 * p0) - 1.0),
                        2.0 * bound(BOUND_soliton_field) * sqrt((double)p.n));
    free(want);
    planes_free(&p, &c);
}
END_TEST

START_TEST(soliton_of_order_3_returns_after_one_period)
{
    struct gnlse_case c;
    const double t0 = 0.2e-12;
    soliton(&c, 3.0, t0, 1e-9);
    case_set(&c, "length", PI / 2.0 * t0 * t0 / 1e-26);
    case_set(&c, "grid.points", 4096.0);
    case_set(&c, "grid.window", 8e-12);
    struct gnlse_planes p = case_run(&c);
    ck_assert_int_eq(p.planes, 2);
    cplx *want = calloc((size_t)p.n, sizeof *want);
    for (long j = 0; j < p.n; j++)
        want[j] = cplx_make(3.0 * sqrt(1e-26 / 0.1) / t0 * sech(p.t[j] / t0), 0.0);
    cplx *spectrum = case_spectrum(want, p.n);
    ck_assert_bounded(case_distance(p.field, spectrum, p.n), BOUND_input_field);
    for (long k = 0; k < p.n; k++)
        spectrum[k] = cplx_mul(spectrum[k], polar(-PI / 4.0));
    ck_assert_bounded(case_distance(p.field + p.n, spectrum, p.n), BOUND_soliton_field);
    free(want);
    free(spectrum);
    planes_free(&p, &c);
}
END_TEST

/* Gaussian pulse of intensity exp(-t^2/T0^2), no dispersion. */
static void gauss_case(struct gnlse_case *c, double t0, double power)
{
    case_init(c);
    case_set(c, "pulse.shape", 1.0);
    case_set(c, "pulse.duration", GAUSS_T0 * t0);
    case_set(c, "pulse.peak_power", power);
}

static double rms_width(const struct gnlse_planes *p, long plane)
{
    double sum = 0.0;
    double square = 0.0;
    for (long k = 0; k < p->n; k++) {
        const double power = cplx_abs2(p->field[plane * p->n + k]);
        sum += power;
        square += power * p->Omega[k] * p->Omega[k];
    }
    return sqrt(square / sum);
}

START_TEST(self_phase_modulation_turns_the_phase_and_broadens_the_spectrum)
{
    struct gnlse_case c;
    gauss_case(&c, 0.1e-12, 100.0);
    case_set(&c, "length", 0.45); /* phi_max = 4.5 */
    case_set(&c, "stepper.rtol", 1e-9);
    struct gnlse_planes p = case_run(&c);
    cplx *want = case_samples(p.field, p.n);
    for (long j = 0; j < p.n; j++)
        want[j] = cplx_mul(want[j], polar(-0.1 * 0.45 * cplx_abs2(want[j])));
    cplx *spectrum = case_spectrum(want, p.n);
    ck_assert_bounded(case_distance(p.field + p.n, spectrum, p.n), BOUND_soliton_field);
    /* Pinault and Potasek, J. Opt. Soc. Am. B 2, 1318 (1985). */
    const double factor = sqrt(1.0 + 4.0 / (3.0 * sqrt(3.0)) * 4.5 * 4.5);
    ck_assert_bounded(fabs(rms_width(&p, 1) / rms_width(&p, 0) / factor - 1.0),
                      BOUND_closed_form);
    free(want);
    free(spectrum);
    planes_free(&p, &c);
}
END_TEST

START_TEST(a_gaussian_broadens_linearly_with_its_red_edge_first)
{
    struct gnlse_case c;
    const double t0 = 0.1e-12;
    gauss_case(&c, t0, 1.0);
    case_set(&c, "gamma", 0.0);
    case_betas(&c, (const double[]){2e-26}, 1);
    case_set(&c, "length", 1.5 * t0 * t0 / 2e-26); /* z = 1.5 L_D */
    struct gnlse_planes p = case_run(&c);
    const double stretch = sqrt(1.0 + 1.5 * 1.5);
    cplx *samples = case_samples(p.field + p.n, p.n);
    for (long j = 0; j < p.n; j++) {
        const double power = exp(-p.t[j] * p.t[j] / (t0 * t0 * stretch * stretch)) / stretch;
        ck_assert_bounded(fabs(cplx_abs2(samples[j]) - power), BOUND_closed_form);
    }
    /* beta2 > 0: low frequencies lead; Omega(t) = (z/L_D) t / (T0^2 (1 + (z/L_D)^2)). */
    const double dt = p.t[1] - p.t[0];
    const long j = p.n / 2 - 20;
    const cplx turn = cplx_mul_conj(samples[j + 1], samples[j - 1]);
    const double frequency = atan2(turn.i, turn.r) / (2.0 * dt);
    const double want = 1.5 * p.t[j] / (t0 * t0 * stretch * stretch);
    ck_assert_double_lt(frequency, 0.0);
    ck_assert_bounded(fabs(frequency / want - 1.0), BOUND_closed_form);
    free(samples);
    planes_free(&p, &c);
}
END_TEST

/* Self-steepening without dispersion: I moves at 3 gamma I/omega0 (DeMartini et al., Phys. Rev.
 * 164, 312, 1967), so I = I0(t - 3 (gamma/omega0) I z) until the shock. */
static double steepened(double t, double drift, double t0)
{
    double low = 0.0;
    double high = 1.0;
    for (int i = 0; i < 80; i++) { /* f falls in I while no characteristics cross */
        const double middle = 0.5 * (low + high);
        const double x = (t - drift * middle) / t0;
        if (exp(-x * x) > middle)
            low = middle;
        else
            high = middle;
    }
    return 0.5 * (low + high);
}

static double steepest(const cplx *samples, long n, double dt)
{
    double slope = 0.0;
    for (long j = 1; j + 1 < n; j++)
        slope =
            fmax(slope, (cplx_abs2(samples[j - 1]) - cplx_abs2(samples[j + 1])) / (2.0 * dt));
    return slope;
}

START_TEST(self_steepening_moves_the_power_to_the_trailing_edge_until_the_shock)
{
    struct gnlse_case c;
    const double t0 = 30e-15;
    const double power = 1000.0;
    gauss_case(&c, t0, power);
    case_set(&c, "self_steepening", 1.0);
    case_set(&c, "grid.points", 2048.0);
    case_set(&c, "grid.window", 0.8e-12);
    case_set(&c, "stepper.rtol", 1e-8);
    const double omega0 = 2.0 * PI * 299792458.0 / 835e-9;
    const double speed = 3.0 * 0.1 * power / omega0; /* of the peak, s/m */
    /* Steepest slope of exp(-x^2): sqrt(2/e); z_s = 0.39 L_NL/s. */
    const double shock = t0 / (speed * sqrt(2.0 / exp(1.0)));
    case_set(&c, "length", 0.6 * shock);
    case_planes(&c, (const double[]){0.0, 0.3 * shock, 0.6 * shock}, 3);
    struct gnlse_planes p = case_run(&c);
    ck_assert_int_eq(p.planes, 3);
    double slope[3];
    for (long i = 0; i < 3; i++) {
        cplx *samples = case_samples(p.field + i * p.n, p.n);
        const double drift = speed * 0.3 * (double)i * shock;
        for (long j = 0; j < p.n; j++)
            ck_assert_bounded(
                fabs(cplx_abs2(samples[j]) / power - steepened(p.t[j], drift, t0)),
                BOUND_steepening);
        slope[i] = steepest(samples, p.n, p.t[1] - p.t[0]);
        free(samples);
    }
    /* The steepest slope grows as 1/(1 - z/z_s): its reciprocal reaches zero at the shock. */
    const double found = 0.6 * shock / (1.0 - slope[0] / slope[2]);
    ck_assert_bounded(fabs(found / shock - 1.0), BOUND_shock_distance);
    planes_free(&p, &c);
}
END_TEST

/* Perturbation u of a continuous wave: A = (sqrt P + u) exp(-i gamma P z);
 * u_k' = -i (D + gamma P) u_k - i gamma P conj(u_-k), D = B(Omega): Agrawal, Nonlinear Fiber
 * Optics, ch. 5.1, conjugated. */
struct pair {
    cplx up, down;
};

static struct pair instability(struct pair u, double d, double strength, double z)
{
    const double square = d * (d + 2.0 * strength); /* K^2 */
    const double k = sqrt(fabs(square));
    const double c = square >= 0.0 ? cos(k * z) : cosh(k * z);
    const double s = square >= 0.0 ? sin(k * z) / k : sinh(k * z) / k;
    const cplx own = cplx_make(c, -(d + strength) * s);
    const cplx other = cplx_make(0.0, -strength * s);
    const cplx up_conj = cplx_make(u.up.r, -u.up.i);
    const cplx down_conj = cplx_make(u.down.r, -u.down.i);
    const struct pair out = {cplx_add(cplx_mul(own, u.up), cplx_mul(other, down_conj)),
                             cplx_add(cplx_mul(own, u.down), cplx_mul(other, up_conj))};
    return out;
}

/* Of noise on a wave, or on a pulse so long that it is one: 3e-11 over the window. */
static void check_instability(bool wave)
{
    struct gnlse_case c;
    case_init(&c);
    const double power = 2e4;             /* the sidebands stay below 1e-3 of the wave */
    const double strength = 1e-3 * power; /* gamma P, 1/m */
    case_set(&c, "gamma", 1e-3);
    const double length = 0.2; /* exp(gamma P z) = 55 */
    case_betas(&c, (const double[]){-1e-26, 0.0, -1e-53}, 3);
    case_set(&c, "pulse.shape", wave ? 2.0 : 1.0);
    if (wave)
        case_unset(&c, "pulse.duration");
    else
        case_set(&c, "pulse.duration", 1e-6);
    case_set(&c, "pulse.peak_power", power);
    case_set(&c, "length", length);
    case_set(&c, "stepper.rtol", 1e-9);
    c.seed = (struct seed){.noise = NOISE_ONE_PHOTON, .ensemble_seed = 5};
    struct gnlse_planes p = case_run(&c);
    const cplx *before = p.field;
    const cplx *after = p.field + p.n;
    const cplx turn = polar(strength * length);
    long gained = 0;
    double scale = 0.0;
    for (long k = 1; k < 300; k++)
        scale = fmax(scale, sqrt(cplx_abs2(after[k])));
    for (long k = 1; k < 300; k++) {
        const double omega2 = p.Omega[k] * p.Omega[k];
        const double d = -1e-26 * omega2 / 2.0 - 1e-53 * omega2 * omega2 / 24.0;
        const struct pair start = {before[k], before[p.n - k]};
        const struct pair want = instability(start, d, strength, length);
        const cplx up = cplx_mul(after[k], turn);
        const cplx down = cplx_mul(after[p.n - k], turn);
        ck_assert_bounded(sqrt(cplx_abs2(cplx_sub(up, want.up))) / scale, BOUND_instability);
        ck_assert_bounded(sqrt(cplx_abs2(cplx_sub(down, want.down))) / scale,
                          BOUND_instability);
        gained += d * (d + 2.0 * strength) < 0.0;
    }
    ck_assert_int_gt(gained, 20); /* a gain band is in the grid, and its end too */
    ck_assert_int_lt(gained, 280);
    planes_free(&p, &c);
}

START_TEST(modulation_instability_has_the_closed_gain_at_each_frequency)
{
    check_instability(false);
    check_instability(true);
}
END_TEST

START_TEST(without_nonlinearity_one_step_is_the_exact_propagator)
{
    struct gnlse_case c;
    case_init(&c);
    case_set(&c, "gamma", 0.0);
    case_set(&c, "loss", 0.7);
    const double betas[] = {-1.2e-26, 8e-41, -9e-56};
    case_betas(&c, betas, 3);
    case_set(&c, "pulse.peak_power", 10.0);
    c.params.planes = (struct plane_request){PLANES_COUNT, 2, NULL};
    struct gnlse_planes p = case_run(&c);
    ck_assert_int_eq(p.row.steps, 1);
    ck_assert_int_eq(p.row.rhs_calls, 7);
    cplx *want = calloc((size_t)p.n, sizeof *want);
    for (long k = 0; k < p.n; k++) {
        const long double w = (long double)p.Omega[k];
        const long double phase =
            w * w
            * ((long double)betas[0] / 2.0L
               + w * ((long double)betas[1] / 6.0L + w * (long double)betas[2] / 24.0L));
        const cplx turn = cplx_make((double)cosl(phase), (double)-sinl(phase));
        want[k] = cplx_mul(cplx_scale(exp(-0.35), p.field[k]), turn);
    }
    ck_assert_bounded(case_distance(p.field + p.n, want, p.n), BOUND_linear_step);
    free(want);
    planes_free(&p, &c);
}
END_TEST

START_TEST(all_eight_combinations_of_raman_shock_and_loss_run_and_differ)
{
    struct gnlse_planes p[8];
    for (int i = 0; i < 8; i++) {
        struct gnlse_case c;
        soliton(&c, 2.0, 0.05e-12, 1e-6);
        case_set(&c, "length", 0.2);
        if ((i & 1) != 0)
            case_raman(&c);
        case_set(&c, "self_steepening", (i & 2) != 0 ? 1.0 : 0.0);
        case_set(&c, "loss", (i & 4) != 0 ? 0.5 : 0.0);
        p[i] = case_run(&c);
        ck_assert_int_eq(p[i].row.outcome, ROW_DONE);
        ck_assert_int_eq(p[i].row.transforms, p[i].row.rhs_calls * ((i & 1) != 0 ? 4 : 2));
        case_clear(&c);
    }
    /* Three orders above what the tolerance leaves open. */
    for (int i = 0; i < 8; i++)
        for (int j = 0; j < i; j++)
            ck_assert_double_gt(case_distance(p[i].field + p[i].n, p[j].field + p[j].n, p[i].n),
                                1e-3);
    for (int i = 0; i < 8; i++)
        planes_free(&p[i], NULL);
}
END_TEST

START_TEST(loss_takes_energy_as_a_power_attenuation)
{
    struct gnlse_case c;
    soliton(&c, 2.0, 0.1e-12, 1e-9);
    case_set(&c, "loss", 0.9);
    case_set(&c, "length", 1.1);
    struct gnlse_planes p = case_run(&c);
    ck_assert_bounded(fabs(p.observable[1][0] / p.observable[0][0] / exp(-0.99) - 1.0),
                      BOUND_soliton_field);
    planes_free(&p, &c);
}
END_TEST

int main(void)
{
    if (isa_check() != 0)
        return ISA_SKIPPED;
    Suite *const suite = suite_create("gnlse closed forms");
    TCase *const tests = tcase_create("closed forms");
    tcase_set_timeout(tests, 50);
    tcase_add_test(tests,
                   soliton_of_order_1_keeps_its_shape_and_turns_its_phase_over_10_periods);
    tcase_add_test(tests, soliton_of_order_2_follows_its_closed_form);
    tcase_add_test(tests, soliton_of_order_3_returns_after_one_period);
    tcase_add_test(tests, self_phase_modulation_turns_the_phase_and_broadens_the_spectrum);
    tcase_add_test(tests, a_gaussian_broadens_linearly_with_its_red_edge_first);
    tcase_add_test(tests, self_steepening_moves_the_power_to_the_trailing_edge_until_the_shock);
    tcase_add_test(tests, modulation_instability_has_the_closed_gain_at_each_frequency);
    tcase_add_test(tests, without_nonlinearity_one_step_is_the_exact_propagator);
    tcase_add_test(tests, all_eight_combinations_of_raman_shock_and_loss_run_and_differ);
    tcase_add_test(tests, loss_takes_energy_as_a_power_attenuation);
    suite_add_tcase(suite, tests);
    return unit_main(suite);
}
