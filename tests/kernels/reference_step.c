/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The passes of kernels/bodies/step.h in long double. */
#include <math.h>

#include "tests/kernels/backend_suite.h"

/* A number and the bound of its rounding error. */
struct rounded {
    long double value, error;
};

/* |z|^2 of a z that is known within `error`. */
static struct rounded square_of(long double complex z, long double error)
{
    const long double size = cabsl(z);
    const struct rounded square = {size * size,
                                   2.0L * size * error + error * error
                                       + roundings(2) * (size + error) * (size + error)};
    return square;
}

/* Sum of n such numbers in any order. */
static void add(struct rounded *sum, struct rounded term, long n)
{
    sum->value += term.value;
    sum->error += term.error + roundings((long double)n) * (term.value + term.error);
}

#define OPEN(member) offsetof(struct step_open_args, member)

const struct kernel_field fields_step_open[] = {
    {"ld_spec", FIELD_LD_SPEC, OPEN(ld_spec), 0, 0, 0, 0, 0},
    {"pre", FIELD_SPLIT, OPEN(pre), 0, 0, 0, 0, 0},
    {"spec", FIELD_COMPLEX, OPEN(spec), 0, 0, 0, 0, 0},
    {"k", FIELD_SPLIT_OUT, OPEN(k), 0, 0, 0, 0, 0},
    {"out", FIELD_SUMS, OPEN(out), 1, 0, 0, 0, 0},
    {0}};

void reference_step_open(const struct step_open_args *a, int s, long row, long n,
                         struct answer *answers)
{
    (void)s;
    struct rounded sum = {0};
    for (long i = 0; i < n; i++) {
        const long double complex k =
            split_element(a->pre, row, a->ld, i) * element(a->spec, row * a->ld_spec + i);
        const long double error = roundings(PRODUCT) * cabsl(k);
        answer_complex(&answers[0], i, k, error);
        add(&sum, square_of(k, error), n);
    }
    answer_real(&answers[1], 0, sum.value, sum.error);
}

#define LAST(member) offsetof(struct step_last_args, member)
#define LAST_SLOPE(j)                                                                          \
    {                                                                                          \
        "k" #j, FIELD_SPLIT, LAST(k[j]), 0, 0, 0, 0, 0                                         \
    }
#define LAST_FIELDS                                                                            \
    {"ld_spec", FIELD_LD_SPEC, LAST(ld_spec), 0, 0, 0, 0, 0},                                  \
        {"group", FIELD_GROUP, LAST(group), 0, 0, 0, 0, 0},                                    \
        {"y", FIELD_SPLIT, LAST(y), 0, 0, 0, 0, 0}, LAST_SLOPE(0), LAST_SLOPE(1),              \
        LAST_SLOPE(2), LAST_SLOPE(3),                                                          \
        {"hb", FIELD_SCALARS, LAST(hb), STEP_LAST_SLOPES, 0, 0, 0, 0},                         \
        {"he", FIELD_SCALARS, LAST(he), STEP_LAST_SLOPES, 0, 0, 0, 0},                         \
        {"pre", FIELD_SPLIT, LAST(pre), 0, 0, 0, 0, 0},                                        \
        {"factor", FIELD_SPLIT, LAST(factor), 0, 0, 0, 0, 0},                                  \
        {"spec", FIELD_COMPLEX, LAST(spec), 0, 0, 0, 0, 0},                                    \
        {"state", FIELD_SPLIT_OUT, LAST(state), 0, 0, 0, 0, 0},                                \
        {"part", FIELD_SPLIT_OUT, LAST(part), 0, 0, 0, 0, 0},                                  \
        {"next", FIELD_COMPLEX_OUT, LAST(next), 0, 0, 0, 0, 0},                                \
    {                                                                                          \
        "out", FIELD_SUMS, LAST(out), 1, 0, 0, 0, 0                                            \
    }

const struct kernel_field fields_step_last[] = {LAST_FIELDS, {0}};
#define LAST_LOSS(low, high)                                                                   \
    {"ch", FIELD_SCALARS, LAST(ch), 1, 0, 0, 0.5, 1},                                          \
    {                                                                                          \
        "lr", FIELD_REAL, LAST(lr), 0, 0, 0, (low), (high)                                     \
    }
#define LAST_LOSS_TWO(low, high)                                                               \
    LAST_LOSS(low, high), {"ch2", FIELD_SCALARS, LAST(ch2), 1, 0, 0, 0.1, 0.2},                \
    {                                                                                          \
        "lr2", FIELD_REAL, LAST(lr2), 0, 0, 0, (low), (high)                                   \
    }
