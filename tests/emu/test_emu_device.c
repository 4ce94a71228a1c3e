/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a device alone can do: counts, both forms of the plasma column, fetches beside other
 * work, recordings. The emulated device takes the part. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/base/mem.h"
#include "kernels/base/status.h"
#include "tests/emu/emu.h"
#include "tests/emu/emu_case.h"
#include "tests/emu/machine.h"
#include "tests/exact.h"
#include "tests/kernels/backend_trial.h"
#include "tests/kernels/column_case.h"
#include "tests/unit_main.h"

static struct backend *be;

static struct device_counts counts(void)
{
    return *be->ops->device->counts(be);
}

/* Numbers on the device that a launch doubles: out = scale times in, all rows of `n`. */
#define N 600

struct doubling {
    cplx *factor, *in, *out;
};

static void doubling_init(struct doubling *d)
{
    cplx two[N];
    cplx in[N];
    for (int i = 0; i < N; i++) {
        two[i] = cplx_make(2.0, 0.0);
        in[i] = cplx_make(i + 1.0, -i - 1.0);
    }
    d->factor = emu_case_array(be, N, sizeof(cplx));
    d->in = emu_case_array(be, N, sizeof(cplx));
    d->out = emu_case_array(be, N, sizeof(cplx));
    ck_assert_int_eq(be->ops->upload(be, d->factor, two, sizeof two), 0);
    ck_assert_int_eq(be->ops->upload(be, d->in, in, sizeof in), 0);
}

static void doubling_clear(struct doubling *d)
{
    be->ops->release(be, d->factor);
    be->ops->release(be, d->in);
    be->ops->release(be, d->out);
}

static void twice(const cplx *factor, const cplx *in, cplx *out)
{
    const struct spectral_scale_args args = {factor, in, out, N, NULL};
    ck_assert_int_eq(be->kernels->spectral_scale(be, &args, 0, 1, N), 0);
}

static void check_times(const void *data, double factor)
{
    const cplx *const got = data;
    for (int i = 0; i < N; i++)
        ck_assert(exactly(got[i].r, factor * (i + 1)) && exactly(got[i].i, -factor * (i + 1)));
}

START_TEST(work_is_counted)
{
    struct doubling d;
    struct fft *plan;
    cplx back[N];
    be = emu_case_open(0, 0);
    doubling_init(&d);
    const struct device_counts before = counts();
    twice(d.factor, d.in, d.out);
    ck_assert_int_eq(be->ops->fft_create(be, FFT_C2C_FORWARD, N / 2, &plan), 0);
    const struct fft_rows rows = {d.in, N / 2, d.out, N / 2, 0, 2, NULL};
    ck_assert_int_eq(be->ops->fft_execute(be, plan, &rows), 0);
    ck_assert_int_eq(be->ops->upload(be, d.factor, back, 0), 0);
    ck_assert_int_eq(be->ops->upload(be, d.factor, back, 48), 0);
    ck_assert_int_eq(be->ops->download(be, back, d.out, sizeof back), 0);
    ck_assert_int_eq(be->ops->device->copy(be, d.out, d.in, sizeof back), 0);
    const struct device_counts after = counts();
    ck_assert_int_eq(after.launches - before.launches, 1);
    ck_assert_int_eq(after.transforms - before.transforms, 1);
    ck_assert_int_eq(after.uploads - before.uploads, 2);
    ck_assert_int_eq(after.upload_bytes - before.upload_bytes, 48);
    ck_assert_int_eq(after.downloads - before.downloads, 1);
    ck_assert_int_eq(after.download_bytes - before.download_bytes, (long long)sizeof back);
    ck_assert_int_gt(after.waits, before.waits);
    ck_assert_double_ge(after.waited, before.waited);
    ck_assert_int_ge(before.allocated, 3 * (long long)sizeof back);
    ck_assert_int_eq(be->ops->download(be, back, d.out, sizeof back), 0);
    check_times(back, 1.0);
    be->ops->fft_destroy(be, plan);
    doubling_clear(&d);
    emu_case_close(be);
}
END_TEST

