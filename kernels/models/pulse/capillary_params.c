/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "kernels/models/pulse/capillary_params.h"

#include <math.h>
#include <stdio.h>

#include "kernels/base/status.h"
#include "kernels/models/pulse/atomic.h"
#include "kernels/models/pulse/band_table.h"
#include "kernels/models/pulse/capillary_entry.h"
#include "kernels/models/pulse/earlier.h"
#include "kernels/models/pulse/raman_gas.h"

#define RATE_ROWS_MIN 4

/* Durations that the flat part of a window must hold at least. */
#define WINDOW_DURATIONS 3.0
#define WINDOW_FLAT      0.8

/* Exactly one of two ways to say something. */
static int check_one(bool first, bool second, const char *what)
{
    if (first == second)
        FAIL(ERR_ARGUMENT, "%s: %s given; exactly one of them is needed", what,
             first ? "both are" : "neither is");
    return 0;
}

static double real_or(const struct params *p, const char *name, double otherwise)
{
    return params_is_set(p, name) ? params_real(p, name) : otherwise;
}

static int read_gas(const struct params *p, struct capillary_point *out)
{
    struct mixture_request request = {
        .model = (enum density_model)params_int(p, "density"),
        .temperature = params_real(p, "temperature"),
    };
    for (int g = 0; g < GAS_COUNT; g++) {
        char name[32];
        snprintf(name, sizeof name, "gas.%s", gas_info((enum gas)g)->name);
        if (!params_is_set(p, name))
            continue;
        if (request.count == MIXTURE_GASES)
            FAIL(ERR_ARGUMENT, "gas: more than %d gases in a mixture", MIXTURE_GASES);
        request.gas[request.count] = (enum gas)g;
        request.fraction[request.count++] = params_real(p, name);
    }
    TRY(check_one(params_is_set(p, "gas.name"), request.count > 0,
                  "gas: a name (gas: He) or mole fractions (gas: {He: 0.9, Ar: 0.1})"));
    if (request.count == 0) {
        const int index = params_find(p, "gas.name");
        request.count = 1;
        request.fraction[0] = 1.0;
        TRY(gas_find(p->info[index].choices[params_int(p, "gas.name")], &request.gas[0]));
    }
    return mixture_init(&out->gas, &request);
}

/* Points from two lists of one length, named GROUP.z and GROUP.VALUE. */
static int read_points(const struct params *p, const char *group, const char *value,
                       struct gradient_points *out)
{
    char name[2][32];
    int count[2] = {0, 0};
    snprintf(name[0], sizeof name[0], "%s.z", group);
    snprintf(name[1], sizeof name[1], "%s.%s", group, value);
    const double *const z = params_list(p, name[0], &count[0]);
    const double *const values = params_list(p, name[1], &count[1]);
    if (count[0] != count[1] || count[0] < 2)
        FAIL(ERR_ARGUMENT,
             "%s: %d positions in %s and %d values in %s; as many of both are needed, at "
             "least 2",
             group, count[0], name[0], count[1], name[1]);
    out->count = count[0];
    for (int i = 0; i < count[0]; i++) {
        out->z[i] = z[i];
        out->value[i] = values[i];
        if (i > 0 && !(z[i] > z[i - 1]))
            FAIL(ERR_ARGUMENT, "%s: %g m follows %g m; positions must ascend", name[0], z[i],
                 z[i - 1]);
    }
    return 0;
}

static bool all_equal(const struct gradient_points *points)
{
    for (int i = 1; i < points->count; i++)
        if (points->value[i] != points->value[0])
            return false;
    return true;
}

static int read_pressure(const struct params *p, struct capillary_point *out)
{
    const bool constant = params_is_set(p, "pressure.constant");
    const bool ends = params_is_set(p, "pressure.from") || params_is_set(p, "pressure.to");
    const bool points = params_is_set(p, "pressure.z") || params_is_set(p, "pressure.p");
    struct gradient_points *const g = &out->pressure;
    if (constant + ends + points != 1)
        FAIL(ERR_ARGUMENT,
             "pressure: exactly one of a number, {from, to} and {z, p} is needed");
    if (points) {
        TRY(read_points(p, "pressure", "p", g));
    } else if (ends) {
        if (!params_is_set(p, "pressure.from") || !params_is_set(p, "pressure.to"))
            FAIL(ERR_ARGUMENT, "pressure: pressure.from and pressure.to belong together");
        *g = (struct gradient_points){
            2,
            {0.0, out->length},
            {params_real(p, "pressure.from"), params_real(p, "pressure.to")}};
    } else {
        *g = (struct gradient_points){1, {0.0}, {params_real(p, "pressure.constant")}};
    }
    out->uniform = all_equal(g);
    return 0;
}

