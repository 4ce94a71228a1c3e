/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Planes that leave a device beside the next trial: the order of the calls, and their bits;
 * what ends, stops or breaks while a trial is under way. */
#include <math.h>
#include <string.h>

#include "kernels/base/clock.h"
#include "kernels/base/mem.h"
#include "kernels/base/status.h"
#include "kernels/models/pulse/gnlse.h"
#include "tests/emu/emu.h"
#include "tests/emu/machine.h"
#include "tests/exact.h"
#include "tests/kernels/gnlse_case.h"
#include "tests/unit_main.h"

#define ROWS   3
#define PLANES 2
#define STEPS  10
#define N_MAX  4096
#define TRACE  256

static const double lengths[STEPS] = {0.01, 0.01, 0.01, 0.01, 0.01,
                                      0.01, 0.01, 0.01, 0.01, 0.01};

/* Planes of each row: the first rows stand on one while the last goes on. */
static const double positions[ROWS][PLANES] = {{0.02, 0.1}, {0.02, 0.05}, {0.04, 0.1}};

/* What was asked of the backend: b and e begin and end a fetch, d a download, n the first pass
 * of a trial. */
static char trace[TRACE];
static int traced;
static long entered; /* work of the device before the last trial */
static const struct backend_ops *ops;
static const struct kernel_table *kernels;
static struct backend_ops tracing_ops;
static struct kernel_table tracing_kernels;

static void note(char what)
{
    ck_assert_int_lt(traced, TRACE - 1);
    trace[traced++] = what;
    trace[traced] = '\0';
}

static void trace_clear(void)
{
    traced = 0;
    trace[0] = '\0';
}

static int begin(struct backend *be, struct fetch *fetch, const void *from, size_t bytes)
{
    note('b');
    return ops->fetch_begin(be, fetch, from, bytes);
}

static int end(struct backend *be, struct fetch *fetch, const void **data)
{
    note('e');
    return ops->fetch_end(be, fetch, data);
}

static int download(struct backend *be, void *to, const void *from, size_t bytes)
{
    note('d');
    return ops->download(be, to, from, bytes);
}

/* Launches and transforms so far. */
static long work_of(struct backend *be)
{
    const struct device_counts *const counts = be->ops->device->counts(be);
    return (long)(counts->launches + counts->transforms);
}

static int entry(struct backend *be, const struct stage_entry_args *args, long row, long rows,
                 long n)
{
    note('n');
    entered = work_of(be);
    return kernels->stage_entry_loss(be, args, row, rows, n);
}

static void trace_begin(struct backend *be)
{
    ops = be->ops;
    kernels = be->kernels;
    tracing_ops = *ops;
    tracing_ops.fetch_begin = begin;
    tracing_ops.fetch_end = end;
    tracing_ops.download = download;
    tracing_kernels = *kernels;
    tracing_kernels.stage_entry_loss = entry;
    be->ops = &tracing_ops;
    be->kernels = &tracing_kernels;
    trace_clear();
}

static void trace_end(struct backend *be)
{
    be->ops = ops;
    be->kernels = kernels;
}

/* A batch, its members, and what their planes were. */
struct batch {
    struct backend *be;
    struct model *m;
    int rows;
    int member[ROWS];
    long n;
    struct gnlse_case c[ROWS];
    struct row_status st[ROWS];
    struct run_control control;
    cplx field[ROWS][PLANES][N_MAX];
    double observable[ROWS][PLANES][OBSERVABLES_MAX];
};

static void batch_open(struct batch *b, int rows, const int *members)
{
    const struct backend_options options = {.apart = true, .threads = 1};
    struct plane_layout layout;
    memset(b, 0, sizeof *b);
    b->rows = rows;
    ck_assert_int_eq(emu_backend_create(&options, &b->be), 0);
    for (int r = 0; r < rows; r++) {
        struct gnlse_case *const c = &b->c[r];
        b->member[r] = members[r];
        case_init(c);
        case_set(c, "pulse.peak_power", 500.0 * (1 + members[r]));
        case_set(c, "length", 0.1);
        case_planes(c, positions[members[r]], PLANES);
    }
    ck_assert_int_eq(gnlse_ops.layout(&b->c[0].params, &layout), 0);
    b->n = layout.axis[0].length;
    ck_assert_int_le(b->n, N_MAX);
    ck_assert_int_eq(gnlse_ops.create(&b->c[0].params, b->be, rows, &b->m), 0);
}

