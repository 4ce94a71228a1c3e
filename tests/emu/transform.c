/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Transforms of the emulated device: FFTW's, on many rows at once. */
#include <stdlib.h>

#include <fftw3.h>

#include "tests/emu/machine.h"
#include "tests/emu/stop.h"

struct emu_transform {
    enum fft_kind kind;
    size_t in_bytes, out_bytes; /* of all rows, from the first to the last element */
    fftw_plan plan;
};

/* Numbers of a row in and out. */
static long length_in(enum fft_kind kind, long n)
{
    return kind == FFT_C2R ? n / 2 + 1 : n;
}

static long length_out(enum fft_kind kind, long n)
{
    return kind == FFT_R2C ? n / 2 + 1 : n;
}

/* An estimate does not touch the arrays; execution asks for their alignment alone. */
static fftw_plan plan_many(enum fft_kind kind, int n, int rows, int ld_in, int ld_out, void *in,
                           void *out)
{
    const unsigned flags = FFTW_ESTIMATE;
    switch (kind) {
    case FFT_C2C_FORWARD:
        return fftw_plan_many_dft(1, &n, rows, in, NULL, 1, ld_in, out, NULL, 1, ld_out,
                                  FFTW_FORWARD, flags);
    case FFT_C2C_BACKWARD:
        return fftw_plan_many_dft(1, &n, rows, in, NULL, 1, ld_in, out, NULL, 1, ld_out,
                                  FFTW_BACKWARD, flags);
    case FFT_R2C:
        return fftw_plan_many_dft_r2c(1, &n, rows, in, NULL, 1, ld_in, out, NULL, 1, ld_out,
                                      flags);
    case FFT_C2R:
        return fftw_plan_many_dft_c2r(1, &n, rows, in, NULL, 1, ld_in, out, NULL, 1, ld_out,
                                      flags | FFTW_DESTROY_INPUT);
    }
    return NULL;
}

struct emu_transform *emu_transform_new(enum fft_kind kind, long n, long rows, long ld_in,
                                        long ld_out)
{
    struct emu_transform *const t = calloc(1, sizeof *t);
    if (t == NULL)
        return NULL;
    const size_t size_in = kind == FFT_R2C ? sizeof(double) : sizeof(cplx);
    const size_t size_out = kind == FFT_C2R ? sizeof(double) : sizeof(cplx);
    t->kind = kind;
    t->in_bytes = (size_t)((rows - 1) * ld_in + length_in(kind, n)) * size_in;
    t->out_bytes = (size_t)((rows - 1) * ld_out + length_out(kind, n)) * size_out;
    void *const in = fftw_malloc(t->in_bytes);
    void *const out = fftw_malloc(t->out_bytes);
    if (in != NULL && out != NULL)
        t->plan = plan_many(kind, (int)n, (int)rows, (int)ld_in, (int)ld_out, in, out);
    fftw_free(in);
    fftw_free(out);
    if (t->plan != NULL)
        return t;
    free(t);
    return NULL;
}

void emu_transform_run(struct emu_transform *t, void *in, void *out)
{
    if (!emu_holds(in, t->in_bytes) || !emu_holds(out, t->out_bytes))
        emu_stop("a transform's rows are not in the device's memory");
    if (!emu_begins())
        return;
    emu_worked();
    emu_open();
    switch (t->kind) {
    case FFT_C2C_FORWARD:
    case FFT_C2C_BACKWARD:
        fftw_execute_dft(t->plan, in, out);
        break;
    case FFT_R2C:
        fftw_execute_dft_r2c(t->plan, in, out);
        break;
    case FFT_C2R:
        fftw_execute_dft_c2r(t->plan, in, out);
        break;
    }
    emu_close();
}

void emu_transform_free(struct emu_transform *t)
{
    if (t == NULL)
        return;
    fftw_destroy_plan(t->plan);
    free(t);
}
