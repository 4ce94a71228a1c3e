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

#endif
