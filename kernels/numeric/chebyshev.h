/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef KERNELS_NUMERIC_CHEBYSHEV_H
#define KERNELS_NUMERIC_CHEBYSHEV_H

#include "kernels/contract/bounds.h"

/*
 * Certified table of a smooth function: pieces of Chebyshev polynomials, each checked between
 * its nodes against the function itself. Built in rounds, one call of the function for all open
 * pieces of a round.
 */

#define CHEBYSHEV_DEGREE 15

/* What is tabulated. */
struct chebyshev_request {
    double low;
    double high;      /* > low */
    double tolerance; /* of the error between nodes, relative to the largest value; held above
                         the rounding of an evaluation, CHEBYSHEV_NOISE */
    int budget;       /* pieces at most */
    int (*sample)(const void *context, const double *x, double *y, long n); /* y[n] = f(x[n]) */
    const void *context;
    const char *name; /* for errors */
};

/* Rounding of nodes, coefficients and their sum, relative to the largest value. */
#define CHEBYSHEV_NOISE bound(BOUND_chebyshev_noise)

struct chebyshev;

/**
 * Tabulate.
 *
 * @return 0, what sample returned, ERR_ARGUMENT (no interval; the budget is exhausted: the line
 *         names the piece), or ERR_MEMORY
 */
int chebyshev_create(const struct chebyshev_request *request, struct chebyshev **out);

/** Free; NULL is legal. */
void chebyshev_destroy(struct chebyshev *table);

/** Value at x in [low, high]. */
double chebyshev_value(const struct chebyshev *table, double x);

/** Largest error seen between nodes, relative to the largest value. */
double chebyshev_error(const struct chebyshev *table);

/** Number of pieces. */
int chebyshev_pieces(const struct chebyshev *table);

/**
 * End of the piece that holds x, on the side of `toward`, but not past it: between x and there
 * the table is one polynomial.
 *
 * @param x, toward in [low, high]
 */
double chebyshev_reach(const struct chebyshev *table, double x, double toward);

#endif
