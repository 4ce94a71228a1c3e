/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef KERNELS_MODELS_PULSE_GNLSE_PARAMS_H
#define KERNELS_MODELS_PULSE_GNLSE_PARAMS_H

#include <stdbool.h>

#include "kernels/base/params.h"
#include "kernels/model.h"
#include "kernels/models/pulse/pulses.h"
#include "kernels/models/pulse/step_params.h"

struct dispersion_table;

/* One point of the model, resolved: SI, checked, plain data. */
struct gnlse_point {
    long n;                               /* samples of the window, bins of the band */
    double window;                        /* T, s */
    double dt;                            /* T/n, s */
    double length;                        /* m */
    double omega0;                        /* 2 pi c / wavelength, rad/s */
    double gamma;                         /* 1/(W m) */
    double loss;                          /* power attenuation, 1/m */
    bool steepening;                      /* factor 1 + Omega/omega0 */
    int betas;                            /* number of dispersion coefficients */
    double beta[PARAM_LIST_MAX];          /* beta[i] = beta_(i+2), s^(i+2)/m */
    const struct data_set *dispersion;    /* in place of betas, NULL: none */
    const struct dispersion_table *table; /* made of it, by whoever needs it */
    bool raman;
    bool silica;     /* the vibrations of Hollenbeck and Cantrell, without tau1 and tau2 */
    double tau1;     /* s */
    double tau2;     /* s */
    double fraction; /* Raman fraction fR */
    bool absorber;
    double edge;                    /* fraction of band and window at each side */
    double absorber_length;         /* m */
    const struct data_set *earlier; /* the input out of another run, NULL: pulses */
    double cut;                     /* share of its energy that the grid cuts off */
    int pulses;                     /* 1 for an earlier plane: its phases */
    struct input_pulse pulse[PULSES_MAX];
    double energy;     /* of all pulses, J */
    double peak_power; /* of the strongest, W */
    struct step_params step;
};

#define GNLSE_PARAM_COUNT 61

/* The model's parameters, then the stepper's. */
extern const struct param_info gnlse_params[GNLSE_PARAM_COUNT];

/**
 * Read a point and refuse what does not fit together.
 *
 * @param params  made from gnlse_params
 * @return 0, or ERR_ARGUMENT / ERR_UNSUPPORTED with a line that names the parameter
 */
int gnlse_point_read(const struct params *params, struct gnlse_point *out);

/** Refuse a point whose data are known by their hash alone: ERR_BUG. Layouts do without. */
int gnlse_data_check(const struct gnlse_point *point);

/**
 * Check the saved positions: within [0, length], ascending, and ends of steps where these are
 * given.
 */
int gnlse_planes_check(const struct plane_request *planes, const struct gnlse_point *point);

#endif
