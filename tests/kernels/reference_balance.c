/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The sums of kernels/bodies/balance.h in long double. */
#include <math.h>

#include "tests/kernels/backend_suite.h"

/* Sum and largest of squares, each with `count` roundings. */
struct squares {
    long double sum, top;
};

static void squares_add(struct squares *all, long double square)
{
    all->sum += square;
    all->top = fmaxl(all->top, square);
}

static void squares_answer(const struct squares *all, long n, long double count,
                           struct answer *answer)
{
    answer_real(answer, 0, all->sum, roundings((long double)n + count) * all->sum);
    answer_real(answer, 1, all->top, roundings(count) * all->top);
}

const struct kernel_field fields_balance_square[] = {
    {"field", FIELD_REAL, offsetof(struct balance_square_args, field), 0, 0, FIELD_EVEN, 0, 0},
    {"out", FIELD_SUMS, offsetof(struct balance_square_args, out), 2, 0, 0, 0, 0},
    {0}};

void reference_balance_square(const struct balance_square_args *a, int s, long row, long n,
                              struct answer *answers)
{
    struct squares all = {0};
    (void)s;
    for (long i = row * a->ld; i < row * a->ld + n; i++)
        squares_add(&all, (long double)a->field[i] * a->field[i]);
    squares_answer(&all, n, 1, &answers[0]);
}

const struct kernel_field fields_balance_power[] = {
    {"field", FIELD_COMPLEX, offsetof(struct balance_power_args, field), 0, 0, FIELD_EVEN, 0,
     0},
    {"out", FIELD_SUMS, offsetof(struct balance_power_args, out), 2, 0, 0, 0, 0},
    {0}};

void reference_balance_power(const struct balance_power_args *a, int s, long row, long n,
                             struct answer *answers)
{
    struct squares all = {0};
    (void)s;
    for (long i = row * a->ld; i < row * a->ld + n; i++)
        squares_add(&all, creall(element(a->field, i) * conjl(element(a->field, i))));
    squares_answer(&all, n, 2, &answers[0]);
}

#define EDGE(member) offsetof(struct balance_edge_args, member)

const struct kernel_field fields_balance_edge[] = {
    {"field", FIELD_REAL, EDGE(field), 0, 0, 0, 0, 0},
    {"rate", FIELD_REAL, EDGE(rate), 0, 0, 0, 0.5, 1},
    {"lost", FIELD_REAL_OUT, EDGE(lost), 0, 0, 0, 0, 0},
    {"out", FIELD_SUMS, EDGE(out), 1, 0, 0, 0, 0},
    {0}};

void reference_balance_edge(const struct balance_edge_args *a, int s, long row, long n,
                            struct answer *answers)
{
    long double sum = 0.0L;
    (void)s;
    for (long i = 0; i < n; i++) {
        const long double x = a->field[row * a->ld + i];
        const long double lost = a->rate[row * a->ld + i] * x;
        answer_real(&answers[0], i, lost, roundings(1) * fabsl(lost));
        sum += lost * x;
    }
    answer_real(&answers[1], 0, sum, roundings((long double)n + 2) * sum);
}

#define WAVE(member) offsetof(struct balance_edge_wave_args, member)

const struct kernel_field fields_balance_edge_wave[] = {
    {"ld_real", FIELD_LD_REAL, WAVE(ld_real), 0, 0, 0, 0, 0},
    {"field", FIELD_COMPLEX, WAVE(field), 0, 0, 0, 0, 0},
    {"rate", FIELD_REAL, WAVE(rate), 0, 0, 0, 0.5, 1},
    {"lost", FIELD_COMPLEX_OUT, WAVE(lost), 0, 0, 0, 0, 0},
    {"out", FIELD_SUMS, WAVE(out), 1, 0, 0, 0, 0},
    {0}};

