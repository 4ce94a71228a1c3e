/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "kernels/models/pulse/pulses.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "kernels/base/status.h"
#include "kernels/models/pulse/constants.h"
#include "kernels/models/pulse/pulse_rows.h"

#define NAME_SIZE 48

/* A table has a shape of its own. */
static const char *const shapes[PULSES_MAX][2] = {
    {"pulse.shape", NULL}, {"pulse2.shape", NULL}, {"pulse3.shape", NULL}};

#define PULSE_TABLE(group, number)                                                             \
    {                                                                                          \
        .columns = measured_columns, .tables = measured_tables,                                \
        .columns_param = group ".columns", .replaces = shapes[number],                         \
        .prepare = measured_prepare                                                            \
    }
const struct data_info pulse_tables[PULSES_MAX] = {
    PULSE_TABLE("pulse", 0), PULSE_TABLE("pulse2", 1), PULSE_TABLE("pulse3", 2)};

const struct data_info earlier_planes = {.plane_array = "field",
                                         .member_param = "input.member",
                                         .plane_param = "input.plane",
                                         .replaces = shapes[0]};

/* Groups of the pulses, and their keys. */
static const char *const groups[PULSES_MAX] = {"pulse", "pulse2", "pulse3"};
static const char *const keys[] = {"shape",        "file",       "columns",   "wavelength",
                                   "duration",     "peak_power", "energy",    "phases.cep",
                                   "phases.delay", "phases.gdd", "phases.tod"};

/* One pulse while it is read. */
struct source {
    const struct params *params;
    const char *group;
    const struct pulses_place *place;
    bool first;
};

static void name_of(const struct source *s, const char *key, char name[NAME_SIZE])
{
    snprintf(name, NAME_SIZE, "%s.%s", s->group, key);
}

static bool has(const struct source *s, const char *key)
{
    char name[NAME_SIZE];
    name_of(s, key, name);
    return params_is_set(s->params, name);
}

static double real_of(const struct source *s, const char *key)
{
    char name[NAME_SIZE];
    name_of(s, key, name);
    return params_real(s->params, name);
}

static double real_or_zero(const struct source *s, const char *key)
{
    return has(s, key) ? real_of(s, key) : 0.0;
}

bool pulses_loaded(const struct data_set *set)
{
    return set != NULL && set->arrays > 0;
}

bool pulses_have_phase(const struct input_pulse *pulse)
{
    return pulse->cep != 0.0 || pulse->delay != 0.0 || pulse->gdd != 0.0 || pulse->tod != 0.0;
}

double pulses_unit_energy(const struct input_pulse *pulse, double window)
{
    if (pulse->shape == PULSE_CW)
        return window;
    if (pulse->shape == PULSE_SECH)
        return pulse->duration / log(1.0 + sqrt(2.0));
    return pulse->duration * sqrt(PULSE_PI / log(16.0));
}

/* The shape by its word: the models accept different ones. */
static enum pulse_shape shape_of(const struct source *s)
{
    static const char *const words[] = {"sech", "gauss", "cw"};
    char name[NAME_SIZE];
    if (!has(s, "shape"))
        return s->place->shape;
    name_of(s, "shape", name);
    const struct param_info *const info = &s->params->info[params_find(s->params, name)];
    const char *const word = info->choices[params_int(s->params, name)];
    int i = 0;
    while (i < PULSE_CW && strcmp(words[i], word) != 0)
        i++;
    return (enum pulse_shape)i;
}

/* Duration of a shape, or an estimate of a table's. */
static int read_duration(const struct source *s, struct input_pulse *out)
{
    struct measured_figures figures = {0};
    const bool given = has(s, "duration");
    const char *g = s->group;
    if (out->measured != NULL && given)
        FAIL(ERR_ARGUMENT, "%s: %s.duration belongs to a shape; %s.file has its own", g, g, g);
    if (out->measured == NULL && given == (out->shape == PULSE_CW))
        FAIL(ERR_ARGUMENT, "%s: %s.duration %s", g, g,
             given ? "belongs to a pulse; a continuous wave (cw) has none"
                   : "is missing, the full width at half maximum; or give a file");
    out->duration = out->shape == PULSE_CW ? s->place->window : real_of(s, "duration");
    if (out->measured == NULL)
        return 0;
    out->shape = PULSE_GAUSS;
    if (pulses_loaded(out->measured))
        TRY(measured_look(out->measured, &s->place->table, &figures));
    out->duration = fmax(figures.duration, s->place->dt);
    return 0;
}

