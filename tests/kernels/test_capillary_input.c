/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Input of model capillary: tables, several pulses and planes of earlier runs, against closed
 * forms. A Gaussian A = sqrt(P) exp(-a t^2) cos(omega t), a = 2 ln 2/width^2, has the bins
 * a_k = (-1)^k C exp(-Omega^2/(4 a)), 4 T sum |a_k|^2 = E: C^2 = E pi/(2 T^2 sqrt(2 pi a)). */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/base/mem.h"
#include "kernels/base/status.h"
#include "kernels/models/pulse/capillary.h"
#include "tests/exact.h"
#include "tests/kernels/capillary_case.h"
#include "tests/perturb/near.h"
#include "tests/unit_main.h"

#define PI     3.14159265358979323846
#define C0     299792458.0
#define WIDTH  1e-14 /* s, full width at half maximum of the intensity */
#define RATE   (2.0 * 0.693147180559945309 / (WIDTH * WIDTH))
#define ENERGY 3e-6
#define FINE   4096
#define WINDOW (FINE * 150e-9 / (6.0 * C0)) /* six fine samples a period of the blue limit */

static double omega_of(double wavelength)
{
    return 2.0 * PI * C0 / wavelength;
}

/* A linear capillary, 1 um long, in which no pulse is given; plane 0 is the input. */
static void input_case(struct capillary_case *c, double window)
{
    capillary_case_init(c);
    const long fine = lround(FINE * window / WINDOW);
    capillary_case_set(c, "length", 1e-6);
    capillary_case_set(c, "grid.window", window);
    capillary_case_set(c, "grid.fine", (double)fine);
    capillary_case_set(c, "grid.coarse", (double)(fine / 2));
    capillary_case_unset(c, "pulse.duration");
    capillary_case_unset(c, "pulse.energy");
}

/* A Gaussian, its phase gdd Omega^2/2 and its delay. */
struct gauss {
    double omega, energy, delay, gdd;
};

static cplx gauss_bin(const struct gauss *g, double window, long k)
{
    const double off = 2.0 * PI / window * (double)k - g->omega;
    const double size = sqrt(g->energy * PI / (2.0 * window * window * sqrt(2.0 * PI * RATE)))
                        * exp(-off * off / (4.0 * RATE)) * (k % 2 == 0 ? 1.0 : -1.0);
    const double phi = g->delay * off + 0.5 * g->gdd * off * off;
    return cplx_make(size * cos(phi), -size * sin(phi));
}

/* ||input - sum of Gaussians|| / ||sum||. */
static double input_error(const struct capillary_case *c, double window,
                          const struct gauss *pulse, int count)
{
    struct capillary_planes p = capillary_case_run(c);
    cplx *right = calloc((size_t)p.bins, sizeof *right);
    for (long k = 1; k < p.bins - 1; k++)
        for (int i = 0; i < count; i++)
            right[k] = cplx_add(right[k], gauss_bin(&pulse[i], window, k));
    const double error = capillary_distance(p.field, right, p.bins);
    ck_assert_int_eq(p.row.outcome, ROW_DONE);
    free(right);
    capillary_planes_free(&p);
    return error;
}

static void refuses(const struct capillary_case *c, const char *part)
{
    char why[900] = "";
    struct plane_layout layout;
    status_capture(why, sizeof why);
    ck_assert_int_ne(capillary_ops.layout(&c->params, &layout), 0);
    status_capture(NULL, 0);
    ck_assert_msg(strstr(why, part) != NULL, "'%s' is not in: %s", part, why);
}

/* Columns of equal length; free with data_clear. */
static struct data_set make_set(long rows, int columns, const char *const *names)
{
    struct data_set set = {.hash = "0"};
    double *values;
    for (int i = 0; i < columns; i++)
        ck_assert_int_eq(data_add_real(&set, names[i], "1", 1, &rows, &values), 0);
    return set;
}

