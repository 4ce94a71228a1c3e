/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/kernels/group_case.h"

#include <math.h>
#include <string.h>

#include <fftw3.h>

#include "kernels/base/mem.h"
#include "kernels/base/rng.h"
#include "kernels/base/status.h"
#include "kernels/contract/bounds.h"
#include "kernels/contract/compare.h"

static bool is_real(enum fft_kind kind)
{
    return kind == FFT_R2C || kind == FFT_C2R;
}

static long width_in(enum fft_kind kind)
{
    return kind == FFT_R2C ? 1 : 2;
}

static long width_out(enum fft_kind kind)
{
    return kind == FFT_C2R ? 1 : 2;
}

static long half(long n)
{
    return n / 2 + 1;
}

long case_points(const struct group_case *c)
{
    return c->n[0] * c->n[1] * c->n[2];
}

long case_doubles_in(const struct group_case *c)
{
    const long row = c->kind == FFT_C2R ? half(c->n[2]) : c->n[2];
    return c->n[0] * c->n[1] * row * width_in(c->kind);
}

long case_doubles_out(const struct group_case *c)
{
    const long row = c->kind == FFT_R2C ? half(c->n[2]) : c->n[2];
    return c->n[0] * c->n[1] * row * width_out(c->kind);
}

/* Row j of plane i in a whole array, and in a slab that starts at plane `first`. */
static long whole_row(const struct group_array *a, long width, long i, long j)
{
    return (i * a->n[1] + j) * a->n[2] * width;
}

static long slab_row(const struct group_array *a, long width, long i, long j)
{
    return (i * a->n[1] + j) * a->row * width;
}

static void slab_load(const struct group_layout *l, long width, const double *whole,
                      double *slab)
{
    const struct group_span *span = &l->span[l->rank];
    for (long d = 0; d < 2 * l->capacity; d++)
        slab[d] = (double)NAN;
    for (long i = 0; i < span->count; i++)
        for (long j = 0; j < l->in.n[1]; j++)
            memcpy(slab + slab_row(&l->in, width, i, j),
                   whole + whole_row(&l->in, width, span->offset + i, j),
                   (size_t)(l->in.n[2] * width) * sizeof(double));
}

static bool slab_is(const struct group_layout *l, long width, const double *whole,
                    const double *slab)
{
    const struct group_span *span = &l->span[l->rank];
    for (long i = 0; i < span->count; i++)
        for (long j = 0; j < l->in.n[1]; j++)
            if (comparison_bits(slab + slab_row(&l->in, width, i, j),
                                whole + whole_row(&l->in, width, span->offset + i, j),
                                sizeof(double), l->in.n[2] * width)
                != -1)
                return false;
    return true;
}

/* Each element comes from one rank; the others add zero. */
static void slab_gather(const struct group_case *c, const struct group_layout *l,
                        const double *slab, double *whole)
{
    const struct group_span *span = &l->span[l->rank];
    const long width = width_out(c->kind);
    const long count = case_doubles_out(c);
    memset(whole, 0, (size_t)count * sizeof *whole);
    for (long i = 0; i < span->count; i++)
        for (long j = 0; j < l->out.n[1]; j++)
            memcpy(whole + whole_row(&l->out, width, span->offset + i, j),
                   slab + slab_row(&l->out, width, i, j),
                   (size_t)(l->out.n[2] * width) * sizeof(double));
    MPI_Allreduce(MPI_IN_PLACE, whole, (int)count, MPI_DOUBLE, MPI_SUM, c->comm);
}

