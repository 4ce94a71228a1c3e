/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TESTS_KERNELS_SNL1_CASE_H
#define TESTS_KERNELS_SNL1_CASE_H

#include <stdint.h>

#include "kernels/models/snl1/snl1.h"

#define SNL1_GROUPS 6

/* A group of reference spectra (tests/data/README.md). */
struct snl1_group {
    const char *name;
    struct snl1_config config;
    int npts;
    int nspec;
    float *a;          /* [npts][nspec] */
    float *cg;         /* [npts][nk] */
    float *kdmean;     /* [npts] */
    float *weights;    /* dal, awg, swg, snlc1, fachfe */
    uint64_t *results; /* [2][npts] of S, of D */
    uint64_t *tables;  /* of sig, f^11, ip, im, ic */
};

/* Results of a batch, with guards around them. */
struct snl1_results {
    long count;
    float *s;
    float *d;
    unsigned char *flags;
    float *block[2];
};

/** Read group g of SNL1_GROUPS from a folder; 0, or 1 with a line on stderr. */
int snl1_group_load(const char *folder, int g, struct snl1_group *out);

/** Free a group. */
void snl1_group_clear(struct snl1_group *group);

/** Read a whole file; NULL when it is not of this size. Free with free(). */
void *snl1_file(const char *folder, const char *group, const char *file, long size);

/** Hash of 32-bit words; any NaN counts as one when they are floats. */
uint64_t snl1_hash(const void *words, long count, int floats);

/** Compute a group in calls of `chunk` points, from and into new buffers that lie `offset`
 * floats (the scratch: bytes) off the alignment of malloc. Returns the last code, or -1 when
 * something beside S, D or the scratch was written. */
int snl1_run(struct snl1 *handle, const struct snl1_group *group, long chunk, int offset,
             struct snl1_results *out);

/** Free results. */
void snl1_results_clear(struct snl1_results *results);

/** Tables and weights of a handle that are not the reference's. */
int snl1_wrong_tables(const struct snl1 *handle, const struct snl1_group *group);

/** Points of a group whose S or D has not the reference's bits. */
int snl1_wrong_points(const struct snl1_group *group, const struct snl1_results *results);

/** Points that differ in a bit between two results. */
int snl1_different(const struct snl1_group *group, const struct snl1_results *x,
                   const struct snl1_results *y);

/* Instruction sets to be asked for, ended by NULL; some are refused here. */
extern const char *const snl1_isas[];

/** A handle of a group with a kernel; NULL when it is not to be had here. */
struct snl1 *snl1_handle(const struct snl1_group *group, int arithmetic, const char *isa);

/** Numbers from a seed, uniform in [0, 1). */
float snl1_random(uint64_t *state);

#endif
