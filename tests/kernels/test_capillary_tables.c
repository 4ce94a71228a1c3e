/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Index, loss and ionisation rate of a capillary out of tables; its Raman response along z. */
#include <math.h>
#include <string.h>

#include "kernels/base/status.h"
#include "kernels/models/pulse/atomic.h"
#include "kernels/models/pulse/capillary.h"
#include "kernels/models/pulse/capillary_medium.h"
#include "kernels/models/pulse/raman_mix.h"
#include "tests/exact.h"
#include "tests/kernels/capillary_case.h"
#include "tests/kernels/isa.h"
#include "tests/unit_main.h"

#define INDEX 1.45

static void is_near(double got, double want, double tolerance, const char *what)
{
    ck_assert_msg(fabs(got / want - 1.0) <= tolerance, "%s: %.9g, want %.9g within %g", what,
                  got, want, tolerance);
}

static struct capillary_planes run(const struct capillary_case *c)
{
    struct capillary_planes p = capillary_case_run(c);
    ck_assert_msg(p.row.outcome == ROW_DONE, "%s", p.row.reason);
    return p;
}

/* A small grid around 800 nm, half a metre, nothing nonlinear. */
static void small_case(struct capillary_case *c)
{
    capillary_case_init(c);
    capillary_case_unset(c, "grid.fine");
    capillary_case_unset(c, "grid.coarse");
    capillary_case_list(c, "grid.wavelengths", (const double[]){300e-9, 2e-6}, 2);
    capillary_case_set(c, "grid.window", 200e-15);
    capillary_case_set(c, "length", 0.5);

    capillary_case_set(c, "guide.wall.index", INDEX);
}

static void taper(struct capillary_case *c, const double *z, const double *radius, int count)
{
    capillary_case_unset(c, "core_radius");
    capillary_case_list(c, "core_radius.z", z, count);
    capillary_case_list(c, "core_radius.radius", radius, count);
}

static void gradient(struct capillary_case *c, double from, double to)
{
    capillary_case_unset(c, "pressure.constant");
    capillary_case_set(c, "pressure.from", from);
    capillary_case_set(c, "pressure.to", to);
}

/* The case is refused with a line that holds the words; then it is cleared. */
static void refuses_with(struct capillary_case *c, int code, const char *word,
                         const char *other)
{
    struct plane_layout layout;
    char text[600] = "";
    status_capture(text, sizeof text);
    const int got = capillary_ops.layout(&c->params, &layout);
    status_capture(NULL, 0);
    ck_assert_msg(got == code, "%d: %s", got, text);
    ck_assert_msg(strstr(text, word) != NULL, "%s lacks %s", text, word);
    ck_assert_msg(strstr(text, other) != NULL, "%s lacks %s", text, other);
    capillary_case_clear(c);
}

/* A cubic spline holds cubics: tables of n_eff = 1 + p_j(omega/omega0), alpha = the same. */
static const double cubic[4][4] = {{3e-4, -2e-4, 1.5e-4, 2e-5},
                                   {2e-4, 1e-4, -0.5e-4, 1e-5},
                                   {4e-4, -3e-4, 1e-4, 3e-5},
                                   {1e-4, 1e-4, 1e-4, 1e-5}};
static const double loss_cubic[4] = {2.0, -1.0, 0.5, 0.1};

static double cubic_at(const double *c, double x)
{
    return c[0] + x * (c[1] + x * (c[2] + x * c[3]));
}

static double cubic_slope(const double *c, double x)
{
    return c[1] + x * (2.0 * c[2] + x * 3.0 * c[3]);
}

#define TABLE_ROWS 60