/* Envelope exp(-a t^2) exp(+i shift t), rows `step` apart. */
static struct data_set table_in_time(double step, double shift)
{
    const long half = (long)ceil(6.0 * WIDTH / step);
    struct data_set set =
        make_set(2 * half + 1, 3, (const char *const[]){"time", "intensity", "phase"});
    for (long i = 0; i < 2 * half + 1; i++) {
        const double t = step * (double)(i - half);
        set.array[0].real[i] = t;
        set.array[1].real[i] = 7.0 * exp(-2.0 * RATE * t * t);
        set.array[2].real[i] = remainder(shift * t, 2.0 * PI);
    }
    return set;
}

/* The spectrum of the Gaussian over omega, frequency or wavelength, with a phase. */
static struct data_set table_in_frequency(const char *axis, double gdd)
{
    const long rows = 1501;
    const bool wavelength = strcmp(axis, "wavelength") == 0;
    const double factor = strcmp(axis, "frequency") == 0 ? 2.0 * PI : 1.0;
    struct data_set set =
        make_set(rows, 3, (const char *const[]){axis, "spectral_power", "phase"});
    const double centre = omega_of(800e-9);
    for (long i = 0; i < rows; i++) {
        const double w = centre * (0.4 + 1.2 * (double)i / (double)(rows - 1));
        const double off = w - centre;
        const long to = wavelength ? rows - 1 - i : i;
        set.array[0].real[to] = wavelength ? 2.0 * PI * C0 / w : w / factor;
        set.array[1].real[to] = exp(-off * off / (2.0 * RATE)) * (wavelength ? w * w : 1.0);
        set.array[2].real[to] = remainder(0.5 * gdd * off * off, 2.0 * PI);
    }
    return set;
}

/* Bound of a cubic spline, 5/384 h^4 max |f''''|, f'''' = 12 a^2 of a Gaussian at its peak. */
static double spline_bound(double step)
{
    return 5.0 / 384.0 * pow(step, 4) * 12.0 * RATE * RATE;
}

START_TEST(a_table_over_time_is_its_formula)
{
    static const double steps[] = {1e-15, 0.5e-15};
    const struct gauss right = {omega_of(800e-9), ENERGY, 0.0, 0.0};
    for (int i = 0; i < 2; i++) {
        struct capillary_case c;
        struct data_set set = table_in_time(steps[i], 0.0);
        input_case(&c, WINDOW);
        capillary_case_data(&c, "pulse.file", &set);
        capillary_case_set(&c, "pulse.energy", ENERGY);
        const double error = input_error(&c, WINDOW, &right, 1);
        ck_assert_norm(error, spline_bound(steps[i]));
        capillary_case_clear(&c);
        data_clear(&set);
    }
    ck_assert_int_eq(mem_live(), 0);
}
END_TEST

START_TEST(the_shape_and_its_table_are_one_pulse)
{
    const struct gauss right = {omega_of(800e-9), ENERGY, 20e-15, 40e-30};
    for (int table = 0; table < 2; table++) {
        struct capillary_case c;
        struct data_set set = table_in_time(0.25e-15, 0.0);
        input_case(&c, WINDOW);
        if (table == 1)
            capillary_case_data(&c, "pulse.file", &set);
        else
            capillary_case_set(&c, "pulse.duration", WIDTH);
        capillary_case_set(&c, "pulse.energy", ENERGY);
        capillary_case_set(&c, "pulse.phases.delay", right.delay);
        capillary_case_set(&c, "pulse.phases.gdd", right.gdd);
        const double error = input_error(&c, WINDOW, &right, 1);
        ck_assert_norm(error, table == 1 ? spline_bound(0.25e-15) : 1e-12);
        capillary_case_clear(&c);
        data_clear(&set);
    }
}
END_TEST

/* A phase that grows in time is a shift: +phase over time, to higher frequencies. */
START_TEST(a_phase_over_time_moves_the_carrier)
{
    struct capillary_case c;
    const double shift = 2e14;
    const struct gauss right = {omega_of(800e-9) + shift, ENERGY, 0.0, 0.0};
    struct data_set set = table_in_time(0.25e-15, shift);
    input_case(&c, WINDOW);
    capillary_case_data(&c, "pulse.file", &set);
    capillary_case_set(&c, "pulse.energy", ENERGY);
    /* the fourth derivative of the turning envelope is at most (sqrt(a) + shift)^4 12 a^2/a^2
     */
    const double bound = 5.0 / 384.0 * pow(0.25e-15, 4) * 12.0 * pow(sqrt(RATE) + shift, 4);
    ck_assert_norm(input_error(&c, WINDOW, &right, 1), bound);
    capillary_case_clear(&c);
    data_clear(&set);
}
END_TEST

