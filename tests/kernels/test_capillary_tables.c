/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Index, loss and ionisation rate of a capillary out of tables; its Raman response along z. */
#include <math.h>
#include <string.h>

#include "kernels/base/status.h"
#include "kernels/models/pulse/atomic.h"
#include "kernels/models/pulse/band_table.h"
#include "kernels/models/pulse/capillary.h"
#include "kernels/models/pulse/capillary_medium.h"
#include "kernels/models/pulse/raman_mix.h"
#include "tests/exact.h"
#include "tests/kernels/capillary_case.h"
#include "tests/kernels/isa.h"
#include "tests/perturb/near.h"
#include "tests/unit_main.h"

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
        ck_assert_near(error, 0.0, 1e-7, 1e-6, "1e-6 rad more");
        const double left = cplx_abs2(p->field[p->bins + k]) / cplx_abs2(p->field[k]);
        ck_assert_ratio(left, exp(-factor * 0.5 * cubic_at(loss_cubic, x)), 1e-10,
                        exp(-factor * 0.5 * cubic_at(loss_cubic, x)) * (1.0 + 1e-9),
                        "a transmission larger by 1e-9");
    }
}

START_TEST(a_table_of_the_index_gives_the_phase_and_one_of_the_loss_the_transmission)
{
    struct capillary_case c;
    struct data_set one = index_set(false, 1, 0.0);
    struct data_set loss = loss_set();
    const double whole[1] = {0.5};
    capillary_case_small(&c);
    capillary_case_data(&c, "guide.table", &one);
    struct capillary_planes p = capillary_case_finish(&c);
    check_table(&p, whole, 1, 0.0);
    capillary_planes_free(&p);
    capillary_case_data(&c, "guide.loss_table", &loss);
    capillary_case_set(&c, "guide.loss_factor", 2.0);
    p = capillary_case_finish(&c);
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
    capillary_case_small(&c);
    capillary_case_data(&c, "guide.table", &four);
    capillary_case_data(&c, "guide.loss_table", &loss);
    capillary_case_list(&c, "guide.table_z", (const double[]){0.1, 0.2, 0.4, 0.6}, 4);
    struct capillary_planes p = capillary_case_finish(&c);
    ck_assert_int_eq(p.row.steps, 1);
    /* Constant to 0.1, a third of the last stretch is cut off at 0.5: its weights 1/2, 1/2. */
    const double integral[4] = {0.1 + 0.05, 0.05 + 0.1, 0.1 + 0.075, 0.025};
    check_table(&p, integral, 4, 1.0);
    /* In many steps, with a Kerr effect of next to nothing. */
    capillary_planes_free(&p);
    capillary_case_choose(&c, "kerr.response", "chi3");
    capillary_case_set(&c, "pulse.energy", 1e-20);
    capillary_case_set(&c, "stepper.first_step", 0.013);
    p = capillary_case_finish(&c);
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
    capillary_case_small(&c);
    capillary_case_data(&c, "guide.table", &set);
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
    ck_assert_ratio(beta2, want, 1e-3, 1.003 * want, "three parts in a thousand more");
    capillary_case_clear(&c);
    data_clear(&set);
}
END_TEST

/* A table of n_eff = 1 + 3e-4/(1 - (x/5)^2), x = omega/omega0, which no cubic is; alpha is
 * 1e4 times n_eff - 1. */
static double resonance(double x)
{
    return 3e-4 / (1.0 - x * x / 25.0);
}

/* n - 1 near a kink that no spline follows. */
static double kink(double x)
{
    return 3e-4 + 1e-5 * fabs(x - 1.503);
}

static struct data_set function_set(const char *column, long rows, double (*function)(double),
                                    double digit)
{
    struct data_set set = {.hash = "f"};
    double *axis;
    double *values;
    const bool index = strcmp(column, "index") == 0;
    ck_assert_int_eq(data_add_real(&set, "wavelength", "m", 1, &rows, &axis), 0);
    ck_assert_int_eq(data_add_real(&set, column, index ? "1" : "m^-1", 1, &rows, &values), 0);
    for (long i = 0; i < rows; i++) {
        /* From half to nearly six times the carrier's frequency. */
        axis[i] = 1.0 / (0.15e6 + 5e6 * (1.0 - (double)i / (double)(rows - 1)));
        values[i] = function(800e-9 / axis[i]);
        values[i] = index ? 1.0 + values[i] : 1e4 * values[i];
        if (digit > 0.0)
            values[i] = digit * round(values[i] / digit);
    }
    return set;
}

