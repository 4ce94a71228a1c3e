/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "kernels/models/pulse/gnlse_pulses.h"

#include <math.h>

#include "kernels/base/status.h"
#include "kernels/models/pulse/constants.h"
#include "kernels/models/pulse/earlier.h"

/* Only a plane of another run says how strong it is; it may get phases. */
static int read_earlier(const struct params *p, const struct pulses_place *place,
                        struct gnlse_point *out)
{
    struct input_pulse *pulse = &out->pulse[0];
    TRY(pulses_read_phases(p, place, pulse));
    out->pulses = 1;
    if (!pulses_loaded(out->earlier))
        return 0;
    TRY(earlier_check(out->earlier, &place->table, &out->cut));
    earlier_look(out->earlier, &place->table, &pulse->energy, &pulse->duration);
    pulse->peak_power =
        pulse->duration > 0.0 ? pulse->energy / pulses_unit_energy(pulse, out->window) : 0.0;
    out->energy = pulse->energy;
    out->peak_power = pulse->peak_power;
    return 0;
}

int gnlse_pulses_read(const struct params *params, struct gnlse_point *out)
{
    const double half = PULSE_PI / out->dt;
    const struct pulses_place place = {.table = {out->n, out->window, out->omega0},
                                       .window = out->window,
                                       .dt = out->dt,
                                       .omega0 = out->omega0,
                                       .low = -half,
                                       .high = half,
                                       .shape = PULSE_SECH};
    if (out->earlier != NULL)
        return read_earlier(params, &place, out);
    TRY(pulses_read(params, &place, out->pulse, &out->pulses));
    for (int i = 0; i < out->pulses; i++) {
        out->energy += out->pulse[i].energy;
        out->peak_power = fmax(out->peak_power, out->pulse[i].peak_power);
    }
    return 0;
}
