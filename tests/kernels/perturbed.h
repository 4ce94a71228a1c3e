/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "kernels/contract/bounds.h"
#include "kernels/contract/compare.h"

/**
 * Assert that a comparison that holds would fail on each small fault: the largest element of
 * the reference with a flipped sign, dropped, and 1e-9 of it too much (numerics.md §2 d).
 *
 * @param in    the comparison; its values are left alone
 * @param limit of comparison_norm; 0: comparison_run is meant
 * @param what  family of tests/perturb/families, where the smallest seen is recorded too
 */
void perturbed_check(const struct comparison_input *in, double limit, const char *what);
