/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Model capillary in mixtures: plasma of several species, Raman response of some of them. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/base/mem.h"
#include "kernels/base/status.h"
#include "kernels/models/pulse/atomic.h"
#include "kernels/models/pulse/capillary.h"
#include "kernels/models/pulse/ionisation.h"
#include "kernels/models/pulse/raman_mix.h"
#include "kernels/numeric/host_fft.h"
#include "tests/exact.h"
#include "tests/kernels/capillary_case.h"
#include "tests/kernels/isa.h"
#include "tests/perturb/near.h"
#include "tests/unit_main.h"

#define RADIUS 125e-6
#define AREA   (1.4971689509 * RADIUS * RADIUS)

/* A share of a gas, ended by a share of 0. */
struct part {
    const char *name; /* "gas.He" */
    enum gas gas;
    double share;
};

#define PARTS 4

static void fill(struct capillary_case *c, const struct part *part)
{
    capillary_case_unset(c, "gas.name");
    for (int i = 0; i < PARTS && part[i].share > 0.0; i++)
        capillary_case_set(c, part[i].name, part[i].share);
}

/* A small grid around 800 nm and a short way, nothing nonlinear; ideal gases. */
static void small_case(struct capillary_case *c)
{
    capillary_case_init(c);
    capillary_case_unset(c, "grid.fine");
    capillary_case_unset(c, "grid.coarse");
    capillary_case_list(c, "grid.wavelengths", (const double[]){300e-9, 2e-6}, 2);
    capillary_case_set(c, "grid.window", 200e-15);
    capillary_case_set(c, "length", 1e-6);
    capillary_case_set(c, "guide.wall.index", 1.45);
    capillary_case_choose(c, "density", "ideal");
    capillary_case_choose(c, "raman.model", "none");
}

/* ADK as Ammosov, Delone and Krainov have it for an s electron and a charge of 1, once more and
 * on its own: 1/s of a field in V/m and a potential in eV, in atomic units inside. */
static double adk_rate(double electronvolt, double field)
{
    const double f = fabs(field) / 5.14220674763e11;
    const double ip = electronvolt / 27.211386245988;
    const double kappa = sqrt(2.0 * ip);
    const double n = 1.0 / kappa;
    if (!(f > 0.0))
        return 0.0;
    const double c2 = pow(2.0, 2.0 * n) / (n * tgamma(n + 1.0) * tgamma(n));
    const double barrier = pow(kappa, 3.0);
    return c2 * ip * pow(2.0 * barrier / f, 2.0 * n - 1.0) * exp(-2.0 * barrier / (3.0 * f))
           / 2.4188843265857e-17;
}

/* int W dt of a Gaussian pulse of 10 fs at 800 nm, by fine trapezoids. */
static double adk_exposure(double electronvolt, double peak)
{
    const double dt = 2e-18;
    double sum = 0.0;
    for (int i = -20000; i <= 20000; i++) {
        const double t = i * dt;
        const double envelope = exp(-2.0 * log(2.0) * t * t / 1e-28);
        sum += adk_rate(electronvolt,
                        peak * envelope * cos(2.0 * PULSE_PI * PULSE_C / 800e-9 * t));
    }
    return sum * dt;
}

static double peak_field(double energy)
{
    const double power = energy / (10e-15 * sqrt(PULSE_PI / log(16.0)));
    return sqrt(2.0 * power / (PULSE_EPS0 * PULSE_C * AREA));
}

