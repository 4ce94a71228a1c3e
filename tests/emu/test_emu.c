/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The device backend on the emulated device: by name, transfers, transforms, and bits that do
 * not depend on the order of blocks and threads. */
#include <complex.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/base/mem.h"
#include "kernels/base/status.h"
#include "kernels/contract/bounds.h"
#include "kernels/contract/compare.h"
#include "tests/emu/emu.h"
#include "tests/emu/emu_case.h"
#include "tests/emu/machine.h"
#include "tests/exact.h"
#include "tests/kernels/backend_trial.h"
#include "tests/kernels/column_case.h"
#include "tests/unit_main.h"

static struct backend *be;

static void refused(const struct backend_options *options, int code, const char *words)
{
    struct backend *none;
    char text[200];
    status_capture(text, sizeof text);
    ck_assert_int_eq(emu_backend_create(options, &none), code);
    status_capture(NULL, 0);
    ck_assert_ptr_null(none);
    ck_assert_ptr_nonnull(strstr(text, words));
    ck_assert_int_eq(emu_live(), 0);
    ck_assert_int_eq(mem_live(), 0);
}

START_TEST(a_machine_without_a_device_is_refused_in_one_line)
{
    const struct backend_options options = {.apart = true, .threads = 1};
    emu_pretend(0);
    refused(&options, ERR_DEVICE, "backend 'emu': there is no device for it here");
    ck_assert_int_eq(status_exit_code(ERR_DEVICE), 3);
}
END_TEST

START_TEST(a_caller_that_does_not_keep_apart_is_refused)
{
    const struct backend_options options = {.threads = 1};
    refused(&options, ERR_UNSUPPORTED, "this model does not run on a device");
}
END_TEST

START_TEST(the_emulated_device_is_offered_to_nobody)
{
    const struct backend_options options = {.name = "emu", .apart = true, .threads = 1};
    struct backend *none;
    char text[200];
    for (const char *const *name = backend_names(); *name != NULL; name++)
        ck_assert_str_ne(*name, "emu");
    status_capture(text, sizeof text);
    ck_assert_int_eq(backend_create(&options, &none), ERR_UNSUPPORTED);
    status_capture(NULL, 0);
}
END_TEST

/* Above two staging buffers, and no whole number of them. */
START_TEST(long_transfers_come_back_as_they_went)
{
    const size_t bytes = 9 * 1048576 + 5;
    unsigned char *const from = malloc(bytes);
    unsigned char *const back = calloc(bytes, 1);
    ck_assert(from != NULL && back != NULL);
    for (size_t i = 0; i < bytes; i++)
        from[i] = (unsigned char)(i * 2654435761U >> 13);
    be = emu_case_open(0, 0);
    void *const copy = emu_case_copy(be, from, bytes);
    ck_assert_int_eq(be->ops->download(be, back, copy, bytes), 0);
    ck_assert(equal_bits(from, back, bytes));
    ck_assert_int_eq(be->ops->download(be, back, (char *)copy + 7, 0), 0);
    be->ops->release(be, copy);
    be->ops->release(be, NULL);
    emu_case_close(be);
    free(from);
    free(back);
}
END_TEST

START_TEST(device_memory_is_zero_and_aligned)
{
    double back[100];
    void *memory;
    be = emu_case_open(0, 0);
    ck_assert_int_eq(be->ops->alloc(be, 100, sizeof(double), &memory), 0);
    ck_assert_uint_eq((uintptr_t)memory % MEM_ALIGNMENT, 0);
    ck_assert_int_eq(be->ops->download(be, back, memory, sizeof back), 0);
    for (int i = 0; i < 100; i++)
        ck_assert(is_zero(back[i]));
    be->ops->release(be, memory);
    char text[200];
    status_capture(text, sizeof text);
    ck_assert_int_eq(be->ops->alloc(be, 1L << 40, sizeof(double), &memory), ERR_MEMORY);
    status_capture(NULL, 0);
    emu_case_close(be);
}
END_TEST

#define FFT_ROWS 3

/* Rows of one transform: numbers in and out, and what the sum of the definition gives. */
struct rows {
    enum fft_kind kind;
    long n, ld_in, ld_out;
    double *in, *out, *want;
    size_t in_bytes, out_bytes;
};

static int in_width(enum fft_kind kind)
{
    return kind == FFT_R2C ? 1 : 2;
}

