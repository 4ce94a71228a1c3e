/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the conformance suite does not look at: zeros around rows, and a NaN anywhere in a norm.
 */
#include <math.h>

#include "kernels/base/mem.h"
#include "kernels/contract/bounds.h"
#include "tests/emu/emu_case.h"
#include "tests/emu/machine.h"
#include "tests/exact.h"
#include "tests/perturb/near.h"
#include "tests/unit_main.h"

#define ROWS   3
#define N      300 /* more than a block has threads */
#define BEFORE 5
#define AFTER  600
#define LD     1024
#define KEPT   7.0

static struct backend *be;

/* Arrays on the device: of zeros, of scalars, and one that is written. */
static struct {
    double *nothing; /* for every input, and output that is not looked at */
    cplx *out;
    unsigned char *active;
} there;

static void begin(void)
{
    static const unsigned char active[ROWS] = {1, 0, 1};
    static cplx kept[ROWS * LD];
    be = emu_case_open(0, 0);
    emu_shuffle(8);
    there.nothing = emu_case_array(be, (ROWS + 1) * LD * 2, sizeof(double));
    there.out = emu_case_array(be, ROWS * LD, sizeof(cplx));
    there.active = emu_case_array(be, ROWS, 1);
    for (int i = 0; i < ROWS * LD; i++)
        kept[i] = cplx_make(KEPT, KEPT);
    ck_assert_int_eq(be->ops->upload(be, there.out, kept, sizeof kept), 0);
    ck_assert_int_eq(be->ops->upload(be, there.active, active, sizeof active), 0);
}

static void end(void)
{
    be->ops->release(be, there.nothing);
    be->ops->release(be, there.out);
    be->ops->release(be, there.active);
    emu_case_close(be);
}

/* Rows start BEFORE elements behind a stride: zeros there and behind them, nothing else. */
static void check_zeros(const char *name, int n)
{
    static cplx got[ROWS * LD];
    ck_assert_int_eq(be->ops->download(be, got, there.out, sizeof got), 0);
    for (int r = 0; r < ROWS; r++)
        for (int i = 0; i < LD; i++) {
            const int within = i - BEFORE; /* of the row */
            const double want = r == 1 || within >= n + AFTER ? KEPT : 0.0;
            const cplx z = got[r * LD + i];
            const bool row = r != 1 && within >= 0 && within < n; /* of either sign */
            ck_assert_msg(row ? is_zero(z.r) && is_zero(z.i)
                              : exactly(z.r, want) && exactly(z.i, want),
                          "%s: row %d, element %d: %g %g", name, r, within, z.r, z.i);
        }
}

static const struct k_zeros zeros = {.before = BEFORE, .after = AFTER};

START_TEST(zeros_are_written_around_the_rows_that_run)
{
    double *const no = NULL;
    begin();
    double *const z = there.nothing;
    cplx *const out = there.out + BEFORE;
    const cplx *const spec = (const cplx *)z;
    const struct stage_entry_args entry = {.y = z,
                                           .k = z,
                                           .hb = z,
                                           .ch = z,
                                           .li = z,
                                           .factor = z,
                                           .out = out,
                                           .zeros = zeros,
                                           .ld = LD,
                                           .ld_spec = LD,
                                           .active = there.active};
    const struct stage_turn_args turn = {.y = z,
                                         .k = {z, z, z, z},
                                         .hb = z,
                                         .ch = z,
                                         .li = z,
                                         .lr = no,
                                         .pre = z,
                                         .spec = spec,
                                         .factor = z,
                                         .slope = z,
                                         .out = out,
                                         .zeros = zeros,
                                         .ld = LD,
                                         .ld_spec = LD,
                                         .active = there.active};
    const struct step_last_args last = {.y = z,
                                        .k = {z, z, z, z},
                                        .hb = z,
                                        .he = z,
                                        .pre = z,
                                        .factor = z,
                                        .spec = spec,
                                        .state = z,
                                        .part = z,
                                        .next = out,
                                        .out = z,
                                        .zeros = zeros,
                                        .ld = LD,
                                        .ld_spec = LD,
                                        .active = there.active};
    const struct spectral_join_args join = {
        .in = z, .out = out, .zeros = zeros, .ld = LD, .ld_spec = LD, .active = there.active};
    const char *name = "";
    const int n = _i < 5 ? N : 0; /* rows without elements have zeros too */
    switch (_i % 5) {
    case 0:
        name = "stage_entry";
        ck_assert_int_eq(be->kernels->stage_entry(be, &entry, 0, ROWS, n), 0);
        break;
    case 1:
        name = "stage_turn";
        ck_assert_int_eq(be->kernels->stage_turn[4](be, &turn, 0, ROWS, n), 0);
        break;
    case 2:
        name = "step_last";
        ck_assert_int_eq(be->kernels->step_last(be, &last, 0, ROWS, n), 0);
        break;
    case 3:
        name = "spectral_quarter";
        ck_assert_int_eq(be->kernels->spectral_quarter(be, &join, 0, ROWS, n), 0);
        break;
    default:
        name = "spectral_join";
        ck_assert_int_eq(be->kernels->spectral_join(be, &join, 0, ROWS, n), 0);
        break;
    }
    check_zeros(name, n);
    end();
}
END_TEST