START_TEST(marks_tell_the_time_between_them)
{
    struct doubling d;
    double seconds;
    char text[200];
    be = emu_case_open(0, 0);
    doubling_init(&d);
    ck_assert_int_eq(be->ops->device->mark(be, 0), 0);
    twice(d.factor, d.in, d.out);
    ck_assert_int_eq(be->ops->device->mark(be, DEVICE_MARKS - 1), 0);
    ck_assert_int_eq(be->ops->device->between(be, 0, DEVICE_MARKS - 1, &seconds), 0);
    ck_assert(seconds > 0.0 && seconds < 10.0);
    status_capture(text, sizeof text);
    ck_assert_int_eq(be->ops->device->mark(be, DEVICE_MARKS), ERR_ARGUMENT);
    status_capture(NULL, 0);
    doubling_clear(&d);
    emu_case_close(be);
}
END_TEST

/* The source is written again while the first copy is under way; two are under way at once. */
START_TEST(a_fetch_has_what_there_was_when_it_began)
{
    const size_t bytes = N * sizeof(cplx);
    struct doubling d;
    struct fetch *first;
    struct fetch *second;
    const void *data;
    be = emu_case_open(0, 0);
    doubling_init(&d);
    ck_assert_int_eq(be->ops->fetch_create(be, bytes, &first), 0);
    ck_assert_int_eq(be->ops->fetch_create(be, 2 * bytes, &second), 0);
    twice(d.factor, d.in, d.out);
    ck_assert_int_eq(be->ops->fetch_begin(be, first, d.out, bytes), 0);
    twice(d.factor, d.out, d.out);
    ck_assert_int_eq(be->ops->fetch_begin(be, second, d.out, bytes), 0);
    twice(d.factor, d.out, d.out);
    ck_assert_int_eq(be->ops->fetch_end(be, second, &data), 0);
    check_times(data, 4.0);
    ck_assert_int_eq(be->ops->fetch_end(be, first, &data), 0);
    check_times(data, 2.0);
    ck_assert_int_eq(be->ops->fetch_begin(be, first, d.out, bytes), 0);
    ck_assert_int_eq(be->ops->fetch_end(be, first, &data), 0);
    check_times(data, 8.0);
    ck_assert_int_eq(be->ops->fetch_begin(be, first, d.out, bytes), 0); /* never ended */
    be->ops->fetch_destroy(be, first);
    be->ops->fetch_destroy(be, second);
    be->ops->fetch_destroy(be, NULL);
    doubling_clear(&d);
    emu_case_close(be);
}
END_TEST

START_TEST(a_fetch_that_is_used_wrongly_is_refused)
{
    struct fetch *fetch;
    const void *data;
    char text[200];
    be = emu_case_open(0, 0);
    double *const from = emu_case_array(be, 8, sizeof(double));
    ck_assert_int_eq(be->ops->fetch_create(be, 32, &fetch), 0);
    status_capture(text, sizeof text);
    ck_assert_int_eq(be->ops->fetch_end(be, fetch, &data), ERR_BUG);
    ck_assert_int_eq(be->ops->fetch_begin(be, fetch, from, 40), ERR_BUG);
    ck_assert_int_eq(be->ops->fetch_begin(be, fetch, from, 32), 0);
    ck_assert_int_eq(be->ops->fetch_begin(be, fetch, from, 32), ERR_BUG);
    ck_assert_int_eq(be->ops->fetch_end(be, fetch, &data), 0);
    status_capture(NULL, 0);
    be->ops->fetch_destroy(be, fetch);
    be->ops->release(be, from);
    emu_case_close(be);
}
END_TEST