static int read_radius(const struct params *p, struct capillary_point *out)
{
    struct gradient_points *const r = &out->radius;
    const bool radius = params_is_set(p, "core_radius.constant");
    const bool diameter = params_is_set(p, "core_diameter");
    const bool taper =
        params_is_set(p, "core_radius.z") || params_is_set(p, "core_radius.radius");
    if (radius + diameter + taper != 1)
        FAIL(ERR_ARGUMENT,
             "core_radius, core_diameter: %s given; exactly one of them, or a taper in their "
             "place, is needed",
             !(radius || diameter) ? "neither is"
             : taper               ? "a taper besides is"
                                   : "both are");
    if (taper)
        TRY(read_points(p, "core_radius", "radius", r));
    else
        *r = (struct gradient_points){1,
                                      {0.0},
                                      {radius ? params_real(p, "core_radius.constant")
                                              : 0.5 * params_real(p, "core_diameter")}};
    for (int i = 0; i < r->count; i++)
        if (!(r->value[i] > 0.0 && isfinite(r->value[i])))
            FAIL(ERR_ARGUMENT, "%s: %g m; it must be positive",
                 taper ? "core_radius.radius" : "core_radius", r->value[i]);
    out->tapered = !all_equal(r);
    return 0;
}

/* Tables in place of the guide's own dispersion and loss. */
static int read_tables(const struct params *p, struct capillary_point *out)
{
    int count = 0;
    const double *const z = params_list(p, "guide.table_z", &count);
    out->index_table = params_data(p, "guide.table");
    out->loss_table = params_data(p, "guide.loss_table");
    if (count > 0 && out->index_table == NULL)
        FAIL(ERR_ARGUMENT, "guide.table_z: positions without guide.table");
    if (count > BAND_TABLE_COLUMNS)
        FAIL(ERR_ARGUMENT, "guide.table_z: %d positions; at most %d are accepted", count,
             BAND_TABLE_COLUMNS);
    if (out->loss_table != NULL && params_int(p, "guide.loss") == 0)
        FAIL(ERR_ARGUMENT, "guide.loss: false and guide.loss_table exclude each other");
    out->index_z = (struct gradient_points){.count = count > 0 ? count : 1};
    for (int i = 0; i < count; i++) {
        out->index_z.z[i] = z[i];
        if (i > 0 && !(z[i] > z[i - 1]))
            FAIL(ERR_ARGUMENT, "guide.table_z: %g m follows %g m; positions must ascend", z[i],
                 z[i - 1]);
    }
    return 0;
}

static int read_guide(const struct params *p, struct capillary_point *out)
{
    static const enum glass_kind walls[] = {GLASS_SILICA, GLASS_SILICA_TABLE, GLASS_BK7,
                                            GLASS_CAF2, GLASS_MGF2};
    const bool index = params_is_set(p, "guide.wall.index");
    TRY(mode_parse(capillary_modes[params_int(p, "guide.mode")], &out->mode));
    out->full = params_int(p, "guide.model") == 1;
    out->wall = index ? GLASS_CONSTANT : walls[params_int(p, "guide.wall.glass")];
    if (index)
        out->wall_index = cplx_make(params_real(p, "guide.wall.index"),
                                    params_real(p, "guide.wall.absorption"));
    TRY(read_tables(p, out));
    out->loss = params_int(p, "guide.loss") == 1 ? params_real(p, "guide.loss_factor") : 0.0;
    out->vacuum = params_int(p, "guide.prefactor") == 1;
    return 0;
}

/* Whether two gases are the same for a rate. */
static bool same_atom(enum gas one, enum gas other)
{
    const struct gas_info *const a = gas_info(one);
    const struct gas_info *const b = gas_info(other);
    return a->potential == b->potential && a->l == b->l && a->z == b->z
           && a->alpha_atom == b->alpha_atom && a->alpha_ion == b->alpha_ion;
}

