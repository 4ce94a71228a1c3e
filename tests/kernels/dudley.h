/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "tests/kernels/gnlse_case.h"

/* Distance of a run of the supercontinuum case from tests/data/dudley_spectrum.f64. */
struct dudley_error {
    double field;    /* l2, relative */
    double spectrum; /* l1 of the spectral intensity, relative */
    double photons;  /* relative change of the photon number over the fibre */
    long long rhs;
};

/** Run the case to its end at a tolerance and compare. */
struct dudley_error dudley_run(double rtol);
