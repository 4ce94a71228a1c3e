/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "kernels/models/snl1/snl1.h"

/* A plain translation of W3SNL1, one point at a time, with its address tables. */
struct plain;

/** Make it from the numbers and tables of a handle; NULL without memory. */
struct plain *plain_create(const struct snl1 *handle);

/** Free it. */
void plain_destroy(struct plain *plain);

/** S and D of one point. @param a, s, d [nk nth] @param cg [nk] */
void plain_point(struct plain *plain, const float *a, const float *cg, float kdmean, float *s,
                 float *d);