static int out_width(enum fft_kind kind)
{
    return kind == FFT_C2R ? 1 : 2;
}

static long out_length(const struct rows *r)
{
    return r->kind == FFT_R2C ? r->n / 2 + 1 : r->n;
}

static long double complex sample(const struct rows *r, const double *row, long j)
{
    if (r->kind == FFT_R2C)
        return row[j];
    if (r->kind == FFT_C2R && j > r->n / 2)
        return conjl(row[2 * (r->n - j)] + row[2 * (r->n - j) + 1] * IMAGINARY);
    return row[2 * j] + row[2 * j + 1] * IMAGINARY;
}

/* kernels/backend.h, element k of a row. */
static long double complex direct(const struct rows *r, const double *row, long k)
{
    const long double sign = r->kind == FFT_C2C_FORWARD || r->kind == FFT_R2C ? -1.0L : 1.0L;
    long double complex sum = 0.0L;
    for (long j = 0; j < r->n; j++) {
        const long double angle = sign * 2.0L * 3.141592653589793238462643L
                                  * (long double)(j * k % r->n) / (long double)r->n;
        sum += sample(r, row, j) * (cosl(angle) + sinl(angle) * IMAGINARY);
    }
    return sum;
}

static void rows_want(struct rows *r)
{
    const int width = out_width(r->kind);
    for (long row = 0; row < FFT_ROWS; row++)
        for (long k = 0; k < out_length(r); k++) {
            const long double complex value =
                direct(r, r->in + row * r->ld_in * in_width(r->kind), k);
            double *const at = r->want + width * (row * r->ld_out + k);
            at[0] = (double)creall(value);
            if (width == 2)
                at[1] = (double)cimagl(value);
        }
}

static void rows_init(struct rows *r, enum fft_kind kind, long n)
{
    *r = (struct rows){.kind = kind, .n = n};
    r->ld_in = backend_stride(kind == FFT_C2R ? n / 2 + 1 : n, sizeof(double)) + 8;
    r->ld_out = backend_stride(out_length(r), sizeof(double)) + 16;
    const long in = FFT_ROWS * r->ld_in * in_width(kind);
    const long out = FFT_ROWS * r->ld_out * out_width(kind);
    r->in_bytes = (size_t)in * sizeof(double);
    r->out_bytes = (size_t)out * sizeof(double);
    ck_assert_int_eq(MEM_NEW(in, &r->in), 0);
    ck_assert_int_eq(MEM_NEW(out, &r->out), 0);
    ck_assert_int_eq(MEM_NEW(out, &r->want), 0);
    for (long i = 0; i < in; i++)
        r->in[i] = sin(1.7 * (double)i) + 0.1 * cos(0.3 * (double)(i * i % 17));
    for (long row = 0; kind == FFT_C2R && row < FFT_ROWS; row++) { /* of a real signal */
        r->in[2 * row * r->ld_in + 1] = 0.0;
        if (n % 2 == 0)
            r->in[2 * row * r->ld_in + n + 1] = 0.0;
    }
    for (long i = 0; i < out; i++)
        r->out[i] = (double)NAN;
    rows_want(r);
}

static void rows_clear(struct rows *r)
{
    mem_free(r->in);
    mem_free(r->out);
    mem_free(r->want);
}

/* Rows from `row` on, to the device and back. */
static void rows_run(struct rows *r, struct fft *plan, long row, long rows,
                     const unsigned char *active)
{
    void *const in = emu_case_copy(be, r->in, r->in_bytes);
    void *const out = emu_case_copy(be, r->out, r->out_bytes);
    unsigned char *const mask = active != NULL ? emu_case_copy(be, active, FFT_ROWS) : NULL;
    const struct fft_rows call = {.in = in,
                                  .ld_in = r->ld_in,
                                  .out = out,
                                  .ld_out = r->ld_out,
                                  .row = row,
                                  .rows = rows,
                                  .active = mask};
    ck_assert_int_eq(be->ops->fft_execute(be, plan, &call), 0);
    ck_assert_int_eq(be->ops->download(be, r->out, out, r->out_bytes), 0);
    be->ops->release(be, in);
    be->ops->release(be, out);
    be->ops->release(be, mask);
}

