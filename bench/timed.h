/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <stdbool.h>

#include "kernels/backend.h"

/*
 * Where the time of a run goes: a backend that hands every call to another one and, while it is
 * on, measures the launches and transforms one by one. The product has no timers of this kind.
 */

enum timed_part {
    PART_STAGE,    /* entry, turns, last: slopes, combination and propagator */
    PART_RESPONSE, /* response in time, its filter, absorber */
    PART_FFT,
    PART_NORM, /* close, open, norms of single bins */
    TIMED_PARTS
};

struct timed {
    struct backend base; /* first: what the model is given */
    struct backend *inner;
    bool on;
    double wall[TIMED_PARTS]; /* s, while on */
    long long calls[TIMED_PARTS];
};

/** Short names of the parts, in their order. */
extern const char *const timed_names[TIMED_PARTS];

/** Put timers around a backend, which stays the caller's. */
void timed_init(struct timed *t, struct backend *inner);
