/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Planes that leave a device beside the next trial: the order of the calls, and their bits. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/base/mem.h"
#include "kernels/models/pulse/capillary.h"
#include "kernels/models/pulse/gnlse.h"
#include "tests/emu/emu.h"
#include "tests/emu/machine.h"
#include "tests/exact.h"
#include "tests/kernels/capillary_case.h"
#include "tests/kernels/gnlse_case.h"
#include "tests/unit_main.h"

#define ROWS   3
#define PLANES 3
#define STEPS  5
#define N_MAX  4096
#define TRACE  256

/* Planes of each row, of the length: all begin on one; later the first rows stand on one while
 * the last goes on. */
static const double places[ROWS][PLANES] = {{0.0, 0.4, 1.0}, {0.0, 0.4, 0.8}, {0.0, 0.8, 1.0}};

/* A model with members that differ, and what it asks of a backend. */
struct kind {
    const char *name;
    const struct model_ops *ops;
    void (*fill)(struct params *p, int member);
    void (*set_schedule)(struct model *m, int row, const double *lengths, long count);
    double length;  /* m */
    int transforms; /* of an evaluation */
    int downloads;  /* of a trial */
    int pieces;     /* of a plane */
    int first;      /* of one that no step has led to */
};

static void fill_gnlse(struct params *p, int member)
{
    struct gnlse_case c;
    case_init(&c);
    case_set(&c, "pulse.peak_power", 500.0 * (1 + member));
    case_set(&c, "length", 0.05);
    params_copy(p, &c.params);
    case_clear(&c);
}

static void capillary(struct capillary_case *c, int member)
{
    capillary_case_small(c);
    capillary_case_set(c, "grid.window", 100e-15);
    capillary_case_choose(c, "kerr.response", "chi3");
    capillary_case_set(c, "length", 1e-3);
    capillary_case_set(c, "pressure.constant", 1e5 * (1.0 + 0.4 * member));
    capillary_case_set(c, "pulse.energy", (200.0 + 20.0 * member) * 1e-6);
}

static void keep(struct params *p, struct capillary_case *c)
{
    params_copy(p, &c->params);
    capillary_case_clear(c);
}

static void fill_kerr(struct params *p, int member)
{
    struct capillary_case c;
    capillary(&c, member);
    keep(p, &c);
}

static void fill_trapezoid(struct params *p, int member)
{
    struct capillary_case c;
    capillary(&c, member);
    capillary_case_gradient(&c, 2e4 * (1.0 + 0.4 * member), 5e3 * member);
    capillary_case_choose(&c, "plasma.rate", "ppt");
    capillary_case_choose(&c, "plasma.rule", "trapezoid");
    keep(p, &c);
}

/* Two species, without third harmonic. */
static void fill_mixture(struct params *p, int member)
{
    struct capillary_case c;
    capillary(&c, member);
    capillary_case_unset(&c, "gas.name");
    capillary_case_set(&c, "gas.Ar", 0.5 + 0.1 * member);
    capillary_case_set(&c, "gas.H2", 0.5 - 0.1 * member);
    capillary_case_choose(&c, "density", "ideal");
    capillary_case_choose(&c, "kerr.third_harmonic", "false");
    capillary_case_choose(&c, "plasma.rate", "adk");
    capillary_case_choose(&c, "plasma.rule", "band");
    capillary_case_choose(&c, "raman.model", "auto");
    capillary_case_set(&c, "absorber.time", 0.01 * (1 + member));
    capillary_case_set(&c, "absorber.spectral", 0.01);
    keep(p, &c);
}

static void fill_envelope(struct params *p, int member)
{
    struct capillary_case c;
    capillary(&c, member);
    capillary_case_gas(&c, "N2");
    capillary_case_choose(&c, "field", "envelope");
    capillary_case_choose(&c, "kerr.third_harmonic", "false");
    capillary_case_choose(&c, "raman.model", "on");
    capillary_case_set(&c, "absorber.time", 0.01 * (1 + member));
    keep(p, &c);
}

/* A plane of gnlse: spectrum, samples. Of capillary: state, samples, of a real field the
 * quadrature; where no step has led, what the plasma saw of each species. */
