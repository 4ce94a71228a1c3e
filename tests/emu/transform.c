/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Transforms of the emulated device: FFTW's, on many rows at once. */
#include <stdlib.h>
#include <string.h>

#include <fftw3.h>

#include "tests/emu/machine.h"
#include "tests/emu/stop.h"

#define SPOILT ((size_t)4096) /* bytes of a work area that execution spoils */

struct emu_transform {
    enum fft_kind kind;
    size_t in_bytes, out_bytes; /* of all rows, from the first to the last element */
    fftw_plan plan;
    void *work; /* on the device */
    size_t work_bytes;
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
static fftw_plan plan_many(const struct fft_shape *s, void *in, void *out)
{
    const int n = (int)s->n;
    const int rows = (int)s->rows;
    const int ld_in = (int)s->ld_in;
    const int ld_out = (int)s->ld_out;
    const unsigned flags = FFTW_ESTIMATE;
    switch (s->kind) {
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

size_t emu_transform_bytes(const struct fft_shape *shape)
{
    return emu_setting(EMU_WORK, 0) * (size_t)shape->rows * (size_t)shape->n * sizeof(cplx);
}

static void make_plan(struct emu_transform *t, const struct fft_shape *shape)
{
    void *const in = fftw_malloc(t->in_bytes);
    void *const out = fftw_malloc(t->out_bytes);
    if (in != NULL && out != NULL)
        t->plan = plan_many(shape, in, out);
    fftw_free(in);
    fftw_free(out);
}

struct emu_transform *emu_transform_new(const struct fft_shape *shape, bool *full)
{
    struct emu_transform *const t = calloc(1, sizeof *t);
    const enum fft_kind kind = shape->kind;
    const size_t size_in = kind == FFT_R2C ? sizeof(double) : sizeof(cplx);
    const size_t size_out = kind == FFT_C2R ? sizeof(double) : sizeof(cplx);
    const long before = shape->rows - 1;
    *full = false;
    if (t == NULL)
        return NULL;
    t->kind = kind;
    t->in_bytes = (size_t)(before * shape->ld_in + length_in(kind, shape->n)) * size_in;
    t->out_bytes = (size_t)(before * shape->ld_out + length_out(kind, shape->n)) * size_out;
    t->work_bytes = emu_transform_bytes(shape);
    if (t->work_bytes > 0)
        t->work = emu_memory_new(t->work_bytes);
    *full = t->work_bytes > 0 && t->work == NULL;
    if (!*full)
        make_plan(t, shape);
    if (t->plan != NULL)
        return t;
    emu_transform_free(t);
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
    if (t->work != NULL)
        memset(t->work, 0xff, t->work_bytes < SPOILT ? t->work_bytes : SPOILT);
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
    if (t->plan != NULL)
        fftw_destroy_plan(t->plan);
    emu_memory_free(t->work);
    free(t);
}