/* Wavelength or frequency and the columns, wide enough for the small case. */
static struct data_set index_set(bool wavelength, int columns, double shortest)
{
    static const char *const names[] = {"index", "index2", "index3", "index4"};
    struct data_set set = {.hash = "0"};
    const long rows = TABLE_ROWS;
    double *axis;
    double *values;
    const char *const name = wavelength ? "wavelength" : "omega";
    ck_assert_int_eq(data_add_real(&set, name, "1", 1, &rows, &axis), 0);
    for (long i = 0; i < rows; i++)
        axis[i] = wavelength
                      ? shortest + 5e-6 * (double)i / TABLE_ROWS
                      : 2.0 * PULSE_PI * PULSE_C * (0.2e6 + 5e6 * (double)i / TABLE_ROWS);
    for (int j = 0; j < columns; j++) {
        ck_assert_int_eq(data_add_real(&set, names[j], "1", 1, &rows, &values), 0);
        for (long i = 0; i < rows; i++) {
            const double x =
                wavelength ? 800e-9 / axis[i] : axis[i] * 800e-9 / (2.0 * PULSE_PI * PULSE_C);
            values[i] = 1.0 + cubic_at(cubic[j], x);
        }
    }
    return set;
}

static struct data_set loss_set(void)
{
    struct data_set set = {.hash = "1"};
    const long rows = TABLE_ROWS;
    double *axis;
    double *values;
    ck_assert_int_eq(data_add_real(&set, "frequency", "Hz", 1, &rows, &axis), 0);
    ck_assert_int_eq(data_add_real(&set, "loss", "m^-1", 1, &rows, &values), 0);
    for (long i = 0; i < rows; i++) {
        axis[i] = PULSE_C * (0.2e6 + 5e6 * (double)i / TABLE_ROWS);
        values[i] = cubic_at(loss_cubic, axis[i] * 800e-9 / PULSE_C);
    }
    return set;
}

static void case_data(struct capillary_case *c, const char *name, const struct data_set *set)
{
    const int index = params_find(&c->params, name);
    ck_assert_msg(index >= 0, "no parameter %s", name);
    c->params.values[index] = (struct param_value){.set = true, .count = 1, .data = set};
}

/* Phases -(X(omega) - X'(omega0) omega) of columns times their integrals; loss of the table. */
static void check_table(const struct capillary_planes *p, const double *integral, int columns,
                        double factor)
{
    const double omega0 = 2.0 * PULSE_PI * PULSE_C / 800e-9;
    for (long k = 0; k < p->bins; k++) {
        double phase = 0.0;
        const double x = p->omega[k] / omega0;
        if (cplx_abs2(p->field[k]) < 1e-8 * cplx_abs2(p->field[p->bins / 4]))
            continue;
        for (int j = 0; j < columns; j++) {
            const double slope = cubic_at(cubic[j], 1.0) + cubic_slope(cubic[j], 1.0);
            phase += integral[j] * (slope - cubic_at(cubic[j], x)) * p->omega[k] / PULSE_C;
        }
        const cplx turn = cplx_mul_conj(p->field[p->bins + k], p->field[k]);
        const double error = remainder(atan2(turn.i, turn.r) - phase, 2.0 * PULSE_PI);
        ck_assert_msg(fabs(error) <= 1e-7, "bin %ld: phase off by %g of %g", k, error, phase);
        const double left = cplx_abs2(p->field[p->bins + k]) / cplx_abs2(p->field[k]);
        is_near(left, exp(-factor * 0.5 * cubic_at(loss_cubic, x)), 1e-10, "transmission");
    }
}

START_TEST(a_table_of_the_index_gives_the_phase_and_one_of_the_loss_the_transmission)
{
    struct capillary_case c;
    struct data_set one = index_set(false, 1, 0.0);
    struct data_set loss = loss_set();
    const double whole[1] = {0.5};
    small_case(&c);
    case_data(&c, "guide.table", &one);
    struct capillary_planes p = run(&c);
    check_table(&p, whole, 1, 0.0);
    capillary_planes_free(&p);
    case_data(&c, "guide.loss_table", &loss);
    capillary_case_set(&c, "guide.loss_factor", 2.0);
    p = run(&c);
    check_table(&p, whole, 1, 2.0);
    capillary_planes_free(&p);
    capillary_case_clear(&c);
    data_clear(&one);
    data_clear(&loss);
}
END_TEST