/* Potentials, eV: NIST Atomic Spectra Database; of H2 that of the table of gases. */
START_TEST(electrons_are_those_of_each_gas_by_its_own_rate)
{
    static const struct part mixtures[][PARTS] = {
        {{"gas.Ar", GAS_AR, 0.4}, {"gas.He", GAS_HE, 0.6}},
        {{"gas.Kr", GAS_KR, 0.3}, {"gas.Ar", GAS_AR, 0.7}},
        {{"gas.H2", GAS_H2, 0.5}, {"gas.Ar", GAS_AR, 0.3}, {"gas.Xe", GAS_XE, 0.2}}};
    const char *const rules[] = {"trapezoid", "band"};
    for (int k = 0; k < 3; k++)
        for (int rule = 0; rule < 2; rule++) {
            struct capillary_case c;
            const double energy = k == 0 ? 300e-6 : 120e-6;
            double want = 0.0;
            for (int i = 0; i < PARTS && mixtures[k][i].share > 0.0; i++) {
                const double ev = gas_info(mixtures[k][i].gas)->potential * 27.21138602;
                want += mixtures[k][i].share * -expm1(-adk_exposure(ev, peak_field(energy)));
            }
            small_case(&c);
            fill(&c, mixtures[k]);
            capillary_case_set(&c, "pulse.energy", energy);
            capillary_case_choose(&c, "plasma.rate", "adk");
            capillary_case_choose(&c, "plasma.rule", rules[rule]);
            capillary_case_set(&c, "plasma.occupancy", 1.0);
            struct capillary_planes p = capillary_case_finish(&c);
            const double *const o = p.observable[0];
            ck_assert_ratio(o[CAPILLARY_IONISED_FRACTION], want, 3e-4, 1.001 * want,
                            "a thousandth more");
            ck_assert_rounding(o[CAPILLARY_ELECTRON_DENSITY],
                               o[CAPILLARY_IONISED_FRACTION] * o[CAPILLARY_DENSITY], 1e-15);
            capillary_planes_free(&p);
            capillary_case_clear(&c);
        }
}
END_TEST

/* The observables of the first plane of a filling. */
static void observe(struct capillary_case *c, const struct part *part, double *out)
{
    fill(c, part);
    struct capillary_planes p = capillary_case_finish(c);
    memcpy(out, p.observable[0], sizeof p.observable[0]);
    capillary_planes_free(&p);
    for (int i = 0; i < PARTS && part[i].share > 0.0; i++)
        capillary_case_unset(c, part[i].name);
}

START_TEST(a_gas_that_does_not_ionise_dilutes_the_electrons)
{
    static const struct part pure[PARTS] = {{"gas.Ar", GAS_AR, 1.0}};
    static const struct part thin[PARTS] = {{"gas.He", GAS_HE, 0.75}, {"gas.Ar", GAS_AR, 0.25}};
    double of[2][CAPILLARY_OBSERVABLES];
    struct capillary_case c;
    small_case(&c);
    capillary_case_choose(&c, "plasma.rate", "auto");
    observe(&c, pure, of[0]);
    observe(&c, thin, of[1]);
    ck_assert_double_gt(of[0][CAPILLARY_IONISED_FRACTION], 1e-8);
    ck_assert_ratio(of[1][CAPILLARY_IONISED_FRACTION], 0.25 * of[0][CAPILLARY_IONISED_FRACTION],
                    1e-8, 0.25 * of[0][CAPILLARY_IONISED_FRACTION] * (1.0 + 1e-7),
                    "a share larger by 1e-7");
    ck_assert_double_ge(of[1][CAPILLARY_UNDERSHOOT], of[0][CAPILLARY_UNDERSHOOT]);
    capillary_case_clear(&c);
}
END_TEST

START_TEST(air_ionises_as_its_nitrogen_and_oxygen)
{
    static const struct part air[PARTS] = {{"gas.Air", GAS_AIR, 1.0}};
    static const struct part parts[PARTS] = {{"gas.N2", GAS_N2, 0.79},
                                             {"gas.O2", GAS_O2, 0.21}};
    static const struct part nitrogen[PARTS] = {{"gas.N2", GAS_N2, 1.0}};
    static const struct part oxygen[PARTS] = {{"gas.O2", GAS_O2, 1.0}};
    double of[4][CAPILLARY_OBSERVABLES];
    struct capillary_case c;
    small_case(&c);
    capillary_case_set(&c, "pulse.energy", 150e-6);
    capillary_case_choose(&c, "plasma.rate", "auto");
    observe(&c, air, of[0]);
    observe(&c, parts, of[1]);
    observe(&c, nitrogen, of[2]);
    observe(&c, oxygen, of[3]);
    const double want =
        0.79 * of[2][CAPILLARY_IONISED_FRACTION] + 0.21 * of[3][CAPILLARY_IONISED_FRACTION];
    ck_assert_double_gt(of[3][CAPILLARY_IONISED_FRACTION],
                        2.0 * of[2][CAPILLARY_IONISED_FRACTION]);
    ck_assert_rounding(of[0][CAPILLARY_IONISED_FRACTION], want, 1e-14);
    ck_assert_rounding(of[1][CAPILLARY_IONISED_FRACTION], want, 1e-14);
    capillary_case_clear(&c);
}
END_TEST

