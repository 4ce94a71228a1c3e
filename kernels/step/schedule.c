/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "kernels/step/schedule.h"

#include <math.h>

#include "kernels/base/status.h"
#include "kernels/model.h"
#include "kernels/step/control.h"

const struct data_info schedule_data = {.steps = true,
                                        .member_param = "stepper.schedule.member"};

struct step_schedule schedule_of(const struct data_set *set)
{
    const struct data_array *const z = data_find(set, SCHEDULE_BEGIN);
    const struct data_array *const h = data_find(set, SCHEDULE_LENGTH);
    if (z == NULL || h == NULL || z->length[0] != h->length[0])
        return (struct step_schedule){0};
    return (struct step_schedule){z->real, h->real, h->length[0]};
}

double schedule_end(const struct step_schedule *schedule, long i, double z)
{
    if (schedule->z != NULL && i + 1 < schedule->count)
        return schedule->z[i + 1];
    return z + schedule->h[i];
}

int schedule_check(const struct step_schedule *schedule, double length)
{
    const double slack = STEP_MINIMUM * length;
    double end = 0.0;
    if (schedule->count < 1)
        FAIL(ERR_ARGUMENT, "stepper.schedule: no steps are given");
    for (long i = 0; i < schedule->count; i++) {
        const double z = schedule->z != NULL ? schedule->z[i] : end;
        const double h = schedule->h[i];
        if (!(h > 0.0 && h <= length * (1.0 + STEP_MINIMUM)))
            FAIL(ERR_ARGUMENT,
                 "stepper.schedule: step %ld has a length of %.10g m; accepted: above 0, at "
                 "most the member's length of %.10g m",
                 i, h, length);
        if (!(fabs(z - end) <= slack))
            FAIL(ERR_ARGUMENT,
                 "stepper.schedule: step %ld begins at z = %.15g m; it must begin at %.15g m, "
                 "%s",
                 i, z, end, i > 0 ? "where the one before ends" : "the input");
        end = z + h;
    }
    if (!(end <= length + slack))
        FAIL(ERR_ARGUMENT,
             "stepper.schedule: the steps end at z = %.15g m, beyond the length of %.15g m",
             end, length);
    return 0;
}

/* Steps are passed on the way to planes in turn: both ascend. */
static int plane_check(const struct step_schedule *s, double position, double slack, long plane,
                       long *next, double *z)
{
    double before = *z;
    while (*next < s->count && position - *z > slack) {
        before = *z;
        *z = schedule_end(s, *next, *z);
        ++*next;
    }
    if (fabs(position - *z) <= slack)
        return 0;
    if (*z < position)
        FAIL(
            ERR_ARGUMENT,
            "stepper.schedule: the steps end at z = %.15g m, before saved plane %ld at %.15g m",
            *z, plane, position);
    FAIL(ERR_ARGUMENT,
         "save.planes: no step of stepper.schedule ends at plane %ld, z = %.15g m; the nearest "
         "end at %.15g m and %.15g m",
         plane, position, before, *z);
}

int schedule_planes_check(const struct step_schedule *schedule,
                          const struct plane_request *planes, double length)
{
    const struct plane_layout layout = {.span = length};
    long next = 0;
    double z = 0.0;
    for (long i = 0; i < planes->count; i++)
        TRY(plane_check(schedule, layout_plane_position(&layout, planes, i),
                        STEP_MINIMUM * length, i, &next, &z));
    return 0;
}

long schedule_step_at(const struct step_schedule *schedule, double z, double length)
{
    const double slack = STEP_MINIMUM * length;
    double begin = 0.0;
    for (long i = 0; i < schedule->count; i++) {
        if (fabs(begin - z) <= slack)
            return i;
        begin = schedule_end(schedule, i, begin);
    }
    return fabs(begin - z) <= slack ? schedule->count : -1;
}