static void batch_load(struct batch *b, int r, const struct state_in *from)
{
    b->st[r] = (struct row_status){.deadline = (double)INFINITY};
    ck_assert_int_eq(gnlse_ops.load(b->m, r, &b->c[r].params, &b->c[r].seed, from, &b->st[r]),
                     0);
    if (from == NULL)
        gnlse_set_schedule(b->m, r, lengths, STEPS);
}

static void batch_close(struct batch *b)
{
    gnlse_ops.destroy(b->m);
    backend_destroy(b->be);
    for (int r = 0; r < b->rows; r++)
        case_clear(&b->c[r]);
}

static void nothing_is_left(void)
{
    ck_assert_int_eq(emu_live(), 0);
    ck_assert_int_eq(mem_live(), 0);
}

static void batch_advance(struct batch *b)
{
    ck_assert_int_eq(gnlse_ops.advance(b->m, &b->control, b->st), 0);
}

/* Read the planes that rows stand on; how many. */
static int batch_read(struct batch *b)
{
    int read = 0;
    for (int r = 0; r < b->rows; r++) {
        const long p = b->st[r].plane;
        if (!b->st[r].plane_ready)
            continue;
        struct plane_buffers out = {.array = {b->field[r][p]}};
        ck_assert_int_eq(gnlse_ops.plane(b->m, r, &out), 0);
        memcpy(b->observable[r][p], out.observable, sizeof out.observable);
        b->st[r].plane_ready = false;
        read++;
    }
    return read;
}

static bool runs(const struct batch *b)
{
    for (int r = 0; r < b->rows; r++)
        if (b->st[r].outcome == ROW_RUNNING)
            return true;
    return false;
}

static void batch_finish(struct batch *b)
{
    for (int calls = 0; runs(b); calls++) {
        ck_assert_int_lt(calls, 50);
        batch_advance(b);
        batch_read(b);
    }
}

/* Rows of two batches from plane `first` on. */
static void check_same(const struct batch *a, int row, const struct batch *b, int other,
                       int first)
{
    for (int p = first; p < PLANES; p++) {
        ck_assert(
            equal_bits(a->field[row][p], b->field[other][p], (size_t)a->n * sizeof(cplx)));
        ck_assert(equal_bits(a->observable[row][p], b->observable[other][p],
                             sizeof a->observable[row][p]));
        ck_assert(cplx_abs2(a->field[row][p][0]) > 0.0);
    }
    ck_assert_int_eq(a->st[row].rhs_calls, b->st[other].rhs_calls);
    ck_assert_int_eq(a->st[row].steps, b->st[other].steps);
}

static struct batch whole;
static struct batch one;
static struct batch other;

static void open_loaded(struct batch *b)
{
    static const int members[ROWS] = {0, 1, 2};
    batch_open(b, ROWS, members);
    for (int r = 0; r < ROWS; r++)
        batch_load(b, r, NULL);
}

/* Two rows land beside one that goes on. */
static void open_under_way(struct batch *b)
{
    open_loaded(b);
    trace_begin(b->be);
    batch_advance(b);
}

