/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The formulas of kernels/bodies/spectral.h and kerr.h in long double. */
#include <math.h>

#include "kernels/contract/bounds.h"
#include "tests/kernels/backend_suite.h"

#define SCALE(member) offsetof(struct spectral_scale_args, member)

const struct kernel_field fields_spectral_scale[] = {
    {"pre", FIELD_COMPLEX, SCALE(pre), 0, 0, 0, 0, 0},
    {"in", FIELD_COMPLEX, SCALE(in), 0, 0, 0, 0, 0},
    {"out", FIELD_COMPLEX_OUT, SCALE(out), 0, 0, 0, 0, 0},
    {0}};

void reference_spectral_scale(const struct spectral_scale_args *a, int s, long row, long n,
                              struct answer *answers)
{
    (void)s;
    for (long i = 0; i < n; i++) {
        const long at = row * a->ld + i;
        const long double complex product = element(a->pre, at) * element(a->in, at);
        answer_complex(&answers[0], i, product, roundings(PRODUCT) * cabsl(product));
    }
}

#define ADD(member) offsetof(struct spectral_add_args, member)

const struct kernel_field fields_spectral_add[] = {
    {"pre", FIELD_COMPLEX, ADD(pre), 0, 0, 0, 0, 0},
    {"in", FIELD_COMPLEX, ADD(in), 0, 0, 0, 0, 0},
    {"add", FIELD_COMPLEX, ADD(add), 0, 0, 0, 0, 0},
    {"out", FIELD_COMPLEX_OUT, ADD(out), 0, 0, 0, 0, 0},
    {0}};

void reference_spectral_add(const struct spectral_add_args *a, int s, long row, long n,
                            struct answer *answers)
{
    (void)s;
    for (long i = 0; i < n; i++) {
        const long at = row * a->ld + i;
        const long double complex product = element(a->pre, at) * element(a->in, at);
        answer_complex(&answers[0], i, product + element(a->add, at),
                       roundings(PRODUCT + 1) * cabsl(product)
                           + roundings(1) * cabsl(element(a->add, at)));
    }
}

#define MIX(member) offsetof(struct spectral_mix_args, member)

const struct kernel_field fields_spectral_mix[] = {
    {"scale", FIELD_SCALARS, MIX(scale), 1, 0, 0, 1, 2},
    {"weight", FIELD_SCALARS, MIX(weight), SPECTRAL_MIX, 0, FIELD_STEPWISE, 0, 0},
    {"first", FIELD_COMPLEX, MIX(first), 0, 0, 0, 0, 0},
    {"second", FIELD_COMPLEX, MIX(second), 0, 1, 0, 0, 0},
    {"third", FIELD_COMPLEX, MIX(third), 0, 2, 0, 0, 0},
    {"in", FIELD_COMPLEX, MIX(in), 0, 0, 0, 0, 0},
    {"out", FIELD_COMPLEX_OUT, MIX(out), 0, 0, 0, 0, 0},
    {0}};

/* A rounding for each weight, the sums, the scale, and the product. */
void reference_spectral_mix(const struct spectral_mix_args *a, int s, long row, long n,
                            struct answer *answers)
{
    const cplx *const part[] = {a->first, a->second, a->third};
    for (long i = 0; i < n; i++) {
        const long at = row * a->ld + i;
        long double complex sum = 0.0L;
        long double size = 0.0L;
        for (int j = 0; j <= s; j++) {
            const long double w =
                j == 0 ? 1.0L : (long double)a->weight[row * SPECTRAL_MIX + j - 1];
            sum += w * element(part[j], at);
            size += cabsl(w * element(part[j], at));
        }
        const long double complex in = a->scale[row] * element(a->in, at);
        answer_complex(&answers[0], i, sum * in, roundings(PRODUCT + 4) * size * cabsl(in));
    }
}

#define SPLIT(member) offsetof(struct spectral_split_args, member)

