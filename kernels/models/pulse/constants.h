/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef KERNELS_MODELS_PULSE_CONSTANTS_H
#define KERNELS_MODELS_PULSE_CONSTANTS_H

/* CODATA 2018 (doi:10.1103/RevModPhys.93.025010), SI. c and hbar are exact. */
#define PULSE_C    299792458.0            /* speed of light, m/s */
#define PULSE_HBAR 1.0545718176461565e-34 /* 6.62607015e-34 / (2 pi), J s */
#define PULSE_PI   3.14159265358979323846

#endif
