/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Pulses, dispersion and planes out of data sets. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "kernels/base/mem.h"
#include "kernels/base/status.h"
#include "kernels/models/pulse/dispersion_table.h"
#include "kernels/models/pulse/gnlse.h"
#include "kernels/models/pulse/measured.h"
#include "tests/exact.h"
#include "tests/kernels/gnlse_case.h"
#include "tests/kernels/isa.h"
#include "tests/perturb/near.h"
#include "tests/unit_main.h"

#define PI     3.14159265358979323846
#define C0     299792458.0
#define OMEGA0 (2.0 * PI * C0 / 835e-9)
#define WIDTH  1e-13 /* s, full width at half maximum of the intensity */

static const struct measured_grid grid = {1024, 4e-12, OMEGA0};

/* A set of columns of equal length; free with data_clear. */
static struct data_set make_set(long rows, int columns, const char *const *names)
{
    struct data_set set = {.hash = "0"};
    double *values;
    for (int i = 0; i < columns; i++)
        ck_assert_int_eq(data_add_real(&set, names[i], "1", 1, &rows, &values), 0);
    return set;
}

static void case_data(struct gnlse_case *c, const char *name, const struct data_set *set)
{
    const int index = params_find(&c->params, name);
    ck_assert_msg(index >= 0, "no parameter %s", name);
    c->params.values[index] = (struct param_value){.set = true, .count = 1, .data = set};
}

/* Intensity exp(-4 ln 2 t^2/width^2) with phase chirp t^2, rows `step` apart. */
static struct data_set gauss_in_time(double step, double chirp)
{
    const long half = (long)ceil(6.0 * WIDTH / step);
    struct data_set set =
        make_set(2 * half + 1, 3, (const char *const[]){"time", "intensity", "phase"});
    for (long i = 0; i < 2 * half + 1; i++) {
        const double t = step * (double)(i - half);
        set.array[0].real[i] = t;
        set.array[1].real[i] = 7.0 * exp(-4.0 * log(2.0) * t * t / (WIDTH * WIDTH));
        set.array[2].real[i] = remainder(chirp * t * t, 2.0 * PI);
    }
    return set;
}

/* Largest difference between a table's pulse and its formula on the grid, of the peak. */
static double time_error(double step, double chirp)
{
    cplx a[1024];
    double worst = 0.0;
    struct data_set set = gauss_in_time(step, chirp);
    ck_assert_int_eq(measured_fill(&set, &grid, a), 0);
    for (long j = 0; j < grid.n; j++) {
        const double t = grid.window / (double)grid.n * (double)(j - grid.n / 2);
        const double size = sqrt(7.0) * exp(-2.0 * log(2.0) * t * t / (WIDTH * WIDTH));
        const cplx right = cplx_make(size * cos(chirp * t * t), size * sin(chirp * t * t));
        worst = fmax(worst, sqrt(cplx_abs2(cplx_sub(a[j], right)) / 7.0));
    }
    data_clear(&set);
    return worst;
}

/* The error of a cubic spline is at most 5/384 h^4 max |f''''| (Hall and Meyer 1976), and
 * f'''' of exp(-b t^2) is 12 b^2 at its largest. */
START_TEST(a_gaussian_of_a_table_is_the_formula_to_the_order_of_the_spline)
{
    const double b = 2.0 * log(2.0) / (WIDTH * WIDTH);
    double before = 0.0;
    for (double step = 1.6e-14; step > 1e-15; step /= 2.0) {
        const double error = time_error(step, 0.0);
        ck_assert_norm(error, 5.0 / 384.0 * pow(step, 4) * 12.0 * b * b);
        if (before > 0.0)
            ck_assert_double_gt(log2(before / error), 3.5);
        before = error;
    }
    ck_assert_double_gt(before, 1e-12); /* there was something to converge */
}
END_TEST

START_TEST(a_wrapped_phase_of_a_table_is_the_phase_of_the_field)
{
    const double chirp = 2.0 / (WIDTH * WIDTH);
    const double coarse = time_error(2e-15, chirp);
    const double fine = time_error(1e-15, chirp);
    ck_assert_norm(fine, 1e-6);
    ck_assert_double_gt(log2(coarse / fine), 3.5);
}
END_TEST

