/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Observables of a plane. Where a step has led to it, samples and plasma are those of the last
 * right-hand side; a row that was resumed there has none and computes them from the spectrum.
 * Both must tell the same, the power is that of a transform of its own, and what follows from
 * the spectrum is what the definitions say.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "kernels/contract/bounds.h"
#include "kernels/models/pulse/capillary.h"
#include "kernels/numeric/host_fft.h"
#include "tests/exact.h"
#include "tests/kernels/capillary_case.h"
#include "tests/kernels/isa.h"
#include "tests/kernels/lane.h"
#include "tests/perturb/near.h"
#include "tests/perturb/record.h"
#include "tests/unit_main.h"

#define PLANES 5
#define FINE   4096
#define PI     3.14159265358979323846
#define PLANCK 6.62607015e-34 /* J s, exact in SI */

struct look {
    struct backend *be;
    struct model *here, *there; /* the run, and where its states are resumed */
    struct row_status st;
    struct plane_layout layout;
    cplx *field;
    void *state;
    double values[2][OBSERVABLES_MAX];
};

static void open_models(struct look *l, const struct capillary_case *c)
{
    const struct backend_options options = lane_options(1);
    *l = (struct look){.st = {.deadline = (double)INFINITY}};
    ck_assert_int_eq(capillary_ops.layout(&c->params, &l->layout), 0);
    ck_assert_int_eq(backend_create(&options, &l->be), 0);
    ck_assert_int_eq(capillary_ops.create(&c->params, l->be, 1, &l->here), 0);
    ck_assert_int_eq(capillary_ops.create(&c->params, l->be, 1, &l->there), 0);
    ck_assert_int_eq(capillary_ops.load(l->here, 0, &c->params, &c->seed, NULL, &l->st), 0);
    l->field = calloc((size_t)l->layout.axis[0].length, sizeof *l->field);
    l->state = calloc(1, l->layout.state_bytes);
}

static void close_models(struct look *l)
{
    free(l->field);
    free(l->state);
    capillary_ops.destroy(l->here);
    capillary_ops.destroy(l->there);
    backend_destroy(l->be);
}

static void plane_of(struct look *l, struct model *m, double *values)
{
    double path[8] = {0.0};
    struct plane_buffers buffers = {.array = {l->field, path}};
    ck_assert_int_eq(capillary_ops.plane(m, 0, &buffers), 0);
    for (int i = 0; i < l->layout.observables; i++)
        values[i] = buffers.observable[i];
}

/* max |sum of 2 a_k exp(2 pi i j k/n)|^2 by a transform of all bins. */
static double highest(const struct look *l)
{
    struct host_fft *fft = NULL;
    cplx *const signal = calloc(FINE, sizeof *signal);
    double top = 0.0;
    for (long k = 0; k < l->layout.axis[0].length; k++)
        signal[k] = cplx_scale(2.0, l->field[k]);
    ck_assert_int_eq(host_fft_create(FINE, &fft), 0);
    ck_assert_int_eq(host_fft_execute(fft, false, signal), 0);
    for (long j = 0; j < FINE; j++)
        top = fmax(top, cplx_abs2(signal[j]));
    host_fft_destroy(fft);
    free(signal);
    return top;
}

/* What follows from a spectrum by the definitions; sums in long double. */
struct moments {
    double energy, photons, mean;
    double chirp, steep; /* rad a bin; and of a line through the angles and one radian more */
};

enum line { SUM, ANGLES, PLACES, BOTH, SPREAD, SQUARES, LINE };

/* Pairs of neighbouring bins count that are stronger than 1e-8 of the strongest bin. The
 * middle of the window turns by half a period from one to the next. */
static void moments_chirp(const cplx *a, long n, double top, struct moments *out)
{
    long double s[LINE] = {0.0L};
    for (long k = 0; k < n - 1; k++) {
        const cplx turn = cplx_mul_conj(a[k], a[k + 1]);
        const double w = hypot(turn.r, turn.i);
        if (!(w > 1e-8 * top))
            continue;
        const double angle = atan2(-turn.i, -turn.r);
        const double x = (double)k + 0.5 - out->mean;
        const double squares = angle * angle + 1.0; /* rounding of a small one is not small */
        const double terms[LINE] = {w, w * angle, w * x, w * x * angle, w * x * x, w * squares};
        for (int i = 0; i < LINE; i++)
            s[i] += (long double)terms[i];
    }
    out->chirp = (double)((s[BOTH] * s[SUM] - s[PLACES] * s[ANGLES])
                          / (s[SPREAD] * s[SUM] - s[PLACES] * s[PLACES]));
    out->steep = (double)sqrtl(s[SQUARES] / s[SPREAD]);
}

static struct moments moments_of(const struct look *l, double width)
{
    const double hbar = PLANCK / (2.0 * PI);
    const double energy = 4.0 * 2.0 * PI / width; /* of a power, over the window */
    long double all = 0.0L, over = 0.0L, first = 0.0L;
    double top = 0.0;
    for (long k = 1; k < l->layout.axis[0].length; k++) {
        const double power = cplx_abs2(l->field[k]);
        all += (long double)power;
        over += (long double)(power / (double)k);
        first += (long double)(power * (double)k);
        top = fmax(top, power);
    }
    struct moments out = {.energy = energy * (double)all,
                          .photons = energy * (double)over / width / hbar,
                          .mean = (double)(first / all)};
    moments_chirp(l->field, l->layout.axis[0].length, top, &out);
    return out;
}