/* The input is above the rates of both, of krypton for longer; inputs with a chirp are not
 * refused for it. */
START_TEST(samples_above_the_lowest_ceiling_are_counted_once)
{
    static const struct part both[PARTS] = {{"gas.Kr", GAS_KR, 0.5}, {"gas.N2", GAS_N2, 0.5}};
    static const struct part other[PARTS] = {{"gas.N2", GAS_N2, 1.0}};
    static const struct part one[PARTS] = {{"gas.Kr", GAS_KR, 1.0}};
    double of[3][CAPILLARY_OBSERVABLES];
    struct capillary_case c;
    small_case(&c);
    capillary_case_set(&c, "pulse.energy", 60e-6 * pow(1.2e11 / peak_field(60e-6), 2.0));
    capillary_case_set(&c, "pulse.phases.tod", 1e-60); /* its peak is not certain */
    capillary_case_choose(&c, "plasma.rate", "adk");
    observe(&c, both, of[0]);
    observe(&c, one, of[1]);
    observe(&c, other, of[2]);
    ck_assert_double_gt(of[2][CAPILLARY_SATURATED], 0.0);
    ck_assert_double_gt(of[1][CAPILLARY_SATURATED], of[2][CAPILLARY_SATURATED]);
    ck_assert_exactly(of[0][CAPILLARY_SATURATED], of[1][CAPILLARY_SATURATED]);
    capillary_case_clear(&c);
}
END_TEST

/* Free electrons of a gas per particle after the field of a plane, by the formula of its rate
 * and trapezoids. */
static double plane_electrons(const struct capillary_planes *p, int plane, enum gas gas,
                              double window)
{
    enum { N = 8192 };
    const struct rate_request request = {.kind = RATE_PPT,
                                         .gas = gas,
                                         .occupancy = 2.0,
                                         .wavelength = 400e-9,
                                         .stark = true,
                                         .dipole = true};
    struct ionisation rate;
    struct host_fft *fft;
    cplx *x;
    double exposure = 0.0;
    ck_assert_int_eq(ionisation_init(&rate, &request), 0);
    ck_assert_int_eq(host_fft_create(N, &fft), 0);
    ck_assert_int_eq(MEM_NEW(N, &x), 0);
    for (long k = 0; k < p->bins; k++)
        x[k] = cplx_scale(2.0, p->field[plane * p->bins + k]);
    ck_assert_int_eq(host_fft_execute(fft, false, x), 0);
    for (long j = 0; j < N; j++) {
        const double field = fabs(x[j].r) / sqrt(0.5 * PULSE_EPS0 * PULSE_C * AREA);
        exposure += ionisation_rate(&rate, field, NULL) * window / N;
    }
    mem_free(x);
    host_fft_destroy(fft);
    return -expm1(-exposure);
}

/* Energy that the pulse lost = sum of Ip times electrons of each gas along the way, which is
 * the accumulated loss (physics.md §10.12). At 400 nm, where the electrons drift away with
 * little.
 */