/* Spectrum exp(-p0 Omega^2) exp(-i gdd Omega^2/2), of which A(t) = exp(-t^2/(4 p)) up to a
 * factor, p = p0 + i gdd/2. @param kind 0 omega, 1 frequency, 2 wavelength */
static struct data_set gauss_in_frequency(int kind, long rows, double p0, double gdd)
{
    static const char *const axes[] = {"omega", "frequency", "wavelength"};
    struct data_set set =
        make_set(rows, 3, (const char *const[]){axes[kind], "spectral_power", "phase"});
    const double half = sqrt(18.0 / p0);
    for (long i = 0; i < rows; i++) {
        const double part = 2.0 * (double)i / (double)(rows - 1) - 1.0;
        double omega = OMEGA0 + half * part;
        double x = kind == 1 ? omega / (2.0 * PI) : omega;
        double per_unit = 1.0;
        if (kind == 2) {
            const double low = 2.0 * PI * C0 / (OMEGA0 + half);
            const double high = 2.0 * PI * C0 / (OMEGA0 - half);
            x = low + (high - low) * (part + 1.0) / 2.0;
            omega = 2.0 * PI * C0 / x;
            per_unit = 2.0 * PI * C0 / (x * x);
        }
        const double w = omega - OMEGA0;
        set.array[0].real[i] = x;
        set.array[1].real[i] = exp(-2.0 * p0 * w * w) * per_unit;
        set.array[2].real[i] = gdd * w * w / 2.0;
    }
    return set;
}

START_TEST(a_chirped_spectrum_of_a_table_has_the_field_of_the_integral)
{
    const double p0 = WIDTH * WIDTH / (8.0 * log(2.0));
    const double gdd = 3e-27;
    const double size = p0 * p0 + gdd * gdd / 4.0;
    for (int kind = 0; kind < 3; kind++) {
        cplx a[1024];
        struct data_set set = gauss_in_frequency(kind, 2001, p0, gdd);
        ck_assert_int_eq(measured_fill(&set, &grid, a), 0);
        cplx *field = case_samples(a, grid.n);
        const cplx top = field[grid.n / 2];
        for (long j = 0; j < grid.n; j++) {
            const double t = grid.window / (double)grid.n * (double)(j - grid.n / 2);
            /* exp(-t^2/(4 p)), 1/p = (p0 - i gdd/2)/size */
            const double real = exp(-t * t * p0 / (4.0 * size));
            const double angle = t * t * gdd / (8.0 * size);
            const cplx right = cplx_mul(top, cplx_make(real * cos(angle), real * sin(angle)));
            const double error = cplx_abs2(cplx_sub(field[j], right)) / cplx_abs2(top);
            ck_assert_norm(sqrt(error), 1e-7);
        }
        free(field);
        struct measured_figures figures;
        ck_assert_int_eq(measured_look(&set, &grid, &figures), 0);
        const double right = WIDTH * sqrt(1.0 + pow(4.0 * log(2.0) * gdd / (WIDTH * WIDTH), 2));
        ck_assert_ratio(figures.duration, right, 1e-3,
                        WIDTH * 1.002
                            * sqrt(1.0 + pow(4.0 * log(2.0) * gdd / (WIDTH * WIDTH), 2)),
                        "a width larger by two parts in a thousand");
        data_clear(&set);
    }
    ck_assert_int_eq(mem_live(), 0);
}
END_TEST

START_TEST(a_table_is_scaled_to_energy_or_peak_power)
{
    struct data_set set = gauss_in_time(1e-15, 0.0);
    for (int by_energy = 0; by_energy < 2; by_energy++) {
        struct gnlse_case c;
        case_init(&c);
        case_unset(&c, "pulse.duration");
        case_data(&c, "pulse.file", &set);
        case_set(&c, by_energy ? "pulse.energy" : "pulse.peak_power", by_energy ? 3e-9 : 2e3);
        case_set(&c, "length", 1e-6);
        struct gnlse_planes p = case_run(&c);
        /* the integral of exp(-4 ln 2 t^2/width^2) */
        const double area = WIDTH * sqrt(PI / (4.0 * log(2.0)));
        const double peak = by_energy ? 3e-9 / area : 2e3;
        ck_assert_ratio(p.observable[0][0], peak * area, 1e-9, peak * area * (1.0 + 1e-8),
                        "an energy larger by 1e-8");
        ck_assert_ratio(p.observable[0][2], peak, 1e-6, peak * (1.0 + 1e-5),
                        "a peak higher by 1e-5");
        ck_assert_ratio(p.observable[0][3], WIDTH, 1e-3, WIDTH * 1.003,
                        "a width larger by three parts in a thousand");
        planes_free(&p, NULL);
        case_clear(&c);
    }
    data_clear(&set);
    ck_assert_int_eq(mem_live(), 0);
}
END_TEST

