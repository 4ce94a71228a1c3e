/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "kernels/models/pulse/gnlse_params.h"

#include <math.h>

#include "kernels/base/status.h"
#include "kernels/models/pulse/constants.h"
#include "kernels/models/pulse/dispersion_table.h"
#include "kernels/models/pulse/earlier.h"
#include "kernels/models/pulse/grid.h"
#include "kernels/models/pulse/measured.h"

static const char *const raman_models[] = {"blow_wood", NULL};
static const char *const pulse_shapes[] = {"sech", "gauss", NULL};

static const struct data_info pulse_data = {
    .columns = measured_columns, .tables = measured_tables, .columns_param = "pulse.columns"};
static const struct data_info dispersion_data = {.columns = dispersion_columns,
                                                 .tables = dispersion_tables,
                                                 .columns_param = "dispersion.columns"};
static const struct data_info input_data = {
    .plane_array = "field", .member_param = "input.member", .plane_param = "input.plane"};

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
     .doc = "Delayed response: blow_wood (one damped oscillation) or none"},
    {.name = "raman.tau1",
     .kind = PARAM_REAL,
     .flags = PARAM_OPEN,
     .unit = "s",
     .fallback = "12.2 fs",
     .minimum = 0,
     .maximum = 1,
     .doc = "Raman response: inverse oscillation frequency"},
    {.name = "raman.tau2",
     .kind = PARAM_REAL,
     .flags = PARAM_OPEN,
     .unit = "s",
     .fallback = "32 fs",
     .minimum = 0,
     .maximum = 1,
     .doc = "Raman response: decay time"},
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
     .doc = "Shape of the input pulse: sech (intensity sech^2) or gauss"},
    {.name = "pulse.file",
     .kind = PARAM_DATA,
     .unit = "1",
     .data = &pulse_data,
     .doc = "Table of a measured or computed pulse, in place of shape and duration"},
    {.name = "pulse.columns",
     .kind = PARAM_CHOICE,
     .unit = "1",
     .choices = measured_tables,
     .doc = "Columns of pulse.file that count; not needed when only one combination is there"},
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
    {.name = "input.from",
     .kind = PARAM_DATA,
     .flags = PARAM_GROUP,
     .unit = "1",
     .data = &input_data,
     .doc = "Result file of an earlier run: a plane of it is the input, in place of a pulse"},
    {.name = "input.member",
     .kind = PARAM_INT,
     .unit = "1",
     .minimum = 0,
     .maximum = 1e15,
     .doc = "Member of input.from; 0 when not given"},
    {.name = "input.plane",
     .kind = PARAM_INT,
     .flags = PARAM_LAST,
     .unit = "1",
     .minimum = 0,
     .maximum = 1e15,
     .doc = "Saved plane of input.from; the last when not given"},
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

/* Energy of a pulse of peak power 1 W: the integral of its intensity over all times. */
static double unit_energy(enum pulse_shape shape, double duration)
{
    if (shape == PULSE_SECH)
        return duration / log(1.0 + sqrt(2.0));
    return duration * sqrt(PULSE_PI / log(16.0));
}

/* A set that is known by its hash alone (a stored configuration) cannot be looked at. */
static bool is_loaded(const struct data_set *set)
{
    return set != NULL && set->arrays > 0;
}

static struct measured_grid grid_of(const struct gnlse_point *point)
{
    return (struct measured_grid){point->n, point->window, point->omega0};
}

/* Only a plane of another run says how strong it is. */
static int read_earlier(const struct params *p, struct gnlse_point *out)
{
    static const char *const others[] = {"pulse.file", "pulse.duration", "pulse.energy",
                                         "pulse.peak_power"};
    const struct measured_grid grid = grid_of(out);
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        if (params_is_set(p, others[i]))
            FAIL(ERR_ARGUMENT, "%s: input.from gives the input as it is; leave this out",
                 others[i]);
    out->shape = PULSE_GAUSS;
    if (!is_loaded(out->earlier))
        return 0;
    TRY(earlier_check(out->earlier, &grid));
    earlier_look(out->earlier, &grid, &out->energy, &out->duration);
    out->peak_power = out->energy / unit_energy(out->shape, out->duration);
    return 0;
}

