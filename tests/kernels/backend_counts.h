/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "kernels/backend.h"

/* What a backend was asked for. */
struct backend_counts {
    long launches;              /* a device's whole column is one */
    long masked;                /* launches with a mask */
    long most_rows, least_rows; /* of a launch */
    long transforms;
    long uploads, downloads; /* without fetches */
    long bytes;              /* allocated, for fetches too */
};

/** Count all launches, transforms, copies and allocations of a backend from now on; one at a
 * time, one thread. */
void backend_counts_begin(struct backend *be);

/** The counts; the backend is as it was. */
struct backend_counts backend_counts_end(struct backend *be);