/* The gases that ionise differently and their shares. */
static void find_species(struct capillary_point *out)
{
    struct mixture_part part[MIXTURE_PARTS];
    const int parts = mixture_parts(&out->gas, part);
    out->species = 0;
    for (int k = 0; k < parts; k++) {
        int i = 0;
        while (i < out->species && !same_atom(out->rate[i].gas, part[k].gas))
            i++;
        if (i == out->species) {
            out->rate[i].gas = part[k].gas;
            out->share[i] = 0.0;
            out->species++;
        }
        out->share[i] += part[k].fraction;
    }
    if (out->species == 1)
        out->share[0] = 1.0; /* not a sum of fractions */
}

/* A user's rate: rows that a spline of ln W over ln E can go through. */
static int check_rate_table(const struct data_set *set)
{
    const long rows = set->arrays > 0 ? set->array[0].length[0] : 0;
    if (set->arrays > 0 && rows < RATE_ROWS_MIN)
        FAIL(ERR_ARGUMENT, "plasma.table: %ld %s; at least %d are needed", rows,
             rows == 1 ? "row" : "rows", RATE_ROWS_MIN);
    for (long i = 0; i < rows; i++)
        if (!(set->array[0].real[i] > 0.0 && set->array[1].real[i] > 0.0))
            FAIL(ERR_ARGUMENT,
                 "plasma.table: a rate of %g 1/s at %g V/m; both must be positive, the rate is "
                 "0 below the first row",
                 set->array[1].real[i], set->array[0].real[i]);
    return 0;
}

/* The rate of a species; `auto` is PPT where it can be. */
static int read_rate(const struct params *p, enum rate_choice choice, struct rate_request *out)
{
    const bool automatic = choice == RATE_CHOICE_AUTO && gas_info(out->gas)->z > 0.0;
    *out = (struct rate_request){
        .kind = choice == RATE_CHOICE_PPT || automatic ? RATE_PPT : RATE_ADK,
        .gas = out->gas,
        .occupancy = params_real(p, "plasma.occupancy"),
        .cycle_average = params_int(p, "plasma.cycle_average") == 1,
        .adk_floor = real_or(p, "plasma.adk_floor", 0.0),
        .wavelength = params_real(p, "pulse.wavelength"),
        .stark = params_int(p, "plasma.stark") == 1,
        .dipole = params_int(p, "plasma.dipole") == 1,
    };
    struct ionisation ionisation;
    return ionisation_init(&ionisation, out);
}

static int read_plasma(const struct params *p, struct capillary_point *out)
{
    enum rate_choice rate = (enum rate_choice)params_int(p, "plasma.rate");
    out->rate_table = params_data(p, "plasma.table");
    if (rate == RATE_CHOICE_AUTO && out->rate_table != NULL)
        rate = RATE_CHOICE_TABLE;
    if ((rate == RATE_CHOICE_TABLE) != (out->rate_table != NULL))
        FAIL(ERR_ARGUMENT, "plasma.rate: table and plasma.table belong together");
    if (out->rate_table != NULL)
        TRY(check_rate_table(out->rate_table));
    out->rule = PLASMA_NONE;
    out->species = 1;
    if (rate == RATE_CHOICE_NONE)
        return 0;
    find_species(out);
    if (out->species > 1 && out->rate_table != NULL)
        FAIL(ERR_UNSUPPORTED,
             "plasma.table: one rate, but %s and %s ionise differently; a mixture takes the "
             "formulas, plasma.rate: auto",
             gas_info(out->rate[0].gas)->name, gas_info(out->rate[1].gas)->name);
    out->rule = params_int(p, "plasma.rule") == 0 ? PLASMA_BAND : PLASMA_TRAPEZOID;
    out->preionised = params_real(p, "plasma.preionised");
    for (int i = 0; i < out->species; i++)
        TRY(read_rate(p, rate, &out->rate[i]));
    return 0;
}

