/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "bench/stage_case.h"
#include "kernels/kdefs.h"

/**
 * Whether the case has a reference: tests/data/dudley_spectrum.f64 is one of 8192 points with
 * Raman scattering.
 */
bool stage_error_known(const struct stage_case *c);

/**
 * Distance of the spectral intensity from the reference, in l1 and relative.
 *
 * @param path      file of n complex numbers as little-endian pairs of binary64
 * @param spectrum  [n] as the model stores it at the end of the fibre
 */
int stage_error(const char *path, const cplx *spectrum, long n, double *out);
