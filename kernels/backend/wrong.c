/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "kernels/backend/wrong.h"

#include "kernels/base/mem.h"
#include "kernels/base/status.h"

#define SCALE 1.001

/* What a process of a test build remembers of its wrong backend: the kernels it had. */
static struct kernel_table wrong;
static int (*right_close)(struct backend *, const struct step_close_args *, long, long, long);

static int wrong_row(struct backend *be, double *there, double *here, long n)
{
    const size_t bytes = (size_t)n * sizeof(double);
    TRY(be->ops->download(be, here, there, bytes));
    for (long i = 0; i < n; i++)
        here[i] *= SCALE;
    return be->ops->upload(be, there, here, bytes);
}

static int wrong_close(struct backend *be, const struct step_close_args *a, long row, long rows,
                       long n)
{
    double *here;
    TRY(right_close(be, a, row, rows, n));
    TRY(MEM_NEW(n, &here));
    int rc = 0;
    for (long r = 2 * row; r < 2 * (row + rows) && rc == 0; r++)
        rc = wrong_row(be, a->k + r * a->ld, here, n);
    mem_free(here);
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
