/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The right-hand side of gnlse for a call of several rows, some of them masked: each row gets
 * its own N, as its definition gives it, with one launch of each kernel for all of them. The
 * calls are made by hand, in the place of a stepper's; --wrap gives the model's functions.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/backend.h"
#include "kernels/base/mem.h"
#include "kernels/models/pulse/gnlse.h"
#include "kernels/models/pulse/linear.h"
#include "kernels/step/rk45.h"
#include "tests/exact.h"
#include "tests/kernels/backend_counts.h"
#include "tests/kernels/gnlse_case.h"
#include "tests/kernels/isa.h"
#include "tests/kernels/lane.h"
#include "tests/kernels/perturbed.h"
#include "tests/unit_main.h"

#define N    60 /* strides of complex, real and half rows differ */
#define ROWS 4

/* What the model says to its stepper. */
static struct step_system seen;

int __real_stepper_create(const struct stepper_setup *setup, struct stepper **out);
int __wrap_stepper_create(const struct stepper_setup *setup, struct stepper **out);

int __wrap_stepper_create(const struct stepper_setup *setup, struct stepper **out)
{
    seen = setup->system;
    return __real_stepper_create(setup, out);
}

struct kind {
    bool raman, absorber;
    int transforms, passes; /* of a right-hand side (docs/performance.md) */
};

static const struct kind kinds[] = {
    {false, false, 2, 1}, {true, false, 4, 3}, {false, true, 3, 3}, {true, true, 5, 5}};

#define KINDS ((int)(sizeof kinds / sizeof kinds[0]))

/* What the last call asked for. */
static struct backend_counts asked;

/* A model of ROWS members that differ in all that a row has of its own. */
struct bench {
    const struct kind *kind;
    struct gnlse_case member[ROWS];
    struct gnlse_point point[ROWS];
    struct backend *be;
    struct model *model;
    long ld;
    cplx *spectra;         /* [ROWS][ld] on the backend */
    unsigned char *active; /* [ROWS] there */
    struct row_status st[ROWS];
};

static void fill_member(struct gnlse_case *c, const struct kind *kind, int member)
{
    case_init(c);
    case_set(c, "grid.points", N);
    case_set(c, "self_steepening", 1.0);
    case_set(c, "gamma", 0.1 * (1 + member));
    case_set(c, "pulse.peak_power", 100.0);
    if (kind->raman) {
        case_raman(c);
        case_set(c, "raman.fraction", 0.18 + 0.1 * member);
        case_set(c, "raman.tau2", (32.0 + 5.0 * member) * 1e-15);
        case_set(c, "grid.window", 1e-12);
    }
    if (kind->absorber) {
        case_set(c, "absorber.edge", 0.2);
        case_set(c, "absorber.length", 0.01 * (1 + member));
    }
}

static void bench_open(struct bench *b, const struct kind *kind)
{
    *b = (struct bench){.kind = kind, .ld = stepper_spectrum_stride(N)};
    const struct backend_options options = lane_options(1);
    ck_assert_int_eq(backend_create(&options, &b->be), 0);
    for (int r = 0; r < ROWS; r++) {
        fill_member(&b->member[r], kind, r);
        ck_assert_int_eq(gnlse_point_read(&b->member[r].params, &b->point[r]), 0);
    }
    ck_assert_int_eq(gnlse_ops.create(&b->member[0].params, b->be, ROWS, &b->model), 0);
    for (int r = 0; r < ROWS; r++)
        ck_assert_int_eq(gnlse_ops.load(b->model, r, &b->member[r].params, &b->member[r].seed,
                                        NULL, &b->st[r]),
                         0);
    const struct backend_ops *ops = b->be->ops;
    ck_assert_int_eq(ops->alloc(b->be, ROWS * b->ld, sizeof(cplx), (void **)&b->spectra), 0);
    ck_assert_int_eq(ops->alloc(b->be, ROWS, 1, (void **)&b->active), 0);
}