START_TEST(planes_leave_before_the_next_trial_and_nothing_waits_between)
{
    open_under_way(&one);
    /* First slopes, two trials of all; then two planes of two pieces, and the trial beside. */
    ck_assert_str_eq(trace, "dndndbbbbn");
    ck_assert(one.st[0].plane_ready && one.st[1].plane_ready && !one.st[2].plane_ready);
    ck_assert_int_eq(one.st[2].steps, 2);
    ck_assert_int_eq(one.st[2].rhs_calls, 1 + 6 * 2);
    ck_assert_int_eq(one.st[2].transforms, 2 * one.st[2].rhs_calls);
    trace_clear();
    ck_assert_int_eq(batch_read(&one), 2);
    ck_assert_str_eq(trace, "eeee"); /* and no download: the trial is not waited for */
    trace_clear();
    atomic_store(&one.control.stop, 1);
    batch_advance(&one);
    ck_assert_str_eq(trace, "d"); /* its sums; no other trial */
    ck_assert_int_eq(one.st[2].steps, 3);
    ck_assert_int_eq(one.st[2].rhs_calls, 1 + 6 * 3);
    ck_assert_int_eq(one.st[0].rhs_calls, 1 + 6 * 2);
    atomic_store(&one.control.stop, 0);
    trace_clear();
    batch_advance(&one);
    ck_assert_str_eq(trace, "ndbbn"); /* the last row lands; the others go on beside */
    trace_end(one.be);
    batch_read(&one);
    batch_finish(&one);
    batch_close(&one);
    nothing_is_left();
}
END_TEST

START_TEST(rows_beside_each_other_have_the_bits_of_rows_alone)
{
    open_under_way(&whole);
    trace_end(whole.be);
    batch_read(&whole);
    batch_finish(&whole);
    for (int r = 0; r < ROWS; r++) {
        batch_open(&one, ROWS, (const int[ROWS]){r, r, r});
        batch_load(&one, r, NULL); /* in its place; the other rows are empty: no row goes on */
        batch_finish(&one);
        check_same(&one, r, &whole, r, 0);
        batch_close(&one);
    }
    batch_close(&whole);
    nothing_is_left();
}
END_TEST

/* The row whose trial is under way is saved, and goes on elsewhere; then it is loaded again. */
START_TEST(a_row_is_saved_and_loaded_again_while_its_trial_is_under_way)
{
    static char bytes[4 * N_MAX * sizeof(cplx)];
    struct state_out out = {.bytes = bytes, .capacity = sizeof bytes};
    open_under_way(&whole);
    trace_end(whole.be);
    batch_read(&whole);
    ck_assert_int_eq(gnlse_ops.state(whole.m, 2, &out), 0);
    batch_finish(&whole);
    const struct state_in in = {bytes, out.length};
    batch_open(&other, ROWS, (const int[ROWS]){0, 1, 2});
    batch_load(&other, 2, &in);
    gnlse_set_schedule(other.m, 2, lengths, STEPS);
    batch_finish(&other);
    check_same(&other, 2, &whole, 2, 0);
    batch_close(&other);
    open_under_way(&one);
    trace_end(one.be);
    batch_load(&one, 2, NULL); /* before the planes beside it are read */
    batch_read(&one);
    batch_finish(&one);
    for (int r = 0; r < ROWS; r++)
        check_same(&one, r, &whole, r, 0);
    batch_close(&one);
    batch_close(&whole);
    nothing_is_left();
}
END_TEST

/* With a trial under way and planes that nobody read. */
START_TEST(a_batch_goes_with_all_that_is_under_way)
{
    open_under_way(&one);
    trace_end(one.be);
    batch_close(&one);
    nothing_is_left();
}
END_TEST

/* The trial that was under way counts; then the row has no time for another. */
START_TEST(a_deadline_that_passes_beside_a_trial_ends_its_row_behind_it)
{
    open_under_way(&whole);
    trace_end(whole.be);
    batch_read(&whole);
    batch_finish(&whole);
    open_under_way(&one);
    trace_end(one.be);
    batch_read(&one);
    one.st[2].deadline = clock_wall() - 1.0;
    batch_advance(&one);
    ck_assert_int_eq(one.st[2].outcome, ROW_TIMED_OUT);
    ck_assert_str_eq(one.st[2].reason,
                     "timed out at z = 0.03 m, on the way to plane 0, after 3 trial steps");
    ck_assert_int_eq(one.st[2].steps, 3);
    ck_assert_int_eq(one.st[2].rhs_calls, 1 + 6 * 3);
    batch_finish(&one);
    for (int r = 0; r < 2; r++)
        check_same(&one, r, &whole, r, 0);
    batch_close(&one);
    batch_close(&whole);
    nothing_is_left();
}
END_TEST

