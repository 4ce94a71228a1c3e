/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The formulas of kernels/bodies/stage.h in long double. */
#include <math.h>

#include "tests/kernels/backend_suite.h"

/* Roundings of exp(lr ch): the argument is rounded once, the result by the product it enters.
 */
static long double exponential_roundings(const double *lr, long double loss)
{
    return lr != NULL ? fabsl(loss) + EXPONENTIAL + 1.0L : 0.0L;
}

/* Element i before it is propagated, and the bound of its rounding error. */
struct propagated {
    long i;
    long double complex value;
    long double error;
};

/* The two outputs of a pass that propagates: factor and out. */
static void propagate(long double theta, long double loss, const double *lr,
                      const struct propagated *u, struct answer *answers)
{
    const long double complex factor = cosl(theta) + sinl(theta) * IMAGINARY;
    const long double phase_error = fabsl(theta) + PHASE; /* the argument is rounded once */
    const long double count = phase_error + PRODUCT + exponential_roundings(lr, loss);
    answer_complex(&answers[0], u->i, factor, roundings(phase_error));
    answer_complex(&answers[1], u->i, expl(loss) * factor * u->value,
                   expl(loss) * (u->error + roundings(count) * (cabsl(u->value) + u->error)));
}

#define ENTRY(member) offsetof(struct stage_entry_args, member)
#define ENTRY_FIELDS                                                                           \
    {"ld_spec", FIELD_LD_SPEC, ENTRY(ld_spec), 0, 0, 0, 0, 0},                                 \
        {"y", FIELD_SPLIT, ENTRY(y), 0, 0, 0, 0, 0},                                           \
        {"k", FIELD_SPLIT, ENTRY(k), 0, 0, 0, 0, 0},                                           \
        {"hb", FIELD_SCALARS, ENTRY(hb), 1, 0, 0, 0, 0},                                       \
        {"ch", FIELD_SCALARS, ENTRY(ch), 1, 0, 0, 0.5, 1},                                     \
        {"li", FIELD_REAL, ENTRY(li), 0, 0, 0, -3000, 3000},                                   \
        {"factor", FIELD_SPLIT_OUT, ENTRY(factor), 0, 0, 0, 0, 0},                             \
    {                                                                                          \
        "out", FIELD_COMPLEX_OUT, ENTRY(out), 0, 0, 0, 0, 0                                    \
    }

const struct kernel_field fields_stage_entry[] = {ENTRY_FIELDS, {0}};
const struct kernel_field fields_stage_entry_loss[] = {
    ENTRY_FIELDS, {"lr", FIELD_REAL, ENTRY(lr), 0, 0, 0, -30, 5}, {0}};

static void entry(const struct stage_entry_args *a, long row, long n, struct answer *answers)
{
    for (long i = 0; i < n; i++) {
        const long double complex y = split_element(a->y, row, a->ld, i);
        const long double complex added = a->hb[row] * split_element(a->k, row, a->ld, i);
        const struct propagated u = {i, y + added,
                                     roundings(1) * cabsl(y) + roundings(2) * cabsl(added)};
        const long at = row * a->ld + i;
        const long double loss = a->lr != NULL ? (long double)a->lr[at] * a->ch[row] : 0.0L;
        propagate((long double)a->li[at] * a->ch[row], loss, a->lr, &u, answers);
    }
}

void reference_stage_entry(const struct stage_entry_args *a, int s, long row, long n,
                           struct answer *answers)
{
    (void)s;
    entry(a, row, n, answers);
}

void reference_stage_entry_loss(const struct stage_entry_args *a, int s, long row, long n,
                                struct answer *answers)
{
    (void)s;
    entry(a, row, n, answers);
}

#define TURN(member) offsetof(struct stage_turn_args, member)
#define TURN_SLOPE(j)                                                                          \
    {                                                                                          \
        "k" #j, FIELD_SPLIT, TURN(k[j]), 0, (j) + 1, 0, 0, 0                                   \
    }
#define TURN_FIELDS                                                                            \
    {"ld_spec", FIELD_LD_SPEC, TURN(ld_spec), 0, 0, 0, 0, 0},                                  \
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

const struct kernel_field fields_stage_turn[] = {TURN_FIELDS, {0}};
const struct kernel_field fields_stage_turn_loss[] = {
    TURN_FIELDS,
    {"lr", FIELD_REAL, TURN(lr), 0, 0, 0, -30, 5},
    {"ch_end", FIELD_SCALARS, TURN(ch_end), 1, 0, 0, 0.2, 0.5},
    {0}};

static void turn(const struct stage_turn_args *a, int s, long row, long n,
                 struct answer *answers)
{
    const double *hb = a->hb + row * STAGE_SLOPES;
    for (long i = 0; i < n; i++) {
        const long at = row * a->ld + i;
        const long double gain =
            a->lr != NULL ? -(long double)a->lr[at] * a->ch_end[row] : 0.0L;
        const long double complex slope = expl(gain) * split_element(a->pre, row, a->ld, i)
                                          * element(a->spec, row * a->ld_spec + i)
                                          * conjl(split_element(a->factor, row, a->ld, i));
        const long double slope_error =
            roundings(2 * PRODUCT + exponential_roundings(a->lr, gain)) * cabsl(slope);
        struct propagated u = {i, split_element(a->y, row, a->ld, i), 0.0L};
        long double magnitude = cabsl(u.value) + fabsl(hb[s] * cabsl(slope));
        for (int j = 0; j < s; j++) {
            u.value += hb[j] * split_element(a->k[j], row, a->ld, i);
            magnitude += fabsl(hb[j] * cabsl(split_element(a->k[j], row, a->ld, i)));
        }
        u.value += hb[s] * slope;
        u.error =
            roundings(s + 2) * magnitude + fabsl(hb[s]) * slope_error * (1 + roundings(2));
        const long double loss = a->lr != NULL ? (long double)a->lr[at] * a->ch[row] : 0.0L;
        propagate((long double)a->li[at] * a->ch[row], loss, a->lr, &u, answers);
        answer_complex(&answers[2], i, slope, slope_error);
    }
}

void reference_stage_turn(const struct stage_turn_args *a, int s, long row, long n,
                          struct answer *answers)
{
    turn(a, s, row, n, answers);
}

void reference_stage_turn_loss(const struct stage_turn_args *a, int s, long row, long n,
                               struct answer *answers)
{
    turn(a, s, row, n, answers);
}
