/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Members of model capillary that advance together, as on a device: against each alone on the
 * CPU where rows advance one by one, on given steps and on chosen ones; calls of some of the
 * rows; launches and copies of a trial.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/backend.h"
#include "kernels/base/mem.h"
#include "kernels/models/pulse/capillary.h"
#include "kernels/step/rk45.h"
#include "tests/exact.h"
#include "tests/kernels/backend_counts.h"
#include "tests/kernels/capillary_case.h"
#include "tests/kernels/isa.h"
#include "tests/kernels/lane.h"
#include "tests/kernels/perturbed.h"
#include "tests/perturb/near.h"
#include "tests/unit_main.h"

#define ROWS   3
#define STEPS  8
#define LENGTH 1e-3 /* m */

/* Members that fit into one batch and differ in all that a row has of its own. */
struct kind {
    const char *name;
    void (*fill)(struct capillary_case *c, int member);
    int launches, transforms; /* of a trial, without the plasma's columns */
    int columns;              /* of a trial */
    int passes;               /* of a column on a CPU; a device has them in one call */
    bool plasma;
};

/* What the model says to its stepper. */
static struct stepper_setup seen;

int __real_stepper_create(const struct stepper_setup *setup, struct stepper **out);
int __wrap_stepper_create(const struct stepper_setup *setup, struct stepper **out);

int __wrap_stepper_create(const struct stepper_setup *setup, struct stepper **out)
{
    seen = *setup;
    return __real_stepper_create(setup, out);
}

static void fill(struct capillary_case *c, int member)
{
    static const char *const gases[ROWS] = {"Ar", "Kr", "Xe"};
    capillary_case_small(c);
    capillary_case_set(c, "grid.window", 100e-15);
    capillary_case_choose(c, "kerr.response", "chi3");
    capillary_case_gas(c, gases[member]);
    capillary_case_set(c, "length", LENGTH);
    capillary_case_set(c, "pressure.constant", 1e5 * (1.0 + 0.4 * member));
    capillary_case_set(c, "pulse.energy", (60.0 + 10.0 * member) * 1e-6);
    capillary_case_set(c, "pulse.duration", (10.0 + member) * 1e-15);
}

static void fill_trapezoid(struct capillary_case *c, int member)
{
    fill(c, member);
    capillary_case_gradient(c, 2e4 * (1.0 + 0.4 * member), 5e3 * member);
    capillary_case_choose(c, "plasma.rate", "adk");
    capillary_case_choose(c, "plasma.rule", "trapezoid");
    capillary_case_set(c, "pulse.energy", (220.0 + 20.0 * member) * 1e-6);
}

/* Less energy for gases that ionise sooner: with more than some per cent of the particles
 * ionised a plasma amplifies rounding beyond the ladder. */
static void fill_band(struct capillary_case *c, int member)
{
    fill(c, member);
    capillary_case_set(c, "pressure.constant", 2e4 * (1.0 + 0.4 * member));
    capillary_case_choose(c, "kerr.third_harmonic", "false");
    capillary_case_choose(c, "plasma.rate", "ppt");
    capillary_case_choose(c, "plasma.rule", "band");
    capillary_case_set(c, "pulse.energy", (220.0 - 20.0 * member) * 1e-6);
    capillary_case_set(c, "absorber.time", 0.01 * (1 + member));
    capillary_case_set(c, "absorber.spectral", 0.01);
}

/* A gradient beside constant pressures: filters that change along the way and such that do not.
 */
static void fill_mixture(struct capillary_case *c, int member)
{
    fill(c, member);
    capillary_case_unset(c, "gas.name");
    capillary_case_set(c, "gas.Ar", 0.5 + 0.1 * member);
    capillary_case_set(c, "gas.H2", 0.5 - 0.1 * member);
    if (member == 0)
        capillary_case_gradient(c, 1e5, 5e4);
    capillary_case_choose(c, "density", "ideal");
    capillary_case_choose(c, "plasma.rate", "adk");
    capillary_case_choose(c, "plasma.rule", "band");
    capillary_case_choose(c, "raman.model", "auto");
    capillary_case_set(c, "pulse.energy", (220.0 + 20.0 * member) * 1e-6);
}