/* Whether a row is what it must be; else it must be as it was, NaN. */
static void row_check(const struct rows *r, long row, bool there_is)
{
    const int width = out_width(r->kind);
    const double *const got = r->out + width * row * r->ld_out;
    for (long i = there_is ? width * out_length(r) : 0; i < width * r->ld_out; i++)
        ck_assert(isnan(got[i]));
    if (!there_is)
        return;
    double limit;
    struct comparison result;
    const struct comparison_input in = {.value = got,
                                        .reference = r->want + width * row * r->ld_out,
                                        .n = out_length(r),
                                        .is_complex = width == 2};
    ck_assert_int_eq(bound_fft(r->n, &limit), 0);
    ck_assert_int_eq(comparison_norm(&in, limit, &result), 0);
    ck_assert_msg(result.within, "kind %d, n = %ld, row %ld: %g times the bound", (int)r->kind,
                  r->n, row, result.margin);
}

START_TEST(transforms_are_the_sums_of_their_definition)
{
    static const long lengths[] = {1, 2, 7, 8, 60, 128};
    static const unsigned char mask[FFT_ROWS] = {1, 0, 1};
    be = emu_case_open(0, 0);
    for (int kind = FFT_C2C_FORWARD; kind <= FFT_C2R; kind++)
        for (size_t l = 0; l < sizeof lengths / sizeof lengths[0]; l++)
            for (int how = 0; how < 4; how++) { /* all, the last two, one, under a mask */
                const long row = how == 1 || how == 2 ? 1 : 0;
                const long rows = how == 1 ? 2 : how == 2 ? 1 : FFT_ROWS;
                struct rows r;
                struct fft *plan;
                rows_init(&r, (enum fft_kind)kind, lengths[l]);
                ck_assert_int_eq(be->ops->fft_create(be, r.kind, r.n, &plan), 0);
                rows_run(&r, plan, row, rows, how == 3 ? mask : NULL);
                for (long i = 0; i < FFT_ROWS; i++)
                    row_check(&r, i, i >= row && i < row + rows && (how < 3 || mask[i] != 0));
                be->ops->fft_destroy(be, plan);
                rows_clear(&r);
            }
    emu_case_close(be);
}
END_TEST

/* One plan, one number of rows after another: its batch must follow. */
START_TEST(a_plan_serves_calls_of_any_shape)
{
    struct fft *plan;
    be = emu_case_open(0, 0);
    ck_assert_int_eq(be->ops->fft_create(be, FFT_R2C, 60, &plan), 0);
    for (int round = 0; round < 6; round++) {
        struct rows r;
        rows_init(&r, FFT_R2C, 60);
        rows_run(&r, plan, round % 3, FFT_ROWS - round % 3, NULL);
        for (long i = 0; i < FFT_ROWS; i++)
            row_check(&r, i, i >= round % 3);
        rows_clear(&r);
    }
    be->ops->fft_destroy(be, plan);
    be->ops->fft_destroy(be, NULL);
    emu_case_close(be);
}
END_TEST

START_TEST(impossible_transforms_are_refused)
{
    struct fft *plan;
    char text[200];
    be = emu_case_open(0, 0);
    char *const memory = emu_case_copy(be, text, sizeof text);
    ck_assert_int_eq(be->ops->fft_create(be, FFT_C2C_FORWARD, 4, &plan), 0);
    const struct fft_rows in_place = {
        .in = memory, .ld_in = 4, .out = memory, .ld_out = 4, .rows = 1};
    struct fft_rows shifted = in_place;
    shifted.out = memory + 16;
    status_capture(text, sizeof text);
    ck_assert_int_eq(be->ops->fft_execute(be, plan, &in_place), ERR_BUG);
    ck_assert_int_eq(be->ops->fft_execute(be, plan, &shifted), ERR_BUG);
    be->ops->fft_destroy(be, plan);
    ck_assert_int_eq(be->ops->fft_create(be, FFT_R2C, 0, &plan), ERR_ARGUMENT);
    ck_assert_int_eq(be->ops->fft_create(be, FFT_R2C, 1L << 40, &plan), ERR_ARGUMENT);
    status_capture(NULL, 0);
    be->ops->release(be, memory);
    emu_case_close(be);
}
END_TEST