/* beta of a polynomial around the reference, as a table over omega */
static double beta_of(double w)
{
    return 1.2e7 + 4.9e-9 * w - 12e-27 / 2.0 * w * w + 8e-41 / 6.0 * w * w * w
           - 9e-56 / 24.0 * w * w * w * w;
}

static double table_error(long rows)
{
    const double half = 0.5 * OMEGA0;
    double worst = 0.0;
    struct data_set set = make_set(rows, 2, (const char *const[]){"omega", "beta"});
    for (long i = 0; i < rows; i++) {
        const double w = half * (2.0 * (double)i / (double)(rows - 1) - 1.0);
        set.array[0].real[i] = OMEGA0 + w;
        set.array[1].real[i] = beta_of(w);
    }
    struct dispersion_table *t;
    ck_assert_int_eq(dispersion_table_create(&set, OMEGA0, &t), 0);
    for (double w = -0.99 * half; w < half; w += 0.0371 * half) {
        const double right = beta_of(w) - beta_of(0.0) - 4.9e-9 * w;
        worst = fmax(worst, fabs(dispersion_table_phase(t, w) - right));
    }
    /* beyond the end: the parabola */
    const double at = dispersion_table_phase(t, half);
    const double second = dispersion_table_beta2(t, half);
    const double d = 1e12;
    const double slope = (at - dispersion_table_phase(t, half - d)) / d + 0.5 * second * d;
    const double far = 0.2 * half;
    ck_assert_near(dispersion_table_phase(t, half + far),
                   at + slope * far + 0.5 * second * far * far, 1e-3 * fabs(at),
                   at + 1.01 * slope * far + 0.5 * second * far * far,
                   "a slope steeper by a hundredth");
    ck_assert(exactly(dispersion_table_beta2(t, half + far), second));
    dispersion_table_destroy(t);
    data_clear(&set);
    return worst;
}

START_TEST(the_phase_of_a_table_converges_with_its_order)
{
    const double coarse = table_error(30);
    const double middle = table_error(60);
    const double fine = table_error(120);
    ck_assert_double_gt(log2(coarse / middle), 3.5);
    ck_assert_double_gt(log2(middle / fine), 3.5);
    /* of 5e3 rad/m: what is left is the rounding of beta, 2e-9 rad/m, as a slope from row to
     * row, 2e-21 s/m, times the half band, 1e15 rad/s */
    ck_assert_norm(table_error(2000), 1e-5);
}
END_TEST

/* I. H. Malitson, J. Opt. Soc. Am. 55, 1205 (1965): fused silica, wavelength in um. */
static double silica_index(double um)
{
    const double l2 = um * um;
    return sqrt(1.0 + 0.6961663 * l2 / (l2 - 0.0684043 * 0.0684043)
                + 0.4079426 * l2 / (l2 - 0.1162414 * 0.1162414)
                + 0.8974794 * l2 / (l2 - 9.896161 * 9.896161));
}

static double note_of(const struct plane_layout *layout, const char *name)
{
    for (int i = 0; i < layout->notes; i++)
        if (strcmp(layout->note[i].name, name) == 0)
            return layout->note[i].value;
    return (double)NAN;
}