static void fill_taper(struct capillary_case *c, int member)
{
    fill(c, member);
    capillary_case_gradient(c, 1e6 * (1.0 + 0.1 * member), 0.0);
    capillary_case_choose(c, "guide.model", "marcatili");
    capillary_case_taper(c, (const double[]){0.0, LENGTH}, (const double[]){100e-6, 30e-6}, 2);
    capillary_case_set(c, "pulse.energy", 1e-7);
}

static void fill_envelope(struct capillary_case *c, int member)
{
    fill(c, member);
    capillary_case_gas(c, member == 0 ? "H2" : "N2");
    capillary_case_choose(c, "field", "envelope");
    capillary_case_choose(c, "kerr.third_harmonic", "false");
    capillary_case_choose(c, "raman.model", "on");
    if (member == 0)
        capillary_case_gradient(c, 1e5, 5e4);
    capillary_case_set(c, "absorber.time", 0.01 * (1 + member));
}

/*
 * Launches: the stepper's 7 passes and the taking of accepted rows, 5 more with more than two
 * terms; at the end of a trial the loss and the squares of the samples; and 6 times the
 * response (1 without plasma; the sum of two species' columns), lean where the density changes
 * along the way 1, without third harmonic 1, Raman 2, absorber in time 2. Columns: 6 for each
 * species. Transforms: 6 times 2, without third harmonic 1 more, absorber in time 1, Raman 2.
 */
static const struct kind kinds[] = {
    {"Kerr", fill, 7 + 1 + 2 + 6, 12, 0, 0, false},
    {"trapezoid along a gradient", fill_trapezoid, 7 + 1 + 2 + 6 * 1, 12, 6, 1, true},
    {"band, absorbers, no third harmonic", fill_band, 7 + 1 + 2 + 6 * (1 + 2), 24, 6, 3, true},
    {"two species and Raman", fill_mixture, 7 + 1 + 2 + 6 * (1 + 2 + 1), 24, 12, 3, true},
    {"full guide along a taper", fill_taper, 7 + 1 + 2 + 5 + 6 * (1 + 1), 12, 0, 0, false},
    {"envelope, Raman, absorber", fill_envelope, 7 + 1 + 2 + 6 * (1 + 2 + 2 + 1), 30, 0, 0,
     false}};
#define KINDS ((int)(sizeof kinds / sizeof kinds[0]))

/* Members of a kind: all in one batch of the backend under test, rows together, or one alone on
 * the CPU. */
struct batch {
    const struct kind *kind;
    int rows;
    int first; /* member of row 0 */
    struct capillary_case member[ROWS];
    struct backend *be;
    struct model *model;
    struct row_status st[ROWS];
    long bins;
    long bytes;        /* on the backend, before members were loaded */
    cplx *field[ROWS]; /* at the last plane */
    double path[ROWS][8];
    double observable[ROWS][OBSERVABLES_MAX];
};

static void batch_make(struct batch *b, const struct kind *kind, int first, int rows)
{
    struct plane_layout layout;
    *b = (struct batch){.kind = kind, .first = first, .rows = rows};
    for (int r = 0; r < rows; r++)
        kind->fill(&b->member[r], first + r);
    ck_assert_int_eq(capillary_ops.layout(&b->member[0].params, &layout), 0);
    b->bins = layout.axis[0].length;
}

static void batch_create(struct batch *b)
{
    ck_assert_int_eq(capillary_ops.create(&b->member[0].params, b->be, b->rows, &b->model), 0);
}

static void batch_load(struct batch *b)
{
    for (int r = 0; r < b->rows; r++) {
        b->st[r] = (struct row_status){.deadline = (double)INFINITY};
        ck_assert_int_eq(capillary_ops.load(b->model, r, &b->member[r].params,
                                            &b->member[r].seed, NULL, &b->st[r]),
                         0);
        ck_assert_msg(b->st[r].outcome == ROW_RUNNING, "%s: %s", b->kind->name,
                      b->st[r].reason);
    }
}