/* The emulated device shows data at the wait alone: else the two tests above prove nothing. */
START_TEST(data_that_nobody_waited_for_are_not_there)
{
    double here[4] = {1.0, 2.0, 3.0, 4.0};
    double *const there = emu_memory_new(sizeof here);
    struct emu_stream *const launches = emu_stream_new(false);
    struct emu_event *const event = emu_event_new();
    emu_copy_up(there, here, sizeof here);
    emu_copy_later(here, there, sizeof here, launches);
    ck_assert(isnan(here[0]) && isnan(here[3]));
    emu_event_wait(event); /* recorded nowhere */
    ck_assert(isnan(here[0]));
    emu_event_record(event, launches);
    emu_event_wait(event);
    ck_assert(exactly(here[0], 1.0) && exactly(here[3], 4.0));
    emu_event_free(event);
    emu_stream_free(launches);
    emu_memory_free(there);
}
END_TEST

START_TEST(a_download_aside_that_does_not_wait_ends_the_program)
{
    double here[4];
    double *const there = emu_memory_new(sizeof here);
    struct emu_stream *const aside = emu_stream_new(true);
    emu_worked();
    emu_copy_later(here, there, sizeof here, aside);
}
END_TEST

START_TEST(a_download_that_is_not_waited_for_ends_the_program)
{
    double here[4];
    double *const there = emu_memory_new(sizeof here);
    struct emu_stream *const launches = emu_stream_new(false);
    emu_copy_later(here, there, sizeof here, launches);
    emu_stream_free(launches);
}
END_TEST

START_TEST(a_recording_runs_when_it_is_replayed)
{
    struct doubling d;
    struct fft *plan;
    struct recording *recording;
    cplx back[N];
    be = emu_case_open(0, 0);
    doubling_init(&d);
    ck_assert_int_eq(be->ops->fft_create(be, FFT_C2C_FORWARD, N, &plan), 0);
    const struct device_counts before = counts();
    ck_assert_int_eq(be->ops->device->record(be), 0);
    twice(d.factor, d.in, d.in);
    const struct fft_rows rows = {d.in, N, d.out, N, 0, 1, NULL};
    ck_assert_int_eq(be->ops->fft_execute(be, plan, &rows), 0);
    ck_assert_int_eq(be->ops->device->recorded(be, &recording), 0);
    ck_assert_int_eq(counts().launches, before.launches); /* nothing has run */
    ck_assert_int_eq(be->ops->download(be, back, d.in, sizeof back), 0);
    check_times(back, 1.0);
    ck_assert_int_eq(be->ops->device->replay(be, recording), 0);
    ck_assert_int_eq(be->ops->device->replay(be, recording), 0);
    ck_assert_int_eq(be->ops->download(be, back, d.in, sizeof back), 0);
    check_times(back, 4.0);
    ck_assert_int_eq(counts().launches - before.launches, 2);
    ck_assert_int_eq(counts().transforms - before.transforms, 2);
    be->ops->device->forget(be, recording);
    be->ops->device->forget(be, NULL);
    be->ops->fft_destroy(be, plan);
    doubling_clear(&d);
    emu_case_close(be);
}
END_TEST

START_TEST(a_plan_of_a_recording_serves_no_other_rows)
{
    struct doubling d;
    struct fft *plan;
    struct recording *recording;
    char text[300];
    be = emu_case_open(0, 0);
    doubling_init(&d);
    const struct fft_shape shape = {FFT_C2C_FORWARD, N / 5, 4, N / 5, N / 5};
    ck_assert_int_eq(backend_fft_create(be, &shape, &plan), 0);
    struct fft_rows rows = {d.in, N / 5, d.out, N / 5, 0, 4, NULL};
    ck_assert_int_eq(be->ops->device->record(be), 0);
    ck_assert_int_eq(be->ops->fft_execute(be, plan, &rows), 0);
    ck_assert_int_eq(be->ops->device->recorded(be, &recording), 0);
    rows.rows = 3;
    status_capture(text, sizeof text);
    ck_assert_int_eq(be->ops->fft_execute(be, plan, &rows), ERR_BUG);
    status_capture(NULL, 0);
    ck_assert_int_eq(be->ops->device->replay(be, recording), 0);
    be->ops->device->forget(be, recording);
    ck_assert_int_eq(be->ops->fft_execute(be, plan, &rows), 0);
    be->ops->fft_destroy(be, plan);
    doubling_clear(&d);
    emu_case_close(be);
}
END_TEST

