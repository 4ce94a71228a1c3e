/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "kernels/models/pulse/gnlse_params.h"

#include <math.h>

#include "kernels/base/status.h"
#include "kernels/models/pulse/constants.h"
#include "kernels/models/pulse/dispersion_table.h"
#include "kernels/models/pulse/gnlse_pulses.h"
#include "kernels/models/pulse/grid.h"
#include "kernels/models/pulse/pulse_rows.h"

static const char *const raman_models[] = {"blow_wood", "hollenbeck_cantrell", NULL};
static const char *const pulse_shapes[] = {"sech", "gauss", "cw", NULL};

static const struct data_info dispersion_data = {.columns = dispersion_columns,
                                                 .tables = dispersion_tables,
                                                 .columns_param = "dispersion.columns"};
/* With grid.wavelengths the number of points follows from the wavelength and the window too,
 * hence their structural flags. */
const struct param_info gnlse_params[GNLSE_PARAM_COUNT] = {
    {.name = "length",
     .kind = PARAM_REAL,
     .flags = PARAM_REQUIRED | PARAM_OPEN,
     .unit = "m",
     .minimum = 0,
     .maximum = 1e9,
     .doc = "Length of the fibre"},
    {.name = "wavelength",
     .kind = PARAM_REAL,
     .flags = PARAM_REQUIRED | PARAM_OPEN | PARAM_GRID | PARAM_STRUCTURAL,
     .unit = "m",
     .minimum = 0,
     .maximum = 1,
     .doc = "Reference wavelength: centre of the band and of the pulse, expansion point of the "
            "dispersion, omega0 of self-steepening"},
    {.name = "betas",
     .kind = PARAM_LIST,
     .unit = "s^2 m^-1",
     .list_unit = "s^%d m^-1",
     .list_first = 2,
     .minimum = -1e300,
     .maximum = 1e300,
     .doc = "Dispersion coefficients beta2, beta3, beta4, ... at the reference wavelength; or "
            "give dispersion.file"},
    {.name = "dispersion.file",
     .kind = PARAM_DATA,
     .flags = PARAM_GROUP,
     .unit = "1",
     .data = &dispersion_data,
     .doc = "Table of propagation constant or effective index, in place of betas"},
    {.name = "dispersion.columns",
     .kind = PARAM_CHOICE,
     .unit = "1",
     .choices = dispersion_tables,
     .doc = "Columns of dispersion.file that count; not needed when only one combination is "
            "there"},
    {.name = "gamma",
     .kind = PARAM_REAL,
     .flags = PARAM_REQUIRED,
     .unit = "W^-1 m^-1",
     .minimum = -1e300,
     .maximum = 1e300,
     .doc = "Nonlinear coefficient"},
    {.name = "loss",
     .kind = PARAM_REAL,
     .unit = "m^-1",
     .fallback = "0",
     .minimum = 0,
     .maximum = 1e300,
     .doc = "Power attenuation; the scan file may also give it in dB/m"},
    {.name = "self_steepening",
     .kind = PARAM_BOOL,
     .unit = "1",
     .fallback = "true",
     .minimum = 0,
     .maximum = 1,
     .doc = "Nonlinear term grows with frequency as 1 + Omega/omega0 (optical shock)"},
    {.name = "raman.model",
     .kind = PARAM_CHOICE,
     .flags = PARAM_NONE | PARAM_GROUP | PARAM_STRUCTURAL,
     .unit = "1",
     .fallback = "none",
     .choices = raman_models,
     .doc = "Delayed response: blow_wood (one damped oscillation), hollenbeck_cantrell (13 "
            "vibrations of silica) or none"},
    {.name = "raman.tau1",
     .kind = PARAM_REAL,
     .flags = PARAM_OPEN,
     .unit = "s",
     .fallback = "12.2 fs",
     .minimum = 0,
     .maximum = 1,
     .doc = "Raman response blow_wood: inverse oscillation frequency"},
    {.name = "raman.tau2",
     .kind = PARAM_REAL,
     .flags = PARAM_OPEN,
     .unit = "s",
     .fallback = "32 fs",
     .minimum = 0,
     .maximum = 1,
     .doc = "Raman response blow_wood: decay time"},
    {.name = "raman.fraction",
     .kind = PARAM_REAL,
     .unit = "1",
     .fallback = "0.18",
     .minimum = 0,
     .maximum = 1,
     .doc = "Raman share of the nonlinear response"},
    {.name = "pulse.shape",
     .kind = PARAM_CHOICE,
     .unit = "1",
     .fallback = "sech",
     .choices = pulse_shapes,
     .doc = "Shape of the input pulse: sech (intensity sech^2), gauss, or cw (the same power "
            "all over the window)"},
    PULSE_TABLE_ROWS,
    {.name = "pulse.wavelength",
     .kind = PARAM_REAL,
     .flags = PARAM_OPEN,
     .unit = "m",
     .minimum = 0,
     .maximum = 1,
     .doc = "Centre of the pulse; the reference when not given"},
    {.name = "pulse.duration",
     .kind = PARAM_REAL,
     .flags = PARAM_OPEN,
     .unit = "s",
     .minimum = 0,
     .maximum = 1,
     .doc = "Full width at half maximum of the intensity, before the phases; of a shape"},
    {.name = "pulse.peak_power",
     .kind = PARAM_REAL,
     .unit = "W",
     .minimum = 0,
     .maximum = 1e300,
     .doc = "Peak power after the phases; or give pulse.energy"},
    {.name = "pulse.energy",
     .kind = PARAM_REAL,
     .unit = "J",
     .minimum = 0,
     .maximum = 1e300,
     .doc = "Pulse energy; or give pulse.peak_power"},
    {.name = "pulse.phases.cep",
     .kind = PARAM_REAL,
     .unit = "rad",
     .fallback = "0",
     .minimum = -1e6,
     .maximum = 1e6,
     .doc = "Constant spectral phase phi0; the spectrum is multiplied by exp(-i phi)"},
    {.name = "pulse.phases.delay",
     .kind = PARAM_REAL,
     .unit = "s",
     .fallback = "0",
     .minimum = -1,
     .maximum = 1,
     .doc = "Delay phi1: a positive one moves the pulse to later times"},
    {.name = "pulse.phases.gdd",
     .kind = PARAM_REAL,
     .unit = "s^2",
     .fallback = "0",
     .minimum = -1,
     .maximum = 1,
     .doc = "Group delay dispersion phi2"},
    {.name = "pulse.phases.tod",
     .kind = PARAM_REAL,
     .unit = "s^3",
     .fallback = "0",
     .minimum = -1,
     .maximum = 1,
     .doc = "Third-order dispersion phi3"},
    FURTHER_PULSE_ROWS("pulse2", 2, pulse_shapes, "sech"),
    FURTHER_PULSE_ROWS("pulse3", 3, pulse_shapes, "sech"),
    EARLIER_PLANE_ROWS,
    {.name = "grid.points",
     .kind = PARAM_INT,
     .flags = PARAM_STRUCTURAL | PARAM_GRID,
     .unit = "1",
     .minimum = PULSE_GRID_MIN,
     .maximum = PULSE_GRID_MAX,
     .doc = "Points of the grid, even, 2^a 3^b 5^c 7^d; or give grid.wavelengths"},
    {.name = "grid.wavelengths",
     .kind = PARAM_LIST,
     .flags = PARAM_STRUCTURAL | PARAM_GRID | PARAM_OPEN,
     .unit = "m",
     .list_unit = "m",
     .minimum = 0,
     .maximum = 1e300,
     .doc = "Shortest and longest wavelength that the band must hold; or give grid.points"},
    {.name = "grid.window",
     .kind = PARAM_REAL,
     .flags = PARAM_REQUIRED | PARAM_OPEN | PARAM_GRID | PARAM_STRUCTURAL,
     .unit = "s",
     .minimum = 0,
     .maximum = 1,
     .doc = "Whole time window T; dt = T/points"},
    {.name = "absorber.edge",
     .kind = PARAM_REAL,
     .flags = PARAM_NONE | PARAM_GROUP | PARAM_OPEN | PARAM_STRUCTURAL,
     .unit = "1",
     .fallback = "none",
     .minimum = 0,
     .maximum = 0.5,
     .doc = "Share of band and window at each side that absorbs; none: no absorber"},
    {.name = "absorber.length",
     .kind = PARAM_REAL,
     .flags = PARAM_OPEN,
     .unit = "m",
     .fallback = "1 cm",
     .minimum = 0,
     .maximum = 1e9,
     .doc = "Distance over which the edge taper w multiplies the field once"},
    STEPPER_PARAM_ROWS,
};