#define MANY 70000 /* rows: more than a grid has along its other axes */

/* Those that take part: at the ends, and where launches of 2^15 rows and grids of 2^16 end. */
static const long some[] = {0, 32767, 32768, 65534, 65535, 65536, MANY - 1};
#define SOME ((int)(sizeof some / sizeof some[0]))

/* Two numbers a row, by the number of the row, and what is to be overwritten. */
struct many {
    double *host; /* [MANY][8] */
    double *in, *out;
    unsigned char *active;
};

static void many_init(struct many *m)
{
    unsigned char *mask;
    ck_assert_int_eq(MEM_NEW(MANY * 8, &m->host), 0);
    ck_assert_int_eq(MEM_NEW(MANY, &mask), 0);
    for (long r = 0; r < MANY; r++) {
        m->host[8 * r] = 3.0 + (double)r;
        m->host[8 * r + 1] = 4.0;
    }
    for (int i = 0; i < SOME; i++)
        mask[some[i]] = 1;
    m->in = emu_case_array(be, MANY * 8, sizeof(double));
    m->out = emu_case_array(be, MANY * 8, sizeof(double));
    m->active = emu_case_array(be, MANY, 1);
    ck_assert_int_eq(be->ops->upload(be, m->in, m->host, MANY * 8 * sizeof(double)), 0);
    ck_assert_int_eq(be->ops->upload(be, m->active, mask, MANY), 0);
    mem_free(mask);
}

/* The first number of a row of `width` is the sum of the squares of what the row had, and 0 in
 * rows that took no part. */
static void many_check(const struct many *m, long width)
{
    ck_assert_int_eq(
        be->ops->download(be, m->host, m->out, (size_t)(MANY * width) * sizeof(double)), 0);
    for (long r = 0, i = 0; r < MANY; r++) {
        const bool on = i < SOME && some[i] == r;
        const double first = 3.0 + (double)r;
        ck_assert_msg(exactly(m->host[width * r], on ? first * first + 16.0 : 0.0),
                      "row %ld: %g", r, m->host[width * r]);
        i += on;
    }
}

START_TEST(rows_beyond_a_grid_are_computed)
{
    struct many m;
    begin();
    emu_shuffle(0);
    many_init(&m);
    const struct kerr_power_args power = {(const cplx *)m.in, m.out, 4, 8, m.active};
    ck_assert_int_eq(be->kernels->kerr_power(be, &power, 0, MANY, 1), 0);
    many_check(&m, 8);
    emu_memory_zero(m.out, MANY * 8 * sizeof(double));
    const struct balance_square_args square = {
        .field = m.in, .out = m.out, .ld = 8, .active = m.active};
    ck_assert_int_eq(be->kernels->balance_square(be, &square, 0, MANY, 2), 0);
    many_check(&m, 2);
    mem_free(m.host);
    be->ops->release(be, m.in);
    be->ops->release(be, m.out);
    be->ops->release(be, m.active);
    end();
}
END_TEST

START_TEST(no_rows_are_no_launch)
{
    const struct kerr_power_args power = {.ld = LD, .ld_real = LD};
    const struct balance_square_args square = {.ld = LD};
    const struct spectral_sums_args sums = {.ld = LD};
    const struct stage_exponent_args exponent = {.ld = LD};
    const struct column_args column = {.components = 1, .ld = LD, .ld_pad = LD};
    struct fft *plan;
    begin();
    ck_assert_int_eq(be->ops->fft_create(be, FFT_C2C_FORWARD, N, &plan), 0);
    const struct device_counts before = *be->ops->device->counts(be);
    ck_assert_int_eq(be->kernels->kerr_power(be, &power, 2, 0, N), 0);
    ck_assert_int_eq(be->kernels->balance_square(be, &square, 2, 0, N), 0);
    ck_assert_int_eq(be->kernels->spectral_sums(be, &sums, 2, 0, N), 0);
    ck_assert_int_eq(be->kernels->stage_exponent(be, &exponent, 2, 0, N), 0);
    ck_assert_int_eq(be->kernels->column_exposure_field(be, &column, 2, 0, N), 0);
    ck_assert_int_eq(be->ops->device->column(be, COLUMN_BY_ADK, &column, 2, 0, N), 0);
    const struct fft_rows none = {
        .in = there.nothing, .ld_in = LD, .out = there.out, .ld_out = LD};
    ck_assert_int_eq(be->ops->fft_execute(be, plan, &none), 0);
    ck_assert_int_eq(be->ops->device->counts(be)->launches, before.launches);
    ck_assert_int_eq(be->ops->device->counts(be)->transforms, before.transforms);
    be->ops->fft_destroy(be, plan);
    end();
}
END_TEST

#define NORM_N 2100 /* two tiles and a bit */