static int read_raman(const struct params *p, struct capillary_point *out)
{
    const enum raman_choice choice = (enum raman_choice)params_int(p, "raman.model");
    struct raman_filling *const filling = &out->delayed;
    struct mixture_part part[MIXTURE_PARTS];
    struct raman_lines lines;
    const int parts = choice == RAMAN_NONE ? 0 : mixture_parts(&out->gas, part);
    filling->temperature = out->gas.request.temperature;
    for (int i = 0; i < parts; i++) {
        /* `on` leaves out atoms beside molecules, but no molecule whose data are incomplete */
        const bool insist = choice == RAMAN_ON && (parts == 1 || part[i].gas == GAS_O2);
        if (!raman_gas_has(part[i].gas) && !insist)
            continue;
        TRY(raman_gas_lines(part[i].gas, filling->temperature, PULSE_AMAGAT, &lines));
        filling->gas[filling->count] = part[i].gas;
        filling->share[filling->count++] = parts == 1 ? 1.0 : part[i].fraction;
    }
    out->raman = filling->count > 0;
    if (choice == RAMAN_ON && !out->raman)
        FAIL(ERR_UNSUPPORTED, "raman: no gas of this mixture has a Raman response; use raman: "
                              "none or auto");
    return 0;
}

/* What follows the carrier has no envelope (physics.md A12). */
static int read_field(const struct params *p, struct capillary_point *out)
{
    out->envelope = params_int(p, "field") == 1;
    if (!out->envelope)
        return 0;
    if (out->rule != PLASMA_NONE)
        FAIL(ERR_UNSUPPORTED,
             "field: an envelope has no plasma, as the ionisation rate follows "
             "the carrier; plasma: none leaves it out");
    if (out->third_harmonic && (out->kerr || out->raman))
        FAIL(ERR_UNSUPPORTED, "field: an envelope has no third harmonic; kerr: "
                              "{third_harmonic: false} leaves it out");
    out->third_harmonic = false;
    return 0;
}

/* Two wavelengths in order. */
static int read_wavelengths(const struct params *p, const char *name,
                            struct wavelength_band *out)
{
    int count = 0;
    const double *const limits = params_list(p, name, &count);
    if (count == 0)
        return 0;
    if (count != 2)
        FAIL(ERR_ARGUMENT,
             "%s: %d given; two wavelengths are needed, the shortest and the longest", name,
             count);
    if (!(limits[0] > 0.0 && limits[0] < limits[1]))
        FAIL(ERR_ARGUMENT,
             "%s: %g m, %g m; two wavelengths are needed, the shortest and the longest", name,
             limits[0], limits[1]);
    *out = (struct wavelength_band){limits[0], limits[1]};
    return 0;
}

static int read_grid(const struct params *p, struct capillary_point *out)
{
    struct wavelength_band band = {0};
    struct real_grid *const g = &out->grid;
    TRY(read_wavelengths(p, "grid.wavelengths", &band));
    g->shortest = band.shortest;
    g->longest = band.longest;
    g->window = params_real(p, "grid.window");
    g->fine = params_is_set(p, "grid.fine") ? params_int(p, "grid.fine") : 0;
    g->coarse = params_is_set(p, "grid.coarse") ? params_int(p, "grid.coarse") : 0;
    g->spectral = (enum taper_kind)params_int(p, "windows.spectral");
    g->time = (enum taper_kind)params_int(p, "windows.time");
    g->envelope = out->envelope;
    TRY(real_grid_complete(g, out->rule == PLASMA_BAND ? CAPILLARY_THETA_MAX : 0.0));
    const double pump = 2.0 * PULSE_PI * PULSE_C / out->omega0;
    if (!(g->shortest < pump && pump < g->longest))
        FAIL(ERR_ARGUMENT, "grid.wavelengths: %g m to %g m does not hold the pulse at %g m",
             g->shortest, g->longest, pump);
    return mixture_check_band(&out->gas,
                              2.0 * PULSE_PI * PULSE_C / real_grid_omega(g, g->last - 1));
}

struct measured_grid capillary_table_grid(const struct real_grid *grid)
{
    const double low = real_grid_omega(grid, grid->first);
    const double high = real_grid_omega(grid, grid->last);
    return (struct measured_grid){grid->last - grid->first, grid->window, 0.5 * (low + high)};
}