/* max of what the table is off by over a band, times omega. */
static double true_error(const struct data_set *set, double (*function)(double), double low,
                         double high)
{
    struct band_table table;
    double worst = 0.0;
    ck_assert_int_eq(band_table_create(set, "table", 1.0, &table), 0);
    for (double omega = low; omega < high; omega *= 1.00037) {
        const double x = omega * 800e-9 / (2.0 * PULSE_PI * PULSE_C);
        const double got = band_table_read(&table, 0, omega, 0).c[0].r;
        worst = fmax(worst, fabs(got - function(x)) * omega);
    }
    band_table_clear(&table);
    return worst;
}

START_TEST(the_error_between_the_rows_of_a_table_is_estimated)
{
    static const struct {
        long rows;
        double (*function)(double);
        double digit, least, most; /* estimate over error */
    } cases[] = {{24, resonance, 0.0, 0.5, 3.0},   {48, resonance, 0.0, 0.5, 3.0},
                 {96, resonance, 0.0, 0.5, 3.0},   {97, resonance, 0.0, 0.5, 3.0},
                 {200, resonance, 1e-7, 0.5, 8.0}, {400, kink, 0.0, 0.4, 8.0},
                 {60, kink, 0.0, 0.4, 8.0},        {8, resonance, 0.0, 3.0, 100.0}};
    const double low = 2.0 * PULSE_PI * PULSE_C * 0.25e6;
    const double high = 2.0 * PULSE_PI * PULSE_C * 3.7e6;
    for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        double error = 0.0;
        struct data_set set =
            function_set("index", cases[i].rows, cases[i].function, cases[i].digit);
        ck_assert_int_eq(band_table_error(&set, low, high, 1, &error), 0);
        const double ratio = error / true_error(&set, cases[i].function, low, high);
        ck_assert_msg(ratio >= cases[i].least && ratio <= cases[i].most,
                      "%ld rows: estimated %g times the error", cases[i].rows, ratio);
        data_clear(&set);
    }
    struct data_set few = function_set("index", 5, resonance, 0.0);
    double error = 0.0;
    ck_assert_int_eq(band_table_error(&few, low, high, 1, &error), 0);
    ck_assert(isinf(error));
    data_clear(&few);
}
END_TEST

/* The note of that name. */
static struct layout_note note_of(const struct capillary_case *c, const char *name)
{
    struct plane_layout layout;
    ck_assert_int_eq(capillary_ops.layout(&c->params, &layout), 0);
    for (int i = 0; i < layout.notes; i++)
        if (strcmp(layout.note[i].name, name) == 0)
            return layout.note[i];
    ck_abort_msg("no note %s", name);
}

START_TEST(the_report_warns_of_tables_with_too_few_rows)
{
    static const char *const phase = "phase error of guide.table, estimated";
    static const char *const loss = "error of guide.loss_table, estimated";
    static const long rows[] = {12, 200};
    double seen[2][2];
    for (int i = 0; i < 2; i++) {
        struct capillary_case c;
        struct data_set index = function_set("index", rows[i], resonance, 0.0);
        struct data_set losses = function_set("loss", rows[i], resonance, 0.0);
        capillary_case_small(&c);
        capillary_case_data(&c, "guide.table", &index);
        capillary_case_data(&c, "guide.loss_table", &losses);
        capillary_case_set(&c, "guide.loss_factor", 100.0);
        capillary_case_set(&c, "length", 3.0);
        /* Active bins: from half the red limit to 1.1 of the blue one. */
        const double low = PULSE_PI * PULSE_C / 2e-6;
        const double high = 1.1 * 2.0 * PULSE_PI * PULSE_C / 300e-9;
        const double want = true_error(&index, resonance, low, high) * 3.0 / PULSE_C;
        const struct layout_note one = note_of(&c, phase);
        const struct layout_note other = note_of(&c, loss);
        seen[i][0] = one.value;
        seen[i][1] = other.value;
        ck_assert_msg(one.value > 0.4 * want && one.value < 4.0 * want, "%g, want %g",
                      one.value, want);
        ck_assert_int_eq(one.warning[0] != '\0', one.value > 0.1);
        ck_assert_int_eq(other.warning[0] != '\0', other.value > 0.01);
        /* One warns, the other does not. */
        ck_assert_int_eq(one.warning[0] != '\0', i == 0);
        ck_assert_int_eq(other.warning[0] != '\0', i == 0);
        capillary_case_clear(&c);
        data_clear(&index);
        data_clear(&losses);
    }
    /* 199/11 times closer, by the fourth power. */
    ck_assert_double_gt(seen[0][0] / seen[1][0], 1e4);
    ck_assert_double_gt(seen[0][1] / seen[1][1], 1e4);
}
END_TEST