/* What a kernel left in its output rows, once for each order. */
static void keep(const struct trial *t, double *kept[TRIAL_FIELDS_MAX])
{
    for (int f = 0; f < t->fields; f++) {
        kept[f] = NULL;
        if (t->count[f] == 0)
            continue;
        ck_assert_int_eq(MEM_NEW((long)t->count[f], &kept[f]), 0);
        memcpy(kept[f], t->after[f], t->count[f] * sizeof(double));
    }
}

static bool same(const struct trial *t, double *kept[TRIAL_FIELDS_MAX])
{
    for (int f = 0; f < t->fields; f++)
        if (kept[f] != NULL && !equal_bits(kept[f], t->after[f], t->count[f] * sizeof(double)))
            return false;
    return true;
}

static void drop(const struct trial *t, double *kept[TRIAL_FIELDS_MAX])
{
    for (int f = 0; f < t->fields; f++)
        mem_free(kept[f]);
}

/* Each kernel on rows of n elements, then again as `again` has it, which compares. */
static void each_kernel(long n, void (*again)(struct trial *t, double *kept[TRIAL_FIELDS_MAX]))
{
    int count;
    const struct kernel_case *const cases = kernel_cases(&count);
    be = emu_case_open(0, 0);
    for (int c = 0; c < count; c++)
        for (int s = 0; s <= cases[c].last; s++) {
            double *kept[TRIAL_FIELDS_MAX];
            struct trial t;
            trial_init(&t, &cases[c], s, n);
            trial_run(&t, be, -1, -1, false);
            keep(&t, kept);
            again(&t, kept);
            drop(&t, kept);
            trial_clear(&t);
        }
    emu_case_close(be);
}

static void shuffled(struct trial *t, double *kept[TRIAL_FIELDS_MAX])
{
    for (unsigned long seed = 11; seed < 14; seed++) {
        emu_shuffle(seed);
        trial_run(t, be, -1, -1, seed == 13);
        ck_assert_msg(same(t, kept), "%s %d: other bits with seed %lu", t->kernel->name, t->s,
                      seed);
    }
    emu_shuffle(0);
}

START_TEST(every_kernel_gives_the_same_bits_in_any_order_of_blocks_and_threads)
{
    each_kernel(2500, shuffled); /* two tiles and a half */
}
END_TEST

/* So far from the beginning of their arrays that neither the number of a row nor the place of
 * an element fits in 32 bits. */
static void far_away(struct trial *t, double *kept[TRIAL_FIELDS_MAX])
{
    t->far = 3000000000L;
    trial_run(t, be, -1, -1, false);
    ck_assert_msg(same(t, kept), "%s %d: other bits far away", t->kernel->name, t->s);
}

START_TEST(rows_far_from_the_beginning_have_the_bits_of_the_first)
{
    each_kernel(70, far_away);
}
END_TEST

static bool is_strict(const char *name)
{
    static const char *const names[] = {
#define KERNEL_ROW(name, outputs, args) #name,
#define KERNEL_LINE(name, args)         #name,
#include "kernels/strict.def"
#undef KERNEL_ROW
#undef KERNEL_LINE
    };
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strcmp(names[i], name) == 0)
            return true;
    return false;
}

START_TEST(strict_kernels_have_the_bits_of_the_cpu)
{
    const struct backend_options options = {.name = "cpu", .threads = 1};
    struct backend *cpu;
    int count;
    int found = 0;
    const struct kernel_case *const cases = kernel_cases(&count);
    be = emu_case_open(0, 0);
    ck_assert_int_eq(backend_create(&options, &cpu), 0);
    for (int c = 0; c < count; c++) {
        double *kept[TRIAL_FIELDS_MAX];
        struct trial t;
        if (!is_strict(cases[c].name))
            continue;
        found++;
        trial_init(&t, &cases[c], 0, 1301);
        trial_run(&t, cpu, -1, -1, false);
        keep(&t, kept);
        trial_run(&t, be, -1, -1, false);
        ck_assert_msg(same(&t, kept), "%s: other bits than the CPU's", cases[c].name);
        drop(&t, kept);
        trial_clear(&t);
    }
    ck_assert_int_eq(found, 3);
    backend_destroy(cpu);
    emu_case_close(be);
}
END_TEST

