/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TESTS_RUNNER_COUNTED_H
#define TESTS_RUNNER_COUNTED_H

#include "kernels/base/mem.h"

/** mem_alloc, counted: stands in its place in the files that tests/runner/counted.c looks at.
 */
int counted_alloc(long count, size_t size, void **out) __attribute__((no_instrument_function));

/* NOLINTNEXTLINE(readability-identifier-naming): the name that is replaced */
#define mem_alloc counted_alloc

#endif