void reference_balance_edge_wave(const struct balance_edge_wave_args *a, int s, long row,
                                 long n, struct answer *answers)
{
    long double sum = 0.0L;
    (void)s;
    for (long i = 0; i < n; i++) {
        const long double complex u = element(a->field, row * a->ld + i);
        const long double rate = a->rate[row * a->ld_real + i];
        answer_complex(&answers[0], i, rate * u, roundings(1) * fabsl(rate) * cabsl(u));
        sum += rate * creall(u * conjl(u));
    }
    answer_real(&answers[1], 0, sum, roundings((long double)n + 3) * sum);
}

#define LOSS(member) offsetof(struct balance_loss_args, member)
#define LOSS_TERM(j)                                                                           \
    {                                                                                          \
        "loss" #j, FIELD_REAL, LOSS(loss[j]), 0, 0, 0, 0, 0                                    \
    }
#define LOSS_FIELDS(flags)                                                                     \
    {"ld_real", FIELD_LD_REAL, LOSS(ld_real), 0, 0, 0, 0, 0},                                  \
        {"ld_spec", FIELD_LD_SPEC, LOSS(ld_spec), 0, 0, 0, 0, 0},                              \
        {"state", FIELD_SPLIT, LOSS(state), 0, 0, FIELD_EVEN, 0, 0},                           \
        {"next", FIELD_COMPLEX, LOSS(next), 0, 0, FIELD_EVEN, 0, 0},                           \
        {"path", FIELD_SCALARS, LOSS(path), STAGE_TERMS, 0, (flags), 0.1, 1},                  \
        {"out", FIELD_SUMS, LOSS(out), 1, 0, 0, 0, 0}, LOSS_TERM(0), LOSS_TERM(1),             \
        LOSS_TERM(2), LOSS_TERM(3)

const struct kernel_field fields_balance_loss[] = {LOSS_FIELDS(FIELD_FRONT), {0}};
const struct kernel_field fields_balance_loss_all[] = {
    LOSS_FIELDS(0), LOSS_TERM(4), LOSS_TERM(5), LOSS_TERM(6), LOSS_TERM(7), {0}};

/* 1 - x/(e^x - 1). */
static long double early(long double x)
{
    return fabsl(x) < 1e-6L ? x / 2.0L - x * x / 12.0L : 1.0L - x / expm1l(x);
}

/*
 * x is known within `away`, g rises by at most 1 per unit of it, and what the body computes of
 * it is within a few roundings of 1 and |x|: of a large |x| expm1 (1.5 ulp), the sum with 1,
 * product and quotient of something up to |x| + 1, and the last sum; of a small one eight
 * products and sums of numbers below |x|. The C library's expm1l is far better.
 */
static void loss(const struct balance_loss_args *a, int terms, long row, long n,
                 struct answer *answers)
{
    long double sum = 0.0L;
    long double error = 0.0L;
    for (long i = 0; i < n; i++) {
        long double x = 0.0L;
        long double size = 0.0L;
        for (int j = 0; j < terms; j++) {
            const long double term =
                (long double)a->loss[j][row * a->ld_real + i] * a->path[row * STAGE_TERMS + j];
            x -= 2.0L * term;
            size += 2.0L * fabsl(term);
        }
        const long double away = roundings(terms) * size;
        const long double complex state = split_element(a->state, row, a->ld, i);
        const long double complex next = element(a->next, row * a->ld_spec + i);
        const long double start = creall(state * conjl(state));
        const long double end = creall(next * conjl(next));
        const long double term = x * end + early(x) * (start - end);
        const long double parts = fabsl(x) * end + fabsl(early(x)) * (start + end);
        sum += term;
        error += away * (2.0L * end + start) + roundings(12) * (1.0L + size) * (start + end)
                 + roundings((long double)n + 6) * parts;
    }
    answer_real(&answers[0], 0, sum, error);
}

void reference_balance_loss(const struct balance_loss_args *a, int s, long row, long n,
                            struct answer *answers)
{
    (void)s;
    loss(a, STAGE_FEW, row, n, answers);
}

void reference_balance_loss_all(const struct balance_loss_args *a, int s, long row, long n,
                                struct answer *answers)
{
    (void)s;
    loss(a, STAGE_TERMS, row, n, answers);
}
