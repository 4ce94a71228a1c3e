/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef KERNELS_MODELS_PULSE_RESPONSE_PARTS_H
#define KERNELS_MODELS_PULSE_RESPONSE_PARTS_H

#include "kernels/models/pulse/response.h"
#include "kernels/models/pulse/row_numbers.h"

/* Inside of the response: what response.c and response_run.c share. */

/* A species of a column. */
struct species_own {
    struct rate_channel *channel; /* on the backend; NULL: none */
    double *cubic;
    double share, potential;
};

/* A column's own part, beside its window. */
struct column_own {
    double dt, preionised;
    int side; /* taps a side, 0 with the trapezoid rule */
};

/* Scratch of a thread or of all columns; rows point behind their pad. */
struct column_scratch {
    double *w, *integrand, *loss;
    double *part[2]; /* [components][ld] responses of species; NULL: not needed */
};

/* Without plasma the kernels read two numbers of a column, else COLUMN_SCALARS of each species.
 */
enum kerr_group { KERR_SCALE, KERR_KERR, KERR_GROUPS };

/* The columns and what they share. */
struct response {
    struct response_setup setup;
    long ld;         /* of windows */
    long ld_pad;     /* of scratch rows */
    long threads;    /* scratch sets, each of a thread; of a backend that is apart one
                        set of all columns */
    double *windows; /* [columns][ld] */
    double *scratch; /* [threads][scratch rows][ld_pad], or scratch rows that are
                        [columns][ld_pad] each, of components [columns][components] */
    double *parts;   /* [threads][part rows][columns of a set][components][ld] */
    struct row_numbers scalars;  /* at each position the response's
                                    groups, then the caller's */
    struct row_numbers sums;     /* of each species, then the caller's */
    double *taps;                /* [columns][COLUMN_SIDE_MAX + 1] */
    struct column_rate *rates;   /* [species][columns] */
    struct column_own *own;      /* [columns] host */
    struct species_own *species; /* [columns][species] host */
    struct column_scratch *sets; /* [threads] host */
};

/** Whether the plasma of a column is one pass here and now: threads that share a row need rows
 * for its integrals. */
bool response_is_fused(const struct response_setup *s);

/** Responses that are kept until they are added: that of the first species, and that of the one
 * in hand. The last one's goes to its place. */
long response_part_rows(const struct response_setup *s);

/** The number among the scalars of a group at a position: the response's own come first. */
int response_scalar_group(const struct response_setup *s, int position, int group);

/** Groups of scalars at a position that are the response's. */
int response_scalar_count(const struct response_setup *s);

#endif