START_TEST(ionisation_takes_each_potential_times_its_electrons)
{
    static const struct part mixture[PARTS] = {{"gas.Ar", GAS_AR, 0.96},
                                               {"gas.Kr", GAS_KR, 0.04}};
    struct capillary_case c;
    small_case(&c);
    fill(&c, mixture);
    capillary_case_choose(&c, "plasma.rate", "ppt");
    capillary_case_set(&c, "pressure.constant", 1e4);
    capillary_case_set(&c, "length", 0.2);
    capillary_case_set(&c, "guide.loss", 0.0);
    capillary_case_choose(&c, "guide.prefactor", "vacuum");
    capillary_case_set(&c, "pulse.wavelength", 400e-9);
    capillary_case_set(&c, "pulse.energy", 100e-6);
    capillary_case_list(&c, "grid.wavelengths", (const double[]){150e-9, 2e-6}, 2);
    c.params.planes = (struct plane_request){PLANES_COUNT, 21, NULL};
    struct capillary_planes p = capillary_case_finish(&c);
    double work = 0.0;
    double krypton = 0.0;
    for (int i = 0; i <= 20; i++) {
        const double simpson = (i == 0 || i == 20 ? 1.0 : i % 2 == 1 ? 4.0 : 2.0) / 3.0 * 0.01;
        const double rho = p.observable[i][CAPILLARY_DENSITY];
        double electrons = 0.0;
        for (int k = 0; k < 2; k++) {
            const double f = mixture[k].share * plane_electrons(&p, i, mixture[k].gas, 200e-15);
            const double joule = gas_info(mixture[k].gas)->potential * PULSE_HARTREE;
            electrons += f;
            work += simpson * AREA * rho * f * joule;
            krypton += k == 1 ? simpson * AREA * rho * f * joule : 0.0;
        }
        ck_assert_ratio(p.observable[i][CAPILLARY_IONISED_FRACTION], electrons, 3e-3,
                        1.01 * electrons, "a hundredth more");
    }
    const double lost = p.observable[0][CAPILLARY_ENERGY] - p.observable[20][CAPILLARY_ENERGY];
    ck_assert_double_gt(lost, 1e-6);
    /* Both gases matter. */
    ck_assert_double_gt(krypton / work, 0.2);
    ck_assert_double_lt(krypton / work, 0.8);
    ck_assert_ratio(lost, work, 0.01, 1.03 * work, "potentials larger by three hundredths");
    ck_assert_ratio(p.observable[20][CAPILLARY_IONISATION_LOSS], work, 0.01, 1.03 * work,
                    "potentials larger by three hundredths");
    capillary_planes_free(&p);
    capillary_case_clear(&c);
}
END_TEST

/* What the Raman response of a filling changes in the field on a short way. */
static cplx *raman_change(struct capillary_case *c, const struct part *part, long *bins)
{
    fill(c, part);
    capillary_case_choose(c, "raman.model", "none");
    struct capillary_planes without = capillary_case_finish(c);
    capillary_case_choose(c, "raman.model", "auto");
    struct capillary_planes with = capillary_case_finish(c);
    cplx *change;
    ck_assert_int_eq(MEM_NEW(with.bins, &change), 0);
    *bins = with.bins;
    for (long k = 0; k < with.bins; k++)
        change[k] = cplx_sub(with.field[with.bins + k], without.field[with.bins + k]);
    capillary_planes_free(&without);
    capillary_planes_free(&with);
    for (int i = 0; i < PARTS && part[i].share > 0.0; i++)
        capillary_case_unset(c, part[i].name);
    return change;
}

/* So short that the index of the filling turns nothing yet. */
static void raman_case(struct capillary_case *c)
{
    small_case(c);
    capillary_case_set(c, "length", 5e-6);
    capillary_case_set(c, "pressure.constant", 1e5);
    capillary_case_set(c, "pulse.energy", 1e-6);
    capillary_case_choose(c, "guide.prefactor", "vacuum");
}

/* The change is linear in the response: that of a mixture is the sum of those of its molecules,
 * each times its share, as the widths are those at the density of all particles. */
