/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/emu/overlap_case.h"

#include <math.h>
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

#define TRACE 256

/* Planes of each row, of the length: all begin on one; later the first rows stand on one while
 * the last goes on. */
static const double places[ROWS][PLANES] = {{0.0, 0.4, 1.0}, {0.0, 0.4, 0.8}, {0.0, 0.8, 1.0}};

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
const struct kind kinds[KINDS] = {
    {"gnlse", &gnlse_ops, fill_gnlse, gnlse_set_schedule, 0.05, 2, 1, 2, 2},
    {"Kerr", &capillary_ops, fill_kerr, capillary_set_schedule, 1e-3, 2, 2, 3, 3},
    {"trapezoid along a gradient", &capillary_ops, fill_trapezoid, capillary_set_schedule, 1e-3,
     2, 2, 3, 4},
    {"two species, Raman, absorbers, no third harmonic", &capillary_ops, fill_mixture,
     capillary_set_schedule, 1e-3, 6, 2, 3, 5},
    {"envelope, Raman, absorber", &capillary_ops, fill_envelope, capillary_set_schedule, 1e-3,
     5, 2, 2, 2}};

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

void trace_clear(void)
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

long work_of(struct backend *be)
{
    const struct device_counts *const counts = be->ops->device->counts(be);
    return (long)(counts->launches + counts->transforms);
}

long work_at_trial(void)
{
    return entered;
}

static int entry(struct backend *be, const struct stage_entry_args *args, long row, long rows,
                 long n)
{
    note('n');
    entered = work_of(be);
    return kernels->stage_entry_loss(be, args, row, rows, n);
}

static int entry_two(struct backend *be, const struct stage_entry_args *args, long row,
                     long rows, long n)
{
    note('n');
    entered = work_of(be);
    return kernels->stage_entry_loss_two(be, args, row, rows, n);
}

void trace_begin(struct backend *be)
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

void trace_end(struct backend *be)
{
    be->ops = ops;
    be->kernels = kernels;
}

void check_trace(const struct kind *kind, const char *script)
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

static void set_member(struct batch *b, int r, int member)
{
    const struct model_info *const info = b->kind->ops->info;
    ck_assert_int_eq(params_init(&b->params[r], info->params, info->param_count), 0);
    b->kind->fill(&b->params[r], member);
    for (int p = 0; p < PLANES; p++)
        b->positions[r][p] = places[member][p] * b->kind->length;
    b->params[r].planes = (struct plane_request){PLANES_LIST, PLANES, b->positions[r]};
}

void batch_open(struct batch *b, const struct kind *kind, const int *members)
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

void batch_load(struct batch *b, int r, const struct state_in *from)
{
    static const struct seed seed;
    b->st[r] = (struct row_status){.deadline = (double)INFINITY};
    ck_assert_int_eq(b->kind->ops->load(b->m, r, &b->params[r], &seed, from, &b->st[r]), 0);
    ck_assert_msg(b->st[r].outcome == ROW_RUNNING, "%s: %s", b->kind->name, b->st[r].reason);
    b->kind->set_schedule(b->m, r, b->lengths, STEPS);
}

void batch_close(struct batch *b)
{
    b->kind->ops->destroy(b->m);
    backend_destroy(b->be);
    for (int r = 0; r < ROWS; r++)
        params_clear(&b->params[r]);
}

void nothing_is_left(void)
{
    ck_assert_int_eq(emu_live(), 0);
    ck_assert_int_eq(mem_live(), 0);
}

void batch_advance(struct batch *b)
{
    ck_assert_int_eq(b->kind->ops->advance(b->m, &b->control, b->st), 0);
}

static void read_plane(struct batch *b, int r, struct kept *to)
{
    struct plane_buffers out = {.array = {to->field, to->path}};
    ck_assert_int_eq(b->kind->ops->plane(b->m, r, &out), 0);
    memcpy(to->observable, out.observable, sizeof out.observable);
}

int batch_read(struct batch *b)
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

bool batch_runs(const struct batch *b)
{
    for (int r = 0; r < ROWS; r++)
        if (b->st[r].outcome == ROW_RUNNING)
            return true;
    return false;
}

void batch_finish(struct batch *b)
{
    for (int calls = 0; batch_runs(b); calls++) {
        ck_assert_int_lt(calls, 50);
        batch_advance(b);
        batch_read(b);
    }
    for (int r = 0; r < ROWS; r++)
        ck_assert_msg(b->st[r].outcome == ROW_DONE || b->st[r].outcome == ROW_EMPTY, "%s: %s",
                      b->kind->name, b->st[r].reason);
}

void check_same(const struct batch *a, const struct batch *b, int row, int first)
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

void open_loaded(struct batch *b, const struct kind *kind)
{
    static const int members[ROWS] = {0, 1, 2};
    batch_open(b, kind, members);
    for (int r = 0; r < ROWS; r++)
        batch_load(b, r, NULL);
    trace_begin(b->be);
    batch_advance(b);
    check_trace(kind, "FFF"); /* all at the input, nothing to go on with */
    ck_assert_int_eq(batch_read(b), ROWS);
    trace_end(b->be);
}

void open_under_way(struct batch *b, const struct kind *kind)
{
    open_loaded(b, kind);
    trace_begin(b->be);
    batch_advance(b);
}