START_TEST(an_index_table_of_silica_has_the_known_dispersion)
{
    const long rows = 400;
    struct data_set set = make_set(rows, 2, (const char *const[]){"wavelength", "index"});
    for (long i = 0; i < rows; i++) {
        const double um = 0.4 + 1.8 * (double)i / (double)(rows - 1);
        set.array[0].real[i] = um * 1e-6;
        set.array[1].real[i] = silica_index(um);
    }
    struct gnlse_case c;
    struct plane_layout layout;
    case_init(&c);
    case_unset(&c, "betas");
    case_data(&c, "dispersion.file", &set);
    case_set(&c, "wavelength", 800e-9);
    case_set(&c, "grid.points", 2048.0);
    case_set(&c, "pulse.peak_power", 1.0);
    ck_assert_int_eq(gnlse_ops.layout(&c.params, &layout), 0);
    /* 36.16 fs^2/mm at 800 nm, zero at 1.273 um: textbook numbers of the material */
    const double beta2 = note_of(&layout, "beta2 of the table at the reference");
    ck_assert_ratio(beta2, 36.16e-27, 1e-3, 36.2e-27, "three figures of it");
    ck_assert_ratio(note_of(&layout, "zero-dispersion wavelength"), 1.273e-6, 1e-3, 1.275e-6,
                    "a zero 2 nm away");
    case_clear(&c);
    data_clear(&set);
    ck_assert_int_eq(mem_live(), 0);
}
END_TEST

/* Without nonlinearity a_k(z) = a_k(0) exp(-i B(Omega_k) z). */
START_TEST(a_table_disperses_a_pulse_as_its_formula_does)
{
    const long rows = 1000;
    struct data_set set = make_set(rows, 2, (const char *const[]){"omega", "beta"});
    for (long i = 0; i < rows; i++) {
        const double w = 0.9 * OMEGA0 * (2.0 * (double)i / (double)(rows - 1) - 1.0);
        set.array[0].real[i] = OMEGA0 + w;
        set.array[1].real[i] = beta_of(w);
    }
    struct gnlse_case c;
    case_init(&c);
    case_unset(&c, "betas");
    case_data(&c, "dispersion.file", &set);
    case_set(&c, "gamma", 0.0);
    case_set(&c, "pulse.peak_power", 1.0);
    struct gnlse_planes p = case_run(&c);
    cplx *right = calloc((size_t)p.n, sizeof *right);
    for (long k = 0; k < p.n; k++) {
        const double w = p.Omega[k];
        const double b = beta_of(w) - beta_of(0.0) - 4.9e-9 * w;
        right[k] = cplx_mul(p.field[k], cplx_make(cos(b), -sin(b)));
    }
    ck_assert_norm(case_distance(p.field + p.n, right, p.n), 1e-6);
    free(right);
    planes_free(&p, NULL);
    case_clear(&c);
    data_clear(&set);
    ck_assert_int_eq(mem_live(), 0);
}
END_TEST

static void soliton_case(struct gnlse_case *c, double rtol)
{
    case_init(c);
    case_betas(c, (const double[]){-12e-27, 8e-41}, 2);
    case_raman(c);
    case_set(c, "self_steepening", 1.0);
    case_set(c, "pulse.peak_power", 3e3);
    case_set(c, "length", 0.04);
    case_set(c, "stepper.rtol", rtol);
    case_planes(c, (const double[]){0.0, 0.02, 0.04}, 3);
}

static struct data_set plane_set(const struct gnlse_planes *p, long plane)
{
    struct data_set set = {.hash = "1"};
    double *omega;
    double *field;
    ck_assert_int_eq(data_add_real(&set, "omega", "rad s^-1", 1, &p->n, &omega), 0);
    ck_assert_int_eq(data_add_real(&set, "field", "W^0.5", 2, (const long[]){p->n, 2}, &field),
                     0);
    memcpy(omega, p->omega, (size_t)p->n * sizeof *omega);
    for (long k = 0; k < p->n; k++) {
        field[2 * k] = p->field[plane * p->n + k].r;
        field[2 * k + 1] = p->field[plane * p->n + k].i;
    }
    return set;
}

/* The first half, then the second from its plane: off by no more than the step errors of the
 * uninterrupted run, which a far tighter one shows. */