/* All rows, where a stop left them; each goes on in another batch with the bits of `whole`. */
START_TEST(rows_that_are_stopped_beside_a_trial_go_on_elsewhere)
{
    static char bytes[ROWS][4 * N_MAX * sizeof(cplx)];
    static const int read[ROWS] = {1, 1, 0}; /* planes that were read before */
    struct state_out out[ROWS];
    open_under_way(&one);
    trace_end(one.be);
    ck_assert_int_eq(batch_read(&one), 2);
    atomic_store(&one.control.stop, 1);
    for (int calls = 0; calls < 2; calls++) { /* the second finds nothing under way */
        batch_advance(&one);
        ck_assert_int_eq(one.st[2].steps, 3);
        ck_assert_int_eq(batch_read(&one), 0);
    }
    for (int r = 0; r < ROWS; r++) {
        out[r] = (struct state_out){.bytes = bytes[r], .capacity = sizeof bytes[r]};
        ck_assert_int_eq(gnlse_ops.state(one.m, r, &out[r]), 0);
    }
    batch_close(&one);
    open_under_way(&whole);
    trace_end(whole.be);
    batch_read(&whole);
    batch_finish(&whole);
    batch_open(&other, ROWS, (const int[ROWS]){0, 1, 2});
    for (int r = 0; r < ROWS; r++) {
        const struct state_in in = {bytes[r], out[r].length};
        batch_load(&other, r, &in);
        gnlse_set_schedule(other.m, r, lengths, STEPS);
    }
    batch_finish(&other);
    for (int r = 0; r < ROWS; r++)
        check_same(&other, r, &whole, r, read[r]);
    batch_close(&other);
    batch_close(&whole);
    nothing_is_left();
}
END_TEST

static char heard[300];

/* A call of a batch whose device fails: its code, and what it says. */
static int advance_heard(struct batch *b)
{
    status_capture(heard, sizeof heard);
    const int rc = gnlse_ops.advance(b->m, &b->control, b->st);
    status_capture(NULL, 0);
    if (rc != 0)
        ck_assert_ptr_nonnull(strstr(heard, "unspecified launch failure"));
    return rc;
}

static void close_failed(struct batch *b)
{
    status_capture(heard, sizeof heard);
    batch_close(b);
    status_capture(NULL, 0);
    emu_fail_at(0, false);
}

/* The work-th piece of work of the first call fails, the host hears of it late or at once. */
static int open_failing(struct batch *b, long work, bool late)
{
    open_loaded(b);
    emu_fail_at(work, late);
    return advance_heard(b);
}

/* What the next call finds: nothing of the trial, and no way on. */
static void check_lost(struct batch *b)
{
    for (int calls = 0; calls < 2; calls++) {
        ck_assert_int_eq(advance_heard(b), ERR_DEVICE);
        ck_assert_int_eq(b->st[2].steps, 2);
        ck_assert_int_eq(b->st[2].outcome, ROW_RUNNING);
        ck_assert(!b->st[2].plane_ready);
    }
    struct plane_buffers buffers = {.array = {b->field[0][0]}};
    status_capture(heard, sizeof heard);
    ck_assert_int_eq(gnlse_ops.plane(b->m, 0, &buffers), ERR_DEVICE);
    status_capture(NULL, 0);
}

START_TEST(a_trial_under_way_that_fails_is_told_by_the_next_call)
{
    open_loaded(&one);
    const long first = work_of(one.be);
    trace_begin(one.be);
    batch_advance(&one);
    trace_end(one.be);
    const long begin = entered - first;
    const long end = work_of(one.be) - first;
    batch_close(&one);
    ck_assert_int_ge(end - begin, 6 * 2 + 8); /* transforms and passes at least */
    for (long work = begin + 1; work <= end; work++) {
        ck_assert_int_eq(open_failing(&one, work, true), 0);
        check_lost(&one);
        close_failed(&one);
        ck_assert_int_eq(open_failing(&one, work, true), 0);
        close_failed(&one); /* at once, with planes that nobody read */
        /* Who hears of it by the next launch hears it in the call itself, but of the last one.
         */
        ck_assert_int_eq(open_failing(&one, work, false), work < end ? ERR_DEVICE : 0);
        check_lost(&one);
        close_failed(&one);
        nothing_is_left();
    }
}
END_TEST

