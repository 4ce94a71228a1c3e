/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include <check.h>
#include <fftw3-mpi.h>
#include <mpi.h>

#include "kernels/base/log.h"
#include "kernels/base/mem.h"
#include "kernels/base/status.h"
#include "kernels/contract/contract.h"
#include "tests/kernels/group_case.h"
#include "tests/mpi_main.h"
#include "tests/perturb/record.h"

enum { MOST = 2 * 16 * 10 * 9 }; /* doubles of the largest array */

static int rank;
static int size;
static int code_before_mpi;

/* Divisible and not, few planes (fewer than ranks), one plane, one point, prime, odd last axis.
 */
static const long sizes[][3] = {{12, 10, 8}, {7, 5, 6}, {2, 3, 4}, {1, 6, 5}, {16, 10, 9},
                                {5, 1, 7},   {4, 4, 1}, {3, 2, 2}, {1, 1, 2}};
enum { SIZES = sizeof sizes / sizeof sizes[0] };

static const enum fft_kind kinds[] = {FFT_C2C_FORWARD, FFT_C2C_BACKWARD, FFT_R2C, FFT_C2R};
enum { KINDS = sizeof kinds / sizeof kinds[0] };

/* Findings of a test, which asserts when its MPI calls are over. */
struct findings {
    int failed;
    char first[200];
};

static void find(struct findings *f, bool ok, const struct group_case *c, const char *what,
                 double value)
{
    if (!ok && f->failed++ == 0)
        snprintf(f->first, sizeof f->first, "%s: %ld x %ld x %ld, kind %d, rigour %d: %g", what,
                 c->n[0], c->n[1], c->n[2], (int)c->kind, (int)c->rigour, value);
}

static void assert_none(const struct findings *f)
{
    ck_assert_msg(f->failed == 0, "%d findings, first: %s", f->failed, f->first);
    ck_assert_int_eq(mem_live(), 0);
}

static struct group_case case_make(int s, enum fft_kind kind, enum fft_rigour rigour)
{
    return (struct group_case){.comm = MPI_COMM_WORLD,
                               .kind = kind,
                               .n = {sizes[s][0], sizes[s][1], sizes[s][2]},
                               .rigour = rigour};
}

/* Class R: one bound, 512 eps ceil(log2 n) of the norm. */
static struct comparison compared(const struct group_case *c, const double *value,
                                  const double *reference, long doubles)
{
    struct comparison result = {.margin = (double)INFINITY};
    double limit = 0.0;
    const struct comparison_input in = {.value = value, .reference = reference, .n = doubles};
    if (bound_fft(case_points(c), &limit) != 0 || comparison_norm(&in, limit, &result) != 0)
        result.within = false;
    return result;
}

static void find_within(struct findings *f, const struct group_case *c, const char *what,
                        const double *value, const double *reference, long doubles)
{
    const struct comparison result = compared(c, value, reference, doubles);
    find(f, contract_judge(&result) == VERDICT_WITHIN, c, what, result.margin);
}

static void find_transform(struct findings *f, const struct group_case *c, const double *in,
                           double *out)
{
    bool kept;
    const int rc = case_transform(c, in, out, &kept);
    find(f, rc == 0, c, "code", rc);
    find(f, kept || c->kind == FFT_C2R, c, "input changed", 0.0);
}

static void find_as_on_one_rank(struct findings *f, const struct group_case *c)
{
    static double in[MOST];
    static double out[MOST];
    static double reference[MOST];
    case_fill(in, case_doubles_in(c));
    find_transform(f, c, in, out);
    find(f, case_reference(c, in, reference) == 0, c, "reference", 0.0);
    find_within(f, c, "differs from one rank", out, reference, case_doubles_out(c));
}

START_TEST(every_kind_and_size_agrees_with_the_transform_on_one_rank)
{
    struct findings f = {0};
    for (int s = 0; s < SIZES; s++)
        for (int k = 0; k < KINDS; k++) {
            const struct group_case c = case_make(s, kinds[k], FFT_ESTIMATE);
            find_as_on_one_rank(&f, &c);
        }
    assert_none(&f);
}
END_TEST