START_TEST(a_column_gives_the_same_bits_in_any_order_of_blocks_and_threads)
{
    static struct column_rates_known rates;
    double out[2 * 2616];
    double sums[COLUMN_SUMS];
    be = emu_case_open(0, 0);
    rates_init(&rates);
    for (int kind = 0; kind < CASE_RATES; kind++)
        for (int components = 1; components <= 2; components++) {
            struct column_run run;
            struct column_case c = emu_case_column;
            c.components = components;
            column_run_init(&run, &c, &rates, (enum case_rate)kind, 4);
            ck_assert_uint_le((size_t)(2 * run.ld), sizeof out / sizeof out[0]);
            emu_shuffle(0);
            column_run_there(&run, be);
            memcpy(out, run.out, (size_t)(2 * run.ld) * sizeof(double));
            memcpy(sums, run.sums, sizeof sums);
            for (unsigned long seed = 21; seed < 24; seed++) {
                emu_shuffle(seed);
                column_run_there(&run, be);
                ck_assert(equal_bits(out, run.out, (size_t)(2 * run.ld) * sizeof(double)));
                ck_assert(equal_bits(sums, run.sums, sizeof sums));
            }
            column_run_clear(&run);
        }
    rates_clear(&rates);
    emu_case_close(be);
}
END_TEST

/* Whole numbers, whose sums are exact in any order. */
struct exact {
    long n, ld, ld_pad;
    double *field, *window, *scratch, *out;
    double scalars[COLUMN_SCALARS], taps[COLUMN_SIDE_MAX + 1];
    struct column_rate rate;
};

static void exact_init(struct exact *e, long n)
{
    *e = (struct exact){.n = n,
                        .ld = backend_stride(n, sizeof(double)),
                        .ld_pad = backend_stride(n + 2 * COLUMN_PAD, sizeof(double)),
                        .scalars = {[COLUMN_SCALE] = 1.0,
                                    [COLUMN_DENSITY] = 1.0,
                                    [COLUMN_DT] = 1.0,
                                    [COLUMN_MOBILITY] = 1.0}};
    ck_assert_int_eq(MEM_NEW(2 * e->ld, &e->field), 0);
    ck_assert_int_eq(MEM_NEW(e->ld, &e->window), 0);
    ck_assert_int_eq(MEM_NEW(5 * e->ld_pad, &e->scratch), 0);
    ck_assert_int_eq(MEM_NEW(2 * e->ld, &e->out), 0);
    for (int k = 0; k <= COLUMN_SIDE_MAX; k++)
        e->taps[k] = 2.0 * (double)(k * k % 7) - 4.0;
    for (long i = 0; i < n; i++) {
        e->window[i] = 1.0;
        for (int c = 0; c < 2; c++) {
            const long at = COLUMN_PAD + (1 + c) * e->ld_pad + i;
            e->scratch[at] = 4.0 * (double)((i * 7919 + c) % 101 - 50); /* the integrand */
            e->scratch[at + 2 * e->ld_pad] = 4.0 * (double)((i * 31 + c) % 17 - 8);
        }
    }
}

static void exact_clear(struct exact *e)
{
    mem_free(e->field);
    mem_free(e->window);
    mem_free(e->scratch);
    mem_free(e->out);
}

/* Its arguments with arrays here (NULL) or on the device. */
static struct column_args exact_args(struct exact *e, int side, double *arrays[4],
                                     const double *scalars, const double *taps,
                                     const struct column_rate *rate)
{
    double *const row = arrays[2] + COLUMN_PAD;
    return (struct column_args){.field = arrays[0],
                                .window = arrays[1],
                                .rate = rate,
                                .scalars = scalars,
                                .taps = taps,
                                .w = row,
                                .integrand = row + e->ld_pad,
                                .loss = row + 3 * e->ld_pad,
                                .out = arrays[3],
                                .sums = arrays[3], /* of no use here */
                                .components = 2,
                                .side = side,
                                .ld = e->ld,
                                .ld_pad = e->ld_pad};
}