START_TEST(a_table_at_several_positions_is_linear_between_them)
{
    struct capillary_case c;
    struct data_set four = index_set(false, 4, 0.0);
    struct data_set loss = loss_set();
    small_case(&c);
    case_data(&c, "guide.table", &four);
    case_data(&c, "guide.loss_table", &loss);
    capillary_case_list(&c, "guide.table_z", (const double[]){0.1, 0.2, 0.4, 0.6}, 4);
    struct capillary_planes p = run(&c);
    ck_assert_int_eq(p.row.steps, 1);
    /* Constant to 0.1, a third of the last stretch is cut off at 0.5: its weights 1/2, 1/2. */
    const double integral[4] = {0.1 + 0.05, 0.05 + 0.1, 0.1 + 0.075, 0.025};
    check_table(&p, integral, 4, 1.0);
    /* In many steps, with a Kerr effect of next to nothing. */
    capillary_planes_free(&p);
    capillary_case_choose(&c, "kerr.response", "chi3");
    capillary_case_set(&c, "pulse.energy", 1e-20);
    capillary_case_set(&c, "stepper.first_step", 0.013);
    p = run(&c);
    ck_assert_int_gt(p.row.steps, 2);
    check_table(&p, integral, 4, 1.0);
    capillary_planes_free(&p);
    capillary_case_clear(&c);
    data_clear(&four);
    data_clear(&loss);
}
END_TEST

START_TEST(the_report_takes_the_dispersion_of_a_table)
{
    struct capillary_case c;
    struct plane_layout layout;
    struct data_set set = index_set(true, 1, 0.2e-6);
    double beta2 = 0.0;
    small_case(&c);
    case_data(&c, "guide.table", &set);
    ck_assert_int_eq(capillary_ops.layout(&c.params, &layout), 0);
    for (int i = 0; i < layout.notes; i++) {
        if (strcmp(layout.note[i].name, "group-velocity dispersion") == 0)
            beta2 = layout.note[i].value;
        ck_assert(strcmp(layout.note[i].name, "zero-dispersion wavelength") != 0);
    }
    const double *const c1 = cubic[0];
    const double omega0 = 2.0 * PULSE_PI * PULSE_C / 800e-9;
    const double want =
        (2.0 * cubic_slope(c1, 1.0) + 2.0 * c1[2] + 6.0 * c1[3]) / (PULSE_C * omega0);
    is_near(beta2, want, 1e-3, "group-velocity dispersion");
    capillary_case_clear(&c);
    data_clear(&set);
}
END_TEST

START_TEST(tables_that_do_not_fit_are_refused_by_name)
{
    struct capillary_case c;
    struct data_set narrow = index_set(true, 1, 0.5e-6);
    struct data_set two = index_set(false, 2, 0.0);
    struct data_set loss = loss_set();
    struct data_set unread = {.hash = "abc"};
    struct capillary_point point;
    small_case(&c);
    case_data(&c, "guide.table", &narrow);
    refuses_with(&c, ERR_ARGUMENT, "guide.table: the table holds 5e-07 m", "the band");
    small_case(&c);
    case_data(&c, "guide.table", &two);
    refuses_with(&c, ERR_ARGUMENT, "guide.table_z", "1 positions for the 2 columns");
    small_case(&c);
    capillary_case_list(&c, "guide.table_z", (const double[]){0.0, 0.2}, 2);
    refuses_with(&c, ERR_ARGUMENT, "guide.table_z", "without guide.table");
    small_case(&c);
    case_data(&c, "guide.loss_table", &loss);
    capillary_case_set(&c, "guide.loss", 0.0);
    refuses_with(&c, ERR_ARGUMENT, "guide.loss", "exclude");
    loss.array[1].real[3] = -1.0;
    small_case(&c);
    case_data(&c, "guide.loss_table", &loss);
    refuses_with(&c, ERR_ARGUMENT, "guide.loss_table: loss -1", "below 0");
    /* Known by its hash alone: good to look at, not to run. */
    small_case(&c);
    case_data(&c, "guide.table", &unread);
    ck_assert_int_eq(capillary_point_read(&c.params, &point), 0);
    ck_assert_int_ne(capillary_medium_data_check(&point), 0);
    capillary_case_clear(&c);
    data_clear(&narrow);
    data_clear(&two);
    data_clear(&loss);
}
END_TEST

#define RATE_ROWS 12

