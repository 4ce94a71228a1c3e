/* SPDX-License-Identifier: GPL-3.0-or-later */
#define WHOLE_SUFFIX _v4
#include "tests/kernels/column_whole.c" /* NOLINT(bugprone-suspicious-include): its purpose */
