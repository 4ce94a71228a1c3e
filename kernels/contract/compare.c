/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "kernels/contract/compare.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/base/mem.h"
#include "kernels/base/status.h"

#ifdef __FAST_MATH__
#    error "comparisons need NaN, Inf and signed zeros"
#endif

/* Numbers of one type, read one by one. */
struct side {
    const void *data;
    enum element type;
};

static bool type_is_complex(enum element type)
{
    return type == ELEMENT_C128 || type == ELEMENT_C64;
}

static uint32_t bits_of_float(const struct side *s, long at)
{
    uint32_t bits;
    if (s->type == ELEMENT_BF16) {
        uint16_t half;
        memcpy(&half, (const char *)s->data + 2 * at, sizeof half);
        return (uint32_t)half << 16;
    }
    memcpy(&bits, (const char *)s->data + 4 * at, sizeof bits);
    return bits;
}

/* Bits of number `at`; those of the short types stand at the low end. Complex: two numbers an
 * element. */
static uint64_t bits_at(const struct side *s, long at)
{
    uint64_t bits;
    if (s->type == ELEMENT_F32 || s->type == ELEMENT_C64)
        return bits_of_float(s, at);
    if (s->type == ELEMENT_BF16)
        return bits_of_float(s, at) >> 16;
    memcpy(&bits, (const char *)s->data + 8 * at, sizeof bits);
    return bits;
}

/* Number `at` in double, which holds every number of the other types. */
static double number_at(const struct side *s, long at)
{
    if (s->type == ELEMENT_F64 || s->type == ELEMENT_C128) {
        double value;
        memcpy(&value, (const char *)s->data + 8 * at, sizeof value);
        return value;
    }
    const uint32_t bits = bits_of_float(s, at);
    float value;
    memcpy(&value, &bits, sizeof value);
    return (double)value;
}

/* Modulus of an element, or of the difference of two when `minus` is given. */
static double modulus(const struct side *s, const struct side *minus, long i)
{
    const bool pair = type_is_complex(s->type);
    const long at = pair ? 2 * i : i;
    const double r = number_at(s, at) - (minus != NULL ? number_at(minus, at) : 0.0);
    if (!pair)
        return fabs(r);
    return hypot(r, number_at(s, at + 1) - (minus != NULL ? number_at(minus, at + 1) : 0.0));
}

static bool finite_element(const struct side *s, long i)
{
    if (!type_is_complex(s->type))
        return isfinite(number_at(s, i));
    return isfinite(number_at(s, 2 * i)) && isfinite(number_at(s, 2 * i + 1));
}

/* The two sides of a comparison with what is allowed. */
struct pair {
    struct side value, reference;
    long n;
    const double *bounds;
    double atol, rtol;
};

static struct pair pair_of(const struct comparison_input *in)
{
    const enum element type = in->is_complex ? ELEMENT_C128 : ELEMENT_F64;
    return (struct pair){.value = {in->value, type},
                         .reference = {in->reference, type},
                         .n = in->n,
                         .bounds = in->bounds,
                         .atol = in->atol,
                         .rtol = in->rtol};
}

/* Refuses a reference that proves nothing; its peak. */
static int reference_check(const struct pair *p, double *peak)
{
    if (p->n < 1 || p->value.data == NULL || p->reference.data == NULL)
        FAIL(ERR_ARGUMENT, "nothing to compare: %ld elements", p->n);
    *peak = 0.0;
    for (long i = 0; i < p->n; i++) {
        if (!finite_element(&p->reference, i))
            FAIL(ERR_ARGUMENT, "element %ld of the reference is not finite", i);
        *peak = fmax(*peak, modulus(&p->reference, NULL, i));
    }
    if (*peak == 0.0)
        FAIL(ERR_ARGUMENT,
             "all %ld elements of the reference are zero: nothing is proven by it", p->n);
    return 0;
}

static int element_bound(const struct pair *p, long i, double size, double *out)
{
    *out = p->bounds != NULL ? p->bounds[i] : p->atol + p->rtol * size;
    if (!(*out >= 0.0) || !isfinite(*out))
        FAIL(ERR_ARGUMENT, "the bound of element %ld is %g: it must be finite and not negative",
             i, *out);
    return 0;
}

static double margin_of(double error, double allowed)
{
    if (error == 0.0)
        return 0.0;
    return allowed > 0.0 && isfinite(error) ? error / allowed : (double)INFINITY;
}

/* |value - reference| of an element, INFINITY for a value that is not finite. */
static double error_at(const struct pair *p, long i)
{
    return finite_element(&p->value, i) ? modulus(&p->value, &p->reference, i)
                                        : (double)INFINITY;
}

