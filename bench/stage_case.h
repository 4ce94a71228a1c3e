/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <stdbool.h>

#include "kernels/base/params.h"

/* The textbook supercontinuum (Dudley et al., Rev. Mod. Phys. 78, 1135, 2006, Fig. 3). */
struct stage_case {
    double rtol;
    long points;
    bool raman;
};

/** Set the parameters of model gnlse to the case. */
void case_set(struct params *p, const struct stage_case *c);
