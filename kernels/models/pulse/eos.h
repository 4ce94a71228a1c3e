/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef KERNELS_MODELS_PULSE_EOS_H
#define KERNELS_MODELS_PULSE_EOS_H

/*
 * Number density of a gas from its pressure and temperature (physics.md §2.3): by a reference
 * equation of state, or as an ideal gas.
 */

/* The fluids of eos.def. */
enum eos_fluid {
    EOS_NONE = -1, /* a gas without an equation of state */
#define EOS_FLUID(id, ...) EOS_##id,
#define EOS_POWER(...)
#define EOS_GAUSS(...)
#include "kernels/models/pulse/eos.def"
#undef EOS_FLUID
#undef EOS_POWER
#undef EOS_GAUSS
    EOS_COUNT
};

/* Order of the choices of the parameter `density`. */
enum density_model { DENSITY_HELMHOLTZ, DENSITY_IDEAL };

/* A density and how it follows the pressure. */
struct eos_density {
    double rho;    /* particles, 1/m^3 */
    double drhodp; /* at constant temperature, 1/(m^3 Pa) */
};

/** Name of a fluid: "He", "Air", … */
const char *eos_name(enum eos_fluid fluid);

/** Publication of a fluid's equation. */
const char *eos_source(enum eos_fluid fluid);

/**
 * Density of the gas phase.
 *
 * @param pressure    Pa, >= 0; 0 gives density 0
 * @param temperature K
 * @return 0, or ERR_ARGUMENT with the value and the limit: outside the equation's published
 *         range of temperature or pressure, or above the pressure at which the gas condenses
 *
 * Newton from the ideal gas, to rounding.
 */
int eos_density(enum eos_fluid fluid, double temperature, double pressure,
                struct eos_density *out);

/**
 * Pressure of condensation: both phases have the same fugacity.
 *
 * @param pressure receives it, Pa; INFINITY at or above the critical temperature
 * @return 0, or ERR_ARGUMENT: temperature outside the equation's range
 */
int eos_saturation(enum eos_fluid fluid, double temperature, double *pressure);

/** Ideal gas: rho = p/(kB T). Any pressure >= 0, any temperature > 0. */
struct eos_density eos_ideal(double temperature, double pressure);

#endif