/* W = scale (E/top)^6 from top/1000 to 1.25 top: a straight line of the logarithms. */
static struct data_set rate_set(double top, double scale)
{
    struct data_set set = {.hash = "2"};
    const long rows = RATE_ROWS;
    double *field;
    double *rate;
    ck_assert_int_eq(data_add_real(&set, "field", "V m^-1", 1, &rows, &field), 0);
    ck_assert_int_eq(data_add_real(&set, "rate", "s^-1", 1, &rows, &rate), 0);
    for (long i = 0; i < rows; i++) {
        const double x = 1.25 * pow(1e-3, 1.0 - (double)i / (RATE_ROWS - 1));
        field[i] = top * x;
        rate[i] = scale * pow(x, 6.0);
    }
    return set;
}

START_TEST(a_table_of_the_rate_frees_the_electrons_of_its_exposure)
{
    /* int cos^6 = 5/16; (Gaussian)^6 has the integral T sqrt(pi/(12 ln 2)). */
    const char *const rules[] = {"trapezoid", "band"};
    const double area = 1.4971689509 * 125e-6 * 125e-6;
    const double power = 60e-6 / (10e-15 * sqrt(PULSE_PI / log(16.0)));
    const double top = sqrt(2.0 * power / (PULSE_EPS0 * PULSE_C * area));
    const double scale = 3e14;
    const double exposure = scale * 5.0 / 16.0 * 10e-15 * sqrt(PULSE_PI / (12.0 * log(2.0)));
    struct data_set set = rate_set(top, scale);
    for (int rule = 0; rule < 2; rule++) {
        struct capillary_case c;
        small_case(&c);
        capillary_case_set(&c, "length", 1e-6);
        capillary_case_set(&c, "pressure.constant", 1.0);
        case_data(&c, "plasma.table", &set);
        capillary_case_choose(&c, "plasma.rate", rule == 0 ? "table" : "auto");
        capillary_case_choose(&c, "plasma.rule", rules[rule]);
        struct capillary_planes p = run(&c);
        is_near(p.observable[0][CAPILLARY_IONISED_FRACTION], -expm1(-exposure), 1e-4,
                rules[rule]);
        ck_assert_exactly(p.observable[0][CAPILLARY_SATURATED], 0.0);
        capillary_planes_free(&p);
        capillary_case_clear(&c);
    }
    data_clear(&set);
}
END_TEST

START_TEST(rates_that_do_not_fit_are_refused_by_name)
{
    struct capillary_case c;
    struct data_set set = rate_set(1e10, 1e12);
    small_case(&c);
    capillary_case_choose(&c, "plasma.rate", "table");
    refuses_with(&c, ERR_ARGUMENT, "plasma.table", "belong together");
    small_case(&c);
    capillary_case_choose(&c, "plasma.rate", "ppt");
    case_data(&c, "plasma.table", &set);
    refuses_with(&c, ERR_ARGUMENT, "plasma.table", "belong together");
    small_case(&c);
    capillary_case_choose(&c, "plasma.rate", "table");
    case_data(&c, "plasma.table", &set);
    refuses_with(&c, ERR_ARGUMENT, "1.25e+10 V/m", "last row of plasma.table");
    set.array[1].real[2] = 0.0;
    small_case(&c);
    capillary_case_choose(&c, "plasma.rate", "table");
    case_data(&c, "plasma.table", &set);
    refuses_with(&c, ERR_ARGUMENT, "plasma.table: a rate of 0", "positive");
    data_clear(&set);
}
END_TEST

START_TEST(a_raman_response_between_densities_is_that_of_its_lines)
{
    /* From 20 bar of hydrogen to nothing, a picosecond. */
    struct raman_mix mix;
    struct raman_lines lines;
    double f[RAMAN_MIX_MAX][64];
    double scratch[64];
    double most = 0.0;
    double worst = 0.0;
    const double high = 20.0 * PULSE_AMAGAT;
    const double dt = 1e-12 / 64.0;
    ck_assert_int_eq(raman_mix_init(GAS_H2, 293.15, 0.0, high, 1e-12, &mix), 0);
    ck_assert_int_gt(mix.count, 1);
    for (int k = 0; k < mix.count; k++)
        ck_assert_int_eq(raman_mix_sample(&mix, k, dt, 64, scratch, f[k]), 0);
    for (double share = 1.0; share > 1e-7; share /= 1.7) {
        double w[RAMAN_MIX_MAX - 1];
        double size = 0.0;
        double error = 0.0;
        ck_assert_int_eq(raman_gas_lines(GAS_H2, 293.15, share * high, &lines), 0);
        raman_lines_sample(&lines, dt, 64, scratch);
        raman_mix_weights(&mix, share * high, w);
        for (int j = 0; j < 64; j++) {
            double got = f[0][j];
            for (int k = 1; k < mix.count; k++)
                got += w[k - 1] * f[k][j];
            size += share * high * fabs(scratch[j]);
            error += fabs(got - share * high * scratch[j]);
        }
        most = fmax(most, size);
        worst = fmax(worst, error);
    }
    ck_assert_msg(worst <= RAMAN_MIX_ERROR * most, "error %g of %g", worst, most);
}
END_TEST

