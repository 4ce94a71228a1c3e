/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef KERNELS_STEP_SCHEDULE_H
#define KERNELS_STEP_SCHEDULE_H

#include "kernels/base/data.h"
#include "kernels/base/params.h"

/*
 * Steps that are executed as they stand, in place of those that the error would allow: the
 * accepted steps of a stored member (scan-file.md, stepper.schedule). Each is accepted whatever
 * its error.
 */
struct step_schedule {
    const double *z; /* [count] where a step begins, m; NULL: where the one before ends */
    const double *h; /* [count] lengths, m */
    long count;      /* 0: no schedule, the steps are chosen */
};

/* Arrays of a data set that holds a schedule, both in m. */
#define SCHEDULE_BEGIN  "z"
#define SCHEDULE_LENGTH "h"

/** The steps of a data set, borrowed; none when the set is NULL or known by its hash alone. */
struct step_schedule schedule_of(const struct data_set *set);

/**
 * Refuse steps that cannot be those of one member of this length: none, not finite, not longer
 * than 0, not beginning at 0 and each where the one before ends (to STEP_MINIMUM of the
 * length), or beyond the length.
 *
 * @param length  of the member, m
 * @return 0, or ERR_ARGUMENT with the step and the numbers
 */
int schedule_check(const struct step_schedule *schedule, double length);

/**
 * Refuse saved planes where no step begins or ends.
 *
 * @param schedule  has passed schedule_check
 * @param planes    ascending positions
 * @return 0, or ERR_ARGUMENT with the plane and the nearest positions before and after it
 */
int schedule_planes_check(const struct step_schedule *schedule,
                          const struct plane_request *planes, double length);

/**
 * The step that begins at a position, to STEP_MINIMUM of the length; `count` at the end of the
 * last one, -1 where no step begins.
 */
long schedule_step_at(const struct step_schedule *schedule, double z, double length);

/**
 * Where step i ends: where the next begins, else z + h.
 *
 * @param z  where it begins, m
 */
double schedule_end(const struct step_schedule *schedule, long i, double z);

#endif
