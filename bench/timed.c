/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bench/timed.h"

#include <string.h>

#include "kernels/base/clock.h"

const char *const timed_names[TIMED_PARTS] = {"stage", "response", "fft", "norm"};

/* By the names of the kernels: those of models are responses. */
static enum timed_part part_of(const char *kernel)
{
    static const char *const norms[] = {"step_close", "step_open", "step_bin"};
    for (size_t i = 0; i < sizeof norms / sizeof norms[0]; i++)
        if (strcmp(kernel, norms[i]) == 0)
            return PART_NORM;
    const bool stage = strncmp(kernel, "stage_", 6) == 0 || strncmp(kernel, "step_", 5) == 0;
    return stage ? PART_STAGE : PART_RESPONSE;
}

static void add(struct timed *t, enum timed_part part, double seconds)
{
    t->wall[part] += seconds;
    t->calls[part]++;
}

#define WRAPPED(name, entry, args)                                                             \
    static int wrapped_##name(struct backend *be, const struct args##_args *a, long row,       \
                              long rows, long n)                                               \
    {                                                                                          \
        struct timed *t = (struct timed *)be;                                                  \
        if (!t->on)                                                                            \
            return t->inner->kernels->entry(t->inner, a, row, rows, n);                        \
        const double start = clock_wall();                                                     \
        const int rc = t->inner->kernels->entry(t->inner, a, row, rows, n);                    \
        const double seconds = clock_wall() - start;                                           \
        add(t, part_of(#name), seconds);                                                       \
        return rc;                                                                             \
    }
#include "bench/wrapped_kernels.inc"

static struct backend *inner_of(struct backend *be)
{
    return ((struct timed *)be)->inner;
}

static int timed_alloc(struct backend *be, long count, size_t size, void **out)
{
    struct backend *inner = inner_of(be);
    return inner->ops->alloc(inner, count, size, out);
}

static void timed_release(struct backend *be, void *memory)
{
    struct backend *inner = inner_of(be);
    inner->ops->release(inner, memory);
}

static int timed_upload(struct backend *be, void *to, const void *from, size_t bytes)
{
    struct backend *inner = inner_of(be);
    return inner->ops->upload(inner, to, from, bytes);
}

static int timed_download(struct backend *be, void *to, const void *from, size_t bytes)
{
    struct backend *inner = inner_of(be);
    return inner->ops->download(inner, to, from, bytes);
}

static int timed_fft_create(struct backend *be, enum fft_kind kind, long n, struct fft **out)
{
    struct backend *inner = inner_of(be);
    return inner->ops->fft_create(inner, kind, n, out);
}

static void timed_fft_destroy(struct backend *be, struct fft *plan)
{
    struct backend *inner = inner_of(be);
    inner->ops->fft_destroy(inner, plan);
}

static int timed_fft_execute(struct backend *be, const struct fft *plan,
                             const struct fft_rows *rows)
{
    struct timed *t = (struct timed *)be;
    if (!t->on)
        return t->inner->ops->fft_execute(t->inner, plan, rows);
    const double start = clock_wall();
    const int rc = t->inner->ops->fft_execute(t->inner, plan, rows);
    add(t, PART_FFT, clock_wall() - start);
    return rc;
}

static int timed_fetch_create(struct backend *be, size_t bytes, struct fetch **out)
{
    struct backend *const inner = inner_of(be);
    return inner->ops->fetch_create(inner, bytes, out);
}

static void timed_fetch_destroy(struct backend *be, struct fetch *fetch)
{
    struct backend *const inner = inner_of(be);
    inner->ops->fetch_destroy(inner, fetch);
}

static int timed_fetch_begin(struct backend *be, struct fetch *fetch, const void *from,
                             size_t bytes)
{
    struct backend *const inner = inner_of(be);
    return inner->ops->fetch_begin(inner, fetch, from, bytes);
}

static int timed_fetch_end(struct backend *be, struct fetch *fetch, const void **data)
{
    struct backend *const inner = inner_of(be);
    return inner->ops->fetch_end(inner, fetch, data);
}

static void timed_destroy(struct backend *be)
{
    (void)be;
}

void timed_init(struct timed *t, struct backend *inner)
{
    static const struct backend_ops ops = {.name = "timed",
                                           .alloc = timed_alloc,
                                           .release = timed_release,
                                           .upload = timed_upload,
                                           .download = timed_download,
                                           .fft_create = timed_fft_create,
                                           .fft_destroy = timed_fft_destroy,
                                           .fft_execute = timed_fft_execute,
                                           .destroy = timed_destroy,
                                           .fetch_create = timed_fetch_create,
                                           .fetch_destroy = timed_fetch_destroy,
                                           .fetch_begin = timed_fetch_begin,
                                           .fetch_end = timed_fetch_end};
    *t = (struct timed){.base = *inner, .inner = inner};
    t->base.ops = &ops;
    t->base.kernels = &wrapped_kernels;
}