static const struct kind kinds[] = {
    {"gnlse", &gnlse_ops, fill_gnlse, gnlse_set_schedule, 0.05, 2, 1, 2, 2},
    {"Kerr", &capillary_ops, fill_kerr, capillary_set_schedule, 1e-3, 2, 2, 3, 3},
    {"trapezoid along a gradient", &capillary_ops, fill_trapezoid, capillary_set_schedule, 1e-3,
     2, 2, 3, 4},
    {"two species, Raman, absorbers, no third harmonic", &capillary_ops, fill_mixture,
     capillary_set_schedule, 1e-3, 6, 2, 3, 5},
    {"envelope, Raman, absorber", &capillary_ops, fill_envelope, capillary_set_schedule, 1e-3,
     5, 2, 2, 2}};
#define KINDS ((int)(sizeof kinds / sizeof kinds[0]))

/* What was asked of the backend: b and e begin and end a fetch, d a download, n the first pass
 * of a trial. */
static char trace[TRACE];
static int traced;
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

static int entry(struct backend *be, const struct stage_entry_args *args, long row, long rows,
                 long n)
{
    note('n');
    return kernels->stage_entry_loss(be, args, row, rows, n);
}

static int entry_two(struct backend *be, const struct stage_entry_args *args, long row,
                     long rows, long n)
{
    note('n');
    return kernels->stage_entry_loss_two(be, args, row, rows, n);
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
    tracing_kernels.stage_entry_loss_two = entry_two;
    be->ops = &tracing_ops;
    be->kernels = &tracing_kernels;
    trace_clear();
}

static void trace_end(struct backend *be)
{
    be->ops = ops;
    be->kernels = kernels;
}

/* Assert what was asked for: D, downloads of a trial; P and F, begun pieces of a plane and of
 * one that no step has led to; E, ended ones of a plane. */
static void check_trace(const struct kind *kind, const char *script)
{
    char want[TRACE] = "";
    size_t length = 0;
    for (const char *s = script; *s != '\0'; s++) {
        const int times = *s == 'D'                ? kind->downloads
                          : *s == 'P' || *s == 'E' ? kind->pieces
                          : *s == 'F'              ? kind->first
                                                   : 1;
        const char what = *s == 'D' ? 'd' : *s == 'P' || *s == 'F' ? 'b' : *s == 'E' ? 'e' : *s;
        for (int i = 0; i < times; i++)
            want[length++] = what;
    }
    ck_assert_msg(strcmp(trace, want) == 0, "%s: %s, not %s", kind->name, trace, want);
    trace_clear();
}

/* What is kept of a plane. */
struct kept {
    cplx field[N_MAX];
    double path[3]; /* of a capillary */
    double observable[OBSERVABLES_MAX];
};

/* A batch, its members, and what their planes were. */
struct batch {
    const struct kind *kind;
    struct backend *be;
    struct model *m;
    struct plane_layout layout;
    struct params params[ROWS];
    double positions[ROWS][PLANES];
    double lengths[STEPS];
    struct row_status st[ROWS];
    struct run_control control;
    struct kept plane[ROWS][PLANES];
};

static void set_member(struct batch *b, int r, int member)
{
    const struct model_info *const info = b->kind->ops->info;
    ck_assert_int_eq(params_init(&b->params[r], info->params, info->param_count), 0);
    b->kind->fill(&b->params[r], member);
    for (int p = 0; p < PLANES; p++)
        b->positions[r][p] = places[member][p] * b->kind->length;
    b->params[r].planes = (struct plane_request){PLANES_LIST, PLANES, b->positions[r]};
}

static void batch_open(struct batch *b, const struct kind *kind, const int *members)
{
    const struct backend_options options = {.apart = true, .threads = 1};
    memset(b, 0, sizeof *b);
    b->kind = kind;
    ck_assert_int_eq(emu_backend_create(&options, &b->be), 0);
    for (int r = 0; r < ROWS; r++)
        set_member(b, r, members[r]);
    for (int i = 0; i < STEPS; i++)
        b->lengths[i] = kind->length / STEPS;
    ck_assert_int_eq(kind->ops->layout(&b->params[0], &b->layout), 0);
    ck_assert_int_le(b->layout.axis[0].length, N_MAX);
    ck_assert_int_eq(kind->ops->create(&b->params[0], b->be, ROWS, &b->m), 0);
}

static void batch_load(struct batch *b, int r, const struct state_in *from)
{
    static const struct seed seed;
    b->st[r] = (struct row_status){.deadline = (double)INFINITY};
    ck_assert_int_eq(b->kind->ops->load(b->m, r, &b->params[r], &seed, from, &b->st[r]), 0);
    ck_assert_msg(b->st[r].outcome == ROW_RUNNING, "%s: %s", b->kind->name, b->st[r].reason);
    b->kind->set_schedule(b->m, r, b->lengths, STEPS);
}