START_TEST(a_plane_of_a_run_goes_on_as_the_run_itself)
{
    struct gnlse_case whole;
    struct gnlse_case tight;
    struct gnlse_case second;
    soliton_case(&whole, 1e-6);
    soliton_case(&tight, 1e-10);
    soliton_case(&second, 1e-6);
    struct gnlse_planes a = case_run(&whole);
    struct gnlse_planes reference = case_run(&tight);
    struct data_set set = plane_set(&a, 1);
    case_unset(&second, "pulse.duration");
    case_unset(&second, "pulse.peak_power");
    case_data(&second, "input.from", &set);
    case_set(&second, "length", 0.02);
    case_planes(&second, (const double[]){0.0, 0.02}, 2);
    struct gnlse_planes b = case_run(&second);
    ck_assert_int_eq(b.n, a.n);
    ck_assert(equal_bits(b.field, a.field + a.n, (size_t)a.n * sizeof(cplx)));
    const double error = case_distance(a.field + 2 * a.n, reference.field + 2 * a.n, a.n);
    const double apart = case_distance(b.field + a.n, a.field + 2 * a.n, a.n);
    ck_assert_double_gt(error, 0.0);
    ck_assert_double_lt(apart, 2.0 * error);
    planes_free(&a, NULL);
    planes_free(&b, NULL);
    planes_free(&reference, NULL);
    case_clear(&whole);
    case_clear(&tight);
    case_clear(&second);
    data_clear(&set);
    ck_assert_int_eq(mem_live(), 0);
}
END_TEST

/* What layout says of a case; "" when it takes it. */
static void refusal_of(const struct gnlse_case *c, char why[600])
{
    struct plane_layout layout;
    why[0] = '\0';
    status_capture(why, 600);
    const int rc = gnlse_ops.layout(&c->params, &layout);
    status_capture(NULL, 0);
    ck_assert((rc == 0) == (why[0] == '\0'));
}

static void refuses(const struct gnlse_case *c, const char *part)
{
    char why[600];
    refusal_of(c, why);
    ck_assert_msg(strstr(why, part) != NULL, "'%s' is not in: %s", part, why);
}

START_TEST(data_that_do_not_fit_are_refused_by_name)
{
    struct gnlse_case c;
    char why[600];
    struct data_set set = gauss_in_time(1e-15, 0.0);
    soliton_case(&c, 1e-6);
    case_data(&c, "pulse.file", &set);
    refuses(&c, "pulse.duration belongs to a shape");
    case_unset(&c, "pulse.duration");
    refusal_of(&c, why);
    ck_assert_str_eq(why, "");
    for (long i = 0; i < set.array[0].length[0]; i++)
        set.array[0].real[i] += 3e-12;
    refuses(&c, "100 % of the pulse lie outside of the window");
    for (long i = 0; i < set.array[0].length[0]; i++)
        set.array[1].real[i] = -1.0;
    refuses(&c, "no row of the table is above 0");
    set.array[0].length[0] = 3;
    refuses(&c, "3 rows; at least 4");
    case_data(&c, "input.from", &set);
    refuses(&c, "pulse.file: input.from gives the input as it is");
    case_unset(&c, "pulse.file");
    case_unset(&c, "pulse.peak_power");
    refuses(&c, "the plane has no field over omega");
    case_clear(&c);
    data_clear(&set);
    ck_assert_int_eq(mem_live(), 0);
}
END_TEST

START_TEST(a_plane_of_another_grid_is_refused_with_both)
{
    struct gnlse_case c;
    soliton_case(&c, 1e-6);
    case_set(&c, "length", 1e-6);
    case_planes(&c, (const double[]){0.0, 1e-6}, 2);
    struct gnlse_planes p = case_run(&c);
    struct data_set set = plane_set(&p, 0);
    case_unset(&c, "pulse.duration");
    case_unset(&c, "pulse.peak_power");
    case_data(&c, "input.from", &set);
    char why[600];
    refusal_of(&c, why);
    ck_assert_str_eq(why, "");
    case_set(&c, "wavelength", 836e-9);
    refuses(&c, "a window of 4e-12 s around 8.35e-07 m, the scan 4e-12 s around 8.36e-07 m");
    case_set(&c, "wavelength", 835e-9);
    case_set(&c, "grid.window", 5e-12);
    refuses(&c, "a window of 4e-12 s around 8.35e-07 m, the scan 5e-12 s around");
    case_set(&c, "grid.window", 4e-12);
    case_set(&c, "grid.points", 32.0); /* 4 THz to each side */
    refuses(&c, "1024 points, the scan 32, whose band cuts off");
    planes_free(&p, NULL);
    case_clear(&c);
    data_clear(&set);
    ck_assert_int_eq(mem_live(), 0);
}
END_TEST

