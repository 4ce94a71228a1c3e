/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef KERNELS_MODELS_PULSE_ROW_NUMBERS_H
#define KERNELS_MODELS_PULSE_ROW_NUMBERS_H

#include <stddef.h>

#include "kernels/backend.h"

/* Groups, at most. */
#define ROW_NUMBERS_MAX 128

/*
 * Numbers of rows that go to a backend together, or come from it: groups of [rows][width], one
 * after the other, each as a kernel's argument takes it. They are one copy where all rows are
 * meant; else one for each group, since other rows may be in the hands of other threads.
 */
struct row_numbers {
    struct backend *be;
    long rows;
    int groups;
    int width[ROW_NUMBERS_MAX];
    long begin[ROW_NUMBERS_MAX + 1]; /* of each group, then the number of all */
    double *host, *there;
};

/**
 * Make them, zero.
 *
 * @param width  [groups] numbers of a row
 * @return 0, ERR_BUG with too many groups, or ERR_MEMORY
 */
int row_numbers_create(struct backend *be, long rows, const int *width, int groups,
                       struct row_numbers *out);

/** Free them; legal when there are none. */
void row_numbers_clear(struct row_numbers *n);

/** Those of a row of a group, on the host. */
double *row_numbers_host(const struct row_numbers *n, int group, long row);

/** The same on the backend. */
double *row_numbers_there(const struct row_numbers *n, int group, long row);

/** Groups [group, group + groups) of rows [row, row + rows) to the backend. */
int row_numbers_put(const struct row_numbers *n, int group, int groups, long row, long rows);

/** And from it. */
int row_numbers_get(const struct row_numbers *n, int group, int groups, long row, long rows);

#endif