/* Of the row that was resumed and of the other one. */
static void check_moments(const struct look *l, const struct capillary_case *c)
{
    double *const omega = calloc((size_t)l->layout.axis[0].length, sizeof *omega);
    ck_assert_int_eq(capillary_ops.axis(&c->params, 0, omega), 0);
    const double width = omega[1];
    const struct moments want = moments_of(l, width);
    for (int i = 0; i < 2; i++) {
        const double *const got = l->values[i];
        ck_assert_rounding(got[CAPILLARY_ENERGY], want.energy, 1e-13);
        ck_assert_rounding(got[CAPILLARY_PHOTON_NUMBER], want.photons, 1e-12);
        ck_assert_rounding(got[CAPILLARY_OMEGA_MEAN], want.mean * width, 1e-13);
        ck_assert_rounding_of(got[CAPILLARY_CHIRP] * width * width, want.chirp, want.steep,
                              1e-13);
    }
    free(omega);
}

static void compare(struct look *l, const struct capillary_case *c)
{
    const double tolerance = bound(BOUND_plane_again);
    struct row_status st = {.deadline = (double)INFINITY};
    struct state_out out = {l->state, l->layout.state_bytes, 0};
    ck_assert_int_eq(capillary_ops.state(l->here, 0, &out), 0);
    const struct state_in in = {out.bytes, out.length};
    plane_of(l, l->here, l->values[0]);
    ck_assert_int_eq(capillary_ops.load(l->there, 0, &c->params, &c->seed, &in, &st), 0);
    plane_of(l, l->there, l->values[1]);
    double worst = 0.0;
    for (int i = 0; i < l->layout.observables; i++) {
        const double a = l->values[0][i];
        const double b = l->values[1][i];
        ck_assert_ratio(a, b, tolerance, b * (1.0 + 3.0 * tolerance), "three tolerances");
        worst = is_zero(b) ? worst : fmax(worst, fabs(a / b - 1.0));
    }
    perturb_record_norm("plane_again", worst, tolerance);
    check_moments(l, c);
    const double want = highest(l);
    ck_assert_ratio(l->values[0][CAPILLARY_PEAK_POWER], want, tolerance,
                    want * (1.0 + 3.0 * tolerance), "three tolerances");
}

/* Run the case, compare at each plane, return the trial steps that were rejected. */
static long long check(struct capillary_case *c)
{
    struct look l;
    struct run_control control = {0};
    int seen = 0;
    c->params.planes = (struct plane_request){PLANES_COUNT, PLANES, NULL};
    open_models(&l, c);
    while (l.st.outcome == ROW_RUNNING) {
        ck_assert_int_eq(capillary_ops.advance(l.here, &control, &l.st), 0);
        if (!l.st.plane_ready)
            continue;
        compare(&l, c);
        l.st.plane_ready = false;
        seen++;
    }
    ck_assert_msg(l.st.outcome == ROW_DONE, "%s", l.st.reason);
    ck_assert_int_eq(seen, PLANES);
    close_models(&l);
    return l.st.rejected;
}

static void small_case(struct capillary_case *c, const char *rate)
{
    capillary_case_small(c);
    capillary_case_set(c, "grid.fine", FINE);
    capillary_case_set(c, "grid.coarse", 1024);
    capillary_case_choose(c, "kerr.response", "chi3");
    capillary_case_choose(c, "plasma.rate", rate);
    capillary_case_set(c, "pulse.energy", 150e-6);
    capillary_case_set(c, "stepper.first_step", 0.1); /* too long: rejected */
}

START_TEST(a_plane_with_plasma_tells_what_a_resumed_row_computes)
{
    for (int rule = 0; rule < 2; rule++) {
        struct capillary_case c;
        small_case(&c, "adk");
        capillary_case_choose(&c, "plasma.rule", rule == 0 ? "band" : "trapezoid");
        ck_assert_int_gt((int)check(&c), 0);
        capillary_case_clear(&c);
    }
}
END_TEST

START_TEST(a_plane_without_third_harmonic_tells_what_a_resumed_row_computes)
{
    struct capillary_case c;
    small_case(&c, "adk");
    capillary_case_choose(&c, "kerr.third_harmonic", "false");
    ck_assert_int_gt((int)check(&c), 0);
    capillary_case_clear(&c);
}
END_TEST

START_TEST(a_plane_of_molecules_tells_what_a_resumed_row_computes)
{
    struct capillary_case c;
    small_case(&c, "adk");
    capillary_case_gas(&c, "H2");
    capillary_case_set(&c, "pulse.energy", 60e-6);
    capillary_case_choose(&c, "raman.model", "on");
    ck_assert_int_gt((int)check(&c), 0);
    capillary_case_clear(&c);
}
END_TEST

START_TEST(a_plane_of_an_envelope_tells_what_a_resumed_row_computes)
{
    struct capillary_case c;
    small_case(&c, "none");
    capillary_case_choose(&c, "field", "envelope");
    capillary_case_choose(&c, "kerr.third_harmonic", "false");
    capillary_case_set(&c, "pulse.duration", 30e-15);
    capillary_case_set(&c, "pulse.energy", 1e-3);
    capillary_case_set(&c, "stepper.rtol", 1e-9);
    ck_assert_int_gt((int)check(&c), 0);
    capillary_case_clear(&c);
}
END_TEST

int main(void)
{
    if (isa_check() != 0)
        return ISA_SKIPPED;
    Suite *const suite = suite_create("planes of a capillary");
    TCase *const tests = tcase_create("planes");
    tcase_set_timeout(tests, 60);
    tcase_add_test(tests, a_plane_with_plasma_tells_what_a_resumed_row_computes);
    tcase_add_test(tests, a_plane_without_third_harmonic_tells_what_a_resumed_row_computes);
    tcase_add_test(tests, a_plane_of_molecules_tells_what_a_resumed_row_computes);
    tcase_add_test(tests, a_plane_of_an_envelope_tells_what_a_resumed_row_computes);
    suite_add_tcase(suite, tests);
    return unit_main(suite);
}
