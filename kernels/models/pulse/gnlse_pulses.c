/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "kernels/models/pulse/gnlse_pulses.h"

#include <math.h>
#include <stdio.h>

#include "kernels/base/status.h"
#include "kernels/models/pulse/constants.h"
#include "kernels/models/pulse/earlier.h"
#include "kernels/models/pulse/measured.h"

#define NAME_SIZE 48

/* Groups of the pulses, and their keys. */
static const char *const groups[GNLSE_PULSES_MAX] = {"pulse", "pulse2", "pulse3"};
static const char *const keys[] = {"shape",        "file",       "columns",   "wavelength",
                                   "duration",     "peak_power", "energy",    "phases.cep",
                                   "phases.delay", "phases.gdd", "phases.tod"};

/* One pulse while it is read. */
struct source {
    const struct params *params;
    const char *group;
    const struct gnlse_point *point;
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

/* A set that is known by its hash alone (a stored configuration) cannot be looked at. */
static bool is_loaded(const struct data_set *set)
{
    return set != NULL && set->arrays > 0;
}

static struct measured_grid grid_of(const struct gnlse_point *point)
{
    return (struct measured_grid){point->n, point->window, point->omega0};
}

/* Energy of a pulse of peak power 1 W: the integral of its intensity over all times, of a
 * continuous wave over the window. */
static double unit_energy(const struct gnlse_point *point, const struct gnlse_pulse *pulse)
{
    if (pulse->shape == PULSE_CW)
        return point->window;
    if (pulse->shape == PULSE_SECH)
        return pulse->duration / log(1.0 + sqrt(2.0));
    return pulse->duration * sqrt(PULSE_PI / log(16.0));
}

/* Duration of a shape, or an estimate of a table's. */
static int read_duration(const struct source *s, struct gnlse_pulse *out)
{
    const struct measured_grid grid = grid_of(s->point);
    struct measured_figures figures = {0};
    const bool given = has(s, "duration");
    const char *g = s->group;
    if (out->measured != NULL && given)
        FAIL(ERR_ARGUMENT, "%s: %s.duration belongs to a shape; %s.file has its own", g, g, g);
    if (out->measured == NULL && given == (out->shape == PULSE_CW))
        FAIL(ERR_ARGUMENT, "%s: %s.duration %s", g, g,
             given ? "belongs to a pulse; a continuous wave (cw) has none"
                   : "is missing, the full width at half maximum; or give a file");
    out->duration = out->shape == PULSE_CW ? s->point->window : real_of(s, "duration");
    if (out->measured == NULL)
        return 0;
    out->shape = PULSE_GAUSS;
    if (is_loaded(out->measured))
        TRY(measured_look(out->measured, &grid, &figures));
    out->duration = fmax(figures.duration, s->point->dt);
    return 0;
}

/* A pulse that is not at the reference; a continuous wave is periodic in the window, so its
 * frequency is that of the nearest bin. */
static int read_detuning(const struct source *s, struct gnlse_pulse *out)
{
    const double bin = 2.0 * PULSE_PI / s->point->window;
    const double half = PULSE_PI / s->point->dt;
    out->detuning = 0.0;
    if (!has(s, "wavelength"))
        return 0;
    if (is_loaded(out->measured) && measured_is_spectral(out->measured))
        FAIL(ERR_ARGUMENT,
             "%s: %s.wavelength belongs to a pulse over time; the table is over "
             "frequency already",
             s->group, s->group);
    out->detuning = 2.0 * PULSE_PI * PULSE_C / real_of(s, "wavelength") - s->point->omega0;
    if (!(fabs(out->detuning) < half))
        FAIL(ERR_ARGUMENT, "%s: %s.wavelength %g m lies outside of the band", s->group,
             s->group, real_of(s, "wavelength"));
    if (out->shape == PULSE_CW)
        out->detuning = bin * round(out->detuning / bin);
    return 0;
}

static void read_phases(const struct source *s, struct gnlse_pulse *out)
{
    out->cep = real_or_zero(s, "phases.cep");
    out->delay = real_or_zero(s, "phases.delay");
    out->gdd = real_or_zero(s, "phases.gdd");
    out->tod = real_or_zero(s, "phases.tod");
}

static int read_pulse(const struct source *s, struct gnlse_pulse *out)
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
    out->shape = has(s, "shape") ? (enum pulse_shape)lrint(real_of(s, "shape")) : PULSE_SECH;
    TRY(read_duration(s, out));
    TRY(read_detuning(s, out));
    out->by_energy = energy;
    const double unit = unit_energy(s->point, out);
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

/* Only a plane of another run says how strong it is; it may get phases. */
static int read_earlier(const struct params *p, struct gnlse_point *out)
{
    static const char *const others[] = {"pulse.file", "pulse.wavelength", "pulse.duration",
                                         "pulse.energy", "pulse.peak_power"};
    const struct measured_grid grid = grid_of(out);
    struct gnlse_pulse *pulse = &out->pulse[0];
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        if (params_is_set(p, others[i]))
            FAIL(ERR_ARGUMENT, "%s: input.from gives the input as it is; leave this out",
                 others[i]);
    for (int i = 1; i < GNLSE_PULSES_MAX; i++)
        if (is_given(&(struct source){p, groups[i], out}))
            FAIL(ERR_ARGUMENT, "%s: input.from gives the input as it is; leave this out",
                 groups[i]);
    out->pulses = 1;
    *pulse = (struct gnlse_pulse){.shape = PULSE_GAUSS};
    read_phases(&(struct source){p, groups[0], out}, pulse);
    if (!is_loaded(out->earlier))
        return 0;
    TRY(earlier_check(out->earlier, &grid, &out->cut));
    earlier_look(out->earlier, &grid, &pulse->energy, &pulse->duration);
    pulse->peak_power = pulse->duration > 0.0 ? pulse->energy / unit_energy(out, pulse) : 0.0;
    out->energy = pulse->energy;
    out->peak_power = pulse->peak_power;
    return 0;
}

int gnlse_pulses_read(const struct params *params, struct gnlse_point *out)
{
    if (out->earlier != NULL)
        return read_earlier(params, out);
    for (int i = 0; i < GNLSE_PULSES_MAX; i++) {
        const struct source source = {params, groups[i], out};
        if (i > 0 && !is_given(&source))
            continue;
        struct gnlse_pulse *pulse = &out->pulse[out->pulses];
        TRY(read_pulse(&source, pulse));
        out->pulses++;
        out->energy += pulse->energy;
        out->peak_power = fmax(out->peak_power, pulse->peak_power);
    }
    return 0;
}
