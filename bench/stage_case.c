/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bench/stage_case.h"

#include <string.h>

static void set(struct params *p, const char *name, double value)
{
    params_set(p, params_find(p, name), value);
}

void case_set(struct params *p, const struct stage_case *c)
{
    static const double betas[] = {-11.830e-27,  8.1038e-41,  -9.5205e-56,
                                   2.0737e-70,   -5.3943e-85, 1.3486e-99,
                                   -2.5495e-114, 3.0524e-129, -1.7140e-144};
    static const struct {
        const char *name;
        double value;
    } values[] = {{"length", 0.15},
                  {"wavelength", 835e-9},
                  {"gamma", 0.11},
                  {"loss", 0},
                  {"self_steepening", 1},
                  {"pulse.shape", 0},
                  {"pulse.duration", 50e-15},
                  {"pulse.peak_power", 10e3},
                  {"pulse.phases.cep", 0},
                  {"pulse.phases.delay", 0},
                  {"pulse.phases.gdd", 0},
                  {"pulse.phases.tod", 0},
                  {"grid.window", 12.5e-12},
                  {"absorber.length", 0.01},
                  {"stepper.method", 0},
                  {"stepper.atol", 0},
                  {"stepper.norm", 0},
                  {"stepper.max_steps", 1e6}};
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++)
        set(p, values[i].name, values[i].value);
    set(p, "stepper.rtol", c->rtol);
    set(p, "grid.points", (double)c->points);
    if (c->raman) {
        set(p, "raman.model", 0);
        set(p, "raman.tau1", 12.2e-15);
        set(p, "raman.tau2", 32e-15);
        set(p, "raman.fraction", 0.18);
    }
    set(p, "betas", betas[0]);
    struct param_value *list = &p->values[params_find(p, "betas")];
    list->count = sizeof betas / sizeof betas[0];
    memcpy(list->list, betas, sizeof betas);
}
