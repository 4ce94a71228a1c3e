/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bench/floor.h"

#include <stdbool.h>

#include "kernels/base/clock.h"
#include "kernels/base/status.h"

#define FLOOR_TURNS 25 /* right-hand sides' worth of transforms at each look */

int floor_create(struct backend *be, long n, bool raman, struct floor *out)
{
    static const enum fft_kind kinds[] = {FFT_C2C_BACKWARD, FFT_C2C_FORWARD, FFT_R2C, FFT_C2R};
    const struct backend_ops *ops = be->ops;
    const long ld = backend_stride(n, sizeof(cplx));
    const long ld_half = backend_stride(n / 2 + 1, sizeof(cplx));
    const long ld_real = backend_stride(n, sizeof(double));
    *out = (struct floor){.be = be, .plans = raman ? 4 : 2};
    for (int i = 0; i < out->plans; i++)
        TRY(ops->fft_create(be, kinds[i], n, &out->plan[i]));
    TRY(ops->alloc(be, ld, sizeof(cplx), (void **)&out->a));
    TRY(ops->alloc(be, ld, sizeof(cplx), (void **)&out->b));
    TRY(ops->alloc(be, ld_half, sizeof(cplx), (void **)&out->half));
    TRY(ops->alloc(be, ld_real, sizeof(double), (void **)&out->real));
    out->rows[0] = (struct fft_rows){out->a, ld, out->b, ld, 0, 1, NULL};
    out->rows[1] = (struct fft_rows){out->b, ld, out->a, ld, 0, 1, NULL};
    out->rows[2] = (struct fft_rows){out->real, ld_real, out->half, ld_half, 0, 1, NULL};
    out->rows[3] = (struct fft_rows){out->half, ld_half, out->real, ld_real, 0, 1, NULL};
    return 0;
}

int floor_create_real(struct backend *be, long n, struct floor *out)
{
    const struct backend_ops *ops = be->ops;
    const long ld_half = backend_stride(n / 2 + 1, sizeof(cplx));
    const long ld_real = backend_stride(n, sizeof(double));
    *out = (struct floor){.be = be, .plans = 2};
    TRY(ops->fft_create(be, FFT_C2R, n, &out->plan[0]));
    TRY(ops->fft_create(be, FFT_R2C, n, &out->plan[1]));
    TRY(ops->alloc(be, ld_half, sizeof(cplx), (void **)&out->half));
    TRY(ops->alloc(be, ld_real, sizeof(double), (void **)&out->real));
    out->rows[0] = (struct fft_rows){out->half, ld_half, out->real, ld_real, 0, 1, NULL};
    out->rows[1] = (struct fft_rows){out->real, ld_real, out->half, ld_half, 0, 1, NULL};
    return 0;
}

void floor_clear(struct floor *f)
{
    if (f->be == NULL)
        return;
    for (int i = 0; i < f->plans; i++)
        f->be->ops->fft_destroy(f->be, f->plan[i]);
    void *const memory[] = {f->a, f->b, f->half, f->real};
    for (int i = 0; i < 4; i++)
        f->be->ops->release(f->be, memory[i]);
}

static int floor_turns(const struct floor *f, int turns)
{
    for (int turn = 0; turn < turns; turn++)
        for (int i = 0; i < f->plans; i++)
            TRY(f->be->ops->fft_execute(f->be, f->plan[i], &f->rows[i]));
    return 0;
}

int floor_measure(struct floor *f)
{
    TRY(floor_turns(f, 2));
    const double start = clock_cpu_thread();
    TRY(floor_turns(f, FLOOR_TURNS));
    f->cpu += clock_cpu_thread() - start;
    f->rhs += FLOOR_TURNS;
    return 0;
}

double floor_seconds(const struct floor *f)
{
    return f->rhs > 0.0 ? f->cpu / f->rhs : 0.0;
}
