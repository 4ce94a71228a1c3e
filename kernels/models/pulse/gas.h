/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef KERNELS_MODELS_PULSE_GAS_H
#define KERNELS_MODELS_PULSE_GAS_H

#include "kernels/models/pulse/eos.h"
#include "kernels/numeric/taylor.h"

/* Gases: index, nonlinearity and what ionisation needs to know (physics.md §2). */

/* The rows of gas.def. */
enum gas {
#define GAS(id, ...) GAS_##id,
#include "kernels/models/pulse/gas.def"
#undef GAS
    GAS_COUNT
};

/* How the index is given, see gas.def. */
enum gas_fit { GAS_FIT_CHI, GAS_FIT_INDEX };

/* How gamma3 is given, see gas.def. */
enum gas_kerr { GAS_KERR_LEHMEIER, GAS_KERR_RATIO, GAS_KERR_N2, GAS_KERR_AIR };

#define GAS_TERMS 3

/* Air by number. */
#define GAS_AIR_NITROGEN 0.79
#define GAS_AIR_OXYGEN   0.21

/* A row of gas.def. */
struct gas_info {
    const char *name;
    enum eos_fluid fluid; /* EOS_NONE: as an ideal gas only */
    enum gas_fit fit;
    double offset;
    double terms[GAS_TERMS][2]; /* B, C; unused ones are 0 */
    double pressure;            /* reference state of the index, Pa */
    double temperature;         /* K */
    enum gas_kerr kerr;
    double kerr_value;
    enum gas kerr_of;
    double potential;  /* ionisation potential, Hartree; 0: not known */
    int l;             /* angular momentum, for PPT */
    double z;          /* effective charge, for PPT; 0: no PPT rate, ADK only */
    double alpha_atom; /* static polarisabilities, atomic units; 0: not known */
    double alpha_ion;
};

/** Row of gas.def. */
const struct gas_info *gas_info(enum gas gas);

/**
 * Gas by its name in the scan file.
 *
 * @return 0, or ERR_ARGUMENT with the names that there are
 */
int gas_find(const char *name, enum gas *out);

/**
 * Number density.
 *
 * @return as eos_density; ERR_UNSUPPORTED for a gas without an equation of state that is asked
 *         for DENSITY_HELMHOLTZ
 */
int gas_density(enum gas gas, enum density_model model, double temperature, double pressure,
                struct eos_density *out);

/**
 * Density of the state at which the index was measured, by the same model, so that the index
 * there is the measured one.
 */
int gas_reference_density(enum gas gas, enum density_model model, double *rho);

/**
 * chi = n^2 - 1 at the reference state and its derivatives with respect to omega.
 *
 * @param omega rad/s, > 0 and below the gas's first resonance (gas_resonance)
 * @param order derivatives wanted, 0 … TAYLOR_ORDER
 */
struct taylor gas_reference_chi(enum gas gas, double omega, int order);

/** Longest wavelength at which the index has a pole, m. */
double gas_resonance(enum gas gas);

/**
 * Third-order hyperpolarisability gamma3, m^5/V^2: P = eps0 rho gamma3 E^3 for a real field.
 *
 * @return 0 or what gas_density returns
 */
int gas_gamma3(enum gas gas, enum density_model model, double *gamma3);

#endif
