/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The comparator's typed arrays: right values by hand, from the layout of the number formats.
 */
#include <float.h>
#include <math.h>
#include <string.h>

#include "kernels/base/mem.h"
#include "kernels/base/status.h"
#include "kernels/contract/compare.h"
#include "tests/exact.h"
#include "tests/unit_main.h"

enum { MEMBERS = 2, PLANES = 3, ROW = 4, COUNT = MEMBERS * PLANES * ROW };

static struct compared_array array_of(const void *data, enum element type)
{
    return (struct compared_array){.data = data,
                                   .type = type,
                                   .members = MEMBERS,
                                   .planes = PLANES,
                                   .dims = 1,
                                   .dim = {ROW}};
}

static void fill(double *values)
{
    for (int i = 0; i < COUNT; i++)
        values[i] = 1.0 + 0.125 * i;
}

/* Member 1, plane 2, element 3 is the last: ((1 * 3) + 2) * 4 + 3 = 23. */
START_TEST(a_mismatch_is_mapped_to_member_plane_and_index)
{
    double a[COUNT];
    double b[COUNT];
    fill(a);
    fill(b);
    b[((1 * PLANES) + 0) * ROW + 2] = 0.0;
    b[COUNT - 1] = 0.0;
    const struct compared_array x = array_of(a, ELEMENT_F64);
    const struct compared_array y = array_of(b, ELEMENT_F64);
    struct bit_comparison bits;
    ck_assert_int_eq(comparison_exact(&x, &y, NAN_FORBID, &bits), 0);
    ck_assert(!bits.equal);
    ck_assert_int_eq(bits.different, 2);
    ck_assert_int_eq(bits.first, 14);
    ck_assert_int_eq(bits.place.member, 1);
    ck_assert_int_eq(bits.place.plane, 0);
    ck_assert_int_eq(bits.place.index, 2);
    struct comparison near;
    ck_assert_int_eq(comparison_arrays(&y, &x, 0.5, 0.0, &near), 0);
    ck_assert(!near.within);
    const struct comparison_place worst = comparison_place(&y, near.worst); /* 3.875 off */
    ck_assert_int_eq(worst.member, 1);
    ck_assert_int_eq(worst.plane, 2);
    ck_assert_int_eq(worst.index, 3);
    ck_assert(exactly(near.margin, 3.875 / 0.5));
    ck_assert_int_eq(comparison_exact(&x, &x, NAN_FORBID, &bits), 0);
    ck_assert(bits.equal);
    ck_assert_int_eq(bits.first, -1);
}
END_TEST

/* |4 - 3| = 1 against 0.25 + 0.25 * 3 = 1: just within; the next double is not. */
START_TEST(the_tolerance_is_absolute_plus_relative_to_the_reference)
{
    double reference[1] = {3.0};
    double value[1] = {4.0};
    const struct compared_array r = {reference, ELEMENT_F64, 1, 1, 0, {0}};
    const struct compared_array v = {value, ELEMENT_F64, 1, 1, 0, {0}};
    struct comparison out;
    ck_assert_int_eq(comparison_arrays(&v, &r, 0.25, 0.25, &out), 0);
    ck_assert(out.within && exactly(out.margin, 1.0));
    ck_assert_int_eq(comparison_arrays(&r, &v, 0.25, 0.1, &out), 0); /* 1 against 0.65 */
    ck_assert(!out.within);
    value[0] = nextafter(4.0, 5.0);
    ck_assert_int_eq(comparison_arrays(&v, &r, 0.25, 0.25, &out), 0);
    ck_assert(!out.within);
    value[0] = (double)NAN;
    ck_assert_int_eq(comparison_arrays(&v, &r, 1e300, 1e300, &out), 0);
    ck_assert(!out.within && out.not_finite == 1);
}
END_TEST

