/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The formulas of kernels/bodies/stage.h in long double. */
#include <math.h>

#include "tests/kernels/backend_suite.h"

/* An exponent of one or two terms; `size` times u is its rounding error: one rounding, or one
 * of each product and of the sum. */
struct exponent {
    long double value, size;
};

static struct exponent exponent_of(const double *l, const double *l2, long at, double c,
                                   const double *c2, long row)
{
    const long double first = (long double)l[at] * c;
    if (l2 == NULL)
        return (struct exponent){first, fabsl(first)};
    const long double second = (long double)l2[at] * c2[row];
    return (struct exponent){first + second,
                             fabsl(first) + fabsl(second) + fabsl(first + second)};
}

/* Roundings of exp of it, by the product it enters; none without a loss. */
static long double exponential_roundings(const double *lr, struct exponent loss)
{
    return lr != NULL ? loss.size + exponential_error(loss.value) + 1.0L : 0.0L;
}

/* Element i before it is propagated, and the bound of its rounding error. */
struct propagated {
    long i;
    long double complex value;
    long double error;
};

/* The two outputs of a pass that propagates: out, and the factor that the next pass takes, with
 * the growth unless that pass is the last of the step. */
static void propagate(struct exponent theta, struct exponent loss, const double *lr,
                      bool to_last, const struct propagated *u, struct answer *answers)
{
    const long double complex factor = cosl(theta.value) + sinl(theta.value) * IMAGINARY;
    const long double phase_error = theta.size + PHASE;
    const long double exponential = exponential_roundings(lr, loss);
    const long double count = phase_error + PRODUCT + exponential;
    const long double growth = to_last ? 1.0L : expl(-loss.value);
    answer_complex(&answers[0], u->i, growth * factor,
                   growth * roundings(phase_error + (to_last ? 0.0L : exponential)));
    answer_complex(&answers[1], u->i, expl(loss.value) * factor * u->value,
                   expl(loss.value)
                       * (u->error + roundings(count) * (cabsl(u->value) + u->error)));
}

#define ENTRY(member) offsetof(struct stage_entry_args, member)
#define ENTRY_FIELDS                                                                           \
    {"ld_spec", FIELD_LD_SPEC, ENTRY(ld_spec), 0, 0, 0, 0, 0},                                 \
        {"group", FIELD_GROUP, ENTRY(group), 0, 0, 0, 0, 0},                                   \
        {"y", FIELD_SPLIT, ENTRY(y), 0, 0, 0, 0, 0},                                           \
        {"k", FIELD_SPLIT, ENTRY(k), 0, 0, 0, 0, 0},                                           \
        {"hb", FIELD_SCALARS, ENTRY(hb), 1, 0, 0, 0, 0},                                       \
        {"ch", FIELD_SCALARS, ENTRY(ch), 1, 0, 0, 0.5, 1},                                     \
        {"li", FIELD_REAL, ENTRY(li), 0, 0, 0, -3000, 3000},                                   \
        {"factor", FIELD_SPLIT_OUT, ENTRY(factor), 0, 0, 0, 0, 0},                             \
    {                                                                                          \
        "out", FIELD_COMPLEX_OUT, ENTRY(out), 0, 0, 0, 0, 0                                    \
    }
#define ENTRY_LOSS(low, high)                                                                  \
    {                                                                                          \
        "lr", FIELD_REAL, ENTRY(lr), 0, 0, 0, (low), (high)                                    \
    }
#define ENTRY_TWO                                                                              \
    {"ch2", FIELD_SCALARS, ENTRY(ch2), 1, 0, 0, 0.1, 0.2},                                     \
    {                                                                                          \
        "li2", FIELD_REAL, ENTRY(li2), 0, 0, 0, -3000, 3000                                    \
    }
#define ENTRY_LOSS_TWO(low, high)                                                              \
    {                                                                                          \
        "lr2", FIELD_REAL, ENTRY(lr2), 0, 0, 0, (low), (high)                                  \
    }
/* Real parts of the exponents below: anything, and less than VMATH_MILD. */

const struct kernel_field fields_stage_entry[] = {ENTRY_FIELDS, {0}};
const struct kernel_field fields_stage_entry_loss[] = {ENTRY_FIELDS, ENTRY_LOSS(-30, 5), {0}};
const struct kernel_field fields_stage_entry_mild[] = {
    ENTRY_FIELDS, ENTRY_LOSS(-0.05, 0.05), {0}};
const struct kernel_field fields_stage_entry_two[] = {ENTRY_FIELDS, ENTRY_TWO, {0}};
const struct kernel_field fields_stage_entry_loss_two[] = {
    ENTRY_FIELDS, ENTRY_LOSS(-30, 5), ENTRY_TWO, ENTRY_LOSS_TWO(-30, 5), {0}};
const struct kernel_field fields_stage_entry_mild_two[] = {
    ENTRY_FIELDS, ENTRY_LOSS(-0.05, 0.05), ENTRY_TWO, ENTRY_LOSS_TWO(-0.05, 0.05), {0}};

