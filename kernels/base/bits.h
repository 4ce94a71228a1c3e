/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef KERNELS_BASE_BITS_H
#define KERNELS_BASE_BITS_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/** Whether two numbers are the same to the bit: a NaN is that NaN, 0 and -0 differ. */
static inline bool bits_same(double a, double b)
{
    uint64_t left;
    uint64_t right;
    memcpy(&left, &a, sizeof left);
    memcpy(&right, &b, sizeof right);
    return left == right;
}

#endif