static int read_grid(const struct params *p, struct gnlse_point *out)
{
    out->window = params_real(p, "grid.window");
    const bool points = params_is_set(p, "grid.points");
    int limits = 0;
    const double *wavelengths = params_list(p, "grid.wavelengths", &limits);
    if (points == (limits > 0))
        FAIL(ERR_ARGUMENT,
             "grid: %s grid.points and grid.wavelengths given; exactly one of them "
             "is needed",
             points ? "both" : "neither of");
    if (points) {
        out->n = params_int(p, "grid.points");
        TRY(pulse_grid_check(out->n));
    } else {
        if (limits != 2)
            FAIL(ERR_ARGUMENT,
                 "grid.wavelengths: %d values given; two are needed, the shortest and the "
                 "longest",
                 limits);
        const struct pulse_band band = {wavelengths[0], wavelengths[1], out->omega0};
        TRY(pulse_grid_points(&band, out->window, &out->n));
    }
    out->dt = out->window / (double)out->n;
    return 0;
}

static int read_betas(const struct params *p, struct gnlse_point *out)
{
    const double *betas = params_list(p, "betas", &out->betas);
    if ((out->betas > 0) == (out->dispersion != NULL))
        FAIL(ERR_ARGUMENT,
             "betas: %s betas and dispersion.file given; exactly one of them is needed",
             out->betas > 0 ? "both" : "neither of");
    for (int i = 0; i < out->betas; i++)
        out->beta[i] = betas[i];
    return 0;
}

