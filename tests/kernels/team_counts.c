/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A kernel table and operations that count and pass on. */
#include "tests/kernels/team_counts.h"

static const struct kernel_table *kernels;
static const struct backend_ops *ops;
static struct kernel_table counting_kernels;
static struct backend_ops counting_ops;
static struct team_counts counts;

static void launched(long rows, const unsigned char *active)
{
    counts.launches++;
    counts.masked += active != NULL;
    counts.most_rows = rows > counts.most_rows ? rows : counts.most_rows;
    counts.least_rows =
        counts.launches == 1 || rows < counts.least_rows ? rows : counts.least_rows;
}

#define COUNTED(name, entry, args)                                                             \
    static int counted_##name(struct backend *be, const struct args##_args *a, long row,       \
                              long rows, long n)                                               \
    {                                                                                          \
        launched(rows, a->active);                                                             \
        return kernels->entry(be, a, row, rows, n);                                            \
    }
/* NOLINTNEXTLINE(bugprone-macro-parentheses): the entry is the name of a field and its index */
#define COUNTED_INSTANCE(name, s, args) COUNTED(name##_##s, name[s], args)
#define UP_TO_1(make, name, args)       make(name, 0, args) make(name, 1, args)
#define UP_TO_2(make, name, args)       UP_TO_1(make, name, args) make(name, 2, args)
#define UP_TO_4(make, name, args)                                                              \
    UP_TO_2(make, name, args) make(name, 3, args) make(name, 4, args)

#define KERNEL(name, args)              COUNTED(name, name, args)
#define KERNEL_N(name, last, args)      UP_TO_##last(COUNTED_INSTANCE, name, args)
#define KERNEL_SUM(name, outputs, args) KERNEL(name, args)
#define KERNEL_NORM(name, args)         KERNEL(name, args)
#define KERNEL_ROW(name, outputs, args) KERNEL(name, args)
#define KERNEL_LINE(name, args)         KERNEL(name, args)
#define KERNEL_COLUMN(name, args)       KERNEL(name, args)
#include "kernels/column.def"
#include "kernels/fast.def"
#include "kernels/strict.def"
#undef KERNEL
#undef KERNEL_N

#define SET_INSTANCE(name, s, args) counting_kernels.name[s] = counted_##name##_##s;
#define KERNEL(name, args)          counting_kernels.name = counted_##name;
#define KERNEL_N(name, last, args)  UP_TO_##last(SET_INSTANCE, name, args)

static void kernels_set(void)
{
#include "kernels/column.def"
#include "kernels/fast.def"
#include "kernels/strict.def"
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

void team_counts_begin(struct backend *be)
{
    kernels = be->kernels;
    ops = be->ops;
    counts = (struct team_counts){0};
    kernels_set();
    counting_ops = *ops;
    counting_ops.upload = upload;
    counting_ops.download = download;
    be->kernels = &counting_kernels;
    be->ops = &counting_ops;
}

struct team_counts team_counts_end(struct backend *be)
{
    be->kernels = kernels;
    be->ops = ops;
    return counts;
}