static void batch_close(struct batch *b)
{
    b->kind->ops->destroy(b->m);
    backend_destroy(b->be);
    for (int r = 0; r < ROWS; r++)
        params_clear(&b->params[r]);
}

static void nothing_is_left(void)
{
    ck_assert_int_eq(emu_live(), 0);
    ck_assert_int_eq(mem_live(), 0);
}

static void batch_advance(struct batch *b)
{
    ck_assert_int_eq(b->kind->ops->advance(b->m, &b->control, b->st), 0);
}

static void read_plane(struct batch *b, int r, struct kept *to)
{
    struct plane_buffers out = {.array = {to->field, to->path}};
    ck_assert_int_eq(b->kind->ops->plane(b->m, r, &out), 0);
    memcpy(to->observable, out.observable, sizeof out.observable);
}

/* Read the planes that rows stand on, each twice; how many. */
static int batch_read(struct batch *b)
{
    static struct kept again;
    int read = 0;
    for (int r = 0; r < ROWS; r++) {
        if (!b->st[r].plane_ready)
            continue;
        struct kept *const to = &b->plane[r][b->st[r].plane];
        read_plane(b, r, to);
        read_plane(b, r, &again);
        ck_assert(equal_bits(again.observable, to->observable, sizeof to->observable));
        b->st[r].plane_ready = false;
        read++;
    }
    return read;
}

static bool runs(const struct batch *b)
{
    for (int r = 0; r < ROWS; r++)
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
    for (int r = 0; r < ROWS; r++)
        ck_assert_msg(b->st[r].outcome == ROW_DONE || b->st[r].outcome == ROW_EMPTY, "%s: %s",
                      b->kind->name, b->st[r].reason);
}

/* A row of two batches from plane `first` on. */
static void check_same(const struct batch *a, const struct batch *b, int row, int first)
{
    const size_t bytes = (size_t)a->layout.axis[0].length * sizeof(cplx);
    for (int p = first; p < PLANES; p++) {
        const struct kept *const got = &a->plane[row][p];
        const struct kept *const want = &b->plane[row][p];
        ck_assert_msg(equal_bits(got->field, want->field, bytes)
                          && equal_bits(got->path, want->path, sizeof got->path),
                      "%s: row %d, plane %d", a->kind->name, row, p);
        for (int i = 0; i < a->layout.observables; i++)
            ck_assert_msg(exactly(got->observable[i], want->observable[i]),
                          "%s: row %d, plane %d, observable %d: %.17g, not %.17g",
                          a->kind->name, row, p, i, got->observable[i], want->observable[i]);
        ck_assert(want->observable[0] > 0.0);
    }
    ck_assert_int_eq(a->st[row].rhs_calls, b->st[row].rhs_calls);
    ck_assert_int_eq(a->st[row].steps, b->st[row].steps);
}

static struct batch whole;
static struct batch one;
static struct batch other;

/* Two rows land beside one that goes on. */
static void open_under_way(struct batch *b, const struct kind *kind)
{
    static const int members[ROWS] = {0, 1, 2};
    batch_open(b, kind, members);
    for (int r = 0; r < ROWS; r++)
        batch_load(b, r, NULL);
    trace_begin(b->be);
    batch_advance(b);
    check_trace(kind, "FFF"); /* all at the input, nothing to go on with */
    ck_assert_int_eq(batch_read(b), ROWS);
    trace_clear();
    batch_advance(b);
}

START_TEST(planes_leave_before_the_next_trial_and_nothing_waits_between)
{
    const struct kind *const kind = &kinds[_i];
    open_under_way(&one, kind);
    /* First slopes, two trials of all; then two planes, and the trial beside. */
    check_trace(kind, "DnDnDPPn");
    ck_assert(one.st[0].plane_ready && one.st[1].plane_ready && !one.st[2].plane_ready);
    ck_assert_int_eq(one.st[2].steps, 2);
    ck_assert_int_eq(one.st[2].rhs_calls, 1 + 6 * 2);
    ck_assert_int_eq(one.st[2].transforms, kind->transforms * one.st[2].rhs_calls);
    ck_assert_int_eq(batch_read(&one), 2);
    check_trace(kind, "EE"); /* and no download: the trial is not waited for */
    atomic_store(&one.control.stop, 1);
    batch_advance(&one);
    check_trace(kind, "D"); /* its sums; no other trial */
    ck_assert_int_eq(one.st[2].steps, 3);
    ck_assert_int_eq(one.st[2].rhs_calls, 1 + 6 * 3);
    ck_assert_int_eq(one.st[0].rhs_calls, 1 + 6 * 2);
    atomic_store(&one.control.stop, 0);
    batch_advance(&one);
    check_trace(kind, "nDPn"); /* the last row lands; the others go on beside */
    trace_end(one.be);
    batch_read(&one);
    batch_finish(&one);
    batch_close(&one);
    nothing_is_left();
}
END_TEST