/* bfloat16 is the upper half of a float: 0x3f80 is 1, 0x3f81 is 1 + 2^-7, 0xbf80 is -1. */
START_TEST(short_types_are_read_as_they_are_stored)
{
    const uint16_t a[4] = {0x3f80, 0x3f81, 0xbf80, 0x4000};
    const uint16_t b[4] = {0x3f80, 0x3f80, 0xbf80, 0x4000};
    const struct compared_array x = {a, ELEMENT_BF16, 1, 1, 1, {4}};
    const struct compared_array y = {b, ELEMENT_BF16, 1, 1, 1, {4}};
    struct comparison out;
    uint64_t ulps;
    long at;
    ck_assert_int_eq(comparison_arrays(&x, &y, 0x1p-7, 0.0, &out), 0);
    ck_assert(out.within && exactly(out.margin, 1.0));
    ck_assert_int_eq(out.worst, 1);
    ck_assert_int_eq(comparison_ulps(&x, &y, &ulps, &at), 0);
    ck_assert_uint_eq(ulps, 1);
    ck_assert_int_eq(at, 1);
    const float c[4] = {3.0F, 4.0F, 0.5F, -2.0F}; /* 3 + 4i, 0.5 - 2i */
    const float d[4] = {0.0F, 8.0F, 0.5F, -2.0F}; /* 3 - 4i away: 5 */
    const struct compared_array p = {c, ELEMENT_C64, 1, 1, 1, {2}};
    const struct compared_array q = {d, ELEMENT_C64, 1, 1, 1, {2}};
    ck_assert_int_eq(comparison_arrays(&p, &q, 10.0, 0.0, &out), 0);
    ck_assert(exactly(out.observed, 5.0) && exactly(out.margin, 0.5));
    const float far[1] = {1.0F};
    const float next[1] = {2.0F};
    const struct compared_array f = {far, ELEMENT_F32, 1, 1, 0, {0}};
    const struct compared_array g = {next, ELEMENT_F32, 1, 1, 0, {0}};
    ck_assert_int_eq(comparison_ulps(&f, &g, &ulps, NULL), 0);
    ck_assert_uint_eq(ulps, 1ULL << 23);
}
END_TEST

START_TEST(ulps_count_the_steps_between_two_numbers)
{
    ck_assert_uint_eq(ulp_distance(1.0, 1.0), 0);
    ck_assert_uint_eq(ulp_distance(0.0, -0.0), 0);
    ck_assert_uint_eq(ulp_distance(1.0, nextafter(1.0, 2.0)), 1);
    ck_assert_uint_eq(ulp_distance(nextafter(1.0, 0.0), nextafter(1.0, 2.0)), 2);
    ck_assert_uint_eq(ulp_distance(1.0, 2.0), 1ULL << 52);
    ck_assert_uint_eq(ulp_distance(-1.0, -2.0), 1ULL << 52);
    ck_assert_uint_eq(ulp_distance(-0x1p-1074, 0x1p-1074), 2);
    ck_assert_uint_eq(ulp_distance(0x1p-1022, 0.0), 1ULL << 52);
    /* All finite numbers of either sign. */
    ck_assert_uint_eq(ulp_distance(-DBL_MAX, DBL_MAX), 2 * 0x7fefffffffffffffULL);
    ck_assert_uint_eq(ulp_distance((double)NAN, (double)NAN), UINT64_MAX);
    ck_assert_uint_eq(ulp_distance((double)INFINITY, DBL_MAX), UINT64_MAX);
}
END_TEST