START_TEST(a_spectrum_with_phase_is_its_formula)
{
    static const char *const axes[] = {"omega", "frequency", "wavelength"};
    const double gdd = 150e-30;
    const struct gauss right = {omega_of(800e-9), ENERGY, 0.0, gdd};
    for (int i = 0; i < 3; i++) {
        struct capillary_case c;
        struct data_set set = table_in_frequency(axes[i], gdd);
        input_case(&c, WINDOW);
        capillary_case_data(&c, "pulse.file", &set);
        capillary_case_set(&c, "pulse.energy", ENERGY);
        /* rows are 1.9e12 rad/s apart: 5/384 h^4 12 (1/(4 a) + gdd/2)^2 of the peak */
        const double h = 1.2 * right.omega / 1500.0;
        const double bound =
            5.0 / 384.0 * pow(h, 4) * 12.0 * pow(0.25 / RATE + 0.5 * gdd, 2) * 10.0;
        const double error = input_error(&c, WINDOW, &right, 1);
        ck_assert_norm(error, bound);
        capillary_case_clear(&c);
        data_clear(&set);
    }
}
END_TEST

/* Complex fine samples, no more than the width of the band needs: the same bins, also where
 * half of the samples is an odd number. */
START_TEST(an_envelope_takes_the_same_tables)
{
    static const double fine[] = {1458.0, 2048.0};
    const struct gauss right = {omega_of(800e-9), ENERGY, 0.0, 0.0};
    for (int i = 0; i < 4; i++) {
        struct capillary_case c;
        const double h = i < 2 ? 0.25e-15 : 1.2 * right.omega / 1500.0;
        struct data_set set = i < 2 ? table_in_time(h, 0.0) : table_in_frequency("omega", 0.0);
        const double bound =
            i < 2 ? spline_bound(h) : 5.0 / 384.0 * pow(h, 4) * 12.0 * pow(0.25 / RATE, 2);
        input_case(&c, WINDOW);
        capillary_case_choose(&c, "field", "envelope");
        capillary_case_choose(&c, "plasma.rate", "none");
        capillary_case_choose(&c, "kerr.third_harmonic", "false");
        capillary_case_set(&c, "grid.fine", fine[i % 2]);
        capillary_case_data(&c, "pulse.file", &set);
        capillary_case_set(&c, "pulse.energy", ENERGY);
        const double error = input_error(&c, WINDOW, &right, 1);
        ck_assert_norm(error, bound);
        capillary_case_clear(&c);
        data_clear(&set);
    }
}
END_TEST

START_TEST(a_table_has_the_peak_power_that_is_asked_for)
{
    struct capillary_case c;
    struct data_set set = table_in_time(0.25e-15, 0.0);
    /* the integral of exp(-2 a t^2) */
    const struct gauss right = {omega_of(800e-9), 2e8 * sqrt(PI / (2.0 * RATE)), 0.0, 0.0};
    input_case(&c, WINDOW);
    capillary_case_data(&c, "pulse.file", &set);
    capillary_case_set(&c, "pulse.peak_power", 2e8);
    /* between samples the peak is that of a parabola */
    ck_assert_norm(input_error(&c, WINDOW, &right, 1), 1e-6);
    capillary_case_clear(&c);
    data_clear(&set);
}
END_TEST

