/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "runner/transform.h"

#include <math.h>
#include <string.h>

#include "kernels/backend.h"
#include "kernels/base/clock.h"
#include "kernels/base/status.h"

/* One row in, one row out, and what works on them. */
struct bench {
    struct backend *be;
    struct fft *plan;
    struct fft_rows rows;
};

static void bench_clear(struct bench *b)
{
    if (b->be == NULL)
        return;
    b->be->ops->release(b->be, b->rows.out);
    b->be->ops->release(b->be, b->rows.in);
    b->be->ops->fft_destroy(b->be, b->plan);
    backend_destroy(b->be);
}

static int bench_init(struct bench *b, long n)
{
    const struct backend_options options = {
        .name = "cpu", .isa = "auto", .threads = 1, .rigour = FFT_ESTIMATE};
    const size_t size = 2 * sizeof(double);
    const long ld = backend_stride(n, size);
    *b = (struct bench){.rows = {.ld_in = ld, .ld_out = ld, .row = 0, .rows = 1}};
    TRY(backend_create(&options, &b->be));
    int rc = 0;
    TRY_OR(rc, done, b->be->ops->fft_create(b->be, FFT_C2C_BACKWARD, n, &b->plan));
    TRY_OR(rc, done, b->be->ops->alloc(b->be, ld, size, &b->rows.in));
    TRY_OR(rc, done, b->be->ops->alloc(b->be, ld, size, &b->rows.out));
done:
    if (rc != 0)
        bench_clear(b);
    return rc;
}

int transform_power(long rows, long n, const double *spectra, double *power)
{
    struct bench b;
    TRY(bench_init(&b, n));
    int rc = 0;
    for (long r = 0; r < rows && rc == 0; r++) {
        memcpy(b.rows.in, spectra + 2 * n * r, (size_t)(2 * n) * sizeof *spectra);
        rc = b.be->ops->fft_execute(b.be, b.plan, &b.rows);
        const double *a = b.rows.out;
        for (long j = 0; j < n; j++)
            power[n * r + j] = a[2 * j] * a[2 * j] + a[2 * j + 1] * a[2 * j + 1];
    }
    bench_clear(&b);
    return rc;
}

int transform_time(long n, double *seconds)
{
    struct bench b;
    TRY(bench_init(&b, n));
    const double end = clock_wall() + 0.01;
    int rc = 0;
    int trials = 0;
    *seconds = (double)INFINITY;
    for (double before = clock_wall(); rc == 0 && (before < end || trials < 3); trials++) {
        rc = b.be->ops->fft_execute(b.be, b.plan, &b.rows);
        const double after = clock_wall();
        *seconds = fmin(*seconds, after - before);
        before = after;
    }
    bench_clear(&b);
    return rc;
}
