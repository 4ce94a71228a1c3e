/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef KERNELS_MODELS_SNL1_TABLES_H
#define KERNELS_MODELS_SNL1_TABLES_H

#include "kernels/models/snl1/snl1.h"

/* Columns of the stencil: directions from t, on the one side and on the other. */
enum snl1_column {
    SNL1_UP_P1, /* t + ithp + 1 */
    SNL1_UP_P,  /* t + ithp */
    SNL1_DN_P1,
    SNL1_DN_P,
    SNL1_UP_M1, /* t + ithm + 1 */
    SNL1_UP_M,
    SNL1_DN_M1,
    SNL1_DN_M,
    SNL1_COLUMNS
};

/* What the block kernels read: the numbers, and the stencil's columns. */
struct snl1_tables {
    struct snl1_numbers n;
    const int32_t (*column)[SNL1_COLUMNS]; /* [nth] 0-based directions */
};

/* Points of one block; those of a kernel's width at most. */
struct snl1_block {
    int points;
    const float *a;      /* [points][nk nth] */
    const float *cg;     /* [points][nk] */
    const float *kdmean; /* [points] */
    float *s;            /* [points][nk nth] */
    float *d;
};

/* Source: INSNL1. Everything below is binary32, in the order of the Fortran's optimised builds.
 */

/** Whether the extents of a configuration stay within the limits; fills all but the arrays. */
int snl1_derive(const struct snl1_config *config, struct snl1_numbers *out);

/** f^11 of each row of centres. @param af11 [n->nfrchg] */
void snl1_derive_af11(const struct snl1_numbers *n, float xfr, const float *sig, float *af11);

/** Squares of the weights; the weights are set. */
void snl1_derive_squares(struct snl1_numbers *n);

/** Direction t (0-based) turned by n, |n| <= nth. */
int32_t snl1_turned(int32_t t, int32_t n, int32_t nth);

#endif
