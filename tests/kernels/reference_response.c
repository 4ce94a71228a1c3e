/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The formulas of kernels/bodies/response.h in long double. */
#include <math.h>

#include "tests/kernels/backend_suite.h"

#define KERR(member) offsetof(struct response_kerr_args, member)
#define KERR_FIELDS                                                                            \
    {"field", FIELD_REAL, KERR(field), 0, 0, 0, 0, 0},                                         \
        {"quadrature", FIELD_REAL, KERR(quadrature), 0, 1, FIELD_EVEN, 0, 0},                  \
        {"window", FIELD_REAL, KERR(window), 0, 0, 0, 0.5, 1},                                 \
        {"kerr", FIELD_SCALARS, KERR(kerr), 1, 0, 0, 1, 2},                                    \
    {                                                                                          \
        "out", FIELD_REAL_OUT, KERR(out), 0, 0, 0, 0, 0                                        \
    }

/* Alone, the response is odd in scale and field; so a flipped sign of either shows. */
const struct kernel_field fields_response_kerr[] = {
    {"scale", FIELD_SCALARS, KERR(scale), 1, 0, 0, 1, 2}, KERR_FIELDS, {0}};
const struct kernel_field fields_response_kerr_extra[] = {
    {"scale", FIELD_SCALARS, KERR(scale), 1, 0, 0, 1, 2},
    KERR_FIELDS,
    {"extra", FIELD_REAL, KERR(extra), 0, 0, 0, 0, 0},
    {0}};

/* The factor of E: at most 6 roundings of the Kerr part (E, its square, the sum, 3/4, kerr, and
 * Q like E) and one of the sum; then the products with E, which is rounded, and the window. */
static void kerr(const struct response_kerr_args *a, int s, long row, long n,
                 struct answer *answers)
{
    for (long i = 0; i < n; i++) {
        const long at = row * a->ld + i;
        const long double e = (long double)a->scale[row] * a->field[at];
        const long double q = s == 1 ? (long double)a->scale[row] * a->quadrature[at] : 0.0L;
        const long double instant = a->kerr[row] * (s == 1 ? 0.75L * (e * e + q * q) : e * e);
        const long double extra = a->extra != NULL ? a->extra[at] : 0.0L;
        const long double size = fabsl(instant) + fabsl(extra);
        answer_real(&answers[0], i, a->window[at] * (instant + extra) * e,
                    roundings(7 + 3) * fabsl(a->window[at] * size * e));
    }
}

void reference_response_kerr(const struct response_kerr_args *a, int s, long row, long n,
                             struct answer *answers)
{
    kerr(a, s, row, n, answers);
}

void reference_response_kerr_extra(const struct response_kerr_args *a, int s, long row, long n,
                                   struct answer *answers)
{
    kerr(a, s, row, n, answers);
}

#define PAIR(member) offsetof(struct response_pair_args, member)
#define PAIR_FIELDS                                                                            \
    {"field", FIELD_SPLIT, PAIR(field), 0, 0, 0, 0, 0},                                        \
        {"window", FIELD_REAL, PAIR(window), 0, 0, 0, 0.5, 1},                                 \
        {"scale", FIELD_SCALARS, PAIR(scale), 1, 0, 0, 1, 2},                                  \
        {"kerr", FIELD_SCALARS, PAIR(kerr), 1, 0, 0, 1, 2},                                    \
    {                                                                                          \
        "out", FIELD_SPLIT_OUT, PAIR(out), 0, 0, 0, 0, 0                                       \
    }

const struct kernel_field fields_response_kerr_pair[] = {PAIR_FIELDS, {0}};
const struct kernel_field fields_response_kerr_pair_extra[] = {
    PAIR_FIELDS, {"extra", FIELD_REAL, PAIR(extra), 0, 0, 0, 0, 0}, {0}};

/* Two components as a complex number: the factor is the same for both. */
static void pair(const struct response_pair_args *a, long row, long n, struct answer *answers)
{
    for (long i = 0; i < n; i++) {
        const long at = row * a->ld + i;
        const long double complex e = a->scale[row] * split_element(a->field, row, a->ld, i);
        const long double square = cabsl(e) * cabsl(e);
        const long double extra = a->extra != NULL ? a->extra[at] : 0.0L;
        const long double factor = a->kerr[row] * square + extra;
        const long double size = fabsl(a->kerr[row] * square) + fabsl(extra);
        answer_complex(&answers[0], i, a->window[at] * factor * e,
                       roundings(7 + 3) * fabsl(a->window[at] * size) * cabsl(e));
    }
}