START_TEST(several_pulses_add_up_as_fields)
{
    struct capillary_case c;
    struct data_set set = table_in_time(0.25e-15, 0.0);
    const struct gauss right[3] = {{omega_of(800e-9), ENERGY, 0.0, 0.0},
                                   {omega_of(400e-9), 1e-6, 15e-15, 30e-30},
                                   {omega_of(1200e-9), 2e-6, -60e-15, 0.0}};
    input_case(&c, WINDOW);
    capillary_case_set(&c, "pulse.duration", WIDTH);
    capillary_case_set(&c, "pulse.energy", ENERGY);
    capillary_case_set(&c, "pulse2.duration", WIDTH);
    capillary_case_set(&c, "pulse2.energy", 1e-6);
    capillary_case_set(&c, "pulse2.wavelength", 400e-9);
    capillary_case_set(&c, "pulse2.phases.delay", 15e-15);
    capillary_case_set(&c, "pulse2.phases.gdd", 30e-30);
    capillary_case_data(&c, "pulse3.file", &set);
    capillary_case_set(&c, "pulse3.energy", 2e-6);
    capillary_case_set(&c, "pulse3.wavelength", 1200e-9);
    capillary_case_set(&c, "pulse3.phases.delay", -60e-15);
    ck_assert_norm(input_error(&c, WINDOW, right, 3), spline_bound(0.25e-15));
    capillary_case_clear(&c);
    data_clear(&set);
    ck_assert_int_eq(mem_live(), 0);
}
END_TEST

/* A plane as io/input.c reads it: the closed form over a window. */
static struct data_set plane_of(const struct gauss *g, double window, long coarse)
{
    struct data_set set = {.hash = "0"};
    const long bins = coarse / 2 + 1;
    const long pair[2] = {bins, 2};
    double *omega;
    double *field;
    ck_assert_int_eq(data_add_real(&set, "omega", "rad s^-1", 1, &bins, &omega), 0);
    ck_assert_int_eq(data_add_real(&set, "field", "W^0.5", 2, pair, &field), 0);
    for (long k = 0; k < bins; k++) {
        const cplx a = gauss_bin(g, window, k);
        const bool inside = k > 0 && k < bins - 1;
        omega[k] = 2.0 * PI / window * (double)k;
        field[2 * k] = inside ? a.r : 0.0;
        field[2 * k + 1] = inside ? a.i : 0.0;
    }
    return set;
}

START_TEST(a_plane_of_the_same_window_keeps_its_bits)
{
    struct capillary_case c;
    const struct gauss g = {omega_of(800e-9), ENERGY, 7e-15, 20e-30};
    struct data_set set = plane_of(&g, WINDOW, 2048);
    input_case(&c, WINDOW);
    capillary_case_data(&c, "input.from", &set);
    for (int more = 0; more < 2; more++) {
        capillary_case_set(&c, "grid.coarse", more == 0 ? 2048.0 : 3072.0);
        struct capillary_planes p = capillary_case_run(&c);
        const double *const bits = set.array[1].real;
        long held = 0;
        ck_assert_int_eq(p.bins, more == 0 ? 1025 : 1537);
        for (long k = 0; k < p.bins; k++) {
            const double wavelength = k > 0 ? C0 * WINDOW / (double)k : (double)INFINITY;
            if (wavelength < 8e-6 && wavelength > 150e-9 / 1.1 && k < 1024) {
                ck_assert(equal_bits(&p.field[k], bits + 2 * k, sizeof p.field[k]));
                held++;
            } else {
                ck_assert(is_zero(p.field[k].r) && is_zero(p.field[k].i));
            }
        }
        ck_assert_int_gt(held, 700);
        /* of the integrals only the way itself counts */
        ck_assert(is_zero(p.observable[0][CAPILLARY_ABSORBED]));
        capillary_planes_free(&p);
    }
    /* a phase on top is one on the closed form */
    const struct gauss turned = {g.omega, g.energy, g.delay + 5e-15, g.gdd - 20e-30};
    capillary_case_set(&c, "grid.coarse", 2048.0);
    capillary_case_set(&c, "pulse.phases.delay", 5e-15);
    capillary_case_set(&c, "pulse.phases.gdd", -20e-30);
    ck_assert_norm(input_error(&c, WINDOW, &turned, 1), 1e-12);
    capillary_case_clear(&c);
    data_clear(&set);
    ck_assert_int_eq(mem_live(), 0);
}
END_TEST