/* With `weak` of pulses that long steps do not break. */
static void open_together(struct batch *b, const struct kind *kind, int rows, bool weak)
{
    const struct backend_options options = lane_options(1);
    batch_make(b, kind, 0, rows);
    for (int r = 0; r < rows && weak; r++)
        capillary_case_set(&b->member[r], "pulse.energy", 1e-9);
    ck_assert_int_eq(backend_create(&options, &b->be), 0);
    b->be->apart = true;
    backend_counts_begin(b->be);
    batch_create(b);
    b->bytes = backend_counts_end(b->be).bytes;
    batch_load(b);
}

static void open_alone(struct batch *b, const struct kind *kind, int member)
{
    const struct backend_options options = {
        .name = "cpu", .isa = isa_under_test(), .threads = 1, .rigour = lane_rigour()};
    batch_make(b, kind, member, 1);
    ck_assert_int_eq(backend_create(&options, &b->be), 0);
    batch_create(b);
    batch_load(b);
}

static void batch_close(struct batch *b)
{
    capillary_ops.destroy(b->model);
    backend_destroy(b->be);
    for (int r = 0; r < b->rows; r++) {
        free(b->field[r]);
        capillary_case_clear(&b->member[r]);
    }
}

static void give_steps(struct batch *b, int count, double *lengths)
{
    for (int i = 0; i < count; i++)
        lengths[i] = LENGTH / count;
    for (int r = 0; r < b->rows; r++)
        capillary_set_schedule(b->model, r, lengths, count);
}

static void keep_plane(struct batch *b, int r)
{
    struct plane_buffers out = {.array = {b->field[r], b->path[r]}};
    if (b->field[r] == NULL)
        out.array[0] = b->field[r] = calloc((size_t)b->bins, sizeof(cplx));
    ck_assert_int_eq(capillary_ops.plane(b->model, r, &out), 0);
    memcpy(b->observable[r], out.observable, sizeof out.observable);
    b->st[r].plane_ready = false;
}

static void batch_finish(struct batch *b)
{
    struct run_control control = {0};
    for (bool running = true; running;) {
        ck_assert_int_eq(capillary_ops.advance(b->model, &control, b->st), 0);
        running = false;
        for (int r = 0; r < b->rows; r++) {
            if (b->st[r].plane_ready)
                keep_plane(b, r);
            running = running || b->st[r].outcome == ROW_RUNNING;
        }
    }
    for (int r = 0; r < b->rows; r++)
        ck_assert_msg(b->st[r].outcome == ROW_DONE, "%s: %s", b->kind->name, b->st[r].reason);
}

static double peak_of(const double *values, long count)
{
    double peak = 0.0;
    for (long i = 0; i < count; i++)
        peak = fmax(peak, fabs(values[i]));
    return peak;
}

/* Numbers of both within the ladder of eight steps, of the largest. */
static void check_ladder(const struct kind *kind, const double *got, const double *want, long n,
                         bool is_complex)
{
    struct comparison_input in = {
        .value = got, .reference = want, .n = n, .is_complex = is_complex};
    struct comparison out;
    ck_assert_int_eq(bound_steps(STEPS, peak_of(want, is_complex ? 2 * n : n), &in.atol), 0);
    ck_assert_int_eq(comparison_run(&in, &out), 0);
    ck_assert_msg(out.within, "%s: margin %g at %ld", kind->name, out.margin, out.worst);
    perturbed_check(&in, 0.0, "member in a batch");
}

/* One observable, relative. Exact where both have none. */
static void check_observable(const struct batch *together, int r, const struct batch *alone,
                             enum capillary_observable which, double tolerance)
{
    const double want = alone->observable[0][which];
    ck_assert_ratio(together->observable[r][which], want, tolerance,
                    want * (1.0 + 50.0 * tolerance), "50 tolerances more");
}