int case_transform(const struct group_case *c, const double *in, double *out, bool *kept)
{
    const struct group_options options = {.communicator = MPI_Comm_c2f(c->comm),
                                          .kind = c->kind,
                                          .n = {c->n[0], c->n[1], c->n[2]},
                                          .rigour = c->rigour};
    struct group_fft *plan;
    *kept = false;
    TRY(group_fft_create(&options, &plan));
    const struct group_layout *layout = group_fft_layout(plan);
    double *slab_in = NULL;
    double *slab_out = NULL;
    int rc;
    TRY_OR(rc, done, MEM_NEW(2 * layout->capacity, &slab_in));
    TRY_OR(rc, done, MEM_NEW(2 * layout->capacity, &slab_out));
    slab_load(layout, width_in(c->kind), in, slab_in);
    TRY_OR(rc, done, group_fft_execute(plan, slab_in, slab_out));
    *kept = slab_is(layout, width_in(c->kind), in, slab_in);
    slab_gather(c, layout, slab_out, out);
done:
    mem_free(slab_in);
    mem_free(slab_out);
    group_fft_destroy(plan);
    return rc;
}

static fftw_plan reference_plan(const struct group_case *c, void *in, void *out)
{
    const int n[3] = {(int)c->n[0], (int)c->n[1], (int)c->n[2]};
    switch (c->kind) {
    case FFT_C2C_FORWARD:
        return fftw_plan_dft(3, n, in, out, FFTW_FORWARD, FFTW_ESTIMATE);
    case FFT_C2C_BACKWARD:
        return fftw_plan_dft(3, n, in, out, FFTW_BACKWARD, FFTW_ESTIMATE);
    case FFT_R2C:
        return fftw_plan_dft_r2c(3, n, in, out, FFTW_ESTIMATE);
    case FFT_C2R:
        return fftw_plan_dft_c2r(3, n, in, out, FFTW_ESTIMATE);
    }
    return NULL;
}

int case_reference(const struct group_case *c, const double *in, double *out)
{
    double *copy; /* c2r destroys its input */
    TRY(MEM_NEW(case_doubles_in(c), &copy));
    memcpy(copy, in, (size_t)case_doubles_in(c) * sizeof *copy);
    const fftw_plan plan = reference_plan(c, copy, out);
    if (plan != NULL)
        fftw_execute(plan);
    fftw_destroy_plan(plan);
    mem_free(copy);
    return plan != NULL ? 0 : ERR_DEVICE;
}

void case_fill(double *values, long count)
{
    const struct rng_stream stream = {.seed = 17};
    for (long i = 0; i < count; i++) {
        double u[2];
        rng_uniform2(&stream, (uint64_t)i, u);
        values[i] = u[0];
    }
}

void case_plane_wave(const struct group_case *c, const long m[3], double *values)
{
    const double turn = 2.0 * acos(-1.0);
    const long *n = c->n;
    const long width = is_real(c->kind) ? 1 : 2;
    for (long p = 0; p < case_points(c); p++) {
        const long j[3] = {p / n[2] / n[1], p / n[2] % n[1], p % n[2]};
        double turns = 0.0;
        for (int axis = 0; axis < 3; axis++)
            turns += (double)(j[axis] * m[axis] % n[axis]) / (double)n[axis];
        values[width * p] = cos(turn * turns);
        if (width == 2)
            values[2 * p + 1] = sin(turn * turns);
    }
}

static void spike_add(const struct group_case *c, const long m[3], double value, double *values)
{
    const long row = is_real(c->kind) ? half(c->n[2]) : c->n[2];
    if (m[2] < row)
        values[2 * ((m[0] * c->n[1] + m[1]) * row + m[2])] += value;
}

void case_spike(const struct group_case *c, const long m[3], double *values)
{
    const long row = is_real(c->kind) ? half(c->n[2]) : c->n[2];
    const double points = (double)case_points(c);
    memset(values, 0, (size_t)(2 * c->n[0] * c->n[1] * row) * sizeof *values);
    if (!is_real(c->kind)) {
        spike_add(c, m, points, values);
        return;
    }
    long opposite[3];
    for (int axis = 0; axis < 3; axis++)
        opposite[axis] = (c->n[axis] - m[axis]) % c->n[axis];
    spike_add(c, m, points / 2.0, values);
    spike_add(c, opposite, points / 2.0, values);
}