/* What the device has allocated and planned since. */
static void check_taken(struct device_counts *before, long plans, long bytes)
{
    const struct device_counts now = counts();
    ck_assert_int_eq(now.plans - before->plans, plans);
    ck_assert_int_eq(now.allocated - before->allocated, bytes);
    *before = now;
}

#define LONG 120 /* points of a transform, of which N has room for 5 */
#define AREA ((long)(3 * LONG * sizeof(cplx)))

static int transform_rows(const struct doubling *d, struct fft *plan, long row, long rows,
                          const unsigned char *active)
{
    const struct fft_rows call = {d->in, LONG, d->out, LONG, row, rows, active};
    return be->ops->fft_execute(be, plan, &call);
}

/* A work area of three times the rows is pretended. */
START_TEST(a_plan_has_its_work_area_before_it_is_executed)
{
    struct doubling d;
    struct fft *plan;
    unsigned char on[5] = {1, 0, 1, 1, 0};
    size_t bytes;
    be = emu_case_open(0, 0);
    doubling_init(&d);
    setenv(EMU_WORK, "3", 1);
    unsigned char *const active = emu_case_array(be, 5, 1);
    ck_assert_int_eq(be->ops->upload(be, active, on, sizeof on), 0);
    struct device_counts before = counts();
    const struct fft_shape shape = {FFT_C2C_FORWARD, LONG, 5, LONG, LONG};
    ck_assert_int_eq(backend_fft_create(be, &shape, &plan), 0);
    check_taken(&before, 2, (1 + 5) * AREA);
    ck_assert_int_eq(emu_fft_bytes(&shape, &bytes), 0);
    ck_assert_uint_eq(bytes, 5 * AREA);
    for (int round = 0; round < 2; round++) {
        ck_assert_int_eq(transform_rows(&d, plan, 0, 5, NULL), 0);
        ck_assert_int_eq(transform_rows(&d, plan, 3, 1, NULL), 0);
        ck_assert_int_eq(transform_rows(&d, plan, 0, 5, active), 0);
    }
    check_taken(&before, 0, 0);
    ck_assert_int_eq(transform_rows(&d, plan, 1, 4, NULL), 0); /* in place of that of 5 */
    check_taken(&before, 1, 4 * AREA);
    be->ops->fft_destroy(be, plan);
    be->ops->release(be, active);
    unsetenv(EMU_WORK);
    doubling_clear(&d);
    emu_case_close(be);
}
END_TEST

/* Bytes of the device from now on: those that are taken, and some. */
static void leave(size_t more)
{
    char text[32];
    unsetenv(EMU_MEMORY);
    snprintf(text, sizeof text, "%zu", emu_memory_all() - emu_memory_left() + more);
    setenv(EMU_MEMORY, text, 1);
}

/* Half a batch is tried where memory is short, not where a device fails. */
START_TEST(a_plan_without_memory_says_that_it_is_memory)
{
    const struct fft_shape shape = {FFT_C2C_FORWARD, LONG, 5, LONG, LONG};
    struct doubling d;
    struct fft *plan;
    char text[300];
    be = emu_case_open(0, 0);
    doubling_init(&d);
    setenv(EMU_WORK, "3", 1);
    leave(0); /* not even for a row */
    status_capture(text, sizeof text);
    ck_assert_int_eq(be->ops->fft_create(be, FFT_C2C_FORWARD, LONG, &plan), ERR_MEMORY);
    ck_assert_ptr_null(plan);
    ck_assert_str_eq(text, "emu: no plan for 1 transforms of length 120: out of memory");
    leave(2 * AREA); /* for a row, not for all */
    status_capture(text, sizeof text);
    ck_assert_int_eq(backend_fft_create(be, &shape, &plan), ERR_MEMORY);
    ck_assert_ptr_null(plan);
    ck_assert_str_eq(text, "emu: no plan for 5 transforms of length 120: out of memory");
    ck_assert_int_eq(be->ops->fft_create(be, FFT_C2C_FORWARD, LONG, &plan), 0);
    ck_assert_int_eq(transform_rows(&d, plan, 0, 5, NULL),
                     ERR_MEMORY); /* a call of that size */
    status_capture(NULL, 0);
    ck_assert_int_eq(transform_rows(&d, plan, 0, 1, NULL), 0);
    leave(6 * AREA);
    ck_assert_int_eq(transform_rows(&d, plan, 0, 5, NULL), 0);
    unsetenv(EMU_MEMORY);
    unsetenv(EMU_WORK);
    be->ops->fft_destroy(be, plan);
    doubling_clear(&d);
    emu_case_close(be);
}
END_TEST

