/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef KERNELS_MODELS_PULSE_GLASS_H
#define KERNELS_MODELS_PULSE_GLASS_H

#include "kernels/numeric/taylor.h"

/* The wall of a capillary: complex index n + i k over frequency (physics.md §2.2). */

/* Kinds of wall. */
enum glass_kind {
    GLASS_SILICA,       /* Sellmeier formula, transparent */
    GLASS_SILICA_TABLE, /* measured n and k, 0.62 nm to 20 um */
    GLASS_BK7,
    GLASS_CAF2,
    GLASS_MGF2,
    GLASS_CONSTANT /* one index at all frequencies */
};

struct spline;

/* A glass. */
struct glass {
    enum glass_kind kind;
    cplx constant;    /* of GLASS_CONSTANT */
    struct spline *n; /* of GLASS_SILICA_TABLE, over the wavelength in um */
    struct spline *k;
};

/**
 * Make a glass ready; free with glass_clear.
 *
 * @param constant index of GLASS_CONSTANT, imaginary part >= 0 absorbs; else not read
 * @return 0, ERR_ARGUMENT (an index of 1, whose wall would guide nothing, or one that
 * amplifies) or ERR_MEMORY
 */
int glass_init(struct glass *out, enum glass_kind kind, cplx constant);

/** Free; legal on a zeroed or cleared object. */
void glass_clear(struct glass *glass);

/**
 * n + i k and its derivatives with respect to omega. The table's third derivative is a step
 * function and higher ones are zero between its points; k is held at 0 where its spline would
 * fall below.
 *
 * @param omega rad/s, inside what glass_check_band accepts
 */
struct taylor glass_index(const struct glass *glass, double omega, int order);

/**
 * Refuse wavelengths that the glass is not known for: outside the table, or beyond the poles
 * that enclose the transparent band of a formula.
 *
 * @param shortest, longest wavelengths, m
 * @return 0, or ERR_ARGUMENT with the value, the limit and what would do
 */
int glass_check_band(const struct glass *glass, double shortest, double longest);

#endif