/* The change that the Raman response makes on a short way. */
static double raman_change(struct capillary_case *c)
{
    capillary_case_choose(c, "raman.model", "none");
    struct capillary_planes linear = run(c);
    capillary_case_choose(c, "raman.model", "on");
    struct capillary_planes raman = run(c);
    double sum = 0.0;
    for (long k = 0; k < raman.bins; k++)
        sum += cplx_abs2(cplx_sub(raman.field[raman.bins + k], linear.field[raman.bins + k]));
    capillary_planes_free(&linear);
    capillary_planes_free(&raman);
    return sqrt(sum);
}

START_TEST(the_raman_response_follows_density_and_area)
{
    struct capillary_case c;
    small_case(&c);
    capillary_case_gas(&c, "H2");
    capillary_case_choose(&c, "density", "ideal");
    capillary_case_set(&c, "length", 1e-4);
    capillary_case_set(&c, "pressure.constant", 1e5);
    capillary_case_set(&c, "pulse.energy", 1e-6);
    capillary_case_choose(&c, "guide.prefactor", "vacuum");
    const double constant = raman_change(&c);
    /* The mean of p when p^2 falls in a line to half the pressure. */
    gradient(&c, 1e5, 0.5e5);
    const double mean = 2.0 / 3.0 * (1.0 - 0.125) / (1.0 - 0.25);
    is_near(raman_change(&c) / constant, mean, 1e-3, "gradient");
    /* A gradient of next to nothing. */
    gradient(&c, 1e5, 1e5 * (1.0 + 1e-9));
    is_near(raman_change(&c) / constant, 1.0, 1e-6, "equal pressures");
    taper(&c, (const double[]){0.0, 1e-4}, (const double[]){180e-6, 120e-6}, 2);
    is_near(raman_change(&c) / constant, 125e-6 * 125e-6 / (180e-6 * 120e-6), 1e-3, "taper");
    /* Where a long gradient and taper begin, the response is that of their first values. */
    gradient(&c, 1e5, 0.2e5);
    taper(&c, (const double[]){0.0, 1.0}, (const double[]){125e-6, 180e-6}, 2);
    capillary_case_set(&c, "length", 1.0);
    capillary_case_planes(&c, (const double[]){0.0, 1e-4}, 2);
    is_near(raman_change(&c) / constant, 1.0, 1e-3, "the beginning");
    capillary_case_clear(&c);
}
END_TEST

int main(void)
{
    if (isa_check() != 0)
        return ISA_SKIPPED;
    Suite *const suite = suite_create("capillary tables");
    TCase *const tests = tcase_create("tables");
    tcase_set_timeout(tests, 60);
    tcase_add_test(tests,
                   a_table_of_the_index_gives_the_phase_and_one_of_the_loss_the_transmission);
    tcase_add_test(tests, a_table_at_several_positions_is_linear_between_them);
    tcase_add_test(tests, the_report_takes_the_dispersion_of_a_table);
    tcase_add_test(tests, tables_that_do_not_fit_are_refused_by_name);
    tcase_add_test(tests, a_table_of_the_rate_frees_the_electrons_of_its_exposure);
    tcase_add_test(tests, rates_that_do_not_fit_are_refused_by_name);
    tcase_add_test(tests, a_raman_response_between_densities_is_that_of_its_lines);
    tcase_add_test(tests, the_raman_response_follows_density_and_area);
    suite_add_tcase(suite, tests);
    return unit_main(suite);
}