START_TEST(the_raman_response_of_a_mixture_is_the_sum_of_its_molecules)
{
    static const struct part mixtures[][PARTS] = {
        {{"gas.H2", GAS_H2, 0.3}, {"gas.He", GAS_HE, 0.7}},
        {{"gas.H2", GAS_H2, 0.4}, {"gas.N2", GAS_N2, 0.6}},
        {{"gas.N2", GAS_N2, 0.79}, {"gas.O2", GAS_O2, 0.21}},
        {{"gas.Air", GAS_AIR, 1.0}}};
    static const struct part nitrogen[PARTS] = {{"gas.N2", GAS_N2, 1.0}};
    static const struct part hydrogen[PARTS] = {{"gas.H2", GAS_H2, 1.0}};
    static const double shares[][2] = {{0.3, 0.0}, {0.4, 0.6}, {0.0, 0.79}, {0.0, 0.79}};
    struct capillary_case c;
    long bins;
    raman_case(&c);
    cplx *const of_hydrogen = raman_change(&c, hydrogen, &bins);
    cplx *const of_nitrogen = raman_change(&c, nitrogen, &bins);
    for (int m = 0; m < 4; m++) {
        cplx *const got = raman_change(&c, mixtures[m], &bins);
        double error = 0.0;
        double size = 0.0;
        for (long k = 0; k < bins; k++) {
            const cplx want = cplx_add(cplx_scale(shares[m][0], of_hydrogen[k]),
                                       cplx_scale(shares[m][1], of_nitrogen[k]));
            error += cplx_abs2(cplx_sub(got[k], want));
            size += cplx_abs2(want);
        }
        ck_assert_double_gt(size, 0.0);
        ck_assert_norm(sqrt(error / size), 2e-4);
        mem_free(got);
    }
    mem_free(of_hydrogen);
    mem_free(of_nitrogen);
    capillary_case_clear(&c);
}
END_TEST

/* Along a gradient: the polynomial in the density against the lines themselves. */
START_TEST(a_mixed_raman_response_between_densities_is_that_of_its_lines)
{
    enum { N = 64 };
    static const struct raman_filling filling = {
        2, {GAS_N2, GAS_H2}, {0.35, 0.25}, 293.15}; /* the rest: atoms */
    struct raman_mix mix;
    double f[RAMAN_MIX_MAX][N];
    double scratch[N];
    double most = 0.0;
    double worst = 0.0;
    const double high = 5.0 * PULSE_AMAGAT;
    const double dt = 1e-12 / N;
    ck_assert_int_eq(raman_mix_init(&filling, 0.2 * high, high, 1e-12, &mix), 0);
    for (int k = 0; k < mix.count; k++)
        ck_assert_int_eq(raman_mix_sample(&mix, k, dt, N, scratch, f[k]), 0);
    for (double share = 1.0; share >= 0.2; share -= 0.1) {
        double want[N] = {0.0};
        double w[RAMAN_MIX_MAX - 1];
        double size = 0.0;
        double error = 0.0;
        for (int i = 0; i < filling.count; i++) {
            struct raman_lines lines;
            ck_assert_int_eq(raman_gas_lines(filling.gas[i], 293.15, share * high, &lines), 0);
            raman_lines_sample(&lines, dt, N, scratch);
            for (int j = 0; j < N; j++)
                want[j] += filling.share[i] * share * high * scratch[j];
        }
        raman_mix_weights(&mix, share * high, w);
        for (int j = 0; j < N; j++) {
            double got = f[0][j];
            for (int k = 1; k < mix.count; k++)
                got += w[k - 1] * f[k][j];
            size += fabs(want[j]);
            error += fabs(got - want[j]);
        }
        most = fmax(most, size);
        worst = fmax(worst, error);
    }
    ck_assert_norm(worst, RAMAN_MIX_ERROR * most);
}
END_TEST

/* A line of the report; one of NaN when it is not there. */
static struct layout_note find_note(const struct plane_layout *layout, const char *name)
{
    for (int i = 0; i < layout->notes; i++)
        if (strcmp(layout->note[i].name, name) == 0)
            return layout->note[i];
    return (struct layout_note){.value = (double)NAN};
}

