/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef KERNELS_MODELS_PULSE_CAPILLARY_PARAMS_H
#define KERNELS_MODELS_PULSE_CAPILLARY_PARAMS_H

#include <stdbool.h>

#include "kernels/base/params.h"
#include "kernels/model.h"
#include "kernels/models/pulse/glass.h"
#include "kernels/models/pulse/gradient.h"
#include "kernels/models/pulse/ionisation.h"
#include "kernels/models/pulse/marcatili.h"
#include "kernels/models/pulse/pulses.h"
#include "kernels/models/pulse/raman_mix.h"
#include "kernels/models/pulse/real_grid.h"
#include "kernels/models/pulse/response.h"
#include "kernels/models/pulse/step_params.h"

/* Order of the choices of plasma.rate. */
enum rate_choice {
    RATE_CHOICE_AUTO,
    RATE_CHOICE_PPT,
    RATE_CHOICE_ADK,
    RATE_CHOICE_TABLE,
    RATE_CHOICE_NONE
};

/* Order of the choices of raman.model. */
enum raman_choice { RAMAN_AUTO, RAMAN_ON, RAMAN_NONE };

/* Bands whose energy is observed. */
enum capillary_band { BAND_RDW, BAND_UV, BAND_VISIBLE, BAND_INFRARED, CAPILLARY_BANDS };

/* Largest omega dt on the fine samples that the band rule's taps are made for. */
#define CAPILLARY_THETA_MAX (0.4 * 3.14159265358979323846)

/* Wavelengths, m; shortest = longest = 0: no band. */
struct wavelength_band {
    double shortest, longest;
};

/* One point of the model, resolved: SI, checked, plain data. */
struct capillary_point {
    struct real_grid grid;
    double length;                 /* m */
    struct gradient_points radius; /* m */
    bool tapered;                  /* the radius is not the same everywhere */
    struct mixture gas;
    struct gradient_points pressure;
    bool uniform; /* the same pressure everywhere */
    struct mode mode;
    bool full;                          /* guide: full form, else reduced */
    double loss;                        /* factor on the loss; 0: off */
    const struct data_set *index_table; /* n_eff in place of the guide's; borrowed, or NULL */
    struct gradient_points index_z;     /* positions of its columns */
    const struct data_set *loss_table;  /* alpha; borrowed, or NULL */
    enum glass_kind wall;
    cplx wall_index;
    bool vacuum;           /* prefactor without n_eff */
    bool envelope;         /* complex samples without carrier in place of the real field */
    bool kerr;             /* instantaneous response */
    bool third_harmonic;   /* of E^3, else of |E_an|^2 E */
    enum plasma_rule rule; /* PLASMA_NONE: no plasma */
    int species;           /* that ionise differently; 1 without plasma */
    struct rate_request rate[RESPONSE_SPECIES];
    double share[RESPONSE_SPECIES];    /* of the particles */
    const struct data_set *rate_table; /* in place of the formula; borrowed, or NULL */
    double preionised;
    bool raman;
    struct raman_filling delayed;
    double edge_length;             /* of the spectral absorber, m; 0: none */
    double time_length;             /* of the absorber at the edges of the window, m; 0: none */
    double omega0;                  /* of the carrier, pulse.wavelength, rad/s */
    const struct data_set *earlier; /* the input out of another run; borrowed, NULL: pulses */
    double cut;                     /* share of its energy that the grid cuts off */
    int pulses;                     /* 1 for an earlier plane: its phases */
    struct input_pulse pulse[PULSES_MAX];
    double energy;     /* of all pulses, J */
    double peak_power; /* of the strongest, W */
    struct wavelength_band band[CAPILLARY_BANDS];
    struct step_params step;
};

#define CAPILLARY_PARAM_COUNT 111

/* Names of the modes, the choices of guide.mode; NULL-terminated. */
extern const char *const capillary_modes[];

/* The model's parameters, then the stepper's. */
extern const struct param_info capillary_params[CAPILLARY_PARAM_COUNT];

/** What a table of a pulse must lie in: the window and the active bins. */
struct measured_grid capillary_table_grid(const struct real_grid *grid);

/**
 * Read a point and refuse what does not fit together.
 *
 * @param params  made from capillary_params
 * @return 0, or ERR_ARGUMENT / ERR_UNSUPPORTED with a line that names the parameter
 */
int capillary_point_read(const struct params *params, struct capillary_point *out);

#endif
