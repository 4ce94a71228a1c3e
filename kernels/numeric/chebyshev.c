/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "kernels/numeric/chebyshev.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "kernels/base/mem.h"
#include "kernels/base/status.h"

#define PI    3.14159265358979323846
#define NODES (CHEBYSHEV_DEGREE + 1)
/* Extrema of T_NODES: they lie between the nodes, where the error is largest, and at the ends.
 */
#define CHECKS  (NODES + 1)
#define SAMPLES (NODES + CHECKS)

struct piece {
    double low, high;
    double c[NODES];
};

struct chebyshev {
    int count;
    double error;
    struct piece *pieces; /* [budget], ascending after create */
};

/* A table being built. */
struct builder {
    const struct chebyshev_request *request;
    struct chebyshev *table;
    double *x; /* [budget][SAMPLES] */
    double *y;
    struct piece *open; /* [budget]: to be sampled in this round */
    struct piece *next; /* [budget]: of the next round */
    int opened;
    double largest; /* |value| seen */
};

static double node_angle(int i)
{
    return PI * (i + 0.5) / NODES;
}

static double piece_value(const struct piece *p, double x)
{
    const double t = 2.0 * (x - p->low) / (p->high - p->low) - 1.0;
    double before = 0.0;
    double sum = 0.0;
    for (int k = CHEBYSHEV_DEGREE; k >= 1; k--) {
        const double next = 2.0 * t * sum - before + p->c[k];
        before = sum;
        sum = next;
    }
    return t * sum - before + p->c[0];
}

static void place_samples(const struct piece *p, double *x)
{
    const double middle = 0.5 * (p->low + p->high);
    const double half = 0.5 * (p->high - p->low);
    for (int i = 0; i < NODES; i++)
        x[i] = middle + half * cos(node_angle(i));
    for (int i = 0; i < CHECKS; i++)
        x[NODES + i] = middle + half * cos(PI * i / NODES);
    x[NODES] = p->high;
    x[SAMPLES - 1] = p->low;
}

static void fit_piece(struct piece *p, const double *y)
{
    for (int k = 0; k < NODES; k++) {
        double sum = 0.0;
        for (int i = 0; i < NODES; i++)
            sum += y[i] * cos(k * node_angle(i));
        p->c[k] = (k == 0 ? 1.0 : 2.0) / NODES * sum;
    }
}

/* Largest error at the check points, absolute. */
static double check_piece(const struct piece *p, const double *x, const double *y)
{
    double worst = 0.0;
    for (int i = NODES; i < SAMPLES; i++)
        worst = fmax(worst, fabs(piece_value(p, x[i]) - y[i]));
    return worst;
}

static int sample_round(struct builder *b)
{
    for (int i = 0; i < b->opened; i++)
        place_samples(&b->open[i], b->x + (long)i * SAMPLES);
    const long n = (long)b->opened * SAMPLES;
    TRY(b->request->sample(b->request->context, b->x, b->y, n));
    for (long i = 0; i < n; i++) {
        if (!isfinite(b->y[i]))
            FAIL(ERR_ARGUMENT, "%s is %g at %g; a table needs finite values", b->request->name,
                 b->y[i], b->x[i]);
        b->largest = fmax(b->largest, fabs(b->y[i]));
    }
    return 0;
}

/* Judge the pieces of a round: accept or split. */
static int judge_round(struct builder *b)
{
    const double tolerance = fmax(b->request->tolerance, CHEBYSHEV_NOISE) * b->largest;
    int split = 0;
    for (int i = 0; i < b->opened; i++) {
        struct piece *const p = &b->open[i];
        const double *const x = b->x + (long)i * SAMPLES;
        const double *const y = b->y + (long)i * SAMPLES;
        fit_piece(p, y);
        const double error = check_piece(p, x, y);
        if (error <= tolerance) {
            b->table->pieces[b->table->count++] = *p;
            b->table->error = fmax(b->table->error, error);
            continue;
        }
        /* Every open or accepted piece keeps its place in the budget. */
        if (b->table->count + split + 2 + (b->opened - 1 - i) > b->request->budget)
            FAIL(ERR_ARGUMENT,
                 "%s cannot be tabulated within %g: error %g between %g and %g, and all %d "
                 "pieces are used",
                 b->request->name, tolerance, error, p->low, p->high, b->request->budget);
        const double middle = 0.5 * (p->low + p->high);
        b->next[split++] = (struct piece){.low = p->low, .high = middle};
        b->next[split++] = (struct piece){.low = middle, .high = p->high};
    }
    struct piece *const done = b->open;
    b->open = b->next;
    b->next = done;
    b->opened = split;
    return 0;
}

static int by_position(const void *a, const void *b)
{
    const double x = ((const struct piece *)a)->low;
    const double y = ((const struct piece *)b)->low;
    return (x > y) - (x < y);
}

static int build(struct builder *b)
{
    b->open[0] = (struct piece){.low = b->request->low, .high = b->request->high};
    b->opened = 1;
    while (b->opened > 0) {
        TRY(sample_round(b));
        TRY(judge_round(b));
    }
    qsort(b->table->pieces, (size_t)b->table->count, sizeof *b->table->pieces, by_position);
    b->table->error /= b->largest > 0.0 ? b->largest : 1.0;
    return 0;
}

int chebyshev_create(const struct chebyshev_request *request, struct chebyshev **out)
{
    struct builder b = {.request = request};
    int rc = 0;
    *out = NULL;
    if (!(request->high > request->low) || request->budget < 1)
        FAIL(ERR_ARGUMENT, "%s: no table from %g to %g with %d pieces", request->name,
             request->low, request->high, request->budget);
    TRY_OR(rc, done, MEM_NEW(1, &b.table));
    TRY_OR(rc, done, MEM_NEW(request->budget, &b.table->pieces));
    TRY_OR(rc, done, MEM_NEW(request->budget, &b.open));
    TRY_OR(rc, done, MEM_NEW(request->budget, &b.next));
    TRY_OR(rc, done, MEM_NEW((long)request->budget * SAMPLES, &b.x));
    TRY_OR(rc, done, MEM_NEW((long)request->budget * SAMPLES, &b.y));
    TRY_OR(rc, done, build(&b));
    *out = b.table;
    b.table = NULL;
done:
    chebyshev_destroy(b.table);
    mem_free(b.open);
    mem_free(b.next);
    mem_free(b.x);
    mem_free(b.y);
    return rc;
}

void chebyshev_destroy(struct chebyshev *table)
{
    if (table == NULL)
        return;
    mem_free(table->pieces);
    mem_free(table);
}

/* The piece that holds x; at a boundary the one on the left. */
static const struct piece *find_piece(const struct chebyshev *table, double x)
{
    int low = 0;
    int high = table->count - 1;
    while (low < high) {
        const int middle = (low + high) / 2;
        if (x <= table->pieces[middle].high)
            high = middle;
        else
            low = middle + 1;
    }
    return &table->pieces[low];
}

double chebyshev_value(const struct chebyshev *table, double x)
{
    return piece_value(find_piece(table, x), x);
}

double chebyshev_error(const struct chebyshev *table)
{
    return table->error;
}

int chebyshev_pieces(const struct chebyshev *table)
{
    return table->count;
}

double chebyshev_reach(const struct chebyshev *table, double x, double toward)
{
    const struct piece *p = find_piece(table, x);
    if (toward > x) {
        if (x >= p->high && p < table->pieces + table->count - 1)
            p++;
        return fmin(p->high, toward);
    }
    if (x <= p->low && p > table->pieces)
        p--;
    return fmax(p->low, toward);
}