START_TEST(what_cannot_be_recorded_is_refused)
{
    struct doubling d;
    struct recording *recording;
    struct fetch *fetch;
    cplx back[2];
    void *memory;
    char text[300];
    be = emu_case_open(0, 0);
    doubling_init(&d);
    ck_assert_int_eq(be->ops->fetch_create(be, 32, &fetch), 0);
    ck_assert_int_eq(be->ops->device->record(be), 0);
    status_capture(text, sizeof text);
    ck_assert_int_eq(be->ops->device->record(be), ERR_BUG);
    ck_assert_int_eq(be->ops->upload(be, d.in, back, sizeof back), ERR_BUG);
    ck_assert_int_eq(be->ops->download(be, back, d.in, sizeof back), ERR_BUG);
    ck_assert_int_eq(be->ops->alloc(be, 1, 8, &memory), ERR_BUG);
    ck_assert_int_eq(be->ops->fetch_begin(be, fetch, d.in, 32), ERR_BUG);
    ck_assert_int_eq(be->ops->device->mark(be, 0), ERR_BUG);
    ck_assert_int_eq(be->ops->device->recorded(be, &recording), 0);
    be->ops->device->forget(be, recording);
    ck_assert_int_eq(be->ops->device->recorded(be, &recording), ERR_BUG);
    emu_refuse_records(true);
    ck_assert_int_eq(be->ops->device->record(be), ERR_UNSUPPORTED);
    status_capture(NULL, 0);
    emu_refuse_records(false);
    twice(d.factor, d.in, d.out); /* it runs, at once */
    ck_assert_int_eq(be->ops->download(be, back, d.out, sizeof back), 0);
    ck_assert_exactly(back[1].r, 4.0);
    be->ops->fetch_destroy(be, fetch);
    doubling_clear(&d);
    emu_case_close(be);
}
END_TEST

/* Launches of a column of one row. */
static long long launches_of(long column_rows, bool once)
{
    static struct column_rates_known rates;
    struct column_run run;
    be = emu_case_open(column_rows, 0);
    rates_init(&rates);
    column_run_init(&run, &emu_case_column, &rates, CASE_BY_CHANNEL, 4);
    run.once = once;
    const long long before = counts().launches;
    column_run_there(&run, be);
    const long long launches = counts().launches - before;
    column_run_clear(&run);
    rates_clear(&rates);
    emu_case_close(be);
    return launches;
}

START_TEST(a_column_is_one_launch_by_rows_and_two_a_pass_in_tiles)
{
    ck_assert_int_eq(launches_of(1, true), 1);
    ck_assert_int_eq(launches_of(1, false), 3); /* its passes one by one */
    ck_assert_int_eq(launches_of(2, true), 6);
    ck_assert_int_eq(launches_of(2, false), 6);
}
END_TEST

#define BATCH 3

/* Columns by ADK's formula, with fields of their own, after each other on the device. */
struct batch {
    struct column_run run[BATCH];
    struct column_args args;
    void *memory[10];
    int used;
};

/* Rows of one array of all runs, as far as it has `there` for them; of nothing, nothing. */
static void *gather(struct batch *b, long count, const double *rows[BATCH])
{
    const size_t bytes = (size_t)count * sizeof(double);
    double *const out = emu_case_array(be, BATCH * count, sizeof(double));
    for (int i = 0; i < BATCH && rows[i] != NULL; i++)
        ck_assert_int_eq(be->ops->upload(be, out + i * count, rows[i], bytes), 0);
    b->memory[b->used++] = out;
    return out;
}

