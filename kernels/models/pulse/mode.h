/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef KERNELS_MODELS_PULSE_MODE_H
#define KERNELS_MODELS_PULSE_MODE_H

/*
 * Transverse modes of a hollow dielectric capillary (Marcatili and Schmeltzer, Bell Syst. Tech.
 * J. 43, 1783, 1964; physics.md §3.1). Shape: J_{n-1}(u r/a) for HE_nm, J_1(u r/a) for TE_0m
 * and TM_0m, zero at the wall; u is the m-th zero of that Bessel function. EH modes are HE
 * modes of negative n.
 */

/* Families of modes. */
enum mode_kind { MODE_HE, MODE_TE, MODE_TM };

#define MODE_ORDER_MAX 40 /* |n| */
#define MODE_ZERO_MAX  60 /* m */

/* A mode. */
struct mode {
    enum mode_kind kind;
    int n;      /* azimuthal, 0 for TE and TM */
    int m;      /* radial, from 1 */
    int bessel; /* order of the radial function */
    double u;   /* its m-th zero */
};

/**
 * Mode by its numbers.
 *
 * @return 0, or ERR_ARGUMENT: HE with n = 0, TE or TM with another n, numbers out of range
 */
int mode_init(struct mode *out, enum mode_kind kind, int n, int m);

/** Mode by its name: HE11, TE01, TM02; HE-1,1 where a digit each will not do. */
int mode_parse(const char *text, struct mode *out);

/** Effective area (int |e|^2)^2 / int |e|^4, m^2. */
double mode_area(const struct mode *mode, double radius);

/**
 * N = (1/2) sqrt(eps0/mu0) int |e|^2 dA for a shape as above: e/sqrt(N) carries 1 W. In
 * W/(V/m)^2.
 */
double mode_norm(const struct mode *mode, double radius);

/**
 * Share of the power of a linearly polarised Gaussian beam at its waist (field exp(-r^2/w^2),
 * centred) that goes into the mode: 0 but for HE_1m.
 */
double mode_gauss_coupling(const struct mode *mode, double radius, double waist);

#endif