START_TEST(rows_beside_each_other_have_the_bits_of_rows_alone)
{
    const struct kind *const kind = &kinds[_i];
    open_under_way(&whole, kind);
    trace_end(whole.be);
    batch_read(&whole);
    batch_finish(&whole);
    for (int r = 0; r < ROWS; r++) {
        batch_open(&one, kind, (const int[ROWS]){r, r, r});
        batch_load(&one, r, NULL); /* in its place; the other rows are empty: no row goes on */
        batch_finish(&one);
        check_same(&one, &whole, r, 0);
        if (whole.layout.arrays > 1) /* the third integral along the way, that of B */
            ck_assert(whole.plane[r][2].path[2] > whole.plane[r][1].path[2]);
        batch_close(&one);
    }
    batch_close(&whole);
    nothing_is_left();
}
END_TEST

/* The row whose trial is under way is saved, and goes on from there: elsewhere, alone, and in a
 * batch where such a trial is under way too. */
START_TEST(a_row_is_saved_and_resumed_while_its_trial_is_under_way)
{
    const struct kind *const kind = &kinds[_i];
    open_under_way(&whole, kind);
    trace_end(whole.be);
    struct state_out out = {.bytes = malloc(whole.layout.state_bytes),
                            .capacity = whole.layout.state_bytes};
    ck_assert_int_eq(kind->ops->state(whole.m, 2, &out), 0);
    batch_read(&whole); /* of planes that left before */
    batch_finish(&whole);
    const struct state_in in = {out.bytes, out.length};
    batch_open(&other, kind, (const int[ROWS]){0, 1, 2});
    batch_load(&other, 2, &in);
    batch_finish(&other);
    check_same(&other, &whole, 2, 1);
    batch_close(&other);
    open_under_way(&one, kind);
    trace_end(one.be);
    batch_load(&one, 2, &in);
    batch_read(&one);
    batch_finish(&one);
    for (int r = 0; r < ROWS; r++)
        check_same(&one, &whole, r, 1);
    batch_close(&one);
    batch_close(&whole);
    free(out.bytes);
    nothing_is_left();
}
END_TEST

/* It is loaded again, before the planes beside it are read. Its input is a plane that leaves
 * while the others go on. */
START_TEST(a_row_is_loaded_again_while_its_trial_is_under_way)
{
    const struct kind *const kind = &kinds[_i];
    open_under_way(&whole, kind);
    trace_end(whole.be);
    batch_read(&whole);
    batch_finish(&whole);
    open_under_way(&one, kind);
    batch_load(&one, 2, NULL);
    batch_read(&one);
    trace_clear();
    batch_advance(&one);
    check_trace(kind, "DFn");
    trace_end(one.be);
    ck_assert_int_eq(batch_read(&one), 1);
    batch_finish(&one);
    for (int r = 0; r < ROWS; r++)
        check_same(&one, &whole, r, 0);
    batch_close(&one);
    batch_close(&whole);
    nothing_is_left();
}
END_TEST

/* With a trial under way and planes that nobody read. */
START_TEST(a_batch_goes_with_all_that_is_under_way)
{
    open_under_way(&one, &kinds[_i]);
    trace_end(one.be);
    batch_close(&one);
    nothing_is_left();
}
END_TEST

int main(void)
{
    Suite *const suite = suite_create("planes beside trials on a device");
    TCase *const tests = tcase_create("overlap");
    tcase_set_timeout(tests, 60);
    tcase_add_loop_test(tests, planes_leave_before_the_next_trial_and_nothing_waits_between, 0,
                        KINDS);
    tcase_add_loop_test(tests, rows_beside_each_other_have_the_bits_of_rows_alone, 0, KINDS);
    tcase_add_loop_test(tests, a_row_is_saved_and_resumed_while_its_trial_is_under_way, 0,
                        KINDS);
    tcase_add_loop_test(tests, a_row_is_loaded_again_while_its_trial_is_under_way, 0, KINDS);
    tcase_add_loop_test(tests, a_batch_goes_with_all_that_is_under_way, 0, KINDS);
    suite_add_tcase(suite, tests);
    return unit_main(suite);
}