/* Current and polarisation on the device, to be compared with the plain bodies. */
static void exact_there(struct exact *e, int side, double *current, double *out)
{
    const size_t line = (size_t)e->ld * sizeof(double);
    const size_t scratch = 5 * (size_t)e->ld_pad * sizeof(double);
    double *copy[4] = {
        emu_case_copy(be, e->field, 2 * line), emu_case_copy(be, e->window, line),
        emu_case_copy(be, e->scratch, scratch), emu_case_copy(be, e->out, 2 * line)};
    void *const scalars = emu_case_copy(be, e->scalars, sizeof e->scalars);
    void *const taps = emu_case_copy(be, e->taps, sizeof e->taps);
    void *const rate = emu_case_copy(be, &e->rate, sizeof e->rate);
    const struct column_args a = exact_args(e, side, copy, scalars, taps, rate);
    ck_assert_int_eq(be->kernels->column_current(be, &a, 0, 1, e->n), 0);
    ck_assert_int_eq(be->ops->download(be, current, copy[2], scratch), 0);
    ck_assert_int_eq(be->kernels->column_polarise(be, &a, 0, 1, e->n), 0);
    ck_assert_int_eq(be->ops->download(be, out, copy[3], 2 * line), 0);
    for (int i = 0; i < 4; i++)
        be->ops->release(be, copy[i]);
    be->ops->release(be, scalars);
    be->ops->release(be, taps);
    be->ops->release(be, rate);
}

static void check_exact(long n, int side)
{
    struct exact e;
    double *current;
    double *out;
    exact_init(&e, n);
    ck_assert_int_eq(MEM_NEW(5 * e.ld_pad, &current), 0);
    ck_assert_int_eq(MEM_NEW(2 * e.ld, &out), 0);
    exact_there(&e, side, current, out);
    double *here[4] = {e.field, e.window, e.scratch, e.out};
    double taps[COLUMN_SIDE_MAX + 1];
    memcpy(taps, e.taps, sizeof taps);
    taps[0] = side > 0 ? taps[0] : 1.0;
    const struct column_args a = exact_args(&e, side, here, e.scalars, taps, &e.rate);
    const struct column_row row = column_row(&a, 0);
    column_current_body(n, &row);
    ck_assert_msg(equal_bits(e.scratch, current, 5 * (size_t)e.ld_pad * sizeof(double)),
                  "current of %ld samples, %d taps", n, side);
    /* The current is a sum of up to 1e5 numbers below 1e4; its field is 0, so out is P. */
    column_polarise_body(n, &row);
    for (int c = 0; c < 2; c++)
        ck_assert_msg(equal_bits(e.out + c * e.ld, out + c * e.ld, (size_t)n * sizeof(double)),
                      "polarisation of %ld samples, %d taps", n, side);
    mem_free(current);
    mem_free(out);
    exact_clear(&e);
}

/* Filter and scan in tiles against the whole row: bit for bit where no sum is rounded. */
START_TEST(tiles_give_the_bits_of_a_whole_row_where_sums_are_exact)
{
    static const long lengths[] = {9, 40, 1015, 1023, 1024, 1025, 1032, 2047, 2048, 2049, 5000};
    be = emu_case_open(0, 0);
    emu_shuffle(5);
    for (size_t l = 0; l < sizeof lengths / sizeof lengths[0]; l++)
        for (int side = 0; side <= COLUMN_SIDE_MAX; side += l % 2 == 0 ? 4 : 3)
            check_exact(lengths[l], side);
    emu_case_close(be);
}
END_TEST

int main(void)
{
    Suite *const suite = suite_create("device backend");
    TCase *const tests = tcase_create("emulated");
    tcase_set_timeout(tests, 60);
    tcase_add_test(tests, a_machine_without_a_device_is_refused_in_one_line);
    tcase_add_test(tests, a_caller_that_does_not_keep_apart_is_refused);
    tcase_add_test(tests, the_emulated_device_is_offered_to_nobody);
    tcase_add_test(tests, long_transfers_come_back_as_they_went);
    tcase_add_test(tests, device_memory_is_zero_and_aligned);
    tcase_add_test(tests, transforms_are_the_sums_of_their_definition);
    tcase_add_test(tests, a_plan_serves_calls_of_any_shape);
    tcase_add_test(tests, impossible_transforms_are_refused);
    tcase_add_test(tests, every_kernel_gives_the_same_bits_in_any_order_of_blocks_and_threads);
    tcase_add_test(tests, rows_far_from_the_beginning_have_the_bits_of_the_first);
    tcase_add_test(tests, strict_kernels_have_the_bits_of_the_cpu);
    tcase_add_test(tests, a_column_gives_the_same_bits_in_any_order_of_blocks_and_threads);
    tcase_add_test(tests, tiles_give_the_bits_of_a_whole_row_where_sums_are_exact);
    suite_add_tcase(suite, tests);
    return unit_main(suite);
}