static void check_on_given_steps(const struct kind *kind)
{
    struct batch together;
    double lengths[STEPS];
    open_together(&together, kind, ROWS, false);
    give_steps(&together, STEPS, lengths);
    batch_finish(&together);
    for (int r = 0; r < ROWS; r++) {
        struct batch alone;
        open_alone(&alone, kind, r);
        give_steps(&alone, STEPS, lengths);
        batch_finish(&alone);
        ck_assert_int_eq(together.st[r].steps, STEPS);
        ck_assert_int_eq(together.st[r].rhs_calls, alone.st[0].rhs_calls);
        ck_assert_int_eq(together.st[r].transforms, alone.st[0].transforms);
        check_ladder(kind, (const double *)together.field[r], (const double *)alone.field[0],
                     alone.bins, true);
        check_ladder(kind, together.path[r], alone.path[0], 3, false);
        for (int i = 0; i < 3; i++) /* each by itself; rounding of the field, amplified */
            ck_assert_ratio(together.path[r][i], alone.path[0][i], 1e-11,
                            alone.path[0][i] * (1.0 + 5e-10), "an integral 5e-10 larger");
        check_observable(&together, r, &alone, CAPILLARY_PEAK_POWER, 1e-12);
        check_observable(&together, r, &alone, CAPILLARY_FWHM_T, 1e-11);
        check_observable(&together, r, &alone, CAPILLARY_IONISED_FRACTION, 1e-10);
        check_observable(&together, r, &alone, CAPILLARY_SATURATED, 0.0);
        ck_assert_msg((alone.observable[0][CAPILLARY_IONISED_FRACTION] > 1e-4) == kind->plasma,
                      "%s, row %d: %g", kind->name, r,
                      alone.observable[0][CAPILLARY_IONISED_FRACTION]);
        batch_close(&alone);
    }
    ck_assert(!equal_bits(together.field[0], together.field[1],
                          (size_t)together.bins * sizeof(cplx)));
    batch_close(&together);
    ck_assert_int_eq(mem_live(), 0);
}

START_TEST(a_batch_takes_given_steps_as_each_member_does_alone)
{
    check_on_given_steps(&kinds[_i]);
}
END_TEST

/* Steps of their own choice: each has the errors that its tolerance allows. */
START_TEST(a_batch_ends_where_each_member_does_alone)
{
    const struct kind *const kind = &kinds[_i];
    struct batch together;
    open_together(&together, kind, ROWS, false);
    batch_finish(&together);
    for (int r = 0; r < ROWS; r++) {
        struct batch alone;
        open_alone(&alone, kind, r);
        batch_finish(&alone);
        const double steps = (double)(together.st[r].steps + alone.st[0].steps);
        ck_assert_norm(capillary_distance(together.field[r], alone.field[0], alone.bins),
                       1e-6 * steps);
        batch_close(&alone);
    }
    batch_close(&together);
}
END_TEST

/* Launches of so many given steps, and what comes before and after them. */
static struct backend_counts counts_of(const struct kind *kind, int rows, int steps)
{
    struct batch b;
    double lengths[STEPS];
    struct run_control control = {0};
    open_together(&b, kind, rows, true);
    give_steps(&b, steps, lengths);
    ck_assert_int_eq(capillary_ops.advance(b.model, &control, b.st), 0);
    for (int r = 0; r < rows; r++)
        b.st[r].plane_ready = false;
    backend_counts_begin(b.be);
    ck_assert_int_eq(capillary_ops.advance(b.model, &control, b.st), 0);
    const struct backend_counts found = backend_counts_end(b.be);
    for (int r = 0; r < rows; r++)
        ck_assert_int_eq(b.st[r].steps, steps);
    batch_close(&b);
    return found;
}

START_TEST(a_trial_is_a_fixed_number_of_launches_and_copies_whatever_the_rows)
{
    const struct kind *const kind = &kinds[_i];
    const int passes = strcmp(lane_options(1).name, "cpu") == 0 ? kind->passes : 1;
    const int launches = kind->launches + passes * kind->columns;
    for (int rows = 1; rows <= ROWS; rows += ROWS - 1) {
        const struct backend_counts few = counts_of(kind, rows, 1);
        const struct backend_counts many = counts_of(kind, rows, 3);
        ck_assert_int_eq(many.launches - few.launches, 2 * launches);
        ck_assert_int_eq(many.transforms - few.transforms, 2 * kind->transforms);
        /* The stepper's numbers and the model's, each way. */
        ck_assert_int_eq(many.uploads - few.uploads, 2 * 2);
        ck_assert_int_eq(many.downloads - few.downloads, 2 * 2);
    }
}
END_TEST