int gnlse_point_read(const struct params *params, struct gnlse_point *out)
{
    *out = (struct gnlse_point){.length = params_real(params, "length"),
                                .omega0 = 2.0 * PULSE_PI * PULSE_C
                                          / params_real(params, "wavelength"),
                                .gamma = params_real(params, "gamma"),
                                .loss = params_real(params, "loss"),
                                .steepening = params_int(params, "self_steepening") == 1,
                                .raman = params_is_set(params, "raman.model"),
                                .silica = params_int(params, "raman.model") == 1,
                                .tau1 = params_real(params, "raman.tau1"),
                                .tau2 = params_real(params, "raman.tau2"),
                                .fraction = params_real(params, "raman.fraction"),
                                .absorber = params_is_set(params, "absorber.edge"),
                                .edge = params_real(params, "absorber.edge"),
                                .absorber_length = params_real(params, "absorber.length"),
                                .dispersion = params_data(params, "dispersion.file"),
                                .earlier = params_data(params, "input.from")};
    TRY(read_betas(params, out));
    TRY(read_grid(params, out));
    TRY(gnlse_pulses_read(params, out));
    return step_params_read(params, out->length, &out->step);
}

int gnlse_data_check(const struct gnlse_point *point)
{
    const struct data_set *const sets[] = {point->dispersion,        point->pulse[0].measured,
                                           point->pulse[1].measured, point->pulse[2].measured,
                                           point->earlier,           point->step.steps};
    for (size_t i = 0; i < sizeof sets / sizeof sets[0]; i++)
        if (sets[i] != NULL && sets[i]->arrays == 0)
            FAIL(ERR_BUG, "the data with hash %s were not read", sets[i]->hash);
    return 0;
}

int gnlse_planes_check(const struct plane_request *planes, const struct gnlse_point *point)
{
    const double length = point->length;
    for (long i = 0; planes->kind == PLANES_LIST && i < planes->count; i++) {
        const double z = planes->positions[i];
        if (!(z >= 0.0 && z <= length * (1.0 + STEP_MINIMUM)))
            FAIL(ERR_ARGUMENT, "save.planes: position %g m lies outside the fibre, 0 to %g m",
                 z, length);
        if (i > 0 && !(z > planes->positions[i - 1]))
            FAIL(ERR_ARGUMENT, "save.planes: position %g m follows %g m; positions must ascend",
                 z, planes->positions[i - 1]);
    }
    return step_planes_check(&point->step, planes);
}
