/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A kernel table and operations that count and pass on. */
#include "tests/kernels/backend_counts.h"

static const struct kernel_table *kernels;
static const struct backend_ops *ops;
static struct backend_ops counting_ops;
static struct device_ops counting_device;
static struct backend_counts counts;

static void launched(long rows, const unsigned char *active)
{
    counts.launches++;
    counts.masked += active != NULL;
    counts.most_rows = rows > counts.most_rows ? rows : counts.most_rows;
    counts.least_rows =
        counts.launches == 1 || rows < counts.least_rows ? rows : counts.least_rows;
}

#define WRAPPED(name, entry, args)                                                             \
    static int wrapped_##name(struct backend *be, const struct args##_args *a, long row,       \
                              long rows, long n)                                               \
    {                                                                                          \
        launched(rows, a->active);                                                             \
        return kernels->entry(be, a, row, rows, n);                                            \
    }
#include "bench/wrapped_kernels.inc"

static int column(struct backend *be, enum column_kind kind, const struct column_args *a,
                  long row, long rows, long n)
{
    launched(rows, a->active);
    return ops->device->column(be, kind, a, row, rows, n);
}

static int fft_execute(struct backend *be, const struct fft *plan, const struct fft_rows *rows)
{
    counts.transforms++;
    return ops->fft_execute(be, plan, rows);
}

static int upload(struct backend *be, void *to, const void *from, size_t bytes)
{
    counts.uploads++;
    return ops->upload(be, to, from, bytes);
}

static int download(struct backend *be, void *to, const void *from, size_t bytes)
{
    counts.downloads++;
    return ops->download(be, to, from, bytes);
}

static int alloc(struct backend *be, long count, size_t size, void **out)
{
    counts.bytes += count * (long)size;
    return ops->alloc(be, count, size, out);
}

static int fetch_create(struct backend *be, size_t bytes, struct fetch **out)
{
    counts.bytes += (long)bytes; /* a copy there */
    return ops->fetch_create(be, bytes, out);
}

void backend_counts_begin(struct backend *be)
{
    kernels = be->kernels;
    ops = be->ops;
    counts = (struct backend_counts){0};
    counting_ops = *ops;
    counting_ops.fft_execute = fft_execute;
    counting_ops.upload = upload;
    counting_ops.download = download;
    counting_ops.alloc = alloc;
    counting_ops.fetch_create = fetch_create;
    if (ops->device != NULL) {
        counting_device = *ops->device;
        counting_device.column = column;
        counting_ops.device = &counting_device;
    }
    be->kernels = &wrapped_kernels;
    be->ops = &counting_ops;
}

struct backend_counts backend_counts_end(struct backend *be)
{
    be->kernels = kernels;
    be->ops = ops;
    return counts;
}
