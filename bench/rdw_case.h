/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <stdbool.h>

#include "kernels/backend.h"
#include "kernels/models/pulse/response.h"
#include "kernels/step/rk45.h"

/*
 * A resonant dispersive wave in helium (performance.md, case B): 275 uJ, 7.5 fs at 800 nm into
 * 1.5 m of a capillary of 125 um radius, 0.8 to 0 bar; 90 nm to 4 um, a sample each 50 as. One
 * mode, reduced dispersion, ideal gas, ADK.
 */

struct rdw_case {
    double rtol;
    long points; /* 16384: the window of the reference run; 8192: half of it */
    enum plasma_rule rule;
    bool table;   /* a table of ADK's rate by field, not its formula */
    bool no_skip; /* the formula of every sample, and no time without plasma: the worst case */
};

/* A run of it. */
struct rdw {
    struct rdw_case c;
    struct backend *be;
    struct stepper *stepper;
    struct response *response;
    struct rate_table *table;
    struct ionisation adk;
    struct fft *forward, *backward;
    long bins; /* of the state: up to the last one inside the band */
    long ld_real;
    double *samples;    /* [ld_real] */
    double *omega;      /* [bins] */
    double pressure[5]; /* bar, at the positions of the step */
};

/** Make a run with its member loaded. */
int rdw_create(const struct rdw_case *c, struct backend *be, struct rdw *out,
               struct row_status *st);

/** Free. */
void rdw_clear(struct rdw *rdw);

/* What the end of a run looks like. */
struct rdw_end {
    double energy;     /* J */
    double dispersive; /* share of the energy below 200 nm */
    double peak;       /* wavelength of the largest bin below 200 nm, m */
    double ionised;    /* fraction at the end of the window; 0 without plasma */
};

/** Look at the field that the stepper stands on. */
int rdw_look(struct rdw *rdw, struct rdw_end *out);