/* Samples stay, so a pulse that lies within both windows has its closed form in each. */
START_TEST(a_plane_of_another_window_keeps_its_samples)
{
    static const double factors[] = {0.5, 0.75, 1.25, 1.5, 3.0};
    const struct gauss g = {omega_of(800e-9), ENERGY, 7e-15, 20e-30};
    for (size_t i = 0; i < sizeof factors / sizeof factors[0]; i++) {
        struct capillary_case c;
        struct data_set set = plane_of(&g, WINDOW, 2048);
        input_case(&c, factors[i] * WINDOW);
        capillary_case_data(&c, "input.from", &set);
        const double error = input_error(&c, factors[i] * WINDOW, &g, 1);
        ck_assert_norm(error, 1e-12);
        capillary_case_clear(&c);
        data_clear(&set);
    }
    ck_assert_int_eq(mem_live(), 0);
}
END_TEST

/* Without tapers the active bins are 1 to coarse/2 - 1; a plane with all its energy in one bin
 * is either taken whole or refused. */
START_TEST(a_band_cuts_bins_off_from_the_first_one_on)
{
    static const struct {
        double window;
        long bin;
        bool taken;
    } cases[] = {{1.0, 767, true}, {1.0, 768, false}, {1.0, 1, true},    {1.0, 0, false},
                 {2.0, 767, true}, {2.0, 768, false}, {1.25, 767, true}, {1.25, 768, false}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct capillary_case c;
        struct plane_layout layout;
        char why[900] = "";
        const struct gauss none = {omega_of(800e-9), 0.0, 0.0, 0.0};
        struct data_set set = plane_of(&none, WINDOW, 2048);
        set.array[1].real[2 * cases[i].bin] = 1.0;
        input_case(&c, cases[i].window * WINDOW);
        capillary_case_choose(&c, "windows.spectral", "none");
        /* the first bin above the band is 768 of the plane's */
        capillary_case_set(&c, "grid.coarse", 1536.0 * cases[i].window);
        capillary_case_set(&c, "guide.wall.index", 1.45);
        capillary_case_set(&c, "grid.fine", 8192.0);
        capillary_case_data(&c, "input.from", &set);
        status_capture(why, sizeof why);
        const int rc = capillary_ops.layout(&c.params, &layout);
        status_capture(NULL, 0);
        ck_assert_msg((rc == 0) == cases[i].taken, "case %zu: %s", i, why);
        capillary_case_clear(&c);
        data_clear(&set);
    }
}
END_TEST

START_TEST(planes_that_do_not_fit_are_refused_with_what_would)
{
    struct capillary_case c;
    const struct gauss late = {omega_of(800e-9), ENERGY, 120e-15, 0.0};
    const struct gauss blue = {omega_of(200e-9), ENERGY, 0.0, 0.0};
    struct data_set set = plane_of(&late, WINDOW, 2048);
    input_case(&c, 0.5 * WINDOW);
    capillary_case_data(&c, "input.from", &set);
    refuses(&c, "input.from: the scan's window cuts off 1 of the plane's energy");
    capillary_case_set(&c, "grid.fine", 8192.0);
    capillary_case_set(&c, "grid.coarse", 2048.0);
    capillary_case_set(&c, "grid.window", 1.0001 * WINDOW);
    refuses(&c, "the same, or one that holds an even 2^a 3^b 5^c 7^d of these samples, say "
                "3.415");
    capillary_case_set(&c, "grid.window", WINDOW);
    capillary_case_set(&c, "pulse.energy", 1e-6);
    refuses(&c, "pulse.energy: input.from gives the input as it is");
    capillary_case_unset(&c, "pulse.energy");
    capillary_case_set(&c, "pulse2.duration", 1e-14);
    refuses(&c, "pulse2: input.from gives the input as it is");
    capillary_case_unset(&c, "pulse2.duration");
    data_clear(&set);
    set = plane_of(&blue, WINDOW, 2048);
    capillary_case_list(&c, "grid.wavelengths", (const double[]){300e-9, 4e-6}, 2);
    refuses(&c, "its band 1; accepted: at most 0.001");
    set.array[0].real[0] = 1e15;
    refuses(&c, "the plane holds no real field");
    data_clear(&set);
    capillary_case_clear(&c);
    ck_assert_int_eq(mem_live(), 0);
}
END_TEST

