/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "kernels/backend.h"

/**
 * Have a backend give memory of its own in which rows of numbers start as NaN, in place of
 * zero: a model that reads what it did not write fails. One backend at a time.
 */
void use_nan_memory(struct backend *be);
