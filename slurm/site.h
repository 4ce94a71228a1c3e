/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SLURM_SITE_H
#define SLURM_SITE_H

#include <stdbool.h>

/* What a cluster allows, from `scontrol show config`. */
struct site {
    bool known;     /* false: Slurm did not answer, the numbers are its defaults */
    char why[320];  /* … and why */
    long max_array; /* array indices stay below it */
    long kill_wait; /* s between SIGTERM and SIGKILL at the end of a job */
};

/** Ask Slurm; an answer that does not come is no error here. */
int site_ask(struct site *out);

#endif