/* Same window: the bins of a plane are those of the scan, however many either has. */
START_TEST(a_plane_of_other_points_keeps_its_bins)
{
    struct gnlse_case c;
    soliton_case(&c, 1e-6);
    case_set(&c, "length", 1e-6);
    case_planes(&c, (const double[]){0.0, 1e-6}, 2);
    struct gnlse_planes from = case_run(&c);
    struct data_set set = plane_set(&from, 0);
    case_unset(&c, "pulse.duration");
    case_unset(&c, "pulse.peak_power");
    case_data(&c, "input.from", &set);
    for (long n = 512; n <= 2048; n *= 2) {
        struct plane_layout layout;
        case_set(&c, "grid.points", (double)n);
        struct gnlse_planes p = case_run(&c);
        ck_assert_int_eq(p.n, n);
        double cut = 0.0;
        for (long k = -512; k < 512; k++)
            if (k < -n / 2 || k >= n / 2)
                cut += cplx_abs2(from.field[(k + 1024) % 1024]);
        for (long k = -n / 2; k < n / 2; k++) {
            const cplx right =
                k >= -512 && k < 512 ? from.field[(k + 1024) % 1024] : cplx_make(0.0, 0.0);
            const cplx here = p.field[(k + n) % n];
            ck_assert(exactly(here.r, right.r) && exactly(here.i, right.i));
        }
        ck_assert_int_eq(gnlse_ops.layout(&c.params, &layout), 0);
        const double energy = from.observable[0][0] / 4e-12;
        ck_assert_rounding_of(note_of(&layout, "input outside of the band"), cut / energy, 1.0,
                              1e-12);
        ck_assert(n > 512 || cut > 0.0);
        planes_free(&p, NULL);
    }
    planes_free(&from, NULL);
    case_clear(&c);
    data_clear(&set);
    ck_assert_int_eq(mem_live(), 0);
}
END_TEST

START_TEST(a_dispersion_table_must_hold_the_reference)
{
    struct gnlse_case c;
    struct data_set set = make_set(5, 2, (const char *const[]){"wavelength", "index"});
    for (long i = 0; i < 5; i++) {
        set.array[0].real[i] = 1e-6 + 1e-7 * (double)i;
        set.array[1].real[i] = 1.45;
    }
    soliton_case(&c, 1e-6);
    case_data(&c, "dispersion.file", &set);
    refuses(&c, "both betas and dispersion.file");
    case_unset(&c, "betas");
    refuses(&c, "the reference, 8.35e-07 m, lies outside of the table, 1e-06 to 1.4e-06 m");
    set.array[0].length[0] = set.array[1].length[0] = 3;
    refuses(&c, "3 rows; at least 4");
    case_unset(&c, "dispersion.file");
    refuses(&c, "neither of betas and dispersion.file");
    case_clear(&c);
    data_clear(&set);
    ck_assert_int_eq(mem_live(), 0);
}
END_TEST

/* A stored configuration is read without the files that it names. */
START_TEST(shapes_are_known_without_the_data)
{
    struct gnlse_case c;
    struct plane_layout with;
    struct plane_layout without;
    struct data_set set = gauss_in_time(1e-15, 0.0);
    const struct data_set bare = {.hash = "0"};
    soliton_case(&c, 1e-6);
    case_unset(&c, "pulse.duration");
    case_data(&c, "pulse.file", &set);
    ck_assert_int_eq(gnlse_ops.layout(&c.params, &with), 0);
    case_data(&c, "pulse.file", &bare);
    case_unset(&c, "betas");
    case_data(&c, "dispersion.file", &bare);
    ck_assert_int_eq(gnlse_ops.layout(&c.params, &without), 0);
    ck_assert_int_eq(with.axis[0].length, without.axis[0].length);
    ck_assert_int_eq(with.planes, without.planes);
    ck_assert(with.state_bytes == without.state_bytes && exactly(with.span, without.span));
    case_clear(&c);
    data_clear(&set);
    ck_assert_int_eq(mem_live(), 0);
}
END_TEST