START_TEST(measured_plans_agree_with_the_transform_on_one_rank)
{
    struct findings f = {0};
    for (int k = 0; k < KINDS; k++) {
        const struct group_case c = case_make(1, kinds[k], FFT_MEASURE);
        find_as_on_one_rank(&f, &c);
    }
    assert_none(&f);
}
END_TEST

/* Wave numbers that no symmetry of the transform maps onto themselves, where the size allows.
 */
static void wave_numbers(const struct group_case *c, long m[3])
{
    m[0] = (c->n[0] - 1) / 3;
    m[1] = c->n[1] - 1;
    m[2] = c->n[2] / 3;
}

static void find_plane_wave(struct findings *f, struct group_case *c, enum fft_kind forward,
                            enum fft_kind backward)
{
    static double wave[MOST];
    static double spike[MOST];
    static double out[MOST];
    long m[3];
    wave_numbers(c, m);
    c->kind = forward;
    case_plane_wave(c, m, wave);
    case_spike(c, m, spike);
    find_transform(f, c, wave, out);
    find_within(f, c, "plane wave gives no spike", out, spike, case_doubles_out(c));
    c->kind = backward;
    find_transform(f, c, spike, out);
    for (long d = 0; d < case_doubles_out(c); d++)
        out[d] /= (double)case_points(c);
    find_within(f, c, "spike gives no plane wave", out, wave, case_doubles_out(c));
}

START_TEST(a_plane_wave_gives_one_spike_and_the_spike_the_wave)
{
    struct findings f = {0};
    for (int s = 0; s < SIZES; s++) {
        struct group_case c = case_make(s, FFT_C2C_FORWARD, FFT_ESTIMATE);
        find_plane_wave(&f, &c, FFT_C2C_FORWARD, FFT_C2C_BACKWARD);
        find_plane_wave(&f, &c, FFT_R2C, FFT_C2R);
    }
    assert_none(&f);
}
END_TEST

static double sum_squares(const double *values, long count)
{
    double sum = 0.0;
    for (long d = 0; d < count; d++)
        sum += values[d] * values[d];
    return sum;
}

/* sum |X|^2 = n sum |x|^2. The norm of X is right to b, so its square to 2 b + b^2; both sums
 * have at most 2 n terms of one product. */
static void find_parseval(struct findings *f, const struct group_case *c)
{
    static double in[MOST];
    static double out[MOST];
    const long doubles = case_doubles_in(c);
    const double points = (double)case_points(c);
    double b = 0.0;
    double g = 1.0;
    case_fill(in, doubles);
    find_transform(f, c, in, out);
    find(f, bound_fft(case_points(c), &b) == 0, c, "bound", 0.0);
    find(f, bound_gamma(2.0 * points + 1.0, PRECISION_F64, &g) == 0, c, "gamma", 0.0);
    const double ratio = sum_squares(out, doubles) / (points * sum_squares(in, doubles));
    find(f, fabs(ratio - 1.0) <= 2.0 * b + b * b + 2.0 * g, c, "energy differs", ratio - 1.0);
}

START_TEST(energy_is_that_of_parsevals_theorem)
{
    struct findings f = {0};
    for (int s = 0; s < SIZES; s++)
        for (int k = 0; k < 2; k++) {
            const struct group_case c = case_make(s, kinds[k], FFT_ESTIMATE);
            find_parseval(&f, &c);
        }
    assert_none(&f);
}
END_TEST

static void find_round_trip(struct findings *f, struct group_case *c, enum fft_kind there,
                            enum fft_kind back)
{
    static double in[MOST];
    static double middle[MOST];
    static double out[MOST];
    c->kind = there;
    const long doubles = case_doubles_in(c);
    case_fill(in, doubles);
    find_transform(f, c, in, middle);
    c->kind = back;
    find_transform(f, c, middle, out);
    for (long d = 0; d < doubles; d++)
        out[d] /= (double)case_points(c);
    find_within(f, c, "round trip", out, in, doubles);
}

START_TEST(a_round_trip_returns_the_input)
{
    struct findings f = {0};
    for (int s = 0; s < SIZES; s++) {
        struct group_case c = case_make(s, FFT_C2C_FORWARD, FFT_ESTIMATE);
        find_round_trip(&f, &c, FFT_C2C_FORWARD, FFT_C2C_BACKWARD);
        find_round_trip(&f, &c, FFT_C2C_BACKWARD, FFT_C2C_FORWARD);
        find_round_trip(&f, &c, FFT_R2C, FFT_C2R);
    }
    assert_none(&f);
}
END_TEST