static void entry(const struct stage_entry_args *a, long row, long n, struct answer *answers)
{
    for (long i = 0; i < n; i++) {
        const long double complex y = split_element(a->y, row, a->ld, i);
        const long double complex added = a->hb[row] * split_element(a->k, row, a->ld, i);
        const struct propagated u = {i, y + added,
                                     roundings(1) * cabsl(y) + roundings(2) * cabsl(added)};
        const long at = row * a->ld + i;
        const struct exponent none = {0.0L, 0.0L};
        const struct exponent loss =
            a->lr != NULL ? exponent_of(a->lr, a->lr2, at, a->ch[row], a->ch2, row) : none;
        propagate(exponent_of(a->li, a->li2, at, a->ch[row], a->ch2, row), loss, a->lr, false,
                  &u, answers);
    }
}

#define REFERENCE_ENTRY(name)                                                                  \
    void reference_##name(const struct stage_entry_args *a, int s, long row, long n,           \
                          struct answer *answers)                                              \
    {                                                                                          \
        (void)s;                                                                               \
        entry(a, row, n, answers);                                                             \
    }
REFERENCE_ENTRY(stage_entry)
REFERENCE_ENTRY(stage_entry_loss)
REFERENCE_ENTRY(stage_entry_two)
REFERENCE_ENTRY(stage_entry_loss_two)
REFERENCE_ENTRY(stage_entry_mild)
REFERENCE_ENTRY(stage_entry_mild_two)

#define TURN(member) offsetof(struct stage_turn_args, member)
#define TURN_SLOPE(j)                                                                          \
    {                                                                                          \
        "k" #j, FIELD_SPLIT, TURN(k[j]), 0, (j) + 1, 0, 0, 0                                   \
    }
#define TURN_FIELDS                                                                            \
    {"ld_spec", FIELD_LD_SPEC, TURN(ld_spec), 0, 0, 0, 0, 0},                                  \
        {"group", FIELD_GROUP, TURN(group), 0, 0, 0, 0, 0},                                    \
        {"y", FIELD_SPLIT, TURN(y), 0, 0, 0, 0, 0}, TURN_SLOPE(0), TURN_SLOPE(1),              \
        TURN_SLOPE(2), TURN_SLOPE(3),                                                          \
        {"hb", FIELD_SCALARS, TURN(hb), STAGE_SLOPES, 0, FIELD_STEPWISE, 0, 0},                \
        {"ch", FIELD_SCALARS, TURN(ch), 1, 0, 0, 0.5, 1},                                      \
        {"li", FIELD_REAL, TURN(li), 0, 0, 0, -3000, 3000},                                    \
        {"pre", FIELD_SPLIT, TURN(pre), 0, 0, 0, 0, 0},                                        \
        {"spec", FIELD_COMPLEX, TURN(spec), 0, 0, 0, 0, 0},                                    \
        {"factor", FIELD_SPLIT_IN_OUT, TURN(factor), 0, 0, 0, 0, 0},                           \
        {"out", FIELD_COMPLEX_OUT, TURN(out), 0, 0, 0, 0, 0},                                  \
    {                                                                                          \
        "slope", FIELD_SPLIT_OUT, TURN(slope), 0, 0, 0, 0, 0                                   \
    }

#define TURN_LOSS(low, high)                                                                   \
    {                                                                                          \
        "lr", FIELD_REAL, TURN(lr), 0, 0, 0, (low), (high)                                     \
    }
#define TURN_TWO                                                                               \
    {"ch2", FIELD_SCALARS, TURN(ch2), 1, 0, 0, 0.1, 0.2},                                      \
    {                                                                                          \
        "li2", FIELD_REAL, TURN(li2), 0, 0, 0, -3000, 3000                                     \
    }

const struct kernel_field fields_stage_turn[] = {TURN_FIELDS, {0}};
#define TURN_LOSS_TWO(low, high)                                                               \
    TURN_LOSS(low, high), TURN_TWO,                                                            \
    {                                                                                          \
        "lr2", FIELD_REAL, TURN(lr2), 0, 0, 0, (low), (high)                                   \
    }
const struct kernel_field fields_stage_turn_loss[] = {TURN_FIELDS, TURN_LOSS(-30, 5), {0}};
const struct kernel_field fields_stage_turn_mild[] = {TURN_FIELDS, TURN_LOSS(-0.05, 0.05), {0}};
const struct kernel_field fields_stage_turn_two[] = {TURN_FIELDS, TURN_TWO, {0}};
const struct kernel_field fields_stage_turn_loss_two[] = {
    TURN_FIELDS, TURN_LOSS_TWO(-30, 5), {0}};
const struct kernel_field fields_stage_turn_mild_two[] = {
    TURN_FIELDS, TURN_LOSS_TWO(-0.05, 0.05), {0}};