static void batch_there(struct batch *b, const struct column_case *c)
{
    static const unsigned char active[BATCH] = {1, 0, 1};
    const struct column_run *const run = b->run;
    const long ld = run[0].ld;
    const long pad = run[0].ld_pad;
    const double *fields[BATCH], *windows[BATCH], *scalars[BATCH], *taps[BATCH];
    const double *none[BATCH] = {NULL};
    struct column_rate rates[BATCH];
    for (int i = 0; i < BATCH; i++) {
        fields[i] = run[i].field;
        windows[i] = run[i].window;
        scalars[i] = run[i].scalars;
        taps[i] = run[i].args.taps;
        rates[i] = run[i].rate;
    }
    b->args = run[0].args;
    b->args.field = gather(b, c->components * ld, fields);
    b->args.window = gather(b, ld, windows);
    b->args.scalars = gather(b, COLUMN_SCALARS, scalars);
    b->args.taps = gather(b, COLUMN_SIDE_MAX + 1, taps);
    b->args.w = (double *)gather(b, pad, none) + COLUMN_PAD;
    b->args.integrand = (double *)gather(b, c->components * pad, none) + COLUMN_PAD;
    b->args.loss = (double *)gather(b, c->components * pad, none) + COLUMN_PAD;
    b->args.out = gather(b, c->components * ld, none);
    b->args.sums = gather(b, COLUMN_SUMS, none);
    struct column_rate *const rate = emu_case_array(be, BATCH, sizeof *rate);
    unsigned char *const mask = emu_case_array(be, BATCH, 1);
    ck_assert_int_eq(be->ops->upload(be, rate, rates, sizeof rates), 0);
    ck_assert_int_eq(be->ops->upload(be, mask, active, sizeof active), 0);
    b->args.rate = rate;
    b->args.active = mask;
    ck_assert_int_eq(be->ops->device->column(be, COLUMN_BY_ADK, &b->args, 0, BATCH, c->n), 0);
    be->ops->release(be, rate);
    be->ops->release(be, mask);
}

/* Row i is what it is alone; of the one that is left out nothing is written. */
static void batch_check(struct batch *b, const struct column_case *c, int i, bool runs)
{
    static double out[2 * 2700];
    double sums[COLUMN_SUMS];
    struct column_run *const run = &b->run[i];
    const long count = c->components * run->ld;
    ck_assert_int_le(count, (long)(sizeof out / sizeof out[0]));
    ck_assert_int_eq(
        be->ops->download(be, out, b->args.out + i * count, (size_t)count * sizeof(double)), 0);
    ck_assert_int_eq(be->ops->download(be, sums, b->args.sums + i * COLUMN_SUMS, sizeof sums),
                     0);
    for (long k = 0; k < count && !runs; k++)
        ck_assert(is_zero(out[k]));
    if (!runs)
        return;
    run->once = true;
    column_run_there(run, be);
    for (int k = 0; k < c->components; k++)
        ck_assert(equal_bits(out + k * run->ld, run->out + k * run->ld,
                             (size_t)c->n * sizeof(double)));
    ck_assert(equal_bits(sums, run->sums, sizeof sums));
}

START_TEST(a_column_of_a_batch_has_the_bits_of_one_alone_in_both_forms)
{
    static struct column_rates_known rates;
    rates_init(&rates);
    for (int how = 0; how < 8; how++) { /* form, rule, components */
        struct batch b = {.used = 0};
        struct column_case c[BATCH];
        be = emu_case_open(how % 2 == 0 ? 1 : 100, 0);
        for (int i = 0; i < BATCH; i++) {
            c[i] = emu_case_column;
            c[i].components = 1 + how / 4;
            c[i].peak *= 1.0 + 0.2 * i;
            c[i].centre += 0.2 * i;
            column_run_init(&b.run[i], &c[i], &rates, CASE_ADK, how / 2 % 2 == 0 ? 0 : 4);
        }
        batch_there(&b, &c[0]);
        for (int i = 0; i < BATCH; i++)
            batch_check(&b, &c[i], i, i != 1);
        for (int i = 0; i < b.used; i++)
            be->ops->release(be, b.memory[i]);
        for (int i = 0; i < BATCH; i++)
            column_run_clear(&b.run[i]);
        backend_destroy(be);
    }
    rates_clear(&rates);
    ck_assert_int_eq(emu_live(), 0);
    ck_assert_int_eq(mem_live(), 0);
}
END_TEST