/* A plane of another run is as long and as strong as it is. */
static int read_earlier(const struct params *p, const struct pulses_place *place,
                        struct capillary_point *out)
{
    struct input_pulse *const pulse = &out->pulse[0];
    TRY(pulses_read_phases(p, place, pulse));
    out->pulses = 1;
    pulse->duration = place->dt;
    if (!pulses_loaded(out->earlier))
        return 0;
    TRY(earlier_real_check(out->earlier, &out->grid, &out->cut));
    earlier_real_look(out->earlier, &pulse->energy, &pulse->duration);
    pulse->duration = fmax(pulse->duration, place->dt);
    pulse->peak_power = pulse->energy / pulses_unit_energy(pulse, out->grid.window);
    return 0;
}

static int check_durations(const struct capillary_point *p)
{
    const double window = p->grid.window;
    for (int i = 0; i < p->pulses && p->earlier == NULL; i++)
        if (!(WINDOW_FLAT * window >= WINDOW_DURATIONS * p->pulse[i].duration))
            FAIL(ERR_ARGUMENT,
                 "grid.window: %g s is too short for a pulse of %g s; at least %g s are needed",
                 window, p->pulse[i].duration,
                 WINDOW_DURATIONS / WINDOW_FLAT * p->pulse[i].duration);
    return 0;
}

static int read_input(const struct params *p, struct capillary_point *out)
{
    const struct real_grid *const g = &out->grid;
    const struct pulses_place place = {
        .table = capillary_table_grid(g),
        .window = g->window,
        .dt = g->window / (double)g->fine,
        .omega0 = out->omega0,
        .low = 2.0 * PULSE_PI * PULSE_C / g->longest - out->omega0,
        .high = 2.0 * PULSE_PI * PULSE_C / g->shortest - out->omega0,
        .shape = PULSE_GAUSS,
        .carrier = true};
    if (out->earlier != NULL)
        TRY(read_earlier(p, &place, out));
    else
        TRY(pulses_read(p, &place, out->pulse, &out->pulses));
    for (int i = 0; i < out->pulses; i++) {
        out->energy += out->pulse[i].energy;
        out->peak_power = fmax(out->peak_power, out->pulse[i].peak_power);
    }
    if (out->earlier == NULL && !(out->pulse[0].energy > 0.0))
        FAIL(ERR_ARGUMENT, "pulse.energy: %g J; it must be positive", out->pulse[0].energy);
    TRY(check_durations(out));
    return capillary_entry_check(out);
}

/* An absorber takes its taper from a window. */
static int check_absorbers(const struct capillary_point *p)
{
    if (p->edge_length > 0.0 && p->grid.spectral == TAPER_NONE)
        FAIL(ERR_ARGUMENT,
             "absorber.spectral: it needs the taper of windows.spectral, which is "
             "none");
    if (p->time_length > 0.0 && p->grid.time == TAPER_NONE)
        FAIL(ERR_ARGUMENT, "absorber.time: it needs the taper of windows.time, which is none");
    return 0;
}

static int read_bands(const struct params *p, struct capillary_point *out)
{
    static const char *const names[CAPILLARY_BANDS] = {"bands.rdw", "bands.uv", "bands.visible",
                                                       "bands.infrared"};
    for (int i = 0; i < CAPILLARY_BANDS; i++)
        TRY(read_wavelengths(p, names[i], &out->band[i]));
    return 0;
}

int capillary_point_read(const struct params *params, struct capillary_point *out)
{
    *out = (struct capillary_point){
        .length = params_real(params, "length"),
        .omega0 = 2.0 * PULSE_PI * PULSE_C / params_real(params, "pulse.wavelength"),
        .earlier = params_data(params, "input.from"),
        .kerr = params_int(params, "kerr.response") == 0,
        .third_harmonic = params_int(params, "kerr.third_harmonic") == 1,
        .edge_length = real_or(params, "absorber.spectral", 0.0),
        .time_length = real_or(params, "absorber.time", 0.0)};
    TRY(read_gas(params, out));
    TRY(read_pressure(params, out));
    TRY(read_radius(params, out));
    TRY(read_guide(params, out));
    TRY(read_plasma(params, out));
    TRY(read_raman(params, out));
    TRY(read_field(params, out));
    TRY(read_grid(params, out));
    TRY(read_input(params, out));
    TRY(check_absorbers(out));
    TRY(read_bands(params, out));
    return step_params_read(params, out->length, &out->step);
}
