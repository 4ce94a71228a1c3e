/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef KERNELS_MODELS_PULSE_PULSES_H
#define KERNELS_MODELS_PULSE_PULSES_H

#include <stdbool.h>

#include "kernels/base/params.h"
#include "kernels/models/pulse/measured.h"

/*
 * The pulses that are a model's input, as a scan gives them: groups pulse, pulse2 and pulse3,
 * each a shape or a table; or, beside a plane of an earlier run, phases alone.
 */

/* Shapes, by the words of pulse.shape; a model may accept fewer. */
enum pulse_shape { PULSE_SECH, PULSE_GAUSS, PULSE_CW };

#define PULSES_MAX 3

/* One of the pulses that are the input. */
struct input_pulse {
    const struct data_set *measured; /* out of a table, NULL: a shape */
    enum pulse_shape shape;          /* PULSE_GAUSS for a table: estimates */
    double detuning;                 /* of its centre from the reference, rad/s */
    double duration;                 /* full width at half maximum of the intensity, s */
    bool by_energy;                  /* energy is the request, else peak_power */
    double energy;     /* J; of the other request estimated from the unchirped shape */
    double peak_power; /* W */
    double cep;        /* rad */
    double delay;      /* s */
    double gdd;        /* s^2 */
    double tod;        /* s^3 */
};

/* Where pulses are put. */
struct pulses_place {
    struct measured_grid table; /* window and band that a table must lie in */
    double window;              /* s */
    double dt;                  /* s: no duration is shorter */
    double omega0;              /* reference, rad/s */
    double low, high;           /* of detunings, rad/s, excluded */
    enum pulse_shape shape;     /* of a pulse without a shape */
    bool carrier;               /* pulse.wavelength is the reference itself */
};

/** Whether a set has its arrays: of a stored configuration the hash alone is known. */
bool pulses_loaded(const struct data_set *set);

/** Energy of a pulse of peak power 1 W: the integral of its intensity over all times, of a
 * continuous wave over the window. */
double pulses_unit_energy(const struct input_pulse *pulse, double window);

/**
 * Read the pulses.
 *
 * @param pulse  [PULSES_MAX] receives them, estimates included
 * @param count  receives their number, at least 1
 * @return 0, or ERR_ARGUMENT with a line that names the parameter
 */
int pulses_read(const struct params *params, const struct pulses_place *place,
                struct input_pulse *pulse, int *count);

/**
 * Beside a plane of an earlier run: refuse what would say anew what the plane says, and read
 * the phases that come on top.
 *
 * @param out  receives the phases, all else is zero
 * @return 0, or ERR_ARGUMENT with a line that names the parameter
 */
int pulses_read_phases(const struct params *params, const struct pulses_place *place,
                       struct input_pulse *out);

/** Whether a pulse has a spectral phase. */
bool pulses_have_phase(const struct input_pulse *pulse);

#endif
