/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Backends by name, instruction sets, transforms, wisdom. */
#include <complex.h>
#include <float.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "kernels/backend/cpu.h"
#include "kernels/base/mem.h"
#include "kernels/base/rng.h"
#include "kernels/base/status.h"
#include "kernels/contract/bounds.h"
#include "kernels/contract/compare.h"
#include "tests/exact.h"
#include "tests/kernels/perturbed.h"
#include "tests/unit_main.h"

#define ROWS      3
#define IMAGINARY ((long double complex)I) /* C's I is a float */

static struct backend *backend_new(int threads)
{
    const struct backend_options options = {
        .name = "cpu", .isa = "auto", .threads = threads, .rigour = FFT_ESTIMATE};
    struct backend *be;
    ck_assert_int_eq(backend_create(&options, &be), 0);
    return be;
}

/* The code and text with which a backend is refused. */
static int refused(const struct backend_options *options, char *text, size_t size)
{
    struct backend *be;
    status_capture(text, size);
    const int rc = backend_create(options, &be);
    status_capture(NULL, 0);
    ck_assert_ptr_null(be);
    return rc;
}

static bool is_there(const char *name)
{
    const char *const *names = backend_names();
    while (*names != NULL && strcmp(*names, name) != 0)
        names++;
    return *names != NULL;
}

START_TEST(a_backend_that_is_not_in_the_program_is_refused_by_name)
{
    static const char *const names[] = {"cuda", "hip", "CPU", ""};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (is_there(names[i]))
            continue;
        const struct backend_options options = {.name = names[i], .threads = 1};
        char text[200];
        ck_assert_int_eq(refused(&options, text, sizeof text), ERR_UNSUPPORTED);
        ck_assert_ptr_nonnull(strstr(text, "not in this program; it has: cpu"));
        ck_assert_ptr_nonnull(strstr(text, names[i]));
    }
}
END_TEST

START_TEST(an_unknown_instruction_set_is_refused_with_those_there_are)
{
    const struct backend_options options = {.name = "cpu", .isa = "x86-64-v9", .threads = 1};
    char text[200];
    ck_assert_int_eq(refused(&options, text, sizeof text), ERR_UNSUPPORTED);
    ck_assert_ptr_nonnull(strstr(text, "'x86-64-v9'"));
    for (const struct cpu_isa *isa = cpu_isa_list(); isa->name != NULL; isa++)
        ck_assert_ptr_nonnull(strstr(text, isa->name));
}
END_TEST

START_TEST(each_instruction_set_is_taken_by_name_or_refused_by_what_is_missing)
{
    for (const struct cpu_isa *isa = cpu_isa_list(); isa->name != NULL; isa++) {
        const struct backend_options options = {.name = "cpu", .isa = isa->name, .threads = 1};
        struct backend *be;
        char text[200];
        if (!isa->supported()) {
            ck_assert_int_eq(refused(&options, text, sizeof text), ERR_DEVICE);
            ck_assert_ptr_nonnull(strstr(text, isa->needs));
            continue;
        }
        ck_assert_int_eq(backend_create(&options, &be), 0);
        ck_assert_str_eq(be->isa, isa->name);
        backend_destroy(be);
    }
}
END_TEST

START_TEST(auto_takes_the_best_instruction_set_of_this_machine)
{
    const struct cpu_isa *best = cpu_isa_list();
    while (!best->supported())
        best++;
    struct backend *be = backend_new(2);
    ck_assert_str_eq(be->isa, best->name);
    ck_assert_str_eq(be->ops->name, "cpu");
    ck_assert_int_eq(be->threads, 2);
    ck_assert_str_ne(be->device, "");
    backend_destroy(be);
    backend_destroy(NULL);
    ck_assert_str_eq(backend_names()[0], "cpu");
    ck_assert_str_ne(backend_fft_library(), "");
}
END_TEST

START_TEST(the_cpu_has_no_devices)
{
    struct backend_device device;
    struct backend *be = backend_new(1);
    size_t bytes = 1;
    int count = -1;
    char text[200];
    ck_assert_int_eq(backend_devices("cpu", &count), 0);
    ck_assert_int_eq(count, 0);
    status_capture(text, sizeof text);
    ck_assert_int_eq(backend_devices("abacus", &count), ERR_UNSUPPORTED);
    ck_assert_ptr_nonnull(strstr(text, "abacus"));
    ck_assert_int_eq(backend_describe_device("cpu", 0, &device), ERR_UNSUPPORTED);
    ck_assert_int_eq(backend_memory_left(be, &bytes), ERR_UNSUPPORTED);
    status_capture(NULL, 0);
    ck_assert_uint_eq(bytes, 0);
    ck_assert_str_eq(be->on.bus, "");
    backend_destroy(be);
    if (backend_names()[1] != NULL)
        return;
    ck_assert_str_eq(backend_auto(text, sizeof text), "cpu");
    ck_assert_str_eq(text, "");
}
END_TEST

