/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <stdlib.h>
#include <string.h>

#include "kernels/backend.h"

/* What tests/lanes varies under the same suites, by the environment. */

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
