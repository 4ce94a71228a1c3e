/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef KERNELS_MODELS_PULSE_RAMAN_GAS_H
#define KERNELS_MODELS_PULSE_RAMAN_GAS_H

#include <stdbool.h>

#include "kernels/kdefs.h"
#include "kernels/models/pulse/gas.h"

/*
 * Raman response of molecules: damped oscillations of rotation and vibration (physics.md §2.7,
 * §4). For a real field P(t) = rho E(t) int h(s) E(t - s)^2 ds, with h of one particle in C
 * m^4/(V^3 s).
 */

/* Rotation from J = 0 to 50, and vibration. */
#define RAMAN_J_MAX 50
#define RAMAN_LINES (RAMAN_J_MAX + 1)

/* One damped oscillation: strength sin(omega t) exp(-t/tau) for t >= 0. */
struct raman_line {
    double strength; /* C m^4/(V^3 s) */
    double omega;    /* rad/s */
    double tau;      /* s */
};

/* A response. */
struct raman_lines {
    int count;
    struct raman_line line[RAMAN_LINES];
};

/** Whether `raman: auto` gives this gas a response. */
bool raman_gas_has(enum gas gas);

/**
 * Lines of a gas; to be made again where the density changes.
 *
 * @param temperature K, > 0: populations of the rotational levels
 * @param rho         1/m^3, >= 0: widths of the lines; without gas there are no lines
 * @return 0, or ERR_UNSUPPORTED: an atom, or a gas whose data are incomplete (O2: no
 * linewidths)
 */
int raman_gas_lines(enum gas gas, double temperature, double rho, struct raman_lines *out);

/** h(t); 0 for t < 0. */
double raman_lines_response(const struct raman_lines *lines, double t);

/** Transform int_0^inf h(t) exp(-i omega t) dt; its imaginary part is -gain. */
cplx raman_lines_transfer(const struct raman_lines *lines, double omega);

/**
 * Samples h(j dt) dt over a window n dt, ended by a Planck taper over its last 30 %, as lines
 * of thin gas outlive any window. The first one, where h is 0, is dt^2 h'(0)/12: what a
 * trapezoid of a function with this slope at its end lacks (Euler and Maclaurin), a share of
 * (Omega dt)^2/12 of a line. That leaves (dt^4/720) |d^3 (h exp(-i omega t))/dt^3|.
 *
 * @param h [n], n > 0
 */
void raman_lines_sample(const struct raman_lines *lines, double dt, long n, double *h);

#endif