static int pair_run(const struct pair *p, struct comparison *out)
{
    double peak;
    TRY(reference_check(p, &peak));
    *out = (struct comparison){.worst = -1, .margin = -1.0};
    const double weak = bound(BOUND_weak_bin) * peak;
    for (long i = 0; i < p->n; i++) {
        const double size = modulus(&p->reference, NULL, i);
        double allowed;
        TRY(element_bound(p, i, size, &allowed));
        const double error = error_at(p, i);
        const double margin = margin_of(error, allowed);
        out->not_finite += !finite_element(&p->value, i);
        if (size > 0.0 && size < weak)
            out->weak = fmax(out->weak, error / size);
        if (margin > out->margin) {
            out->margin = margin;
            out->worst = i;
            out->observed = error;
            out->allowed = allowed;
        }
    }
    out->within = out->not_finite == 0 && out->margin <= 1.0;
    return 0;
}

int comparison_run(const struct comparison_input *in, struct comparison *out)
{
    const struct pair p = pair_of(in);
    return pair_run(&p, out);
}

int comparison_norm(const struct comparison_input *in, double limit, struct comparison *out)
{
    const struct pair p = pair_of(in);
    double peak;
    TRY(reference_check(&p, &peak));
    if (!(limit > 0.0) || !isfinite(limit))
        FAIL(ERR_ARGUMENT, "a norm bound of %g: it must be positive and finite", limit);
    *out = (struct comparison){.worst = -1};
    double error2 = 0.0;
    double size2 = 0.0;
    /* Scaled by the peak: squares neither over- nor underflow. */
    for (long i = 0; i < p.n; i++) {
        const double size = modulus(&p.reference, NULL, i) / peak;
        const double error = modulus(&p.value, &p.reference, i) / peak;
        out->not_finite += !finite_element(&p.value, i);
        if (size > 0.0 && size < bound(BOUND_weak_bin))
            out->weak = fmax(out->weak, error / size);
        error2 += error * error;
        size2 += size * size;
    }
    out->observed = out->not_finite == 0 ? sqrt(error2 / size2) : (double)INFINITY;
    out->allowed = limit;
    out->margin = margin_of(out->observed, limit);
    out->within = out->not_finite == 0 && out->margin <= 1.0;
    return 0;
}