/* A pulse that is not at the reference; a continuous wave is periodic in the window, so its
 * frequency is that of the nearest bin. */
static int read_detuning(const struct source *s, struct input_pulse *out)
{
    const double bin = 2.0 * PULSE_PI / s->place->window;
    out->detuning = 0.0;
    if (!has(s, "wavelength") || (s->first && s->place->carrier))
        return 0;
    if (pulses_loaded(out->measured) && measured_is_spectral(out->measured))
        FAIL(ERR_ARGUMENT,
             "%s: %s.wavelength belongs to a pulse over time; the table is over "
             "frequency already",
             s->group, s->group);
    out->detuning = 2.0 * PULSE_PI * PULSE_C / real_of(s, "wavelength") - s->place->omega0;
    if (!(out->detuning > s->place->low && out->detuning < s->place->high))
        FAIL(ERR_ARGUMENT, "%s: %s.wavelength %g m lies outside of the band", s->group,
             s->group, real_of(s, "wavelength"));
    if (out->shape == PULSE_CW)
        out->detuning = bin * round(out->detuning / bin);
    return 0;
}

static void read_phases(const struct source *s, struct input_pulse *out)
{
    out->cep = real_or_zero(s, "phases.cep");
    out->delay = real_or_zero(s, "phases.delay");
    out->gdd = real_or_zero(s, "phases.gdd");
    out->tod = real_or_zero(s, "phases.tod");
}

static int read_pulse(const struct source *s, struct input_pulse *out)
{
    char name[NAME_SIZE];
    const char *g = s->group;
    const bool energy = has(s, "energy");
    if (energy == has(s, "peak_power"))
        FAIL(ERR_ARGUMENT,
             "%s: %s %s.energy and %s.peak_power given; exactly one of them is needed", g,
             energy ? "both" : "neither of", g, g);
    name_of(s, "file", name);
    out->measured = params_data(s->params, name);
    out->shape = shape_of(s);
    TRY(read_duration(s, out));
    TRY(read_detuning(s, out));
    out->by_energy = energy;
    const double unit = pulses_unit_energy(out, s->place->window);
    out->energy = energy ? real_of(s, "energy") : real_of(s, "peak_power") * unit;
    out->peak_power = energy ? out->energy / unit : real_of(s, "peak_power");
    read_phases(s, out);
    return 0;
}

static bool is_given(const struct source *s)
{
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++)
        if (has(s, keys[i]))
            return true;
    return false;
}

int pulses_read_phases(const struct params *params, const struct pulses_place *place,
                       struct input_pulse *out)
{
    static const char *const others[] = {"pulse.file", "pulse.wavelength", "pulse.duration",
                                         "pulse.energy", "pulse.peak_power"};
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        if (params_is_set(params, others[i])
            && !(place->carrier && strcmp(others[i], "pulse.wavelength") == 0))
            FAIL(ERR_ARGUMENT, "%s: input.from gives the input as it is; leave this out",
                 others[i]);
    for (int i = 1; i < PULSES_MAX; i++)
        if (is_given(&(struct source){params, groups[i], place, false}))
            FAIL(ERR_ARGUMENT, "%s: input.from gives the input as it is; leave this out",
                 groups[i]);
    *out = (struct input_pulse){.shape = PULSE_GAUSS};
    read_phases(&(struct source){params, groups[0], place, true}, out);
    return 0;
}

int pulses_read(const struct params *params, const struct pulses_place *place,
                struct input_pulse *pulse, int *count)
{
    *count = 0;
    for (int i = 0; i < PULSES_MAX; i++) {
        const struct source source = {params, groups[i], place, i == 0};
        if (i > 0 && !is_given(&source))
            continue;
        TRY(read_pulse(&source, &pulse[*count]));
        ++*count;
    }
    return 0;
}