/* A run up to its error; what planes it gave. Returns false when it came to its end. */
static bool run_failing(struct batch *b, long work, bool late)
{
    int rc = open_failing(b, work, late);
    for (int calls = 0; rc == 0 && runs(b); calls++) {
        ck_assert_int_lt(calls, 50);
        for (int r = 0; rc == 0 && r < ROWS; r++) {
            const long p = b->st[r].plane;
            if (!b->st[r].plane_ready)
                continue;
            struct plane_buffers out = {.array = {b->field[r][p]}};
            status_capture(heard, sizeof heard);
            rc = gnlse_ops.plane(b->m, r, &out);
            status_capture(NULL, 0);
            if (rc != 0) {
                memset(b->field[r][p], 0, sizeof b->field[r][p]);
                break;
            }
            memcpy(b->observable[r][p], out.observable, sizeof out.observable);
            b->st[r].plane_ready = false;
        }
        if (rc == 0)
            rc = advance_heard(b);
    }
    ck_assert(rc == 0 || rc == ERR_DEVICE);
    return rc != 0;
}

/* Planes of `b` that came: all have the bits of `whole`. */
static int check_planes(const struct batch *b)
{
    int came = 0;
    for (int r = 0; r < ROWS; r++)
        for (int p = 0; p < PLANES; p++) {
            if (!(cplx_abs2(b->field[r][p][0]) > 0.0))
                continue;
            ck_assert(
                equal_bits(b->field[r][p], whole.field[r][p], (size_t)whole.n * sizeof(cplx)));
            ck_assert(equal_bits(b->observable[r][p], whole.observable[r][p],
                                 sizeof b->observable[r][p]));
            came++;
        }
    return came;
}

START_TEST(planes_that_come_from_a_device_that_fails_are_right)
{
    open_under_way(&whole);
    trace_end(whole.be);
    batch_read(&whole);
    batch_finish(&whole);
    const long all = work_of(whole.be);
    int most = 0;
    bool failed = true;
    for (long work = 1; failed; work += 11) {
        ck_assert_int_le(work, all + 11);
        for (int late = 0; late < 2; late++) {
            failed = run_failing(&one, work, late != 0);
            const int came = check_planes(&one);
            ck_assert(failed || came == ROWS * PLANES);
            most = failed && came > most ? came : most;
            close_failed(&one);
        }
    }
    ck_assert_int_ge(most, 3); /* some came before */
    batch_close(&whole);
    nothing_is_left();
}
END_TEST

int main(void)
{
    Suite *const suite = suite_create("planes beside trials on a device");
    TCase *const tests = tcase_create("overlap");
    tcase_set_timeout(tests, 60);
    tcase_add_test(tests, planes_leave_before_the_next_trial_and_nothing_waits_between);
    tcase_add_test(tests, rows_beside_each_other_have_the_bits_of_rows_alone);
    tcase_add_test(tests, a_row_is_saved_and_loaded_again_while_its_trial_is_under_way);
    tcase_add_test(tests, a_batch_goes_with_all_that_is_under_way);
    tcase_add_test(tests, a_deadline_that_passes_beside_a_trial_ends_its_row_behind_it);
    tcase_add_test(tests, rows_that_are_stopped_beside_a_trial_go_on_elsewhere);
    tcase_add_test(tests, a_trial_under_way_that_fails_is_told_by_the_next_call);
    tcase_add_test(tests, planes_that_come_from_a_device_that_fails_are_right);
    suite_add_tcase(suite, tests);
    return unit_main(suite);
}
