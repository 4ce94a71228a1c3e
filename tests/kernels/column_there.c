/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A column on a backend with a memory of its own. */
#include <math.h>

#include <check.h>

#include "tests/kernels/column_case.h"

#define COPIES_MAX 16

/* What was sent. */
struct there {
    struct backend *be;
    void *copy[COPIES_MAX];
    int copies;
};

/* A copy on the backend; of nothing, nothing. */
static void *send(struct there *t, const void *from, size_t bytes)
{
    void *copy;
    if (from == NULL)
        return NULL;
    ck_assert_int_lt(t->copies, COPIES_MAX);
    ck_assert_int_eq(t->be->ops->alloc(t->be, (long)bytes, 1, &copy), 0);
    ck_assert_int_eq(t->be->ops->upload(t->be, copy, from, bytes), 0);
    t->copy[t->copies++] = copy;
    return copy;
}

static void *send_numbers(struct there *t, const double *from, long count)
{
    return send(t, from, (size_t)count * sizeof *from);
}

/* The rate's tables and the view of them. */
static const struct column_rate *send_rate(struct there *t, const struct column_run *run)
{
    struct column_rate rate = run->rate;
    rate.cubic = send_numbers(t, rate.cubic, 4 * run->segments);
    rate.channel =
        send(t, rate.channel, (size_t)(rate.channels + 1) * sizeof(struct rate_channel));
    return send(t, &rate, sizeof rate);
}

void column_run_there(struct column_run *run, struct backend *be)
{
    struct there t = {.be = be};
    struct column_run other = *run;
    struct column_args *const a = &other.args;
    for (long i = 0; i < 5 * run->ld_pad; i++)
        run->scratch[i] = (double)NAN;
    double *const row = (double *)send_numbers(&t, run->scratch, 5 * run->ld_pad) + COLUMN_PAD;
    a->field = send_numbers(&t, a->field, 2 * run->ld);
    a->quadrature = send_numbers(&t, a->quadrature, run->ld);
    a->extra = send_numbers(&t, a->extra, run->ld);
    a->window = send_numbers(&t, a->window, run->ld);
    a->scalars = send_numbers(&t, a->scalars, COLUMN_SCALARS);
    a->taps = send_numbers(&t, a->taps, COLUMN_SIDE_MAX + 1);
    a->rate = send_rate(&t, run);
    a->w = row;
    a->integrand = row + run->ld_pad;
    a->loss = row + 3 * run->ld_pad;
    a->out = send_numbers(&t, a->out, 2 * run->ld);
    a->sums = send_numbers(&t, a->sums, COLUMN_SUMS);
    column_run_passes(&other, be);
    const size_t bytes = (size_t)(2 * run->ld) * sizeof(double);
    ck_assert_int_eq(be->ops->download(be, run->out, a->out, bytes), 0);
    ck_assert_int_eq(be->ops->download(be, run->sums, a->sums, sizeof run->sums), 0);
    for (int i = 0; i < t.copies; i++)
        be->ops->release(be, t.copy[i]);
}