/* The reals as a complex array; of its spectrum, the half that r2c keeps. */
static void find_real_as_complex(struct findings *f, int s)
{
    static double in[MOST];
    static double both[MOST];
    static double whole[MOST];
    static double kept[MOST];
    static double out[MOST];
    const struct group_case real = case_make(s, FFT_R2C, FFT_ESTIMATE);
    const struct group_case full = case_make(s, FFT_C2C_FORWARD, FFT_ESTIMATE);
    const long n2 = real.n[2];
    const long half = n2 / 2 + 1;
    case_fill(in, case_doubles_in(&real));
    for (long p = 0; p < case_points(&real); p++) {
        both[2 * p] = in[p];
        both[2 * p + 1] = 0.0;
    }
    find_transform(f, &real, in, out);
    find_transform(f, &full, both, whole);
    for (long r = 0; r < real.n[0] * real.n[1]; r++)
        memcpy(kept + 2 * r * half, whole + 2 * r * n2, 2 * (size_t)half * sizeof *kept);
    find_within(f, &real, "r2c is not half of c2c", out, kept, case_doubles_out(&real));
}

START_TEST(the_spectrum_of_reals_is_half_of_the_complex_one)
{
    struct findings f = {0};
    for (int s = 0; s < SIZES; s++)
        find_real_as_complex(&f, s);
    assert_none(&f);
}
END_TEST

/* What a wrong layout or transform would give, from the right result of n0 = n1 = 6. */
enum wrong { AXES_SWAPPED, SIGN_FLIPPED, PLANES_SHIFTED, CONJUGATED, BIN_DROPPED, A_BIT_OFF };
static const enum wrong wrongs[] = {AXES_SWAPPED, SIGN_FLIPPED, PLANES_SHIFTED,
                                    CONJUGATED,   BIN_DROPPED,  A_BIT_OFF};
enum { WRONGS = sizeof wrongs / sizeof wrongs[0] };

static void disturb(enum wrong how, const double *right, const double *backward, double *value)
{
    enum { N = 6, ROW = 2 * 5, PLANE = N * ROW, ALL = N * PLANE };
    memcpy(value, how == SIGN_FLIPPED ? backward : right, ALL * sizeof *value);
    switch (how) {
    case AXES_SWAPPED:
        for (long i = 0; i < N; i++)
            for (long j = 0; j < N; j++)
                memcpy(value + j * PLANE + i * ROW, right + i * PLANE + j * ROW,
                       ROW * sizeof *value);
        break;
    case PLANES_SHIFTED: /* a slab whose offset is one too large */
        memcpy(value + PLANE, right, (ALL - PLANE) * sizeof *value);
        memcpy(value, right + ALL - PLANE, PLANE * sizeof *value);
        break;
    case CONJUGATED:
        for (long d = 1; d < ALL; d += 2)
            value[d] = -value[d];
        break;
    case BIN_DROPPED:
        value[2 * PLANE + ROW] = 0.0;
        break;
    case A_BIT_OFF:
        for (long d = 0; d < ALL; d++)
            value[d] *= 1.0 + 1e-9;
        break;
    case SIGN_FLIPPED:
        break;
    }
}

START_TEST(swapped_axes_a_wrong_sign_and_other_faults_are_seen)
{
    struct findings f = {0};
    static double in[MOST];
    static double right[MOST];
    static double backward[MOST];
    static double reference[MOST];
    static double value[MOST];
    struct group_case c = {.comm = MPI_COMM_WORLD, .n = {6, 6, 5}, .kind = FFT_C2C_BACKWARD};
    const long doubles = case_doubles_out(&c);
    case_fill(in, doubles);
    find_transform(&f, &c, in, backward);
    c.kind = FFT_C2C_FORWARD;
    find_transform(&f, &c, in, right);
    find(&f, case_reference(&c, in, reference) == 0, &c, "reference", 0.0);
    find_within(&f, &c, "undisturbed", right, reference, doubles);
    for (int w = 0; w < WRONGS; w++) {
        disturb(wrongs[w], right, backward, value);
        const struct comparison result = compared(&c, value, reference, doubles);
        find(&f, contract_judge(&result) == VERDICT_OUTSIDE, &c, "fault not seen", w);
    }
    if (rank == 0 && f.failed == 0)
        perturb_record("distributed transform", 1e-9, 0.0);
    assert_none(&f);
}
END_TEST