START_TEST(zeros_of_either_sign_differ_and_nan_counts_by_policy)
{
    static const uint64_t nan[2] = {0x7ff8000000000001ULL, 0xfff8000000000002ULL};
    double a[2] = {0.0, 1.0};
    double b[2] = {-0.0, 1.0};
    const struct compared_array x = {a, ELEMENT_F64, 1, 1, 1, {2}};
    const struct compared_array y = {b, ELEMENT_F64, 1, 1, 1, {2}};
    struct bit_comparison out;
    ck_assert_int_eq(comparison_exact(&x, &y, NAN_CANONICAL, &out), 0);
    ck_assert(!out.equal && out.first == 0);
    b[0] = 0.0;
    for (int same = 0; same < 2; same++) {
        memcpy(&a[1], &nan[0], sizeof nan[0]);
        memcpy(&b[1], &nan[same ? 0 : 1], sizeof nan[0]);
        ck_assert_int_eq(comparison_exact(&x, &y, NAN_FORBID, &out), 0);
        ck_assert(!out.equal && out.first == 1 && out.nans == 1);
        ck_assert_int_eq(comparison_exact(&x, &y, NAN_BITWISE, &out), 0);
        ck_assert(out.equal == (same == 1) && out.nans == 1);
        ck_assert_int_eq(comparison_exact(&x, &y, NAN_CANONICAL, &out), 0);
        ck_assert(out.equal);
    }
    b[1] = 1.0; /* NaN is unlike any number, whatever the policy */
    ck_assert_int_eq(comparison_exact(&x, &y, NAN_CANONICAL, &out), 0);
    ck_assert(!out.equal);
    a[0] = a[1] = b[0] = b[1] = 0.0; /* exact zeros are compared */
    ck_assert_int_eq(comparison_exact(&x, &y, NAN_FORBID, &out), 0);
    ck_assert(out.equal);
}
END_TEST

/* A complex element differs where either part does; whole numbers are compared as they are. */
START_TEST(complex_and_whole_numbers_are_compared_bit_for_bit)
{
    const double a[4] = {1.0, 2.0, 3.0, 4.0};
    double b[4] = {1.0, 2.0, 3.0, 4.0};
    const struct compared_array x = {a, ELEMENT_C128, 1, 1, 1, {2}};
    const struct compared_array y = {b, ELEMENT_C128, 1, 1, 1, {2}};
    struct bit_comparison out;
    uint64_t ulps;
    long at;
    ck_assert_int_eq(comparison_exact(&x, &y, NAN_FORBID, &out), 0);
    ck_assert(out.equal);
    b[3] = nextafter(4.0, 5.0);
    ck_assert_int_eq(comparison_exact(&x, &y, NAN_FORBID, &out), 0);
    ck_assert(!out.equal && out.first == 1 && out.different == 1);
    ck_assert_int_eq(comparison_ulps(&x, &y, &ulps, &at), 0);
    ck_assert_uint_eq(ulps, 1);
    ck_assert_int_eq(at, 1);
    const int64_t m[2] = {-1, 0x7ff8000000000001}; /* the second would be a NaN */
    const int64_t n[2] = {-1, 0x7ff8000000000001};
    const struct compared_array v = {m, ELEMENT_I64, 1, 1, 1, {2}};
    const struct compared_array w = {n, ELEMENT_I64, 1, 1, 1, {2}};
    ck_assert_int_eq(comparison_exact(&v, &w, NAN_FORBID, &out), 0);
    ck_assert(out.equal && out.nans == 0);
}
END_TEST

static int refused(const struct compared_array *a, const struct compared_array *b, int exact)
{
    struct comparison near;
    struct bit_comparison bits;
    char text[200];
    status_capture(text, sizeof text);
    const int rc = exact ? comparison_exact(a, b, NAN_FORBID, &bits)
                         : comparison_arrays(a, b, 1.0, 0.0, &near);
    status_capture(NULL, 0);
    return rc == ERR_ARGUMENT;
}