static void bench_close(struct bench *b)
{
    b->be->ops->release(b->be, b->spectra);
    b->be->ops->release(b->be, b->active);
    gnlse_ops.destroy(b->model);
    backend_destroy(b->be);
    for (int r = 0; r < ROWS; r++)
        case_clear(&b->member[r]);
    ck_assert_int_eq(mem_live(), 0);
}

/* A spectrum, another for each row. */
static cplx argument(int row, long k)
{
    const double angle = 0.37 * (double)(k * k) + row;
    const double size = (1.0 + row) * (0.6 + 0.4 * cos(0.2 * (double)k + row));
    return cplx_make(size * cos(angle), size * sin(angle));
}

/* R(t): the instantaneous part, and the response of Blow and Wood over half the window. */
static void response_of(const struct bench *b, int row, const cplx *samples, double *out)
{
    const struct gnlse_point *p = &b->point[row];
    const double share = b->kind->raman ? p->fraction : 0.0;
    const double front =
        (p->tau1 * p->tau1 + p->tau2 * p->tau2) / (p->tau1 * p->tau2 * p->tau2);
    for (long j = 0; j < N; j++) {
        out[j] = (1.0 - share) * cplx_abs2(samples[j]);
        for (long m = 0; share > 0.0 && m < N / 2; m++) {
            const double t = (double)m * p->dt;
            out[j] += share * p->dt * front * exp(-t / p->tau2) * sin(t / p->tau1)
                      * cplx_abs2(samples[(j - m + N) % N]);
        }
    }
}

/* N of a row by its definition, [N]. */
static void reference(const struct bench *b, int row, cplx *out)
{
    cplx in[N];
    double response[N];
    double edge[N];
    cplx pre[N];
    for (long k = 0; k < N; k++)
        in[k] = argument(row, k);
    cplx *const samples = case_samples(in, N);
    cplx driven[N];
    cplx lost[N];
    response_of(b, row, samples, response);
    pulse_linear_edge(&b->point[row], edge);
    pulse_linear_prefactor(&b->point[row], pre);
    for (long j = 0; j < N; j++) {
        driven[j] = cplx_scale((double)N * response[j], samples[j]);
        lost[j] = cplx_scale((double)N * edge[j], samples[j]);
    }
    cplx *const term = case_spectrum(driven, N);
    cplx *const loss = case_spectrum(lost, N);
    for (long k = 0; k < N; k++)
        out[k] = b->kind->absorber ? cplx_add(cplx_mul(pre[k], term[k]), loss[k]) : term[k];
    free(samples);
    free(term);
    free(loss);
}

/* N of rows [row, row + rows) where `on`, NULL: of all, into out[ROWS][N]. */
static void call_rows(struct bench *b, long row, long rows, const bool *on, cplx out[ROWS][N])
{
    const struct backend_ops *ops = b->be->ops;
    unsigned char active[ROWS] = {0};
    struct step_place place[ROWS] = {{0.0, -1, 1}};
    for (int r = 0; r < ROWS; r++) {
        cplx in[N];
        for (long k = 0; k < N; k++)
            in[k] = argument(r, k);
        ck_assert_int_eq(ops->upload(b->be, b->spectra + r * b->ld, in, sizeof in), 0);
        active[r] = on == NULL || r < row || r >= row + rows || on[r - row];
    }
    ck_assert_int_eq(ops->upload(b->be, b->active, active, sizeof active), 0);
    const struct step_call call = {.row = row,
                                   .rows = rows,
                                   .group = 1,
                                   .stage = 1,
                                   .on = on,
                                   .active = on != NULL ? b->active + row : NULL,
                                   .place = place,
                                   .spectrum = b->spectra + row * b->ld,
                                   .ld = b->ld,
                                   .st = &b->st[row]};
    memset(b->st, 0, sizeof b->st);
    backend_counts_begin(b->be);
    ck_assert_int_eq(seen.nonlinear(seen.model, &call), 0);
    asked = backend_counts_end(b->be);
    for (int r = 0; r < ROWS; r++)
        ck_assert_int_eq(ops->download(b->be, out[r], b->spectra + r * b->ld, sizeof out[r]),
                         0);
}