const struct kernel_field fields_spectral_split[] = {
    {"ld_spec", FIELD_LD_SPEC, SPLIT(ld_spec), 0, 0, 0, 0, 0},
    {"in", FIELD_COMPLEX, SPLIT(in), 0, 0, 0, 0, 0},
    {"out", FIELD_SPLIT_OUT, SPLIT(out), 0, 0, 0, 0, 0},
    {0}};

void reference_spectral_split(const struct spectral_split_args *a, int s, long row, long n,
                              struct answer *answers)
{
    (void)s;
    for (long i = 0; i < n; i++)
        answer_complex(&answers[0], i, element(a->in, row * a->ld_spec + i), 0.0L);
}

#define JOIN(member) offsetof(struct spectral_join_args, member)
#define JOIN_FIELDS                                                                            \
    {                                                                                          \
        {"ld_spec", FIELD_LD_SPEC, JOIN(ld_spec), 0, 0, 0, 0, 0},                              \
            {"in", FIELD_SPLIT, JOIN(in), 0, 0, 0, 0, 0},                                      \
            {"out", FIELD_COMPLEX_OUT, JOIN(out), 0, 0, 0, 0, 0},                              \
        {                                                                                      \
            0                                                                                  \
        }                                                                                      \
    }

const struct kernel_field fields_spectral_quarter[] = JOIN_FIELDS;

void reference_spectral_quarter(const struct spectral_join_args *a, int s, long row, long n,
                                struct answer *answers)
{
    (void)s;
    for (long i = 0; i < n; i++)
        answer_complex(&answers[0], i, -IMAGINARY * split_element(a->in, row, a->ld, i), 0.0L);
}

#define LATE(member) offsetof(struct spectral_late_args, member)

const struct kernel_field fields_spectral_late[] = {
    {"in", FIELD_COMPLEX, LATE(in), 0, 0, 0, 0, 0},
    {"out", FIELD_COMPLEX_OUT, LATE(out), 0, 0, 0, 0, 0},
    {0}};

void reference_spectral_late(const struct spectral_late_args *a, int s, long row, long n,
                             struct answer *answers)
{
    (void)s;
    for (long i = 0; i < n; i++)
        answer_complex(&answers[0], i, -IMAGINARY * element(a->in, row * a->ld + i), 0.0L);
}

#define BIN_POWER(member) offsetof(struct spectral_power_args, member)

const struct kernel_field fields_spectral_power[] = {
    {"ld_real", FIELD_LD_REAL, BIN_POWER(ld_real), 0, 0, 0, 0, 0},
    {"in", FIELD_SPLIT, BIN_POWER(in), 0, 0, FIELD_EVEN, 0, 0},
    {"over", FIELD_REAL, BIN_POWER(over), 0, 0, 0, 0, 0},
    {"shift", FIELD_SCALARS, BIN_POWER(shift), 1, 0, 0, 1, 2},
    {"power", FIELD_REAL_OUT, BIN_POWER(power), 0, 0, 0, 0, 0},
    {"out", FIELD_SUMS, BIN_POWER(out), 3, 0, 0, 0, 0},
    {0}};

/* Two roundings of a power, at most two more of a term and n of the sum. */
void reference_spectral_power(const struct spectral_power_args *a, int s, long row, long n,
                              struct answer *answers)
{
    long double sum[3] = {0.0L};
    long double size[3] = {0.0L};
    (void)s;
    for (long i = 0; i < n; i++) {
        const long double complex z = split_element(a->in, row, a->ld, i);
        const long double power = creall(z) * creall(z) + cimagl(z) * cimagl(z);
        const long double x = (long double)i + (long double)a->shift[row];
        const long double terms[3] = {power, power * a->over[row * a->ld_real + i], power * x};
        answer_real(&answers[0], i, power, roundings(2) * power);
        for (int k = 0; k < 3; k++) {
            sum[k] += terms[k];
            size[k] += fabsl(terms[k]);
        }
    }
    for (long k = 0; k < 3; k++)
        answer_real(&answers[1], k, sum[k], roundings((long double)n + 4) * size[k]);
}

