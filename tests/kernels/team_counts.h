/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "kernels/backend.h"

/* What a backend was asked for. */
struct team_counts {
    long launches;
    long masked; /* launches with a mask */
    long uploads, downloads;
    long most_rows, least_rows; /* of a launch */
};

/** Count all launches and copies of a backend from now on; one at a time, one thread. */
void team_counts_begin(struct backend *be);

/** The counts; the backend is as it was. */
struct team_counts team_counts_end(struct backend *be);
