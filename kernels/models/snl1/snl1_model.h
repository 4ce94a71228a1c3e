/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef KERNELS_MODELS_SNL1_SNL1_MODEL_H
#define KERNELS_MODELS_SNL1_SNL1_MODEL_H

#include "kernels/model.h"
#include "kernels/models/snl1/sea.h"
#include "kernels/models/snl1/snl1.h"

/* The farm model `snl1`: a member is a block of sea points (docs/models/snl1.md). */

extern const struct model_ops snl1_ops;
extern const struct model_info snl1_info;

/* A point of the file beyond its last one; besides enum snl1_flag. */
#define SNL1_ABSENT 8

/* The parameters of a point of the scan. */
struct snl1_point {
    struct snl1_config config;
    int arithmetic;
    long points;
    struct snl1_sea sea;         /* of the first sea point */
    double turn;                 /* of the direction from one to the next, rad */
    const struct data_set *file; /* NULL: seas are made */
    long first;                  /* sea point of the file */
    double input_bytes; /* that the sea points take out of a file that is not in memory */
    long there;         /* of `points`: as many as the file has; all when made */
};

/** Read and check the parameters; ERR_ARGUMENT or ERR_UNSUPPORTED by name. */
int snl1_read(const struct params *params, struct snl1_point *out);

/** Action, group velocities and relative depths of a point's sea states. Absent ones are zero
 * with unit velocities. ERR_IO, ERR_CONFLICT: the file cannot be read, or has changed.
 *
 * @param a [points][nk nth] @param cg [points][nk] @param kdmean [points] */
int snl1_fill(const struct snl1_point *point, const float *sig, float *a, float *cg,
              float *kdmean);

/* What is summed of one sea point. */
struct snl1_sums {
    double height;   /* significant wave height, m */
    double action;   /* |sum S_E| over sum |S_E| */
    double energy;   /* the same of S_E sigma */
    double momentum; /* of S_E sigma^2 times the unit vector; the larger component */
    double source;   /* largest |S| */
    double lowest;   /* least D */
    double highest;  /* largest D */
};

/* A sea point and its results. */
struct snl1_result {
    const float *a;  /* [nk][nth] */
    const float *cg; /* [nk] */
    const float *s;  /* [nk][nth] */
    const float *d;
};

/** Sums of one sea point whose results are finite.
 *
 * @param unit [nth] cosine and sine of the directions */
void snl1_sum(const struct snl1_grid *grid, const double (*unit)[2],
              const struct snl1_result *result, struct snl1_sums *out);

#endif