/* Real parts of the exponents: anything, and less than VMATH_MILD. */
const struct kernel_field fields_step_last_loss[] = {LAST_FIELDS, LAST_LOSS(-30, 5), {0}};
const struct kernel_field fields_step_last_mild[] = {LAST_FIELDS, LAST_LOSS(-0.05, 0.05), {0}};
const struct kernel_field fields_step_last_loss_two[] = {
    LAST_FIELDS, LAST_LOSS_TWO(-30, 5), {0}};
const struct kernel_field fields_step_last_mild_two[] = {
    LAST_FIELDS, LAST_LOSS_TWO(-0.05, 0.05), {0}};

/* A combination of slopes and the bound of its rounding error. */
struct combined {
    long double complex value;
    long double magnitude, error;
};

static void combine(struct combined *sum, double weight, long double complex k,
                    long double error)
{
    sum->value += weight * k;
    sum->magnitude += fabsl(weight * cabsl(k));
    sum->error += fabsl(weight) * error;
}

/* Rotated by a factor: what the pass stores, within *error. */
static long double complex rotated(const struct combined *sum, long double complex factor,
                                   long double count, long double *error)
{
    *error = cabsl(factor)
             * (sum->error * (1.0L + roundings(8))
                + roundings(STEP_LAST_SLOPES + 1 + count) * sum->magnitude);
    return factor * sum->value;
}

static void last(const struct step_last_args *a, long row, long n, struct answer *answers)
{
    const double *hb = a->hb + row * STEP_LAST_SLOPES;
    const double *he = a->he + row * STEP_LAST_SLOPES;
    struct rounded size = {0};
    for (long i = 0; i < n; i++) {
        const long at = row * a->ld + i;
        const long double first = a->lr != NULL ? (long double)a->lr[at] * a->ch[row] : 0.0L;
        const long double second =
            a->lr2 != NULL ? (long double)a->lr2[at] * a->ch2[row] : 0.0L;
        const long double loss = first + second;
        /* A rounding of each product and of the sum, if there is one. */
        const long double terms = a->lr2 != NULL ? fabsl(first) + fabsl(second) : 0.0L;
        const long double exponential =
            a->lr != NULL ? terms + fabsl(loss) + exponential_error(loss) + 1.0L : 0.0L;
        const long double complex factor = split_element(a->factor, row, a->ld, i);
        const long double complex k6 = expl(-loss) * conjl(factor)
                                       * split_element(a->pre, row, a->ld, i)
                                       * element(a->spec, row * a->ld_spec + i);
        struct combined u = {0};
        struct combined e = {0};
        combine(&u, 1.0, split_element(a->y, row, a->ld, i), 0.0L);
        for (int j = 0; j < STEP_LAST_SLOPES; j++) {
            const bool made = j == STEP_LAST_SLOPES - 1;
            const long double complex k = made ? k6 : split_element(a->k[j], row, a->ld, i);
            const long double error =
                made ? roundings(2 * PRODUCT + exponential) * cabsl(k6) : 0.0L;
            combine(&u, hb[j], k, error);
            combine(&e, he[j], k, error);
        }
        long double error;
        const long double complex state =
            rotated(&u, expl(loss) * factor, PRODUCT + exponential, &error);
        answer_complex(&answers[0], i, state, error);
        answer_complex(&answers[2], i, state, error);
        add(&size, square_of(state, error), n);
        const long double complex part =
            rotated(&e, expl(loss) * factor, PRODUCT + exponential, &error);
        answer_complex(&answers[1], i, part, error);
    }
    answer_real(&answers[3], 0, size.value, size.error);
}

void reference_step_last(const struct step_last_args *a, int s, long row, long n,
                         struct answer *answers)
{
    (void)s;
    last(a, row, n, answers);
}

#define REFERENCE_LAST(name)                                                                   \
    void reference_##name(const struct step_last_args *a, int s, long row, long n,             \
                          struct answer *answers)                                              \
    {                                                                                          \
        (void)s;                                                                               \
        last(a, row, n, answers);                                                              \
    }
REFERENCE_LAST(step_last_loss)
REFERENCE_LAST(step_last_loss_two)
REFERENCE_LAST(step_last_mild)
REFERENCE_LAST(step_last_mild_two)

#define CLOSE(member) offsetof(struct step_close_args, member)

const struct kernel_field fields_step_close[] = {
    {"ld_spec", FIELD_LD_SPEC, CLOSE(ld_spec), 0, 0, 0, 0, 0},
    {"group", FIELD_GROUP, CLOSE(group), 0, 0, 0, 0, 0},
    {"pre", FIELD_SPLIT, CLOSE(pre), 0, 0, 0, 0, 0},
    {"part", FIELD_SPLIT, CLOSE(part), 0, 0, 0, 0, 0},
    {"spec", FIELD_COMPLEX, CLOSE(spec), 0, 0, 0, 0, 0},
    {"k", FIELD_SPLIT_OUT, CLOSE(k), 0, 0, 0, 0, 0},
    {"last", FIELD_SCALARS, CLOSE(last), 1, 0, 0, 0, 0},
    {"out", FIELD_SUMS, CLOSE(out), 1, 0, 0, 0, 0},
    {0}};