START_TEST(a_backend_without_threads_is_refused)
{
    const struct backend_options options = {.name = "cpu", .threads = 0};
    char text[200];
    ck_assert_int_eq(refused(&options, text, sizeof text), ERR_ARGUMENT);
}
END_TEST

START_TEST(strides_are_whole_cache_lines)
{
    static const struct {
        long n;
        size_t size;
        long stride;
    } cases[] = {{1, 8, 8}, {8, 8, 8}, {9, 8, 16}, {1, 16, 4}, {129, 16, 132}, {17, 4, 32}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        ck_assert_int_eq(backend_stride(cases[i].n, cases[i].size), cases[i].stride);
}
END_TEST

START_TEST(backend_memory_is_zero_and_aligned)
{
    struct backend *be = backend_new(1);
    double *array;
    ck_assert_int_eq(be->ops->alloc(be, 100, sizeof *array, (void **)&array), 0);
    ck_assert_uint_eq((uintptr_t)array % 64, 0);
    for (int i = 0; i < 100; i++)
        ck_assert(exactly(array[i], 0.0));
    const double there = 5.0;
    double back = 0.0;
    ck_assert_int_eq(be->ops->upload(be, &array[7], &there, sizeof there), 0);
    ck_assert_int_eq(be->ops->download(be, &back, &array[7], sizeof back), 0);
    ck_assert(exactly(back, 5.0));
    be->ops->release(be, array);
    backend_destroy(be);
    ck_assert_int_eq(mem_live(), 0);
}
END_TEST

static long in_length(enum fft_kind kind, long n)
{
    return kind == FFT_C2R ? n / 2 + 1 : n;
}

static long out_length(enum fft_kind kind, long n)
{
    return kind == FFT_R2C ? n / 2 + 1 : n;
}

/* Rows of a transform, inputs random, outputs NaN. */
struct rows {
    double *in, *out;
    long in_numbers, out_numbers; /* of one row */
    struct fft_rows call;
};

static void rows_init(struct rows *r, enum fft_kind kind, long n)
{
    const int in_width = kind == FFT_R2C ? 1 : 2;
    const int out_width = kind == FFT_C2R ? 1 : 2;
    const long ld_in = backend_stride(in_length(kind, n), (size_t)in_width * 8);
    const long ld_out = backend_stride(out_length(kind, n), (size_t)out_width * 8);
    r->in_numbers = in_width * ld_in;
    r->out_numbers = out_width * ld_out;
    ck_assert_int_eq(MEM_NEW(ROWS * r->in_numbers, &r->in), 0);
    ck_assert_int_eq(MEM_NEW(ROWS * r->out_numbers, &r->out), 0);
    const struct rng_stream stream = {.seed = 99};
    for (long i = 0; i < ROWS * r->in_numbers; i++) {
        double u[2];
        rng_uniform2(&stream, (uint64_t)i, u);
        r->in[i] = 2.0 * u[0] - 1.0;
    }
    for (long row = 0; kind == FFT_C2R && row < ROWS; row++) { /* spectrum of a real signal */
        r->in[row * r->in_numbers + 1] = 0.0;
        if (n % 2 == 0)
            r->in[row * r->in_numbers + n + 1] = 0.0;
    }
    for (long i = 0; i < ROWS * r->out_numbers; i++)
        r->out[i] = (double)NAN;
    r->call = (struct fft_rows){
        .in = r->in, .ld_in = ld_in, .out = r->out, .ld_out = ld_out, .rows = ROWS};
}

static void rows_clear(struct rows *r)
{
    mem_free(r->in);
    mem_free(r->out);
}

static long double complex sample(enum fft_kind kind, const double *row, long j, long n)
{
    if (kind == FFT_R2C)
        return row[j];
    if (kind == FFT_C2R && j > n / 2)
        return conjl(row[2 * (n - j)] + row[2 * (n - j) + 1] * IMAGINARY);
    return row[2 * j] + row[2 * j + 1] * IMAGINARY;
}

/* The sum of the definition (kernels/backend.h), element k. */
static long double complex direct(enum fft_kind kind, const double *row, long k, long n)
{
    const long double sign = kind == FFT_C2C_FORWARD || kind == FFT_R2C ? -1.0L : 1.0L;
    long double complex sum = 0.0L;
    for (long j = 0; j < n; j++) {
        const long double angle = sign * 2.0L * 3.141592653589793238462643L
                                  * (long double)(j * k % n) / (long double)n;
        sum += sample(kind, row, j, n) * (cosl(angle) + sinl(angle) * IMAGINARY);
    }
    return sum;
}

static void check_transform(struct backend *be, enum fft_kind kind, long n)
{
    struct rows r;
    struct fft *plan;
    double *want;
    rows_init(&r, kind, n);
    ck_assert_int_eq(MEM_NEW(ROWS * r.out_numbers, &want), 0);
    const long count = out_length(kind, n);
    for (long row = 0; row < ROWS; row++) {
        for (long k = 0; k < count; k++) {
            const long double complex value = direct(kind, r.in + row * r.in_numbers, k, n);
            double *at = want + row * r.out_numbers + (kind == FFT_C2R ? k : 2 * k);
            at[0] = (double)creall(value);
            if (kind != FFT_C2R)
                at[1] = (double)cimagl(value);
        }
    }
    ck_assert_int_eq(be->ops->fft_create(be, kind, n, &plan), 0);
    ck_assert_int_eq(be->ops->fft_execute(be, plan, &r.call), 0);
    double limit;
    ck_assert_int_eq(bound_fft(n, &limit), 0);
    for (long row = 0; row < ROWS; row++) {
        const struct comparison_input in = {.value = r.out + row * r.out_numbers,
                                            .reference = want + row * r.out_numbers,
                                            .n = count,
                                            .is_complex = kind != FFT_C2R};
        struct comparison result;
        ck_assert_int_eq(comparison_norm(&in, limit, &result), 0);
        ck_assert_msg(result.within, "kind %d, n = %ld: %g times the bound", (int)kind, n,
                      result.margin);
        perturbed_check(&in, limit, "transform");
    }
    be->ops->fft_destroy(be, plan);
    mem_free(want);
    rows_clear(&r);
}

START_TEST(numbers_are_read_in_place_or_else_copied)
{
    const double given[3] = {1.0, -2.0, 3.5};
    double room[3] = {0.0};
    double *there;
    const double *seen;
    struct backend *be = backend_new(1);
    ck_assert_int_eq(be->ops->alloc(be, 3, sizeof(double), (void **)&there), 0);
    ck_assert_int_eq(be->ops->upload(be, there, given, sizeof given), 0);
    ck_assert_int_eq(backend_view(be, there, 3, room, &seen), 0);
    ck_assert_ptr_eq(seen, be->apart ? room : there);
    ck_assert(equal_bits(seen, given, sizeof given));
    be->apart = true;
    ck_assert_int_eq(backend_view(be, there, 3, room, &seen), 0);
    ck_assert_ptr_eq(seen, room);
    ck_assert(equal_bits(room, given, sizeof given));
    be->ops->release(be, there);
    backend_destroy(be);
}
END_TEST

START_TEST(transforms_are_the_sums_of_their_definition)
{
    static const long lengths[] = {1, 2, 7, 8, 60, 128};
    struct backend *be = backend_new(1);
    for (int kind = FFT_C2C_FORWARD; kind <= FFT_C2R; kind++)
        for (size_t l = 0; l < sizeof lengths / sizeof lengths[0]; l++)
            check_transform(be, (enum fft_kind)kind, lengths[l]);
    backend_destroy(be);
    ck_assert_int_eq(mem_live(), 0);
}
END_TEST

/* Forward and back, divided by n, gives the input within B_fft. */
static void check_round_trip(struct backend *be, enum fft_kind forward, enum fft_kind backward,
                             long n)
{
    struct rows r;
    struct fft *there;
    struct fft *back;
    double *again;
    rows_init(&r, forward, n);
    ck_assert_int_eq(MEM_NEW(ROWS * r.in_numbers, &again), 0);
    ck_assert_int_eq(be->ops->fft_create(be, forward, n, &there), 0);
    ck_assert_int_eq(be->ops->fft_create(be, backward, n, &back), 0);
    ck_assert_int_eq(be->ops->fft_execute(be, there, &r.call), 0);
    const struct fft_rows reverse = {.in = r.out,
                                     .ld_in = r.call.ld_out,
                                     .out = again,
                                     .ld_out = r.call.ld_in,
                                     .rows = ROWS};
    ck_assert_int_eq(be->ops->fft_execute(be, back, &reverse), 0);
    for (long i = 0; i < ROWS * r.in_numbers; i++)
        again[i] /= (double)n;
    double limit;
    ck_assert_int_eq(bound_fft(n, &limit), 0);
    for (long row = 0; row < ROWS; row++) {
        const struct comparison_input in = {.value = again + row * r.in_numbers,
                                            .reference = r.in + row * r.in_numbers,
                                            .n = n,
                                            .is_complex = forward == FFT_C2C_FORWARD};
        struct comparison result;
        ck_assert_int_eq(comparison_norm(&in, limit, &result), 0);
        ck_assert_msg(result.within, "n = %ld: %g times the bound", n, result.margin);
        perturbed_check(&in, limit, "round trip");
    }
    be->ops->fft_destroy(be, there);
    be->ops->fft_destroy(be, back);
    mem_free(again);
    rows_clear(&r);
}

START_TEST(a_transform_and_its_inverse_keep_the_bound_of_a_round_trip)
{
    static const long lengths[] = {8, 60, 1024, 4096, 6000};
    struct backend *be = backend_new(1);
    for (size_t l = 0; l < sizeof lengths / sizeof lengths[0]; l++) {
        check_round_trip(be, FFT_C2C_FORWARD, FFT_C2C_BACKWARD, lengths[l]);
        check_round_trip(be, FFT_R2C, FFT_C2R, lengths[l]);
    }
    backend_destroy(be);
}
END_TEST

START_TEST(a_transform_leaves_inactive_rows_and_rows_beyond_alone)
{
    static const unsigned char active[ROWS] = {1, 0, 1};
    struct backend *be = backend_new(1);
    struct rows r;
    struct fft *plan;
    rows_init(&r, FFT_C2C_FORWARD, 60);
    ck_assert_int_eq(be->ops->fft_create(be, FFT_C2C_FORWARD, 60, &plan), 0);
    r.call.rows = 2;
    r.call.active = active;
    ck_assert_int_eq(be->ops->fft_execute(be, plan, &r.call), 0);
    for (long i = 0; i < 120; i++) {
        ck_assert(isfinite(r.out[i]));
        ck_assert(isnan(r.out[r.out_numbers + i]));
        ck_assert(isnan(r.out[2 * r.out_numbers + i]));
    }
    be->ops->fft_destroy(be, plan);
    be->ops->fft_destroy(be, NULL);
    rows_clear(&r);
    backend_destroy(be);
}
END_TEST

START_TEST(rows_off_a_cache_line_and_transforms_in_place_are_refused)
{
    struct backend *be = backend_new(1);
    struct rows r;
    struct fft *plan;
    char text[200];
    rows_init(&r, FFT_C2C_FORWARD, 64);
    ck_assert_int_eq(be->ops->fft_create(be, FFT_C2C_FORWARD, 64, &plan), 0);
    struct fft_rows shifted = r.call;
    shifted.in = r.in + 2;
    shifted.rows = 1;
    struct fft_rows narrow = r.call;
    narrow.ld_out = 65;
    struct fft_rows in_place = r.call;
    in_place.out = r.in;
    status_capture(text, sizeof text);
    ck_assert_int_eq(be->ops->fft_execute(be, plan, &shifted), ERR_BUG);
    ck_assert_int_eq(be->ops->fft_execute(be, plan, &narrow), ERR_BUG);
    ck_assert_int_eq(be->ops->fft_execute(be, plan, &in_place), ERR_BUG);
    status_capture(NULL, 0);
    be->ops->fft_destroy(be, plan);
    rows_clear(&r);
    backend_destroy(be);
}
END_TEST

START_TEST(a_transform_of_an_impossible_length_is_refused)
{
    struct backend *be = backend_new(1);
    struct fft *plan;
    char text[200];
    status_capture(text, sizeof text);
    ck_assert_int_eq(be->ops->fft_create(be, FFT_R2C, 0, &plan), ERR_ARGUMENT);
    ck_assert_int_eq(be->ops->fft_create(be, FFT_R2C, 1L << 40, &plan), ERR_ARGUMENT);
    status_capture(NULL, 0);
    ck_assert_ptr_null(plan);
    backend_destroy(be);
    ck_assert_int_eq(mem_live(), 0);
}
END_TEST

/* Each test is a process of its own, so that this one starts without wisdom. */
START_TEST(wisdom_goes_out_as_text_and_comes_back)
{
    struct backend_options options = {
        .name = "cpu", .threads = 1, .rigour = FFT_MEASURE, .wisdom = NULL};
    struct backend *be;
    struct fft *plan;
    char *before;
    char *after;
    char *again;
    ck_assert_int_eq(backend_create(&options, &be), 0);
    ck_assert_int_eq(backend_wisdom(be, &before), 0);
    ck_assert_int_eq(be->ops->fft_create(be, FFT_C2C_FORWARD, 256, &plan), 0);
    be->ops->fft_destroy(be, plan);
    ck_assert_int_eq(backend_wisdom(be, &after), 0);
    if (strncmp(backend_fft_library(), "fftw", 4) == 0)
        ck_assert_str_ne(before, after);
    else
        ck_assert_str_eq(after, ""); /* another library remembers nothing */
    backend_destroy(be);
    options.wisdom = after;
    ck_assert_int_eq(backend_create(&options, &be), 0);
    ck_assert_int_eq(backend_wisdom(be, &again), 0);
    ck_assert_str_eq(after, again);
    backend_destroy(be);
    mem_free(before);
    mem_free(after);
    mem_free(again);
    ck_assert_int_eq(mem_live(), 0);
}
END_TEST

START_TEST(wisdom_of_something_else_is_left_out)
{
    const struct backend_options options = {
        .name = "cpu", .threads = 1, .rigour = FFT_ESTIMATE, .wisdom = "(not wisdom at all)"};
    struct backend *be;
    ck_assert_int_eq(backend_create(&options, &be), 0);
    backend_destroy(be);
}
END_TEST

/* The CPU's is a copy, with the rules of a device's (tests/emu/test_emu_device.c). */
START_TEST(a_fetch_has_what_there_was_when_it_began)
{
    struct backend *const be = backend_new(1);
    const struct backend_ops *const ops = be->ops;
    double numbers[4] = {1.0, 2.0, 3.0, 4.0};
    struct fetch *fetch;
    const void *data;
    char text[200];
    ck_assert_ptr_null(ops->device);
    ck_assert_int_eq(ops->fetch_create(be, sizeof numbers, &fetch), 0);
    ck_assert_int_eq(ops->fetch_begin(be, fetch, numbers, sizeof numbers), 0);
    numbers[3] = 5.0;
    status_capture(text, sizeof text);
    ck_assert_int_eq(ops->fetch_begin(be, fetch, numbers, sizeof numbers), ERR_BUG);
    status_capture(NULL, 0);
    ck_assert_int_eq(ops->fetch_end(be, fetch, &data), 0);
    ck_assert_exactly(((const double *)data)[0], 1.0);
    ck_assert_exactly(((const double *)data)[3], 4.0);
    status_capture(text, sizeof text);
    ck_assert_int_eq(ops->fetch_end(be, fetch, &data), ERR_BUG);
    ck_assert_int_eq(ops->fetch_begin(be, fetch, numbers, sizeof numbers + 1), ERR_BUG);
    status_capture(NULL, 0);
    ops->fetch_destroy(be, fetch);
    ops->fetch_destroy(be, NULL);
    backend_destroy(be);
    ck_assert_int_eq(mem_live(), 0);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("backend");
    TCase *tests = tcase_create("backend");
    tcase_set_timeout(tests, 20);
    tcase_add_test(tests, the_cpu_has_no_devices);
    tcase_add_test(tests, a_backend_that_is_not_in_the_program_is_refused_by_name);
    tcase_add_test(tests, an_unknown_instruction_set_is_refused_with_those_there_are);
    tcase_add_test(tests, each_instruction_set_is_taken_by_name_or_refused_by_what_is_missing);
    tcase_add_test(tests, auto_takes_the_best_instruction_set_of_this_machine);
    tcase_add_test(tests, a_backend_without_threads_is_refused);
    tcase_add_test(tests, strides_are_whole_cache_lines);
    tcase_add_test(tests, backend_memory_is_zero_and_aligned);
    tcase_add_test(tests, numbers_are_read_in_place_or_else_copied);
    tcase_add_test(tests, transforms_are_the_sums_of_their_definition);
    tcase_add_test(tests, a_transform_and_its_inverse_keep_the_bound_of_a_round_trip);
    tcase_add_test(tests, a_transform_leaves_inactive_rows_and_rows_beyond_alone);
    tcase_add_test(tests, rows_off_a_cache_line_and_transforms_in_place_are_refused);
    tcase_add_test(tests, a_transform_of_an_impossible_length_is_refused);
    tcase_add_test(tests, wisdom_goes_out_as_text_and_comes_back);
    tcase_add_test(tests, wisdom_of_something_else_is_left_out);
    tcase_add_test(tests, a_fetch_has_what_there_was_when_it_began);
    suite_add_tcase(suite, tests);
    return unit_main(suite);
}