START_TEST(the_report_warns_of_a_loss_that_is_cut)
{
    static const char *const cut = "largest loss in the band, of guide.loss_table";
    struct capillary_case c;
    struct plane_layout layout;
    struct data_set loss = loss_set();
    double most = 0.0;
    for (long i = 0; i < TABLE_ROWS; i++) {
        const double wavelength = PULSE_C / loss.array[0].real[i];
        if (wavelength < 4e-6 && wavelength > 300e-9 / 1.1)
            most = fmax(most, loss.array[1].real[i]);
    }
    capillary_case_small(&c);
    capillary_case_data(&c, "guide.loss_table", &loss);
    capillary_case_set(&c, "guide.loss_factor", 2500.0 / most);
    ck_assert_int_eq(capillary_ops.layout(&c.params, &layout), 0);
    for (int i = 0; i < layout.notes; i++)
        ck_assert_int_ne(strcmp(layout.note[i].name, cut), 0);
    capillary_case_set(&c, "guide.loss_factor", 5000.0 / most);
    const struct layout_note note = note_of(&c, cut);
    ck_assert_ratio(note.value, 5000.0, 0.1, 6000.0,
                    "a loss larger by a fifth"); /* between two rows */
    ck_assert_ptr_nonnull(strstr(note.warning, "cut at 3000"));
    capillary_case_clear(&c);
    data_clear(&loss);
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
    capillary_case_small(&c);
    capillary_case_data(&c, "guide.table", &narrow);
    capillary_case_refused(&c, ERR_ARGUMENT, "guide.table: the table holds 5e-07 m",
                           "the band");
    capillary_case_small(&c);
    capillary_case_data(&c, "guide.table", &two);
    capillary_case_refused(&c, ERR_ARGUMENT, "guide.table_z", "1 positions for the 2 columns");
    capillary_case_small(&c);
    capillary_case_list(&c, "guide.table_z", (const double[]){0.0, 0.2}, 2);
    capillary_case_refused(&c, ERR_ARGUMENT, "guide.table_z", "without guide.table");
    capillary_case_small(&c);
    capillary_case_data(&c, "guide.loss_table", &loss);
    capillary_case_set(&c, "guide.loss", 0.0);
    capillary_case_refused(&c, ERR_ARGUMENT, "guide.loss", "exclude");
    loss.array[1].real[3] = -1.0;
    capillary_case_small(&c);
    capillary_case_data(&c, "guide.loss_table", &loss);
    capillary_case_refused(&c, ERR_ARGUMENT, "guide.loss_table: loss -1",
                           "Hz, row 4, is below 0");
    /* Known by its hash alone: good to look at, not to run. */
    capillary_case_small(&c);
    capillary_case_data(&c, "guide.table", &unread);
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
        capillary_case_small(&c);
        capillary_case_set(&c, "length", 1e-6);
        capillary_case_set(&c, "pressure.constant", 1.0);
        capillary_case_data(&c, "plasma.table", &set);
        capillary_case_choose(&c, "plasma.rate", rule == 0 ? "table" : "auto");
        capillary_case_choose(&c, "plasma.rule", rules[rule]);
        struct capillary_planes p = capillary_case_finish(&c);
        ck_assert_ratio(p.observable[0][CAPILLARY_IONISED_FRACTION], -expm1(-exposure), 1e-4,
                        -expm1(-1.001 * exposure), "a rate larger by a thousandth");
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
    capillary_case_small(&c);
    capillary_case_choose(&c, "plasma.rate", "table");
    capillary_case_refused(&c, ERR_ARGUMENT, "plasma.table", "belong together");
    capillary_case_small(&c);
    capillary_case_choose(&c, "plasma.rate", "ppt");
    capillary_case_data(&c, "plasma.table", &set);
    capillary_case_refused(&c, ERR_ARGUMENT, "plasma.table", "belong together");
    capillary_case_small(&c);
    capillary_case_choose(&c, "plasma.rate", "table");
    capillary_case_data(&c, "plasma.table", &set);
    capillary_case_refused(&c, ERR_ARGUMENT, "1.25e+10 V/m", "last row of plasma.table");
    capillary_case_small(&c);
    capillary_case_data(&c, "plasma.table", &set);
    capillary_case_unset(&c, "gas.name");
    capillary_case_set(&c, "gas.Ar", 0.5);
    capillary_case_set(&c, "gas.Kr", 0.5);
    capillary_case_choose(&c, "plasma.rate", "auto");
    capillary_case_refused(&c, ERR_UNSUPPORTED, "plasma.table", "Ar and Kr ionise differently");
    set.array[1].real[2] = 0.0;
    capillary_case_small(&c);
    capillary_case_choose(&c, "plasma.rate", "table");
    capillary_case_data(&c, "plasma.table", &set);
    capillary_case_refused(&c, ERR_ARGUMENT, "plasma.table: a rate of 0", "positive");
    data_clear(&set);
}
END_TEST

