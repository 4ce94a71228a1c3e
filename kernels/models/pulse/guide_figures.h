/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef KERNELS_MODELS_PULSE_GUIDE_FIGURES_H
#define KERNELS_MODELS_PULSE_GUIDE_FIGURES_H

#include "kernels/models/pulse/marcatili.h"

/* What a guide promises before a run (physics.md A13, §7). */

/* A band of wavelengths to search, m. */
struct guide_band {
    double shortest;
    double longest;
};

/**
 * Zero-dispersion wavelength: the first zero of beta2 from the long side of the band.
 *
 * @return wavelength, m; NAN when beta2 keeps its sign
 */
double guide_zdw(const struct guide *guide, struct guide_place at, struct guide_band band);

/**
 * Wavelength of the resonant dispersive wave: the first zero of
 * beta(omega) - beta1 (omega - omega0) - beta(omega0) from 0.9 of the pump downward. Poles of
 * the index would break a bracket from below.
 *
 * @param pump     wavelength, m, of omega0
 * @param shortest end of the search, m
 * @return wavelength, m; NAN when there is none
 */
double guide_rdw(const struct guide *guide, struct guide_place at, double pump,
                 double shortest);

/* A pulse, for what follows from it. */
struct guide_pulse {
    double wavelength; /* m */
    double t0;         /* s: sech(t/t0) or exp(-t^2/(2 t0^2)) */
    double peak_power; /* W */
};

/* What follows. */
struct guide_figures {
    double area;           /* Aeff, m^2 */
    double n2;             /* m^2/W */
    double gamma;          /* n2 omega/(c Aeff), 1/(W m) */
    double beta2;          /* s^2/m */
    double l_dispersion;   /* t0^2/|beta2|, m */
    double l_nonlinear;    /* 1/(gamma P), m */
    double order;          /* N = sqrt(L_D/L_NL) */
    double l_fission;      /* L_D/N, m */
    double critical_power; /* 1.86225 lambda^2/(4 pi n n2), W (Fibich and Gaeta, Opt. Lett. 25,
                              335, 2000) */
};

/** Soliton and self-focusing figures of a pulse; infinite lengths without nonlinearity. */
void guide_figures(const struct guide *guide, struct guide_place at,
                   const struct guide_pulse *pulse, struct guide_figures *out);

#endif