static void norm_of(const double *state, double *got)
{
    double *const out = there.nothing + 2 * (NORM_N + 4);
    const struct step_bin_args args = {.part = there.nothing,
                                       .k = there.nothing,
                                       .y = there.nothing,
                                       .state = state,
                                       .last = there.nothing,
                                       .rtol = there.nothing,
                                       .atol = there.nothing,
                                       .out = out,
                                       .ld = NORM_N + 4};
    ck_assert_int_eq(be->kernels->step_bin(be, &args, 0, 1, NORM_N), 0);
    ck_assert_int_eq(be->ops->download(be, got, out, 2 * sizeof *got), 0);
}

/* With no error every bin counts 0, whatever the state; a NaN must reach sum and maximum. */
START_TEST(a_nan_anywhere_makes_the_sum_and_the_maximum_of_a_norm_nan)
{
    static const long places[] = {0, 1, 255, 256, 700, 1023, 1024, 1500, 2047, 2048, 2099};
    const double nan = (double)NAN;
    const double none = 0.0;
    double got[2];
    begin();
    be->ops->release(be, there.nothing);
    there.nothing = emu_case_array(be, 4 * (NORM_N + 4), sizeof(double));
    double *const state = emu_case_array(be, 2 * (NORM_N + 4), sizeof(double));
    norm_of(state, got);
    ck_assert(is_zero(got[0]) && is_zero(got[1]));
    for (size_t p = 0; p < sizeof places / sizeof places[0]; p++) {
        ck_assert_int_eq(be->ops->upload(be, state + places[p], &nan, sizeof nan), 0);
        norm_of(state, got);
        ck_assert_msg(isnan(got[0]) && isnan(got[1]), "a NaN in bin %ld: %g %g", places[p],
                      got[0], got[1]);
        ck_assert_int_eq(be->ops->upload(be, state + places[p], &none, sizeof none), 0);
    }
    be->ops->release(be, state);
    end();
}
END_TEST

/* column_between reads HALF_TAPS beyond both ends of what it sums. */
START_TEST(powers_between_samples_are_those_of_the_plain_body)
{
    static cplx samples[LD];
    static double numbers[3][LD];
    static cplx want[LD];
    static cplx got[LD];
    double rounding;
    begin();
    for (int i = 0; i < LD; i++) {
        samples[i] = cplx_make(sin(0.3 * i), cos(0.4 * i));
        for (int k = 0; k < 3; k++)
            numbers[k][i] = sin(0.2 * i + k);
    }
    double *row[3];
    for (int k = 0; k < 3; k++) {
        row[k] = emu_case_array(be, LD, sizeof(double));
        ck_assert_int_eq(be->ops->upload(be, row[k], numbers[k], sizeof numbers[k]), 0);
    }
    cplx *const pairs = emu_case_array(be, LD, sizeof(cplx));
    ck_assert_int_eq(be->ops->upload(be, pairs, samples, sizeof samples), 0);
    const struct between_args here = {.samples = samples,
                                      .quadrature = numbers[0],
                                      .sum = numbers[1] + HALF_TAPS,
                                      .difference = numbers[2] + HALF_TAPS,
                                      .out = want,
                                      .ld = LD};
    const struct between_args other = {.samples = pairs,
                                       .quadrature = row[0],
                                       .sum = row[1] + HALF_TAPS,
                                       .difference = row[2] + HALF_TAPS,
                                       .out = there.out,
                                       .ld = LD};
    const struct between_row plain = between_row(&here, 0);
    column_between_body(N, &plain);
    ck_assert_int_eq(be->kernels->column_between(be, &other, 0, 1, N), 0);
    ck_assert_int_eq(be->ops->download(be, got, there.out, sizeof got), 0);
    /* Sums of less than 40 terms, squared: sizes below 10. */
    ck_assert_int_eq(bound_gamma(2 * 40 + 4, PRECISION_F64, &rounding), 0);
    for (int i = 0; i < N; i++) {
        ck_assert_rounding_of(got[i].r, want[i].r, 10.0, rounding);
        ck_assert_rounding_of(got[i].i, want[i].i, 10.0, rounding);
    }
    ck_assert_exactly(got[N].r, KEPT);
    for (int k = 0; k < 3; k++)
        be->ops->release(be, row[k]);
    be->ops->release(be, pairs);
    end();
}
END_TEST

int main(void)
{
    Suite *const suite = suite_create("device backend");
    TCase *const tests = tcase_create("edges");
    tcase_set_timeout(tests, 60);
    tcase_add_loop_test(tests, zeros_are_written_around_the_rows_that_run, 0, 10);
    tcase_add_test(tests, rows_beyond_a_grid_are_computed);
    tcase_add_test(tests, no_rows_are_no_launch);
    tcase_add_test(tests, a_nan_anywhere_makes_the_sum_and_the_maximum_of_a_norm_nan);
    tcase_add_test(tests, powers_between_samples_are_those_of_the_plain_body);
    suite_add_tcase(suite, tests);
    return unit_main(suite);
}
