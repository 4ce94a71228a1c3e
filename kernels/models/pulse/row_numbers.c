/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "kernels/models/pulse/row_numbers.h"

#include "kernels/base/mem.h"
#include "kernels/base/status.h"

int row_numbers_create(struct backend *be, long rows, const int *width, int groups,
                       struct row_numbers *out)
{
    *out = (struct row_numbers){.be = be, .rows = rows, .groups = groups};
    if (groups > ROW_NUMBERS_MAX)
        FAIL(ERR_BUG, "%d groups of numbers of a row; at most %d", groups, ROW_NUMBERS_MAX);
    for (int g = 0; g < groups; g++) {
        out->width[g] = width[g];
        out->begin[g + 1] = out->begin[g] + rows * width[g];
    }
    const long all = out->begin[groups];
    if (all == 0)
        return 0;
    TRY(MEM_NEW(all, &out->host));
    return be->ops->alloc(be, all, sizeof(double), (void **)&out->there);
}

void row_numbers_clear(struct row_numbers *n)
{
    if (n->be != NULL)
        n->be->ops->release(n->be, n->there);
    mem_free(n->host);
    *n = (struct row_numbers){0};
}

double *row_numbers_host(const struct row_numbers *n, int group, long row)
{
    return n->host + n->begin[group] + row * n->width[group];
}

double *row_numbers_there(const struct row_numbers *n, int group, long row)
{
    return n->there + n->begin[group] + row * n->width[group];
}

/* One copy, one way or the other. */
static int copy(const struct row_numbers *n, long from, long count, bool put)
{
    const struct backend_ops *const ops = n->be->ops;
    const size_t bytes = (size_t)count * sizeof(double);
    if (count == 0)
        return 0;
    return put ? ops->upload(n->be, n->there + from, n->host + from, bytes)
               : ops->download(n->be, n->host + from, n->there + from, bytes);
}

static int move(const struct row_numbers *n, int group, int groups, long row, long rows,
                bool put)
{
    if (rows == n->rows)
        return copy(n, n->begin[group], n->begin[group + groups] - n->begin[group], put);
    for (int g = group; g < group + groups; g++)
        TRY(copy(n, n->begin[g] + row * n->width[g], rows * n->width[g], put));
    return 0;
}

int row_numbers_put(const struct row_numbers *n, int group, int groups, long row, long rows)
{
    return move(n, group, groups, row, rows, true);
}

int row_numbers_get(const struct row_numbers *n, int group, int groups, long row, long rows)
{
    return move(n, group, groups, row, rows, false);
}