#define TURN(member) offsetof(struct spectral_turn_args, member)

const struct kernel_field fields_spectral_turn[] = {
    {"ld_real", FIELD_LD_REAL, TURN(ld_real), 0, 0, 0, 0, 0},
    {"in", FIELD_SPLIT, TURN(in), 0, 0, 0, 0, 0},
    {"next", FIELD_SPLIT, TURN(next), 0, 0, 0, 0, 0},
    {"size", FIELD_REAL_OUT, TURN(size), 0, 0, 0, 0, 0},
    {"angle", FIELD_REAL_OUT, TURN(angle), 0, 0, 0, 0, 0},
    {0}};

/* The product's error turns it by at most that over its modulus, and the angle is within
 * angle_ulp units of the last place of at most pi, 4 u each. Squares, their sum and the root
 * are four roundings of the modulus. */
void reference_spectral_turn(const struct spectral_turn_args *a, int s, long row, long n,
                             struct answer *answers)
{
    (void)s;
    const long double own = 4.0L * (long double)bound(BOUND_angle_ulp) * ROUNDOFF;
    for (long i = 0; i < n; i++) {
        const long double complex z =
            split_element(a->in, row, a->ld, i) * conjl(split_element(a->next, row, a->ld, i));
        answer_real(&answers[0], i, cabsl(z), roundings(PRODUCT + 4) * cabsl(z));
        answer_real(&answers[1], i, cargl(-z), roundings(PRODUCT) + own);
    }
}

#define LINE(member) offsetof(struct spectral_line_args, member)
#define LINE_FIELDS                                                                            \
    {"size", FIELD_REAL, LINE(size), 0, 0, 0, 0.5, 1},                                         \
        {"angle", FIELD_REAL, LINE(angle), 0, 0, 0, 0, 0},                                     \
    {                                                                                          \
        "shift", FIELD_SCALARS, LINE(shift), 1, 0, 0, 1, 2                                     \
    }

const struct kernel_field fields_spectral_weight[] = {
    LINE_FIELDS, {"out", FIELD_SUMS, LINE(out), 3, 0, 0, 0, 0}, {0}};
const struct kernel_field fields_spectral_moment[] = {
    LINE_FIELDS, {"out", FIELD_SUMS, LINE(out), 2, 0, 0, 0, 0}, {0}};

/* Without `least`. At most three roundings of a term and n of the sum. */
static void line_sums(const struct spectral_line_args *a, long row, long n, long double sum[5],
                      long double size[5])
{
    for (long i = 0; i < n; i++) {
        const long double w = a->size[row * a->ld + i];
        const long double angle = a->angle[row * a->ld + i];
        const long double x = (long double)i + (long double)a->shift[row];
        const long double terms[5] = {w, w * angle, w * x, w * x * angle, w * x * x};
        for (int k = 0; k < 5; k++) {
            sum[k] += terms[k];
            size[k] += fabsl(terms[k]);
        }
    }
}

void reference_spectral_weight(const struct spectral_line_args *a, int s, long row, long n,
                               struct answer *answers)
{
    long double sum[5] = {0.0L};
    long double size[5] = {0.0L};
    (void)s;
    line_sums(a, row, n, sum, size);
    for (long k = 0; k < 3; k++)
        answer_real(&answers[0], k, sum[k], roundings((long double)n + 3) * size[k]);
}

void reference_spectral_moment(const struct spectral_line_args *a, int s, long row, long n,
                               struct answer *answers)
{
    long double sum[5] = {0.0L};
    long double size[5] = {0.0L};
    (void)s;
    line_sums(a, row, n, sum, size);
    for (long k = 0; k < 2; k++)
        answer_real(&answers[0], k, sum[3 + k], roundings((long double)n + 4) * size[3 + k]);
}

#define EVEN(member) offsetof(struct half_even_args, member)