START_TEST(spans_are_whole_contiguous_and_even)
{
    for (long planes = 1; planes <= 20; planes++)
        for (int ranks = 1; ranks <= 7; ranks++) {
            struct group_span span[7];
            ck_assert_int_eq(group_spans(planes, ranks, span), 0);
            long next = 0;
            for (int r = 0; r < ranks; r++) {
                ck_assert_int_eq(span[r].offset, next);
                ck_assert(span[r].count >= 0 && span[r].count <= (planes + ranks - 1) / ranks);
                ck_assert(r == 0 || span[r].count <= span[r - 1].count);
                next += span[r].count;
            }
            ck_assert_int_eq(next, planes);
        }
}
END_TEST

START_TEST(layout_names_padded_reals_and_room_for_each_span)
{
    struct findings f = {0};
    for (int s = 0; s < SIZES; s++) {
        const struct group_case c = case_make(s, FFT_R2C, FFT_ESTIMATE);
        const struct group_options options = {.communicator = MPI_Comm_c2f(c.comm),
                                              .kind = c.kind,
                                              .n = {c.n[0], c.n[1], c.n[2]}};
        struct group_fft *plan;
        const int rc = group_fft_create(&options, &plan);
        find(&f, rc == 0, &c, "code", rc);
        if (rc != 0)
            continue;
        const struct group_layout *l = group_fft_layout(plan);
        const long half = c.n[2] / 2 + 1;
        const long count = l->span[rank].count;
        find(&f, l->ranks == size && l->rank == rank, &c, "rank", l->rank);
        find(&f, l->in.n[2] == c.n[2] && l->in.row == 2 * half, &c, "row", (double)l->in.row);
        find(&f, l->out.n[2] == half && l->out.row == half, &c, "row", (double)l->out.row);
        find(&f, l->capacity >= 1 && l->capacity >= count * c.n[1] * half, &c, "capacity",
             (double)l->capacity);
        group_fft_destroy(plan);
    }
    assert_none(&f);
}
END_TEST

START_TEST(a_part_of_the_ranks_in_another_order_is_a_group_too)
{
    struct findings f = {0};
    struct group_case c = case_make(0, FFT_C2C_FORWARD, FFT_ESTIMATE);
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &c.comm);
    c.n[0] += rank % 2; /* groups at work side by side, on different sizes */
    find_as_on_one_rank(&f, &c);
    MPI_Comm_free(&c.comm);
    assert_none(&f);
}
END_TEST

static struct group_options good_options(void)
{
    return (struct group_options){
        .communicator = MPI_Comm_c2f(MPI_COMM_WORLD), .kind = FFT_C2C_FORWARD, .n = {4, 3, 2}};
}

/* Create what must be refused: code and text. */
static int refused(const struct group_options *options, char text[300])
{
    struct group_fft *plan;
    text[0] = '\0';
    status_capture(text, 300);
    const int rc = group_fft_create(options, &plan);
    status_capture(NULL, 0);
    group_fft_destroy(plan);
    return rc;
}

static void find_refused(struct findings *f, const struct group_options *o, int code,
                         const char *words)
{
    char text[300];
    const struct group_case c = {.n = {o->n[0], o->n[1], o->n[2]}, .kind = o->kind};
    const int rc = refused(o, text);
    find(f, rc == code, &c, words, rc);
    find(f, strstr(text, words) != NULL, &c, text, 0.0);
}