static int order_of(const void *a, const void *b)
{
    const double x = *(const double *)a;
    const double y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Place in a sorted row of n: at most one in `of` elements lies behind it. */
static long place_of_all_but(long n, long of)
{
    return n - 1 - n / of;
}

int comparison_distribution(const struct comparison_input *in, struct error_distribution *out)
{
    const struct pair p = pair_of(in);
    double peak;
    double *error;
    TRY(reference_check(&p, &peak));
    TRY(MEM_NEW(p.n, &error));
    double sum = 0.0;
    for (long i = 0; i < p.n; i++) {
        error[i] = error_at(&p, i);
        sum += error[i];
    }
    qsort(error, (size_t)p.n, sizeof *error, order_of);
    *out = (struct error_distribution){.largest = error[p.n - 1],
                                       .mean = sum / (double)p.n,
                                       .p99 = error[place_of_all_but(p.n, 100)],
                                       .p999 = error[place_of_all_but(p.n, 1000)]};
    mem_free(error);
    return 0;
}

/* Elements of one plane, 0 when a length is not positive or the product too large. */
static long plane_count(const struct compared_array *array)
{
    long count = array->dims >= 0 && array->dims <= LAYOUT_DIMS_MAX ? 1 : 0;
    for (int d = 0; count > 0 && d < array->dims; d++)
        count =
            array->dim[d] > 0 && count <= LONG_MAX / array->dim[d] ? count * array->dim[d] : 0;
    return count;
}

static int shape_check(const struct compared_array *a, const struct compared_array *b,
                       long *count)
{
    if (a->type != b->type)
        FAIL(ERR_ARGUMENT, "arrays of type %d and %d are not compared", (int)a->type,
             (int)b->type);
    bool same = a->members == b->members && a->planes == b->planes && a->dims == b->dims;
    for (int d = 0; same && d < a->dims && d < LAYOUT_DIMS_MAX; d++)
        same = a->dim[d] == b->dim[d];
    if (!same)
        FAIL(ERR_ARGUMENT,
             "arrays of other shapes are not compared: %ld and %ld members, %ld "
             "and %ld planes, %d and %d dimensions",
             a->members, b->members, a->planes, b->planes, a->dims, b->dims);
    const long plane = plane_count(a);
    if (a->data == NULL || b->data == NULL || plane == 0 || a->members < 1 || a->planes < 1
        || a->planes > LONG_MAX / 2 / plane || a->members > LONG_MAX / 2 / plane / a->planes)
        FAIL(ERR_ARGUMENT, "nothing to compare: %ld members of %ld planes of %ld elements",
             a->members, a->planes, plane);
    *count = a->members * a->planes * plane;
    return 0;
}

struct comparison_place comparison_place(const struct compared_array *array, long i)
{
    const long plane = plane_count(array);
    return (struct comparison_place){.member = i / plane / array->planes,
                                     .plane = i / plane % array->planes,
                                     .index = i % plane};
}

static int floats_check(enum element type)
{
    if (type == ELEMENT_I64)
        FAIL(ERR_ARGUMENT, "whole numbers have no tolerance: compare them exactly");
    return 0;
}

int comparison_arrays(const struct compared_array *value,
                      const struct compared_array *reference, double atol, double rtol,
                      struct comparison *out)
{
    struct pair p = {.value = {value->data, value->type},
                     .reference = {reference->data, reference->type},
                     .atol = atol,
                     .rtol = rtol};
    TRY(shape_check(value, reference, &p.n));
    TRY(floats_check(value->type));
    return pair_run(&p, out);
}

static bool is_nan(const struct side *s, long at)
{
    return s->type != ELEMENT_I64 && isnan(number_at(s, at));
}

/* Whether number `at` differs; counts a NaN. */
static bool number_differs(const struct side *a, const struct side *b, long at,
                           enum nan_policy policy, bool *nan)
{
    const bool left = is_nan(a, at);
    const bool right = is_nan(b, at);
    *nan = *nan || left || right;
    if (policy == NAN_FORBID && (left || right))
        return true;
    if (policy == NAN_CANONICAL && left && right)
        return false;
    return bits_at(a, at) != bits_at(b, at);
}

int comparison_exact(const struct compared_array *a, const struct compared_array *b,
                     enum nan_policy policy, struct bit_comparison *out)
{
    long n;
    TRY(shape_check(a, b, &n));
    const struct side x = {a->data, a->type};
    const struct side y = {b->data, b->type};
    const int parts = type_is_complex(a->type) ? 2 : 1;
    *out = (struct bit_comparison){.first = -1};
    for (long i = 0; i < n; i++) {
        bool nan = false;
        bool differs = false;
        for (int k = 0; k < parts; k++)
            differs = number_differs(&x, &y, parts * i + k, policy, &nan) || differs;
        out->nans += nan;
        out->different += differs;
        if (differs && out->first < 0)
            out->first = i;
    }
    out->equal = out->different == 0;
    if (!out->equal)
        out->place = comparison_place(a, out->first);
    return 0;
}

/* Numbers in their order as whole numbers, both zeros at 0; `sign` is the sign's bit. */
static int64_t order_number(uint64_t bits, uint64_t sign)
{
    return (bits & sign) != 0 ? -(int64_t)(bits & (sign - 1)) : (int64_t)bits;
}

static uint64_t number_distance(const struct side *a, const struct side *b, long at)
{
    if (!isfinite(number_at(a, at)) || !isfinite(number_at(b, at)))
        return UINT64_MAX;
    const uint64_t sign = a->type == ELEMENT_BF16                            ? 1ULL << 15
                          : a->type == ELEMENT_F32 || a->type == ELEMENT_C64 ? 1ULL << 31
                                                                             : 1ULL << 63;
    const int64_t x = order_number(bits_at(a, at), sign);
    const int64_t y = order_number(bits_at(b, at), sign);
    return x > y ? (uint64_t)x - (uint64_t)y : (uint64_t)y - (uint64_t)x;
}

int comparison_ulps(const struct compared_array *a, const struct compared_array *b,
                    uint64_t *largest, long *at)
{
    long n;
    TRY(shape_check(a, b, &n));
    TRY(floats_check(a->type));
    const struct side x = {a->data, a->type};
    const struct side y = {b->data, b->type};
    const int parts = type_is_complex(a->type) ? 2 : 1;
    long where = 0;
    *largest = 0;
    for (long i = 0; i < parts * n; i++) {
        const uint64_t distance = number_distance(&x, &y, i);
        where = distance > *largest ? i / parts : where;
        *largest = distance > *largest ? distance : *largest;
    }
    if (at != NULL)
        *at = where;
    return 0;
}

uint64_t ulp_distance(double a, double b)
{
    const struct side x = {&a, ELEMENT_F64};
    const struct side y = {&b, ELEMENT_F64};
    return number_distance(&x, &y, 0);
}

long comparison_bits(const void *a, const void *b, size_t size, long count)
{
    for (long i = 0; i < count; i++)
        if (memcmp((const char *)a + (size_t)i * size, (const char *)b + (size_t)i * size, size)
            != 0)
            return i;
    return -1;
}