const struct kernel_field fields_half_even[] = {
    {"samples", FIELD_COMPLEX, EVEN(samples), 0, 0, FIELD_EVEN | FIELD_FRONT, 0, 0},
    {"quadrature", FIELD_REAL, EVEN(quadrature), 0, 0, FIELD_EVEN, 0, 0},
    {"out", FIELD_SUMS, EVEN(out), 2, 0, 0, 0, 0},
    {0}};

/* Two roundings of a term. */
void reference_half_even(const struct half_even_args *a, int s, long row, long n,
                         struct answer *answers)
{
    long double sum = 0.0L;
    long double top = 0.0L;
    (void)s;
    for (long i = 0; i < n; i++) {
        const long double x = a->samples[row * a->ld + i].r;
        const long double q = a->quadrature[row * a->ld + i];
        sum += x * x + q * q;
        top = fmaxl(top, x * x + q * q);
    }
    answer_real(&answers[0], 0, sum, roundings((long double)n + 2) * sum);
    answer_real(&answers[0], 1, top, roundings(2) * top);
}

#define PAIR(member) offsetof(struct half_sums_args, member)

const struct kernel_field fields_half_sums[] = {
    {"samples", FIELD_COMPLEX, PAIR(samples), 0, 0, FIELD_FRONT, 0, 0},
    {"quadrature", FIELD_REAL, PAIR(quadrature), 0, 0, 0, 0, 0},
    {"sum", FIELD_REAL_OUT, PAIR(sum), 0, 0, 0, 0, 0},
    {"difference", FIELD_REAL_OUT, PAIR(difference), 0, 0, 0, 0, 0},
    {0}};

void reference_half_sums(const struct half_sums_args *a, int s, long row, long n,
                         struct answer *answers)
{
    (void)s;
    for (long i = 0; i < n; i++) {
        const long double x = a->samples[row * a->ld + i].r;
        const long double q = a->quadrature[row * a->ld + i];
        answer_real(&answers[0], i, q + x, roundings(1) * fabsl(q + x));
        answer_real(&answers[1], i, q - x, roundings(1) * fabsl(q - x));
    }
}

#define LEAN(member) offsetof(struct spectral_lean_args, member)

/* |lean tilt| < 1/2, so that the divisor does not cancel. */
const struct kernel_field fields_spectral_lean[] = {
    {"ld_real", FIELD_LD_REAL, LEAN(ld_real), 0, 0, 0, 0, 0},
    {"group", FIELD_GROUP, LEAN(group), 0, 0, 0, 0, 0},
    {"in", FIELD_COMPLEX, LEAN(in), 0, 0, 0, 0, 0},
    {"tilt", FIELD_REAL, LEAN(tilt), 0, 0, 0, 0.5, 1},
    {"lean", FIELD_SCALARS, LEAN(lean), 1, 0, 0, 0.25, 0.5},
    {"out", FIELD_COMPLEX_OUT, LEAN(out), 0, 0, 0, 0, 0},
    {0}};

void reference_spectral_lean(const struct spectral_lean_args *a, int s, long row, long n,
                             struct answer *answers)
{
    (void)s;
    for (long i = 0; i < n; i++) {
        const long double below =
            1.0L + (long double)a->lean[row] * a->tilt[row * a->ld_real + i];
        const long double complex z = element(a->in, row * a->ld + i) / below;
        /* The divisor's rounding counts as 1 + |lean tilt| over it, at most 3. */
        answer_complex(&answers[0], i, z, roundings(2 + 2 * 3) * cabsl(z));
    }
}

const struct kernel_field fields_spectral_join[] = JOIN_FIELDS;

void reference_spectral_join(const struct spectral_join_args *a, int s, long row, long n,
                             struct answer *answers)
{
    (void)s;
    for (long i = 0; i < n; i++)
        answer_complex(&answers[0], i, split_element(a->in, row, a->ld, i), 0.0L);
}