static bool takes_part(long row, long rows, const bool *on, int r)
{
    return r >= row && r < row + rows && (on == NULL || on[r - row]);
}

/* Against the definition; rows outside of the call are as they were. */
static void check_values(const struct bench *b, long row, long rows, const bool *on,
                         cplx out[ROWS][N])
{
    double limit;
    ck_assert_int_eq(bound_fft(N, &limit), 0);
    for (int r = 0; r < ROWS; r++) {
        cplx want[N];
        reference(b, r, want);
        const struct comparison_input in = {.value = (const double *)out[r],
                                            .reference = (const double *)want,
                                            .n = N,
                                            .is_complex = true};
        struct comparison found;
        if (takes_part(row, rows, on, r)) {
            ck_assert_int_eq(comparison_norm(&in, 2.0 * limit, &found), 0);
            ck_assert_msg(found.within, "row %d: margin %g", r, found.margin);
            perturbed_check(&in, 2.0 * limit, "transform");
        } else if (r < row || r >= row + rows) {
            for (long k = 0; k < N; k++)
                ck_assert(exactly(out[r][k].r, argument(r, k).r)
                          && exactly(out[r][k].i, argument(r, k).i));
        }
    }
}

static void check_counts(const struct bench *b, long row, long rows, const bool *on)
{
    ck_assert_int_eq(asked.launches, b->kind->passes);
    ck_assert_int_eq(asked.transforms, b->kind->transforms);
    for (int r = 0; r < ROWS; r++) {
        const bool in = takes_part(row, rows, on, r);
        ck_assert_int_eq(b->st[r].passes, in ? b->kind->passes : 0);
        ck_assert_int_eq(b->st[r].transforms, in ? b->kind->transforms : 0);
    }
}

START_TEST(rows_of_a_call_get_their_own_n_by_one_launch_of_each_kernel)
{
    static const bool some[ROWS] = {true, false, true, true};
    static cplx out[ROWS][N];
    for (int k = 0; k < KINDS; k++) {
        struct bench b;
        bench_open(&b, &kinds[k]);
        for (long rows = 1; rows <= 3; rows++)
            for (long row = 0; row + rows <= ROWS; row++)
                for (int masked = 0; masked < 2; masked++) {
                    const bool *const on = masked == 1 ? some : NULL;
                    call_rows(&b, row, rows, on, out);
                    check_values(&b, row, rows, on, out);
                    check_counts(&b, row, rows, on);
                }
        bench_close(&b);
    }
}
END_TEST

/* The same bits on this backend, whoever else in the call is masked: its transforms are those
 * of the same rows. (Those of fewer rows may be another plan of the library.) */
START_TEST(a_row_has_the_same_bits_whatever_rows_beside_it_are_masked)
{
    static const bool masks[][ROWS] = {
        {true, true, false, true}, {false, true, true, false}, {true, false, false, true}};
    static cplx all[ROWS][N];
    static cplx out[ROWS][N];
    for (int k = 0; k < KINDS; k++) {
        struct bench b;
        bench_open(&b, &kinds[k]);
        call_rows(&b, 0, ROWS, NULL, all);
        for (size_t m = 0; m < sizeof masks / sizeof masks[0]; m++) {
            call_rows(&b, 0, ROWS, masks[m], out);
            for (int r = 0; r < ROWS; r++)
                if (masks[m][r])
                    ck_assert(equal_bits(out[r], all[r], sizeof all[r]));
        }
        ck_assert(!equal_bits(all[0], all[1], sizeof all[0]));
        bench_close(&b);
    }
}
END_TEST

int main(void)
{
    if (isa_check() != 0)
        return ISA_SKIPPED;
    Suite *const suite = suite_create("gnlse calls");
    TCase *const tests = tcase_create("calls");
    tcase_set_timeout(tests, 30);
    tcase_add_test(tests, rows_of_a_call_get_their_own_n_by_one_launch_of_each_kernel);
    tcase_add_test(tests, a_row_has_the_same_bits_whatever_rows_beside_it_are_masked);
    suite_add_tcase(suite, tests);
    return unit_main(suite);
}
