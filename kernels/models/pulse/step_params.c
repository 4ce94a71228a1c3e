/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "kernels/models/pulse/step_params.h"

#include "kernels/base/status.h"

static int read_schedule(const struct params *params, struct step_params *out)
{
    const bool fixed = params_int(params, "stepper.method") == STEP_FIXED;
    const struct data_set *const steps = params_data(params, "stepper.schedule.from");
    if (fixed && steps == NULL)
        FAIL(ERR_ARGUMENT, "stepper.method: fixed executes the steps of an earlier run; give "
                           "schedule: {from: FILE, member: M} too, or use rk45");
    if (!fixed && steps != NULL)
        FAIL(ERR_ARGUMENT, "stepper.schedule: only method fixed executes stored steps; give "
                           "method: fixed, or leave this out");
    if (!fixed)
        return 0;
    out->steps = steps;
    out->schedule = schedule_of(steps);
    if (steps->arrays == 0)
        return 0; /* a stored configuration: known by its hash alone */
    TRY(schedule_check(&out->schedule, out->control.length));
    if (out->schedule.count > out->control.max_steps)
        FAIL(ERR_ARGUMENT, "stepper.max_steps: %ld, but stepper.schedule has %ld steps",
             out->control.max_steps, out->schedule.count);
    return 0;
}

int step_params_read(const struct params *params, double length, struct step_params *out)
{
    const bool first = params_is_set(params, "stepper.first_step");
    *out = (struct step_params){
        .control = {.length = length,
                    .rtol = params_real(params, "stepper.rtol"),
                    .atol = params_real(params, "stepper.atol"),
                    .norm = (enum step_norm)params_int(params, "stepper.norm"),
                    .first_step = first ? params_real(params, "stepper.first_step") : 0.0,
                    .max_steps = params_int(params, "stepper.max_steps")}};
    return read_schedule(params, out);
}

int step_planes_check(const struct step_params *step, const struct plane_request *planes)
{
    if (step->schedule.count == 0)
        return 0;
    return schedule_planes_check(&step->schedule, planes, step->control.length);
}

double step_params_rhs(const struct step_params *step)
{
    return step->schedule.count > 0 ? 1.0 + 6.0 * (double)step->schedule.count : 0.0;
}