START_TEST(what_cannot_be_transformed_is_refused_by_name)
{
    struct findings f = {0};
    for (int axis = 0; axis < 3; axis++) {
        struct group_options o = good_options();
        o.n[axis] = -axis;
        find_refused(&f, &o, ERR_ARGUMENT, "at least 1");
    }
    struct group_options o = good_options();
    o.communicator = MPI_Comm_c2f(MPI_COMM_NULL);
    find_refused(&f, &o, ERR_ARGUMENT, "communicator of a group is null");
    o = good_options();
    o.kind = (enum fft_kind)9;
    find_refused(&f, &o, ERR_ARGUMENT, "kind of transform 9");
    o = good_options();
    o.rigour = (enum fft_rigour)7;
    find_refused(&f, &o, ERR_ARGUMENT, "FFT rigour 7");
    o = good_options();
    o.n[1] = o.n[2] = 1;
    find_refused(&f, &o, ERR_UNSUPPORTED, "4 x 1 x 1 points are a line");
    o = good_options();
    o.n[0] = o.n[1] = 1L << 31; /* 2^62 planes of rows wrap around in bytes */
    find_refused(&f, &o, ERR_ARGUMENT, "address space");
    o = good_options();
    o.n[2] = LONG_MAX;
    o.kind = FFT_R2C;
    find_refused(&f, &o, ERR_ARGUMENT, "address space");
    ck_assert_int_eq(code_before_mpi, ERR_ARGUMENT);
    assert_none(&f);
}
END_TEST

START_TEST(a_slab_beyond_mpis_counts_is_refused_before_memory_is_taken)
{
    struct findings f = {0};
    struct group_options o = good_options();
    o.n[0] = 2L * size;
    o.n[1] = o.n[2] = 32768; /* 2^32 reals a slab */
    if (size > 1)
        find_refused(&f, &o, ERR_UNSUPPORTED, "more ranks");
    assert_none(&f);
}
END_TEST

START_TEST(a_fault_of_one_rank_is_the_fault_of_all)
{
    char one[300];
    char other[300];
    struct group_options o = good_options();
    if (rank == size - 1)
        o.n[1] = 0;
    const int rc_one = refused(&o, one);
    o = good_options();
    o.n[2] += rank; /* each its own */
    const int rc_other = size > 1 ? refused(&o, other) : ERR_ARGUMENT;
    ck_assert_int_eq(rc_one, ERR_ARGUMENT);
    ck_assert_int_eq(one[0] != '\0', rank == size - 1);
    ck_assert_int_eq(rc_other, ERR_ARGUMENT);
    if (rank > 0)
        ck_assert_msg(strstr(other, "4 x 3 x 2") != NULL, "%s", other);
    ck_assert_int_eq(mem_live(), 0);
}
END_TEST

START_TEST(a_communicator_between_two_groups_is_refused)
{
    struct findings f = {0};
    MPI_Comm part;
    MPI_Comm between;
    MPI_Comm_split(MPI_COMM_WORLD, rank == 0, rank, &part);
    if (size > 1) {
        MPI_Intercomm_create(part, 0, MPI_COMM_WORLD, rank == 0 ? 1 : 0, 5, &between);
        struct group_options o = good_options();
        o.communicator = MPI_Comm_c2f(between);
        find_refused(&f, &o, ERR_ARGUMENT, "intracommunicator");
        MPI_Comm_free(&between);
    }
    MPI_Comm_free(&part);
    assert_none(&f);
}
END_TEST

START_TEST(arrays_that_a_plan_cannot_take_are_a_bug)
{
    const struct group_options o = good_options();
    struct group_fft *plan;
    double *slab = NULL;
    int rc[4] = {0};
    char text[300] = "";
    const int created = group_fft_create(&o, &plan);
    const int room = MEM_NEW(200, &slab);
    status_capture(text, sizeof text);
    if (created == 0 && room == 0) {
        rc[0] = group_fft_execute(plan, slab, slab);
        rc[1] = group_fft_execute(plan, NULL, slab);
        rc[2] = group_fft_execute(plan, slab, NULL);
        rc[3] = group_fft_execute(plan, slab, slab + 101);
    }
    status_capture(NULL, 0);
    group_fft_destroy(plan);
    group_fft_destroy(NULL);
    mem_free(slab);
    for (int i = 0; i < 4; i++)
        ck_assert_int_eq(rc[i], ERR_BUG);
    ck_assert_int_eq(mem_live(), 0);
}
END_TEST

