/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef KERNELS_BODIES_HALF_H
#define KERNELS_BODIES_HALF_H

#include "kernels/kdefs.h"

/*
 * The power of an analytic signal whose real part is known at all samples and whose quadrature
 * at every second one. Samples come in pairs: an even and an odd one as a complex number.
 *
 * Between two samples at distance 2 dt, for 0 < omega dt < pi/2:
 *
 *   a(t) = sum over odd k of g_k (e^(-i k pi/4) a(t + k dt) + e^(i k pi/4) a(t - k dt)),
 *
 * whose tone at omega has the factor 2 sum g_k cos(k psi), psi = omega dt - pi/4. The g_k make
 * it 1 at the Chebyshev nodes of sin^2 psi in [0, 1/2]; it is 1 within 3.1e-14 for all |psi| up
 * to pi/4, and 2 sum |g_k| = 2.08. Of the imaginary part sums and differences of quadrature and
 * sample remain, with g_k/sqrt(2) in the sign of cos(k pi/4). tests/kernels/test_half_power.c
 * has the factor in long double.
 */

/* Taps at each side. */
#define HALF_TAPS 17

/* do_tap(m, g_k/sqrt(2)), k = 2 m + 1 */
#define HALF_EACH_TAP(do_tap)                                                                  \
    do_tap(0, 0x1.c83ed4b3a47c4p-2) do_tap(1, 0x1.181a3b9ba0377p-3)                            \
        do_tap(2, -0x1.1cd7d65268105p-4) do_tap(3, -0x1.3cdd9bfda5e0cp-5)                      \
            do_tap(4, 0x1.5fe12444ba77fp-6) do_tap(5, 0x1.77a3f8cc66af9p-7)                    \
                do_tap(6, -0x1.7957586697e2fp-8) do_tap(7, -0x1.5f3e2b908692fp-9)              \
                    do_tap(8, 0x1.2ae9c7fa88eb0p-10) do_tap(9, 0x1.cac4be7a8c538p-12)          \
                        do_tap(10, -0x1.387bb5315a953p-13) do_tap(11, -0x1.72702f28270c5p-15)  \
                            do_tap(12, 0x1.741c6b1c01e1fp-17)                                  \
                                do_tap(13, 0x1.30bc1181962f3p-19)                              \
                                    do_tap(14, -0x1.7e8fa11ae99c5p-22)                         \
                                        do_tap(15, -0x1.4862b3222bf92p-25)                     \
                                            do_tap(16, 0x1.226b316702ad0p-29)

/* half_even: sum and maximum of the power at the even samples. */
struct half_even_args {
    const cplx *samples;      /* [rows][ld], pairs */
    const double *quadrature; /* [rows][ld] */
    double *out;              /* [rows][2] */
    long ld;
    const unsigned char *active; /* [rows], NULL: all */
};

struct half_even_row {
    const cplx *samples;
    const double *quadrature;
};

K_FN struct half_even_row half_even_row(const struct half_even_args *a, long row)
{
    struct half_even_row r;
    r.samples = a->samples + row * a->ld;
    r.quadrature = a->quadrature + row * a->ld;
    return r;
}

K_FN double half_even_body(long i, const struct half_even_row *r)
{
    const double x = r->samples[i].r;
    const double q = r->quadrature[i];
    return x * x + q * q;
}

/* half_sums: sums and differences of quadrature and sample at the even samples. */
struct half_sums_args {
    const cplx *samples;      /* [rows][ld], pairs */
    const double *quadrature; /* [rows][ld] */
    double *sum;              /* [rows][ld] */
    double *difference;       /* the same */
    long ld;
    const unsigned char *active;
};

struct half_sums_row {
    const cplx *samples;
    const double *quadrature;
    double *sum, *difference;
};

K_FN struct half_sums_row half_sums_row(const struct half_sums_args *a, long row)
{
    struct half_sums_row r;
    r.samples = a->samples + row * a->ld;
    r.quadrature = a->quadrature + row * a->ld;
    r.sum = a->sum + row * a->ld;
    r.difference = a->difference + row * a->ld;
    return r;
}

K_FN void half_sums_body(long i, const struct half_sums_row *r)
{
    const double x = r->samples[i].r;
    const double q = r->quadrature[i];
    r->sum[i] = q + x;
    r->difference[i] = q - x;
}

/* column_between: the powers of pairs, from sums and differences of quadrature and sample at
 * the even ones, which are read HALF_TAPS elements beyond both ends. */
struct between_args {
    const cplx *samples;      /* [rows][ld] */
    const double *quadrature; /* [rows][ld] */
    const double *sum;        /* [rows][ld], with HALF_TAPS before and behind a row */
    const double *difference; /* the same */
    cplx *out;                /* [rows][ld] */
    long ld;
    const unsigned char *active;
};

struct between_row {
    const cplx *samples;
    const double *quadrature, *sum, *difference;
    cplx *out;
};

K_FN struct between_row between_row(const struct between_args *a, long row)
{
    struct between_row r;
    r.samples = a->samples + row * a->ld;
    r.quadrature = a->quadrature + row * a->ld;
    r.sum = a->sum + row * a->ld;
    r.difference = a->difference + row * a->ld;
    r.out = a->out + row * a->ld;
    return r;
}

/* What tap m multiplies: sums and differences after and before, in turns. */
K_FN double between_tap(long i, int m, const struct between_row *r)
{
    const double *const after = m % 2 == 0 ? r->difference : r->sum;
    const double *const before = m % 2 == 0 ? r->sum : r->difference;
    return after[i + m + 1] + before[i - m];
}

K_FN void between_pair(long i, const struct between_row *r)
{
    const cplx x = r->samples[i];
    const double q = r->quadrature[i];
    double odd = 0.0;
#define HALF_ADD(m, tap) odd += (tap)*between_tap(i, m, r);
    HALF_EACH_TAP(HALF_ADD)
#undef HALF_ADD
    r->out[i] = cplx_make(x.r * x.r + q * q, x.i * x.i + odd * odd);
}

K_FN void column_between_body(long n, const struct between_row *r)
{
    for (long i = 0; i < n; i++)
        between_pair(i, r);
}

#endif
