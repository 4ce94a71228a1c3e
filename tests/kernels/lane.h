/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <stdlib.h>
#include <string.h>

#include "kernels/backend.h"
#include "tests/kernels/isa.h"

/* What tests/lanes varies under the same suites, by the environment. */

/* Where the kernels run: SCANFARM_TEST_BACKEND (a name of --backend, or emu), else cpu. */
static inline const char *lane_backend(void)
{
    const char *const name = getenv("SCANFARM_TEST_BACKEND");
    return name != NULL ? name : "cpu";
}

/* SCANFARM_TEST_JOINT: rows of a stepper advance together on the CPU too, as on a device.
 * Before the stepper is made. */
static inline void lane_join(struct backend *be)
{
    if (getenv("SCANFARM_TEST_JOINT") != NULL)
        be->apart = true;
}

/* Threads of a backend: SCANFARM_TEST_THREADS, else as the test says. */
static inline int lane_threads(int otherwise)
{
    const char *const text = getenv("SCANFARM_TEST_THREADS");
    const long threads = text != NULL ? strtol(text, NULL, 10) : 0;
    return threads > 0 && threads <= 64 ? (int)threads : otherwise;
}

/* FFT planning: SCANFARM_TEST_RIGOUR (estimate, measure), else estimate. */
static inline enum fft_rigour lane_rigour(void)
{
    const char *const text = getenv("SCANFARM_TEST_RIGOUR");
    return text != NULL && strcmp(text, "measure") == 0 ? FFT_MEASURE : FFT_ESTIMATE;
}

/* A backend for tests that reach its memory by upload and download alone. */
static inline struct backend_options lane_options(int threads)
{
    return (struct backend_options){.name = lane_backend(),
                                    .isa = isa_under_test(),
                                    .threads = lane_threads(threads),
                                    .apart = true,
                                    .rigour = lane_rigour()};
}
