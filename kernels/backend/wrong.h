/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef KERNELS_BACKEND_WRONG_H
#define KERNELS_BACKEND_WRONG_H

#include "kernels/backend.h"

/* A backend whose arithmetic is wrong, in test builds only (kernels/base/fault.h). */

#ifdef SCANFARM_FAULTS

/** From now on the slope that a step ends with is a thousandth too large in this backend. */
void backend_make_wrong(struct backend *be);

#else

static inline void backend_make_wrong(struct backend *be)
{
    (void)be;
}

#endif

#endif
