/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef KERNELS_MODELS_PULSE_INPUT_H
#define KERNELS_MODELS_PULSE_INPUT_H

#include "kernels/kdefs.h"
#include "kernels/models/pulse/gnlse_params.h"

/* Input pulses (physics.md §6.1). Host memory. */

/**
 * Envelope of a pulse without phases, sqrt(W), peak at t = 0 (index n/2):
 * sqrt(P) sech(t/T0) with T0 = duration / (2 ln(1 + sqrt 2)), or
 * sqrt(P) exp(-2 ln 2 (t/duration)^2), or sqrt(P) everywhere (cw).
 */
void pulse_input_shape(const struct gnlse_point *point, const struct input_pulse *pulse,
                       cplx *a);

/**
 * Multiply a spectrum by exp(-i phi), phi = cep + delay Omega + gdd Omega^2/2 + tod Omega^3/6.
 */
void pulse_input_phase(const struct gnlse_point *point, const struct input_pulse *pulse,
                       cplx *spectrum);

/** Factor that gives a spectrum a = fft(A)/n the requested energy: T sum |a|^2 = energy. */
double pulse_input_energy_factor(const struct gnlse_point *point,
                                 const struct input_pulse *pulse, const cplx *spectrum);

/** Highest |A|^2 of samples A(t_j); between them that of the parabola through the three
 * highest. */
double pulse_input_peak(const cplx *samples, long n);

/** Factor that gives samples A(t_j) the requested peak power. */
double pulse_input_peak_factor(const struct gnlse_point *point, const struct input_pulse *pulse,
                               const cplx *samples);

/** Move a pulse in frequency: samples A(t_j) times exp(+i detuning t_j), rad/s. */
void pulse_input_shift(const struct gnlse_point *point, double detuning, cplx *samples);

#endif