/* Duration of a shape, or an estimate of a table's. */
static int read_duration(const struct params *p, struct gnlse_point *out)
{
    const bool given = params_is_set(p, "pulse.duration");
    const struct measured_grid grid = grid_of(out);
    struct measured_figures figures = {0};
    if (given == (out->measured != NULL))
        FAIL(ERR_ARGUMENT, "pulse: %s",
             given ? "pulse.duration belongs to a shape; pulse.file "
                     "has its own"
                   : "pulse.duration is missing, the full width at "
                     "half maximum; or give pulse.file");
    out->duration = params_real(p, "pulse.duration");
    if (out->measured == NULL)
        return 0;
    out->shape = PULSE_GAUSS;
    if (is_loaded(out->measured))
        TRY(measured_look(out->measured, &grid, &figures));
    out->duration = fmax(figures.duration, out->dt);
    return 0;
}

static int read_pulse(const struct params *p, struct gnlse_point *out)
{
    const bool energy = params_is_set(p, "pulse.energy");
    if (out->earlier != NULL)
        return read_earlier(p, out);
    if (energy == params_is_set(p, "pulse.peak_power"))
        FAIL(ERR_ARGUMENT,
             "pulse: %s pulse.energy and pulse.peak_power given; exactly one of "
             "them is needed",
             energy ? "both" : "neither of");
    out->shape = params_int(p, "pulse.shape") == 0 ? PULSE_SECH : PULSE_GAUSS;
    TRY(read_duration(p, out));
    out->by_energy = energy;
    const double unit = unit_energy(out->shape, out->duration);
    out->energy =
        energy ? params_real(p, "pulse.energy") : params_real(p, "pulse.peak_power") * unit;
    out->peak_power = energy ? out->energy / unit : params_real(p, "pulse.peak_power");
    return 0;
}

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

static int read_step(const struct params *p, struct gnlse_point *out)
{
    if (params_int(p, "stepper.method") != STEP_RK45)
        FAIL(ERR_UNSUPPORTED, "stepper.method: fixed needs a stored schedule of step lengths, "
                              "which a scan file cannot give; use rk45");
    out->step = (struct step_control){.length = out->length,
                                      .rtol = params_real(p, "stepper.rtol"),
                                      .atol = params_real(p, "stepper.atol"),
                                      .norm = (enum step_norm)params_int(p, "stepper.norm"),
                                      .first_step = params_is_set(p, "stepper.first_step")
                                                        ? params_real(p, "stepper.first_step")
                                                        : 0.0,
                                      .max_steps = params_int(p, "stepper.max_steps")};
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
                                .tau1 = params_real(params, "raman.tau1"),
                                .tau2 = params_real(params, "raman.tau2"),
                                .fraction = params_real(params, "raman.fraction"),
                                .absorber = params_is_set(params, "absorber.edge"),
                                .edge = params_real(params, "absorber.edge"),
                                .absorber_length = params_real(params, "absorber.length"),
                                .dispersion = params_data(params, "dispersion.file"),
                                .measured = params_data(params, "pulse.file"),
                                .earlier = params_data(params, "input.from"),
                                .cep = params_real(params, "pulse.phases.cep"),
                                .delay = params_real(params, "pulse.phases.delay"),
                                .gdd = params_real(params, "pulse.phases.gdd"),
                                .tod = params_real(params, "pulse.phases.tod")};
    TRY(read_betas(params, out));
    TRY(read_grid(params, out));
    TRY(read_pulse(params, out));
    return read_step(params, out);
}

int gnlse_data_check(const struct gnlse_point *point)
{
    const struct data_set *const sets[] = {point->dispersion, point->measured, point->earlier};
    for (size_t i = 0; i < sizeof sets / sizeof sets[0]; i++)
        if (sets[i] != NULL && !is_loaded(sets[i]))
            FAIL(ERR_BUG, "the data with hash %s were not read", sets[i]->hash);
    return 0;
}

int gnlse_planes_check(const struct plane_request *planes, double length)
{
    if (planes->kind != PLANES_LIST)
        return 0;
    for (long i = 0; i < planes->count; i++) {
        const double z = planes->positions[i];
        if (!(z >= 0.0 && z <= length * (1.0 + STEP_MINIMUM)))
            FAIL(ERR_ARGUMENT, "save.planes: position %g m lies outside the fibre, 0 to %g m",
                 z, length);
        if (i > 0 && !(z > planes->positions[i - 1]))
            FAIL(ERR_ARGUMENT, "save.planes: position %g m follows %g m; positions must ascend",
                 z, planes->positions[i - 1]);
    }
    return 0;
}