START_TEST(what_does_not_belong_together_is_refused)
{
    struct capillary_case c;
    struct data_set set = table_in_time(0.5e-15, 0.0);
    input_case(&c, WINDOW);
    refuses(&c, "pulse: neither of pulse.energy and pulse.peak_power");
    capillary_case_set(&c, "pulse.energy", ENERGY);
    refuses(&c, "pulse.duration is missing");
    capillary_case_data(&c, "pulse.file", &set);
    capillary_case_set(&c, "pulse.duration", WIDTH);
    refuses(&c, "pulse.duration belongs to a shape; pulse.file has its own");
    capillary_case_unset(&c, "pulse.duration");
    capillary_case_set(&c, "pulse2.duration", WIDTH);
    capillary_case_set(&c, "pulse2.energy", ENERGY);
    capillary_case_set(&c, "pulse2.wavelength", 100e-9);
    refuses(&c, "pulse2.wavelength 1e-07 m lies outside of the band");
    capillary_case_set(&c, "pulse2.wavelength", 400e-9);
    capillary_case_set(&c, "pulse2.duration", 200e-15);
    refuses(&c, "grid.window: 3.4157e-13 s is too short for a pulse of 2e-13 s");
    data_clear(&set);
    /* a spectrum that the band does not hold */
    set = table_in_frequency("omega", 0.0);
    capillary_case_set(&c, "pulse2.duration", WIDTH);
    for (long i = 0; i < set.array[0].length[0]; i++)
        set.array[0].real[i] *= 8.0;
    refuses(&c, "pulse.file: 100 % of the pulse lie outside of the band");
    data_clear(&set);
    capillary_case_clear(&c);
    ck_assert_int_eq(mem_live(), 0);
}
END_TEST

/* A stored configuration knows the hash alone: enough for shapes, not for a run. */
START_TEST(data_that_were_not_read_are_a_members_reason)
{
    static const char *const names[] = {"pulse.file", "input.from"};
    const struct data_set bare = {.hash = "abc"};
    for (int i = 0; i < 2; i++) {
        struct capillary_case c;
        input_case(&c, WINDOW);
        capillary_case_data(&c, names[i], &bare);
        if (i == 0)
            capillary_case_set(&c, "pulse.energy", ENERGY);
        struct capillary_planes p = capillary_case_run(&c);
        ck_assert_int_eq(p.row.outcome, ROW_FAILED);
        ck_assert_msg(strstr(p.row.reason, "abc were not read") != NULL, "%s", p.row.reason);
        capillary_planes_free(&p);
        capillary_case_clear(&c);
    }
    ck_assert_int_eq(mem_live(), 0);
}
END_TEST

int main(void)
{
    Suite *const suite = suite_create("capillary input");
    TCase *const tests = tcase_create("input");
    tcase_set_timeout(tests, 60);
    tcase_add_test(tests, a_table_over_time_is_its_formula);
    tcase_add_test(tests, the_shape_and_its_table_are_one_pulse);
    tcase_add_test(tests, a_phase_over_time_moves_the_carrier);
    tcase_add_test(tests, a_spectrum_with_phase_is_its_formula);
    tcase_add_test(tests, an_envelope_takes_the_same_tables);
    tcase_add_test(tests, a_table_has_the_peak_power_that_is_asked_for);
    tcase_add_test(tests, several_pulses_add_up_as_fields);
    tcase_add_test(tests, a_plane_of_the_same_window_keeps_its_bits);
    tcase_add_test(tests, a_plane_of_another_window_keeps_its_samples);
    tcase_add_test(tests, a_band_cuts_bins_off_from_the_first_one_on);
    tcase_add_test(tests, planes_that_do_not_fit_are_refused_with_what_would);
    tcase_add_test(tests, what_does_not_belong_together_is_refused);
    tcase_add_test(tests, data_that_were_not_read_are_a_members_reason);
    suite_add_tcase(suite, tests);
    return unit_main(suite);
}
