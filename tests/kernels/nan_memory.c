/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/kernels/nan_memory.h"

#include <stdlib.h>
#include <string.h>

#include <check.h>

#include "kernels/base/status.h"

static struct backend_ops nan_ops;
static int (*plain_alloc)(struct backend *be, long count, size_t size, void **out);

static int nan_alloc(struct backend *be, long count, size_t size, void **out)
{
    TRY(plain_alloc(be, count, size, out));
    if (size < sizeof(double) || count < 1)
        return 0;
    const size_t bytes = (size_t)count * size;
    void *const nan = malloc(bytes);
    ck_assert_ptr_nonnull(nan);
    memset(nan, 0xff, bytes);
    const int rc = be->ops->upload(be, *out, nan, bytes);
    free(nan);
    return rc;
}

void use_nan_memory(struct backend *be)
{
    nan_ops = *be->ops;
    plain_alloc = nan_ops.alloc;
    nan_ops.alloc = nan_alloc;
    be->ops = &nan_ops;
}