/* |part + last k|^2, k known within k_error */
static struct rounded error_of(long double complex part, double weight, long double complex k,
                               long double k_error)
{
    const long double complex added = weight * k;
    const long double error = roundings(1) * cabsl(part) + roundings(2) * cabsl(added)
                              + fabsl(weight) * k_error * (1.0L + roundings(2));
    return square_of(part + added, error);
}

void reference_step_close(const struct step_close_args *a, int s, long row, long n,
                          struct answer *answers)
{
    (void)s;
    struct rounded error = {0};
    for (long i = 0; i < n; i++) {
        const long double complex k =
            split_element(a->pre, row, a->ld, i) * element(a->spec, row * a->ld_spec + i);
        const long double k_error = roundings(PRODUCT) * cabsl(k);
        answer_complex(&answers[0], i, k, k_error);
        const long double complex part = split_element(a->part, row, a->ld, i);
        add(&error, error_of(part, a->last[row], k, k_error), n);
    }
    answer_real(&answers[1], 0, error.value, error.error);
}

#define BIN(member) offsetof(struct step_bin_args, member)

const struct kernel_field fields_step_bin[] = {
    {"group", FIELD_GROUP, BIN(group), 0, 0, 0, 0, 0},
    {"part", FIELD_SPLIT, BIN(part), 0, 0, 0, 0, 0},
    {"k", FIELD_SPLIT, BIN(k), 0, 0, 0, 0, 0},
    {"y", FIELD_SPLIT, BIN(y), 0, 0, FIELD_EVEN, 0, 0},
    {"state", FIELD_SPLIT, BIN(state), 0, 0, FIELD_EVEN, 0, 0},
    {"last", FIELD_SCALARS, BIN(last), 1, 0, 0, 0, 0},
    {"rtol", FIELD_SCALARS, BIN(rtol), 1, 0, 0, 1e-3, 2e-3},
    {"atol", FIELD_SCALARS, BIN(atol), 1, 0, 0, 1e-4, 1e-3},
    {"out", FIELD_SUMS, BIN(out), 2, 0, 0, 0, 0},
    {0}};

void reference_step_bin(const struct step_bin_args *a, int s, long row, long n,
                        struct answer *answers)
{
    (void)s;
    struct rounded sum = {0};
    struct rounded top = {0};
    for (long i = 0; i < n; i++) {
        const long double size = fmaxl(cabsl(split_element(a->y, row, a->ld, i)),
                                       cabsl(split_element(a->state, row, a->ld, i)));
        const long double tolerance = a->atol[row] + a->rtol[row] * size;
        const struct rounded e2 = error_of(split_element(a->part, row, a->ld, i), a->last[row],
                                           split_element(a->k, row, a->ld, i), 0.0L);
        /* |y|^2: 2, root: half of them and 1, times rtol: 1, plus atol: 1; squared; quotient: 1
         */
        const long double count = 2 * (1 + 1 + 1 + 1) + 1 + 1;
        const struct rounded ratio = {e2.value / (tolerance * tolerance),
                                      (e2.error + roundings(count) * (e2.value + e2.error))
                                          / (tolerance * tolerance)};
        add(&sum, ratio, n);
        top.value = fmaxl(top.value, ratio.value);
        top.error = fmaxl(top.error, ratio.error);
    }
    answer_real(&answers[0], 0, sum.value, sum.error);
    answer_real(&answers[0], 1, top.value, top.error);
}

#define TAKE(member) offsetof(struct step_take_args, member)

const struct kernel_field fields_step_take[] = {
    {"next", FIELD_SPLIT, TAKE(next), 0, 0, 0, 0, 0},
    {"slope", FIELD_SPLIT, TAKE(slope), 0, 0, 0, 0, 0},
    {"y", FIELD_SPLIT_OUT, TAKE(y), 0, 0, 0, 0, 0},
    {"k", FIELD_SPLIT_OUT, TAKE(k), 0, 0, 0, 0, 0},
    {0}};

/* Copies: nothing is rounded. */
void reference_step_take(const struct step_take_args *a, int s, long row, long n,
                         struct answer *answers)
{
    (void)s;
    for (long i = 0; i < n; i++) {
        const long double complex next = split_element(a->next, row, a->ld, i);
        const long double complex slope = split_element(a->slope, row, a->ld, i);
        answer_complex(&answers[0], i, next, 0.0L);
        answer_complex(&answers[1], i, slope, 0.0L);
    }
}
