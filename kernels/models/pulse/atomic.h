/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef KERNELS_MODELS_PULSE_ATOMIC_H
#define KERNELS_MODELS_PULSE_ATOMIC_H

#include "kernels/models/pulse/constants.h"

/* Constants of matter, CODATA 2018 (doi:10.1103/RevModPhys.93.025010), SI. kB, NA and e are
 * exact. */
#define PULSE_EPS0     8.8541878128e-12    /* vacuum permittivity, F/m */
#define PULSE_KB       1.380649e-23        /* Boltzmann constant, J/K */
#define PULSE_NA       6.02214076e23       /* Avogadro constant, 1/mol */
#define PULSE_E        1.602176634e-19     /* elementary charge, C */
#define PULSE_ME       9.1093837015e-31    /* electron mass, kg */
#define PULSE_AMU      1.66053906660e-27   /* atomic mass constant, kg */
#define PULSE_HARTREE  4.3597447222071e-18 /* atomic unit of energy, J */
#define PULSE_AU_TIME  2.4188843265857e-17 /* atomic unit of time, s */
#define PULSE_AU_FIELD 5.14220674763e11    /* atomic unit of electric field, V/m */
#define PULSE_AU_POLAR 1.64877727436e-41   /* atomic unit of polarisability, C^2 m^2/J */
#define PULSE_BAR      1e5                 /* Pa */
#define PULSE_ATM      101325.0            /* Pa */
#define PULSE_ZERO_C   273.15              /* K */

/* Density of an ideal gas at 1 atm and 0 degrees Celsius, 1/m^3. */
#define PULSE_AMAGAT (PULSE_ATM / (PULSE_KB * PULSE_ZERO_C))

#endif