START_TEST(a_prepared_pulse_looks_as_it_did)
{
    for (int spectral = 0; spectral < 2; spectral++) {
        struct data_set set =
            spectral ? gauss_in_frequency(2, 301, 2e-27, 3e-27) : gauss_in_time(2.3e-15, 1e26);
        for (double window = 0.11e-12; window < 1e-11; window *= 3.0) {
            const struct measured_grid some = {128, window, OMEGA0};
            struct measured_figures direct;
            struct measured_figures prepared;
            char why[300];
            struct data_set copy = set;
            status_capture(why, sizeof why);
            const int rc = measured_look(&set, &some, &direct);
            ck_assert_int_eq(measured_prepare(&copy), 0);
            ck_assert_int_eq(copy.arrays, set.arrays + 3);
            ck_assert_int_eq(measured_look(&copy, &some, &prepared), rc);
            status_capture(NULL, 0);
            ck_assert(equal_bits(&direct, &prepared, sizeof direct));
            for (int i = set.arrays; i < copy.arrays; i++)
                mem_free(copy.array[i].real);
        }
        data_clear(&set);
    }
    struct data_set bad = make_set(3, 2, (const char *const[]){"time", "intensity"});
    ck_assert_int_eq(measured_prepare(&bad), 0);
    ck_assert_int_eq(bad.arrays, 2);
    data_clear(&bad);
    ck_assert_int_eq(mem_live(), 0);
}
END_TEST

START_TEST(a_packed_set_comes_back)
{
    struct data_set set = gauss_in_time(1e-14, 1e25);
    struct data_set back;
    size_t used = 0;
    char *bytes = malloc(data_packed_size(&set));
    int64_t *whole;
    ck_assert_int_eq(data_add_whole(&set, "rows", "1", 1, (const long[]){0}, &whole), 0);
    free(bytes);
    bytes = malloc(data_packed_size(&set));
    data_pack(&set, bytes);
    ck_assert_int_eq(data_unpack(&back, bytes, &used), 0);
    ck_assert(used == data_packed_size(&set));
    ck_assert_int_eq(back.arrays, 4);
    for (int i = 0; i < 3; i++)
        ck_assert(equal_bits(back.array[i].real, set.array[i].real,
                             (size_t)data_count(&set.array[i]) * sizeof(double)));
    ck_assert_ptr_nonnull(back.array[3].whole);
    ck_assert_str_eq(back.hash, set.hash);
    free(bytes);
    data_clear(&back);
    data_clear(&set);
    ck_assert_int_eq(mem_live(), 0);
}
END_TEST

START_TEST(a_set_above_the_limit_is_refused)
{
    struct data_set set = {0};
    double *values;
    char why[300];
    status_capture(why, sizeof why);
    ck_assert_int_eq(data_add_real(&set, "x", "1", 2, (const long[]){4096, 2049}, &values),
                     ERR_UNSUPPORTED);
    status_capture(NULL, 0);
    ck_assert_ptr_nonnull(strstr(why, "array x makes the data larger than 64 MB"));
    ck_assert_int_eq(set.arrays, 0);
}
END_TEST

int main(void)
{
    if (isa_check() != 0)
        return ISA_SKIPPED;
    Suite *const suite = suite_create("pulse data");
    TCase *const tests = tcase_create("data");
    tcase_set_timeout(tests, 60);
    tcase_add_test(tests, a_gaussian_of_a_table_is_the_formula_to_the_order_of_the_spline);
    tcase_add_test(tests, a_wrapped_phase_of_a_table_is_the_phase_of_the_field);
    tcase_add_test(tests, a_chirped_spectrum_of_a_table_has_the_field_of_the_integral);
    tcase_add_test(tests, a_table_is_scaled_to_energy_or_peak_power);
    tcase_add_test(tests, the_phase_of_a_table_converges_with_its_order);
    tcase_add_test(tests, an_index_table_of_silica_has_the_known_dispersion);
    tcase_add_test(tests, a_table_disperses_a_pulse_as_its_formula_does);
    tcase_add_test(tests, a_plane_of_a_run_goes_on_as_the_run_itself);
    tcase_add_test(tests, data_that_do_not_fit_are_refused_by_name);
    tcase_add_test(tests, a_plane_of_another_grid_is_refused_with_both);
    tcase_add_test(tests, a_plane_of_other_points_keeps_its_bins);
    tcase_add_test(tests, a_dispersion_table_must_hold_the_reference);
    tcase_add_test(tests, shapes_are_known_without_the_data);
    tcase_add_test(tests, a_prepared_pulse_looks_as_it_did);
    tcase_add_test(tests, a_packed_set_comes_back);
    tcase_add_test(tests, a_set_above_the_limit_is_refused);
    suite_add_tcase(suite, tests);
    return unit_main(suite);
}
