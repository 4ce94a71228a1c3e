/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef KERNELS_KDEFS_H
#define KERNELS_KDEFS_H

/*
 * The common subset of C17 and C++17 in which kernel bodies are written, once for every
 * backend. K_FN marks a function that a launch inlines: static inline on a CPU, __device__ on a
 * GPU.
 */

#ifdef __FAST_MATH__
#    error "scanfarm kernels need IEEE arithmetic: build without -ffast-math"
#endif

/* K_DEVICE: bodies are compiled for a device, which has a fused multiply-add. */
#if defined(__CUDACC__) || defined(__HIPCC__)
#    define K_DEVICE
#    define K_FN       static __device__ __forceinline__
#    define K_RESTRICT __restrict__
#else
#    define K_FN       static inline __attribute__((always_inline, unused))
#    define K_RESTRICT __restrict__
#endif

/* A complex number as HDF5, FFTW and GPUs lay it out. `double complex` is not C++, and its
 * product calls a routine that repairs NaN. */
typedef struct cplx {
    double r, i;
} cplx;

/* What one element adds to the sums of a KERNEL_SUM; unused terms need no value. */
struct k_terms {
    double a, b, c;
};

/* r + i*I */
K_FN cplx cplx_make(double r, double i)
{
    cplx z;
    z.r = r;
    z.i = i;
    return z;
}

/* a + b */
K_FN cplx cplx_add(cplx a, cplx b)
{
    return cplx_make(a.r + b.r, a.i + b.i);
}

/* a - b */
K_FN cplx cplx_sub(cplx a, cplx b)
{
    return cplx_make(a.r - b.r, a.i - b.i);
}

/* a * b */
K_FN cplx cplx_mul(cplx a, cplx b)
{
    return cplx_make(a.r * b.r - a.i * b.i, a.r * b.i + a.i * b.r);
}

/* a * conj(b) */
K_FN cplx cplx_mul_conj(cplx a, cplx b)
{
    return cplx_make(a.r * b.r + a.i * b.i, a.i * b.r - a.r * b.i);
}

/* s * a */
K_FN cplx cplx_scale(double s, cplx a)
{
    return cplx_make(s * a.r, s * a.i);
}

/* a + s * b */
K_FN cplx cplx_axpy(double s, cplx b, cplx a)
{
    return cplx_make(a.r + s * b.r, a.i + s * b.i);
}

/* |a|^2 */
K_FN double cplx_abs2(cplx a)
{
    return a.r * a.r + a.i * a.i;
}

/*
 * A split row holds the real parts of its numbers and, `ld` further on, the imaginary parts, so
 * that a vector of either is one load: rows are [rows][2][ld]. The stepper's own rows are
 * split; what a transform reads or writes is not.
 */
K_FN cplx split_get(const double *row, long ld, long i)
{
    return cplx_make(row[i], row[i + ld]);
}

/* Number i of a split row. */
K_FN void split_set(double *row, long ld, long i, cplx z)
{
    row[i] = z.r;
    row[i + ld] = z.i;
}

/* Start of a row of an array that a kernel may lack: NULL stays NULL. */
K_FN const cplx *k_row(const cplx *array, long offset)
{
    return array != 0 ? array + offset : array;
}

/* The same of a real array. */
K_FN const double *k_row_real(const double *array, long offset)
{
    return array != 0 ? array + offset : array;
}

/* Stride of an array that may have one of its own. */
K_FN long k_stride(long own, long common)
{
    return own > 0 ? own : common;
}

/* Member of a row, whose scalars it takes: `group` rows after each other share one; 0: each has
 * its own. */
K_FN long k_member(long row, long group)
{
    return group > 1 ? row / group : row;
}

/* Scalar of a member of an array that a kernel may lack. */
K_FN double k_scalar(const double *array, long member)
{
    return array != 0 ? array[member] : 0.0;
}

/* Elements before and after those of a row that a launch sets to zero as well. */
struct k_zeros {
    long before, after;
};

/* Which part of a job a work item does: number `item` of `items` that share it. */
struct k_share {
    long item, items;
};

/* All of a job. */
K_FN struct k_share k_alone(void)
{
    struct k_share s;
    s.item = 0;
    s.items = 1;
    return s;
}

/* A share of n zeros. Work items of a device go side by side; a host's do a piece each, and its
 * C library knows how to fill a cache line without reading it first. */
K_FN void k_zeros_fill(cplx *to, long n, struct k_share share)
{
#ifdef K_DEVICE
    for (long i = share.item; i < n; i += share.items)
        to[i] = cplx_make(0.0, 0.0);
#else
    const long begin = n * share.item / share.items;
    const long end = n * (share.item + 1) / share.items;
    __builtin_memset(to + begin, 0, (unsigned long)(end - begin) * sizeof *to);
#endif
}

/* The zeros around a row of n elements. */
K_FN void k_zeros_write(cplx *row, long n, struct k_zeros zeros, struct k_share share)
{
    k_zeros_fill(row - zeros.before, zeros.before, share);
    k_zeros_fill(row + n, zeros.after, share);
}

#endif
