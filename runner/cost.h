/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef RUNNER_COST_H
#define RUNNER_COST_H

#include <stdbool.h>
#include <stdint.h>

#include "kernels/base/params.h"
#include "scans/scan.h"

/*
 * How long a member will take: ln(seconds) = c_0 + c_1 ln(work) + sum c_i x_i, where work is
 * the model's own estimate (plane_layout.work) and x_i are the scanned numbers, as logarithms
 * where they are positive. Before anything was measured c_1 = 1 and the others are 0, so that
 * the model's estimate orders the members. The times seen correct it: least squares with a weak
 * pull towards that beginning (ridge regression, e.g. Hastie, Tibshirani, Friedman, The
 * Elements of Statistical Learning, 2nd ed., section 3.4.1).
 */

#define COST_FEATURES_MAX 10 /* constant, work, eight scanned numbers */
#define COST_SAMPLES      256
#define COST_NAME_SIZE    96

/* What is known of a member before it is computed. */
struct cost_input {
    double x[COST_FEATURES_MAX];
    double work;   /* as the model says; 0: nothing, or it refuses the point */
    double planes; /* parts of equal length that its saved planes divide it into */
};

/* A scanned number that times are compared with. */
struct cost_feature {
    int axis;
    int param; /* of the axis */
    bool logarithm;
    double reference; /* x is measured from here */
    double spread;    /* of x over the scan, its standard deviation */
    char name[COST_NAME_SIZE];
};

/* Sums over the members seen; all that a later scan of the same kind needs. */
struct cost_sums {
    double weight;                                       /* members: the last ones count most */
    double normal[COST_FEATURES_MAX][COST_FEATURES_MAX]; /* of x x^T */
    double moment[COST_FEATURES_MAX];                    /* of x ln(seconds) */
    double square;                                       /* of ln(seconds)^2 */
};

/* The estimate and where it comes from. */
struct cost {
    const struct scan *scan;
    struct params params; /* scratch */
    int features;
    struct cost_feature feature[COST_FEATURES_MAX]; /* 0 and 1: constant and work */
    double least_work; /* less counts as this: the logarithm of 0 is none */
    struct cost_sums sums;
    double coefficient[COST_FEATURES_MAX];
    double factor[COST_FEATURES_MAX][COST_FEATURES_MAX]; /* Cholesky's, of the normal matrix */
    double variance;                                     /* of ln(seconds) about the fit */
    bool known;    /* times have been seen, here or in an earlier scan of the kind */
    int64_t seen;  /* members of this run */
    int64_t again; /* seen at which the coefficients are found anew */
    int samples;   /* points spread over the scan */
    int64_t sample[COST_SAMPLES];
    struct cost_input input[COST_SAMPLES];
};

/**
 * Look at a scan: which numbers are scanned, and how much work points spread over it are.
 *
 * @param first   the points in question are [first, first + points)
 * @param out     free with cost_clear, also after an error
 * @return 0 or ERR_MEMORY
 */
int cost_open(const struct scan *scan, int64_t first, int64_t points, struct cost *out);

/** Free; legal on a zeroed object. */
void cost_clear(struct cost *cost);

/** What is known of a point. A point that the model refuses has no work. */
void cost_look(struct cost *cost, int64_t point, struct cost_input *out);

/** The same but for its work, which is known from an earlier look. */
void cost_look_again(const struct cost *cost, int64_t point, double work,
                     struct cost_input *out);

/** ln of the cost without c_0: what members are ordered by. */
double cost_rank(const struct cost *cost, const struct cost_input *input);

/** Seconds for a rank; 0 while no times are known. */
double cost_seconds(const struct cost *cost, double rank);

/**
 * A member of a point was done.
 *
 * @return whether the order of members may have changed: ranks have to be found anew
 */
bool cost_learn(struct cost *cost, int64_t point, double seconds);

/** Find the coefficients from the sums. */
void cost_fit(struct cost *cost);

/**
 * Standard deviation of ln(seconds): of the mean over `members` such members as `x` is the mean
 * of: their scatter, and what is not known of the coefficients.
 */
double cost_deviation(const struct cost *cost, const double *x, double members);

/** Names of what times are compared with, one text: scans of equal text are of one kind. */
void cost_kind(const struct cost *cost, char *text, size_t size);

/**
 * Begin with the times of an earlier scan of the same kind. Its slopes count as they are, up to
 * a limit; its scale, which other parameters and another machine change, next to nothing.
 */
void cost_resume(struct cost *cost, const struct cost_sums *sums, const double *reference);

#endif
