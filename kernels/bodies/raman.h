/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef KERNELS_BODIES_RAMAN_H
#define KERNELS_BODIES_RAMAN_H

#include <math.h>

#include "kernels/kdefs.h"

/* Raman response of silica as one damped oscillation, 1/s, integral 1 over tau >= 0 (Blow and
 * Wood, IEEE J. Quantum Electron. 25, 2665, 1989, eq. 18). Used at set-up. */
K_FN double raman_blow_wood(double tau, double tau1, double tau2)
{
    const double scale = (tau1 * tau1 + tau2 * tau2) / (tau1 * tau2 * tau2);
    return tau < 0.0 ? 0.0 : scale * exp(-tau / tau2) * sin(tau / tau1);
}

/*
 * What drives the vibrations of a molecule, of a real field (physics.md §4):
 *
 *   raman_square[0]  out = A^2
 *   raman_square[1]  out = (A^2 + Q^2)/2, Q the imaginary part of the analytic signal: no
 * second harmonic
 */
struct raman_square_args {
    const double *field;      /* [rows][ld] */
    const double *quadrature; /* raman_square[1], else NULL */
    double *out;
    long ld;
    long ld_out;                 /* of `out`; 0: ld */
    const unsigned char *active; /* [rows], NULL: all */
};

struct raman_square_row {
    const double *field, *quadrature;
    double *out;
};

K_FN struct raman_square_row raman_square_row(const struct raman_square_args *a, long row)
{
    const long at = row * a->ld;
    struct raman_square_row r;
    r.field = a->field + at;
    r.quadrature = k_row_real(a->quadrature, at);
    r.out = a->out + row * k_stride(a->ld_out, a->ld);
    return r;
}

K_FN void raman_square_body(int s, long i, const struct raman_square_row *r)
{
    const double square = r->field[i] * r->field[i];
    const double q = s == 1 ? r->quadrature[i] : 0.0;
    r->out[i] = s == 1 ? 0.5 * (square + q * q) : square;
}

#endif