START_TEST(the_report_says_what_a_mixture_leaves_out)
{
    static const struct part air[PARTS] = {{"gas.Air", GAS_AIR, 1.0}};
    static const struct part pair[PARTS] = {{"gas.He", GAS_HE, 0.8}, {"gas.H2", GAS_H2, 0.2}};
    static const char *const shares = "share of the particles with Raman lines";
    static const char *const species = "gases that ionise differently";
    struct capillary_case c;
    struct plane_layout layout;
    small_case(&c);
    fill(&c, air);
    capillary_case_choose(&c, "raman.model", "auto");
    ck_assert_int_eq(capillary_ops.layout(&c.params, &layout), 0);
    struct layout_note note = find_note(&layout, shares);
    ck_assert(isnan(find_note(&layout, species).value));
    ck_assert_exactly(note.value, 0.79);
    ck_assert_msg(strstr(note.warning, "O2") != NULL, "%s", note.warning);
    ck_assert_msg(strstr(note.warning, "left out") != NULL, "%s", note.warning);
    capillary_case_unset(&c, "gas.Air");
    fill(&c, pair);
    capillary_case_choose(&c, "plasma.rate", "auto");
    ck_assert_int_eq(capillary_ops.layout(&c.params, &layout), 0);
    note = find_note(&layout, shares);
    ck_assert_exactly(note.value, 0.2);
    ck_assert_msg(strstr(note.warning, "line widths") != NULL, "%s", note.warning);
    ck_assert_msg(strstr(note.warning, "O2") == NULL, "%s", note.warning);
    ck_assert_exactly(find_note(&layout, species).value, 2.0);
    /* The barrier of hydrogen, Ip^2/4 in atomic units, is the lower one. */
    const double barrier = 0.5669 * 0.5669 / 4.0 * 5.14220674763e11;
    ck_assert_ratio(find_note(&layout, "peak field over barrier suppression").value,
                    peak_field(60e-6) / barrier, 1e-6,
                    peak_field(60e-6 * (1.0 + 1e-5)) / barrier, "an energy larger by 1e-5");
    capillary_case_clear(&c);
}
END_TEST

/* The case is refused with a line that holds the words. */
static void refuses(struct capillary_case *c, const struct part *part, const char *word,
                    const char *other)
{
    fill(c, part);
    capillary_case_refused(c, ERR_UNSUPPORTED, word, other);
}

START_TEST(what_a_mixture_lacks_is_refused_by_its_name)
{
    static const struct part atoms[PARTS] = {{"gas.He", GAS_HE, 0.5}, {"gas.Ar", GAS_AR, 0.5}};
    static const struct part air[PARTS] = {{"gas.Air", GAS_AIR, 1.0}};
    static const struct part hydrogen[PARTS] = {{"gas.Ar", GAS_AR, 0.5},
                                                {"gas.H2", GAS_H2, 0.5}};
    struct capillary_case c;
    small_case(&c);
    capillary_case_choose(&c, "raman.model", "on");
    refuses(&c, atoms, "raman", "no gas of this mixture");
    small_case(&c);
    capillary_case_choose(&c, "raman.model", "on");
    refuses(&c, air, "raman", "O2");
    small_case(&c);
    capillary_case_choose(&c, "plasma.rate", "ppt");
    refuses(&c, hydrogen, "H2", "adk");
    ck_assert_int_eq(mem_live(), 0);
}
END_TEST

int main(void)
{
    if (isa_check() != 0)
        return ISA_SKIPPED;
    Suite *const suite = suite_create("capillary mixtures");
    TCase *const tests = tcase_create("mixtures");
    tcase_set_timeout(tests, 60);
    tcase_add_test(tests, electrons_are_those_of_each_gas_by_its_own_rate);
    tcase_add_test(tests, a_gas_that_does_not_ionise_dilutes_the_electrons);
    tcase_add_test(tests, air_ionises_as_its_nitrogen_and_oxygen);
    tcase_add_test(tests, samples_above_the_lowest_ceiling_are_counted_once);
    tcase_add_test(tests, ionisation_takes_each_potential_times_its_electrons);
    tcase_add_test(tests, the_raman_response_of_a_mixture_is_the_sum_of_its_molecules);
    tcase_add_test(tests, a_mixed_raman_response_between_densities_is_that_of_its_lines);
    tcase_add_test(tests, the_report_says_what_a_mixture_leaves_out);
    tcase_add_test(tests, what_a_mixture_lacks_is_refused_by_its_name);
    suite_add_tcase(suite, tests);
    return unit_main(suite);
}