/* Bytes that a model of so many rows has on the backend. */
static long bytes_of(const struct kind *kind, int rows)
{
    struct batch b;
    open_together(&b, kind, rows, true);
    batch_close(&b);
    return b.bytes;
}

/* By which the rows of a device are chosen: no less than a row takes there, and not twice it.
 * Tables of rates, which come with a member, are not in it. */
START_TEST(a_layout_says_what_a_row_takes_on_a_device)
{
    const struct kind *const kind = &kinds[_i];
    struct capillary_case c;
    struct plane_layout layout;
    kind->fill(&c, 0);
    ck_assert_int_eq(capillary_ops.layout(&c.params, &layout), 0);
    const double row = (double)(bytes_of(kind, ROWS) - bytes_of(kind, 1)) / (ROWS - 1);
    ck_assert_msg((double)layout.row_bytes >= row, "%s: %zu, not %g", kind->name,
                  layout.row_bytes, row);
    ck_assert_msg((double)layout.row_bytes <= 2.0 * row, "%s: %zu, not %g", kind->name,
                  layout.row_bytes, row);
    capillary_case_clear(&c);
}
END_TEST

/* Each plan of the layout is made for a row alone and for all rows; a run makes none and takes
 * no memory. */
START_TEST(a_device_has_all_its_plans_when_a_model_is_made)
{
    const struct kind *const kind = &kinds[_i];
    struct plane_layout layout;
    struct batch b;
    open_together(&b, kind, ROWS, true);
    ck_assert_int_eq(capillary_ops.layout(&b.member[0].params, &layout), 0);
    if (b.be->ops->device != NULL) {
        const struct device_counts before = *b.be->ops->device->counts(b.be);
        ck_assert_int_eq(before.plans, 2 * layout.plans);
        batch_finish(&b);
        ck_assert_int_eq(b.be->ops->device->counts(b.be)->plans, before.plans);
        ck_assert_int_eq(b.be->ops->device->counts(b.be)->allocated, before.allocated);
    }
    batch_close(&b);
}
END_TEST

/* A call of some rows, by hand: an argument of each row's own. */
struct call {
    struct batch *b;
    cplx *spectra;         /* [ROWS][ld] on the backend */
    unsigned char *active; /* [ROWS] there */
    long ld;
    cplx *out[ROWS]; /* [spectrum] N of each row after the last call */
};

static void call_open(struct call *c, struct batch *b)
{
    const struct backend_ops *ops = b->be->ops;
    const long n = seen.spectrum;
    *c = (struct call){.b = b, .ld = stepper_spectrum_stride(n)};
    ck_assert_int_eq(ops->alloc(b->be, ROWS * c->ld, sizeof(cplx), (void **)&c->spectra), 0);
    ck_assert_int_eq(ops->alloc(b->be, ROWS, 1, (void **)&c->active), 0);
    for (int r = 0; r < ROWS; r++)
        c->out[r] = calloc((size_t)n, sizeof(cplx));
}

static void call_close(struct call *c)
{
    c->b->be->ops->release(c->b->be, c->spectra);
    c->b->be->ops->release(c->b->be, c->active);
    for (int r = 0; r < ROWS; r++)
        free(c->out[r]);
}

/* Each row's state at its input, turned so that no stage has what another had. */
static void upload_argument(struct call *c, int r, double turn)
{
    const long n = seen.spectrum;
    cplx *const in = calloc((size_t)n, sizeof(cplx));
    for (long k = 0; k < c->b->bins; k++)
        in[k] = cplx_mul(c->b->field[r][k], cplx_make(cos(turn), sin(turn)));
    ck_assert_int_eq(
        c->b->be->ops->upload(c->b->be, c->spectra + r * c->ld, in, (size_t)n * sizeof(cplx)),
        0);
    free(in);
}