void reference_response_kerr_pair(const struct response_pair_args *a, int s, long row, long n,
                                  struct answer *answers)
{
    (void)s;
    pair(a, row, n, answers);
}

void reference_response_kerr_pair_extra(const struct response_pair_args *a, int s, long row,
                                        long n, struct answer *answers)
{
    (void)s;
    pair(a, row, n, answers);
}

#define SUM(member) offsetof(struct response_add_args, member)

const struct kernel_field fields_response_add[] = {
    {"first", FIELD_REAL, SUM(first), 0, 0, 0, 0, 0},
    {"second", FIELD_REAL, SUM(second), 0, 0, 0, 0, 0},
    {"out", FIELD_REAL_OUT, SUM(out), 0, 0, 0, 0, 0},
    {0}};

void reference_response_add(const struct response_add_args *a, int s, long row, long n,
                            struct answer *answers)
{
    (void)s;
    for (long i = row * a->ld; i < row * a->ld + n; i++) {
        const long double out = (long double)a->first[i] + a->second[i];
        answer_real(&answers[0], i - row * a->ld, out, roundings(1) * fabsl(out));
    }
}

#define SQUARE(member) offsetof(struct raman_square_args, member)

const struct kernel_field fields_raman_square[] = {
    {"field", FIELD_REAL, SQUARE(field), 0, 0, FIELD_EVEN, 0, 0},
    {"quadrature", FIELD_REAL, SQUARE(quadrature), 0, 1, FIELD_EVEN, 0, 0},
    {"out", FIELD_REAL_OUT, SQUARE(out), 0, 0, 0, 0, 0},
    {0}};

void reference_raman_square(const struct raman_square_args *a, int s, long row, long n,
                            struct answer *answers)
{
    for (long i = row * a->ld; i < row * a->ld + n; i++) {
        const long double square = (long double)a->field[i] * a->field[i];
        const long double q = s == 1 ? a->quadrature[i] : 0.0L;
        const long double out = s == 1 ? 0.5L * (square + q * q) : square;
        answer_real(&answers[0], i - row * a->ld, out, roundings(2) * out);
    }
}

#define ENVELOPE(member) offsetof(struct response_envelope_args, member)

/* The response is odd in scale and field, so a flipped sign of either shows. */
const struct kernel_field fields_response_envelope[] = {
    {"ld_real", FIELD_LD_REAL, ENVELOPE(ld_real), 0, 0, 0, 0, 0},
    {"field", FIELD_COMPLEX, ENVELOPE(field), 0, 0, 0, 0, 0},
    {"extra", FIELD_REAL, ENVELOPE(extra), 0, 1, 0, 0, 0},
    {"window", FIELD_REAL, ENVELOPE(window), 0, 0, 0, 0.5, 1},
    {"scale", FIELD_SCALARS, ENVELOPE(scale), 1, 0, 0, 1, 2},
    {"kerr", FIELD_SCALARS, ENVELOPE(kerr), 1, 0, 0, 1, 2},
    {"out", FIELD_COMPLEX_OUT, ENVELOPE(out), 0, 0, 0, 0, 0},
    {0}};

/* The factor: E twice in its square, the squares, their sum, kerr and what is added to it, 6
 * roundings; then E, the window and two products. */
void reference_response_envelope(const struct response_envelope_args *a, int s, long row,
                                 long n, struct answer *answers)
{
    for (long i = 0; i < n; i++) {
        const long real = row * a->ld_real + i;
        const long double complex e = a->scale[row] * element(a->field, row * a->ld + i);
        const long double instant = a->kerr[row] * creall(e * conjl(e));
        const long double extra = s == 1 ? a->extra[real] : 0.0L;
        const long double size = fabsl(instant) + fabsl(extra);
        answer_complex(&answers[0], i, a->window[real] * (instant + extra) * e,
                       roundings(6 + 3) * fabsl(a->window[real] * size) * cabsl(e));
    }
}