/* All elements are made alike, however they are shared among threads. */
START_TEST(kernels_have_the_same_bits_with_blocks_of_any_size)
{
    static const long sizes[] = {64, 128, 512};
    int count;
    const struct kernel_case *const cases = kernel_cases(&count);
    for (int c = 0; c < count; c++) {
        struct trial t;
        double *kept[TRIAL_FIELDS_MAX] = {NULL};
        trial_init(&t, &cases[c], cases[c].last, 700);
        for (size_t i = 0; i <= sizeof sizes / sizeof sizes[0]; i++) {
            be = emu_case_open(0, i == 0 ? 256 : sizes[i - 1]);
            trial_run(&t, be, -1, -1, false);
            for (int f = 0; f < t.fields; f++) {
                const size_t bytes = t.count[f] * sizeof(double);
                if (i == 0 && bytes > 0) {
                    ck_assert_int_eq(MEM_NEW((long)t.count[f], &kept[f]), 0);
                    memcpy(kept[f], t.after[f], bytes);
                }
                ck_assert_msg(bytes == 0 || equal_bits(kept[f], t.after[f], bytes),
                              "%s: other bits with another block", cases[c].name);
            }
            backend_destroy(be);
        }
        for (int f = 0; f < t.fields; f++)
            mem_free(kept[f]);
        trial_clear(&t);
    }
    ck_assert_int_eq(mem_live(), 0);
}
END_TEST

START_TEST(blocks_of_another_size_are_refused)
{
    static const long sizes[] = {1, 32, 96, 1024, 4096};
    struct backend_options options = {.apart = true, .threads = 1};
    struct backend *none;
    char text[200];
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        options.threshold[THRESHOLD_device_block] = sizes[i];
        status_capture(text, sizeof text);
        ck_assert_int_eq(emu_backend_create(&options, &none), ERR_ARGUMENT);
        status_capture(NULL, 0);
        ck_assert_ptr_nonnull(strstr(text, "64, 128, 256 and 512 are accepted"));
    }
}
END_TEST

int main(void)
{
    Suite *const suite = suite_create("device");
    TCase *const tests = tcase_create("operations");
    tcase_set_timeout(tests, 60);
    tcase_add_test(tests, work_is_counted);
    tcase_add_test(tests, marks_tell_the_time_between_them);
    tcase_add_test(tests, a_fetch_has_what_there_was_when_it_began);
    tcase_add_test(tests, a_fetch_that_is_used_wrongly_is_refused);
    tcase_add_test(tests, data_that_nobody_waited_for_are_not_there);
    tcase_add_test_raise_signal(tests, a_download_aside_that_does_not_wait_ends_the_program, 6);
    tcase_add_test_raise_signal(tests, a_download_that_is_not_waited_for_ends_the_program, 6);
    tcase_add_test(tests, a_recording_runs_when_it_is_replayed);
    tcase_add_test(tests, a_plan_of_a_recording_serves_no_other_rows);
    tcase_add_test(tests, a_plan_has_its_work_area_before_it_is_executed);
    tcase_add_test(tests, a_plan_without_memory_says_that_it_is_memory);
    tcase_add_test(tests, what_cannot_be_recorded_is_refused);
    tcase_add_test(tests, a_column_is_one_launch_by_rows_and_two_a_pass_in_tiles);
    tcase_add_test(tests, a_column_of_a_batch_has_the_bits_of_one_alone_in_both_forms);
    tcase_add_test(tests, kernels_have_the_same_bits_with_blocks_of_any_size);
    tcase_add_test(tests, blocks_of_another_size_are_refused);
    suite_add_tcase(suite, tests);
    return unit_main(suite);
}
