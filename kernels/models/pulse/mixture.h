/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef KERNELS_MODELS_PULSE_MIXTURE_H
#define KERNELS_MODELS_PULSE_MIXTURE_H

#include "kernels/models/pulse/gas.h"

/*
 * The filling of a guide: one gas or several, by mole fraction, at one temperature.
 * Susceptibility and nonlinearity add by density (physics.md §2.1, §2.4), so that a mixture
 * acts as one gas of the mean particle. Densities mix by volume (Amagat): 1/rho = sum of
 * x_i/rho_i(p, T), which keeps the fractions and makes two halves of one gas that gas.
 */

#define MIXTURE_GASES 8

/* Kinds of particles in a mixture, at most: air counts as two. */
#define MIXTURE_PARTS (MIXTURE_GASES + 1)

/* A kind of particle. */
struct mixture_part {
    enum gas gas; /* never air */
    double fraction;
};

/* What a mixture is made of. */
struct mixture_request {
    int count; /* 1 … MIXTURE_GASES */
    enum gas gas[MIXTURE_GASES];
    double fraction[MIXTURE_GASES]; /* mole fractions, sum 1 */
    enum density_model model;
    double temperature; /* K */
};

/* A mixture, resolved. Plain data. */
struct mixture {
    struct mixture_request request; /* fractions made to sum to 1 exactly */
    double scale[MIXTURE_GASES];    /* x_i / rho_ref,i: chi_ref to mean susceptibility, m^3 */
    double gamma3;                  /* of the mean particle, m^5/V^2 */
    double resonance;               /* longest wavelength of a pole of the index, m */
    const char *resonant;           /* name of the gas that has it */
};

/**
 * Resolve a mixture.
 *
 * @return 0, ERR_ARGUMENT (fractions outside (0, 1] or off 1 in sum by more than 1e-6, a
 *         temperature outside the range) or ERR_UNSUPPORTED (a gas without an equation
 *         of state)
 */
int mixture_init(struct mixture *out, const struct mixture_request *request);

/**
 * The particles of a mixture, air as the nitrogen and oxygen that it is.
 *
 * @return how many kinds there are
 */
int mixture_parts(const struct mixture *mixture, struct mixture_part out[MIXTURE_PARTS]);

/** Number density of all particles and its slope in pressure; as gas_density. */
int mixture_density(const struct mixture *mixture, double pressure, struct eos_density *out);

/**
 * Susceptibility of the mean particle, m^3, and its derivatives: n^2 = 1 + rho g.
 *
 * @param omega rad/s, below the resonance
 */
struct taylor mixture_susceptibility(const struct mixture *mixture, double omega, int order);

/** n at a density, and its derivatives. */
struct taylor mixture_index(const struct mixture *mixture, double rho, double omega, int order);

/** n2 = (3/4) chi3/(eps0 c n^2) at a density and frequency, m^2/W. */
double mixture_n2(const struct mixture *mixture, double rho, double omega);

/**
 * Refuse a band that reaches the resonance of a gas.
 *
 * @param shortest wavelength, m, at which the index will be asked for
 * @return 0, or ERR_ARGUMENT with the gas and its resonance
 */
int mixture_check_band(const struct mixture *mixture, double shortest);

#endif