/* Does this process know how to plan the transform without measuring? Collective. */
static bool wisdom_knows(const struct group_options *o, long capacity)
{
    cplx *in = NULL;
    cplx *out = NULL;
    if (MEM_NEW(capacity, &in) != 0 || MEM_NEW(capacity, &out) != 0)
        MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
    const fftw_plan plan =
        fftw_mpi_plan_dft_3d(o->n[0], o->n[1], o->n[2], (fftw_complex *)in, (fftw_complex *)out,
                             MPI_COMM_WORLD, FFTW_FORWARD, FFTW_MEASURE | FFTW_WISDOM_ONLY);
    const bool known = plan != NULL;
    if (known)
        fftw_destroy_plan(plan);
    mem_free(in);
    mem_free(out);
    return known;
}

START_TEST(wisdom_gathered_on_rank_0_reaches_every_rank)
{
    struct group_options o = good_options();
    o.rigour = FFT_MEASURE;
    struct group_options other = good_options();
    other.n[0] = 5;
    struct group_fft *plan;
    char *text = NULL;
    fftw_forget_wisdom();
    const int created = group_fft_create(&o, &plan);
    if (created != 0)
        MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
    const long capacity = group_fft_layout(plan)->capacity;
    const int exported = group_fft_wisdom(plan, &text);
    group_fft_destroy(plan);
    fftw_forget_wisdom();
    const bool forgotten = !wisdom_knows(&o, capacity);
    other.wisdom = text; /* NULL but on rank 0 */
    const int again = group_fft_create(&other, &plan);
    const bool known = wisdom_knows(&o, capacity);
    group_fft_destroy(plan);
    const bool has_text = text != NULL;
    mem_free(text);
    ck_assert_int_eq(exported, 0);
    ck_assert_int_eq(again, 0);
    ck_assert_int_eq(has_text, rank == 0);
    ck_assert(forgotten);
    ck_assert(known);
    ck_assert_int_eq(mem_live(), 0);
}
END_TEST

START_TEST(wisdom_of_another_kind_is_left_out)
{
    struct group_options o = good_options();
    o.wisdom = "(fftw-2.1.5 fftw_wisdom #x0 #x0 #x0 #x0\n)\n";
    struct group_fft *plan;
    log_set_level(LOG_ERROR); /* it warns */
    const int rc = group_fft_create(&o, &plan);
    log_set_level(LOG_INFO);
    group_fft_destroy(plan);
    ck_assert_int_eq(rc, 0);
    ck_assert_int_eq(mem_live(), 0);
}
END_TEST

static Suite *group_suite(void)
{
    Suite *const suite = suite_create("group");
    TCase *const tests = tcase_create("group");
    tcase_set_timeout(tests, 60);
    tcase_add_test(tests, every_kind_and_size_agrees_with_the_transform_on_one_rank);
    tcase_add_test(tests, measured_plans_agree_with_the_transform_on_one_rank);
    tcase_add_test(tests, a_plane_wave_gives_one_spike_and_the_spike_the_wave);
    tcase_add_test(tests, energy_is_that_of_parsevals_theorem);
    tcase_add_test(tests, a_round_trip_returns_the_input);
    tcase_add_test(tests, the_spectrum_of_reals_is_half_of_the_complex_one);
    tcase_add_test(tests, swapped_axes_a_wrong_sign_and_other_faults_are_seen);
    tcase_add_test(tests, spans_are_whole_contiguous_and_even);
    tcase_add_test(tests, layout_names_padded_reals_and_room_for_each_span);
    tcase_add_test(tests, a_part_of_the_ranks_in_another_order_is_a_group_too);
    tcase_add_test(tests, what_cannot_be_transformed_is_refused_by_name);
    tcase_add_test(tests, a_slab_beyond_mpis_counts_is_refused_before_memory_is_taken);
    tcase_add_test(tests, a_fault_of_one_rank_is_the_fault_of_all);
    tcase_add_test(tests, a_communicator_between_two_groups_is_refused);
    tcase_add_test(tests, arrays_that_a_plan_cannot_take_are_a_bug);
    tcase_add_test(tests, wisdom_gathered_on_rank_0_reaches_every_rank);
    tcase_add_test(tests, wisdom_of_another_kind_is_left_out);
    suite_add_tcase(suite, tests);
    return suite;
}

int main(int argc, char **argv)
{
    const struct group_options options = {.kind = FFT_R2C, .n = {4, 3, 2}};
    char text[300];
    code_before_mpi = refused(&options, text);
    int provided = 0;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    const int rc = mpi_main(group_suite());
    MPI_Finalize();
    return rc;
}