#define SUMS(member) offsetof(struct spectral_sums_args, member)

const struct kernel_field fields_spectral_sums[] = {
    {"a", FIELD_COMPLEX, SUMS(a), 0, 0, FIELD_EVEN, 0, 0},
    {"w", FIELD_REAL, SUMS(w), 0, 0, FIELD_HOLES, 0.5, 2},
    {"out", FIELD_SUMS, SUMS(out), 3, 0, 0, 0, 0},
    {0}};

/* Compensated: the sum adds two roundings, whatever its length, and n u of them squared; a term
 * has three (two products and their sum), and one for w. */
void reference_spectral_sums(const struct spectral_sums_args *a, int s, long row, long n,
                             struct answer *answers)
{
    (void)s;
    long double sums[3] = {0.0L, 0.0L, 0.0L};
    for (long i = row * a->ld; i < row * a->ld + n; i++) {
        const long double size = cabsl(element(a->a, i));
        if (a->w[i] > 0.0) {
            sums[0] += size * size;
            sums[1] += size * size / a->w[i];
            sums[2] += size * size * a->w[i];
        }
    }
    const long double second = (long double)n * (long double)n * ROUNDOFF;
    for (int k = 0; k < 3; k++)
        answer_real(&answers[0], k, sums[k], roundings(2 + 2 + 1 + 2 * second) * sums[k]);
}

#define INSTANT(member) offsetof(struct kerr_instant_args, member)

const struct kernel_field fields_kerr_instant[] = {
    {"a", FIELD_COMPLEX, INSTANT(a), 0, 0, 0, 0, 0},
    {"out", FIELD_COMPLEX_OUT, INSTANT(out), 0, 0, 0, 0, 0},
    {0}};

void reference_kerr_instant(const struct kerr_instant_args *a, int s, long row, long n,
                            struct answer *answers)
{
    (void)s;
    for (long i = 0; i < n; i++) {
        const long double complex z = element(a->a, row * a->ld + i);
        const long double complex out = creall(z * conjl(z)) * z;
        answer_complex(&answers[0], i, out, roundings(3) * cabsl(out));
    }
}

#define POWER(member) offsetof(struct kerr_power_args, member)

const struct kernel_field fields_kerr_power[] = {
    {"ld_real", FIELD_LD_REAL, POWER(ld_real), 0, 0, 0, 0, 0},
    {"a", FIELD_COMPLEX, POWER(a), 0, 0, FIELD_EVEN, 0, 0},
    {"power", FIELD_REAL_OUT, POWER(power), 0, 0, 0, 0, 0},
    {0}};

void reference_kerr_power(const struct kerr_power_args *a, int s, long row, long n,
                          struct answer *answers)
{
    (void)s;
    for (long i = 0; i < n; i++) {
        const long double complex z = element(a->a, row * a->ld + i);
        const long double power = creall(z) * creall(z) + cimagl(z) * cimagl(z);
        answer_real(&answers[0], i, power, roundings(2) * power);
    }
}

#define APPLY(member) offsetof(struct kerr_apply_args, member)

const struct kernel_field fields_kerr_apply[] = {
    {"ld_real", FIELD_LD_REAL, APPLY(ld_real), 0, 0, 0, 0, 0},
    {"a", FIELD_COMPLEX, APPLY(a), 0, 0, 0, 0, 0},
    {"factor", FIELD_REAL, APPLY(factor), 0, 0, 0, 0, 0},
    {"out", FIELD_COMPLEX_OUT, APPLY(out), 0, 0, 0, 0, 0},
    {0}};

void reference_kerr_apply(const struct kerr_apply_args *a, int s, long row, long n,
                          struct answer *answers)
{
    (void)s;
    for (long i = 0; i < n; i++) {
        const long double complex z = element(a->a, row * a->ld + i);
        const long double complex out = a->factor[row * a->ld_real + i] * z;
        answer_complex(&answers[0], i, out, roundings(1) * cabsl(out));
    }
}