/* The first and the fourth stage of rows [row, row + rows) where `on`, NULL: of all. */
static void call_rows(struct call *c, long row, long rows, const bool *on)
{
    struct backend *const be = c->b->be;
    static const double dz[5] = {1e-5, 2e-5, 4e-5, 5e-5, 6e-5};
    unsigned char active[ROWS] = {0};
    double integral[5][STEP_TERMS];
    for (long r = 0; r < rows; r++)
        if (on == NULL || on[r])
            ck_assert_int_eq(seen.system.path(seen.system.model, row + r,
                                              1e-4 * (double)(row + r), dz, 5, integral),
                             0);
    for (int r = 0; r < ROWS; r++)
        active[r] = on == NULL || r < row || r >= row + rows || on[r - row];
    ck_assert_int_eq(be->ops->upload(be, c->active, active, sizeof active), 0);
    for (int stage = 1; stage <= 4; stage += 3) {
        struct step_place place[ROWS];
        for (int r = 0; r < ROWS; r++) {
            place[r] = (struct step_place){.index = stage - 1, .stage = stage};
            upload_argument(c, r, 0.3 * stage);
        }
        const struct step_call call = {.row = row,
                                       .rows = rows,
                                       .group = 1,
                                       .stage = stage,
                                       .on = on,
                                       .active = on != NULL ? c->active + row : NULL,
                                       .place = place,
                                       .spectrum = c->spectra + row * c->ld,
                                       .ld = c->ld,
                                       .st = &c->b->st[row]};
        ck_assert_int_eq(seen.system.nonlinear(seen.system.model, &call), 0);
    }
    for (int r = 0; r < ROWS; r++)
        ck_assert_int_eq(be->ops->download(be, c->out[r], c->spectra + r * c->ld,
                                           (size_t)c->b->bins * sizeof(cplx)),
                         0);
}

/* Fields of the members at their input. */
static void find_fields(struct batch *b)
{
    struct run_control control = {0};
    ck_assert_int_eq(capillary_ops.advance(b->model, &control, b->st), 0);
    for (int r = 0; r < b->rows; r++)
        keep_plane(b, r);
}

START_TEST(rows_of_a_call_have_the_bits_of_each_row_alone)
{
    static const bool some[ROWS] = {true, false, true};
    struct batch b;
    struct call c;
    cplx *alone[ROWS];
    open_together(&b, &kinds[_i], ROWS, false);
    find_fields(&b);
    call_open(&c, &b);
    const size_t bytes = (size_t)b.bins * sizeof(cplx);
    for (int r = 0; r < ROWS; r++) {
        call_rows(&c, r, 1, NULL);
        alone[r] = malloc(bytes);
        memcpy(alone[r], c.out[r], bytes);
    }
    ck_assert(!equal_bits(alone[0], alone[1], bytes));
    for (long rows = 2; rows <= ROWS; rows++)
        for (long row = 0; row + rows <= ROWS; row++)
            for (int masked = 0; masked < 2; masked++) {
                const bool *const on = masked == 1 ? some : NULL;
                call_rows(&c, row, rows, on);
                for (long r = row; r < row + rows; r++)
                    if (on == NULL || on[r - row])
                        ck_assert_msg(equal_bits(c.out[r], alone[r], bytes),
                                      "%s: row %ld of %ld from %ld", b.kind->name, r, rows,
                                      row);
            }
    for (int r = 0; r < ROWS; r++)
        free(alone[r]);
    call_close(&c);
    batch_close(&b);
}
END_TEST

int main(void)
{
    if (isa_check() != 0)
        return ISA_SKIPPED;
    Suite *const suite = suite_create("capillary batch");
    TCase *const tests = tcase_create("batch");
    tcase_set_timeout(tests, 60);
    tcase_add_loop_test(tests, a_batch_takes_given_steps_as_each_member_does_alone, 0, KINDS);
    tcase_add_loop_test(tests, a_batch_ends_where_each_member_does_alone, 0, KINDS);
    tcase_add_loop_test(
        tests, a_trial_is_a_fixed_number_of_launches_and_copies_whatever_the_rows, 0, KINDS);
    tcase_add_loop_test(tests, a_layout_says_what_a_row_takes_on_a_device, 0, KINDS);
    tcase_add_loop_test(tests, a_device_has_all_its_plans_when_a_model_is_made, 0, KINDS);
    tcase_add_loop_test(tests, rows_of_a_call_have_the_bits_of_each_row_alone, 0, KINDS);
    suite_add_tcase(suite, tests);
    return unit_main(suite);
}
