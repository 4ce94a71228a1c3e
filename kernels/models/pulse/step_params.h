/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef KERNELS_MODELS_PULSE_STEP_PARAMS_H
#define KERNELS_MODELS_PULSE_STEP_PARAMS_H

#include "kernels/base/params.h"
#include "kernels/step/control.h"
#include "kernels/step/schedule.h"

/* The section `stepper` of a point. */
struct step_params {
    struct step_control control;
    const struct data_set *steps;  /* of method fixed, NULL: the steps are chosen */
    struct step_schedule schedule; /* of `steps`; none when only its hash is known */
};

/**
 * Read the parameters stepper.* of a point.
 *
 * @param length  of the member, m
 * @return 0, or ERR_ARGUMENT: a method without its schedule or the reverse, steps that do not
 *         fit (schedule_check), more of them than stepper.max_steps
 */
int step_params_read(const struct params *params, double length, struct step_params *out);

/** Refuse saved planes where no step of a schedule ends: schedule_planes_check. */
int step_planes_check(const struct step_params *step, const struct plane_request *planes);

/** Right-hand sides of a member with a schedule; 0: not known beforehand. */
double step_params_rhs(const struct step_params *step);

#endif
