/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TESTS_SCANS_COMMA_H
#define TESTS_SCANS_COMMA_H

#include <stdbool.h>

/**
 * Make a locale whose decimal point is a comma the process's locale.
 *
 * @return false when the machine has none and cannot make one (said on stderr)
 */
bool comma_locale(void);

#endif
