/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TESTS_KERNELS_BACKEND_TRIAL_H
#define TESTS_KERNELS_BACKEND_TRIAL_H

#include "kernels/contract/bounds.h"
#include "tests/kernels/backend_suite.h"

#define TRIAL_FIELDS_MAX 24
#define TRIAL_ROWS       4

/* One kernel with arguments for TRIAL_ROWS rows: inputs random, outputs NaN. */
struct trial {
    const struct kernel_case *kernel;
    int s;
    long n;
    long ld;
    long ld_real;
    long ld_spec;
    long far;   /* number of the first row: arrays begin so many rows before what there is */
    long group; /* rows that share their scalars, where the kernel has FIELD_GROUP */
    int fields;
    double *initial[TRIAL_FIELDS_MAX]; /* contents before the call */
    double *after[TRIAL_FIELDS_MAX];   /* and after it */
    size_t count[TRIAL_FIELDS_MAX];    /* numbers in the array */
    unsigned char active[TRIAL_ROWS];
    struct answer answers[TRIAL_ROWS][TRIAL_FIELDS_MAX]; /* in the order of the outputs */
    double *memory;                                      /* of the answers */
};

/** Make arguments for one kernel. The row at index 2 is inactive. */
void trial_init(struct trial *t, const struct kernel_case *kernel, int s, long n);

/** Compute the answers to `initial`; trial_init has done so, a change of `initial` asks for it
 * anew. */
void trial_answer(struct trial *t);

/** Free what trial_init made. */
void trial_clear(struct trial *t);

/** Whether the trial's instance uses this field. */
bool trial_uses(const struct trial *t, int field);

/** Whether the kernel takes scalars that rows share. */
bool trial_has_group(const struct trial *t);

/** Whether a field has rows of complex numbers, and whether they are split. */
bool field_is_complex(const struct kernel_field *field);
bool field_is_split(const struct kernel_field *field);

/** Whether a field is written. */
bool field_is_output(const struct kernel_field *field);

/** Whether a field is an array of numbers that is read. */
bool field_is_input(const struct kernel_field *field);

/** Numbers of one row of a field: complex elements count two. */
long trial_stride(const struct trial *t, int field);

/**
 * Launch on a backend: contents go from `initial` to it and come back to `after`.
 *
 * @param alias  output field that shares the memory of input field `with`, -1: none
 * @param single one launch per row instead of one for all
 */
void trial_run(struct trial *t, struct backend *be, int alias, int with, bool single);

/** Ends the test where an active row is outside its bound, or anything else was touched. */
void trial_check(const struct trial *t, const struct backend *be, const char *what);

/** Whether all outputs of the active rows lie within the bounds of the answers. */
bool trial_within(const struct trial *t, double *margin);

#endif