START_TEST(other_types_shapes_and_empty_arrays_are_refused)
{
    double a[COUNT];
    const double zero[COUNT] = {0.0};
    fill(a);
    const struct compared_array good = array_of(a, ELEMENT_F64);
    struct compared_array bad[] = {good, good, good, good, good, good, good};
    bad[0].type = ELEMENT_I64; /* of the same size */
    bad[1].members = 1;
    bad[2].planes = 2;
    bad[3].dim[0] = ROW - 1;
    bad[4].dims = 2; /* 4 by 0 */
    bad[5].data = NULL;
    bad[6].dims = LAYOUT_DIMS_MAX + 1;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        ck_assert_msg(refused(&bad[i], &good, 0) && refused(&bad[i], &good, 1), "case %zu", i);
        ck_assert_msg(refused(&good, &bad[i], 0) && refused(&good, &bad[i], 1), "case %zu", i);
    }
    struct compared_array empty = good;
    empty.dim[0] = 0;
    ck_assert(refused(&empty, &empty, 0) && refused(&empty, &empty, 1));
    struct compared_array huge = good;
    huge.members = 1L << 40;
    huge.planes = 1L << 40;
    ck_assert(refused(&huge, &huge, 0) && refused(&huge, &huge, 1));
    struct compared_array whole = good;
    whole.type = ELEMENT_I64;
    ck_assert(refused(&whole, &whole, 0) && !refused(&whole, &whole, 1));
    const struct compared_array nothing = array_of(zero, ELEMENT_F64);
    ck_assert(refused(&good, &nothing, 0) && !refused(&nothing, &nothing, 1));
}
END_TEST

/* Errors 1, 2, ... 1000, in another order: mean 500.5; 990 of them are at most 990. */
START_TEST(the_distribution_has_mean_and_percentiles)
{
    enum { N = 1000 };
    double r[N];
    double v[N];
    for (int i = 0; i < N; i++) {
        const int error = i * 7 % N + 1; /* 7 and 1000 have no common divisor */
        r[i] = 8.0;
        v[i] = 8.0 + (i % 2 == 0 ? error : -error);
    }
    const struct comparison_input in = {.value = v, .reference = r, .n = N};
    struct error_distribution d;
    ck_assert_int_eq(comparison_distribution(&in, &d), 0);
    ck_assert(exactly(d.largest, 1000.0) && exactly(d.mean, 500.5));
    ck_assert(exactly(d.p99, 990.0) && exactly(d.p999, 999.0));
    const struct comparison_input few = {.value = v, .reference = r, .n = 3}; /* 1, 8, 15 */
    ck_assert_int_eq(comparison_distribution(&few, &d), 0);
    ck_assert(exactly(d.largest, 15.0) && exactly(d.mean, 8.0));
    ck_assert(exactly(d.p99, 15.0) && exactly(d.p999, 15.0));
    v[2] = (double)NAN;
    ck_assert_int_eq(comparison_distribution(&few, &d), 0);
    ck_assert(isinf(d.largest) && isinf(d.p99));
    ck_assert_int_eq(mem_live(), 0);
}
END_TEST

/* Of a spectrum with peak 1: 1e-6 is not weak, what is below it is. */
START_TEST(weak_bins_are_reported_against_themselves)
{
    const double r[4] = {1.0, 1e-6, 0x1p-21, 0x1p-30};
    const double v[4] = {1.0, 3e-6, 0x1.4p-21, 0x1.8p-30}; /* a quarter, a half too much */
    const struct compared_array x = {v, ELEMENT_F64, 1, 1, 1, {4}};
    const struct compared_array y = {r, ELEMENT_F64, 1, 1, 1, {4}};
    struct comparison out;
    ck_assert_int_eq(comparison_arrays(&x, &y, 1e-5, 0.0, &out), 0);
    ck_assert(out.within && exactly(out.weak, 0.5));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("comparator");
    TCase *tests = tcase_create("comparator");
    tcase_add_test(tests, a_mismatch_is_mapped_to_member_plane_and_index);
    tcase_add_test(tests, the_tolerance_is_absolute_plus_relative_to_the_reference);
    tcase_add_test(tests, short_types_are_read_as_they_are_stored);
    tcase_add_test(tests, ulps_count_the_steps_between_two_numbers);
    tcase_add_test(tests, zeros_of_either_sign_differ_and_nan_counts_by_policy);
    tcase_add_test(tests, complex_and_whole_numbers_are_compared_bit_for_bit);
    tcase_add_test(tests, other_types_shapes_and_empty_arrays_are_refused);
    tcase_add_test(tests, the_distribution_has_mean_and_percentiles);
    tcase_add_test(tests, weak_bins_are_reported_against_themselves);
    suite_add_tcase(suite, tests);
    return unit_main(suite);
}
