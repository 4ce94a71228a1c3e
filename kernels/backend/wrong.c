/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "kernels/backend/wrong.h"

#define SCALE 1.001

/* What a process of a test build remembers of its wrong backend: the kernels it had. */
static struct kernel_table wrong;
static int (*right_close)(struct backend *, const struct step_close_args *, long, long, long);

static int wrong_close(struct backend *be, const struct step_close_args *a, long row, long rows,
                       long n)
{
    const int rc = right_close(be, a, row, rows, n);
    for (long r = row; r < row + rows; r++)
        for (long i = 0; i < n; i++) {
            a->k[2 * r * a->ld + i] *= SCALE;
            a->k[(2 * r + 1) * a->ld + i] *= SCALE;
        }
    return rc;
}

void backend_make_wrong(struct backend *be)
{
    if (be->kernels == &wrong)
        return;
    wrong = *be->kernels;
    right_close = wrong.step_close;
    wrong.step_close = wrong_close;
    be->kernels = &wrong;
}