static void turn(const struct stage_turn_args *a, int s, long row, long n,
                 struct answer *answers)
{
    const double *hb = a->hb + row * STAGE_SLOPES;
    for (long i = 0; i < n; i++) {
        const long at = row * a->ld + i;
        const long double complex slope = split_element(a->pre, row, a->ld, i)
                                          * element(a->spec, row * a->ld_spec + i)
                                          * conjl(split_element(a->factor, row, a->ld, i));
        const long double slope_error = roundings(2 * PRODUCT) * cabsl(slope);
        struct propagated u = {i, split_element(a->y, row, a->ld, i), 0.0L};
        long double magnitude = cabsl(u.value) + fabsl(hb[s] * cabsl(slope));
        for (int j = 0; j < s; j++) {
            u.value += hb[j] * split_element(a->k[j], row, a->ld, i);
            magnitude += fabsl(hb[j] * cabsl(split_element(a->k[j], row, a->ld, i)));
        }
        u.value += hb[s] * slope;
        u.error =
            roundings(s + 2) * magnitude + fabsl(hb[s]) * slope_error * (1 + roundings(2));
        const struct exponent none = {0.0L, 0.0L};
        const struct exponent loss =
            a->lr != NULL ? exponent_of(a->lr, a->lr2, at, a->ch[row], a->ch2, row) : none;
        propagate(exponent_of(a->li, a->li2, at, a->ch[row], a->ch2, row), loss, a->lr,
                  s == STAGE_SLOPES - 1, &u, answers);
        answer_complex(&answers[2], i, slope, slope_error);
    }
}

#define REFERENCE_TURN(name)                                                                   \
    void reference_##name(const struct stage_turn_args *a, int s, long row, long n,            \
                          struct answer *answers)                                              \
    {                                                                                          \
        turn(a, s, row, n, answers);                                                           \
    }
REFERENCE_TURN(stage_turn)
REFERENCE_TURN(stage_turn_loss)
REFERENCE_TURN(stage_turn_two)
REFERENCE_TURN(stage_turn_loss_two)
REFERENCE_TURN(stage_turn_mild)
REFERENCE_TURN(stage_turn_mild_two)

#define EXPONENT(member) offsetof(struct stage_exponent_args, member)
#define EXPONENT_TERM(part, j)                                                                 \
    {                                                                                          \
#        part #        j, FIELD_REAL, EXPONENT(part[j]), 0, 0, 0, -3000, 3000                  \
    }

#define EXPONENT_FOUR(part)                                                                    \
    EXPONENT_TERM(part, 0), EXPONENT_TERM(part, 1), EXPONENT_TERM(part, 2),                    \
        EXPONENT_TERM(part, 3)
#define EXPONENT_REST(part)                                                                    \
    EXPONENT_TERM(part, 4), EXPONENT_TERM(part, 5), EXPONENT_TERM(part, 6),                    \
        EXPONENT_TERM(part, 7)
#define EXPONENT_OUT(flags)                                                                    \
    {"group", FIELD_GROUP, EXPONENT(group), 0, 0, 0, 0, 0},                                    \
        {"path", FIELD_SCALARS, EXPONENT(path), STAGE_TERMS, 0, flags, 0, 0},                  \
        {"phase", FIELD_REAL_OUT, EXPONENT(phase), 0, 0, 0, 0, 0},                             \
    {                                                                                          \
        "loss", FIELD_REAL_OUT, EXPONENT(loss), 0, 0, 0, 0, 0                                  \
    }

const struct kernel_field fields_stage_exponent[] = {
    EXPONENT_FOUR(li), EXPONENT_FOUR(lr), EXPONENT_OUT(FIELD_FRONT), {0}};
const struct kernel_field fields_stage_exponent_all[] = {EXPONENT_FOUR(li), EXPONENT_REST(li),
                                                         EXPONENT_FOUR(lr), EXPONENT_REST(lr),
                                                         EXPONENT_OUT(0),   {0}};
_Static_assert(2 * STAGE_FEW == STAGE_TERMS, "FIELD_FRONT is a half");

/* As many products and sums less one: that many roundings of the first term, at most. */
static void exponent_terms(const double *const *terms, int count, const double *path, long at,
                           long i, struct answer *answer)
{
    long double sum = 0.0L;
    long double size = 0.0L;
    for (int j = 0; j < count; j++) {
        sum += (long double)terms[j][at] * path[j];
        size += fabsl((long double)terms[j][at] * path[j]);
    }
    answer_real(answer, i, sum, roundings(count) * size);
}

static void exponents(const struct stage_exponent_args *a, int count, long row, long n,
                      struct answer *answers)
{
    const double *path = a->path + row * STAGE_TERMS;
    for (long i = 0; i < n; i++) {
        exponent_terms(a->li, count, path, row * a->ld + i, i, &answers[0]);
        exponent_terms(a->lr, count, path, row * a->ld + i, i, &answers[1]);
    }
}

void reference_stage_exponent(const struct stage_exponent_args *a, int s, long row, long n,
                              struct answer *answers)
{
    (void)s;
    exponents(a, STAGE_FEW, row, n, answers);
}

void reference_stage_exponent_all(const struct stage_exponent_args *a, int s, long row, long n,
                                  struct answer *answers)
{
    (void)s;
    exponents(a, STAGE_TERMS, row, n, answers);
}