START_TEST(a_raman_response_between_densities_is_that_of_its_lines)
{
    /* From 20 bar of hydrogen to nothing, a picosecond. */
    static const struct raman_filling hydrogen = {1, {GAS_H2}, {1.0}, 293.15};
    struct raman_mix mix;
    struct raman_lines lines;
    double f[RAMAN_MIX_MAX][64];
    double scratch[64];
    double most = 0.0;
    double worst = 0.0;
    const double high = 20.0 * PULSE_AMAGAT;
    const double dt = 1e-12 / 64.0;
    ck_assert_int_eq(raman_mix_init(&hydrogen, 0.0, high, 1e-12, &mix), 0);
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
    ck_assert_norm(worst, RAMAN_MIX_ERROR * most);
}
END_TEST

/* The change that the Raman response makes on a short way. */
static double raman_change(struct capillary_case *c)
{
    capillary_case_choose(c, "raman.model", "none");
    struct capillary_planes linear = capillary_case_finish(c);
    capillary_case_choose(c, "raman.model", "on");
    struct capillary_planes raman = capillary_case_finish(c);
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
    capillary_case_small(&c);
    capillary_case_gas(&c, "H2");
    capillary_case_choose(&c, "density", "ideal");
    capillary_case_set(&c, "length", 1e-4);
    capillary_case_set(&c, "pressure.constant", 1e5);
    capillary_case_set(&c, "pulse.energy", 1e-6);
    capillary_case_choose(&c, "guide.prefactor", "vacuum");
    const double constant = raman_change(&c);
    /* The mean of p when p^2 falls in a line to half the pressure. */
    capillary_case_gradient(&c, 1e5, 0.5e5);
    const double mean = 2.0 / 3.0 * (1.0 - 0.125) / (1.0 - 0.25);
    ck_assert_ratio(raman_change(&c) / constant, mean, 1e-3, (1.0 + 0.5) / 2.0,
                    "the mean of both ends");
    /* A gradient of next to nothing. */
    capillary_case_gradient(&c, 1e5, 1e5 * (1.0 + 1e-9));
    ck_assert_ratio(raman_change(&c) / constant, 1.0, 1e-6, 1.0 + 1e-5,
                    "a pressure larger by 1e-5");
    capillary_case_taper(&c, (const double[]){0.0, 1e-4}, (const double[]){180e-6, 120e-6}, 2);
    ck_assert_ratio(raman_change(&c) / constant, 125e-6 * 125e-6 / (180e-6 * 120e-6), 1e-3,
                    125e-6 * 125e-6 / (150e-6 * 150e-6), "the mean of both radii");
    /* Where a long gradient and taper begin, the response is that of their first values. */
    capillary_case_gradient(&c, 1e5, 0.2e5);
    capillary_case_taper(&c, (const double[]){0.0, 1.0}, (const double[]){125e-6, 180e-6}, 2);
    capillary_case_set(&c, "length", 1.0);
    capillary_case_planes(&c, (const double[]){0.0, 1e-4}, 2);
    ck_assert_ratio(raman_change(&c) / constant, 1.0, 1e-3, 1.003,
                    "three parts in a thousand more");
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
    tcase_add_test(tests, the_error_between_the_rows_of_a_table_is_estimated);
    tcase_add_test(tests, the_report_warns_of_tables_with_too_few_rows);
    tcase_add_test(tests, the_report_warns_of_a_loss_that_is_cut);
    tcase_add_test(tests, tables_that_do_not_fit_are_refused_by_name);
    tcase_add_test(tests, a_table_of_the_rate_frees_the_electrons_of_its_exposure);
    tcase_add_test(tests, rates_that_do_not_fit_are_refused_by_name);
    tcase_add_test(tests, a_raman_response_between_densities_is_that_of_its_lines);
    tcase_add_test(tests, the_raman_response_follows_density_and_area);
    suite_add_tcase(suite, tests);
    return unit_main(suite);
}
